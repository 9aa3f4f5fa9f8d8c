// Package lean holds what generated code calls instead of functions of
// gqlgen's that do more than this server needs. Package rewrite puts the calls
// in; answers are the same, byte by byte, errors and their paths included.
//
// What is left out, and why nobody misses it:
//   - A goroutine for each element of a list. Elements come from memory; what
//     uses the cores is that operations run at the same time.
//   - The bookkeeping of @defer for each object: the schema has no @defer.
//   - A field context for each leaf, which tells errors where they are, and the
//     chain of middleware around it: the context is made once there is an
//     error, and there is no middleware around leaves.
package lean

import (
	"bytes"
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// ResolveLeaf is graphql.ResolveField for a field of a scalar or enum without
// arguments.
func ResolveLeaf[T any](
	ctx context.Context,
	oc *graphql.OperationContext,
	field graphql.CollectedField,
	fieldContext func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error),
	resolve func(ctx context.Context) (any, error),
	_ func(ctx context.Context, next graphql.Resolver) graphql.Resolver,
	marshal func(ctx context.Context, sel ast.SelectionSet, v T) graphql.Marshaler,
	_, nonNull bool,
) (m graphql.Marshaler) {
	located := func() context.Context {
		fc, _ := fieldContext(ctx, field) // which never fails for a leaf
		return graphql.WithFieldContext(ctx, fc)
	}
	defer func() {
		if p := recover(); p != nil {
			ctx := located()
			oc.Error(ctx, oc.Recover(ctx, p))
			m = graphql.Null
		}
	}()
	v, err := resolve(ctx)
	switch {
	case err != nil:
		ctx := located()
		oc.Error(ctx, graphql.AddFieldLocationToError(ctx, err))
		return graphql.Null
	case v == nil:
		if nonNull {
			graphql.AddInvalidNullError(located(), "")
		}
		return graphql.Null
	case nonNull && !neverNull(field.Definition.Type):
		return marshal(located(), field.Selections, v.(T))
	}
	return marshal(ctx, field.Selections, v.(T))
}

// neverNull tells of the types whose marshalers have a value for everything,
// and so no error to report.
func neverNull(t *ast.Type) bool {
	switch t.NamedType {
	case "String", "ID", "Int", "Boolean":
		return true
	}
	return false
}

// MarshalSlice is graphql.MarshalSliceConcurrently, one element after another,
// within the budget of the operation. Elements after its end are null, with one
// error for all of them.
func MarshalSlice(ctx context.Context, length int, _ int64, _ bool, element func(ctx context.Context, i int) graphql.Marshaler) graphql.Array {
	budget := BudgetOf(ctx)
	if err := budget.takeElements(length); err != nil {
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

// NewDeferredGroup is graphql.NewDeferredGroup where nothing is ever deferred.
func NewDeferredGroup(context.Context) graphql.DeferredGroup { return graphql.DeferredGroup{} }

// FieldSet is graphql.FieldSet for objects whose fields are worked out one
// after another.
type FieldSet struct {
	fields   []graphql.CollectedField
	Values   []graphql.Marshaler // by field
	Invalids uint32              // fields that are null and must not be
}

// NewFieldSet makes a set of fields without values.
func NewFieldSet(fields []graphql.CollectedField) *FieldSet {
	return &FieldSet{fields: fields, Values: make([]graphql.Marshaler, len(fields))}
}

// Dispatch does nothing: no field is left to be worked out.
func (*FieldSet) Dispatch(context.Context) {}

// MarshalGQL writes the object. Of fields with the same name in the answer,
// which fragments on an interface and on its types make, it writes the first.
func (s *FieldSet) MarshalGQL(w io.Writer) {
	if Full(w) {
		return
	}
	separator := "{"
	for i := range s.fields {
		if s.repeated(i) {
			continue
		}
		_, _ = io.WriteString(w, separator)
		separator = `,`
		text(s.fields[i].Alias).MarshalGQL(w)
		_, _ = io.WriteString(w, ":")
		s.Values[i].MarshalGQL(w)
	}
	if separator == "{" {
		_, _ = io.WriteString(w, separator)
	}
	_, _ = io.WriteString(w, "}")
}

// repeated tells whether a field before this one has its name. Validation
// bounds the fields of a set.
func (s *FieldSet) repeated(i int) bool {
	for j := range s.fields[:i] {
		if s.fields[j].Alias == s.fields[i].Alias {
			return true
		}
	}
	return false
}

// MarshalString is graphql.MarshalString.
func MarshalString(s string) graphql.Marshaler { return text(s) }

type text string

// MarshalGQL writes a JSON string, in one go where w is a buffer.
func (t text) MarshalGQL(w io.Writer) {
	switch b := w.(type) {
	case *bytes.Buffer:
		b.Grow(len(t) + len(`""`))
		_, _ = b.Write(t.appendTo(b.AvailableBuffer()))
		return
	case *bounded:
		if len(t) > b.budget.bytes {
			b.budget.bytes = -1
			return
		}
		b.Grow(len(t) + len(`""`))
		_, _ = b.Write(t.appendTo(b.AvailableBuffer()))
		return
	}
	_, _ = w.Write(t.appendTo(make([]byte, 0, len(t)+len(`""`))))
}

func (t text) appendTo(b []byte) []byte {
	const hex = "0123456789ABCDEF"
	b = append(b, '"')
	from := 0 // what is not yet appended
	for i := range len(t) {
		c := t[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, t[from:i]...)
		from = i + 1
		switch c {
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		case '\n':
			b = append(b, `\n`...)
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	b = append(b, t[from:]...)
	return append(b, '"')
}
