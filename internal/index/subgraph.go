package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// SubgraphQuery asks for the neighborhood of some nodes.
type SubgraphQuery struct {
	Roots []NodeRef
	// Hops bounds the distance from the nearest root.
	Hops int
	Via  EdgeKinds
	// Within restricts the incidents that are entered (roots are always in);
	// nil does not.
	Within *Set
	// MaxNodes bounds the nodes given, and by that the work: nothing is looked
	// for behind nodes that are left out.
	MaxNodes int
}

// SubgraphNode is a node of a subgraph.
type SubgraphNode struct {
	Node NodeRef
	// Degree is the number of its neighbors in the whole graph by edges of
	// any kind; Hop its distance from the nearest root.
	Degree, Hop int
}

// SubgraphEdge joins two nodes of a subgraph. An edge to a term or an org
// leads from the incident; a recurrence from the later case to the one that it
// repeats; a related link from the smaller case id.
type SubgraphEdge struct {
	Source, Target NodeRef
	Edge           EdgeKind
}

// Subgraph is a part of the graph: nodes nearest first, then those with the
// most neighbors, then by name; and all edges of the kinds asked for among
// them. Omitted counts the nodes as far from the roots as the last one that
// were left out.
type Subgraph struct {
	Nodes     []SubgraphNode
	Edges     []SubgraphEdge
	Truncated bool
	Omitted   int
}

// Subgraph searches breadth-first from the roots.
func (s *Snapshot) Subgraph(ctx context.Context, q SubgraphQuery) (Subgraph, error) {
	f := frontier{s: s, via: q.Via, within: q.Within, seenHubs: make(map[NodeRef]bool)}
	f.begin(q.Roots)
	var out Subgraph
	for h := 0; ; h++ {
		if err := ctx.Err(); err != nil {
			return Subgraph{}, err
		}
		room := q.MaxNodes - len(out.Nodes)
		found := f.incidents.Len() + len(f.hubs)
		level := f.level(h, room)
		out.Nodes = append(out.Nodes, level...)
		if found > room {
			out.Truncated, out.Omitted = true, found-room
			break
		}
		if found == 0 || h == q.Hops {
			break
		}
		f.advance()
	}
	var err error
	out.Edges, err = s.edgesAmong(ctx, out.Nodes, q.Via)
	return out, err
}

// frontier is the nodes of one distance from the roots. Incidents are a set:
// those of a common term are many, and uniting sets costs little.
type frontier struct {
	s      *Snapshot
	via    EdgeKinds
	within *Set

	incidents Set
	hubs      []NodeRef // terms and orgs
	seen      Set       // incidents of this distance and before
	seenHubs  map[NodeRef]bool
}

func (f *frontier) begin(roots []NodeRef) {
	var ords []Ord
	for _, r := range roots {
		if r.Kind == IncidentNode {
			ords = append(ords, Ord(r.N))
			continue
		}
		f.addHub(r)
	}
	f.incidents = SetOf(ords...)
	f.seen = f.incidents
}

func (f *frontier) addHub(n NodeRef) {
	if !f.seenHubs[n] {
		f.seenHubs[n] = true
		f.hubs = append(f.hubs, n)
	}
}

// advance goes one step further. There is a bounded number of nodes in the
// frontier, or it would have been the last.
func (f *frontier) advance() {
	var sets []Set
	for _, n := range f.hubs {
		sets = append(sets, f.s.neighborsOfHub(n, f.via))
	}
	f.hubs = nil
	var linked []Ord
	for o := range f.incidents.All() {
		for n := range f.s.Neighbors(NodeRef{IncidentNode, uint32(o)}, f.via) {
			if n.Node.Kind == IncidentNode {
				linked = append(linked, Ord(n.Node.N))
			} else {
				f.addHub(n.Node)
			}
		}
	}
	f.incidents = Union(append(sets, SetOf(linked...))...).AndNot(f.seen)
	if f.within != nil {
		f.incidents = f.incidents.And(*f.within)
	}
	f.seen = f.seen.Or(f.incidents)
}

// neighborsOfHub gives the incidents that a term or an org has.
func (s *Snapshot) neighborsOfHub(n NodeRef, via EdgeKinds) Set {
	if n.Kind == OrgNode {
		if via.has(OrgEdge) {
			return s.OrgIncidents(OrgID(n.N))
		}
		return Set{}
	}
	if e, ok := termEdge(s.Term(TermID(n.N)).Vocabulary); ok && via.has(e) {
		return s.Postings(TermID(n.N))
	}
	return Set{}
}

