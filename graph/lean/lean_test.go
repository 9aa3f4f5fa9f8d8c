package lean

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
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

// TestResolveLeaf compares with gqlgen's function for all that a field can do.
func TestResolveLeaf(t *testing.T) {
	type function = func(context.Context, *graphql.OperationContext, graphql.CollectedField,
		func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error),
		func(context.Context) (any, error),
		func(context.Context, graphql.Resolver) graphql.Resolver,
		func(context.Context, ast.SelectionSet, string) graphql.Marshaler,
		bool, bool) graphql.Marshaler
	for name, resolve := range map[string]func(context.Context) (any, error){
		"value":   func(context.Context) (any, error) { return "v", nil },
		"empty":   func(context.Context) (any, error) { return "", nil },
		"nothing": func(context.Context) (any, error) { return nil, nil },
		"error":   func(context.Context) (any, error) { return nil, errors.New("no") },
		"both":    func(context.Context) (any, error) { return "v", errors.New("no") },
		"panic":   func(context.Context) (any, error) { panic("no") },
	} {
		for _, typ := range []string{"String", "Language"} {
			for _, nonNull := range []bool{true, false} {
				run := func(f function) outcome {
					ctx, oc := operation(t)
					marshal := func(ctx context.Context, _ ast.SelectionSet, v string) graphql.Marshaler {
						if typ != "String" && v == "" { // has no value for everything
							if nonNull {
								graphql.AddInvalidNullFromMarshaler(ctx, typ)
							}
							return graphql.Null
						}
						return graphql.MarshalString(v)
					}
					context := func(_ context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
						return graphql.NewScalarFieldContext("Incident", field, true, false, typ)
					}
					return outcomeOf(ctx, f(ctx, oc, field("leaf", typ), context, resolve, nil, marshal, true, nonNull))
				}
				got, want := run(ResolveLeaf[string]), run(graphql.ResolveField[string])
				if diff := cmp.Diff(want, got, cmp.Comparer(sameErrors)); diff != "" {
					t.Errorf("%s of %s, non-null %t (-want +got):\n%s", name, typ, nonNull, diff)
				}
			}
		}
	}
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

// TestFieldSet compares with gqlgen's type.
func TestFieldSet(t *testing.T) {
	for _, aliases := range []string{"", "a", "a b c", "a b a", "a a a b"} {
		var fields []graphql.CollectedField
		for _, alias := range strings.Fields(aliases) {
			fields = append(fields, field(alias, "String"))
		}
		got, want := NewFieldSet(fields), graphql.NewFieldSet(fields)
		for i := range fields {
			got.Values[i] = graphql.MarshalString(fmt.Sprint(i))
			want.Values[i] = got.Values[i]
		}
		got.Dispatch(t.Context())
		var a, b bytes.Buffer
		got.MarshalGQL(&a)
		want.MarshalGQL(&b)
		if a.String() != b.String() {
			t.Errorf("%q = %s, want %s", aliases, &a, &b)
		}
	}
}

func TestNewDeferredGroup(t *testing.T) {
	if g := NewDeferredGroup(t.Context()); len(g.Defers) > 0 {
		t.Errorf("Defers = %v, want none", g.Defers)
	}
}

// FuzzMarshalString compares with gqlgen's function.
func FuzzMarshalString(f *testing.F) {
	for _, s := range []string{"", "a", "한국어", "\"\\\n\r\t\x00\x1f\x7f", "\xff\xed\xa0\x80", "a\nb", "</script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want, buffer bytes.Buffer
		var other strings.Builder
		buffer.WriteString("before")
		graphql.MarshalString(s).MarshalGQL(&want)
		MarshalString(s).MarshalGQL(&buffer)
		MarshalString(s).MarshalGQL(&other)
		if buffer.String() != "before"+want.String() || other.String() != want.String() {
			t.Errorf("MarshalString(%q) = %s and %s, want %s", s, &buffer, &other, &want)
		}
	})
}
