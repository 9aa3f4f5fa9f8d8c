package graph

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
)

// TestNodeRoundTrips fetches an object of each type that is a Node again by
// its id.
func TestNodeRoundTrips(t *testing.T) {
	h := testHandler(t, Config{})
	data := ask(t, h, `{
		incident(caseId: "T-001") {
			__typename id
			org { __typename id } severity { __typename id } rootCause { __typename id }
			contributingFactors { __typename id } components { __typename id } symptoms { __typename id } domains { __typename id }
			actionItems { __typename id }
		}
		recurrenceChains { nodes { __typename id } }
	}`, nil)
	types := make(map[string]string) // id → type
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if id, ok := v["id"].(string); ok {
				types[id] = v["__typename"].(string)
			}
			for _, member := range v {
				collect(member)
			}
		case []any:
			for _, element := range v {
				collect(element)
			}
		}
	}
	collect(data)
	var ids []any
	seen := make(map[string]bool)
	for id, typ := range types {
		ids = append(ids, id)
		seen[typ] = true
	}
	schema := executableSchema().Schema()
	for _, def := range schema.PossibleTypes["Node"] {
		if def.Name != "Term" && !seen[def.Name] {
			t.Errorf("no id of the type %s was tried", def.Name)
		}
	}
	got := ask(t, h, "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", map[string]any{"ids": ids})
	for i, id := range ids {
		want := map[string]any{"__typename": types[id.(string)], "id": id}
		if diff := gocmp.Diff(want, at(t, got, "nodes", i)); diff != "" {
			t.Errorf("nodes(%v) (-want +got):\n%s", id, diff)
		}
	}
	item := ask(t, h, `{ node(id: "YQFULTAwMQ") { ... on ActionItem { text { text } incident { caseId } } } }`, nil)
	want := map[string]any{"node": map[string]any{"text": map[string]any{"text": "Bound retries"}, "incident": map[string]any{"caseId": "T-001"}}}
	if diff := gocmp.Diff(want, item); diff != "" {
		t.Errorf("the second action item (-want +got):\n%s", diff)
	}
}

// corpus is a generated collection with the records as plain values beside
// the handler that serves them.
type corpus struct {
	handler   http.Handler
	incidents []*incident.Incident
}

func newCorpus(t testing.TB, n int) *corpus {
	t.Helper()
	var records [][]byte
	for r := range fixture.Records(7, n, fixture.Lite) {
		records = append(records, r)
	}
	c := &corpus{}
	for _, r := range records {
		inc, err := incident.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		c.incidents = append(c.incidents, inc)
	}
	in, _ := ingesterOf(t, nil, records...)
	c.handler = NewHandler(Config{Ingester: in})
	return c
}

// sorted gives the case ids of the incidents that match, in an order.
func (c *corpus) sorted(match func(*incident.Incident) bool, order func(a, b *incident.Incident) int) []string {
	var some []*incident.Incident
	for _, i := range c.incidents {
		if match(i) {
			some = append(some, i)
		}
	}
	slices.SortFunc(some, func(a, b *incident.Incident) int { return cmp.Or(order(a, b), strings.Compare(a.ID, b.ID)) })
	ids := make([]string, len(some))
	for n, i := range some {
		ids[n] = i.ID
	}
	return ids
}

func latestFirst(a, b *incident.Incident) int {
	return cmp.Or(compareBool(a.Date.IsZero(), b.Date.IsZero()), -cmp.Compare(a.Date, b.Date))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// byCount gives the names in the order of lists that go by falling count.
func byCount(counts map[string]int) []string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(-cmp.Compare(counts[a], counts[b]), strings.Compare(a, b))
	})
	return names
}

