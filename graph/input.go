package graph

import (
	"github.com/vektah/gqlparser/v2/ast"

	"incidentgraph/graph/view"
)

// What arguments and variables may hold is bounded before anything is made of
// it: its nesting and the elements of its lists before it is coerced, the
// length of each list and the nesting of filters by the schema, with the
// coercion of variables and once for the literals of a document.

// inputSize measures values that are not coerced yet.
type inputSize struct{ elements int }

// value takes a variable's value at a depth.
func (s *inputSize) value(v any, depth int) error {
	switch v := v.(type) {
	case []any:
		if err := s.enter(depth, len(v)); err != nil {
			return err
		}
		for _, element := range v {
			if err := s.value(element, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := s.enter(depth, 0); err != nil {
			return err
		}
		for _, member := range v {
			if err := s.value(member, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// literal takes a literal of a document at a depth.
func (s *inputSize) literal(v *ast.Value, depth int) error {
	if v == nil || len(v.Children) == 0 {
		return nil
	}
	elements := 0
	if v.Kind == ast.ListValue {
		elements = len(v.Children)
	}
	if err := s.enter(depth, elements); err != nil {
		return err
	}
	for _, child := range v.Children {
		if err := s.literal(child.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *inputSize) enter(depth, elements int) error {
	if depth >= view.MaxInputDepth {
		return &view.LimitError{Limit: "maxInputDepth", Max: view.MaxInputDepth, Value: -1}
	}
	if s.elements += elements; s.elements > view.MaxInputElements {
		return &view.LimitError{Limit: "maxInputElements", Max: view.MaxInputElements, Value: -1}
	}
	return nil
}

// set takes the literals of a selection set; fragments are taken by document.
func (s *inputSize) set(set ast.SelectionSet) error {
	for _, selection := range set {
		var directives ast.DirectiveList
		var inner ast.SelectionSet
		switch sel := selection.(type) {
		case *ast.Field:
			if err := s.arguments(sel.Arguments); err != nil {
				return err
			}
			directives, inner = sel.Directives, sel.SelectionSet
		case *ast.InlineFragment:
			directives, inner = sel.Directives, sel.SelectionSet
		case *ast.FragmentSpread:
			directives = sel.Directives
		}
		for _, d := range directives {
			if err := s.arguments(d.Arguments); err != nil {
				return err
			}
		}
		if err := s.set(inner); err != nil {
			return err
		}
	}
	return nil
}

func (s *inputSize) arguments(arguments ast.ArgumentList) error {
	for _, a := range arguments {
		if err := s.literal(a.Value, 0); err != nil {
			return err
		}
	}
	return nil
}

// document takes all literals of a document.
func (s *inputSize) document(doc *ast.QueryDocument) error {
	for _, op := range doc.Operations {
		for _, def := range op.VariableDefinitions {
			if err := s.literal(def.DefaultValue, 0); err != nil {
				return err
			}
		}
		if err := s.set(op.SelectionSet); err != nil {
			return err
		}
	}
	for _, f := range doc.Fragments {
		if err := s.set(f.SelectionSet); err != nil {
			return err
		}
	}
	return nil
}

// checkLength refuses a list with more elements than its type has use for.
func (c coercion) checkLength(t *ast.Type, n int, at *place) error {
	limit, most := "maxListLength", view.MaxListLength
	switch name := t.Elem.NamedType; name {
	case "Language":
		most = view.MaxLanguages
	case "IncidentOrder":
		most = view.MaxOrders
	case "VocabularyWeight":
		most = view.MaxWeights
	case "ID":
		limit, most = "maxNodes", c.limits.MaxNodes
	default:
		if def := c.schema.Types[name]; def != nil && def.Kind == ast.Enum {
			most = len(def.EnumValues)
		}
	}
	if n <= most {
		return nil
	}
	return &view.LimitError{Limit: limit, Max: most, Value: n, Path: at.path()}
}

// enter goes into an object.
func (p *place) enter(def *ast.Definition) error {
	if def.Name != "IncidentFilter" {
		return nil
	}
	if p.filters++; p.filters > view.MaxFilterDepth {
		return &view.LimitError{Limit: "maxFilterDepth", Max: view.MaxFilterDepth, Value: -1, Path: p.path()}
	}
	return nil
}

// checkLiterals checks the literals of a valid document by the schema.
func (c coercion) checkLiterals(doc *ast.QueryDocument) error {
	for _, op := range doc.Operations {
		for _, def := range op.VariableDefinitions {
			if err := c.checkLiteral(def.Type, def.DefaultValue, &place{name: def.Variable}); err != nil {
				return err
			}
		}
		if err := c.checkSet(op.SelectionSet); err != nil {
			return err
		}
	}
	for _, f := range doc.Fragments {
		if err := c.checkSet(f.SelectionSet); err != nil {
			return err
		}
	}
	return nil
}

func (c coercion) checkSet(set ast.SelectionSet) error {
	for _, selection := range set {
		var inner ast.SelectionSet
		switch sel := selection.(type) {
		case *ast.Field:
			for _, a := range sel.Arguments {
				def := sel.Definition.Arguments.ForName(a.Name)
				if err := c.checkLiteral(def.Type, a.Value, &place{name: a.Name}); err != nil {
					return err
				}
			}
			inner = sel.SelectionSet
		case *ast.InlineFragment:
			inner = sel.SelectionSet
		}
		if err := c.checkSet(inner); err != nil {
			return err
		}
	}
	return nil
}

func (c coercion) checkLiteral(t *ast.Type, v *ast.Value, at *place) error {
	switch {
	case v == nil:
	case v.Kind == ast.ListValue && t.Elem != nil:
		if err := c.checkLength(t, len(v.Children), at); err != nil {
			return err
		}
		for i, child := range v.Children {
			at := at.element(i)
			if err := c.checkLiteral(t.Elem, child.Value, &at); err != nil {
				return err
			}
		}
	case v.Kind == ast.ObjectValue && t.Elem != nil:
		return c.checkLiteral(t.Elem, v, at)
	case v.Kind == ast.ObjectValue:
		def := c.schema.Types[t.NamedType]
		if err := at.enter(def); err != nil {
			return err
		}
		for _, child := range v.Children {
			f := def.Fields.ForName(child.Name)
			if f == nil {
				continue // of a scalar that takes every value
			}
			at := at.member(child.Name)
			if err := c.checkLiteral(f.Type, child.Value, &at); err != nil {
				return err
			}
		}
	}
	return nil
}
