package index

import (
	"slices"

	"incidentgraph/internal/incident"
)

// Draft gives a node that no snapshot holds: a case that is being written, of
// which some terms are known, and the org, NoOrg if not. Similarity compares
// it with the incidents as it compares them with each other; it has no id, no
// link and no date, and counts nowhere. A term given twice counts once.
func (s *Snapshot) Draft(org OrgID, terms ...TermID) *Node {
	n := &Node{Ord: ^Ord(0), Org: org, orgSpelling: unspelled}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, t := range terms {
			if s.Term(t).Vocabulary == v && !slices.Contains(n.terms, t) {
				n.terms = append(n.terms, t)
			}
		}
		n.starts[v+1] = uint32(len(n.terms))
	}
	return n
}
