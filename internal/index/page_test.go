package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

func randomOrder(r *rand.Rand) []index.Order {
	by := make([]index.Order, r.IntN(4))
	for i := range by {
		by[i] = index.Order{Field: index.Field(r.IntN(5)), Desc: r.IntN(2) == 0}
	}
	return by
}

func TestPageAgainstModel(t *testing.T) {
	for seed := range uint64(30) {
		r := newRand(seed)
		m, s := small(r)
		for range 60 {
			by := randomOrder(r)
			set, ids := randomSet(r, m, s)
			sorted := m.sorted(ids, by)
			args := index.PageArgs{First: r.IntN(12) - 1, Last: r.IntN(12) - 1}
			after, before := -1, len(sorted)
			if r.IntN(2) == 0 {
				args.After, after = cursor(r, m, s, sorted, by, true)
			}
			if r.IntN(2) == 0 {
				args.Before, before = cursor(r, m, s, sorted, by, false)
			}
			want := cut(sorted, after, before, args)
			got := s.Page(set, by, args)
			if d := cmp.Diff(want, pageText(got)); d != "" {
				t.Fatalf("seed %d: Page(%v, %v, first %d last %d after %d before %d) (-want +got):\n%s",
					seed, sorted, by, args.First, args.Last, after, before, d)
			}
		}
	}
}

// cursor gives the key of any incident, and the place in sorted of the last
// one at or before it, or of the first one at or after it.
func cursor(r *rand.Rand, m *model, s *index.Snapshot, sorted []string, by []index.Order, last bool) (*index.Key, int) {
	id := m.ids()[r.IntN(len(m.by))]
	if len(by) == 0 {
		by = []index.Order{{Field: index.ByDate, Desc: true}}
	}
	k := s.KeyOf(s.Lookup(id), by)
	n, at := 0, 0
	for _, other := range sorted {
		switch c := m.compare(other, id, by); {
		case c < 0:
			n++
		case c == 0:
			at = 1
		}
	}
	if last {
		return &k, n + at - 1
	}
	return &k, n
}

func randomSet(r *rand.Rand, m *model, s *index.Snapshot) (index.Set, []string) {
	if r.IntN(4) == 0 {
		return s.All(), m.ids()
	}
	var ords []index.Ord
	ids := []string{}
	share := 1 + r.IntN(8)
	for _, id := range m.ids() {
		if r.IntN(8) < share {
			ords = append(ords, s.Lookup(id).Ord)
			ids = append(ids, id)
		}
	}
	return index.SetOf(ords...), ids
}

// cut does what the Relay specification says, word for word.
func cut(sorted []string, after, before int, p index.PageArgs) string {
	edges := []string{}
	for i, id := range sorted {
		if i > after && i < before {
			edges = append(edges, id)
		}
	}
	hasNext, hasPrevious := false, false
	switch {
	case p.First >= 0:
		hasNext = len(edges) > p.First
	case p.Before != nil:
		hasNext = before < len(sorted)
	}
	switch {
	case p.Last >= 0 && p.First >= 0:
		hasPrevious = min(len(edges), p.First) > p.Last
	case p.Last >= 0:
		hasPrevious = len(edges) > p.Last
	case p.After != nil:
		hasPrevious = after >= 0
	}
	if p.First >= 0 && len(edges) > p.First {
		edges = edges[:p.First]
	}
	if p.Last >= 0 && len(edges) > p.Last {
		edges = edges[len(edges)-p.Last:]
	}
	return fmt.Sprint(edges, hasNext, hasPrevious)
}

func pageText(p index.Page) string {
	return fmt.Sprint(nodeIDs(p.Nodes), p.HasNext, p.HasPrevious)
}

// TestPageLarge has sets of a size for each way to find a page, in one
// snapshot with orders kept and in one derived from it.
func TestPageLarge(t *testing.T) {
	for _, arranged := range []bool{false, true} {
		t.Run(fmt.Sprintf("arranged=%t", arranged), func(t *testing.T) { testPageLarge(t, arranged) })
	}
}

