package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"incidentgraph/internal/incident"
)

// Select gives the incidents that match f.
func (s *Snapshot) Select(f *Filter) (Set, error) {
	c := checker{s: s}
	if err := c.filter(f, 1); err != nil {
		return Set{}, err
	}
	return s.matching(f), nil
}

// and restricts r, which costs nothing where r is everything.
func (s *Snapshot) and(r, x Set) Set {
	if r.Len() == s.Len() {
		return x
	}
	return r.And(x)
}

// matching gives what a filter that has been checked matches. Members that
// are sets already come first, so that those which look at incidents one by
// one see few.
func (s *Snapshot) matching(f *Filter) Set {
	if f == nil {
		return s.all
	}
	r := s.all
	if f.Within != nil {
		r = *f.Within
	}
	r = s.withStrings(r, f)
	r = s.withTerms(r, f)
	if f.SharesTermsWith != nil {
		r = s.and(r, s.sharing(f.SharesTermsWith))
	}
	if f.Reviewed != nil {
		if *f.Reviewed {
			r = s.and(r, s.reviewed)
		} else {
			r = r.AndNot(s.reviewed)
		}
	}
	r = s.withRanges(r, f)
	for i := range f.And {
		r = s.and(r, s.matching(&f.And[i]))
	}
	if f.Or != nil {
		sets := make([]Set, len(f.Or))
		for i := range f.Or {
			sets[i] = s.matching(&f.Or[i])
		}
		r = s.and(r, Union(sets...))
	}
	if f.Not != nil {
		r = r.AndNot(s.matching(f.Not))
	}
	for i := range f.Links {
		r = s.withLinks(r, &f.Links[i])
	}
	return r
}

func (s *Snapshot) withStrings(r Set, f *Filter) Set {
	if f.CaseID != nil {
		r = s.withString(r, f.CaseID, stringMember{s.caseIs, s.caseStarts, Set{}})
	}
	if f.Org != nil {
		r = s.withString(r, f.Org, stringMember{s.orgIs, s.orgStarts, s.noOrg})
	}
	if f.Region != nil {
		r = s.withString(r, f.Region, stringMember{s.regionIs, s.regionStarts, s.region("")})
	}
	return r
}

// stringMember is a member of incidents that is a string: which of them have
// exactly a value, which one that starts so, and which have none.
type stringMember struct {
	is     func(string) Set
	starts func(string) Set
	none   Set
}

func (s *Snapshot) withString(r Set, f *StringFilter, m stringMember) Set {
	if f.Eq != nil {
		r = s.and(r, m.is(*f.Eq))
	}
	if f.In != nil {
		sets := make([]Set, len(f.In))
		for i, v := range f.In {
			sets[i] = m.is(v)
		}
		r = s.and(r, Union(sets...))
	}
	if f.StartsWith != nil {
		r = s.and(r, m.starts(*f.StartsWith))
	}
	if f.IsNull != nil {
		if *f.IsNull {
			r = s.and(r, m.none)
		} else {
			r = r.AndNot(m.none)
		}
	}
	return r
}

func (s *Snapshot) caseIs(id string) Set {
	if n := s.Lookup(id); n != nil {
		return SetOf(n.Ord)
	}
	return Set{}
}

func (s *Snapshot) caseStarts(prefix string) Set {
	order := s.singleOrder(Order{Field: ByCaseID})
	from := order.search(func(o Ord) bool { return s.CaseID(o) < prefix })
	to := order.search(func(o Ord) bool { return s.CaseID(o) < prefix || strings.HasPrefix(s.CaseID(o), prefix) })
	return SetOf(order.items(from, to)...)
}

func (s *Snapshot) orgIs(slug string) Set {
	if id, ok := s.LookupOrg(slug); ok {
		return s.OrgIncidents(id)
	}
	return Set{}
}

func (s *Snapshot) orgStarts(prefix string) Set {
	var sets []Set
	for _, id := range s.Orgs() {
		if strings.HasPrefix(s.names.orgs.name(uint32(id)), prefix) {
			sets = append(sets, s.OrgIncidents(id))
		}
	}
	return Union(sets...)
}

func (s *Snapshot) regionIs(name string) Set {
	if name == "" {
		return Set{} // "" stands for no region
	}
	return s.region(name)
}

func (s *Snapshot) regionStarts(prefix string) Set {
	var sets []Set
	for _, r := range s.Regions() {
		if strings.HasPrefix(r.Name, prefix) {
			sets = append(sets, r.Incidents)
		}
	}
	return Union(sets...)
}

func (s *Snapshot) withTerms(r Set, f *Filter) Set {
	r = s.withAllTerms(r, f)
	for v, t := range f.Terms {
		if t == nil {
			continue
		}
		v := incident.Vocabulary(v)
		if t.Any != nil && len(t.Any) != 1 {
			r = s.and(r, Union(s.postings(v, t.Any)...))
		}
		for _, p := range s.postings(v, t.None) {
			r = r.AndNot(p)
		}
		r = s.withTermCounts(r, v, t)
	}
	return r
}

