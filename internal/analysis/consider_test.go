package analysis

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// The oracle asks for the associations of each given term alone, of which it
// takes the best for each missing one.
func TestConsiderAgainstAssociations(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	among := []incident.Vocabulary{incident.ContributingFactor, incident.Component, incident.Symptom}
	found := 0
	for range 100 {
		s := newSample(r, 2+r.IntN(60))
		var given []index.TermID
		isGiven := map[index.TermID]bool{}
		for v := range incident.Vocabulary(4) {
			for _, id := range s.snapshot.Terms(v) {
				if r.IntN(4) == 0 {
					given = append(given, id)
					isGiven[id] = true
				}
			}
		}
		got, err := Consider(context.Background(), s.snapshot, s.set, given, among, -1)
		if err != nil {
			t.Fatal(err)
		}
		best := map[index.TermID]Association{}
		var p []float64
		var tested [][2]index.TermID
		for _, left := range given {
			for _, right := range among {
				list, err := Associations(context.Background(), s.snapshot, s.set, AssociationQuery{
					Left: s.snapshot.Term(left).Vocabulary, Right: right, Term: &left, MinSupport: 2, First: -1,
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range list {
					if isGiven[a.Right] {
						continue
					}
					p = append(p, a.P)
					tested = append(tested, [2]index.TermID{a.Left, a.Right})
					strength, before := a.NPMI*float64(a.Both), best[a.Right].NPMI*float64(best[a.Right].Both)
					slug := s.snapshot.Term(a.Left).Slug
					if a.NPMI > 0 && (strength > before || strength == before && slug < s.snapshot.Term(best[a.Right].Left).Slug) {
						best[a.Right] = a
					}
				}
			}
		}
		q := map[[2]index.TermID]float64{}
		for i, x := range BenjaminiHochberg(p) {
			q[tested[i]] = x
		}
		if len(got) != len(best) {
			t.Fatalf("Consider gives %d terms, want %d", len(got), len(best))
		}
		last := math.Inf(1)
		for _, a := range got {
			want := best[a.Right]
			want.Q = q[[2]index.TermID{a.Left, a.Right}]
			if diff := cmp.Diff(want, a); diff != "" {
				t.Fatalf("association (-want +got):\n%s", diff)
			}
			if strength := a.NPMI * float64(a.Both); strength > last {
				t.Fatalf("%+v is out of order", a)
			} else {
				last = strength
			}
		}
		found += len(got)
		some, err := Consider(context.Background(), s.snapshot, s.set, given, among, 2)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got[:min(2, len(got))], some, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the first two (-want +got):\n%s", diff)
		}
	}
	if found < 50 {
		t.Errorf("only %d terms found over all rounds", found)
	}
}

// A draft with the terms of an incident is as similar to all others as that
// incident is, and like it itself.
func TestSimilarToDraft(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 40 {
		s := newSample(r, 30).snapshot
		n := s.Lookup(fixture.SmallID(r.IntN(30)))
		var terms []index.TermID
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			terms = append(terms, n.Terms(v)...)
		}
		draft := s.Draft(index.NoOrg, terms...)
		q := SimilarQuery{Measure: Measure(r.IntN(4)), Weights: Weights{1, 0.5, 0.25, 1}, First: 1000}
		want, err := Similar(context.Background(), s, n, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Similar(context.Background(), s, draft, q)
		if err != nil {
			t.Fatal(err)
		}
		scores := func(hits []SimilarHit) map[string]float64 {
			m := map[string]float64{}
			for _, h := range hits {
				m[h.Node.ID] = h.Score
			}
			return m
		}
		wanted, have := scores(want.Hits), scores(got.Hits)
		if own, ok := have[n.ID]; ok && math.Abs(own-1) > 1e-9 {
			t.Fatalf("the incident itself scores %v, want 1", own)
		} else if ok {
			wanted[n.ID] = own
		}
		if diff := cmp.Diff(wanted, have); diff != "" {
			t.Fatalf("scores (-want +got):\n%s", diff)
		}
	}
}
