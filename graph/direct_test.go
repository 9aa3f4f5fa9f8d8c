package graph

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"incidentgraph/graph/direct"
	"incidentgraph/graph/generated"
)

// bothWays gives two handlers of the same records: one as it is, and one whose
// operations all go through gqlgen's executor. fallen counts how often the
// first one had to use it, too.
func bothWays(t testing.TB, cfg Config) (usual, plain *handler, fallen *int) {
	t.Helper()
	usual, plain = testHandler(t, cfg).(*handler), testHandler(t, cfg).(*handler)
	plain.engine.plain = true
	fallen = new(int)
	usual.engine.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		*fallen++
		return next(ctx)
	})
	return usual, plain, fallen
}

// TestDirect sends random queries both ways: the answers are the same, byte by
// byte, and gqlgen's executor is used for those with errors alone.
func TestDirect(t *testing.T) {
	usual, plain, fallen := bothWays(t, Config{})
	const queries = 3000
	good, failed := 0, 0
	for seed := range uint64(queries) {
		query, hasData := sameBothWays(t, usual, plain, fallen, seed)
		switch {
		case hasData:
			good++
		case strings.Contains(query, "incident"):
			failed++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d queries without errors", good, queries)
	if good < queries/4 || failed == 0 {
		t.Errorf("%d of %d queries without errors, %d with errors: that says little", good, queries, failed)
	}
}

// FuzzDirect is TestDirect for any seed.
func FuzzDirect(f *testing.F) {
	usual, plain, fallen := bothWays(f, Config{})
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { sameBothWays(t, usual, plain, fallen, seed) })
}

// sameBothWays compares the answers to a random query, and tells whether they
// are without errors.
func sameBothWays(t *testing.T, usual, plain *handler, fallen *int, seed uint64) (query string, good bool) {
	t.Helper()
	q := querist{Rand: rand.New(rand.NewPCG(seed, 1)), schema: usual.engine.coercion.schema}
	query = q.document()
	variables := map[string]any{"yes": q.IntN(2) == 0, "no": q.IntN(2) == 0, "n": q.IntN(3), "language": "ko"}
	*fallen = 0
	headers := []string{requestIDHeader, "same"}
	got, want := post(t, usual, query, variables, headers...), post(t, plain, query, variables, headers...)
	if !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
		t.Errorf("seed %d: %s\n%v\n directly %s\nby gqlgen %s", seed, query, variables, got.Body, want.Body)
	}
	good = !strings.HasPrefix(want.Body.String(), `{"errors"`)
	if good && *fallen > 0 {
		t.Errorf("seed %d: %s\n%v\ngoes through gqlgen's executor", seed, query, variables)
	}
	return query, good
}

// querist makes random queries that are valid, or nearly so.
type querist struct {
	*rand.Rand
	schema *ast.Schema
	names  int // given so far
}

func (q *querist) document() string {
	const depth = 5
	return "query ($yes: Boolean!, $no: Boolean!, $n: Int, $language: Language!) {" + q.set(q.schema.Query, depth) +
		" __typename @skip(if: $yes) k: incident(caseId: \"T-002\") { ...F } l: incidents(first: $n) { nodes { title(languages: [$language]) { text @include(if: $no) } } } } " +
		"fragment F on Incident { caseId date @include(if: $yes) org { ...G slug } } " +
		"fragment G on Org { name id }"
}

// set selects some fields of a type.
func (q *querist) set(t *ast.Definition, depth int) string {
	var b strings.Builder
	if t.IsAbstractType() {
		b.WriteString("__typename ")
		for _, possible := range q.schema.GetPossibleTypes(t) {
			if q.IntN(2) == 0 && possible.Kind == ast.Object {
				fmt.Fprintf(&b, "... on %s { %s } ", possible.Name, q.set(possible, depth-1))
			}
		}
	}
	for range 1 + q.IntN(4) {
		if len(t.Fields) == 0 {
			break
		}
		b.WriteString(q.field(t.Fields[q.IntN(len(t.Fields))], depth))
	}
	if t.Name == "Incident" && q.IntN(3) == 0 {
		b.WriteString("...F ...F ")
	}
	if q.IntN(4) == 0 {
		fmt.Fprintf(&b, "... @include(if: $yes) { a%d: __typename } ", q.IntN(3))
	}
	if b.Len() == 0 || q.IntN(5) == 0 {
		b.WriteString("__typename ")
	}
	return b.String()
}

// field selects a field; nothing where it cannot.
func (q *querist) field(f *ast.FieldDefinition, depth int) string {
	t := q.schema.Types[f.Type.Name()]
	if strings.HasPrefix(f.Name, "__") || depth <= 0 && t.IsCompositeType() {
		return ""
	}
	var b strings.Builder
	if len(f.Arguments) > 0 || q.IntN(6) == 0 {
		q.names++
		fmt.Fprintf(&b, "x%d: ", q.names)
	}
	b.WriteString(f.Name)
	var arguments []string
	for _, a := range f.Arguments {
		if !a.Type.NonNull && q.IntN(3) > 0 {
			continue
		}
		if v := q.value(a.Name, a.Type); v != "" {
			arguments = append(arguments, a.Name+": "+v)
		}
	}
	if len(arguments) > 0 {
		b.WriteString("(" + strings.Join(arguments, ", ") + ")")
	}
	switch q.IntN(20) {
	case 0:
		b.WriteString(" @skip(if: $no)")
	case 1:
		b.WriteString(" @include(if: true)")
	}
	if t.IsCompositeType() {
		b.WriteString(" { " + q.set(t, depth-1) + "}")
	}
	return b.String() + " "
}