// TestPagingAgainstSlices walks every kind of list in pages of random sizes,
// forward and backward, and compares what comes with the records sorted
// plainly.
func TestPagingAgainstSlices(t *testing.T) {
	c := newCorpus(t, 400)
	everything := func(*incident.Incident) bool { return true }
	orgs, factors := make(map[string]int), make(map[string]int)
	children := make(map[string][]string)
	byID := make(map[string]*incident.Incident)
	for _, i := range c.incidents {
		byID[i.ID] = i
		if i.OrgSlug != "" {
			orgs[i.OrgSlug]++
		}
		seen := make(map[string]bool)
		for _, v := range i.Contributing {
			if !seen[v.Slug] {
				seen[v.Slug] = true
				factors[v.Slug]++
			}
		}
	}
	for _, i := range c.incidents {
		if byID[i.RecurrenceOf] != nil {
			children[i.RecurrenceOf] = append(children[i.RecurrenceOf], i.ID)
		}
	}
	chains := make(map[string]int) // size by root
	for _, i := range c.incidents {
		if byID[i.RecurrenceOf] == nil && len(children[i.ID]) > 0 {
			chains[i.ID] = treeSize(i.ID, children)
		}
	}
	topFactor, topOrg, longest := byCount(factors)[0], byCount(orgs)[0], byCount(chains)[0]
	related := make(map[string][]string)
	for _, i := range c.incidents {
		for _, id := range i.Related {
			if byID[id] != nil {
				related[i.ID] = append(related[i.ID], id)
				related[id] = append(related[id], i.ID)
			}
		}
	}
	mostRelated := slices.MaxFunc(c.incidents, func(a, b *incident.Incident) int {
		return cmp.Or(cmp.Compare(len(related[a.ID]), len(related[b.ID])), strings.Compare(a.ID, b.ID))
	}).ID

	for _, list := range []struct {
		name string
		// field has %s for the paging arguments; path leads to the connection,
		// key inside a node to what identifies it.
		field    string
		path     []any
		key      string
		want     []string
		backward bool
	}{
		{"incidents, latest first", "incidents(%s)", []any{"incidents"}, "caseId", c.sorted(everything, latestFirst), true},
		{"incidents by id", "incidents(orderBy: [{field: CASE_ID, direction: ASC}], %s)", []any{"incidents"}, "caseId",
			c.sorted(everything, func(a, b *incident.Incident) int { return 0 }), true},
		{"incidents by two keys", "incidents(orderBy: [{field: RESOLVED_AFTER}, {field: DATE, direction: ASC}], %s)", []any{"incidents"}, "caseId",
			c.sorted(everything, func(a, b *incident.Incident) int {
				x, y := a.ResolvedAfter, b.ResolvedAfter
				return cmp.Or(compareBool(!x.Known, !y.Known), -cmp.Compare(x.Seconds, y.Seconds),
					compareBool(a.Date.IsZero(), b.Date.IsZero()), cmp.Compare(a.Date, b.Date))
			}), true},
		{"incidents of an org", `org(slug: "` + topOrg + `") { incidents(%s)`, []any{"org", "incidents"}, "caseId",
			c.sorted(func(i *incident.Incident) bool { return i.OrgSlug == topOrg }, latestFirst), true},
		{"incidents of a factor with a filter", `term(vocabulary: CONTRIBUTING_FACTOR, slug: "` + topFactor + `") { incidents(where: {not: {org: {eq: "` + topOrg + `"}}}, %s)`,
			[]any{"term", "incidents"}, "caseId",
			c.sorted(func(i *incident.Incident) bool {
				return i.OrgSlug != topOrg && slices.ContainsFunc(i.Contributing, func(v incident.Value) bool { return v.Slug == topFactor })
			}, latestFirst), true},
		{"related", `incident(caseId: "` + mostRelated + `") { related(%s)`, []any{"incident", "related"}, "caseId",
			c.sorted(func(i *incident.Incident) bool { return slices.Contains(related[mostRelated], i.ID) }, latestFirst), true},
		{"recurrences", `incident(caseId: "` + longest + `") { recurrences(%s)`, []any{"incident", "recurrences"}, "caseId",
			c.sorted(func(i *incident.Incident) bool { return i.RecurrenceOf == longest }, latestFirst), true},
		{"orgs", "orgs(%s)", []any{"orgs"}, "slug", byCount(orgs), true},
		{"terms", "terms(vocabulary: CONTRIBUTING_FACTOR, %s)", []any{"terms"}, "slug", byCount(factors), true},
		{"chains", "recurrenceChains(%s)", []any{"recurrenceChains"}, "root", byCount(chains), false},
		{"members", `incident(caseId: "` + longest + `") { recurrenceChain { members(%s)`, []any{"incident", "recurrenceChain", "members"}, "caseId",
			breadthFirst(longest, children, byID), false},
	} {
		t.Run(list.name, func(t *testing.T) {
			if len(list.want) == 0 {
				t.Fatal("nothing to page through")
			}
			w := walker{t: t, corpus: c, field: list.field, path: list.path, key: list.key, rng: rand.New(rand.NewPCG(1, uint64(len(list.name))))}
			if diff := gocmp.Diff(list.want, w.walk("first", "after", len(list.want))); diff != "" {
				t.Errorf("forward (-want +got):\n%s", diff)
			}
			if !list.backward {
				return
			}
			if diff := gocmp.Diff(list.want, w.walk("last", "before", len(list.want))); diff != "" {
				t.Errorf("backward (-want +got):\n%s", diff)
			}
		})
	}
}

