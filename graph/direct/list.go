package direct

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// MarshalSlice is graphql.MarshalSliceConcurrently, one element after another,
// within the budget of the operation. Elements after its end are null, with one
// error for all of them.
func MarshalSlice(ctx context.Context, length int, _ int64, _ bool, element func(ctx context.Context, i int) graphql.Marshaler) graphql.Array {
	budget := BudgetOf(ctx)
	if err := budget.TakeElements(length); err != nil {
		graphql.AddError(ctx, err)
		return nil
	}
	elements := make(graphql.Array, length)
	contexts := make([]struct {
		graphql.FieldContext
		index int
	}, length)
	for i := range elements {
		c := &contexts[i]
		c.index = i
		c.Index = &c.index
		ctx := graphql.WithFieldContext(ctx, &c.FieldContext)
		if err := budget.Err(); err != nil {
			graphql.AddError(ctx, err)
			for ; i < length; i++ {
				elements[i] = graphql.Null
			}
			return elements
		}
		elements[i] = marshalElement(ctx, i, element)
	}
	return elements
}

func marshalElement(ctx context.Context, i int, element func(ctx context.Context, i int) graphql.Marshaler) (m graphql.Marshaler) {
	defer func() {
		if p := recover(); p != nil {
			graphql.AddError(ctx, graphql.Recover(ctx, p))
			m = graphql.Null
		}
	}()
	return element(ctx, i)
}