func testPageLarge(t *testing.T, arranged bool) {
	const n = 4000
	list := fixture.Incidents(5, n)
	m := modelOf(list)
	r := newRand(9)
	x := index.New(nil)
	b := x.Batch()
	for _, inc := range list {
		b.Put(inc, 1, 1)
	}
	if arranged {
		b.Arrange()
	}
	s := b.Commit(1)
	for round := range 3 {
		for _, f := range []index.Field{index.ByDate, index.ByUpdatedAt, index.ByCaseID, index.ByResolvedAfter} {
			for _, size := range []int{0, 1, 50, 256, 257, 600, 2000, n} {
				for _, desc := range []bool{true, false} {
					checkLargePage(t, r, m, s, []index.Order{{Field: f, Desc: desc}}, size)
				}
			}
		}
		checkLargePage(t, r, m, s, []index.Order{{Field: index.ByResolvedAfter}, {Field: index.ByDate, Desc: true}}, 1000)
		b := x.Batch()
		for range 20 + 200*round {
			old := list[r.IntN(n)]
			inc := *list[r.IntN(n)]
			inc.ID = old.ID
			m.by[inc.ID] = &inc
			b.Put(&inc, 2, 2)
		}
		s = b.Commit(uint64(2 + round))
	}
}

func checkLargePage(t *testing.T, r *rand.Rand, m *model, s *index.Snapshot, by []index.Order, size int) {
	t.Helper()
	ids := m.ids()
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	checkPages(t, r, m, s, by, ids[:size])
	// The last ones of all lie as far as can be from where a page begins.
	all := m.sorted(m.ids(), by)
	checkPages(t, r, m, s, by, all[len(all)-size:])
}

func checkPages(t *testing.T, r *rand.Rand, m *model, s *index.Snapshot, by []index.Order, ids []string) {
	t.Helper()
	size := len(ids)
	var ords []index.Ord
	for _, id := range ids {
		ords = append(ords, s.Lookup(id).Ord)
	}
	sorted := m.sorted(ids, by)
	for _, p := range []index.PageArgs{{First: 20, Last: -1}, {First: -1, Last: 20}, {First: 0, Last: -1}, {First: n0, Last: -1}} {
		after, before := -1, size
		if size > 0 && r.IntN(2) == 0 {
			after = r.IntN(size)
			p.After = ptr(s.KeyOf(s.Lookup(sorted[after]), by))
		}
		if size > 0 && r.IntN(2) == 0 {
			before = r.IntN(size)
			p.Before = ptr(s.KeyOf(s.Lookup(sorted[before]), by))
		}
		want, got := cut(sorted, after, before, p), pageText(s.Page(index.SetOf(ords...), by, p))
		if want != got {
			t.Fatalf("Page(%d of %d, %v, first %d last %d after %d before %d) =\n%.200s\nwant\n%.200s",
				size, s.Len(), by, p.First, p.Last, after, before, got, want)
		}
	}
}

const n0 = int(^uint(0) >> 1) // the most that First can ask for

// A list walked from either end in pages of any size is the whole list: its
// first and its last incident too, which stand at the ends of the order.
func TestPagesCoverBothEnds(t *testing.T) {
	r := newRand(17)
	m := modelOf(fixture.Graph(r, 120))
	s := m.build(r)
	all := m.ids()
	for _, by := range [][]index.Order{
		{{Field: index.ByCaseID}}, {{Field: index.ByDate, Desc: true}}, {{Field: index.ByLinkCount}, {Field: index.ByDate}},
	} {
		s.Page(s.All(), by, index.PageArgs{First: 1, Last: -1}) // builds the order
		ordered := m.sorted(all, by)
		for _, size := range []int{1, 2, 30, 60, 119} {
			ids := slices.Clone(ordered[:1]) // the first of the order is a member
			for _, i := range r.Perm(len(ordered) - 2)[:max(size-2, 0)] {
				ids = append(ids, ordered[1+i])
			}
			if size > 1 {
				ids = append(ids, ordered[len(ordered)-1])
			}
			var ords []index.Ord
			for _, id := range ids {
				ords = append(ords, s.Lookup(id).Ord)
			}
			set, want := index.SetOf(ords...), m.sorted(ids, by)
			for n := 1; n <= len(want)+1; n += 1 + n/8 {
				var forward, backward []string
				p := index.PageArgs{First: n, Last: -1}
				for more := true; more; {
					page := s.Page(set, by, p)
					for _, x := range page.Nodes {
						forward = append(forward, x.ID)
					}
					k := s.KeyOf(page.Nodes[len(page.Nodes)-1], by)
					p.After, more = &k, page.HasNext
				}
				p = index.PageArgs{First: -1, Last: n}
				for more := true; more; {
					page := s.Page(set, by, p)
					for i := range page.Nodes {
						backward = append(backward, page.Nodes[len(page.Nodes)-1-i].ID)
					}
					k := s.KeyOf(page.Nodes[0], by)
					p.Before, more = &k, page.HasPrevious
				}
				slices.Reverse(backward)
				if diff := cmp.Diff(want, forward); diff != "" {
					t.Fatalf("forward by %v, %d a page (-want +got):\n%s", by, n, diff)
				}
				if diff := cmp.Diff(want, backward); diff != "" {
					t.Fatalf("backward by %v, %d a page (-want +got):\n%s", by, n, diff)
				}
			}
		}
	}
}

