package index

import (
	"cmp"
	"context"
	"slices"
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
	// MaxNodes bounds the nodes given, MaxVisited the nodes looked at.
	MaxNodes, MaxVisited int
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
// them. Omitted counts the nodes that were reached and left out; where the
// search itself was stopped by MaxVisited it is a lower bound.
type Subgraph struct {
	Nodes     []SubgraphNode
	Edges     []SubgraphEdge
	Truncated bool
	Omitted   int
}

// Subgraph searches breadth-first from the roots.
func (s *Snapshot) Subgraph(ctx context.Context, q SubgraphQuery) (Subgraph, error) {
	var out Subgraph
	hop := map[NodeRef]int{}
	var frontier []NodeRef
	for _, r := range q.Roots {
		if _, ok := hop[r]; !ok {
			hop[r] = 0
			frontier = append(frontier, r)
		}
	}
	// add takes a level in, as far as there is room. What lies behind the nodes
	// left out is not looked for: Omitted counts what was reached.
	add := func(level []SubgraphNode) {
		if room := q.MaxNodes - len(out.Nodes); len(level) > room {
			out.Truncated = true
			out.Omitted = len(level) - room
			level = level[:room]
		}
		out.Nodes = append(out.Nodes, level...)
	}
	add(s.level(frontier, 0))
	looked := 0
	for h := 1; h <= q.Hops && len(frontier) > 0 && !out.Truncated; h++ {
		var next []NodeRef
	level:
		for _, from := range frontier {
			for n := range s.Neighbors(from, q.Via) {
				if looked++; looked%checkEvery == 0 && ctx.Err() != nil {
					return Subgraph{}, ctx.Err()
				}
				if looked > q.MaxVisited {
					out.Truncated = true
					break level
				}
				if _, ok := hop[n.Node]; ok {
					continue
				}
				if n.Node.Kind == IncidentNode && q.Within != nil && !q.Within.Has(Ord(n.Node.N)) {
					continue
				}
				hop[n.Node] = h
				next = append(next, n.Node)
			}
		}
		add(s.level(next, h))
		frontier = next
	}
	var err error
	out.Edges, err = s.edgesAmong(ctx, out.Nodes, q.Via)
	return out, err
}

// checkEvery is how many nodes a walk looks at between two looks at its
// context.
const checkEvery = 1 << 12

// level puts the nodes of one distance in order.
func (s *Snapshot) level(nodes []NodeRef, hop int) []SubgraphNode {
	type keyed struct {
		SubgraphNode
		key string
	}
	list := make([]keyed, len(nodes))
	for i, n := range nodes {
		list[i] = keyed{SubgraphNode{Node: n, Degree: s.Degree(n), Hop: hop}, s.nodeKey(n)}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(b.Degree, a.Degree), cmp.Compare(a.key, b.key))
	})
	out := make([]SubgraphNode, len(list))
	for i, n := range list {
		out[i] = n.SubgraphNode
	}
	return out
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
