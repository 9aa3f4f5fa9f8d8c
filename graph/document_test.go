package graph

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"incidentgraph/graph/view"
)

// parsed parses a document and, where valid is asked for, validates it.
func parsed(t testing.TB, text string, valid bool) *ast.QueryDocument {
	t.Helper()
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	if valid {
		limits := DefaultLimits()
		d := newDocuments(coercion{executableSchema().Schema(), &limits})
		if _, errs := d.validate(text, doc); errs != nil {
			t.Fatalf("validate %s: %v", text, errs)
		}
	}
	return doc
}

// doubling gives n fragments of which each spreads the next one twice.
func doubling(n int, on, leaf string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " fragment F%d on %s { ...F%d ...F%d }", i, on, i+1, i+1)
	}
	fmt.Fprintf(&b, " fragment F%d on %s { %s }", n, on, leaf)
	return b.String()
}

func TestCheckShape(t *testing.T) {
	limits := view.Limits{MaxDepth: 3, MaxFields: 8, MaxAliases: 2, MaxRootFields: 3}
	for _, c := range []struct {
		document, limit string
		value           int
	}{
		{`{ a { b { c } } }`, "", 0},
		{`{ a { b { c { d } } } }`, "maxDepth", 4},
		{`{ a { ... { b { ...F } } } } fragment F on T { c { d } }`, "maxDepth", 4},
		{`{ x: a y: b c }`, "", 0},
		{`{ x: a { y: b z: c } }`, "maxAliases", 3},
		{`{ a b c d }`, "maxRootFields", 4},
		{`{ ...F ...F } fragment F on T { a b }`, "maxRootFields", 4},
		{`{ a { b c d e f g h i } }`, "maxFields", 9},
		{`{ a { ...F ...F } } fragment F on T { b c d e }`, "maxFields", 9},
		{`query A { a } query B { a b c d }`, "maxRootFields", 4},
		{`{ ...A } fragment A on T { ...B } fragment B on T { ...A a }`, "", 0},
		{`{ ...A } fragment A on T { a ...A }`, "", 0},
		{`{ ...Missing a }`, "", 0},
		{`{ a { ...F0 } }` + doubling(60, "T", "a"), "maxFields", -1},
	} {
		start := time.Now()
		err := checkShape(parsed(t, c.document, false), &limits)
		if took := time.Since(start); took > time.Second {
			t.Errorf("checkShape(%.40s) took %v", c.document, took)
		}
		var limit *view.LimitError
		switch {
		case c.limit == "" && err != nil:
			t.Errorf("checkShape(%s) = %v, want nil", c.document, err)
		case c.limit != "" && (!errors.As(err, &limit) || limit.Limit != c.limit || limit.Value != c.value):
			t.Errorf("checkShape(%s) = %v, want %s with %d", c.document, err, c.limit, c.value)
		}
	}
}

