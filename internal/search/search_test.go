package search

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

// names writes hits as "incident A-1", partial ones in brackets.
func names(r *Result) []string {
	var list []string
	for _, h := range r.Hits {
		s := fmt.Sprintf("%v %s", h.Kind, h.ID)
		if h.Kind == KindTerm {
			s = h.Term().String()
		}
		if h.Partial {
			s = "(" + s + ")"
		}
		list = append(list, s)
	}
	return list
}

func small(t *testing.T) *readable {
	ix := memory(t, concepts(t, "Retry storm"))
	put(t, ix, "x",
		&incident.Incident{
			ID: "A-1", Org: "Example Cloud", OrgSlug: "example-cloud",
			Title:        bilingual("Metadata service overloaded in us-east-1", "메타데이터 서비스에 재시도가 몰렸다"),
			Summary:      bilingual("Clients of DynamoDB repeated their requests.", "DynamoDB의 오류율이 55%까지 올랐다. 큐가 찼다."),
			Contributing: values("retry-storm"),
			Components:   values("database"),
		},
		&incident.Incident{
			ID: "A-2", Org: "Example Air", OrgSlug: "example-air",
			Title:      inEnglish("A leap second stopped the clocks"),
			Summary:    inEnglish("Version 5.0.1 of the scheduler hung. The second attempt worked."),
			Detection:  inEnglish("A customer called."),
			Components: values("Air traffic control"),
		},
		&incident.Incident{
			ID:          "B-1",
			Title:       inEnglish("The database of a hospital was overloaded"),
			Remediation: []incident.Text{inEnglish("Restarted the database."), inEnglish("Waited a second.")},
			ActionItems: []incident.Text{inEnglish("Buy a leap of faith.")},
		},
	)
	return ix
}

func TestSearch(t *testing.T) {
	ix := small(t)
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"overloaded", []string{"incident B-1", "incident A-1"}},
		{"overload", []string{"incident B-1", "incident A-1"}},
		{"OVERLOADED database", []string{"incident B-1", "incident A-1", "(COMPONENT/database)"}},
		{`"leap second"`, []string{"incident A-2"}},
		{`"second leap"`, nil},
		{"leap second", []string{"incident A-2", "incident B-1"}},
		{"overloaded -hospital", []string{"incident A-1"}},
		{`overloaded -"metadata service"`, []string{"incident B-1"}},
		{"-title:overloaded", []string{"incident A-2"}},
		{"title:second", []string{"incident A-2"}},
		{"remediation:second", []string{"incident B-1"}},
		{"remediation:restarted -action:faith", nil},
		{"detection:customer", []string{"incident A-2"}},
		{"action:leap", []string{"incident B-1"}},
		{"id:a", []string{"incident A-2", "incident A-1"}},
		{"5.0.1", []string{"incident A-2"}},
		{"us-east-1", []string{"incident A-1"}},
		// Korean
		{"메타데이터 서비스", []string{"incident A-1"}},
		{"재시도", []string{"CONTRIBUTING_FACTOR/retry-storm", "incident A-1"}},
		{"오류율", []string{"incident A-1"}},
		{"DynamoDB의", []string{"incident A-1"}},
		{"큐", []string{"incident A-1"}},
		{"오류율에서", []string{"(incident A-1)"}},
		{"타데", []string{"incident A-1"}},
		// the name of a term in the other language, the id, the org
		{"재시도 폭풍", []string{"CONTRIBUTING_FACTOR/retry-storm", "incident A-1"}},
		{"retry storm", []string{"CONTRIBUTING_FACTOR/retry-storm", "incident A-1", "(COMPONENT/storm)"}},
		{"retry-storm", []string{"CONTRIBUTING_FACTOR/retry-storm", "incident A-1", "(COMPONENT/storm)"}},
		{"A-2", []string{"incident A-2"}},
		{"example cloud", []string{"org example-cloud", "incident A-1"}},
		{"org:air", []string{"org example-air", "incident A-2"}},
		{"component:air", []string{"incident A-2", "COMPONENT/air-traffic-control"}},
		{"factor:air", nil},
		// nothing at all
		{"zebra", nil},
		{"zebra hospital", []string{"(incident B-1)"}},
		{`"zebra" hospital`, nil},
		{"", nil},
		{"!", nil},
	} {
		if diff := cmp.Diff(tt.want, names(found(t, ix, tt.query, Options{First: 10}))); diff != "" {
			t.Errorf("Search(%q) (-want +got):\n%s", tt.query, diff)
		}
	}
}

