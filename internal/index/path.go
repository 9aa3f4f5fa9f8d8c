package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
)

// PathQuery asks for paths.
type PathQuery struct {
	From, To NodeRef
	Via      EdgeKinds
	// MaxHops bounds the edges of one path, First the number of paths.
	MaxHops, First int
	// MaxVisited bounds the work: how often all searches together come to a
	// node.
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

// Paths finds the cheapest loopless paths between two nodes (Yen 1971, with
// Lawler's 1972 way of not searching twice), with at most MaxHops edges.
// Entering a term or an org costs log2(1 + its incidents), so that what
// everything has connects little; a link between incidents costs 1; going from
// a term or an org to an incident costs nothing. Paths go by cost, then fewer
// hops, then by the names of their nodes. From and To must be different
// existing nodes.
func (s *Snapshot) Paths(ctx context.Context, q PathQuery) (PathResult, error) {
	p := &pathSearch{ctx: ctx, s: s, q: q, pathSpace: s.pathSpace()}
	p.pathMemory = p.pool.Get().(*pathMemory)
	defer p.pool.Put(p.pathMemory)
	found, err := p.yen()
	if err != nil {
		return PathResult{}, err
	}
	result := PathResult{Visited: p.visited, Complete: !p.exhausted}
	for _, f := range found {
		result.Paths = append(result.Paths, p.path(f))
	}
	return result, nil
}

// fixed is a cost in units of 2^-33, so that halves are exact and sums do not
// depend on their order.
type fixed int64

const (
	fixedOne = 1 << 33
	// boundless is more than any path costs.
	boundless = fixed(math.MaxInt64 / 4)
)

// pathSpace numbers all nodes of a snapshot for path searches: incidents by
// their Ord, behind them the terms, then the orgs.
//
// The cost of a term or an org is split in half over the edges into and out of
// it, which makes the graph symmetric and changes the cost of all paths
// between two given nodes by the same constant.
type pathSpace struct {
	terms, orgs, size uint32
	half              []fixed // of terms and orgs
	pool              sync.Pool
}

type pathSpaceKey struct{}

func (s *Snapshot) pathSpace() *pathSpace {
	return memoized(s, pathSpaceKey{}, func() *pathSpace {
		x := &pathSpace{terms: uint32(s.nodes.len())}
		x.orgs = x.terms + s.termCount
		x.size = x.orgs + s.orgCount
		x.half = make([]fixed, x.size-x.terms)
		for i := range x.half {
			n := float64(s.Degree(x.ref(x.terms + uint32(i))))
			x.half[i] = fixed(math.Round(math.Log2(1+n) * (fixedOne / 2)))
		}
		x.pool.New = func() any { return newPathMemory(x.size) }
		return x
	})
}

// number gives a node's number.
func (x *pathSpace) number(n NodeRef) uint32 {
	switch n.Kind {
	case TermNode:
		return x.terms + n.N
	case OrgNode:
		return x.orgs + n.N
	}
	return n.N
}

// ref gives the node with a number.
func (x *pathSpace) ref(n uint32) NodeRef {
	switch {
	case n >= x.orgs:
		return NodeRef{OrgNode, n - x.orgs}
	case n >= x.terms:
		return NodeRef{TermNode, n - x.terms}
	}
	return NodeRef{IncidentNode, n}
}

// edge gives the symmetric weight of the edge between two nodes.
func (x *pathSpace) edge(a, b uint32) fixed {
	switch {
	case a >= x.terms:
		return x.half[a-x.terms]
	case b >= x.terms:
		return x.half[b-x.terms]
	}
	return fixedOne
}

// route is a path while searching.
type route struct {
	nodes []uint32
	cost  fixed
	// spur is where the route leaves the one that it was found from.
	spur int
}

// pathSearch is one call of Paths.
type pathSearch struct {
	ctx context.Context //nolint:containedctx // lives as long as the call
	s   *Snapshot
	q   PathQuery
	*pathSpace
	*pathMemory
	visited   int
	exhausted bool
}

// yen finds the cheapest routes: each further one leaves some found one at a
// spur node and is the cheapest that does so by an edge not yet used there.
func (p *pathSearch) yen() ([]route, error) {
	best, err := p.cheapest(spurQuery{from: p.number(p.q.From), maxHops: p.q.MaxHops, bound: boundless})
	if err != nil || best == nil {
		return nil, err
	}
	found := []route{*best}
	var candidates []route // sorted; no more than are still wanted
	for len(found) < p.q.First {
		if !p.exhausted {
			if candidates, err = p.spurs(found, candidates); err != nil {
				return nil, err
			}
		}
		if len(candidates) == 0 {
			break
		}
		found = append(found, candidates[0])
		candidates = candidates[1:]
	}
	return found, nil
}

// spurs adds the candidates that leave the last of the found routes.
func (p *pathSearch) spurs(found, candidates []route) ([]route, error) {
	wanted := p.q.First - len(found)
	last := found[len(found)-1]
	var root fixed
	for i := 0; i+1 < len(last.nodes) && !p.exhausted; i++ {
		if i > 0 {
			root += p.edge(last.nodes[i-1], last.nodes[i])
		}
		if i < last.spur {
			continue // searched for the route that this one left
		}
		q := spurQuery{from: last.nodes[i], maxHops: p.q.MaxHops - i, banned: last.nodes[:i], bound: boundless}
		for _, f := range found {
			if len(f.nodes) > i+1 && slices.Equal(f.nodes[:i+1], last.nodes[:i+1]) {
				q.used = append(q.used, f.nodes[i+1])
			}
		}
		if len(candidates) == wanted {
			q.bound = candidates[wanted-1].cost - root
		}
		spur, err := p.cheapest(q)
		if err != nil {
			return nil, err
		}
		if spur == nil {
			continue
		}
		c := route{append(slices.Clone(last.nodes[:i]), spur.nodes...), root + spur.cost, i}
		at, _ := slices.BinarySearchFunc(candidates, c, p.compare)
		candidates = slices.Insert(candidates, at, c)
		candidates = candidates[:min(len(candidates), wanted)]
	}
	return candidates, nil
}

// compare orders routes by cost, then fewer hops, then the names of the nodes.
func (p *pathSearch) compare(a, b route) int {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.nodes), len(b.nodes)), p.compareNodes(a.nodes, b.nodes))
}

// compareNodes orders lists of equal length by the names of their nodes.
func (p *pathSearch) compareNodes(a, b []uint32) int {
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if a[i] < p.terms && b[i] < p.terms {
			return strings.Compare(p.s.CaseID(Ord(a[i])), p.s.CaseID(Ord(b[i])))
		}
		return strings.Compare(p.s.nodeKey(p.ref(a[i])), p.s.nodeKey(p.ref(b[i])))
	}
	return 0
}

// path turns a route into steps with the costs that the contract names.
func (p *pathSearch) path(r route) Path {
	var out Path
	for i := 1; i < len(r.nodes); i++ {
		from, to := p.ref(r.nodes[i-1]), p.ref(r.nodes[i])
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