func TestCost(t *testing.T) {
	limits := DefaultLimits()
	for _, c := range []struct {
		document  string
		variables map[string]any
		want      int
	}{
		{`{ __typename }`, nil, 0},
		{`{ __schema { types { name fields { name } } } __type(name: "Org") { name } }`, nil, 0},
		{`{ service { version } }`, nil, 2},
		{`{ incident(caseId: "a") { id title { text } } }`, nil, 4},
		// the connection, its page, 20 times the node
		{`{ incidents { nodes { id } } }`, nil, 1 + 1 + 20},
		{`{ incidents(first: 3) { nodes { id } totalCount } }`, nil, 1 + 1 + 3 + 1},
		{`{ incidents(last: 3) { edges { cursor node { id } } } }`, nil, 1 + 1 + 3*(1+1+1)},
		{`{ incidents(first: 0) { nodes { id } } }`, nil, 2},
		{`query Q($n: Int) { incidents(first: $n) { nodes { id } } }`, map[string]any{"n": int64(7)}, 1 + 1 + 7},
		{`query Q($n: Int = 4) { incidents(first: $n) { nodes { id } } }`, nil, 1 + 1 + 4},
		{`query Q($n: Int) { incidents(first: $n) { nodes { id } } }`, nil, 1 + 1 + 20},
		// what is refused later counts as the largest page
		{`{ incidents(first: 1000) { nodes { id } } }`, nil, 1 + 1 + 100},
		{`{ incidents(first: 2) { nodes { related(first: 5) { nodes { id } } } } }`, nil, 1 + 1 + 2*(1+1+5)},
		// another list is taken for 10 elements
		{`{ incident(caseId: "a") { components { slug } } }`, nil, 1 + 1 + 10},
		{`{ nodes(ids: ["a", "b", "c"]) { id } }`, nil, 1 + 3},
		// a fragment counts where it is spread, for the page that it is spread in
		{`{ a: incidents(first: 2) { ...F } b: incidents(first: 5) { ...F } } fragment F on IncidentConnection { totalCount nodes { id } }`, nil,
			(1 + 1 + 1 + 2) + (1 + 1 + 1 + 5)},
		{`{ incidents { ... { nodes { id } } } }`, nil, 1 + 1 + 20},
		// work
		{`{ incident(caseId: "a") { summary { text } lessons { text } } }`, nil, 1 + recordCost + 2*(2+recordText)},
		{`{ incidents(first: 3) { nodes { ...F caseId } } } fragment F on Incident { url ... { docs } }`, nil, 1 + 1 + 3*(recordCost+1+2*(1+recordText))},
		{`{ incident(caseId: "a") { similar(first: 2) { nodes { id } } } }`, nil, 1 + (1 + 500) + 1 + 2},
		// four elements of an argument's list cost 1, each element in a filter 1
		{`query Q($l: [Language!]) { incidents(first: 3) { nodes { title(languages: $l) { text } } } }`,
			map[string]any{"l": []any{"a", "b", "c", "d", "e", "f", "g", "h"}}, 1 + 1 + 3*(1+2+1)},
		{`{ incidents(where: {org: {in: ["a", "b", "c"]}}, first: 0) { totalCount } }`, nil, 1 + (2 + 3) + 1},
		{`{ incidents(where: {org: {eq: "a"}}, first: 0) { totalCount } }`, nil, 1 + 2 + 1},
		{`query Q($w: IncidentFilter) { incidents(where: $w, first: 0) { totalCount } }`,
			map[string]any{"w": map[string]any{"links": []any{map[string]any{"kind": "RELATED"}}}}, 1 + (1 + linkCost + 1 + 1) + 1},
		// statistics: a scan each, and what they list
		{`{ incidents(first: 0) { facets(vocabularies: [COMPONENT, DOMAIN], top: 5) { vocabulary values { incidents } } } }`, nil,
			1 + (1 + 2*scanCost) + 2*(1+1+5)},
		{`query Q($v: [Vocabulary!]!) { incidents(first: 0) { facets(vocabularies: $v) { values { incidents } } } }`, map[string]any{"v": []any{"COMPONENT"}},
			1 + (1 + scanCost) + (1 + 20)},
		{`{ incidents(first: 0) { groups(by: [ORG, YEAR], first: 3) { totalGroups groups { keys sample { id } durations(of: RESOLVED_AFTER) { known } } } } }`, nil,
			1 + (1 + 2*scanCost) + 1 + 1 + 3*(1+(1+10+3)+(1+40+1))},
		{`{ incidents(first: 0) { timeSeries(interval: YEAR) { start } } }`, nil, 1 + (1 + scanCost) + assumedPoints},
		{`{ incidents(first: 0) { timeSeries(interval: YEAR, by: ORG) { start } } }`, nil, 1 + (1 + 2*scanCost) + assumedPoints},
		{`{ incidents(first: 0) { durations(of: RESOLVED_AFTER) { known histogram { count } fine: histogram(bins: 50) { count } } } }`, nil,
			1 + (1 + scanCost) + 1 + (1 + 12) + (1 + 50)},
		{`{ incidents(first: 0) { associations(left: COMPONENT, right: DOMAIN, first: 4) { both incidents { id } } } }`, nil,
			1 + (1 + 3*scanCost) + 4*(1+(1+10+5))},
		{`{ term(vocabulary: COMPONENT, slug: "a") { coOccurring(with: DOMAIN) { both } } }`, nil, 1 + (1 + scanCost) + 20},
		{`{ term(vocabulary: COMPONENT, slug: "a") { ... on Component { coOccurring(with: DOMAIN, first: 1) { both } } } }`, nil, 1 + (1 + scanCost) + 1},
		{`{ paths(from: "a", to: "b") { complete paths { hops steps { cost } } } }`, nil, (1 + pathCost) + 1 + 1 + 3*(1+1+10)},
		{`{ subgraph(roots: ["a"], maxNodes: 7) { nodes { hop } edges { kind } export(format: DOT) } }`, nil,
			(1 + scanCost) + (1 + 7) + (1 + 7*edgesPerNode) + (1 + 7*(1+edgesPerNode))},
		{`{ subgraph(roots: ["a"]) { nodes { hop } } }`, nil, (1 + scanCost) + (1 + 150)},
		{`{ assess(draft: {}) { similar(first: 2) { score } resolvedAfter { known } } }`, nil, (1 + 500) + (1 + 500 + 2) + (1 + 500 + 1)},
		{`{ search(query: "a", first: 4) { edges { score highlights { field } } facets(vocabularies: [DOMAIN]) { without } } }`, nil,
			(1 + searchCost) + 1 + 4*(1+recordCost+recordText+1+10+assumedLength) + (1 + scanCost + 1)},
		{`{ incidents(where: {not: {text: "a"}}, first: 0) { totalCount } }`, nil, 1 + (textCost + 2) + 1},
	} {
		doc := parsed(t, c.document, true)
		if got := costOf(doc.Operations[0], c.variables, &limits); got != c.want {
			t.Errorf("cost of %s = %d, want %d", c.document, got, c.want)
		}
	}
}

