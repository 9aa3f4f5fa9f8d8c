package view

import (
	"incidentgraph/graph/model"
	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Associations finds terms that occur together in the incidents of the whole
// list.
func (c *IncidentConnection) Associations(left, right incident.Vocabulary, minSupport, first *int) ([]*Association, error) {
	return c.op.associations(c.set, analysis.AssociationQuery{Left: left, Right: right}, minSupport, first)
}

// CoOccurring finds the terms that occur together with this one.
func (t *term) CoOccurring(with incident.Vocabulary, where *model.IncidentFilter, minSupport, first *int) ([]*Association, error) {
	set, err := t.op.selected(t.op.index.All(), where)
	if err != nil {
		return nil, err
	}
	q := analysis.AssociationQuery{Left: t.Term.Vocabulary, Right: with, Term: &t.Term.ID}
	return t.op.associations(set, q, minSupport, first)
}

func (o *Operation) associations(set index.Set, q analysis.AssociationQuery, minSupport, first *int) (list []*Association, err error) {
	if q.MinSupport, err = atLeast("minSupport", minSupport, 1, 1); err != nil {
		return nil, err
	}
	if q.First, err = o.amount("first", first, standardTop, 0); err != nil {
		return nil, err
	}
	found, err := analysis.Associations(o.ctx, o.index, set, q)
	if err != nil {
		return nil, err
	}
	return o.associationsOver(set, found), nil
}

func (o *Operation) associationsOver(set index.Set, found []analysis.Association) []*Association {
	list := make([]*Association, len(found))
	for i := range found {
		list[i] = &Association{Association: &found[i], op: o, set: set}
	}
	return list
}

// Association says how often two terms occur together.
type Association struct {
	*analysis.Association
	op  *Operation
	set index.Set
}

// Left is the one term.
func (a *Association) Left() Term { return a.op.term(a.Association.Left) }

// Right is the other term.
func (a *Association) Right() Term { return a.op.term(a.Association.Right) }

// ConfidenceLow is the lower end of the confidence's interval.
func (a *Association) ConfidenceLow() float64 { return a.ConfidenceInterval.Low }

// ConfidenceHigh is the upper end.
func (a *Association) ConfidenceHigh() float64 { return a.ConfidenceInterval.High }

// Npmi is the normalized pointwise mutual information.
func (a *Association) Npmi() float64 { return a.NPMI }

// Incidents are the latest with both terms.
func (a *Association) Incidents(first *int) ([]*Incident, error) {
	const standard = 5
	n, err := a.op.amount("first", first, standard, 0)
	if err != nil {
		return nil, err
	}
	x := a.op.index
	both := a.set.And(x.Postings(a.Association.Left)).And(x.Postings(a.Association.Right))
	return a.op.latest(both, n), nil
}
