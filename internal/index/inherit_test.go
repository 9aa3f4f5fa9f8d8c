package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
)

// TestInheritedAgainstNodes changes an index batch by batch and compares what
// is handed from one snapshot to the next with what the nodes say.
func TestInheritedAgainstNodes(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 2))
		x := New(nil)
		list := fixture.Graph(r, 600)
		b := x.Batch()
		for _, inc := range list {
			b.Put(inc, 1, 1)
		}
		s := b.Commit(1)
		for round := range 25 {
			if round%3 > 0 { // else the next one is derived over two
				checkInherited(t, s)
			}
			b := x.Batch()
			others := fixture.Graph(r, 600)
			for range 1 + r.IntN(1<<r.IntN(7)) {
				if inc := others[r.IntN(600)]; r.IntN(3) == 0 {
					b.Delete(inc.ID)
				} else {
					b.Put(inc, 2, 2)
				}
			}
			s = b.Commit(uint64(round + 2))
		}
	}
}

func checkInherited(t *testing.T, s *Snapshot) {
	t.Helper()
	degrees, places := s.incidentDegrees(), s.RoughPlaces()
	lists := s.TermLists()
	var counts, want [incident.VocabularyCount][]int32
	for v := range counts {
		counts[v], want[v] = make([]int32, s.TermCount()), make([]int32, s.TermCount())
		lists.Count(counts[v], s.All().AppendTo(nil), incident.Vocabulary(v))
	}
	var last *Node
	for _, n := range s.Page(s.All(), []Order{{Field: ByCaseID}}, PageArgs{First: -1, Last: -1}).Nodes {
		if got, want := int(degrees.at(uint32(n.Ord))), s.incidentDegree(n); got != want {
			t.Fatalf("revision %d: the degree of %s is %d, want %d", s.Revision(), n.ID, got, want)
		}
		if s.dates.at(uint32(n.Ord)) != n.Date {
			t.Fatalf("revision %d: the date of %s is %v, want %v", s.Revision(), n.ID, s.dates.at(uint32(n.Ord)), n.Date)
		}
		if last != nil && places != nil && places(last.Ord) > places(n.Ord) {
			t.Fatalf("revision %d: %s is placed at %d, %s at %d", s.Revision(), last.ID, places(last.Ord), n.ID, places(n.Ord))
		}
		last = n
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			if got := lists.AppendTo(nil, n.Ord, v); !slices.Equal(got, n.Terms(v)) {
				t.Fatalf("revision %d: the %v list of %s is %v, want %v", s.Revision(), v, n.ID, got, n.Terms(v))
			}
			for _, term := range n.Terms(v) {
				want[v][term]++
			}
		}
	}
	for v := range counts {
		if !slices.Equal(counts[v], want[v]) {
			t.Fatalf("revision %d: Count = %v, want %v", s.Revision(), counts[v], want[v])
		}
		n := 0
		for _, terms := range s.TermCounts(incident.Vocabulary(v)) {
			n += s.WithTermCount(incident.Vocabulary(v), terms).Len()
		}
		if n != s.Len() {
			t.Fatalf("revision %d: the numbers of TermCounts have %d incidents, want %d", s.Revision(), n, s.Len())
		}
	}
}

// TestWideTermLists has more terms than 16 bits can number, and more in one
// chunk than they can count.
func TestWideTermLists(t *testing.T) {
	const n = 70_000
	value := func(i int) incident.Value {
		slug := "v" + strings.Repeat("x", i%3) + string(rune('a'+i%26)) + fixture.CaseID(i)
		return incident.Value{Text: slug, Slug: slug}
	}
	huge := &incident.Incident{ID: "huge"}
	for i := range n {
		huge.Contributing = append(huge.Contributing, value(i))
	}
	x := New(nil)
	b := x.Batch()
	b.Put(&incident.Incident{ID: "before", Contributing: huge.Contributing[:3]}, 1, 1)
	b.Put(huge, 1, 1)
	b.Put(&incident.Incident{ID: "after", Contributing: huge.Contributing[n-2:], Components: huge.Contributing[n-1:]}, 1, 1)
	checkInherited(t, b.Commit(1))
	b = x.Batch()
	b.Put(&incident.Incident{ID: "huge", Contributing: huge.Contributing[3:9]}, 2, 2)
	s := b.Commit(2)
	checkInherited(t, s)
	if c := s.TermLists().chunks[0]; c.wide == nil { // one has terms above 65,535
		t.Error("terms of large numbers are in narrow lists")
	}
	b = x.Batch()
	b.Delete("after")
	s = b.Commit(3)
	checkInherited(t, s)
	if c := s.TermLists().chunks[0]; c.wide != nil {
		t.Error("terms of small numbers are in wide lists")
	}
}

func TestSortKeyed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		list := make([]keyed, r.IntN(500))
		shift := r.IntN(64)
		for i := range list {
			list[i] = keyed{r.Uint64() >> shift << r.IntN(shift+1), Ord(i)}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b keyed) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return 0
		})
		if sortKeyed(list); !slices.Equal(list, want) {
			t.Fatalf("sortKeyed gives %v, want %v", list, want)
		}
	}
}

// TestOrdersOfExtremes has ids that begin alike, one with another, and with
// bytes of value zero, and times that are equal or as far off as they can be.
func TestOrdersOfExtremes(t *testing.T) {
	ids := []string{
		"case", "case-", "case-1", "case-12345678", "case-123456789", "case-123456780", "case-1234567", "case-\x00", "case-\x00\x00",
		"case-1\x00", "case-zzzzzzzzzzzzzzzz", "case-zzzzzzzzzzzzzzza", "case-éé", "case-2",
	}
	times := []time.Time{
		{}, time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(0, 0), time.Unix(0, -1), time.Unix(0, 1), time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64),
	}
	b := New(nil).Batch()
	for i, id := range ids {
		b.Put(&incident.Incident{ID: id, UpdatedAt: times[i%len(times)]}, 1, 1)
	}
	s := b.Commit(1)
	for _, by := range [][]Order{
		{{Field: ByCaseID}}, {{Field: ByCaseID, Desc: true}}, {{Field: ByUpdatedAt}}, {{Field: ByUpdatedAt, Desc: true}},
		{{Field: ByUpdatedAt}, {Field: ByCaseID, Desc: true}},
	} {
		got := s.order(by).items(0, s.Len())
		want := s.All().AppendTo(nil)
		slices.SortFunc(want, func(a, b Ord) int { return s.compareNodes(s.Node(a), s.Node(b), by) })
		if !slices.Equal(got, want) {
			t.Errorf("order by %v = %v, want %v", by, got, want)
		}
	}
}