func treeSize(id string, children map[string][]string) int {
	n := 1
	for _, child := range children[id] {
		n += treeSize(child, children)
	}
	return n
}

// breadthFirst gives a tree's members by depth, then date, then id.
func breadthFirst(root string, children map[string][]string, byID map[string]*incident.Incident) []string {
	level, ids := []string{root}, []string{}
	for len(level) > 0 {
		slices.SortFunc(level, func(a, b string) int {
			x, y := byID[a].Date, byID[b].Date
			return cmp.Or(compareBool(x.IsZero(), y.IsZero()), cmp.Compare(x, y), strings.Compare(a, b))
		})
		ids = append(ids, level...)
		var next []string
		for _, id := range level {
			next = append(next, children[id]...)
		}
		level = next
	}
	return ids
}

// walker collects a list page by page.
type walker struct {
	t      *testing.T
	corpus *corpus
	field  string
	path   []any
	key    string
	rng    *rand.Rand
}

func (w *walker) walk(size, from string, total int) []string {
	node := w.key
	if node == "root" {
		node = "root { caseId }"
	}
	var ids []string
	cursor := ""
	for range 2 * total {
		n := 1 + w.rng.IntN(100)
		if w.rng.IntN(2) == 0 {
			n = 1 + w.rng.IntN(7)
		}
		args := fmt.Sprintf("%s: %d", size, n)
		if cursor != "" {
			args += fmt.Sprintf(", %s: %q", from, cursor)
		}
		query := "{ " + fmt.Sprintf(w.field, args) + " { totalCount edges { cursor node { " + node + " } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"
		query += strings.Repeat(" }", len(w.path))
		page := at(w.t, ask(w.t, w.corpus.handler, query, nil), w.path...)
		if got := at(w.t, page, "totalCount"); got != float64(total) {
			w.t.Fatalf("totalCount = %v, want %d", got, total)
		}
		edges := at(w.t, page, "edges").([]any)
		if got := len(at(w.t, page, "nodes").([]any)); got != len(edges) {
			w.t.Fatalf("%d nodes, want %d", got, len(edges))
		}
		var here []string
		for _, e := range edges {
			id := at(w.t, e, "node", w.key)
			if w.key == "root" {
				id = at(w.t, id, "caseId")
			}
			here = append(here, id.(string))
		}
		info := at(w.t, page, "pageInfo").(map[string]any)
		more, end := info["hasNextPage"], info["endCursor"]
		if size == "last" {
			more, end = info["hasPreviousPage"], info["startCursor"]
			ids = append(here, ids...)
		} else {
			ids = append(ids, here...)
		}
		if more == false {
			return ids
		}
		if len(edges) != n {
			w.t.Fatalf("a page of %d, want %d: there is more", len(edges), n)
		}
		cursor = end.(string)
	}
	w.t.Fatalf("no end after %d pages", 2*total)
	return nil
}

// TestSimilarPages walks the similar incidents page by page: the pages join to
// one list of falling scores with ranks from 1, of as many as the total says.
func TestSimilarPages(t *testing.T) {
	c := newCorpus(t, 300)
	id := c.incidents[17].ID
	var after any
	rank, last := 0, 2.0
	seen := make(map[string]bool)
	for {
		data := ask(t, c.handler, `query ($id: String!, $after: String) { incident(caseId: $id) { similar(by: [{vocabulary: CONTRIBUTING_FACTOR}, {vocabulary: COMPONENT, weight: 0.5}], first: 7, after: $after) {
			totalCount edges { rank score node { caseId } explanation { shared { weight } onlyHere { weight } onlyThere { weight } } } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`,
			map[string]any{"id": id, "after": after})
		page := at(t, data, "incident", "similar").(map[string]any)
		for _, e := range page["edges"].([]any) {
			rank++
			score := at(t, e, "score").(float64)
			if at(t, e, "rank") != float64(rank) || score > last || score <= 0 {
				t.Fatalf("edge %v after score %g, want rank %d and a score that falls", e, last, rank)
			}
			last = score
			caseID := at(t, e, "node", "caseId").(string)
			if caseID == id || seen[caseID] {
				t.Fatalf("%s is listed again", caseID)
			}
			seen[caseID] = true
			// As the schema says that it can be checked by hand.
			shared, here, there := sum(t, e, "shared"), sum(t, e, "onlyHere"), sum(t, e, "onlyThere")
			if got := shared / (shared + here + there); got < score-1e-12 || got > score+1e-12 {
				t.Fatalf("score = %g, want %g from its weights", score, got)
			}
		}
		if at(t, page, "pageInfo", "hasNextPage") == false {
			if page["totalCount"] != float64(rank) {
				t.Errorf("totalCount = %v, want %d", page["totalCount"], rank)
			}
			return
		}
		after = at(t, page, "pageInfo", "endCursor")
	}
}

