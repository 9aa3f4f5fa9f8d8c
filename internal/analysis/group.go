package analysis

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// GroupKey is what incidents can be grouped by.
type GroupKey uint8

// The keys. The first six have the values of the vocabularies.
const (
	ByContributingFactor = GroupKey(incident.ContributingFactor)
	ByComponent          = GroupKey(incident.Component)
	BySymptom            = GroupKey(incident.Symptom)
	ByRootCause          = GroupKey(incident.RootCause)
	ByDomain             = GroupKey(incident.Domain)
	BySeverity           = GroupKey(incident.Severity)
	ByOrg                = GroupKey(incident.VocabularyCount) + iota - 6
	ByYear
	ByQuarter
	ByMonth
	ByRegion
)

// ManyValued tells whether an incident can have several values of the key, so
// that it is counted in several groups.
func (k GroupKey) ManyValued() bool {
	switch k {
	case ByContributingFactor, ByComponent, BySymptom, ByDomain:
		return true
	}
	return false
}

// GroupQuery asks for groups.
type GroupQuery struct {
	By       []GroupKey // one or two, different
	MinCount int        // groups with fewer incidents are left out; below 1 counts as 1
	First    int        // how many groups, largest first
}

// Groups is the answer.
type Groups struct {
	// Total is how many groups have at least MinCount incidents.
	Total int
	// Overlapping: an incident may be in several groups.
	Overlapping bool
	// List holds the First largest groups, ties by key, no value last.
	List []Group

	crossing
	pairs []groupPair // of List

	once    sync.Once // finds members
	members [][]index.Ord
	err     error
}

// Group is the incidents that have the same values of the keys.
type Group struct {
	// Keys has one value per key: a slug, an org's slug, "2015", "2015-Q3",
	// "2015-09", a region; nil for the incidents without a value. A date that
	// is less precise than the key is no value.
	Keys      []*string
	Incidents int
}

// period cuts a date down to the year, quarter (its first month) or month, 0
// where the date is missing or less precise.
func (k GroupKey) period(d incident.Date) incident.Date {
	const month, day = 0xff00, 0xff
	switch {
	case d.IsZero():
		return 0
	case k == ByYear:
		return d &^ (month | day)
	case d.Month() == 0:
		return 0
	case k == ByMonth:
		return d &^ day
	}
	first := (d.Month()-1)/3*3 + 1
	return d&^(month|day) | incident.Date(first)<<8
}

// GroupBy groups the incidents of set.
func GroupBy(ctx context.Context, s *index.Snapshot, set index.Set, q GroupQuery) (*Groups, error) {
	g := &Groups{crossing: crossingOf(s, set, q.By...)}
	for _, k := range q.By {
		g.Overlapping = g.Overlapping || k.ManyValued()
	}
	counts, err := g.count(ctx)
	if err != nil {
		return nil, err
	}
	counts.each(func(a, b uint32, n int) {
		if n >= q.MinCount {
			g.pairs = append(g.pairs, groupPair{a, b, n})
		}
	})
	g.Total = len(g.pairs)
	g.pairs = slices.Clone(firstOf(g.pairs, q.First, g.compare))
	g.List = make([]Group, len(g.pairs))
	for i, p := range g.pairs {
		keys := []*string{g.columns[0].name(p.a), g.second().name(p.b)}
		g.List[i] = Group{Keys: keys[:len(q.By)], Incidents: p.n}
	}
	return g, nil
}

// groupPair is a group while counting: the value numbers of both keys.
type groupPair struct {
	a, b uint32
	n    int
}

// compare puts larger groups first, then goes by keys, no value last.
func (g *Groups) compare(p, q groupPair) int {
	return cmp.Or(cmp.Compare(q.n, p.n), g.columns[0].compare(p.a, q.a), g.second().compare(p.b, q.b))
}

// Members gives the incidents of List[i]. The first call finds those of all
// listed groups in one pass over the set.
func (g *Groups) Members(ctx context.Context, i int) (index.Set, error) {
	g.once.Do(func() { g.err = g.findMembers(ctx) })
	if g.err != nil {
		return index.Set{}, g.err
	}
	return index.SetOf(g.members[i]...), nil
}

func (g *Groups) findMembers(ctx context.Context) error {
	listed := make(map[[2]uint32]int, len(g.pairs))
	inList := make([]bool, g.columns[0].size()) // values of the first key, which spares most look-ups
	for i, p := range g.pairs {
		listed[[2]uint32{p.a, p.b}] = i
		inList[p.a] = true
	}
	g.members = make([][]index.Ord, len(g.pairs))
	return g.each(ctx, func(o index.Ord, a, b uint32) {
		if !inList[a] {
			return
		}
		if i, ok := listed[[2]uint32{a, b}]; ok {
			g.members[i] = append(g.members[i], o)
		}
	})
}
