package index

import (
	"fmt"
	"iter"
	"slices"

	"incidentgraph/internal/incident"
)

// NodeKind says what a node of the graph is.
type NodeKind uint8

// The kinds of node.
const (
	IncidentNode NodeKind = iota
	TermNode
	OrgNode
)

// NodeRef names one node of the graph: an incident, a term or an org, by its
// number.
type NodeRef struct {
	Kind NodeKind
	N    uint32
}

// EdgeKind is a kind of connection between two nodes.
type EdgeKind uint8

// The kinds of connection. The first five lead between an incident and a term.
const (
	FactorEdge EdgeKind = iota
	ComponentEdge
	SymptomEdge
	RootCauseEdge
	DomainEdge
	OrgEdge
	RelatedEdge
	RecurrenceEdge
	edgeKindCount
)

// EdgeKinds is a set of kinds of connection; the zero set stands for all.
type EdgeKinds uint16

// EdgeKindsOf makes a set.
func EdgeKindsOf(kinds ...EdgeKind) EdgeKinds {
	var s EdgeKinds
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// has tells whether k is in the set.
func (s EdgeKinds) has(k EdgeKind) bool { return s == 0 || s&(1<<k) != 0 }

// edgeVocabularies gives the vocabularies that are edges, in EdgeKind order.
var edgeVocabularies = [...]incident.Vocabulary{
	incident.ContributingFactor, incident.Component, incident.Symptom, incident.RootCause, incident.Domain,
}

// termEdge gives the kind of edge that leads to a term of the vocabulary.
func termEdge(v incident.Vocabulary) (EdgeKind, bool) {
	i := slices.Index(edgeVocabularies[:], v)
	return EdgeKind(max(i, 0)), i >= 0
}

// Neighbor is a node that an edge leads to.
type Neighbor struct {
	Node NodeRef
	Edge EdgeKind
}

// Neighbors yields what n is connected to by edges of the kinds, each neighbor
// once: where two incidents are joined by both kinds of link, as a recurrence.
func (s *Snapshot) Neighbors(n NodeRef, via EdgeKinds) iter.Seq[Neighbor] {
	return func(yield func(Neighbor) bool) {
		switch n.Kind {
		case TermNode:
			e, ok := termEdge(s.Term(TermID(n.N)).Vocabulary)
			if ok && via.has(e) {
				yieldIncidents(s.Postings(TermID(n.N)), e, yield)
			}
		case OrgNode:
			if via.has(OrgEdge) {
				yieldIncidents(s.OrgIncidents(OrgID(n.N)), OrgEdge, yield)
			}
		case IncidentNode:
			if node := s.Node(Ord(n.N)); node != nil {
				s.incidentNeighbors(node, via, yield)
			}
		}
	}
}

func yieldIncidents(set Set, e EdgeKind, yield func(Neighbor) bool) {
	for o := range set.All() {
		if !yield(Neighbor{NodeRef{IncidentNode, uint32(o)}, e}) {
			return
		}
	}
}

func (s *Snapshot) incidentNeighbors(n *Node, via EdgeKinds, yield func(Neighbor) bool) {
	for e, v := range edgeVocabularies {
		if !via.has(EdgeKind(e)) {
			continue
		}
		for _, t := range n.Terms(v) {
			if !yield(Neighbor{NodeRef{TermNode, uint32(t)}, EdgeKind(e)}) {
				return
			}
		}
	}
	if via.has(OrgEdge) && n.Org != NoOrg {
		if !yield(Neighbor{NodeRef{OrgNode, uint32(n.Org)}, OrgEdge}) {
			return
		}
	}
	var repeated []Ord
	if via.has(RecurrenceEdge) {
		if p := s.RecurrenceOf(n); p != nil {
			repeated = append(repeated, p.Ord)
		}
		for o := range s.Recurrences(n).All() {
			repeated = append(repeated, o)
		}
		for _, o := range repeated {
			if !yield(Neighbor{NodeRef{IncidentNode, uint32(o)}, RecurrenceEdge}) {
				return
			}
		}
	}
	if via.has(RelatedEdge) {
		for _, r := range s.Related(n) {
			if !slices.Contains(repeated, r.Ord) && !yield(Neighbor{NodeRef{IncidentNode, uint32(r.Ord)}, RelatedEdge}) {
				return
			}
		}
	}
}

// Degree gives the number of a node's neighbors by edges of any kind.
func (s *Snapshot) Degree(n NodeRef) int {
	switch n.Kind {
	case TermNode:
		if _, ok := termEdge(s.Term(TermID(n.N)).Vocabulary); !ok {
			return 0
		}
		return s.Postings(TermID(n.N)).Len()
	case OrgNode:
		return s.OrgIncidents(OrgID(n.N)).Len()
	}
	if node := s.Node(Ord(n.N)); node != nil {
		return s.incidentDegree(node)
	}
	return 0
}

// nodeKey gives a name that orders nodes by what they are, not by when they
// arrived.
func (s *Snapshot) nodeKey(n NodeRef) string {
	switch n.Kind {
	case TermNode:
		t := s.Term(TermID(n.N))
		return fmt.Sprintf("1%d/%s", t.Vocabulary, t.Slug)
	case OrgNode:
		return "2" + s.Org(OrgID(n.N)).Slug
	}
	return "0" + s.CaseID(Ord(n.N))
}
