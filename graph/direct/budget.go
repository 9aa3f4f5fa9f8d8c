package direct

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
)

// Budget bounds what one operation gives out: the elements of all its lists,
// which are counted before they are worked out, the bytes of its answer, which
// are counted as they are written, and its errors. It also ends with the
// operation's context. All of its methods take nil for a budget without end.
type Budget struct {
	ctx               context.Context
	elements, errors  atomic.Int64 // left
	bytes             int          // left, of the goroutine that writes the answer
	tooMany, tooLarge error
}

// NewBudget makes the budget of an operation, and the context that carries it.
// tooMany and tooLarge are the errors of one that is used up.
func NewBudget(ctx context.Context, elements int, tooMany error, bytes int, tooLarge error, errors int) (*Budget, context.Context) {
	b := &Budget{ctx: ctx, bytes: bytes, tooMany: tooMany, tooLarge: tooLarge}
	b.elements.Store(int64(elements))
	b.errors.Store(int64(errors))
	return b, context.WithValue(ctx, budgetKey{}, b)
}

type budgetKey struct{}

// BudgetOf gives the budget that the context carries, nil where it has none.
func BudgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// Exceeded gives the error of what is used up, nil while nothing is.
func (b *Budget) Exceeded() error {
	switch {
	case b == nil:
		return nil
	case b.elements.Load() < 0:
		return b.tooMany
	case b.bytes < 0:
		return b.tooLarge
	}
	return nil
}

// Err tells why the operation must end, nil while it may go on.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	if b.elements.Load() < 0 {
		return b.tooMany
	}
	return b.ctx.Err()
}

// TakeElements takes the elements of a list.
func (b *Budget) TakeElements(n int) error {
	if b != nil && b.elements.Add(-int64(n)) < 0 {
		return b.tooMany
	}
	return nil
}

// Bytes gives the bytes that the answer may have.
func (b *Budget) Bytes() int { return b.bytes }

// TooLarge is the error of an answer with more bytes.
func (b *Budget) TooLarge() error { return b.tooLarge }

// TakeError takes one error; false where there have been enough.
func (b *Budget) TakeError() bool { return b == nil || b.errors.Add(-1) >= 0 }

// ErrorsLost tells whether there were more errors than the budget has.
func (b *Budget) ErrorsLost() bool { return b != nil && b.errors.Load() < 0 }

// Bound gives the marshaler of a part of the answer that writes no more bytes
// than the budget has.
func (b *Budget) Bound(m graphql.Marshaler) graphql.Marshaler {
	if m == graphql.Null || m == graphql.RequiredNull {
		return m // the caller compares
	}
	return graphql.WriterFunc(func(w io.Writer) {
		if buffer, ok := w.(*bytes.Buffer); ok {
			m.MarshalGQL(&bounded{buffer, b})
			return
		}
		m.MarshalGQL(w)
	})
}

// bounded writes into a buffer what a budget allows, and drops what follows.
type bounded struct {
	*bytes.Buffer
	budget *Budget
}

// take takes bytes of the budget.
func (b *bounded) take(n int) bool {
	if b.budget.bytes < 0 {
		return false
	}
	b.budget.bytes -= n
	return b.budget.bytes >= 0
}

// Write drops what is too much, and says nothing of it: marshalers do not ask.
func (b *bounded) Write(p []byte) (int, error) {
	if b.take(len(p)) {
		return b.Buffer.Write(p)
	}
	return len(p), nil
}

// WriteString is Write of a string.
func (b *bounded) WriteString(s string) (int, error) {
	if b.take(len(s)) {
		return b.Buffer.WriteString(s)
	}
	return len(s), nil
}
