package index

import (
	"cmp"
	"slices"
	"sync"

	"incidentgraph/internal/incident"
)

// Batch collects changes that become visible together.
type Batch struct {
	x     *Index // nil once the batch has ended
	base  *Snapshot
	nodes editor[*Node]
	dirty []Ord // numbers whose node was changed, possibly repeated
}

// Put adds the incident, or replaces the one with its id. version and
// revision are the store's: how often this id has changed, and the sequence
// of the change. The batch keeps no memory of inc.
func (b *Batch) Put(inc *incident.Incident, version, revision uint64) {
	n := b.x.newNode(inc)
	n.Version, n.Revision = version, revision
	b.set(n.Ord, n)
}

// Delete removes an incident; an unknown id is ignored.
func (b *Batch) Delete(id string) {
	if o, ok := b.x.names.cases.lookup(id); ok && b.nodes.at(o) != nil {
		b.set(Ord(o), nil)
	}
}

func (b *Batch) set(o Ord, n *Node) {
	if b.nodes.at(uint32(o)) == b.base.Node(o) {
		b.dirty = append(b.dirty, o)
	}
	b.nodes.set(uint32(o), n)
}

// Discard drops the batch; after Commit it does nothing.
func (b *Batch) Discard() {
	if b.x != nil {
		b.end()
	}
}

func (b *Batch) end() {
	x := b.x
	*b = Batch{}
	x.mu.Unlock()
}

// Commit publishes the batch as the snapshot of the revision and returns it.
func (b *Batch) Commit(revision uint64) *Snapshot {
	slices.Sort(b.dirty)
	b.dirty = slices.Compact(b.dirty)
	c := newChanges()
	for _, o := range b.dirty {
		c.replace(b.base.Node(o), b.nodes.at(uint32(o)))
	}
	s := b.base.next(revision)
	s.nodes = b.nodes.vector
	c.apply(b.base, s, &b.x.w)
	relinked := sync.OnceValue(func() []Ord { return c.linksTouched(b.base, s) })
	s.inheritOrders(b.base, movedIn(b.base, s, b.dirty, relinked))
	s.inheritValues(b.base, sync.OnceValue(func() []Ord { return slices.Concat(b.dirty, relinked()) }))
	s.chainOrder.inherit(&b.base.chainOrder.lazily, s.Len()/inheritShare, func() []Ord { return c.resized })
	b.x.current.Store(s)
	b.end()
	return s
}

// changes is the difference that a batch makes, collected from each incident
// as it was and as it becomes. The numbers in each delta are in rising order.
type changes struct {
	terms    deltas[TermID]
	orgs     deltas[OrgID] // NoOrg: those without
	regions  deltas[uint32]
	counts   [incident.VocabularyCount]deltas[int] // by number of terms
	all      delta
	reviewed delta

	languages            map[string]int
	related, recurrences linkDelta
	// relinked are the incidents that came, went or changed their links.
	relinked []*Node
	bytes    int   // by how much the memory of nodes grows
	termed   []Ord // the incidents with other terms than before
	resized  []Ord // roots of chains that came, went, or have another size
	dated    []dated
}

// dated is an incident with another date than before; 0 where it went.
type dated struct {
	ord  Ord
	date incident.Date
}

// delta is a change to the incidents that have something, and to how often
// its name is spelled in which way. No incident is in both lists.
type delta struct {
	add, del []Ord
	spelled  map[uint32]int
}

func (d *delta) spell(spelling uint32, by int) {
	if spelling == unspelled {
		return
	}
	if d.spelled == nil {
		d.spelled = make(map[uint32]int)
	}
	d.spelled[spelling] += by
}

func (d *delta) keepsMembers() bool { return len(d.add)+len(d.del) == 0 }

type deltas[K comparable] map[K]*delta

func (d deltas[K]) of(k K) *delta {
	e := d[k]
	if e == nil {
		e = new(delta)
		d[k] = e
	}
	return e
}

