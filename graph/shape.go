package graph

import (
	"github.com/vektah/gqlparser/v2/ast"

	"incidentgraph/graph/view"
)

// shape is how large an operation is, fragments followed. Counts stop at
// lots: fragments that spread each other can double them without end.
type shape struct {
	depth, fields, aliases, root int
}

const lots = 1 << 40

func plus(a, b int) int { return min(a+b, lots) }

func times(a, b int) int {
	if a != 0 && b > lots/a {
		return lots
	}
	return a * b
}

// join adds what stands beside.
func (s *shape) join(o shape) {
	s.depth = max(s.depth, o.depth)
	s.fields = plus(s.fields, o.fields)
	s.aliases = plus(s.aliases, o.aliases)
	s.root = plus(s.root, o.root)
}

// checkShape refuses a document with an operation that is too large. It looks
// at each fragment once, so that its work is linear in the document, and runs
// before validation, whose is not.
func checkShape(doc *ast.QueryDocument, l *view.Limits) error {
	w := shapeWalk{
		fragments: make(map[string]*ast.FragmentDefinition, len(doc.Fragments)),
		known:     make(map[string]shape, len(doc.Fragments)),
	}
	for _, f := range doc.Fragments {
		w.fragments[f.Name] = f
	}
	for _, op := range doc.Operations {
		s := w.set(op.SelectionSet)
		for _, limit := range []struct {
			name       string
			value, max int
		}{
			{"maxDepth", s.depth, l.MaxDepth},
			{"maxFields", s.fields, l.MaxFields},
			{"maxAliases", s.aliases, l.MaxAliases},
			{"maxRootFields", s.root, l.MaxRootFields},
		} {
			if limit.value > limit.max {
				return &view.LimitError{Limit: limit.name, Max: limit.max, Value: counted(limit.value)}
			}
		}
	}
	return nil
}

// counted gives a count, -1 where it was not counted to the end.
func counted(n int) int {
	if n >= lots {
		return -1
	}
	return n
}

// shapeWalk measures selection sets.
type shapeWalk struct {
	fragments map[string]*ast.FragmentDefinition
	known     map[string]shape // by fragment; there while it is being measured, too
}

func (w *shapeWalk) set(set ast.SelectionSet) shape {
	var s shape
	for _, selection := range set {
		switch sel := selection.(type) {
		case *ast.Field:
			f := w.set(sel.SelectionSet)
			f.depth++
			f.fields = plus(f.fields, 1)
			f.root = 1
			if sel.Alias != sel.Name {
				f.aliases = plus(f.aliases, 1)
			}
			s.join(f)
		case *ast.InlineFragment:
			s.join(w.set(sel.SelectionSet))
		case *ast.FragmentSpread:
			s.join(w.fragment(sel.Name))
		}
	}
	return s
}

// fragment measures a fragment once. One that spreads itself counts as
// nothing inside itself; validation refuses it.
func (w *shapeWalk) fragment(name string) shape {
	s, ok := w.known[name]
	f := w.fragments[name]
	if ok || f == nil {
		return s
	}
	w.known[name] = shape{}
	s = w.set(f.SelectionSet)
	w.known[name] = s
	return s
}
