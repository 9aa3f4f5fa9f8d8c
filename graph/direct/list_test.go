package direct

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// operation gives the context of a running operation, at the path "list".
func operation(t *testing.T) (context.Context, *graphql.OperationContext) {
	t.Helper()
	oc := &graphql.OperationContext{
		RecoverFunc:        func(_ context.Context, p any) error { return fmt.Errorf("panic: %v", p) },
		ResolverMiddleware: func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
	}
	ctx := graphql.WithOperationContext(t.Context(), oc)
	ctx = graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, oc.RecoverFunc)
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query", Field: field("list", "String")}), oc
}

func field(alias, typ string) graphql.CollectedField {
	return graphql.CollectedField{Field: &ast.Field{
		Alias: alias, Name: alias, Position: &ast.Position{Line: 3, Column: 4},
		Definition: &ast.FieldDefinition{Name: alias, Type: ast.NamedType(typ, nil)},
	}}
}

// outcome is what is written, and the errors that are told.
type outcome struct {
	JSON   string
	Null   bool // the one value that makes an object invalid
	Errors gqlerror.List
}

func outcomeOf(ctx context.Context, m graphql.Marshaler) outcome {
	var b bytes.Buffer
	m.MarshalGQL(&b)
	return outcome{b.String(), m == graphql.Null, graphql.GetErrors(ctx)}
}

func sameErrors(a, b *gqlerror.Error) bool {
	return a.Error() == b.Error() && cmp.Equal(a.Path, b.Path) && cmp.Equal(a.Locations, b.Locations)
}

// TestMarshalSlice compares with gqlgen's function.
func TestMarshalSlice(t *testing.T) {
	type function = func(context.Context, int, int64, bool, func(context.Context, int) graphql.Marshaler) graphql.Array
	for _, n := range []int{0, 1, 2, 7} {
		run := func(f function) outcome {
			ctx, _ := operation(t)
			return outcomeOf(ctx, f(ctx, n, 0, false, func(ctx context.Context, i int) graphql.Marshaler {
				if i == 3 {
					panic("no")
				}
				return graphql.MarshalString(fmt.Sprint(i, graphql.GetPath(ctx)))
			}))
		}
		got, want := run(MarshalSlice), run(graphql.MarshalSliceConcurrently)
		if diff := cmp.Diff(want, got, cmp.Comparer(sameErrors)); diff != "" {
			t.Errorf("%d elements (-want +got):\n%s", n, diff)
		}
	}
}
