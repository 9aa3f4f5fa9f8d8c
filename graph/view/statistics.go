package view

import (
	"errors"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// standardTop is how many values, groups or associations are given where the
// request does not say.
const standardTop = DefaultPageSize

// Facets counts terms of vocabularies over the whole list.
func (c *IncidentConnection) Facets(vocabularies []incident.Vocabulary, top *int) ([]*Facet, error) {
	return c.op.facets(c.set, vocabularies, top)
}

func (o *Operation) facets(set index.Set, vocabularies []incident.Vocabulary, top *int) ([]*Facet, error) {
	if len(vocabularies) == 0 {
		return nil, badInput("vocabularies", "name at least one")
	}
	if err := different("vocabularies", vocabularies); err != nil {
		return nil, err
	}
	n, err := o.amount("top", top, standardTop, 0)
	if err != nil {
		return nil, err
	}
	facets := make([]*Facet, len(vocabularies))
	for i, v := range vocabularies {
		f, err := analysis.Facets(o.ctx, o.index, set, v, n)
		if err != nil {
			return nil, err
		}
		facets[i] = &Facet{Facet: f, op: o}
	}
	return facets, nil
}

// Facet counts the terms of one vocabulary over a list of incidents.
type Facet struct {
	analysis.Facet
	op *Operation
}

// OmittedValues counts the terms that are not listed.
func (f *Facet) OmittedValues() int { return f.Omitted }

// Values are the terms of most incidents.
func (f *Facet) Values() []*FacetValue {
	values := make([]*FacetValue, len(f.Facet.Values))
	for i := range f.Facet.Values {
		values[i] = &FacetValue{FacetValue: &f.Facet.Values[i], op: f.op}
	}
	return values
}

// FacetValue is one term's part of a facet.
type FacetValue struct {
	*analysis.FacetValue
	op *Operation
}

// Term is the term.
func (v *FacetValue) Term() Term { return v.op.term(v.FacetValue.Term) }

// ShareLow is the lower end of the share's interval.
func (v *FacetValue) ShareLow() float64 { return v.Interval.Low }

// ShareHigh is the upper end.
func (v *FacetValue) ShareHigh() float64 { return v.Interval.High }

// maxGroupKeys is by how many keys incidents can be grouped at once.
const maxGroupKeys = 2

// Groups divides the whole list by one or two keys.
func (c *IncidentConnection) Groups(by []analysis.GroupKey, minCount, first *int) (*GroupList, error) {
	if len(by) == 0 || len(by) > maxGroupKeys {
		return nil, badInput("by", "name one key or two")
	}
	if err := different("by", by); err != nil {
		return nil, err
	}
	q := analysis.GroupQuery{By: by}
	var err error
	if q.MinCount, err = atLeast("minCount", minCount, 1, 0); err != nil {
		return nil, err
	}
	if q.First, err = c.op.amount("first", first, standardTop, 0); err != nil {
		return nil, err
	}
	groups, err := analysis.GroupBy(c.op.ctx, c.op.index, c.set, q)
	if err != nil {
		return nil, err
	}
	return &GroupList{op: c.op, groups: groups}, nil
}

// GroupList is incidents in groups.
type GroupList struct {
	op     *Operation
	groups *analysis.Groups
}

// TotalGroups counts the groups, listed or not.
func (l *GroupList) TotalGroups() int { return l.groups.Total }

// Overlapping tells whether an incident may be in several groups.
func (l *GroupList) Overlapping() bool { return l.groups.Overlapping }

// Groups are the largest groups.
func (l *GroupList) Groups() []*IncidentGroup {
	groups := make([]*IncidentGroup, len(l.groups.List))
	for i, g := range l.groups.List {
		groups[i] = &IncidentGroup{Group: g, list: l, place: i}
	}
	return groups
}

// IncidentGroup is the incidents with the same values of the keys.
type IncidentGroup struct {
	analysis.Group
	list  *GroupList
	place int
}

func (g *IncidentGroup) members() (index.Set, error) {
	return g.list.groups.Members(g.list.op.ctx, g.place)
}

// Durations tells how long the group's incidents took.
func (g *IncidentGroup) Durations(of analysis.Clock) (*DurationDistribution, error) {
	set, err := g.members()
	if err != nil {
		return nil, err
	}
	return g.list.op.durations(set, of)
}

// Sample gives the latest of the group's incidents.
func (g *IncidentGroup) Sample(first *int) ([]*Incident, error) {
	const standard = 3
	n, err := g.list.op.amount("first", first, standard, 0)
	if err != nil {
		return nil, err
	}
	set, err := g.members()
	if err != nil {
		return nil, err
	}
	return g.list.op.latest(set, n), nil
}

// latest gives the first n incidents of a set, latest first.
func (o *Operation) latest(set index.Set, n int) []*Incident {
	nodes := o.index.Page(set, newest, index.PageArgs{First: n, Last: -1}).Nodes
	incidents := make([]*Incident, len(nodes))
	for i, node := range nodes {
		incidents[i] = o.incident(node)
	}
	return incidents
}

// TimeSeries counts the incidents of the whole list by interval.
func (c *IncidentConnection) TimeSeries(interval analysis.GroupKey, by *analysis.GroupKey) ([]*TimePoint, error) {
	points, err := analysis.Series(c.op.ctx, c.op.index, c.set, interval, by)
	var long *analysis.TooManyPointsError
	switch {
	case errors.As(err, &long):
		return nil, &InputError{Path: []any{"interval"}, Reason: long.Error()}
	case err != nil:
		return nil, err
	}
	series := make([]*TimePoint, len(points))
	for i := range points {
		series[i] = (*TimePoint)(&points[i])
	}
	return series, nil
}

// TimePoint counts the incidents of one interval.
type TimePoint analysis.Point

// Durations tells how long the incidents of the whole list took.
func (c *IncidentConnection) Durations(of analysis.Clock) (*DurationDistribution, error) {
	return c.op.durations(c.set, of)
}

func (o *Operation) durations(set index.Set, of analysis.Clock) (*DurationDistribution, error) {
	d, err := analysis.Durations(o.ctx, o.index, set, of)
	if err != nil {
		return nil, err
	}
	return &DurationDistribution{d}, nil
}
