package direct

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// TestBudgetBytes writes through a budget what has exactly its size, and a
// byte more, in texts and in other parts.
func TestBudgetBytes(t *testing.T) {
	tooLarge := errors.New("too large")
	raw := graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write([]byte("[1]")) })
	parts := graphql.Array{graphql.MarshalString("a\n"), raw, graphql.MarshalString(strings.Repeat("x", 100))}
	var free bytes.Buffer
	parts.MarshalGQL(&free)
	for _, size := range []int{free.Len(), free.Len() + 1} {
		b, _ := NewBudget(context.Background(), 1, nil, size, tooLarge, 1)
		var got bytes.Buffer
		b.Bound(parts).MarshalGQL(&got)
		if got.String() != free.String() || b.Exceeded() != nil {
			t.Errorf("with %d bytes: %s, %v, want %s", size, &got, b.Exceeded(), &free)
		}
	}
	for size := range free.Len() {
		b, _ := NewBudget(context.Background(), 1, nil, size, tooLarge, 1)
		var got bytes.Buffer
		b.Bound(parts).MarshalGQL(&got)
		if !errors.Is(b.Exceeded(), tooLarge) || got.Len() > size {
			t.Errorf("with %d bytes: %d, %v, want the error", size, got.Len(), b.Exceeded())
		}
	}
}

// TestBudgetElements makes lists until there is nothing left, and in an
// operation whose time is over.
func TestBudgetElements(t *testing.T) {
	tooMany := errors.New("too many")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b, ctx := NewBudget(ctx, 5, tooMany, 100, nil, 1)
	ctx = graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, graphql.DefaultRecover)
	made := 0
	element := func(context.Context, int) graphql.Marshaler { made++; return graphql.MarshalString("a") }
	if got := MarshalSlice(ctx, 3, 0, false, element); len(got) != 3 || made != 3 || b.Err() != nil {
		t.Errorf("a list of 3 has %d elements, %d made, %v", len(got), made, b.Err())
	}
	cancel()
	if got := MarshalSlice(ctx, 2, 0, false, element); len(got) != 2 || got[0] != graphql.Null || got[1] != graphql.Null || made != 3 {
		t.Errorf("a list after the end = %v, %d elements made, want nulls and 3", got, made)
	}
	if got := MarshalSlice(ctx, 1, 0, false, element); len(got) != 0 || !errors.Is(b.Exceeded(), tooMany) || !errors.Is(b.Err(), tooMany) {
		t.Errorf("a list beyond the budget = %v, %v, want none and %v", got, b.Exceeded(), tooMany)
	}
	if n := len(graphql.GetErrors(ctx)); n != 2 {
		t.Errorf("%d errors, want one for each list that has not all elements", n)
	}
}