func TestScores(t *testing.T) {
	ix := small(t)
	for _, tt := range []struct {
		query, hit string
		low, high  float64
	}{
		{"retry storm", "CONTRIBUTING_FACTOR/retry-storm", 2, 3},
		{"A-2", "incident A-2", 2, 3},
		{"a-2", "incident A-2", 1, 2},
		{"overloaded", "incident A-1", 1, 2},
		{"storm", "CONTRIBUTING_FACTOR/retry-storm", 1, 2},
		{"zebra hospital", "(incident B-1)", 0, 1},
		{"-hospital", "incident A-1", 1, 1.000001},
	} {
		r := found(t, ix, tt.query, Options{First: 10})
		at := slices.Index(names(r), tt.hit)
		if at < 0 || r.Hits[at].Score < tt.low || r.Hits[at].Score >= tt.high {
			t.Errorf("Search(%q) = %v, want %s with a score from %v to %v", tt.query, r.Hits, tt.hit, tt.low, tt.high)
		}
	}
}

func TestExpandedWith(t *testing.T) {
	ix := small(t)
	factor := incident.Term{Vocabulary: incident.ContributingFactor, Slug: "retry-storm"}
	storm := incident.Term{Vocabulary: incident.Component, Slug: "storm"}
	database := incident.Term{Vocabulary: incident.Component, Slug: "database"}
	for _, tt := range []struct {
		query string
		want  []incident.Term
	}{
		{"retry storm", []incident.Term{factor}},
		{"Retries storm", []incident.Term{factor}},
		{"재시도 폭풍", []incident.Term{factor}},
		{`"재시도 폭풍"`, []incident.Term{factor}},
		{"retry-storm", []incident.Term{factor}},
		{"database retry storm zebra", []incident.Term{database, factor}},
		{"storm retry", []incident.Term{storm}},
		{"storm storm", []incident.Term{storm}},
		{"factor:retry-storm", []incident.Term{factor}},
		{"retry title:storm", nil},
		{"retry -storm", nil},
		{"재시도", nil},
		{"example cloud", nil},
		{"air traffic control", []incident.Term{{Vocabulary: incident.Component, Slug: "air-traffic-control"}}},
	} {
		if diff := cmp.Diff(tt.want, found(t, ix, tt.query, Options{}).ExpandedWith); diff != "" {
			t.Errorf("Search(%q).ExpandedWith (-want +got):\n%s", tt.query, diff)
		}
	}
}