// level gives the first nodes of the frontier in order.
func (f *frontier) level(hop, most int) []SubgraphNode {
	type keyed struct {
		SubgraphNode
		key string
	}
	var list []keyed
	add := func(n NodeRef, degree int) {
		list = append(list, keyed{SubgraphNode{Node: n, Degree: degree, Hop: hop}, f.s.nodeKey(n)})
	}
	degrees := f.s.incidentDegrees()
	for _, o := range f.mostConnected(degrees, most) {
		add(NodeRef{IncidentNode, uint32(o)}, int(degrees.at(uint32(o))))
	}
	for _, n := range f.hubs {
		add(n, f.s.Degree(n))
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(b.Degree, a.Degree), cmp.Compare(a.key, b.key))
	})
	nodes := make([]SubgraphNode, min(len(list), most))
	for i := range nodes {
		nodes[i] = list[i].SubgraphNode
	}
	return nodes
}

// mostConnected gives the incidents of the frontier that come first, in no
// order, all where they are few.
func (f *frontier) mostConnected(degrees *degrees, most int) []Ord {
	switch {
	case f.incidents.Len() <= most:
		return f.incidents.AppendTo(nil)
	case most <= 0:
		return nil
	}
	byID := f.s.singleOrder(Order{Field: ByCaseID})
	// The number to sort by is the degree, falling, then roughly the place by
	// case id: that of the part which the id is in.
	type rated struct {
		rate uint64
		ord  Ord
	}
	compare := func(a, b rated) int {
		return cmp.Or(cmp.Compare(a.rate, b.rate), strings.Compare(f.s.CaseID(a.ord), f.s.CaseID(b.ord)))
	}
	kept, full := make([]rated, 0, 2*most), false
	for o := range f.incidents.All() {
		x := rated{uint64(^degrees.at(uint32(o)))<<32 | uint64(byID.partOf(o)), o}
		if full && compare(x, kept[most-1]) >= 0 {
			continue
		}
		if kept = append(kept, x); len(kept) == 2*most {
			slices.SortFunc(kept, compare)
			kept, full = kept[:most], true
		}
	}
	slices.SortFunc(kept, compare)
	ords := make([]Ord, most)
	for i, x := range kept[:most] {
		ords[i] = x.ord
	}
	return ords
}

type degreesKey struct{}

// incidentDegrees gives the number of each incident's neighbors, by Ord.
func (s *Snapshot) incidentDegrees() *degrees {
	return s.Inherited(degreesKey{},
		func() any {
			d := editor[uint32]{}
			for o := range s.all.All() {
				d.set(uint32(o), uint32(s.incidentDegree(s.Node(o))))
			}
			return &degrees{vector: d.vector}
		},
		func(old any, changed []Ord) any {
			from := old.(*degrees)
			d := from.edit(from.batch + 1)
			for _, o := range changed {
				if n := s.Node(o); n != nil {
					d.set(uint32(o), uint32(s.incidentDegree(n)))
				}
			}
			return &degrees{d.vector, from.batch + 1}
		}).(*degrees)
}

// degrees holds degrees by Ord; batch is the owner of its newest chunks.
type degrees struct {
	vector[uint32]
	batch uint64
}

// incidentDegree counts an incident's neighbors.
func (s *Snapshot) incidentDegree(n *Node) int {
	d := 0
	for _, v := range edgeVocabularies {
		d += len(n.Terms(v))
	}
	if n.Org != NoOrg {
		d++
	}
	if s.RecurrenceOf(n) == nil && len(s.in(n.Ord).recurrences()) == 0 {
		return d + s.RelatedCount(n)
	}
	return d + s.Linked(n).Len() // for a case may be linked in two ways
}

// edgesAmong gives the edges among nodes in the order of their sources, each
// source's by kind and then by the place of the target. Every edge has an
// incident at one end, so looking from the incidents finds all.
func (s *Snapshot) edgesAmong(ctx context.Context, nodes []SubgraphNode, via EdgeKinds) ([]SubgraphEdge, error) {
	place := make(map[NodeRef]int, len(nodes))
	for i, n := range nodes {
		place[n.Node] = i
	}
	var edges []SubgraphEdge
	for _, n := range nodes {
		if n.Node.Kind != IncidentNode {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		node := s.Node(Ord(n.Node.N))
		for m := range s.Neighbors(n.Node, via) {
			if _, ok := place[m.Node]; !ok {
				continue
			}
			e := SubgraphEdge{Source: n.Node, Target: m.Node, Edge: m.Edge}
			switch m.Edge {
			case RecurrenceEdge:
				if p := s.RecurrenceOf(node); p == nil || uint32(p.Ord) != m.Node.N {
					continue // found from its other end
				}
			case RelatedEdge:
				if s.CaseID(Ord(m.Node.N)) < node.ID {
					continue
				}
			}
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b SubgraphEdge) int {
		return cmp.Or(
			cmp.Compare(place[a.Source], place[b.Source]),
			cmp.Compare(a.Edge, b.Edge),
			cmp.Compare(place[a.Target], place[b.Target]))
	})
	return edges, nil
}
