package index_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// model answers by looking at every incident, as slowly and simply as it can.
type model struct {
	by      map[string]*incident.Incident
	version map[string]uint64
}

func newModel() *model {
	return &model{by: make(map[string]*incident.Incident), version: make(map[string]uint64)}
}

func modelOf(list []*incident.Incident) *model {
	m := newModel()
	for _, inc := range list {
		m.by[inc.ID] = inc
		m.version[inc.ID] = 1
	}
	return m
}

// clone copies what later changes would change.
func (m *model) clone() *model {
	c := newModel()
	for id, inc := range m.by {
		c.by[id], c.version[id] = inc, m.version[id]
	}
	return c
}

// build indexes the model in an order of its own.
func (m *model) build(r *rand.Rand) *index.Snapshot {
	b := index.New(nil).Batch()
	ids := m.ids()
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, id := range ids {
		b.Put(m.by[id], m.version[id], m.version[id])
	}
	if r.IntN(2) == 0 {
		b.Arrange()
	}
	return b.Commit(1)
}

// ids gives the ids, sorted.
func (m *model) ids() []string {
	ids := make([]string, 0, len(m.by))
	for id := range m.by {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// slugs gives the slugs of one vocabulary, each once.
func slugs(inc *incident.Incident, v incident.Vocabulary) []string {
	var r []string
	for _, x := range inc.Values(v) {
		if !slices.Contains(r, x.Slug) {
			r = append(r, x.Slug)
		}
	}
	return r
}

func (m *model) names(a, b string) bool { return slices.Contains(m.by[a].Related, b) }

// related gives the direction to b as seen from a, false where they are not
// related or not both there.
func (m *model) related(a, b string) (index.Direction, bool) {
	if m.by[a] == nil || m.by[b] == nil || a == b {
		return 0, false
	}
	switch out, in := m.names(a, b), m.names(b, a); {
	case out && in:
		return index.Mutual, true
	case out:
		return index.Outgoing, true
	case in:
		return index.Incoming, true
	}
	return 0, false
}

// parent gives the stored case that id repeats, "" if none.
func (m *model) parent(id string) string {
	p := m.by[id].RecurrenceOf
	if m.by[p] == nil {
		return ""
	}
	return p
}

func (m *model) linkCount(id string) int {
	n := 0
	for other := range m.by {
		if _, ok := m.related(id, other); ok {
			n++
		}
		if m.parent(other) == id {
			n++
		}
	}
	if m.parent(id) != "" {
		n++
	}
	return n
}

// root gives the topmost case above id; of a circle the smallest id.
func (m *model) root(id string) string {
	var seen []string
	for !slices.Contains(seen, id) {
		seen = append(seen, id)
		if m.parent(id) == "" {
			return id
		}
		id = m.parent(id)
	}
	return slices.Min(seen[slices.Index(seen, id):])
}

// chain gives the ids with the same root.
func (m *model) chain(id string) []string {
	var r []string
	for other := range m.by {
		if m.root(other) == m.root(id) {
			r = append(r, other)
		}
	}
	return r
}

// depth counts the steps up to the root.
func (m *model) depth(id string) int {
	d := 0
	for root := m.root(id); id != root; id = m.parent(id) {
		d++
	}
	return d
}

// sortValue gives a value that sorts as the field does, and whether there is one.
func (m *model) sortValue(id string, f index.Field) (string, int64, bool) {
	inc := m.by[id]
	switch f {
	case index.ByDate:
		d := inc.Date
		return "", int64(d.Year())*10_000 + int64(d.Month())*100 + int64(d.Day()), !d.IsZero()
	case index.ByUpdatedAt:
		return "", inc.UpdatedAt.UnixNano(), !inc.UpdatedAt.IsZero()
	case index.ByResolvedAfter:
		return "", int64(inc.ResolvedAfter.Seconds * 1000), inc.ResolvedAfter.Known
	case index.ByLinkCount:
		return "", int64(m.linkCount(id)), true
	}
	return id, 0, true
}

func (m *model) compare(a, b string, by []index.Order) int {
	for _, o := range by {
		as, an, aok := m.sortValue(a, o.Field)
		bs, bn, bok := m.sortValue(b, o.Field)
		if aok != bok {
			if aok {
				return -1
			}
			return 1
		}
		if !aok {
			continue
		}
		if c := cmp.Or(strings.Compare(as, bs), cmp.Compare(an, bn)); c != 0 {
			if o.Desc {
				return -c
			}
			return c
		}
	}
	return strings.Compare(a, b)
}

func (m *model) sorted(ids []string, by []index.Order) []string {
	if len(by) == 0 {
		by = []index.Order{{Field: index.ByDate, Desc: true}}
	}
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b string) int { return m.compare(a, b, by) })
	return ids
}

// selected gives the sorted ids that match f.
func (m *model) selected(f *index.Filter) []string {
	r := []string{}
	for _, id := range m.ids() {
		if m.matches(id, f) {
			r = append(r, id)
		}
	}
	return r
}

