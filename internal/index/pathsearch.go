package index

import (
	"cmp"
	"slices"
)

// checkEvery is how often a search comes to a node between two looks at its
// context.
const checkEvery = 1 << 12

// spurQuery asks for the cheapest route from a node to the query's To.
type spurQuery struct {
	from    uint32
	maxHops int
	// banned nodes are not entered, and no route begins with an edge to a used
	// one. Both are few.
	banned, used []uint32
	// bound is what the route may cost at most.
	bound fixed
}

// label is a way from one end of a search to a node.
type label struct {
	cost   fixed
	node   uint32
	parent int32 // number of the label before; -1 at the end
	next   int32 // number of the next older label of the node, -1 for none
	hops   int32
}

// queued is a label in a queue. Cost is that of the label, or for a term or
// org that of its incidents: all of them cost the same and are reached when
// their turn comes, which keeps the incidents of what everything has out of
// the queue.
type queued struct {
	cost  fixed
	label int32
}

// pathMemory is the memory of one search, used again for the next.
type pathMemory struct {
	sides   [2]side
	checkAt int // when to look at the context again
}

func newPathMemory(size uint32) *pathMemory {
	m := new(pathMemory)
	for i := range m.sides {
		m.sides[i].head = make([]int32, size)
	}
	return m
}

// side is what one end of a search has found.
type side struct {
	labels []label
	queue  []queued
	// head holds for each node one more than the number of its newest label, 0
	// for none: of an incident the settled ones, of a term or org those
	// reached. No label of a node is as good as an older one in both cost and
	// hops.
	head    []int32
	touched []uint32 // nodes with a head
	forward bool
}

func (d *side) reset(forward bool) {
	for _, n := range d.touched {
		d.head[n] = 0
	}
	d.labels, d.queue, d.touched, d.forward = d.labels[:0], d.queue[:0], d.touched[:0], forward
}

// first gives the number of a node's newest label, -1 for none.
func (d *side) first(node uint32) int32 { return d.head[node] - 1 }

// least gives the lowest cost in the queue, which is not empty.
func (d *side) least() fixed { return d.queue[0].cost }

func (d *side) before(a, b queued) bool {
	return a.cost < b.cost || a.cost == b.cost && d.labels[a.label].hops < d.labels[b.label].hops
}

// push and pop keep the queue a binary heap.
func (d *side) push(x queued) {
	d.queue = append(d.queue, x)
	i := len(d.queue) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !d.before(x, d.queue[up]) {
			break
		}
		d.queue[i] = d.queue[up]
		i = up
	}
	d.queue[i] = x
}

func (d *side) pop() queued {
	top := d.queue[0]
	last := len(d.queue) - 1
	x := d.queue[last]
	d.queue = d.queue[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && d.before(d.queue[down+1], d.queue[down]) {
			down++
		}
		if !d.before(d.queue[down], x) {
			break
		}
		d.queue[i] = d.queue[down]
		i = down
	}
	d.queue[i] = x
	return top
}

// add makes a label.
func (d *side) add(l label) int32 {
	d.labels = append(d.labels, l)
	return int32(len(d.labels) - 1)
}

// nodes gives the nodes from a label's node back to the end.
func (d *side) nodes(l int32) []uint32 {
	var out []uint32
	for ; l >= 0; l = d.labels[l].parent {
		out = append(out, d.labels[l].node)
	}
	return out
}

// covered tells whether a node has a label that is at least as good as one
// with this parent, cost and hops would be. Among equal ones that with the
// smaller names counts: then the one there takes over the new one's way, for
// itself and for what was reached through it. Labels of an incident with equal
// cost come out of the queue in a row, before any label that extends one of
// them.
func (p *pathSearch) covered(d *side, node uint32, parent int32, cost fixed, hops int32) bool {
	for i := d.first(node); i >= 0; i = d.labels[i].next {
		o := &d.labels[i]
		if o.hops > hops || o.cost > cost {
			continue
		}
		if o.hops == hops && o.cost == cost && parent != o.parent && p.smaller(d, parent, o.parent) {
			o.parent = parent
		}
		return true
	}
	return false
}

// smaller tells whether the way of label a comes before that of b, both of
// equal length, read in the direction of the whole path.
func (p *pathSearch) smaller(d *side, a, b int32) bool {
	x, y := d.nodes(a), d.nodes(b)
	if d.forward {
		slices.Reverse(x)
		slices.Reverse(y)
	}
	return p.compareNodes(x, y) < 0
}

