package view

import (
	"context"
	"errors"
	"io"

	"github.com/99designs/gqlgen/graphql"

	"incidentgraph/graph/lean"
	"incidentgraph/graph/scalar"
)

// Objects whose fields are all at hand are written here in one go, through
// gqlgen's ContextMarshaler: what gqlgen sets up for an object that may defer,
// fail and run its fields concurrently costs many times what a short text
// does, and answers hold texts above all.

// writeLeaf writes an object; value gives the value of each field selected.
func writeLeaf(ctx context.Context, w io.Writer, types []string, value func(f *graphql.CollectedField) graphql.Marshaler) {
	if lean.Full(w) {
		return
	}
	selected := graphql.GetFieldContext(ctx).Field.Selections
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), selected, types)
	separator := "{"
	for i := range fields {
		_, _ = io.WriteString(w, separator)
		separator = ","
		lean.MarshalString(fields[i].Alias).MarshalGQL(w)
		_, _ = io.WriteString(w, ":")
		if fields[i].Name == "__typename" {
			lean.MarshalString(types[0]).MarshalGQL(w)
			continue
		}
		value(&fields[i]).MarshalGQL(w)
	}
	_, _ = io.WriteString(w, "}")
}

// optional gives null where there is no value.
func optional(s string, ok bool) graphql.Marshaler {
	if !ok {
		return graphql.Null
	}
	return lean.MarshalString(s)
}

// errNotInput is why an output type has a method to read it at all: gqlgen
// takes a type for a marshaler only if it is both.
var errNotInput = errors.New("an output type is no input")

var localizedText = []string{"LocalizedText"}

// MarshalGQLContext writes the fields selected.
func (t *LocalizedText) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	writeLeaf(ctx, w, localizedText, func(f *graphql.CollectedField) graphql.Marshaler {
		switch f.Name {
		case "text":
			return lean.MarshalString(t.Text)
		case "language":
			return scalar.MarshalLanguage(t.Language)
		case "isFallback":
			return graphql.MarshalBoolean(t.IsFallback)
		case "available":
			tags := make(graphql.Array, len(t.versions))
			for i, v := range t.versions {
				tags[i] = scalar.MarshalLanguage(v.Language)
			}
			return tags
		case "translation":
			arguments := f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
			language, err := scalar.UnmarshalLanguage(arguments["language"])
			if err != nil { // not after validation
				return graphql.Null
			}
			return optional(t.Translation(language))
		}
		panic("no field " + f.Name)
	})
	return nil
}

// UnmarshalGQLContext fails.
func (*LocalizedText) UnmarshalGQLContext(context.Context, any) error { return errNotInput }

var pageInfo = []string{"PageInfo"}

// MarshalGQLContext writes the fields selected.
func (i *PageInfo) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	writeLeaf(ctx, w, pageInfo, func(f *graphql.CollectedField) graphql.Marshaler {
		switch f.Name {
		case "hasNextPage":
			return graphql.MarshalBoolean(i.HasNextPage)
		case "hasPreviousPage":
			return graphql.MarshalBoolean(i.HasPreviousPage)
		case "startCursor":
			return optional(i.StartCursor())
		case "endCursor":
			return optional(i.EndCursor())
		}
		panic("no field " + f.Name)
	})
	return nil
}

// UnmarshalGQLContext fails.
func (*PageInfo) UnmarshalGQLContext(context.Context, any) error { return errNotInput }
