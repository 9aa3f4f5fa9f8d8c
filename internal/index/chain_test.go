package index_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

func TestChainsAgainstModel(t *testing.T) {
	circles := 0
	for seed := range uint64(40) {
		r := newRand(seed)
		m := modelOf(fixture.Graph(r, 70))
		if seed%2 == 0 {
			// Records of two draws may point in circles.
			for _, inc := range fixture.Graph(r, 70)[:35] {
				m.by[inc.ID] = inc
			}
		}
		s := m.build(r)
		for _, id := range m.ids() {
			if m.parent(m.root(id)) != "" {
				circles++
			}
		}
		checkChains(t, r, m, s)
	}
	if circles == 0 {
		t.Error("no chain is a circle")
	}
}

// TestChainsAcrossBatches changes an index batch by batch, by records that may
// point in circles, and compares the chains of each snapshot with the model; at
// the end those of each older one, which share what the changes left alone.
func TestChainsAcrossBatches(t *testing.T) {
	for seed := range uint64(12) {
		r := newRand(seed)
		m := newModel()
		x := index.New(nil)
		var past []*index.Snapshot
		var models []*model
		for revision := uint64(1); revision <= 40; revision++ {
			b := x.Batch()
			m = m.clone()
			for range 1 + r.IntN(1<<r.IntN(6)) {
				inc := fixture.Graph(r, 60)[r.IntN(60)]
				switch old := m.by[inc.ID]; {
				case r.IntN(4) == 0:
					b.Delete(inc.ID)
					delete(m.by, inc.ID)
					continue
				case old != nil && r.IntN(3) == 0: // only another date
					changed := *old
					changed.Date = inc.Date
					inc = &changed
				}
				m.by[inc.ID], m.version[inc.ID] = inc, 1
				b.Put(inc, 1, revision)
			}
			s := b.Commit(revision)
			if r.IntN(3) > 0 { // else what the next one shares was never walked
				checkChains(t, r, m, s)
			}
			past, models = append(past, s), append(models, m)
		}
		for i, s := range past {
			checkChains(t, r, models[i], s)
		}
	}
}

func checkChains(t *testing.T, r *rand.Rand, m *model, s *index.Snapshot) {
	t.Helper()
	for _, id := range m.ids() {
		if d := gocmp.Diff(modelChain(m, id), chainText(s.Chain(s.Lookup(id)))); d != "" {
			t.Fatalf("revision %d: Chain(%s) (-want +got):\n%s", s.Revision(), id, d)
		}
	}
	for _, minSize := range []int{2, 4} {
		set, ids := randomSet(r, m, s)
		got := []string{}
		list := s.Chains(minSize, set)
		for i := range list.Len() {
			got = append(got, fmt.Sprint(list.At(i).Root.ID, " ", list.At(i).Size))
		}
		if d := gocmp.Diff(modelChains(m, minSize, ids), got); d != "" {
			t.Fatalf("revision %d: Chains(%d, %v) (-want +got):\n%s", s.Revision(), minSize, ids, d)
		}
	}
}

func modelChain(m *model, id string) string {
	ids := m.chain(id)
	if len(ids) == 1 {
		return "none"
	}
	byDate := []index.Order{{Field: index.ByDate}}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.depth(a), m.depth(b)), m.compare(a, b, byDate))
	})
	var b strings.Builder
	for _, x := range ids {
		parent := m.parent(x)
		if x == m.root(id) {
			parent = ""
		}
		fmt.Fprintf(&b, "%d %s<%s\n", m.depth(x), x, parent)
	}
	fmt.Fprintf(&b, "root %s depth %d", m.root(id), m.depth(ids[len(ids)-1]))
	return b.String()
}

func chainText(c *index.Chain) string {
	if c == nil {
		return "none"
	}
	var b strings.Builder
	for i := range c.Size {
		x := c.Member(i)
		parent := ""
		if x.Parent != nil {
			parent = x.Parent.ID
		}
		fmt.Fprintf(&b, "%d %s<%s\n", x.Depth, x.Node.ID, parent)
	}
	fmt.Fprintf(&b, "root %s depth %d", c.Root.ID, c.Depth())
	return b.String()
}

