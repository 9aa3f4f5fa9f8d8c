package view

import (
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Related are the incidents related to this one.
func (i *Incident) Related(first *int, after *string, last *int, before *string) (*RelatedIncidentConnection, error) {
	o := i.op
	p, err := o.check(PageArgs{First: first, After: after, Last: last, Before: before}, relatedList, "", 1)
	if err != nil {
		return nil, err
	}
	related := o.index.Related(i.node)
	at := func(n int) *place { return newestPlace(relatedList, o.index.Node(related[n].Ord)) }
	return &RelatedIncidentConnection{listed(p, len(related), at, func(n int) *RelatedIncidentEdge {
		return &RelatedIncidentEdge{
			incident:  Incident{o, o.index.Node(related[n].Ord)},
			Direction: related[n].Direction,
			from:      i.node,
		}
	})}, nil
}

// newestPlace is a place in a list by falling date, without a date last, then
// by case id.
func newestPlace(l list, n *index.Node) *place {
	return &place{list: l, values: []index.KeyValue{{N: -int64(n.Date), Null: n.Date.IsZero()}}, key: n.ID}
}

// RelatedIncidentConnection is a list of related incidents, in pages.
type RelatedIncidentConnection struct {
	connection[*Incident, *RelatedIncidentEdge]
}

// RelatedIncidentEdge is one incident related to another.
type RelatedIncidentEdge struct {
	incident  Incident
	Direction index.Direction
	from      *index.Node
}

// Node is the related incident.
func (e *RelatedIncidentEdge) Node() *Incident { return &e.incident }

func (e *RelatedIncidentEdge) node() *Incident { return &e.incident }

// Cursor is the element's place in the list.
func (e *RelatedIncidentEdge) Cursor() string {
	return newestPlace(relatedList, e.incident.node).cursor()
}

// SharedTerms are the terms that both incidents have.
func (e *RelatedIncidentEdge) SharedTerms() []Term {
	return e.incident.op.mixed(common(e.from, e.incident.node))
}

// common gives the terms of a that b has too, by vocabulary, in a's order.
func common(a, b *index.Node) []index.TermID {
	return compareTerms(a, b, true)
}

// only gives the terms of a that b does not have, likewise.
func only(a, b *index.Node) []index.TermID {
	return compareTerms(a, b, false)
}

func compareTerms(a, b *index.Node, inBoth bool) []index.TermID {
	var ids []index.TermID
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		other := b.Terms(v)
		for _, id := range a.Terms(v) {
			if slices.Contains(other, id) == inBoth {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