// withAllTerms restricts r to the incidents that have each of the terms that
// they must have, the rarest first.
func (s *Snapshot) withAllTerms(r Set, f *Filter) Set {
	var few [8]TermID
	terms := few[:0]
	for v, t := range f.Terms {
		if t == nil {
			continue
		}
		required := t.All
		if len(t.Any) == 1 {
			required = append(slices.Clip(required), t.Any[0])
		}
		for _, slug := range required {
			id, ok := s.LookupTerm(incident.Term{Vocabulary: incident.Vocabulary(v), Slug: slug})
			if !ok {
				return Set{}
			}
			terms = append(terms, id)
		}
	}
	if len(terms) > 1 && r.Len() == s.Len() {
		slices.SortFunc(terms, func(a, b TermID) int { return cmp.Compare(s.Postings(a).Len(), s.Postings(b).Len()) })
		r = s.and(r, s.common(terms[0], terms[1]))
		terms = terms[2:]
	}
	for _, t := range terms {
		r = s.and(r, s.Postings(t))
	}
	return r
}

func (s *Snapshot) postings(v incident.Vocabulary, slugs []string) []Set {
	sets := make([]Set, len(slugs))
	for i, slug := range slugs {
		if id, ok := s.LookupTerm(incident.Term{Vocabulary: v, Slug: slug}); ok {
			sets[i] = s.Postings(id)
		}
	}
	return sets
}

func (s *Snapshot) withTermCounts(r Set, v incident.Vocabulary, t *TermFilter) Set {
	if t.MinCount == nil && t.MaxCount == nil {
		return r
	}
	least, most := bounds(t.MinCount, t.MaxCount)
	var sets []Set
	for n := least; n <= min(most, s.counts[v].len()-1); n++ {
		if with := s.WithTermCount(v, n); with.Len() > 0 {
			sets = append(sets, with)
		}
	}
	return s.and(r, Union(sets...))
}

// bounds gives limits of a count, those not given being no limits.
func bounds(least, most *int) (lo, hi int) {
	hi = math.MaxInt
	if least != nil {
		lo = *least
	}
	if most != nil {
		hi = *most
	}
	return lo, hi
}

// sharing gives the incidents that share terms with a case, without itself.
func (s *Snapshot) sharing(f *SharesTermsFilter) Set {
	n := s.Lookup(f.CaseID)
	if n == nil {
		return Set{}
	}
	terms := n.Terms(f.Vocabulary)
	sets := make([]Set, len(terms))
	for i, t := range terms {
		sets[i] = s.Postings(t)
	}
	return AtLeast(f.AtLeast, sets...).AndNot(SetOf(n.Ord))
}

// withLinks restricts r by stored neighbors.
func (s *Snapshot) withLinks(r Set, f *LinkFilter) Set {
	if f.Some != nil {
		r = s.and(r, s.neighborsOf(s.matching(f.Some), f))
	}
	if f.None != nil {
		r = r.AndNot(s.neighborsOf(s.matching(f.None), f))
	}
	least, most := bounds(f.MinCount, f.MaxCount)
	if f.Some == nil && f.None == nil && f.MinCount == nil && f.MaxCount == nil {
		least = 1
	}
	if least == 0 && most == math.MaxInt {
		return r
	}
	var in []Ord
	for o := range r.All() {
		if n := s.neighborCount(s.Node(o), f); least <= n && n <= most {
			in = append(in, o)
		}
	}
	return SetOf(in...)
}

// neighborsOf gives the incidents that have a neighbor in set.
func (s *Snapshot) neighborsOf(set Set, f *LinkFilter) Set {
	var found []Ord
	for o := range set.All() {
		n := s.Node(o)
		if f.Kind == RecurrenceLink {
			if f.leads(Outgoing) {
				found = append(found, s.in(o).recurrences()...)
			}
			if p := s.RecurrenceOf(n); p != nil && f.leads(Incoming) {
				found = append(found, p.Ord)
			}
			continue
		}
		for _, r := range s.related(n) {
			if f.takes(r.Direction.reversed()) {
				found = append(found, r.Ord)
			}
		}
	}
	return SetOf(found...)
}

func (s *Snapshot) neighborCount(n *Node, f *LinkFilter) int {
	count := 0
	if f.Kind == RecurrenceLink {
		if f.leads(Incoming) {
			count += len(s.in(n.Ord).recurrences())
		}
		if f.leads(Outgoing) && s.RecurrenceOf(n) != nil {
			count++
		}
		return count
	}
	if f.Direction == nil {
		return s.RelatedCount(n)
	}
	for _, r := range s.related(n) {
		if f.takes(r.Direction) {
			count++
		}
	}
	return count
}

// leads tells whether the filter takes neighbors in a direction.
func (f *LinkFilter) leads(d Direction) bool { return f.Direction == nil || *f.Direction == d }

// takes tells whether the filter takes a related neighbor that lies in d.
func (f *LinkFilter) takes(d Direction) bool { return f.leads(d) || d == Mutual && f.Direction != nil }

// reversed gives the direction as seen from the other end.
func (d Direction) reversed() Direction {
	switch d {
	case Outgoing:
		return Incoming
	case Incoming:
		return Outgoing
	}
	return d
}