// move takes note that an incident leaves one key for another.
func (d deltas[K]) move(before, after *Node, key func(*Node) K) {
	if before != nil && after != nil && key(before) == key(after) {
		return
	}
	if before != nil {
		e := d.of(key(before))
		e.del = append(e.del, before.Ord)
	}
	if after != nil {
		e := d.of(key(after))
		e.add = append(e.add, after.Ord)
	}
}

// linkDelta holds links added and removed as target<<32 | source.
type linkDelta struct{ add, del []uint64 }

func link(target, source Ord) uint64 { return uint64(target)<<32 | uint64(source) }

func newChanges() *changes {
	c := &changes{
		terms:     make(deltas[TermID]),
		orgs:      make(deltas[OrgID]),
		regions:   make(deltas[uint32]),
		languages: make(map[string]int),
	}
	for v := range c.counts {
		c.counts[v] = make(deltas[int])
	}
	return c
}

// replace takes note of one incident's change; either may be nil. Calls come
// in the order of the numbers.
func (c *changes) replace(before, after *Node) {
	if before == nil && after == nil {
		return
	}
	switch {
	case before == nil:
		c.all.add = append(c.all.add, after.Ord)
	case after == nil:
		c.all.del = append(c.all.del, before.Ord)
	}
	was, is := before != nil && before.Reviewed, after != nil && after.Reviewed
	switch {
	case is && !was:
		c.reviewed.add = append(c.reviewed.add, after.Ord)
	case was && !is:
		c.reviewed.del = append(c.reviewed.del, before.Ord)
	}
	c.date(before, after)
	c.bytes += after.bytes() - before.bytes()
	c.orgs.move(before, after, func(n *Node) OrgID { return n.Org })
	c.regions.move(before, after, func(n *Node) uint32 { return n.RegionID })
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		c.counts[v].move(before, after, func(n *Node) int { return len(n.Terms(v)) })
	}
	c.replaceNames(before, after)
	c.replaceLinks(before, after)
}

func (c *changes) date(before, after *Node) {
	switch {
	case after == nil:
		c.dated = append(c.dated, dated{ord: before.Ord})
	case before == nil || before.Date != after.Date:
		c.dated = append(c.dated, dated{after.Ord, after.Date})
	}
}

func (c *changes) replaceNames(before, after *Node) {
	var was, is []TermID
	if before != nil {
		was = before.terms
		c.orgs.of(before.Org).spell(before.orgSpelling, -1)
		for _, t := range before.Title {
			c.languages[t.Language]--
		}
	}
	if after != nil {
		is = after.terms
		c.orgs.of(after.Org).spell(after.orgSpelling, +1)
		for _, t := range after.Title {
			c.languages[t.Language]++
		}
	}
	if before == nil || after == nil || before.starts != after.starts || !slices.Equal(was, is) {
		c.termed = append(c.termed, cmp.Or(before, after).Ord)
	}
	keptBefore, keptAfter := inBoth(was, is), inBoth(is, was)
	for i, t := range was {
		d := c.terms.of(t)
		d.spell(before.termSpelling(i), -1)
		if !keptBefore(t) {
			d.del = append(d.del, before.Ord)
		}
	}
	for i, t := range is {
		d := c.terms.of(t)
		d.spell(after.termSpelling(i), +1)
		if !keptAfter(t) {
			d.add = append(d.add, after.Ord)
		}
	}
}

// inBoth gives a function that tells whether an element of a is in b, too.
func inBoth[T comparable](a, b []T) func(T) bool {
	if len(a)*len(b) <= 1024 {
		return func(x T) bool { return slices.Contains(b, x) }
	}
	in := make(map[T]struct{}, len(b))
	for _, x := range b {
		in[x] = struct{}{}
	}
	return func(x T) bool { _, ok := in[x]; return ok }
}

