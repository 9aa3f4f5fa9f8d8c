package analysis

import (
	"cmp"
	"context"
	"fmt"
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

	snapshot *index.Snapshot
	set      index.Set
	by       []GroupKey
	once     sync.Once
	members  [][]index.Ord
	err      error
}

// Group is the incidents that have the same values of the keys.
type Group struct {
	// Keys has one value per key: a slug, an org's slug, "2015", "2015-Q3",
	// "2015-09", a region; nil for the incidents without a value. A date that
	// is less precise than the key is no value.
	Keys      []*string
	Incidents int
}

// groupID identifies a group while counting: the value numbers of both keys.
type groupID [2]uint32

// noValue is the value number of incidents without a value.
const noValue = ^uint32(0)

// keyReader reads the values of one key from nodes as dense numbers.
type keyReader struct {
	key    GroupKey
	s      *index.Snapshot
	values []string
	number map[string]uint32 // for keys without numbers of their own
	buffer []uint32
}

func newKeyReader(s *index.Snapshot, k GroupKey) *keyReader {
	return &keyReader{key: k, s: s, number: map[string]uint32{}}
}

// read gives the value numbers of n, at least one. The slice is valid until
// the next call.
func (r *keyReader) read(n *index.Node) []uint32 {
	out := r.buffer[:0]
	switch r.key {
	case ByOrg:
		if n.Org != index.NoOrg {
			out = append(out, uint32(n.Org))
		}
	case ByYear, ByQuarter, ByMonth:
		if d := r.key.period(n.Date); d != 0 {
			out = append(out, uint32(d))
		}
	case ByRegion:
		if n.Region != "" {
			i, ok := r.number[n.Region]
			if !ok {
				i = uint32(len(r.values)) //nolint:gosec // fewer regions than incidents
				r.number[n.Region] = i
				r.values = append(r.values, n.Region)
			}
			out = append(out, i)
		}
	default:
		for _, t := range n.Terms(incident.Vocabulary(r.key)) {
			out = append(out, uint32(t))
		}
	}
	if len(out) == 0 {
		out = append(out, noValue)
	}
	r.buffer = out
	return out
}

// text gives the value behind a number, nil for noValue.
func (r *keyReader) text(i uint32) *string {
	if i == noValue {
		return nil
	}
	var s string
	switch r.key {
	case ByOrg:
		s = r.s.Org(index.OrgID(i)).Slug
	case ByYear, ByMonth:
		s = incident.Date(i).String()
	case ByQuarter:
		d := incident.Date(i)
		s = fmt.Sprintf("%04d-Q%d", d.Year(), (d.Month()+2)/3)
	case ByRegion:
		s = r.values[i]
	default:
		s = r.s.Term(index.TermID(i)).Slug
	}
	return &s
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
	return d&^(month|day) | incident.Date(first)<<8 //nolint:gosec // 1 to 10
}

// GroupBy groups the incidents of set.
func GroupBy(ctx context.Context, s *index.Snapshot, set index.Set, q GroupQuery) (*Groups, error) {
	g := &Groups{snapshot: s, set: set, by: q.By}
	for _, k := range q.By {
		g.Overlapping = g.Overlapping || k.ManyValued()
	}
	readers, counts := g.readers(), map[groupID]int{}
	err := eachNode(ctx, s, set, func(n *index.Node) {
		eachGroup(readers, n, func(id groupID) { counts[id]++ })
	})
	if err != nil {
		return nil, err
	}
	for id, n := range counts {
		if n < q.MinCount {
			continue
		}
		group := Group{Incidents: n}
		for i, r := range readers {
			group.Keys = append(group.Keys, r.text(id[i]))
		}
		g.List = append(g.List, group)
	}
	slices.SortFunc(g.List, compareGroups)
	g.Total = len(g.List)
	if q.First >= 0 && len(g.List) > q.First {
		g.List = slices.Clip(g.List[:q.First])
	}
	return g, nil
}

func (g *Groups) readers() []*keyReader {
	readers := make([]*keyReader, len(g.by))
	for i, k := range g.by {
		readers[i] = newKeyReader(g.snapshot, k)
	}
	return readers
}

// eachGroup calls f for each group that n is in.
func eachGroup(readers []*keyReader, n *index.Node, f func(groupID)) {
	for _, a := range readers[0].read(n) {
		if len(readers) == 1 {
			f(groupID{a, noValue})
			continue
		}
		for _, b := range readers[1].read(n) {
			f(groupID{a, b})
		}
	}
}

// compareGroups puts larger groups first, then goes by keys, no value last.
func compareGroups(a, b Group) int {
	if c := cmp.Compare(b.Incidents, a.Incidents); c != 0 {
		return c
	}
	return compareKeys(a.Keys, b.Keys)
}

func compareKeys(a, b []*string) int {
	for i := range a {
		switch x, y := a[i], b[i]; {
		case x == nil && y == nil:
		case x == nil:
			return 1
		case y == nil:
			return -1
		default:
			if c := cmp.Compare(*x, *y); c != 0 {
				return c
			}
		}
	}
	return 0
}

// Members gives the incidents of List[i]. The first call finds those of all
// listed groups in one pass over the set.
func (g *Groups) Members(ctx context.Context, i int) (index.Set, error) {
	g.once.Do(func() {
		g.members = make([][]index.Ord, len(g.List))
		place := make(map[string]int, len(g.List))
		for i, group := range g.List {
			place[joinKeys(group.Keys)] = i
		}
		readers := g.readers()
		listed := map[groupID]int{} // -1: not listed
		g.err = eachNode(ctx, g.snapshot, g.set, func(n *index.Node) {
			eachGroup(readers, n, func(id groupID) {
				at, ok := listed[id]
				if !ok {
					keys := make([]*string, len(readers))
					for i, r := range readers {
						keys[i] = r.text(id[i])
					}
					if at, ok = place[joinKeys(keys)]; !ok {
						at = -1
					}
					listed[id] = at
				}
				if at >= 0 {
					g.members[at] = append(g.members[at], n.Ord)
				}
			})
		})
	})
	if g.err != nil {
		return index.Set{}, g.err
	}
	return index.SetOf(g.members[i]...), nil
}

// joinKeys gives keys as one string that no other keys have.
func joinKeys(keys []*string) string {
	var b []byte
	for _, k := range keys {
		if k == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		b = fmt.Appendf(b, "%d:", len(*k))
		b = append(b, *k...)
	}
	return string(b)
}
