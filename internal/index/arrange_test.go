package index_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// TestArrange checks the numbers that a first batch ends with, and that they
// stay what they are.
func TestArrange(t *testing.T) {
	for seed := range uint64(20) {
		r := newRand(seed)
		m := modelOf(fixture.Graph(r, 5+r.IntN(300)))
		named := make(map[string]bool)
		x := index.New(nil)
		b := x.Batch()
		for id, inc := range m.by { // in any order
			b.Put(inc, 1, 1)
			named[id] = true
			for _, other := range append([]string{inc.RecurrenceOf}, inc.Related...) {
				named[other] = true
			}
		}
		delete(named, "")
		gone := m.ids()[r.IntN(len(m.ids()))]
		b.Delete(gone)
		delete(m.by, gone)
		b.Arrange()
		s := b.Commit(1)
		checkNumbers(t, s, m.sorted(m.ids(), nil), named)

		// What comes later takes the numbers behind.
		late := &incident.Incident{ID: "LATE-1", Date: 1 << 30}
		b = x.Batch()
		b.Put(late, 1, 2)
		b.Arrange()
		after := b.Commit(2)
		checkNumbers(t, s, m.sorted(m.ids(), nil), named)
		if o := after.Lookup("LATE-1").Ord; int(o) != len(named) {
			t.Errorf("seed %d: an incident that came later has the number %d, want %d", seed, o, len(named))
		}
	}
}

// checkNumbers checks that the incidents have the numbers from 0 up, in their
// order, and that all other cases have one behind these.
func checkNumbers(t *testing.T, s *index.Snapshot, want []string, named map[string]bool) {
	t.Helper()
	var got []string
	for o := range s.All().All() {
		if got = append(got, s.CaseID(o)); s.Node(o).Ord != o || s.Node(o).ID != s.CaseID(o) {
			t.Errorf("the incident with the number %d is %s with %d", o, s.Node(o).ID, s.Node(o).Ord)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("incidents by number (-want +got):\n%s", diff)
	}
	seen := make(map[index.Ord]bool)
	for id := range named {
		o, ok := s.Numbers().Number(id)
		if !ok || s.CaseID(o) != id || seen[o] || int(o) >= len(named) {
			t.Errorf("%s has the number %d, %t, which is that of %s", id, o, ok, s.CaseID(o))
		}
		seen[o] = true
	}
}