// TestNamesComeAndGo checks that orgs and terms are there as long as an
// incident has them or the vocabulary lists them.
func TestNamesComeAndGo(t *testing.T) {
	ix := memory(t, concepts(t, "Retry storm"))
	inc := func(id, org, factor string) *incident.Incident {
		return &incident.Incident{ID: id, Org: org, OrgSlug: "zebra", Contributing: values(factor, factor)}
	}
	check := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, query := range []string{"zebra", "giraffe", "retry storm"} {
			for _, n := range names(found(t, ix, query, Options{First: 10})) {
				if n[0] != 'i' && n[0] != '(' {
					got = append(got, query+": "+n)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	const listed = "retry storm: CONTRIBUTING_FACTOR/retry-storm"
	check("at first", listed)
	put(t, ix, "1", inc("A", "Zebra Ltd", "giraffe"), inc("B", "ZEBRA", "retry-storm"))
	check("two incidents", "zebra: org zebra", "giraffe: CONTRIBUTING_FACTOR/giraffe", listed)
	put(t, ix, "2", inc("A", "Zoo", "retry-storm"))
	check("the name of one replaced", "zebra: org zebra", listed)
	put(t, ix, "3", inc("B", "Zoo", "Giraffe!"))
	check("both known by their slug", "zebra: org zebra", "giraffe: CONTRIBUTING_FACTOR/giraffe", listed)
	b := ix.NewBatch()
	b.Put(inc("A", "Zebra", "giraffe"))
	b.Delete("A")
	b.Delete("never there")
	b.Delete("B")
	b.Put(inc("B", "Zebra", "x"))
	commit(t, b, "4")
	check("the last of a batch counts", "zebra: org zebra", listed)
	b.Delete("B")
	commit(t, b, "5")
	check("none left", listed)
}

func TestPaging(t *testing.T) {
	ix := memory(t, libraryConcepts(t))
	put(t, ix, "x", libraryIncidents(t)...)
	for _, query := range []string{"service", "-service", "서비스 장애", "major outage", "leap second", "cloud", "storm retry certificate"} {
		all := found(t, ix, query, Options{First: 1000})
		if len(all.Hits) < 3 {
			t.Fatalf("Search(%q) has %d hits, too few to page", query, len(all.Hits))
		}
		for _, size := range []int{1, 3, 20} {
			var pages []Hit
			var after *Hit
			for more := true; more; {
				r := found(t, ix, query, Options{First: size, After: after})
				if r.Total != all.Total || len(r.Hits) > size || len(r.Hits) == 0 {
					t.Fatalf("Search(%q) after %v = %d hits, total %d, want up to %d, total %d", query, after, len(r.Hits), r.Total, size, all.Total)
				}
				pages = append(pages, r.Hits...)
				after, more = &r.Hits[len(r.Hits)-1], r.More
			}
			if diff := cmp.Diff(all.Hits, pages); diff != "" {
				t.Errorf("Search(%q) in pages of %d (-at once +paged):\n%s", query, size, diff)
			}
		}
		for _, size := range []int{0, -1} {
			if r := found(t, ix, query, Options{First: size}); len(r.Hits) != 0 || r.Total != all.Total || !r.More {
				t.Errorf("Search(%q, First: %d) = %d hits, total %d, more %v, want 0, %d, true", query, size, len(r.Hits), r.Total, r.More, all.Total)
			}
		}
	}
}

// TestKeep checks that a search within a set is a search of all, the others
// taken out, and that each incident is asked for once.
func TestKeep(t *testing.T) {
	ix := memory(t, libraryConcepts(t))
	put(t, ix, "x", libraryIncidents(t)...)
	even := func(id string) bool { return (id[len(id)-1]-'0')%2 == 0 }
	for _, query := range []string{"service", "-cloudflare", "서비스 장애", "major outage", "cloud"} {
		var want, got []string
		for _, h := range found(t, ix, query, Options{First: 1000, IncidentsOnly: true}).Hits {
			if !h.Partial && even(h.ID) {
				want = append(want, h.ID)
			}
		}
		asked := make(map[string]int)
		r := found(t, ix, query, Options{First: 1000, IncidentsOnly: true, Keep: func(n uint32) bool {
			id := ix.numbers.CaseID(n)
			asked[id]++
			return even(id)
		}})
		for _, h := range r.Hits {
			got = append(got, h.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || r.Total != len(want) || len(want) < 3 {
			t.Errorf("Search(%q) of some, total %d (-all +some):\n%s", query, r.Total, diff)
		}
		for id, n := range asked {
			if n != 1 {
				t.Errorf("Search(%q) asked %d times for %s, want once", query, n, id)
			}
		}
		if all := matching(t, ix, query); len(asked) != len(all) {
			t.Errorf("Search(%q) asked for %d incidents, want the %d that match", query, len(asked), len(all))
		}
	}
}

// TestKeepRelaxes checks that hits count as too few after the set is applied.
func TestKeepRelaxes(t *testing.T) {
	ix := small(t)
	r := found(t, ix, "database overloaded", Options{First: 10, IncidentsOnly: true, Keep: func(n uint32) bool { return ix.numbers.CaseID(n) == "A-2" }})
	if r.Total != 0 || r.Relaxed {
		t.Errorf("Search in a set without a hit = %v, relaxed %v, want nothing", r.Hits, r.Relaxed)
	}
	asked := make(map[string]int)
	r = found(t, ix, "second attempt", Options{First: 10, IncidentsOnly: true, Keep: func(n uint32) bool {
		id := ix.numbers.CaseID(n)
		asked[id]++
		return id == "B-1"
	}})
	want := map[string]int{"A-2": 1}
	if diff := cmp.Diff(want, asked); diff != "" || r.Total != 0 {
		t.Errorf("Search = %v, asked for (-want +got):\n%s", r.Hits, diff)
	}
}

// TestConcurrent searches while incidents come and go: every answer is that of
// one state.
func TestConcurrent(t *testing.T) {
	ix := opened(t, t.TempDir(), nil)
	defer closed(t, ix)
	pair := func(n int) []*incident.Incident {
		return []*incident.Incident{outage(fmt.Sprintf("A-%d", n)), outage(fmt.Sprintf("B-%d", n))}
	}
	put(t, ix, "0", pair(0)...)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				r, err := ix.Search(t.Context(), ParseQuery("outage"), Options{First: 10, IncidentsOnly: true})
				if err != nil || r.Total != 2 || r.Hits[0].ID[1:] != r.Hits[1].ID[1:] {
					t.Errorf("Search = %v, %v, want a pair", r, err)
					return
				}
			}
		})
	}
	for n := 1; n < 40; n++ {
		b := ix.NewBatch()
		for _, inc := range pair(n - 1) {
			b.Delete(inc.ID)
		}
		for _, inc := range pair(n) {
			b.Put(inc)
		}
		commit(t, b, fmt.Sprint(n))
	}
	close(done)
	readers.Wait()
}