func TestPagesSurviveChanges(t *testing.T) {
	for seed := range uint64(20) {
		r := newRand(seed)
		m := modelOf(fixture.Graph(r, 60))
		x := index.New(nil)
		b := x.Batch()
		for _, id := range m.ids() {
			b.Put(m.by[id], 1, 1)
		}
		s := b.Commit(1)
		by := randomOrder(r)
		for i := range by {
			if by[i].Field == index.ByLinkCount {
				by[i].Field = index.ByCaseID // what others do would change it
			}
		}
		stays := make(map[string]bool)
		for _, id := range m.ids() {
			stays[id] = r.IntN(3) > 0
		}
		seen := map[string]int{}
		args := index.PageArgs{First: 5, Last: -1}
		for revision := uint64(2); ; revision++ {
			p := s.Page(s.All(), by, args)
			for _, n := range p.Nodes {
				seen[n.ID]++
			}
			if !p.HasNext {
				break
			}
			args.After = ptr(s.KeyOf(p.Nodes[len(p.Nodes)-1], by))
			b := x.Batch()
			for range 5 {
				// The very incident that the cursor was made from may go, too.
				if id := m.ids()[r.IntN(60)]; !stays[id] {
					b.Delete(id)
				}
			}
			late := fixture.Graph(r, 60)[r.IntN(60)]
			if !stays[late.ID] {
				b.Put(late, revision, revision)
			}
			s = b.Commit(revision)
		}
		for id, there := range stays {
			if there && seen[id] != 1 {
				t.Errorf("seed %d: %s comes %d times in the pages by %v, want once", seed, id, seen[id], by)
			}
		}
	}
}

func TestKeyOf(t *testing.T) {
	inc := &incident.Incident{ID: "a", Date: date(2015, 9, 20), ResolvedAfter: incident.Duration{Text: "1h", Seconds: 3600, Known: true}}
	b := index.New(nil).Batch()
	b.Put(inc, 1, 1)
	b.Put(&incident.Incident{ID: "b", RecurrenceOf: "a", Related: []string{"a"}}, 1, 1)
	s := b.Commit(1)
	by := []index.Order{
		{Field: index.ByDate}, {Field: index.ByUpdatedAt}, {Field: index.ByCaseID}, {Field: index.ByLinkCount},
	}
	got := s.KeyOf(s.Lookup("a"), by)
	want := index.Key{ID: "a", Values: []index.KeyValue{{N: int64(date(2015, 9, 20))}, {Null: true}, {}, {N: 2}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("KeyOf(a, %v) (-want +got):\n%s", by, d)
	}
	if got := s.KeyOf(s.Lookup("a"), nil); len(got.Values) != 1 || got.Values[0].N != int64(inc.Date) {
		t.Errorf("KeyOf(a, nil) = %v, want the date", got)
	}
}

func TestPageTakesForeignKeys(t *testing.T) {
	_, s := small(newRand(3))
	for _, k := range []index.Key{{}, {ID: "zzz"}, {Values: []index.KeyValue{{N: 1}, {N: 2}, {N: 3}}}} {
		p := s.Page(s.All(), nil, index.PageArgs{First: 1000, Last: -1, After: &k})
		q := s.Page(s.All(), nil, index.PageArgs{First: -1, Last: 1000, Before: &k})
		if len(p.Nodes)+len(q.Nodes) != s.Len() {
			t.Errorf("after and before %v there are %d and %d incidents, want %d together", k, len(p.Nodes), len(q.Nodes), s.Len())
		}
	}
}

func TestManyOrders(t *testing.T) {
	r := newRand(4)
	m := modelOf(fixture.Graph(r, 400))
	s := m.build(r)
	ids := m.ids()
	for range 3 {
		for _, f := range []index.Field{index.ByDate, index.ByUpdatedAt, index.ByResolvedAfter} {
			for _, g := range []index.Field{index.ByDate, index.ByUpdatedAt, index.ByCaseID, index.ByResolvedAfter} {
				by := []index.Order{{Field: f, Desc: r.IntN(2) == 0}, {Field: g, Desc: true}}
				got := s.Page(s.All(), by, index.PageArgs{First: 30, Last: -1})
				want := m.sorted(ids, by)[:30]
				if !slices.Equal(nodeIDs(got.Nodes), want) {
					t.Fatalf("Page(all, %v) = %v, want %v", by, nodeIDs(got.Nodes), want)
				}
			}
		}
	}
}