// one gives one of some texts.
func (q *querist) one(values ...string) string { return values[q.IntN(len(values))] }

// value makes an argument.
func (q *querist) value(name string, t *ast.Type) string {
	if t.Elem != nil {
		return "[" + q.value(name, t.Elem) + "]"
	}
	definition := q.schema.Types[t.NamedType]
	switch {
	case definition.Kind == ast.Enum:
		return definition.EnumValues[q.IntN(len(definition.EnumValues))].Name
	case t.NamedType == "Int":
		return q.one("$n", "0", "1", "2", "3")
	case t.NamedType == "Float":
		return q.one("0.1", "0.5")
	case t.NamedType == "Boolean":
		return q.one("$yes", "true")
	case t.NamedType == "Language":
		return q.one(`"en"`, `"ko"`, "$language")
	case t.NamedType == "ID":
		return strconv.Quote(q.one("SW5jaWRlbnQ6VC0wMDE=", "x"))
	case t.NamedType == "String" && name == "slug":
		return strconv.Quote(q.one("acme", "network", "cascading-failure", "none"))
	case t.NamedType == "String" && name == "query":
		return strconv.Quote(q.one("database", "network", "정전"))
	case t.NamedType == "String" && (name == "after" || name == "before"):
		return `"x"`
	case t.NamedType == "String":
		return strconv.Quote(fmt.Sprintf("T-%03d", 1+q.IntN(13)))
	case t.NamedType == "IncidentFilter":
		return q.one(`{}`, `{text: "network"}`, `{not: {caseId: {in: ["T-001"]}}}`, `{components: {any: ["network"]}}`, `{date: {gte: "2015"}}`)
	case t.NamedType == "IncidentOrder":
		return q.one(`{field: DATE, direction: ASC}`, `{field: LINK_COUNT, direction: DESC}`)
	case t.NamedType == "CaseDraft":
		return `{text: "the network failed", contributingFactors: ["cascading-failure"]}`
	case t.NamedType == "VocabularyWeight":
		return `{vocabulary: COMPONENT, weight: 1}`
	}
	return ""
}

// TestPlanIsBounded runs a document whose interfaces within each other make
// more selections than a plan keeps.
func TestPlanIsBounded(t *testing.T) {
	usual, plain, fallen := bothWays(t, Config{Limits: Limits{MaxCost: 1 << 30}})
	level := "__typename slug"
	for range 4 {
		level = "slug __typename label { text } ... on Component { id } incidents(first: 2) { nodes { x: contributingFactors { ...on Term { " +
			level + " } } y: components { ...on Term { " + level + " } } } }"
		if len(level) > 40_000 {
			break
		}
	}
	query := `{ terms(vocabulary: COMPONENT, first: 3) { nodes { ` + level + ` } } }`
	for range 2 {
		got, want := post(t, usual, query, nil), post(t, plain, query, nil)
		if !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
			t.Fatalf("directly %.500s, by gqlgen %.500s", got.Body, want.Body)
		}
	}
	if body := post(t, usual, query, nil).Body.String(); *fallen > 0 || strings.HasPrefix(body, `{"errors"`) {
		t.Errorf("%.300s", body)
		t.Error("it goes through gqlgen's executor")
	}
	doc, ok := usual.engine.documents.valid.get(query)
	if !ok {
		t.Fatal("the document is not kept")
	}
	for _, p := range doc.plans {
		if n := p.Kept(); n == 0 || n > len(query) {
			t.Errorf("its plan keeps %d fields, want some and at most %d", n, len(query))
		}
	}
}

// TestDirectPanics has generated code meet what it does not know: the caller
// learns that gqlgen's executor is to run the operation.
func TestDirectPanics(t *testing.T) {
	h := testHandler(t, Config{}).(*handler)
	budget, ctx := h.engine.budget(context.Background())
	w := direct.NewWriter(ctx, nil, budget, nil)
	oc := &graphql.OperationContext{}
	doc, err := h.engine.documents.parse("{ service { version } }")
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := h.engine.documents.validate("", doc); errs != nil {
		t.Fatal(errs)
	}
	plan := direct.NewPlan(doc, doc.Operations[0], generated.Query, nil)
	// The context carries no operation of package view, which panics.
	if data, err := w.Run(func() bool { return generated.WriteQuery(h.engine.schema, oc, w, plan) }); data != nil || err != nil {
		t.Errorf("Run = %s, %v, want neither", data, err)
	}
}