func (m *model) matches(id string, f *index.Filter) bool {
	if f == nil {
		return true
	}
	inc := m.by[id]
	for i := range f.And {
		if !m.matches(id, &f.And[i]) {
			return false
		}
	}
	if f.Or != nil {
		any := false
		for i := range f.Or {
			any = any || m.matches(id, &f.Or[i])
		}
		if !any {
			return false
		}
	}
	if f.Not != nil && m.matches(id, f.Not) {
		return false
	}
	for v, tf := range f.Terms {
		if tf != nil && !matchesTerms(slugs(inc, incident.Vocabulary(v)), tf) {
			return false
		}
	}
	for i := range f.Links {
		if !m.matchesLink(id, &f.Links[i]) {
			return false
		}
	}
	return matchesString(inc.ID, f.CaseID) && matchesString(inc.OrgSlug, f.Org) && matchesString(inc.ImpactRegion, f.Region) &&
		matchesDate(inc.Date, f.Date) && matchesDate(dayOf(inc.UpdatedAt), f.UpdatedAt) &&
		matchesDuration(inc.DetectedAfter, f.DetectedAfter) && matchesDuration(inc.ResolvedAfter, f.ResolvedAfter) &&
		(f.Reviewed == nil || *f.Reviewed == !inc.Review.ReviewedAt.IsZero()) &&
		m.matchesShares(id, f.SharesTermsWith)
}

func dayOf(t time.Time) incident.Date {
	if t.IsZero() {
		return 0
	}
	return incident.DateOf(t)
}

func matchesString(s string, f *index.StringFilter) bool {
	if f == nil {
		return true
	}
	if f.IsNull != nil && *f.IsNull != (s == "") {
		return false
	}
	if f.Eq != nil && (s == "" || s != *f.Eq) || f.StartsWith != nil && (s == "" || !strings.HasPrefix(s, *f.StartsWith)) {
		return false
	}
	return f.In == nil || s != "" && slices.Contains(f.In, s)
}

func matchesDate(d incident.Date, f *index.DateFilter) bool {
	if f == nil || *f == (index.DateFilter{}) {
		return true
	}
	if d.IsZero() {
		return false
	}
	return (f.Gte == 0 || !d.FirstDay().Before(f.Gte.FirstDay())) && (f.Lt == 0 || d.FirstDay().Before(f.Lt.FirstDay()))
}

func matchesDuration(d incident.Duration, f *index.DurationFilter) bool {
	switch {
	case f == nil:
		return true
	case f.IsKnown != nil && *f.IsKnown != d.Known:
		return false
	case f.GteSeconds != nil && (!d.Known || d.Seconds < *f.GteSeconds):
		return false
	}
	return f.LtSeconds == nil || d.Known && d.Seconds < *f.LtSeconds
}

func matchesTerms(has []string, f *index.TermFilter) bool {
	in := func(s string) bool { return slices.Contains(has, s) }
	if f.Any != nil && !slices.ContainsFunc(f.Any, in) || slices.ContainsFunc(f.None, in) {
		return false
	}
	for _, s := range f.All {
		if !in(s) {
			return false
		}
	}
	return (f.MinCount == nil || len(has) >= *f.MinCount) && (f.MaxCount == nil || len(has) <= *f.MaxCount)
}

func (m *model) matchesLink(id string, f *index.LinkFilter) bool {
	n, some, none := 0, false, true
	for other := range m.by {
		if !m.neighbor(id, other, f) {
			continue
		}
		n++
		if f.Some != nil && m.matches(other, f.Some) {
			some = true
		}
		if f.None != nil && m.matches(other, f.None) {
			none = false
		}
	}
	if f.Some == nil && f.None == nil && f.MinCount == nil && f.MaxCount == nil {
		return n > 0
	}
	return (f.Some == nil || some) && (f.None == nil || none) &&
		(f.MinCount == nil || n >= *f.MinCount) && (f.MaxCount == nil || n <= *f.MaxCount)
}

func (m *model) neighbor(id, other string, f *index.LinkFilter) bool {
	is := func(d index.Direction) bool { return f.Direction == nil || *f.Direction == d }
	if f.Kind == index.RecurrenceLink {
		return is(index.Outgoing) && m.parent(id) == other || is(index.Incoming) && m.parent(other) == id
	}
	d, ok := m.related(id, other)
	return ok && (is(d) || d == index.Mutual)
}

func (m *model) matchesShares(id string, f *index.SharesTermsFilter) bool {
	if f == nil {
		return true
	}
	shared := 0
	theirs := slugs(m.by[f.CaseID], f.Vocabulary)
	for _, s := range slugs(m.by[id], f.Vocabulary) {
		if slices.Contains(theirs, s) {
			shared++
		}
	}
	return id != f.CaseID && shared >= f.AtLeast
}

// --- helpers ---

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

func idsOf(s *index.Snapshot, set index.Set) []string {
	r := []string{}
	for o := range set.All() {
		r = append(r, s.CaseID(o))
	}
	slices.Sort(r)
	return r
}

func nodeIDs(nodes []*index.Node) []string {
	r := []string{}
	for _, n := range nodes {
		r = append(r, n.ID)
	}
	return r
}

func ptr[T any](x T) *T { return &x }

func small(r *rand.Rand) (*model, *index.Snapshot) {
	m := modelOf(fixture.Graph(r, 20+r.IntN(80)))
	return m, m.build(r)
}
