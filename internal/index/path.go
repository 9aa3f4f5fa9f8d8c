package index

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"incidentgraph/internal/incident"
)

// NodeKind says what a node of the graph is.
type NodeKind uint8

// The kinds of node.
const (
	IncidentNode NodeKind = iota
	TermNode
	OrgNode
)

// NodeRef names one node of the graph: an incident, a term or an org, by its
// number.
type NodeRef struct {
	Kind NodeKind
	N    uint32
}

// EdgeKind is a kind of connection between two nodes.
type EdgeKind uint8

// The kinds of connection. The first five lead between an incident and a term.
const (
	FactorEdge EdgeKind = iota
	ComponentEdge
	SymptomEdge
	RootCauseEdge
	DomainEdge
	OrgEdge
	RelatedEdge
	RecurrenceEdge
	edgeKindCount
)

// EdgeKinds is a set of kinds of connection; the zero set stands for all.
type EdgeKinds uint16

// EdgeKindsOf makes a set.
func EdgeKindsOf(kinds ...EdgeKind) EdgeKinds {
	var s EdgeKinds
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// has tells whether k is in the set.
func (s EdgeKinds) has(k EdgeKind) bool { return s == 0 || s&(1<<k) != 0 }

// edgeVocabularies gives the vocabularies that are edges, in EdgeKind order.
var edgeVocabularies = [...]incident.Vocabulary{
	incident.ContributingFactor, incident.Component, incident.Symptom, incident.RootCause, incident.Domain,
}

// termEdge gives the kind of edge that leads to a term of the vocabulary.
func termEdge(v incident.Vocabulary) (EdgeKind, bool) {
	i := slices.Index(edgeVocabularies[:], v)
	return EdgeKind(max(i, 0)), i >= 0 //nolint:gosec // an index below 5
}

// Neighbor is a node that an edge leads to.
type Neighbor struct {
	Node NodeRef
	Edge EdgeKind
}

// Neighbors yields what n is connected to by edges of the kinds, each neighbor
// once: where two incidents are joined by both kinds of link, as a recurrence.
func (s *Snapshot) Neighbors(n NodeRef, via EdgeKinds) iter.Seq[Neighbor] {
	return func(yield func(Neighbor) bool) {
		switch n.Kind {
		case TermNode:
			e, ok := termEdge(s.Term(TermID(n.N)).Vocabulary)
			if ok && via.has(e) {
				yieldIncidents(s.Postings(TermID(n.N)), e, yield)
			}
		case OrgNode:
			if via.has(OrgEdge) {
				yieldIncidents(s.OrgIncidents(OrgID(n.N)), OrgEdge, yield)
			}
		case IncidentNode:
			if node := s.Node(Ord(n.N)); node != nil {
				s.incidentNeighbors(node, via, yield)
			}
		}
	}
}

func yieldIncidents(set Set, e EdgeKind, yield func(Neighbor) bool) {
	for o := range set.All() {
		if !yield(Neighbor{NodeRef{IncidentNode, uint32(o)}, e}) {
			return
		}
	}
}

func (s *Snapshot) incidentNeighbors(n *Node, via EdgeKinds, yield func(Neighbor) bool) {
	for e, v := range edgeVocabularies {
		if !via.has(EdgeKind(e)) { //nolint:gosec // an index below 5
			continue
		}
		for _, t := range n.Terms(v) {
			if !yield(Neighbor{NodeRef{TermNode, uint32(t)}, EdgeKind(e)}) { //nolint:gosec // as above
				return
			}
		}
	}
	if via.has(OrgEdge) && n.Org != NoOrg {
		if !yield(Neighbor{NodeRef{OrgNode, uint32(n.Org)}, OrgEdge}) {
			return
		}
	}
	var repeated []Ord
	if via.has(RecurrenceEdge) {
		if p := s.RecurrenceOf(n); p != nil {
			repeated = append(repeated, p.Ord)
		}
		for o := range s.Recurrences(n).All() {
			repeated = append(repeated, o)
		}
		for _, o := range repeated {
			if !yield(Neighbor{NodeRef{IncidentNode, uint32(o)}, RecurrenceEdge}) {
				return
			}
		}
	}
	if via.has(RelatedEdge) {
		for _, r := range s.Related(n) {
			if !slices.Contains(repeated, r.Ord) && !yield(Neighbor{NodeRef{IncidentNode, uint32(r.Ord)}, RelatedEdge}) {
				return
			}
		}
	}
}

// Degree gives the number of a node's neighbors by edges of any kind.
func (s *Snapshot) Degree(n NodeRef) int {
	switch n.Kind {
	case TermNode:
		if _, ok := termEdge(s.Term(TermID(n.N)).Vocabulary); !ok {
			return 0
		}
		return s.Postings(TermID(n.N)).Len()
	case OrgNode:
		return s.OrgIncidents(OrgID(n.N)).Len()
	}
	d := 0
	for range s.Neighbors(n, 0) {
		d++
	}
	return d
}

// nodeKey gives a name that orders nodes by what they are, not by when they
// arrived.
func (s *Snapshot) nodeKey(n NodeRef) string {
	switch n.Kind {
	case TermNode:
		t := s.Term(TermID(n.N))
		return fmt.Sprintf("1%d/%s", t.Vocabulary, t.Slug)
	case OrgNode:
		return "2" + s.Org(OrgID(n.N)).Slug
	}
	return "0" + s.CaseID(Ord(n.N))
}

// PathQuery asks for paths.
type PathQuery struct {
	From, To NodeRef
	Via      EdgeKinds
	// MaxHops bounds the edges of one path, First the number of paths.
	MaxHops, First int
	// MaxVisited bounds the work: the labels settled by all searches together.
	MaxVisited int
}

// PathStep is one edge of a path. Cost is what entering To costs.
type PathStep struct {
	From, To NodeRef
	Edge     EdgeKind
	Cost     float64
}

// Path is a loopless path.
type Path struct {
	Steps []PathStep
	Cost  float64
}

// PathResult is the answer. Complete is false where MaxVisited stopped the
// search: then cheaper paths may exist, or paths at all.
type PathResult struct {
	Paths    []Path
	Complete bool
	Visited  int
}

// Paths finds the cheapest loopless paths between two nodes (Yen 1971), with
// at most MaxHops edges. Entering a term or an org costs log2(1 + its
// incidents), so that what everything has connects little; a link between
// incidents costs 1; going from a term or an org to an incident costs nothing.
// Paths go by cost, then fewer hops, then by the names of their nodes. From
// and To must be different existing nodes.
//
// Each single search runs from both ends at once. For that the cost of a term
// is split in half over the edges into and out of it, which makes the graph
// symmetric and changes the cost of all paths between two given nodes by the
// same constant.
func (s *Snapshot) Paths(ctx context.Context, q PathQuery) (PathResult, error) {
	p := &pathSearch{ctx: ctx, s: s, q: q, costs: map[NodeRef]fixed{}}
	result := PathResult{}
	found, err := p.yen()
	if err != nil {
		return PathResult{}, err
	}
	result.Visited, result.Complete = p.visited, !p.exhausted
	for _, f := range found {
		result.Paths = append(result.Paths, p.path(f))
	}
	return result, nil
}

// fixed is a cost in units of 2^-33, so that halves are exact and sums do not
// depend on their order.
type fixed int64

const fixedOne = 1 << 33

// route is a path while searching.
type route struct {
	nodes []NodeRef
	cost  fixed
}

type pathSearch struct {
	ctx       context.Context
	s         *Snapshot
	q         PathQuery
	costs     map[NodeRef]fixed
	visited   int
	exhausted bool
}

// half gives half of the cost of entering a term or an org.
func (p *pathSearch) half(n NodeRef) fixed {
	if n.Kind == IncidentNode {
		return 0
	}
	c, ok := p.costs[n]
	if !ok {
		c = fixed(math.Round(math.Log2(1+float64(p.s.Degree(n))) * (fixedOne / 2)))
		p.costs[n] = c
	}
	return c
}

// edge gives the symmetric weight of the edge between two nodes.
func (p *pathSearch) edge(a, b NodeRef) fixed {
	if a.Kind == IncidentNode && b.Kind == IncidentNode {
		return fixedOne
	}
	return p.half(a) + p.half(b)
}

// path turns a route into steps with the costs that the contract names.
func (p *pathSearch) path(r route) Path {
	var out Path
	for i := 1; i < len(r.nodes); i++ {
		from, to := r.nodes[i-1], r.nodes[i]
		step := PathStep{From: from, To: to, Edge: p.kind(from, to)}
		switch {
		case to.Kind != IncidentNode:
			step.Cost = math.Log2(1 + float64(p.s.Degree(to)))
		case from.Kind == IncidentNode:
			step.Cost = 1
		}
		out.Cost += step.Cost
		out.Steps = append(out.Steps, step)
	}
	return out
}

// kind gives the kind of the edge between two neighbors. It is looked for from
// an incident's side, whose neighbors are few.
func (p *pathSearch) kind(a, b NodeRef) EdgeKind {
	if a.Kind != IncidentNode {
		a, b = b, a
	}
	for n := range p.s.Neighbors(a, p.q.Via) {
		if n.Node == b {
			return n.Edge
		}
	}
	return edgeKindCount
}

// compare orders routes by cost, then fewer hops, then the names of the nodes.
func (p *pathSearch) compare(a, b route) int {
	if c := cmp.Compare(a.cost, b.cost); c != 0 {
		return c
	}
	if c := cmp.Compare(len(a.nodes), len(b.nodes)); c != 0 {
		return c
	}
	return p.compareNodes(a.nodes, b.nodes)
}

func (p *pathSearch) compareNodes(a, b []NodeRef) int {
	for i := range a {
		if a[i] != b[i] {
			return cmp.Compare(p.s.nodeKey(a[i]), p.s.nodeKey(b[i]))
		}
	}
	return 0
}

// yen finds the cheapest routes: each further one leaves some found one at a
// spur node and is the cheapest that does so by an edge not yet used there.
func (p *pathSearch) yen() ([]route, error) {
	best, err := p.cheapest(p.q.From, p.q.MaxHops, nil, nil)
	if err != nil || best == nil {
		return nil, err
	}
	found := []route{*best}
	var candidates []route
	for len(found) < p.q.First && !p.exhausted {
		last := found[len(found)-1]
		var root fixed
		for i := 0; i+1 < len(last.nodes); i++ {
			prefix := last.nodes[:i+1]
			if i > 0 {
				root += p.edge(last.nodes[i-1], last.nodes[i])
			}
			banned := map[NodeRef]bool{}
			for _, n := range prefix[:i] {
				banned[n] = true
			}
			used := map[NodeRef]bool{}
			for _, f := range found {
				if len(f.nodes) > i+1 && slices.Equal(f.nodes[:i+1], prefix) {
					used[f.nodes[i+1]] = true
				}
			}
			spur, err := p.cheapest(prefix[i], p.q.MaxHops-i, banned, used)
			if err != nil {
				return nil, err
			}
			if spur == nil {
				continue
			}
			c := route{append(slices.Clone(prefix[:i]), spur.nodes...), root + spur.cost}
			if !slices.ContainsFunc(candidates, func(o route) bool { return slices.Equal(o.nodes, c.nodes) }) {
				candidates = append(candidates, c)
			}
		}
		if len(candidates) == 0 {
			break
		}
		slices.SortFunc(candidates, p.compare)
		found = append(found, candidates[0])
		candidates = candidates[1:]
	}
	return found, nil
}

// label is a route from one end to a node. Labels of one search side form
// trees through their parents.
type label struct {
	node   NodeRef
	parent *label
	cost   fixed
	hops   int
	// fan: the label's node has been settled, and its neighbors, which all
	// cost the same, are still to be reached at this cost. Waiting with them
	// keeps the incidents of a term that everything has out of the queue.
	fan bool
}

// nodes gives the nodes from the label's node back to its end.
func (l *label) nodes() []NodeRef {
	var out []NodeRef
	for ; l != nil; l = l.parent {
		out = append(out, l.node)
	}
	return out
}

// side is one end of a search. It settles the labels of a node from the
// cheapest on, and reaches further nodes from each.
type side struct {
	p       *pathSearch
	forward bool
	queue   []*label
	settled map[NodeRef][]*label
	// reached holds all labels of terms and orgs, settled or not: their
	// neighbors are reached late (see label.fan), so the other side looks
	// here as well.
	reached map[NodeRef][]*label
}

func newSide(p *pathSearch, at NodeRef, forward bool) *side {
	d := &side{p: p, forward: forward, settled: map[NodeRef][]*label{}, reached: map[NodeRef][]*label{}}
	d.reach(&label{node: at})
	return d
}

// reach puts a label in the queue.
func (d *side) reach(l *label) {
	if l.node.Kind != IncidentNode && !l.fan {
		d.reached[l.node] = append(d.reached[l.node], l)
	}
	heap.Push(d, l)
}

func (d *side) Len() int      { return len(d.queue) }
func (d *side) Swap(i, j int) { d.queue[i], d.queue[j] = d.queue[j], d.queue[i] }
func (d *side) Push(x any)    { d.queue = append(d.queue, x.(*label)) }
func (d *side) Less(i, j int) bool {
	a, b := d.queue[i], d.queue[j]
	return a.cost < b.cost || a.cost == b.cost && a.hops < b.hops
}
func (d *side) Pop() any {
	last := d.queue[len(d.queue)-1]
	d.queue = d.queue[:len(d.queue)-1]
	return last
}

// settle takes a label unless another of its node is at least as good in cost
// and hops, and tells whether it is to be extended. Among equal ones that with
// the smaller names stays: then the settled label takes over the new one's
// way, for itself and for what was reached through it. Labels with equal cost
// come out of the queue in a row, before any label that extends one of them.
func (d *side) settle(l *label) bool {
	for _, o := range d.settled[l.node] {
		if o.hops > l.hops || o.hops == l.hops && o.cost > l.cost {
			continue
		}
		if o.hops == l.hops && o.cost == l.cost && d.smaller(l, o) {
			o.parent = l.parent
		}
		return false
	}
	d.settled[l.node] = append(d.settled[l.node], l)
	return true
}

// smaller tells whether a's way comes before b's, both of equal length, read
// in the direction of the whole path.
func (d *side) smaller(a, b *label) bool {
	x, y := a.nodes(), b.nodes()
	if d.forward {
		slices.Reverse(x)
		slices.Reverse(y)
	}
	return d.p.compareNodes(x, y) < 0
}

// meeting is two labels of one node, one from each side, that make a route.
type meeting struct{ ahead, back *label }

// route gives the meeting's route, false where it visits a node twice. Such a
// route is never the best: without the loop it costs no more and is shorter.
func (m meeting) route() (route, bool) {
	nodes := m.ahead.nodes()
	slices.Reverse(nodes)
	nodes = append(nodes, m.back.nodes()[1:]...)
	for i, n := range nodes {
		if slices.Contains(nodes[:i], n) {
			return route{}, false
		}
	}
	return route{nodes, m.ahead.cost + m.back.cost}, true
}

// search is one search from both ends.
type search struct {
	*pathSearch
	from         NodeRef
	maxHops      int
	banned, used map[NodeRef]bool
	ahead, back  *side
	// met are the meetings of the lowest cost found so far and, among those,
	// of the fewest hops.
	met  []meeting
	cost fixed
	hops int
}

// cheapest finds the cheapest route from a node to q.To within maxHops that
// enters no banned node and does not begin with an edge to a used one; nil
// where there is none. Every route that costs as little is met before the
// search ends, so that names can decide.
func (p *pathSearch) cheapest(from NodeRef, maxHops int, banned, used map[NodeRef]bool) (*route, error) {
	f := &search{pathSearch: p, from: from, maxHops: maxHops, banned: banned, used: used}
	f.ahead, f.back = newSide(p, from, true), newSide(p, p.q.To, false)
	for f.ahead.Len() > 0 && f.back.Len() > 0 {
		a, b := f.ahead.queue[0].cost, f.back.queue[0].cost
		if len(f.met) > 0 && a+b > f.cost {
			break
		}
		d, other := f.ahead, f.back
		if b < a {
			d, other = other, d
		}
		if err := f.step(d, other); err != nil {
			return nil, err
		}
		if p.exhausted {
			break
		}
	}
	var best *route
	for _, m := range f.met {
		if r, ok := m.route(); ok && (best == nil || p.compare(r, *best) < 0) {
			best = &r
		}
	}
	return best, nil
}

// step takes the next label of a side's queue.
func (f *search) step(d, other *side) error {
	l := heap.Pop(d).(*label)
	if l.fan {
		f.extend(d, other, l)
		return nil
	}
	if !d.settle(l) {
		return nil
	}
	if f.visited++; f.visited%256 == 0 && f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	if f.visited > f.q.MaxVisited {
		f.exhausted = true
		return nil
	}
	if l.node.Kind == IncidentNode {
		f.extend(d, other, l)
		return nil
	}
	for _, o := range other.reached[l.node] {
		f.meet(d, l, o)
	}
	if l.hops < f.maxHops {
		d.reach(&label{node: l.node, parent: l, cost: l.cost + f.half(l.node), hops: l.hops, fan: true})
	}
	return nil
}

// extend reaches the neighbors of a settled incident, or of a fan.
func (f *search) extend(d, other *side, l *label) {
	if l.hops >= f.maxHops {
		return
	}
	parent := l
	if l.fan {
		parent = l.parent
	}
	for n := range f.s.Neighbors(l.node, f.q.Via) {
		switch {
		case f.banned[n.Node],
			d.forward && l.node == f.from && f.used[n.Node],
			!d.forward && n.Node == f.from && f.used[l.node],
			parent.parent != nil && parent.parent.node == n.Node:
			continue
		}
		next := &label{node: n.Node, parent: parent, cost: parent.cost + f.edge(l.node, n.Node), hops: parent.hops + 1}
		for _, o := range other.settled[n.Node] {
			f.meet(d, next, o)
		}
		d.reach(next)
	}
}

// meet keeps the meeting of a label of side d with one of the other side if it
// is as good as the best so far.
func (f *search) meet(d *side, l, o *label) {
	cost, hops := l.cost+o.cost, l.hops+o.hops
	if hops > f.maxHops {
		return
	}
	if len(f.met) > 0 && (cost > f.cost || cost == f.cost && hops > f.hops) {
		return
	}
	m := meeting{l, o}
	if !d.forward {
		m = meeting{o, l}
	}
	if _, ok := m.route(); !ok {
		return
	}
	if len(f.met) == 0 || cost < f.cost || hops < f.hops {
		f.met, f.cost, f.hops = f.met[:0], cost, hops
	}
	f.met = append(f.met, m)
}
