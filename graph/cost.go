package graph

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"incidentgraph/graph/view"
)

// What an operation costs is an upper estimate of the fields in its answer,
// plus what some fields cost for their work.
const (
	assumedLength = 10 // elements of a list that is not a page
	linkCost      = 20 // one condition on links in a filter
	recordCost    = 20 // reading a record
)

// workCosts holds the fields that do more than show what is at hand.
var workCosts = map[string]int{
	"Incident.similar":                500, // looks at every incident that shares a term
	"Query.recurrenceChains":          20,
	"Org.recurrenceChains":            20,
	"Incident.recurrenceChain":        5,
	"SimilarIncidentEdge.explanation": 5,
}

// readsRecord holds the fields that read and decode the whole record, which
// happens once for an incident.
var readsRecord = map[string]bool{
	"Incident.summary":        true,
	"Incident.symptomsText":   true,
	"Incident.trigger":        true,
	"Incident.detection":      true,
	"Incident.lessons":        true,
	"Incident.impact":         true,
	"Incident.remediation":    true,
	"Incident.actionItems":    true,
	"Incident.sources":        true,
	"Incident.review":         true,
	"Incident.docs":           true,
	"Incident.url":            true,
	"Incident.unknownMembers": true,
}

// price is the cost of a selection set: fixed, and each for every element of
// the page, where the set is that of a connection.
type price struct {
	fixed, each int
	reads       bool // a record
}

func (p price) plus(q price) price {
	return price{plus(p.fixed, q.fixed), plus(p.each, q.each), p.reads || q.reads}
}

// of gives the cost of an object, for a page of n.
func (p price) of(n int) int {
	cost := plus(p.fixed, times(n, p.each))
	if p.reads {
		cost = plus(cost, recordCost)
	}
	return cost
}

// costing works out the cost of one operation. Like the shape it takes each
// fragment once: that is why the size of the page is left open in a price.
type costing struct {
	variables map[string]any
	maxPage   int
	known     map[*ast.FragmentDefinition]price
}

// costOf gives the cost of a valid operation with coerced variables.
func costOf(op *ast.OperationDefinition, variables map[string]any, l *view.Limits) int {
	c := costing{variables: variables, maxPage: l.MaxPageSize}
	return c.set(op.SelectionSet).fixed
}

func (c *costing) set(set ast.SelectionSet) price {
	var p price
	for _, selection := range set {
		switch sel := selection.(type) {
		case *ast.Field:
			p = p.plus(c.field(sel))
		case *ast.InlineFragment:
			p = p.plus(c.set(sel.SelectionSet))
		case *ast.FragmentSpread:
			p = p.plus(c.fragment(sel.Definition))
		}
	}
	return p
}

func (c *costing) fragment(f *ast.FragmentDefinition) price {
	p, ok := c.known[f]
	if ok {
		return p
	}
	p = c.set(f.SelectionSet)
	if c.known == nil {
		c.known = make(map[*ast.FragmentDefinition]price)
	}
	c.known[f] = p
	return p
}

// field gives the price of a field. The edges and nodes of a connection are
// priced by the element.
func (c *costing) field(f *ast.Field) price {
	if strings.HasPrefix(f.Name, "__") {
		return price{} // introspection
	}
	inner := 0
	if len(f.SelectionSet) > 0 {
		inner = c.set(f.SelectionSet).of(c.length(f))
	}
	own := plus(1, c.work(f))
	if isPage(f) {
		return price{fixed: own, each: inner}
	}
	if f.Definition.Type.Elem != nil {
		inner = times(inner, c.length(f))
	}
	return price{fixed: plus(own, inner), reads: readsRecord[f.ObjectDefinition.Name+"."+f.Name]}
}

// isConnection tells of the fields that give a connection.
func isConnection(f *ast.Field) bool {
	return strings.HasSuffix(f.Definition.Type.Name(), "Connection")
}

// isPage tells of the lists that hold the page of a connection.
func isPage(f *ast.Field) bool {
	return f.Definition.Type.Elem != nil && (f.Name == "edges" || f.Name == "nodes") &&
		strings.HasSuffix(f.ObjectDefinition.Name, "Connection")
}

// length gives how many elements a list has at most: of a page what is asked
// for, of nodes(ids:) the number of ids, else the assumed one.
func (c *costing) length(f *ast.Field) int {
	for _, argument := range []string{"first", "last"} {
		if n, ok := c.argument(f, argument).(int64); ok {
			return int(max(0, min(n, int64(c.maxPage))))
		}
	}
	if ids, ok := c.argument(f, "ids").([]any); ok {
		return len(ids)
	}
	if isConnection(f) {
		return min(view.DefaultPageSize, c.maxPage)
	}
	return assumedLength
}

// argument gives an argument's value, nil where it has none.
func (c *costing) argument(f *ast.Field, name string) any {
	a := f.Arguments.ForName(name)
	if a == nil {
		return nil
	}
	v, err := a.Value.Value(c.variables)
	if err != nil {
		return nil
	}
	return v
}

// work gives what a field costs beside what it shows.
func (c *costing) work(f *ast.Field) int {
	n := workCosts[f.ObjectDefinition.Name+"."+f.Name]
	if where := c.argument(f, "where"); where != nil {
		n = plus(n, filterCost(where))
	}
	return n
}

// filterCost counts the conditions of a filter; those on links cost more.
func filterCost(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			n = plus(n, 1+filterCost(member))
			if links, ok := member.([]any); ok && name == "links" {
				n = plus(n, linkCost*len(links))
			}
		}
	case []any:
		for _, element := range v {
			n = plus(n, 1+filterCost(element))
		}
	}
	return n
}

// costliest names, by its path in the answer, the list that makes an
// operation dear: from the root it follows the fields that make up at least
// half of what they are part of, and stops at the last list among them.
func (c *costing) costliest(op *ast.OperationDefinition) string {
	var path []string
	end := 1
	set, elements := op.SelectionSet, 1
	for {
		var dearest *ast.Field
		most := 0
		c.eachField(set, make(map[*ast.FragmentDefinition]bool), func(f *ast.Field) {
			p := c.field(f)
			p.reads = false // it belongs to the object, not to one of its fields
			if n := p.of(elements); n > most {
				dearest, most = f, n
			}
		})
		if dearest == nil || most < c.set(set).of(elements)/2 {
			return strings.Join(path[:min(end, len(path))], ".")
		}
		path = append(path, dearest.Alias)
		if isConnection(dearest) || dearest.Definition.Type.Elem != nil && !isPage(dearest) {
			end = len(path)
		}
		set, elements = dearest.SelectionSet, c.length(dearest)
	}
}

// eachField calls do for the fields of a set, fragments followed, each
// fragment once.
func (c *costing) eachField(set ast.SelectionSet, seen map[*ast.FragmentDefinition]bool, do func(*ast.Field)) {
	for _, selection := range set {
		switch sel := selection.(type) {
		case *ast.Field:
			do(sel)
		case *ast.InlineFragment:
			c.eachField(sel.SelectionSet, seen, do)
		case *ast.FragmentSpread:
			if !seen[sel.Definition] {
				seen[sel.Definition] = true
				c.eachField(sel.Definition.SelectionSet, seen, do)
			}
		}
	}
}
