// Package direct runs queries past gqlgen's executor: code that package
// generate makes of the same bindings calls the fields' methods and writes
// their values straight into the answer's bytes.
//
// It knows one way only, the one where all goes well. Where something does not
// - a field gives an error, or null where the schema has none, or panics - the
// generated code gives up, and the caller has gqlgen's executor run the
// operation from its beginning, which tells of errors and nulls as the
// specification wants. That is right because queries change nothing and see one
// immutable state, and it costs at most as much again. So there is one
// implementation of what errors do to an answer, and it is gqlgen's; and for
// what goes well the two are each other's test.
//
// What is saved, beside the bookkeeping for errors: the fields to write of each
// object are worked out once for a document, not once for an object (Plan);
// arguments once for a field of an operation, not once for an object; and
// values are not boxed, chained and written, but written.
//
// A Budget bounds either way; MarshalSlice puts its bounds into gqlgen's code.
package direct

import (
	"context"
	"errors"
	"strconv"
)

// Writer writes the data of one answer. It is for one goroutine.
type Writer struct {
	// Context is the operation's.
	Context context.Context

	variables map[string]any
	budget    *Budget
	maxBytes  int
	arguments []any // by slot
	data      []byte
	begin     int   // where the data begins
	err       error // why it ended
}

// errGaveUp says that gqlgen's executor is to run the operation.
var errGaveUp = errors.New("gave up")

// NewWriter makes a writer that appends to buf what an operation with the given
// variables has to say, as long as the budget allows it.
func NewWriter(ctx context.Context, variables map[string]any, budget *Budget, buf []byte) *Writer {
	return &Writer{Context: ctx, variables: variables, budget: budget, maxBytes: budget.Bytes(), data: buf, begin: len(buf)}
}

// Run runs write, which is generated code. It gives the answer, behind what was
// in the buffer; the error is that of a budget which is used up. Without answer
// and error gqlgen's executor is to run the operation.
func (w *Writer) Run(write func() bool) (data []byte, err error) {
	defer func() {
		if recover() != nil { // it will panic there again, and be told of
			data, err = nil, nil
		}
	}()
	ok := write()
	if err := w.budget.Exceeded(); err != nil {
		return nil, err
	}
	if !ok || w.full() {
		if w.err == nil || errors.Is(w.err, errGaveUp) {
			return nil, nil
		}
		return nil, w.err
	}
	return w.data, nil
}

// full tells whether the answer is larger than it may be.
func (w *Writer) full() bool {
	if len(w.data)-w.begin > w.maxBytes && w.err == nil {
		w.err = w.budget.TooLarge()
	}
	return w.err != nil
}

// GiveUp leaves the operation to gqlgen's executor. It gives false, for the
// caller to return.
func (w *Writer) GiveUp() bool {
	if w.err == nil {
		w.err = errGaveUp
	}
	return false
}

// Alive tells whether the operation may go on.
func (w *Writer) Alive() bool {
	if w.full() {
		return false
	}
	return w.budget.Err() == nil || w.GiveUp()
}

// Key writes what stands before the value of the i-th field of an object; false
// where the answer is too large by now.
func (w *Writer) Key(i int, f *Field) bool {
	if i == 0 {
		w.data = append(w.data, '{')
	} else {
		w.data = append(w.data, ',')
	}
	w.data = append(w.data, f.key...)
	return !w.full()
}

// End ends an object with n fields. It gives true, for the caller to return.
func (w *Writer) End(n int) bool {
	if n == 0 {
		w.data = append(w.data, '{')
	}
	w.data = append(w.data, '}')
	return true
}

// List begins a list of n values that have to be worked out.
func (w *Writer) List(n int) bool {
	if err := w.budget.TakeElements(n); err != nil {
		return w.GiveUp()
	}
	return true
}

// Element begins the i-th value of a list.
func (w *Writer) Element(i int) {
	if i == 0 {
		w.data = append(w.data, '[')
	} else {
		w.data = append(w.data, ',')
	}
}

// EndList ends a list of n values.
func (w *Writer) EndList(n int) {
	if n == 0 {
		w.data = append(w.data, '[')
	}
	w.data = append(w.data, ']')
}

// Null writes null.
func (w *Writer) Null() { w.data = append(w.data, "null"...) }

// Raw writes JSON.
func (w *Writer) Raw(json string) { w.data = append(w.data, json...) }

// String writes a string.
func (w *Writer) String(s string) { w.data = AppendString(w.data, s) }

// Int writes an integer.
func (w *Writer) Int(i int) { w.data = strconv.AppendInt(w.data, int64(i), 10) }

// Boolean writes a truth value.
func (w *Writer) Boolean(b bool) { w.data = strconv.AppendBool(w.data, b) }

// Bytes gives what is written so far, for functions that append to it.
func (w *Writer) Bytes() []byte { return w.data }

// Append takes what such a function made; false, with nothing written, where
// it says that there is no value.
func (w *Writer) Append(data []byte, ok bool) bool {
	if ok {
		w.data = data
	}
	return ok
}
