package graph

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
)

// TestSearchAgrees compares searches over generated records with filters by
// the same words, walks their pages, and checks where highlights are.
func TestSearchAgrees(t *testing.T) {
	var records [][]byte
	var incidents []*incident.Incident
	for record := range fixture.Records(3, 200, fixture.Full) {
		inc, err := incident.Decode(record)
		if err != nil {
			t.Fatal(err)
		}
		records, incidents = append(records, record), append(incidents, inc)
	}
	in, _ := searchable(t, nil, records...)
	h := NewHandler(Config{Ingester: in, Limits: Limits{MaxCost: 1 << 30}})
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 30 {
		inc := incidents[r.IntN(len(incidents))]
		words := strings.Fields(inc.Title[r.IntN(len(inc.Title))].Text)
		query := words[r.IntN(len(words))]
		if r.IntN(2) == 0 {
			query += " " + words[r.IntN(len(words))]
		}
		where := "{}"
		if r.IntN(2) == 0 && inc.OrgSlug != "" {
			where = fmt.Sprintf("{org: {eq: %q}}", inc.OrgSlug)
		}
		data := ask(t, h, fmt.Sprintf(`query ($q: String!) {
			search(query: $q, where: %[1]s, first: 100) {
				totalCount
				facets(vocabularies: [COMPONENT, SEVERITY]) { incidents without }
				edges { score cursor node { ... on Incident { caseId } } highlights { field language fragment ranges { start end } } }
			}
			incidents(where: {and: [%[1]s, {text: $q}]}, first: 100) { totalCount nodes { caseId } }
		}`, where), map[string]any{"q": query})
		total := at(t, data, "search", "totalCount").(float64)
		for _, f := range at(t, data, "search", "facets").([]any) {
			if got := at(t, f, "incidents").(float64) + at(t, f, "without").(float64); got != total {
				t.Errorf("facets of %q over %v, want the %v found", query, got, total)
			}
		}
		whole := map[string]bool{}
		var all []string
		last := 3.0
		for _, e := range at(t, data, "search", "edges").([]any) {
			id, score := at(t, e, "node", "caseId").(string), at(t, e, "score").(float64)
			all = append(all, id)
			if score >= 1 {
				whole[id] = true
			}
			if score > last || score <= 0 || score > 3 {
				t.Errorf("score %v after %v", score, last)
			}
			last = score
			checkHighlights(t, query, e)
		}
		filtered := at(t, data, "incidents", "nodes").([]any)
		if total <= 100 && at(t, data, "incidents", "totalCount").(float64) != float64(len(whole)) {
			t.Errorf("the filter by %q gives %v, want the %d with all words", query, at(t, data, "incidents", "totalCount"), len(whole))
		}
		for _, n := range filtered {
			if id := at(t, n, "caseId").(string); total <= 100 && !whole[id] {
				t.Errorf("the filter by %q gives %s, the search does not", query, id)
			}
		}
		found += len(all)
		if diff := gocmp.Diff(all, walkSearch(t, h, query, where, 1+r.IntN(30), len(all))); diff != "" {
			t.Errorf("pages of %q (-whole +pages):\n%s", query, diff)
		}
	}
	if found < 200 {
		t.Errorf("only %d results over all queries", found)
	}
}

// checkHighlights checks that ranges lie in their fragments, in order, and
// show words of the query.
func checkHighlights(t *testing.T, query string, edge any) {
	t.Helper()
	list := at(t, edge, "highlights").([]any)
	if len(list) == 0 {
		t.Errorf("%q finds %v and shows nothing", query, at(t, edge, "node"))
	}
	for _, h := range list {
		fragment := at(t, h, "fragment").(string)
		length, end := float64(utf8.RuneCountInString(fragment)), -1.0
		for _, r := range at(t, h, "ranges").([]any) {
			start := at(t, r, "start").(float64)
			if start <= end || at(t, r, "end").(float64) <= start || at(t, r, "end").(float64) > length {
				t.Errorf("range %v of %q", r, fragment)
			}
			end = at(t, r, "end").(float64)
		}
		if end < 0 || strings.ContainsAny(fragment, "\n\r") {
			t.Errorf("highlight %v, want one line with ranges", h)
		}
	}
}

