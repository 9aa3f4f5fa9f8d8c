package index_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// TestBatchesAgainstRebuild changes an index batch by batch and compares each
// snapshot with one that is built from nothing, and at the end each old
// snapshot with what it was.
func TestBatchesAgainstRebuild(t *testing.T) {
	for seed := range uint64(8) {
		r := newRand(seed)
		m := newModel()
		x := index.New(nil)
		type past struct {
			s *index.Snapshot
			m *model
		}
		var history []past
		for revision := uint64(1); revision <= 30; revision++ {
			b := x.Batch()
			discarded := r.IntN(8) == 0
			next := m.clone()
			for range 1 + r.IntN(25) {
				inc := fixture.Graph(r, 60)[r.IntN(60)]
				if r.IntN(3) == 0 {
					b.Delete(inc.ID)
					delete(next.by, inc.ID)
					continue
				}
				next.by[inc.ID] = inc
				next.version[inc.ID] = revision
				b.Put(inc, revision, revision)
			}
			if discarded {
				b.Discard()
				if s := x.Snapshot(); s.Revision() != revision-1 && len(history) > 0 && s != history[len(history)-1].s {
					t.Fatalf("seed %d: a discarded batch changed the snapshot", seed)
				}
				continue
			}
			m = next
			s := b.Commit(revision)
			b.Discard() // as a deferred call would
			if x.Snapshot() != s || s.Revision() != revision {
				t.Fatalf("Commit(%d) does not publish what it returns", revision)
			}
			if d := index.Diff(s, m.build(r)); len(d) > 0 {
				t.Fatalf("seed %d, revision %d differs from a rebuilt index:\n%s", seed, revision, strings.Join(d, "\n"))
			}
			checkOrders(t, m, s)
			history = append(history, past{s, m})
		}
		for _, h := range history {
			if d := index.Diff(h.s, h.m.build(r)); len(d) > 0 {
				t.Fatalf("seed %d: snapshot %d has changed:\n%s", seed, h.s.Revision(), strings.Join(d, "\n"))
			}
			checkOrders(t, h.m, h.s)
			checkNames(t, h.m, h.s)
		}
	}
}

// checkOrders compares the orders that snapshots derive from one another.
func checkOrders(t *testing.T, m *model, s *index.Snapshot) {
	t.Helper()
	orders := [][]index.Order{
		{{Field: index.ByDate}, {Field: index.ByLinkCount, Desc: true}},
		{{Field: index.ByResolvedAfter, Desc: true}, {Field: index.ByUpdatedAt}},
	}
	for _, f := range []index.Field{index.ByDate, index.ByUpdatedAt, index.ByCaseID, index.ByResolvedAfter, index.ByLinkCount} {
		orders = append(orders, []index.Order{{Field: f, Desc: f%2 == 0}})
	}
	for _, by := range orders {
		// Many are sorted by the order of all, few by themselves.
		got := nodeIDs(s.Page(s.All(), by, index.PageArgs{First: 1000, Last: -1}).Nodes)
		if want := m.sorted(m.ids(), by); !slices.Equal(got, want) {
			t.Fatalf("revision %d: Page(all, %v) = %v, want %v", s.Revision(), by, got, want)
		}
		dates := &index.Filter{Date: &index.DateFilter{Lt: 0xffff_ffff}, ResolvedAfter: &index.DurationFilter{GteSeconds: ptr(0.0)}}
		set, err := s.Select(dates)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := idsOf(s, set), m.selected(dates); !slices.Equal(got, want) {
			t.Fatalf("revision %d: Select(dates) = %v, want %v", s.Revision(), got, want)
		}
	}
}

// checkNames compares terms, orgs and languages with counts by hand.
func checkNames(t *testing.T, m *model, s *index.Snapshot) {
	t.Helper()
	languages := make(map[string]bool)
	orgs, orgNames := make(map[string]int), make(map[string]map[string]int)
	for _, inc := range m.by {
		for _, x := range inc.Title {
			languages[x.Language] = true
		}
		if inc.OrgSlug != "" {
			orgs[inc.OrgSlug]++
			count(orgNames, inc.OrgSlug, inc.Org)
		}
	}
	if got, want := s.Languages(), slices.Sorted(maps.Keys(languages)); !slices.Equal(got, want) {
		t.Errorf("Languages() = %v, want %v", got, want)
	}
	var want, got []string
	for slug, n := range orgs {
		delete(orgNames[slug], "")
		name := mostUsed(orgNames[slug])
		if name == "" {
			name = strings.ReplaceAll(slug, "-", " ")
		}
		want = append(want, fmt.Sprintf("%04d %s %q", 1000-n, slug, name))
	}
	slices.Sort(want)
	for _, id := range s.Orgs() {
		o := s.Org(id)
		got = append(got, fmt.Sprintf("%04d %s %q", 1000-o.Count, o.Slug, o.Name))
		if again, ok := s.LookupOrg(o.Slug); !ok || again != id || o.ID != id || s.OrgIncidents(id).Len() != o.Count {
			t.Errorf("LookupOrg(%s) = %d, %t, want %d", o.Slug, again, ok, id)
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("revision %d: Orgs() (-want +got):\n%s", s.Revision(), d)
	}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		checkTerms(t, m, s, v)
	}
}