// keep puts a label among those of its node.
func (d *side) keep(l int32) {
	node := d.labels[l].node
	d.labels[l].next = d.first(node)
	if d.head[node] == 0 {
		d.touched = append(d.touched, node)
	}
	d.head[node] = l + 1
}

// meeting is two labels of one node, one from each side, that make a route.
type meeting struct{ ahead, back int32 }

// spurSearch is one search from both ends at once. With C the cost of the best
// route, and a and b the costs that the two sides have come to: as soon as
// a + b > C, every route that costs C has an edge whose ends the sides have
// settled, and was met there.
type spurSearch struct {
	*pathSearch
	spurQuery
	to          uint32
	ahead, back *side
	// met are the meetings of the lowest cost found so far, which is bound,
	// and among those of the fewest hops.
	met  []meeting
	hops int32
}

// cheapest finds the cheapest route, nil where there is none. Every route that
// costs as little is met before the search ends, so that names can decide.
func (p *pathSearch) cheapest(q spurQuery) (*route, error) {
	f := &spurSearch{pathSearch: p, spurQuery: q, to: p.number(p.q.To), ahead: &p.sides[0], back: &p.sides[1]}
	f.ahead.reset(true)
	f.back.reset(false)
	f.begin(f.ahead, f.from)
	f.begin(f.back, f.to)
	// The ends come first, so that each side finds the other's.
	f.step(f.ahead, f.back)
	f.step(f.back, f.ahead)
	for len(f.ahead.queue) > 0 && len(f.back.queue) > 0 && f.ahead.least()+f.back.least() <= f.bound {
		if f.visited > f.q.MaxVisited {
			f.exhausted = true
			break
		}
		if len(f.ahead.queue) <= len(f.back.queue) {
			f.step(f.ahead, f.back)
		} else {
			f.step(f.back, f.ahead)
		}
		if f.visited >= f.checkAt {
			if err := f.ctx.Err(); err != nil {
				return nil, err
			}
			f.checkAt = f.visited + checkEvery
		}
	}
	return f.best(), nil
}

// best gives the best of the meetings' routes.
func (f *spurSearch) best() *route {
	var best *route
	for _, m := range f.met {
		if r, ok := f.route(m); ok && (best == nil || f.compare(r, *best) < 0) {
			best = &r
		}
	}
	return best
}

// route gives the meeting's route, false where it visits a node twice. Such a
// route is never the best: without the loop it costs less.
func (f *spurSearch) route(m meeting) (route, bool) {
	nodes := f.ahead.nodes(m.ahead)
	slices.Reverse(nodes)
	nodes = append(nodes, f.back.nodes(m.back)[1:]...)
	for i, n := range nodes {
		if slices.Contains(nodes[:i], n) {
			return route{}, false
		}
	}
	return route{nodes: nodes, cost: f.ahead.labels[m.ahead].cost + f.back.labels[m.back].cost}, true
}

// begin puts an end into its side.
func (f *spurSearch) begin(d *side, node uint32) {
	l := d.add(label{node: node, parent: -1, next: -1})
	cost := fixed(0)
	if node >= f.terms {
		d.keep(l)
		cost = f.half[node-f.terms]
	}
	d.push(queued{cost, l})
}

// step takes the next label of a side's queue and reaches its neighbors.
func (f *spurSearch) step(d, other *side) {
	x := d.pop()
	f.visited++
	l := d.labels[x.label]
	if l.node >= f.terms {
		if !f.bettered(d, x.label) {
			f.fan(d, other, x)
		}
		return
	}
	if f.covered(d, l.node, l.parent, l.cost, l.hops) {
		return
	}
	d.keep(x.label)
	if int(l.hops) < f.maxHops {
		f.expand(d, other, x.label)
	}
}

// bettered tells whether a label that was reached has been overtaken.
func (f *spurSearch) bettered(d *side, l int32) bool {
	mine := &d.labels[l]
	for i := d.first(mine.node); i >= 0; i = d.labels[i].next {
		o := &d.labels[i]
		if i != l && o.hops <= mine.hops && o.cost <= mine.cost {
			return true
		}
	}
	return false
}

// fan reaches the incidents of a term or an org.
func (f *spurSearch) fan(d, other *side, x queued) {
	l := d.labels[x.label]
	if int(l.hops) >= f.maxHops {
		return
	}
	var set Set
	switch n := f.ref(l.node); n.Kind {
	case TermNode:
		if e, ok := termEdge(f.s.Term(TermID(n.N)).Vocabulary); ok && f.q.Via.has(e) {
			set = f.s.Postings(TermID(n.N))
		}
	case OrgNode:
		if f.q.Via.has(OrgEdge) {
			set = f.s.OrgIncidents(OrgID(n.N))
		}
	}
	f.visited += set.Len()
	for o := range set.All() {
		f.reachIncident(d, other, uint32(o), x.label, x.cost, l.hops+1)
	}
}