// TestFixedCosts checks which operations have their cost worked out once, and
// that it is the cost with the variables of any request.
func TestFixedCosts(t *testing.T) {
	limits := DefaultLimits()
	h := testHandler(t, Config{}).(*handler)
	const where = `{ incidents(where: {text: $a, components: {all: [$b]}, date: {gte: $c}}, first: 3) { nodes { title(languages: [$d]) { text } } } }`
	for _, c := range []struct {
		variables string
		fixed     bool
	}{
		{"($a: String!, $b: String!, $c: PartialDate!, $d: Language!)", true},
		{"($a: String, $b: String!, $c: PartialDate!, $d: Language!)", false}, // null costs less
		{"($a: String!, $b: String!, $c: PartialDate = \"2015\", $d: Language!)", false},
	} {
		doc := h.engine.documents.newDocument("", parsed(t, "query Q"+c.variables+where, true))
		op := doc.Operations[0]
		given := map[string]any{"a": "word", "b": "network", "c": "2015-02", "d": "ko"}
		want := costOf(op, given, &limits)
		if got := doc.cost(op, given, &limits); got != want {
			t.Errorf("cost with %s = %d, want %d", c.variables, got, want)
		}
		if _, ok := doc.costs[op]; ok != c.fixed {
			t.Errorf("cost with %s is fixed: %t, want %t", c.variables, ok, c.fixed)
		}
	}
	for _, query := range []string{
		"query Q($n: Int!) { incidents(first: $n) { totalCount } }",
		"query Q($l: [String!]!) { incidents(where: {caseId: {in: $l}}) { totalCount } }",
		"query Q($w: IncidentFilter!) { incidents(where: $w) { totalCount } }",
	} {
		if doc := h.engine.documents.newDocument("", parsed(t, query, true)); len(doc.costs) > 0 {
			t.Errorf("the cost of %s is fixed", query)
		}
	}
}

// TestScansAreBounded counts how often one operation may look at every
// incident.
func TestScansAreBounded(t *testing.T) {
	limits := DefaultLimits()
	scans := 0
	for ; ; scans++ {
		var b strings.Builder
		for i := range scans + 1 {
			fmt.Fprintf(&b, "s%d: incidents(first: 0) { durations(of: RESOLVED_AFTER) { known } } ", i)
		}
		if costOf(parsed(t, "{ "+b.String()+"}", true).Operations[0], nil, &limits) > limits.MaxCost {
			break
		}
	}
	if scans < 18 || scans > 25 {
		t.Errorf("an operation may scan %d times, want about 20", scans)
	}
}

func TestCostliest(t *testing.T) {
	limits := DefaultLimits()
	for _, c := range []struct{ document, want string }{
		{`{ service { version } incidents(first: 50) { nodes { id } } }`, "incidents"},
		{`{ incidents { nodes { title { text } more: related(first: 100) { edges { node { id date } } } } } }`, "incidents.nodes.more"},
		{`{ a: incidents { ...F } } fragment F on IncidentConnection { nodes { components { incidents(first: 30) { nodes { id } } } } }`, "a.nodes.components.incidents"},
		{`{ nodes(ids: ["a", "b"]) { ... on Incident { components { id } } } }`, "nodes.components"},
		{`{ service { version revision } }`, "service"},
		{`{ incidents { nodes { id } durations(of: RESOLVED_AFTER) { known } } }`, "incidents.durations"},
		{`{ a: incidents { b: groups(by: [ORG], first: 100) { groups { durations(of: RESOLVED_AFTER) { known } } } } }`, "a.b.groups.durations"},
	} {
		doc := parsed(t, c.document, true)
		costs := costing{limits: &limits}
		if got := costs.costliest(doc.Operations[0]); got != c.want {
			t.Errorf("costliest of %s = %s, want %s", c.document, got, c.want)
		}
	}
}

// TestWalksAreLinear gives the walks a document that is exponential when
// fragments are expanded.
func TestWalksAreLinear(t *testing.T) {
	doc := parsed(t, "{ incidents { ...F0 } }"+doubling(60, "IncidentConnection", "nodes { id }"), false)
	limits := DefaultLimits()
	limits.MaxFields = 1 << 50
	d := newDocuments(coercion{executableSchema().Schema(), &limits})
	start := time.Now()
	if _, errs := d.validate("", doc); errs != nil {
		t.Fatalf("validate: %v", errs)
	}
	if got := costOf(doc.Operations[0], nil, &limits); got < lots {
		t.Errorf("cost = %d, want at least %d", got, lots)
	}
	costs := costing{limits: &limits}
	if got := costs.costliest(doc.Operations[0]); got != "incidents" {
		t.Errorf("costliest = %s, want incidents", got)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("the walks took %v, want milliseconds", took)
	}
}

func TestLRU(t *testing.T) {
	l := newLRU[string, int](10)
	l.add("a", 1, 4)
	l.add("b", 2, 4)
	l.add("a", 9, 4) // there already
	l.get("a")
	l.add("c", 3, 4)  // drops b, which was not asked for longest
	l.add("d", 4, 11) // too large by itself
	got := map[string]int{}
	for _, name := range []string{"a", "b", "c", "d"} {
		if v, ok := l.get(name); ok {
			got[name] = v
		}
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "c": 3}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if l.size != 8 {
		t.Errorf("size = %d, want 8", l.size)
	}
}