func checkTerms(t *testing.T, m *model, s *index.Snapshot, v incident.Vocabulary) {
	t.Helper()
	incidents, spelled := make(map[string][]string), make(map[string]map[string]int)
	for _, id := range m.ids() {
		inc := m.by[id]
		for _, slug := range slugs(inc, v) {
			incidents[slug] = append(incidents[slug], id)
			i := slices.IndexFunc(inc.Values(v), func(x incident.Value) bool { return x.Slug == slug })
			count(spelled, slug, inc.Values(v)[i].Text)
		}
	}
	var want, got []string
	for slug, ids := range incidents {
		want = append(want, fmt.Sprintf("%04d %s %q %v", 1000-len(ids), slug, mostUsed(spelled[slug]), ids))
	}
	slices.Sort(want)
	for _, id := range s.Terms(v) {
		x := s.Term(id)
		got = append(got, fmt.Sprintf("%04d %s %q %v", 1000-x.Count, x.Slug, x.Written, idsOf(s, s.Postings(id))))
		if again, ok := s.LookupTerm(x.Term); !ok || again != id || x.ID != id || x.Vocabulary != v {
			t.Errorf("LookupTerm(%v) = %d, %t, want %d", x.Term, again, ok, id)
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("revision %d: Terms(%v) (-want +got):\n%s", s.Revision(), v, d)
	}
}

func count(by map[string]map[string]int, key, value string) {
	if by[key] == nil {
		by[key] = make(map[string]int)
	}
	by[key][value]++
}

func mostUsed(counts map[string]int) string {
	best := ""
	for s, n := range counts {
		if n > counts[best] || n == counts[best] && s < best {
			best = s
		}
	}
	return best
}

func TestConcepts(t *testing.T) {
	raw := `{"version":1,"terms":[
		{"scheme":"FACTOR","slug":"overload","label":{"en":"Overload"}},
		{"scheme":"FACTOR","slug":"retry-storm","label":{"en":"Retry storm"},"broader":"overload"},
		{"scheme":"FACTOR","slug":"backlog","label":{"en":"Backlog"},"broader":"overload"},
		{"scheme":"COMPONENT","slug":"overload","label":{"en":"Not the same"}}]}`
	concepts, err := incident.DecodeConcepts([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	x := index.New(concepts)
	b := x.Batch()
	b.Put(&incident.Incident{ID: "a", Contributing: []incident.Value{{Text: "new thing", Slug: "new-thing"}}}, 1, 1)
	s := b.Commit(1)
	slugsOf := func(ids []index.TermID) string {
		var r []string
		for _, id := range ids {
			r = append(r, s.Term(id).Slug)
		}
		return strings.Join(r, " ")
	}
	if got, want := slugsOf(s.Terms(incident.ContributingFactor)), "new-thing backlog overload retry-storm"; got != want {
		t.Errorf("Terms = %s, want %s", got, want)
	}
	id, ok := s.LookupTerm(incident.Term{Slug: "overload"})
	if !ok {
		t.Fatal("a listed term without incidents is not found")
	}
	if x := s.Term(id); x.Concept == nil || x.Count != 0 || x.Written != "" || x.Concept.PrefLabel[0].Text != "Overload" {
		t.Errorf("Term(overload) = %+v", x)
	}
	if got, want := slugsOf(s.Narrower(id)), "backlog retry-storm"; got != want {
		t.Errorf("Narrower(overload) = %s, want %s", got, want)
	}
	// A term of a discarded batch, and one whose last incident goes, is none.
	b = x.Batch()
	b.Put(&incident.Incident{ID: "b", Contributing: []incident.Value{{Text: "never", Slug: "never"}}}, 1, 2)
	b.Discard()
	b = x.Batch()
	b.Delete("a")
	s = b.Commit(2)
	for _, slug := range []string{"never", "new-thing"} {
		if id, ok := s.LookupTerm(incident.Term{Slug: slug}); ok {
			t.Errorf("LookupTerm(%s) = %d, want none", slug, id)
		}
	}
	if got, want := slugsOf(s.Terms(incident.ContributingFactor)), "backlog overload retry-storm"; got != want {
		t.Errorf("Terms = %s, want %s", got, want)
	}
}

// TestBatchKeepsNoMemory indexes records of a megabyte each, whose strings
// share memory as long as one of them is in use.
func TestBatchKeepsNoMemory(t *testing.T) {
	const n = 40
	x := index.New(nil)
	b := x.Batch()
	before := heap()
	for raw := range fixture.Records(1, n, fixture.Lite) {
		padding := fmt.Sprintf(`{"padding":"%s",`, strings.Repeat("x", 1<<20))
		inc, err := incident.Decode([]byte(padding + string(raw[1:])))
		if err != nil {
			t.Fatal(err)
		}
		b.Put(inc, 1, 1)
	}
	s := b.Commit(1)
	if grown := heap() - before; s.Len() != n || grown > n<<20/4 {
		t.Errorf("%d incidents of 1 MB keep %d bytes", s.Len(), grown)
	}
}

// heap gives the bytes in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestHugeRecord(t *testing.T) {
	const n = 66_000
	inc := &incident.Incident{ID: "huge"}
	for i := range n {
		v := fmt.Sprint("v", i)
		inc.Contributing = append(inc.Contributing, incident.Value{Text: v, Slug: v}, incident.Value{Text: v, Slug: v})
		inc.Related = append(inc.Related, v, v)
	}
	x := index.New(nil)
	b := x.Batch()
	b.Put(inc, 1, 1)
	b.Put(&incident.Incident{ID: "v7"}, 1, 1)
	s := b.Commit(1)
	node := s.Lookup("huge")
	if got := len(node.Terms(incident.ContributingFactor)); got != n {
		t.Errorf("len(Terms) = %d, want %d", got, n)
	}
	if got := s.WithTermCount(incident.ContributingFactor, n).Len(); got != 1 {
		t.Errorf("WithTermCount(%d) has %d, want 1", n, got)
	}
	if related, _ := s.Unresolved(node); len(related) != n-1 || len(s.Related(node)) != 1 {
		t.Errorf("%d unresolved and %d related, want %d and 1", len(related), len(s.Related(node)), n-1)
	}
	changed := *inc
	changed.Contributing = slices.Concat(inc.Contributing[2:], []incident.Value{{Text: "W", Slug: "w"}, {}})
	b = x.Batch()
	b.Put(&changed, 2, 2)
	s = b.Commit(2)
	rebuilt := newModel()
	rebuilt.by["huge"], rebuilt.version["huge"] = &changed, 2
	rebuilt.by["v7"], rebuilt.version["v7"] = &incident.Incident{ID: "v7"}, 1
	if d := index.Diff(s, rebuilt.build(newRand(1))); len(d) > 0 {
		t.Errorf("a changed huge record differs from a rebuilt index:\n%.500s", strings.Join(d, "\n"))
	}
}

func TestEmptyIndex(t *testing.T) {
	x := index.New(nil)
	s := x.Snapshot()
	set, err := s.Select(&index.Filter{Date: &index.DateFilter{Gte: date(2015, 0, 0)}, Not: &index.Filter{}})
	if err != nil || set.Len() != 0 || s.Len() != 0 || s.Revision() != 0 {
		t.Errorf("an empty index has %d incidents at revision %d, selects %d, %v", s.Len(), s.Revision(), set.Len(), err)
	}
	for _, p := range []index.PageArgs{{First: 10, Last: -1}, {First: -1, Last: 10, Before: &index.Key{}}} {
		if got := pageText(s.Page(s.All(), nil, p)); got != "[] false false" {
			t.Errorf("Page of nothing = %s", got)
		}
	}
	if len(s.Terms(0))+len(s.Orgs())+len(s.Regions())+len(s.Languages())+s.Chains(2, s.All()).Len() != 0 {
		t.Error("an empty index has terms, orgs, regions, languages or chains")
	}
	if s.Lookup("") != nil || s.Lookup("a") != nil {
		t.Error("an empty index finds a case")
	}
	b := x.Batch()
	b.Delete("a")
	if s := b.Commit(7); s.Len() != 0 || s.Revision() != 7 {
		t.Errorf("an empty batch gives %d incidents at revision %d", s.Len(), s.Revision())
	}
}

func TestSetsOfSnapshot(t *testing.T) {
	r := newRand(8)
	m, s := small(r)
	var reviewed, orgless []string
	for _, id := range m.ids() {
		if m.by[id].Review.Reviewed() {
			reviewed = append(reviewed, id)
		}
		if m.by[id].OrgSlug == "" {
			orgless = append(orgless, id)
		}
	}
	if got := idsOf(s, s.Reviewed()); !slices.Equal(got, reviewed) {
		t.Errorf("Reviewed() = %v, want %v", got, reviewed)
	}
	if got := idsOf(s, s.OrgIncidents(index.NoOrg)); !slices.Equal(got, orgless) {
		t.Errorf("OrgIncidents(NoOrg) = %v, want %v", got, orgless)
	}
	total := 0
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, id := range s.Terms(v) {
			total++
			if int(id) >= s.TermCount() {
				t.Errorf("TermID %d is not below TermCount %d", id, s.TermCount())
			}
		}
	}
	if total == 0 {
		t.Error("no terms")
	}
}

// TestUpdatedAtOutOfRange has times that nanoseconds in 64 bits cannot hold.
func TestUpdatedAtOutOfRange(t *testing.T) {
	b := index.New(nil).Batch()
	for id, year := range map[string]int{"a": 9999, "b": 2026, "c": 2, "d": 1700} {
		b.Put(&incident.Incident{ID: id, UpdatedAt: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}, 1, 1)
	}
	b.Put(&incident.Incident{ID: "e"}, 1, 1)
	s := b.Commit(1)
	got := nodeIDs(s.Page(s.All(), []index.Order{{Field: index.ByUpdatedAt}}, index.PageArgs{First: 9, Last: -1}).Nodes)
	if want := []string{"c", "d", "b", "a", "e"}; !slices.Equal(got, want) {
		t.Errorf("Page(by updated_at) = %v, want %v", got, want)
	}
}

func TestReadersAndWriter(t *testing.T) {
	list := fixture.Incidents(11, 3000)
	x := index.New(nil)
	b := x.Batch()
	for _, inc := range list[:1000] {
		b.Put(inc, 1, 1)
	}
	b.Commit(1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for reader := range uint64(4) {
		wg.Go(func() {
			r := newRand(reader)
			for {
				select {
				case <-stop:
					return
				default:
					read(t, x.Snapshot(), list[r.IntN(len(list))])
				}
			}
		})
	}
	for i, inc := range list[1000:] {
		if i%10 == 0 {
			b = x.Batch()
		}
		b.Put(inc, 1, uint64(i))
		b.Delete(list[i%1000].ID)
		if i%10 == 9 {
			b.Commit(uint64(i))
		}
	}
	close(stop)
	wg.Wait()
}

// read asks a snapshot for what must hold in every snapshot.
func read(t *testing.T, s *index.Snapshot, inc *incident.Incident) {
	for _, by := range [][]index.Order{nil, {{Field: index.ByLinkCount}}, {{Field: index.ByUpdatedAt}, {Field: index.ByDate}}} {
		if p := s.Page(s.All(), by, index.PageArgs{First: 10, Last: -1}); len(p.Nodes) != min(10, s.Len()) {
			t.Errorf("Page gives %d incidents of %d", len(p.Nodes), s.Len())
		}
	}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, id := range s.Terms(v) {
			if s.Postings(id).AndLen(s.All()) != s.Term(id).Count {
				t.Errorf("term %v has incidents that are not there", s.Term(id).Term)
			}
		}
	}
	if n := s.Lookup(inc.ID); n != nil {
		for _, r := range s.Related(n) {
			if s.Node(r.Ord) == nil {
				t.Errorf("%s is related to what is not there", n.ID)
			}
		}
		s.Chain(n)
	}
	s.Chains(2, s.All())
}

func TestDiff(t *testing.T) {
	r := newRand(1)
	m := modelOf(fixture.Graph(r, 30))
	s := m.build(r)
	if d := index.Diff(s, m.build(r)); len(d) != 0 {
		t.Errorf("Diff of equal snapshots = %v", d)
	}
	id := m.ids()[3]
	changed := *m.by[id]
	changed.Title = incident.Text{{Language: "fr", Text: "autre"}}
	other := m.clone()
	other.by[id] = &changed
	if d := index.Diff(s, other.build(r)); len(d) != 2 || !strings.HasPrefix(d[0], "incident "+id) || !strings.HasPrefix(d[1], "languages") {
		t.Errorf("Diff = %q, want the incident and the languages", d)
	}
	delete(other.by, id)
	if d := index.Diff(s, other.build(r)); len(d) < 2 || !strings.Contains(strings.Join(d, "\n"), "other: absent") {
		t.Errorf("Diff = %q, want an absent incident", d)
	}
	large := modelOf(fixture.Incidents(1, 500)).build(r)
	d := index.Diff(large, newModel().build(r))
	if len(d) != 101 || !strings.HasPrefix(d[100], "and ") {
		t.Errorf("Diff gives %d lines, want 101 with the last counting the rest", len(d))
	}
}