func (c *changes) replaceLinks(before, after *Node) {
	if before != nil && after != nil && sameLinks(before, after) {
		return
	}
	if before != nil {
		c.relinked = append(c.relinked, before)
		for _, t := range before.related {
			c.related.del = append(c.related.del, link(t, before.Ord))
		}
		if before.hasParent {
			c.recurrences.del = append(c.recurrences.del, link(before.recurrenceOf, before.Ord))
		}
	}
	if after != nil {
		c.relinked = append(c.relinked, after)
		for _, t := range after.related {
			c.related.add = append(c.related.add, link(t, after.Ord))
		}
		if after.hasParent {
			c.recurrences.add = append(c.recurrences.add, link(after.recurrenceOf, after.Ord))
		}
	}
}

func sameLinks(a, b *Node) bool {
	return a.hasParent == b.hasParent && a.recurrenceOf == b.recurrenceOf && slices.Equal(a.related, b.related)
}

// apply makes s, which is still a copy of its predecessor base but for the nodes,
// and w reflect the changes.
func (c *changes) apply(base, s *Snapshot, w *writer) {
	s.all = s.all.with(c.all.add, c.all.del)
	s.reviewed = s.reviewed.with(c.reviewed.add, c.reviewed.del)
	c.applyTerms(s, w)
	c.applyOrgs(s, w)
	regions := s.regions.edit(w.batches)
	for r, d := range c.regions {
		regions.set(r, regions.at(r).with(d))
	}
	s.regions = regions.vector
	for v, changed := range c.counts {
		counts := s.counts[v].edit(w.batches)
		for n, d := range changed {
			counts.set(uint32(n), counts.at(uint32(n)).with(d))
		}
		s.counts[v] = counts.vector
	}
	s.nodeBytes += c.bytes
	s.applyTermLists(c.termed, w)
	c.applyDates(s, w)
	c.applyLinks(s, w)
	c.applyChains(base, s, w)
	c.applyLanguages(s, w)
}

func (c *changes) applyTerms(s *Snapshot, w *writer) {
	terms := s.terms.edit(w.batches)
	for t, d := range c.terms {
		respelled := respell(&w.terms, uint32(t), d.spelled)
		if !respelled && d.keepsMembers() {
			continue
		}
		h := terms.at(uint32(t)).with(d)
		if respelled {
			h.written = w.terms[t].best(s.names.spelling, s.slug(t))
		}
		terms.set(uint32(t), h)
	}
	s.terms = terms.vector
	s.termCount = uint32(s.names.terms.len())
}

func (c *changes) applyOrgs(s *Snapshot, w *writer) {
	orgs := s.orgs.edit(w.batches)
	for o, d := range c.orgs {
		if o == NoOrg {
			s.noOrg = s.noOrg.with(d.add, d.del)
			continue
		}
		respelled := respell(&w.orgs, uint32(o), d.spelled)
		if !respelled && d.keepsMembers() {
			continue
		}
		h := orgs.at(uint32(o)).with(d)
		if respelled {
			h.written = w.orgs[o].best(s.names.spelling, s.names.orgs.name(uint32(o)))
		}
		orgs.set(uint32(o), h)
	}
	s.orgs = orgs.vector
	s.orgCount = uint32(s.names.orgs.len())
}

func (c *changes) applyDates(s *Snapshot, w *writer) {
	dates := s.dates.edit(w.batches)
	for _, d := range c.dated {
		dates.set(uint32(d.ord), d.date)
	}
	s.dates = dates.vector
}