func sum(t *testing.T, edge any, list string) float64 {
	t.Helper()
	total := 0.0
	for _, w := range at(t, edge, "explanation", list).([]any) {
		total += at(t, w, "weight").(float64)
	}
	return total
}

// TestOneStatePerOperation writes while operations run: each sees one state.
func TestOneStatePerOperation(t *testing.T) {
	in, log := ingesterOf(t, nil)
	h := NewHandler(Config{Ingester: in})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				data := ask(t, h, `{ service { revision incidentCount } incidents(first: 1) { totalCount } a: orgs { nodes { incidents { totalCount } } } }`, nil)
				revision := at(t, data, "service", "revision")
				for _, path := range [][]any{{"service", "incidentCount"}, {"incidents", "totalCount"}} {
					if got := at(t, data, path...); got != revision {
						t.Errorf("%v = %v at revision %v", path, got, revision)
						return
					}
				}
				for _, n := range at(t, data, "a", "nodes").([]any) {
					if got := at(t, n, "incidents", "totalCount"); got != revision {
						t.Errorf("the org has %v incidents at revision %v", got, revision)
						return
					}
				}
			}
		})
	}
	for i := range 200 {
		put(t, log, []byte(fmt.Sprintf(`{"id":"T-%d","org":"One"}`, i)))
	}
	close(done)
	readers.Wait()
}

// TestSameBytes asks for the same at the same time many times over.
func TestSameBytes(t *testing.T) {
	c := newCorpus(t, 100)
	const query = `{ incidents(first: 30) { edges { cursor node { caseId title { text } org { name } contributingFactors { slug label { text } incidents(first: 3) { totalCount nodes { caseId } } } bad: related(first: -1) { totalCount } } } } }`
	want := post(t, c.handler, query, nil).Body.String()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := post(t, c.handler, query, nil).Body.String(); got != want {
				t.Errorf("answers differ: %d and %d bytes", len(got), len(want))
			}
		})
	}
	all.Wait()
}

// TestLeaves asks for every field of the types that are written by hand, in
// all the ways to select one.
func TestLeaves(t *testing.T) {
	h := testHandler(t, Config{})
	for typ, at := range map[string]string{
		"LocalizedText": `incident(caseId: "T-001") { title`,
		"PageInfo":      `incidents { pageInfo`,
	} {
		var fields []string
		for _, f := range executableSchema().Schema().Types[typ].Fields {
			field := f.Name
			if len(f.Arguments) > 0 {
				field += "(language: $tag)"
			}
			fields = append(fields, field)
		}
		query := "query ($tag: Language!, $no: Boolean!) { " + at + " { __typename same: " + fields[0] + " ... on " + typ + " { " +
			strings.Join(fields, " ") + " } ...F skipped: __typename @include(if: $no) } } } fragment F on " + typ + " { " + fields[0] + " }"
		query = strings.Replace(query, "$tag: Language!, ", map[bool]string{true: "$tag: Language!, ", false: ""}[strings.Contains(query, "(language")], 1)
		a := decodeAnswer(t, post(t, h, query, map[string]any{"tag": "KO-kr", "no": false}))
		if len(a.Errors) > 0 {
			t.Fatalf("%s: %+v", query, a.Errors)
		}
		var got map[string]any
		for _, v := range a.Data {
			for _, v := range v.(map[string]any) {
				got = v.(map[string]any)
			}
		}
		if len(got) != len(fields)+2 || got["__typename"] != typ || got["same"] != got[fields[0]] {
			t.Errorf("%s = %v, want __typename, same and %v", typ, got, fields)
		}
	}
}
