package graph

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"incidentgraph/graph/view"
)

// What an operation costs is an upper estimate of the fields in its answer,
// plus what some fields cost for their work.
const (
	assumedLength  = 10   // elements of a list whose length no argument bounds
	assumedPoints  = 120  // of a time series: ten years of months
	linkCost       = 20   // one condition on links in a filter
	textCost       = 500  // one condition on texts in a filter
	recordCost     = 20   // reading a record
	recordText     = 4    // one of the long texts, or the like, of a record
	elementsForOne = 4    // elements of a list in an argument that cost 1
	scanCost       = 800  // looking at every incident of the store once
	searchCost     = 1000 // searching all texts
	pathCost       = 2000 // a search for paths that goes to its bound
	edgesPerNode   = 4    // of a subgraph
)

// workCosts holds the fields that do more than show what is at hand, by type
// and field, or by field where several types have it.
var workCosts = map[string]int{
	"Incident.similar":                500, // looks at every incident that shares a term
	"Query.recurrenceChains":          20,
	"Org.recurrenceChains":            20,
	"Incident.recurrenceChain":        5,
	"RecurrenceChain.gaps":            5,
	"SimilarIncidentEdge.explanation": 5,
	"IncidentConnection.facets":       scanCost, // each vocabulary
	"SearchConnection.facets":         scanCost, // likewise
	"IncidentConnection.groups":       scanCost, // each key
	"IncidentConnection.timeSeries":   scanCost,
	"IncidentConnection.durations":    scanCost,
	"IncidentConnection.associations": 3 * scanCost,
	"coOccurring":                     scanCost,
	"IncidentGroup.durations":         40,
	"IncidentGroup.sample":            10,
	"Association.incidents":           10,
	"Query.paths":                     pathCost,
	"Query.subgraph":                  scanCost,
	"Comparison.explanation":          5,
	"Comparison.path":                 pathCost,
	"Query.assess":                    500, // looks for terms in a text
	"Assessment.similar":              500,
	"Assessment.resolvedAfter":        500,
	"Assessment.consider":             2 * scanCost,
	"Query.search":                    searchCost,
	"SearchEdge.highlights":           10,
}

// lengths holds the arguments that say how many elements a list has, pages
// those that say it of the page, or the like, inside an object.
var (
	lengths = []string{"first", "last", "ids", "vocabularies", "bins"}
	pages   = []string{"first", "last", "top", "maxNodes"}
)

// paged holds the lists inside an object whose length an argument of the field
// bounds that gives the object, beside the edges and nodes of connections; and
// how many elements they have for one that is asked for.
var paged = map[string]int{
	"Facet.values":     1,
	"GroupList.groups": 1,
	"PathResult.paths": 1,
	"Subgraph.nodes":   1,
	"Subgraph.edges":   edgesPerNode,
	"Subgraph.export":  1 + edgesPerNode, // each element of the file
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
	"SearchEdge.highlights":   true,
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
	limits    *view.Limits
	known     map[*ast.FragmentDefinition]price
	works     map[*ast.Field]int
}

// costOf gives the cost of a valid operation with coerced variables.
func costOf(op *ast.OperationDefinition, variables map[string]any, l *view.Limits) int {
	c := costing{variables: variables, limits: l}
	return c.set(op.SelectionSet).fixed
}

