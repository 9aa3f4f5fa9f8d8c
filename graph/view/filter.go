package view

import (
	"slices"

	"incidentgraph/graph/model"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// selected gives the incidents of base that match the argument where.
func (o *Operation) selected(base index.Set, where *model.IncidentFilter) (index.Set, error) {
	if where == nil {
		return base, nil
	}
	if err := o.alive(); err != nil {
		return index.Set{}, err
	}
	f, err := o.filter(where, &step{name: "where"}, 0)
	if err != nil {
		return index.Set{}, err
	}
	matching, err := o.index.Select(&f)
	if err != nil {
		return index.Set{}, within("where", err)
	}
	if base.Len() == o.index.Len() {
		return matching, nil
	}
	return base.And(matching), nil
}

// step is one step of the path to a filter, from the argument on. Paths are put
// together for errors alone.
type step struct {
	before *step
	name   string // of the member; "" for an element of a list
	index  int
}

func (s *step) member(name string) *step { return &step{before: s, name: name} }

func (s *step) element(i int) *step { return &step{before: s, index: i} }

func (s *step) path() []any {
	var path []any
	for ; s != nil; s = s.before {
		if s.name != "" {
			path = append(path, s.name)
		} else {
			path = append(path, s.index)
		}
	}
	slices.Reverse(path)
	return path
}

// filter turns the GraphQL input into the index's filter. at is where it is;
// hops counts the links followed on the way.
func (o *Operation) filter(w *model.IncidentFilter, at *step, hops int) (f index.Filter, err error) {
	f = index.Filter{
		CaseID:        w.CaseID,
		Org:           w.Org,
		Region:        w.Region,
		Date:          w.Date,
		UpdatedAt:     w.UpdatedAt,
		DetectedAfter: w.DetectedAfter,
		ResolvedAfter: w.ResolvedAfter,
		Reviewed:      w.Reviewed,
		Terms: [incident.VocabularyCount]*index.TermFilter{
			incident.ContributingFactor: w.ContributingFactors,
			incident.Component:          w.Components,
			incident.Symptom:            w.Symptoms,
			incident.RootCause:          w.RootCause,
			incident.Domain:             w.Domains,
			incident.Severity:           w.Severity,
		},
		SharesTermsWith: sharesTerms(w.SharesTermsWith),
	}
	if w.Text != nil {
		found, err := o.records.MatchText(o.ctx, *w.Text)
		if err != nil {
			return f, err
		}
		f.Within = &found
	}
	if f.And, err = o.filters(w.And, at.member("and"), hops); err != nil {
		return f, err
	}
	if f.Or, err = o.filters(w.Or, at.member("or"), hops); err != nil {
		return f, err
	}
	if f.Not, err = o.optionalFilter(w.Not, at.member("not"), hops); err != nil {
		return f, err
	}
	for i, l := range w.Links {
		link := index.LinkFilter{Kind: l.Kind, Direction: l.Direction, MinCount: l.MinCount, MaxCount: l.MaxCount}
		at := at.member("links").element(i)
		if limit := o.settings.Limits.MaxHops; hops >= limit {
			return f, &LimitError{Limit: "maxHops", Max: limit, Value: hops + 1, Path: at.path()}
		}
		if link.Some, err = o.optionalFilter(l.Some, at.member("some"), hops+1); err != nil {
			return f, err
		}
		if link.None, err = o.optionalFilter(l.None, at.member("none"), hops+1); err != nil {
			return f, err
		}
		f.Links = append(f.Links, link)
	}
	return f, nil
}

// filters turns a list; nil stays nil, for an empty list means something else.
func (o *Operation) filters(ws []*model.IncidentFilter, at *step, hops int) ([]index.Filter, error) {
	if ws == nil {
		return nil, nil
	}
	fs := make([]index.Filter, len(ws))
	for i, w := range ws {
		f, err := o.filter(w, at.element(i), hops)
		if err != nil {
			return nil, err
		}
		fs[i] = f
	}
	return fs, nil
}

func (o *Operation) optionalFilter(w *model.IncidentFilter, at *step, hops int) (*index.Filter, error) {
	if w == nil {
		return nil, nil
	}
	f, err := o.filter(w, at, hops)
	return &f, err
}

func sharesTerms(s *model.SharesTermsFilter) *index.SharesTermsFilter {
	if s == nil {
		return nil
	}
	f := &index.SharesTermsFilter{CaseID: s.CaseID, Vocabulary: incident.ContributingFactor, AtLeast: 2}
	if s.Vocabulary != nil {
		f.Vocabulary = *s.Vocabulary
	}
	if s.AtLeast != nil {
		f.AtLeast = *s.AtLeast
	}
	return f
}

// maxOrders bounds the keys of a sort: there are as many fields.
const maxOrders = 5

// newest is the order of incidents where none is asked for.
var newest = []index.Order{{Field: index.ByDate, Desc: true}}

// orders turns the argument orderBy into the index's order.
func orders(by []*model.IncidentOrder) ([]index.Order, error) {
	if len(by) == 0 {
		return newest, nil
	}
	orders := make([]index.Order, 0, maxOrders)
	for i, b := range by {
		if slices.ContainsFunc(orders, func(o index.Order) bool { return o.Field == b.Field }) {
			return nil, &InputError{Path: []any{"orderBy", i, "field"}, Reason: "a field may be sorted by once"}
		}
		orders = append(orders, index.Order{Field: b.Field, Desc: b.Direction == model.SortDirectionDesc})
	}
	return orders, nil
}

// orderBytes stands for an order in cursors: a byte for each key, twice the
// field and 1 for falling.
func orderBytes(by []index.Order) string {
	b := make([]byte, len(by))
	for i, o := range by {
		b[i] = byte(o.Field) << 1
		if o.Desc {
			b[i]++
		}
	}
	return string(b)
}
