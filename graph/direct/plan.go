package direct

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Type is an object type as the generated code has it.
type Type struct {
	Name string
	// Satisfies names the types whose fragments hold for it.
	Satisfies []string
	// Fields numbers its fields from 1. __typename is 0.
	Fields map[string]int
}

// Plan is how one operation is run: for each field of an object type what
// there is to write of each type of object that it has given so far. Plans are
// made as operations run, and are safe for concurrent use.
type Plan struct {
	// Root are the fields of the operation.
	Root *Selection

	doc       *ast.QueryDocument
	variables map[string]any

	mu   sync.Mutex
	kept int // fields, each with its own number; guarded by mu
	room int // for so many
}

// Fixed tells whether an operation has one plan for all variables: none of
// them says what is left out.
func Fixed(doc *ast.QueryDocument, op *ast.OperationDefinition) bool {
	fixed := fixedSet(op.SelectionSet)
	for _, f := range doc.Fragments {
		fixed = fixed && fixedSet(f.SelectionSet)
	}
	return fixed
}

func fixedSet(set ast.SelectionSet) bool {
	for _, s := range set {
		var directives ast.DirectiveList
		var selected ast.SelectionSet
		switch s := s.(type) {
		case *ast.Field:
			directives, selected = s.Directives, s.SelectionSet
		case *ast.InlineFragment:
			directives, selected = s.Directives, s.SelectionSet
		case *ast.FragmentSpread:
			directives = s.Directives
		}
		for _, d := range directives {
			if slices.ContainsFunc(d.Arguments, func(a *ast.Argument) bool { return a.Value.Kind == ast.Variable }) {
				return false
			}
		}
		if !fixedSet(selected) {
			return false
		}
	}
	return true
}

// NewPlan makes the plan of a query, on the type of queries; the variables
// matter only where the plan is not fixed. It gives nil for what gqlgen's
// executor has to do: introspection.
//
// A plan keeps at most as many fields as the document has bytes, which is some
// types for each interface; with more it works them out each time.
func NewPlan(doc *ast.QueryDocument, op *ast.OperationDefinition, query *Type, variables map[string]any) *Plan {
	p := &Plan{doc: doc, variables: variables, room: len(op.Position.Src.Input)}
	p.Root = p.selection(query, op.SelectionSet)
	for i := range p.Root.Fields {
		if p.Root.Fields[i].Index < 0 {
			return nil
		}
	}
	p.number(p.Root)
	return p
}

// number gives the fields of a selection that is kept their numbers; false
// where there is no room. Only one goroutine at a time may call it.
func (p *Plan) number(s *Selection) bool {
	if p.kept+len(s.Fields) > p.room {
		return false
	}
	for i := range s.Fields {
		s.Fields[i].number = p.kept
		p.kept++
	}
	return true
}

// Kept counts the fields that the plan keeps.
func (p *Plan) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept
}

// Selection is what is to be written of an object of one type.
type Selection struct {
	Fields []Field
	of     *Type
}

// Field is one field to write.
type Field struct {
	// Index is the field's number in its type.
	Index int

	plan  *Plan
	field graphql.CollectedField
	key   string // with its quotes and the colon
	// number is the place of its arguments among the operation's, -1 for none.
	number int
	// constant tells that no variable is in its arguments. Then same holds
	// them for all operations: a pointer to a struct of the generated code.
	constant bool
	same     atomic.Value
	objects  atomic.Pointer[[]*Selection] // by type of object
}

// selection works out what is selected of a type.
func (p *Plan) selection(t *Type, set ast.SelectionSet) *Selection {
	// The context is a new one each time, for it keeps what was collected.
	oc := &graphql.OperationContext{Doc: p.doc, Variables: p.variables}
	s := &Selection{of: t}
	collected := graphql.CollectFields(oc, set, t.Satisfies)
	s.Fields = make([]Field, 0, len(collected))
	for _, c := range collected {
		if s.has(c.Alias) {
			continue
		}
		s.Fields = append(s.Fields, Field{
			Index: t.index(c.Name), plan: p, field: c, number: -1,
			key:      string(append(AppendString(nil, c.Alias), ':')),
			constant: !slices.ContainsFunc(c.Arguments, func(a *ast.Argument) bool { return hasVariable(a.Value) }),
		})
	}
	return s
}

// has tells whether a field has a name. Of fields with the same name in the
// answer, which fragments on an interface and on its types make, the first one
// is written.
func (s *Selection) has(alias string) bool {
	for i := range s.Fields {
		if s.Fields[i].field.Alias == alias {
			return true
		}
	}
	return false
}

// index gives the number of a field; that of one which the generated code does
// not have is no number of its.
func (t *Type) index(name string) int {
	switch i, ok := t.Fields[name]; {
	case ok:
		return i
	case name == "__typename":
		return 0
	}
	return -1
}

func hasVariable(v *ast.Value) bool {
	return v.Kind == ast.Variable || slices.ContainsFunc(v.Children, func(c *ast.ChildValue) bool { return hasVariable(c.Value) })
}

// Of gives what there is to write of an object of a type that the field gave.
func (f *Field) Of(t *Type) *Selection {
	known := f.objects.Load()
	if known != nil {
		for _, s := range *known {
			if s.of == t {
				return s
			}
		}
	}
	made := f.plan.selection(t, f.field.Selections)
	f.plan.keep(f, made)
	return made
}

// keep keeps a selection for the next object, if there is room.
func (p *Plan) keep(f *Field, s *Selection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var known []*Selection
	if k := f.objects.Load(); k != nil {
		known = *k
	}
	if slices.ContainsFunc(known, func(k *Selection) bool { return k.of == s.of }) || !p.number(s) {
		return
	}
	known = append(slices.Clip(known), s)
	f.objects.Store(&known)
}

// Arguments gives the arguments of a field, as KeepArguments was given them;
// nil where it was not.
func (w *Writer) Arguments(f *Field) any {
	if f.constant {
		return f.same.Load()
	}
	if 0 <= f.number && f.number < len(w.arguments) {
		return w.arguments[f.number]
	}
	return nil
}

// RawArguments gives the arguments of a field as they were asked with.
func (w *Writer) RawArguments(f *Field) map[string]any { return f.field.ArgumentMap(w.variables) }

// KeepArguments keeps the arguments of a field: for the operation or, where no
// variable is in them, for all to come. Nobody may change them.
func (w *Writer) KeepArguments(f *Field, arguments any) {
	if f.constant {
		f.same.Store(arguments)
		return
	}
	if f.number < 0 {
		return
	}
	if n := f.number + 1 - len(w.arguments); n > 0 {
		w.arguments = append(w.arguments, make([]any, n)...)
	}
	w.arguments[f.number] = arguments
}
