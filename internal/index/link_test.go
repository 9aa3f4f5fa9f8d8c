package index_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

func TestLinksAgainstModel(t *testing.T) {
	for seed := range uint64(30) {
		m, s := small(newRand(seed))
		for _, id := range m.ids() {
			checkLinks(t, m, s, id)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkLinks(t *testing.T, m *model, s *index.Snapshot, id string) {
	t.Helper()
	n := s.Lookup(id)
	var want, got []string
	var recurrences, linked []string
	for _, other := range m.sorted(m.ids(), nil) {
		d, ok := m.related(id, other)
		if ok {
			want = append(want, fmt.Sprint(other, d))
		}
		if m.parent(other) == id {
			recurrences = append(recurrences, other)
		}
		if ok || m.parent(other) == id || m.parent(id) == other {
			linked = append(linked, other)
		}
	}
	for _, r := range s.Related(n) {
		got = append(got, fmt.Sprint(s.CaseID(r.Ord), r.Direction))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Related(%s) (-want +got):\n%s", id, d)
	}
	if c := s.RelatedCount(n); c != len(want) {
		t.Errorf("RelatedCount(%s) = %d, want %d", id, c, len(want))
	}
	slices.Sort(recurrences)
	if got := idsOf(s, s.Recurrences(n)); !slices.Equal(got, recurrences) {
		t.Errorf("Recurrences(%s) = %v, want %v", id, got, recurrences)
	}
	slices.Sort(linked)
	if got := idsOf(s, s.Linked(n)); !slices.Equal(got, linked) {
		t.Errorf("Linked(%s) = %v, want %v", id, got, linked)
	}
	parent := ""
	if p := s.RecurrenceOf(n); p != nil {
		parent = p.ID
	}
	if parent != m.parent(id) {
		t.Errorf("RecurrenceOf(%s) = %q, want %q", id, parent, m.parent(id))
	}
	if got, want := s.LinkCount(n), m.linkCount(id); got != want {
		t.Errorf("LinkCount(%s) = %d, want %d", id, got, want)
	}
	var unresolved []string
	for _, other := range m.by[id].Related {
		if m.by[other] == nil {
			unresolved = append(unresolved, other)
		}
	}
	wantParent := ""
	if p := m.by[id].RecurrenceOf; p != "" && m.by[p] == nil {
		wantParent = p
	}
	gotRelated, gotParent := s.Unresolved(n)
	if !slices.Equal(gotRelated, unresolved) || gotParent != wantParent {
		t.Errorf("Unresolved(%s) = %v, %q, want %v, %q", id, gotRelated, gotParent, unresolved, wantParent)
	}
}

func TestDanglingLinkBecomesEdge(t *testing.T) {
	x := index.New(nil)
	b := x.Batch()
	b.Put(&incident.Incident{ID: "late", Related: []string{"early", "never"}, RecurrenceOf: "early"}, 1, 1)
	before := b.Commit(1)
	b = x.Batch()
	b.Put(&incident.Incident{ID: "early", Related: []string{"late"}}, 1, 2)
	there := b.Commit(2)
	b = x.Batch()
	b.Delete("early")
	gone := b.Commit(3)
	for _, tt := range []struct {
		name              string
		s                 *index.Snapshot
		related, chain    int
		unresolved, links int
	}{
		{"before", before, 0, 0, 2, 0},
		{"there", there, 1, 2, 1, 2},
		{"gone", gone, 0, 0, 2, 0},
	} {
		n := tt.s.Lookup("late")
		unresolved, parent := tt.s.Unresolved(n)
		chain := 0
		if c := tt.s.Chain(n); c != nil {
			chain = c.Size
		}
		if len(tt.s.Related(n)) != tt.related || chain != tt.chain || len(unresolved) != tt.unresolved || tt.s.LinkCount(n) != tt.links {
			t.Errorf("%s: related %v, chain of %d, unresolved %v, %d links, want %d, %d, %d, %d", tt.name,
				tt.s.Related(n), chain, unresolved, tt.s.LinkCount(n), tt.related, tt.chain, tt.unresolved, tt.links)
		}
		if (parent == "early") == (tt.name == "there") {
			t.Errorf("%s: unresolved recurrence_of is %q", tt.name, parent)
		}
	}
	if d := there.Related(there.Lookup("late")); len(d) != 1 || d[0].Direction != index.Mutual {
		t.Errorf("Related(late) = %v, want one mutual", d)
	}
	if there.Lookup("never") != nil {
		t.Error("a case that is only named is found")
	}
}