func (c *changes) applyLinks(s *Snapshot, w *writer) {
	in := s.incoming.edit(w.batches)
	set := func(target Ord, old, links *incoming) {
		s.linkBytes += links.bytes() - old.bytes()
		in.set(uint32(target), links)
	}
	c.related.each(func(target Ord, add, del []uint64) {
		old := in.at(uint32(target))
		w.ordBuffer = mergeSources(w.ordBuffer[:0], old.related(), add, del)
		set(target, old, w.newIncoming(w.ordBuffer, old.recurrences()))
	})
	c.recurrences.each(func(target Ord, add, del []uint64) {
		old := in.at(uint32(target))
		w.ordBuffer = mergeSources(w.ordBuffer[:0], old.recurrences(), add, del)
		set(target, old, w.newIncoming(old.related(), w.ordBuffer))
	})
	s.incoming = in.vector
}

// each calls f for each target with its links added and removed, sorted.
func (d *linkDelta) each(f func(target Ord, add, del []uint64)) {
	slices.Sort(d.add)
	slices.Sort(d.del)
	add, del := d.add, d.del
	for len(add) > 0 || len(del) > 0 {
		target := ^Ord(0)
		if len(add) > 0 {
			target = Ord(add[0] >> 32)
		}
		if len(del) > 0 {
			target = min(target, Ord(del[0]>>32))
		}
		var adds, dels []uint64
		adds, add = cutTarget(add, target)
		dels, del = cutTarget(del, target)
		f(target, adds, dels)
	}
}

func cutTarget(links []uint64, target Ord) (of, rest []uint64) {
	i := 0
	for i < len(links) && Ord(links[i]>>32) == target {
		i++
	}
	return links[:i], links[i:]
}

// mergeSources appends sorted sources without those of del and with those of
// add; a link in both stays.
func mergeSources(r, old []Ord, add, del []uint64) []Ord {
	for _, o := range old {
		for len(del) > 0 && Ord(del[0]) < o {
			del = del[1:]
		}
		if len(del) > 0 && Ord(del[0]) == o {
			continue
		}
		for len(add) > 0 && Ord(add[0]) < o {
			r, add = append(r, Ord(add[0])), add[1:]
		}
		r = append(r, o)
	}
	for _, l := range add {
		r = append(r, Ord(l))
	}
	return r
}

func (c *changes) applyLanguages(s *Snapshot, w *writer) {
	changed := false
	for l, by := range c.languages {
		if by == 0 {
			continue
		}
		old := w.languages[l]
		w.languages[l] = old + by
		if old+by == 0 {
			delete(w.languages, l)
		}
		changed = changed || old == 0 || old+by == 0
	}
	if !changed {
		return
	}
	s.languages = make([]string, 0, len(w.languages))
	for l := range w.languages {
		s.languages = append(s.languages, l)
	}
	slices.Sort(s.languages)
}

// movedIn gives a function that tells which incidents may have another place
// in an order by a field than before: those that came, went, or have another
// value. The candidates are the incidents that were put or deleted and, by the
// number of links, those that relinked gives.
func movedIn(before, after *Snapshot, dirty []Ord, relinked func() []Ord) func(Field) []Ord {
	var moved [fieldCount]func() []Ord
	for f := range moved {
		moved[f] = sync.OnceValue(func() []Ord {
			candidates := dirty
			if Field(f) == ByLinkCount {
				candidates = relinked()
			}
			var ords []Ord
			for _, o := range candidates {
				if was, is := before.Node(o), after.Node(o); was == nil || is == nil ||
					before.keyValue(was, Field(f)) != after.keyValue(is, Field(f)) {
					ords = append(ords, o)
				}
			}
			return ords
		})
	}
	return func(f Field) []Ord { return moved[f]() }
}

// linksTouched gives the incidents whose number of links may have changed.
func (c *changes) linksTouched(before, after *Snapshot) []Ord {
	var r []Ord
	for _, n := range c.relinked {
		r = append(r, n.Ord)
		r = append(r, n.related...)
		if n.hasParent {
			r = append(r, n.recurrenceOf)
		}
		for _, s := range []*Snapshot{before, after} {
			if in := s.in(n.Ord); in != nil {
				r = append(r, in.sources...)
			}
		}
	}
	slices.Sort(r)
	return slices.Compact(r)
}