func modelChains(m *model, minSize int, ids []string) []string {
	size := make(map[string]int)
	for _, id := range m.ids() {
		size[m.root(id)]++
	}
	var roots []string
	for _, id := range ids {
		if root := m.root(id); size[root] >= minSize && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	slices.SortFunc(roots, func(a, b string) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	text := []string{}
	for _, root := range roots {
		text = append(text, fmt.Sprint(root, " ", size[root]))
	}
	return text
}

func TestLongChain(t *testing.T) {
	const n = 10_000
	b := index.New(nil).Batch()
	for i := n - 1; i >= 0; i-- {
		b.Put(&incident.Incident{ID: fixture.CaseID(i), RecurrenceOf: fixture.CaseID(i - 1)}, 1, 1)
	}
	s := b.Commit(1) // the first names a case that is not there
	for _, i := range []int{0, n / 2, n - 1} {
		c := s.Chain(s.Lookup(fixture.CaseID(i)))
		if c == nil || c.Size != n || c.Depth() != n-1 || c.Root.ID != fixture.CaseID(0) {
			t.Fatalf("Chain(%d) is not the chain of %d", i, n)
		}
		for d := range n {
			if x := c.Member(d); x.Depth != d || x.Node.ID != fixture.CaseID(d) {
				t.Fatalf("Chain(%d) member %d is %s at depth %d", i, d, x.Node.ID, x.Depth)
			}
		}
	}
	if got := s.Chains(2, s.All()); got.Len() != 1 || got.At(0).Size != n {
		t.Errorf("Chains(2, all) has %d, want one of %d", got.Len(), n)
	}
}

func TestRecurrenceCycle(t *testing.T) {
	b := index.New(nil).Batch()
	for _, p := range []string{"b<a", "c<b", "d<c", "e<elsewhere", "x<y", "y<x"} { // x and y point in a circle
		b.Put(&incident.Incident{ID: p[:1], RecurrenceOf: p[2:]}, 1, 1)
	}
	b.Put(&incident.Incident{ID: "a"}, 1, 1)
	s := b.Commit(1)
	for _, tt := range []struct {
		parents map[string]string
		want    []string
	}{
		{nil, nil},
		{map[string]string{"a": ""}, nil},
		{map[string]string{"a": "e"}, nil},
		{map[string]string{"new": "d"}, nil},
		{map[string]string{"a": "d"}, []string{"a", "d", "c", "b"}},
		{map[string]string{"a": "d", "c": ""}, nil},
		{map[string]string{"elsewhere": "new", "new": "e"}, []string{"e", "elsewhere", "new"}},
		{map[string]string{"q": "p", "p": "q", "a": "b"}, []string{"a", "b"}},
		{map[string]string{"q": "p", "p": "q", "z": "z"}, []string{"p", "q"}},
		{map[string]string{"z": "z"}, []string{"z"}},
		{map[string]string{"z": "x"}, nil},
		{map[string]string{"x": "y"}, []string{"x", "y"}},
		{map[string]string{"x": "a"}, nil},
	} {
		if got := s.RecurrenceCycle(tt.parents); !slices.Equal(got, tt.want) {
			t.Errorf("RecurrenceCycle(%v) = %v, want %v", tt.parents, got, tt.want)
		}
	}
}

func TestRecurrenceCycleAgainstModel(t *testing.T) {
	cycles := 0
	for seed := range uint64(200) {
		r := newRand(seed)
		m := modelOf(fixture.Graph(r, 30))
		s := m.build(r)
		over := make(map[string]string)
		for range 1 + r.IntN(4) {
			over[fixture.SmallID(r.IntN(35))] = fixture.SmallID(r.IntN(35))
		}
		parent := func(id string) string {
			if p, ok := over[id]; ok {
				return p
			}
			if m.by[id] == nil {
				return ""
			}
			return m.by[id].RecurrenceOf
		}
		var want []string
		for i := range 40 {
			id := fixture.SmallID(i)
			cycle := []string{id}
			for p := parent(id); p != id && p != "" && len(cycle) < 100; p = parent(p) {
				cycle = append(cycle, p)
			}
			if parent(cycle[len(cycle)-1]) == id && slices.Min(cycle) == id && (want == nil || id < want[0]) {
				want = cycle
			}
		}
		if want != nil {
			cycles++
		}
		if got := s.RecurrenceCycle(over); !slices.Equal(got, want) {
			t.Fatalf("seed %d: RecurrenceCycle(%v) = %v, want %v", seed, over, got, want)
		}
	}
	if cycles < 20 || cycles > 180 {
		t.Errorf("%d of 200 draws have a cycle", cycles)
	}
}