// expand reaches the neighbors of an incident.
func (f *spurSearch) expand(d, other *side, l int32) {
	from := d.labels[l]
	n := f.s.Node(Ord(from.node))
	hops := from.hops + 1
	for e, v := range edgeVocabularies {
		if f.q.Via.has(EdgeKind(e)) {
			for _, t := range n.Terms(v) {
				f.reachHub(d, other, f.terms+uint32(t), l, from.cost, hops)
			}
		}
	}
	if f.q.Via.has(OrgEdge) && n.Org != NoOrg {
		f.reachHub(d, other, f.orgs+uint32(n.Org), l, from.cost, hops)
	}
	cost, in := from.cost+fixedOne, f.s.in(n.Ord)
	if f.q.Via.has(RecurrenceEdge) {
		if p := f.s.RecurrenceOf(n); p != nil {
			f.reachIncident(d, other, uint32(p.Ord), l, cost, hops)
		}
		for _, o := range in.recurrences() {
			f.reachIncident(d, other, uint32(o), l, cost, hops)
		}
	}
	if f.q.Via.has(RelatedEdge) {
		for _, o := range n.related {
			if f.s.Node(o) != nil {
				f.reachIncident(d, other, uint32(o), l, cost, hops)
			}
		}
		for _, o := range in.related() {
			f.reachIncident(d, other, uint32(o), l, cost, hops)
		}
	}
}

// closed tells whether an edge may not be taken: back to where the way comes
// from, to a banned node, or as the first one of a route to a used node.
func (f *spurSearch) closed(d *side, parent int32, node uint32) bool {
	from := &d.labels[parent]
	if from.parent >= 0 && d.labels[from.parent].node == node || slices.Contains(f.banned, node) {
		return true
	}
	if d.forward {
		return from.node == f.from && slices.Contains(f.used, node)
	}
	return node == f.from && slices.Contains(f.used, from.node)
}

// reachIncident comes to an incident.
func (f *spurSearch) reachIncident(d, other *side, node uint32, parent int32, cost fixed, hops int32) {
	meets := other.first(node)
	// Where the sum of what both sides have come to is more than the bound,
	// whatever goes on from here is, too.
	goesOn := cost+f.reached(other) <= f.bound
	if meets < 0 && !goesOn || f.closed(d, parent, node) || f.covered(d, node, parent, cost, hops) {
		return
	}
	l := d.add(label{node: node, parent: parent, next: -1, cost: cost, hops: hops})
	for ; meets >= 0; meets = other.labels[meets].next {
		f.meet(d, other, l, meets)
	}
	if goesOn {
		d.push(queued{cost, l})
	}
}

// reachHub comes to a term or an org from an incident at cost.
func (f *spurSearch) reachHub(d, other *side, node uint32, parent int32, cost fixed, hops int32) {
	half := f.half[node-f.terms]
	if cost+2*half > f.bound && node != f.from && node != f.to {
		return // to leave it again costs as much as to enter it
	}
	cost += half
	if cost > f.bound || f.closed(d, parent, node) || f.covered(d, node, parent, cost, hops) {
		return
	}
	l := d.add(label{node: node, parent: parent, next: -1, cost: cost, hops: hops})
	d.keep(l)
	for m := other.first(node); m >= 0; m = other.labels[m].next {
		f.meet(d, other, l, m)
	}
	if cost+half+f.reached(other) <= f.bound {
		d.push(queued{cost + half, l})
	}
}

// reached gives the cost that a side has come to.
func (f *spurSearch) reached(d *side) fixed {
	if len(d.queue) == 0 {
		return 0
	}
	return d.least()
}

// meet keeps the meeting of a label of side d with one of the other side if it
// is as good as the best so far.
func (f *spurSearch) meet(d, other *side, l, o int32) {
	cost, hops := d.labels[l].cost+other.labels[o].cost, d.labels[l].hops+other.labels[o].hops
	if int(hops) > f.maxHops || cost > f.bound || cost == f.bound && len(f.met) > 0 && hops > f.hops {
		return
	}
	m := meeting{l, o}
	if !d.forward {
		m = meeting{o, l}
	}
	if _, ok := f.route(m); !ok {
		return
	}
	if len(f.met) == 0 || cmp.Or(cmp.Compare(cost, f.bound), cmp.Compare(hops, f.hops)) < 0 {
		f.met, f.hops, f.bound = f.met[:0], hops, cost
	}
	f.met = append(f.met, m)
}
