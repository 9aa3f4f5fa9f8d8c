package index

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

func TestDraft(t *testing.T) {
	s := randomLinked(rand.New(rand.NewPCG(1, 1)), 12)
	factors, components := s.Terms(incident.ContributingFactor), s.Terms(incident.Component)
	org := s.Orgs()[0]
	n := s.Draft(org, components[0], factors[1], factors[0], components[0])
	for v, want := range map[incident.Vocabulary][]TermID{
		incident.ContributingFactor: {factors[1], factors[0]},
		incident.Component:          {components[0]},
		incident.Symptom:            {},
		incident.Severity:           {},
	} {
		if diff := cmp.Diff(want, append([]TermID{}, n.Terms(v)...)); diff != "" {
			t.Errorf("terms of %v (-want +got):\n%s", v, diff)
		}
	}
	if n.Org != org || s.Node(n.Ord) != nil || s.All().Has(n.Ord) {
		t.Errorf("Draft = %+v, want a node of the org %d that is not in the snapshot", n, org)
	}
	if got := s.LinkCount(n) + s.Linked(n).Len() + len(s.Related(n)) + s.Recurrences(n).Len(); got != 0 || s.RecurrenceOf(n) != nil || s.Chain(n) != nil {
		t.Errorf("the draft has %d links", got)
	}
}