// walkSearch collects the first n results page by page.
func walkSearch(t *testing.T, h http.Handler, query, where string, size, n int) []string {
	t.Helper()
	var ids []string
	var after any
	for len(ids) < n {
		data := ask(t, h, fmt.Sprintf(`query ($q: String!, $after: String) { search(query: $q, where: %s, first: %d, after: $after) { edges { node { ... on Incident { caseId } } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`, where, size),
			map[string]any{"q": query, "after": after})
		for _, e := range at(t, data, "search", "edges").([]any) {
			ids = append(ids, at(t, e, "node", "caseId").(string))
		}
		info := at(t, data, "search", "pageInfo").(map[string]any)
		if info["hasPreviousPage"] != (after != nil) {
			t.Errorf("hasPreviousPage = %v after %v", info["hasPreviousPage"], after)
		}
		if info["hasNextPage"] == false {
			break
		}
		after = info["endCursor"]
	}
	return ids[:min(n, len(ids))]
}

// TestSearchSaysWhatIsWrong asks for what a search refuses, and searches where
// nothing can be searched.
func TestSearchSaysWhatIsWrong(t *testing.T) {
	h := testHandler(t, Config{})
	cursor := at(t, ask(t, h, `{ search(query: "metadata", first: 1) { edges { cursor } } }`, nil), "search", "edges", 0, "cursor").(string)
	in, _ := ingesterOf(t, nil, testRecords(t)...)
	without := NewHandler(Config{Ingester: in})
	for _, c := range []struct {
		handler     http.Handler
		query, code string
		path        []any
	}{
		{h, `{ search(query: "metadata", first: -1) { totalCount } }`, codeBadInput, []any{"first"}},
		{h, `{ search(query: "metadata", first: 101) { totalCount } }`, codeLimit, []any{"first"}},
		{h, `{ search(query: "other", after: "` + cursor + `") { totalCount } }`, codeBadInput, []any{"after"}},
		{h, `{ search(query: "metadata", after: "x") { totalCount } }`, codeBadInput, []any{"after"}},
		{h, `{ incidents(after: "` + cursor + `") { totalCount } }`, codeBadInput, []any{"after"}},
		{h, `{ search(query: "metadata", where: {components: {any: ["nope"]}}) { totalCount } }`, codeUnknownTerm, []any{"where", "components", "any", 0.0}},
		{h, `{ search(query: "metadata") { facets(vocabularies: [DOMAIN, DOMAIN]) { without } } }`, codeBadInput, []any{"vocabularies", 1.0}},
		{without, `{ search(query: "metadata") { totalCount } }`, codeNoSearch, nil},
		{without, `{ incidents(where: {text: "metadata"}) { totalCount } }`, codeNoSearch, nil},
	} {
		a := decodeAnswer(t, post(t, c.handler, c.query, nil))
		if a.code() != c.code {
			t.Errorf("%s gives %+v, want the code %s", c.query, a, c.code)
			continue
		}
		path, _ := a.Errors[0].Extensions["path"].([]any)
		if !slices.Equal(path, c.path) {
			t.Errorf("%s: the path of the error is %v, want %v", c.query, path, c.path)
		}
	}
}

// TestSearchSeesWhatWasWritten writes and searches: the text index is at the
// state that the operation sees.
func TestSearchSeesWhatWasWritten(t *testing.T) {
	in, log := searchable(t, nil)
	h := NewHandler(Config{Ingester: in})
	for i := range 50 {
		put(t, log, []byte(fmt.Sprintf(`{"id":"T-%d","title":{"en":"outage number %d"}}`, i, i)))
		data := ask(t, h, `{ service { revision } search(query: "outage") { totalCount } incidents(where: {text: "outage"}) { totalCount } }`, nil)
		revision := at(t, data, "service", "revision")
		for _, path := range [][]any{{"search", "totalCount"}, {"incidents", "totalCount"}} {
			if got := at(t, data, path...); got != revision {
				t.Fatalf("%v = %v at revision %v", path, got, revision)
			}
		}
	}
}