// pricelessVariables gives variables to work out the cost of an operation with,
// where their values do not matter: none asks for a number of elements, holds a
// list or an object, or can be left out.
func pricelessVariables(schema *ast.Schema, op *ast.OperationDefinition) (map[string]any, bool) {
	variables := make(map[string]any, len(op.VariableDefinitions))
	for _, v := range op.VariableDefinitions {
		if !v.Type.NonNull || v.Type.Elem != nil {
			return nil, false
		}
		switch t := schema.Types[v.Type.NamedType]; {
		case t.Kind == ast.Enum, t.Name == "String", t.Name == "ID", t.Name == "Boolean", t.Name == "PartialDate", t.Name == "Language":
			variables[v.Variable] = "any"
		default:
			return nil, false
		}
	}
	return variables, true
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

// field gives the price of a field. The edges and nodes of a connection, and
// lists like them, are priced by the element.
func (c *costing) field(f *ast.Field) price {
	if strings.HasPrefix(f.Name, "__") {
		return price{} // introspection
	}
	inner := 0
	if len(f.SelectionSet) > 0 {
		inner = c.set(f.SelectionSet).of(c.page(f))
	}
	own := plus(1, c.work(f))
	if each, ok := paged[fieldName(f)]; ok {
		return price{fixed: own, each: times(each, max(1, inner))}
	}
	if isPage(f) {
		return price{fixed: own, each: inner}
	}
	if f.Definition.Type.Elem != nil {
		inner = times(inner, c.length(f))
	}
	return price{fixed: plus(own, inner), reads: readsRecord[fieldName(f)]}
}

// fieldName names a field with its type.
func fieldName(f *ast.Field) string { return f.ObjectDefinition.Name + "." + f.Name }

// isConnection tells of the fields that give a connection.
func isConnection(f *ast.Field) bool {
	return strings.HasSuffix(f.Definition.Type.Name(), "Connection")
}

// isPage tells of the lists that hold the page of a connection, or the like.
func isPage(f *ast.Field) bool {
	if paged[fieldName(f)] > 0 {
		return true
	}
	return f.Definition.Type.Elem != nil && (f.Name == "edges" || f.Name == "nodes") &&
		strings.HasSuffix(f.ObjectDefinition.Name, "Connection")
}

// length gives how many elements a list has at most.
func (c *costing) length(f *ast.Field) int {
	if f.Name == "timeSeries" {
		return assumedPoints
	}
	return c.asked(f, lengths)
}

// page gives how many elements the lists inside an object have at most whose
// length the field bounds.
func (c *costing) page(f *ast.Field) int { return c.asked(f, pages) }

// asked gives the number that one of some arguments asks for, or the length of
// the list that it is: the standard size of a page where it is null, and the
// assumed length where the field has none of them.
func (c *costing) asked(f *ast.Field, arguments []string) int {
	asked := assumedLength
	for _, name := range arguments {
		if f.Definition.Arguments.ForName(name) == nil {
			continue
		}
		switch v := c.argument(f, name).(type) {
		case int64:
			return int(max(0, min(v, int64(c.most(name)))))
		case []any:
			return len(v)
		}
		asked = min(view.DefaultPageSize, c.limits.MaxPageSize)
	}
	return asked
}

// most gives what an argument may ask for.
func (c *costing) most(argument string) int {
	if argument == "maxNodes" {
		return c.limits.MaxNodes
	}
	return c.limits.MaxPageSize
}

// argument gives an argument's value, the schema's where the request has none,
// nil where there is none either.
func (c *costing) argument(f *ast.Field, name string) any {
	if a := f.Arguments.ForName(name); a != nil {
		if v, err := a.Value.Value(c.variables); err == nil && v != nil {
			return v
		}
	}
	if def := f.Definition.Arguments.ForName(name); def != nil && def.DefaultValue != nil {
		if v, err := def.DefaultValue.Value(nil); err == nil {
			return v
		}
	}
	return nil
}

// work gives what a field costs beside what it shows. It is worked out once,
// for arguments may be large.
func (c *costing) work(f *ast.Field) int {
	n, ok := c.works[f]
	if ok {
		return n
	}
	if n, ok = workCosts[fieldName(f)]; !ok {
		n = workCosts[f.Name]
	}
	for _, list := range []string{"vocabularies", "by"} {
		if keys, ok := c.argument(f, list).([]any); ok && n >= scanCost {
			n = times(n, len(keys))
		}
	}
	if f.Name == "timeSeries" && c.argument(f, "by") != nil {
		n = plus(n, scanCost)
	}
	if readsRecord[fieldName(f)] {
		n = plus(n, recordText)
	}
	for _, a := range f.Arguments {
		switch v := c.argument(f, a.Name).(type) {
		case map[string]any:
			if a.Name == "where" {
				n = plus(n, filterCost(v, c.limits.MaxCost))
			}
		case []any:
			n = plus(n, len(v)/elementsForOne)
		}
	}
	if c.works == nil {
		c.works = make(map[*ast.Field]int)
	}
	c.works[f] = n
	return n
}

// filterCost counts the conditions of a filter; those on links cost more. It
// stops counting somewhere above most.
func filterCost(v any, most int) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if n > most {
				break
			}
			n = plus(n, 1+filterCost(member, most-n))
			if links, ok := member.([]any); ok && name == "links" {
				n = plus(n, linkCost*len(links))
			}
			if name == "text" && member != nil {
				n = plus(n, textCost)
			}
		}
	case []any:
		for _, element := range v {
			if n > most {
				break
			}
			n = plus(n, 1+filterCost(element, most-n))
		}
	}
	return n
}

// costliest names, by its path in the answer, the list or the work that makes
// an operation dear: from the root it follows the fields that make up at least
// half of what they are part of, and stops at the last list, or field with
// work of its own, among them.
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
		if isConnection(dearest) || c.work(dearest) > 0 || dearest.Definition.Type.Elem != nil && !isPage(dearest) {
			end = len(path)
		}
		set, elements = dearest.SelectionSet, c.page(dearest)
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
