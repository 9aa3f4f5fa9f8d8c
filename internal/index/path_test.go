package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"incidentgraph/internal/incident"
)

// randomLinked gives a snapshot of n incidents over small vocabularies, so that
// paths are many and ties frequent.
func randomLinked(r *rand.Rand, n int) *Snapshot {
	x := New(nil)
	b := x.Batch()
	values := func(kinds, most int) []incident.Value {
		var out []incident.Value
		for range r.IntN(most + 1) {
			v := fmt.Sprintf("t%d", r.IntN(kinds))
			out = append(out, incident.Value{Text: v, Slug: v})
		}
		return out
	}
	for _, i := range r.Perm(n) {
		inc := &incident.Incident{ID: fmt.Sprintf("C-%d", i), Contributing: values(6, 2), Components: values(4, 1)}
		if r.IntN(3) == 0 {
			inc.OrgSlug = fmt.Sprintf("o%d", r.IntN(3))
			inc.Org = inc.OrgSlug
		}
		if r.IntN(3) == 0 {
			inc.Related = []string{fmt.Sprintf("C-%d", (i+1+r.IntN(n-1))%n)}
		}
		if i > 0 && r.IntN(4) == 0 {
			inc.RecurrenceOf = fmt.Sprintf("C-%d", r.IntN(i))
		}
		b.Put(inc, 1, 1)
	}
	return b.Commit(1)
}

// slowPaths walks all loopless paths depth first and keeps the cheapest.
func slowPaths(s *Snapshot, q PathQuery) []Path {
	type found struct {
		path  Path
		nodes []NodeRef
	}
	var all []found
	var walk func(nodes []NodeRef, steps []PathStep, cost float64)
	walk = func(nodes []NodeRef, steps []PathStep, cost float64) {
		at := nodes[len(nodes)-1]
		if at == q.To {
			all = append(all, found{Path{slices.Clone(steps), cost}, slices.Clone(nodes)})
			return
		}
		if len(steps) == q.MaxHops {
			return
		}
		for n := range s.Neighbors(at, q.Via) {
			if slices.Contains(nodes, n.Node) {
				continue
			}
			c := 0.0
			switch {
			case n.Node.Kind != IncidentNode:
				c = math.Log2(1 + float64(s.Degree(n.Node)))
			case at.Kind == IncidentNode:
				c = 1
			}
			walk(append(nodes, n.Node), append(steps, PathStep{at, n.Node, n.Edge, c}), cost+c)
		}
	}
	walk([]NodeRef{q.From}, nil, 0)
	slices.SortFunc(all, func(a, b found) int {
		if math.Abs(a.path.Cost-b.path.Cost) > 1e-9 {
			return cmp.Compare(a.path.Cost, b.path.Cost)
		}
		if c := cmp.Compare(len(a.nodes), len(b.nodes)); c != 0 {
			return c
		}
		for i := range a.nodes {
			if c := cmp.Compare(s.nodeKey(a.nodes[i]), s.nodeKey(b.nodes[i])); c != 0 {
				return c
			}
		}
		return 0
	})
	var out []Path
	for _, f := range all[:min(len(all), q.First)] {
		out = append(out, f.path)
	}
	return out
}

func describe(s *Snapshot, p Path) string {
	out := fmt.Sprintf("%.6f", p.Cost)
	for _, st := range p.Steps {
		out += fmt.Sprintf(" %s-%d-%.4f->%s", s.nodeKey(st.From), st.Edge, st.Cost, s.nodeKey(st.To))
	}
	return out
}

func TestPathsAgainstAllPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	with := 0
	for round := range 400 {
		s := randomLinked(r, 4+r.IntN(9))
		var nodes []NodeRef
		for o := range s.All().All() {
			nodes = append(nodes, NodeRef{IncidentNode, uint32(o)})
			for n := range s.Neighbors(nodes[len(nodes)-1], 0) {
				if !slices.Contains(nodes, n.Node) {
					nodes = append(nodes, n.Node)
				}
			}
		}
		q := PathQuery{From: nodes[r.IntN(len(nodes))], To: nodes[r.IntN(len(nodes))], MaxHops: 1 + r.IntN(6), First: 1 + r.IntN(5), MaxVisited: 1 << 30}
		if q.From == q.To {
			continue
		}
		if r.IntN(3) == 0 {
			q.Via = EdgeKinds(1 + r.IntN(1<<edgeKindCount-1))
		}
		got, err := s.Paths(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := slowPaths(s, q)
		if len(want) > 0 {
			with++
		}
		if !got.Complete || len(got.Paths) != len(want) {
			t.Fatalf("round %d: Paths(%+v) gives %d paths (complete %v), want %d", round, q, len(got.Paths), got.Complete, len(want))
		}
		for i := range want {
			if g, w := describe(s, got.Paths[i]), describe(s, want[i]); g != w {
				t.Fatalf("round %d: path %d = %s, want %s", round, i, g, w)
			}
		}
	}
	if with < 150 {
		t.Fatalf("only %d of the rounds had a path", with)
	}
}

func TestPathsStopAtTheirBudget(t *testing.T) {
	s := randomLinked(rand.New(rand.NewPCG(13, 14)), 60)
	q := PathQuery{MaxHops: 6, First: 3, MaxVisited: 3}
	q.From, q.To = NodeRef{IncidentNode, uint32(s.Lookup("C-0").Ord)}, NodeRef{IncidentNode, uint32(s.Lookup("C-59").Ord)}
	got, err := s.Paths(context.Background(), q)
	if err != nil || got.Complete {
		t.Errorf("Paths with a budget of 3 = %+v, %v, want an incomplete result", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q.MaxVisited = 1 << 30
	if _, err := s.Paths(ctx, q); err == nil && got.Visited >= 256 {
		t.Errorf("Paths with a cancelled context gives no error")
	}
}

// slowSubgraph computes distances by relaxing all edges until nothing changes.
func slowSubgraph(s *Snapshot, q SubgraphQuery) map[NodeRef]int {
	hop := map[NodeRef]int{}
	for _, r := range q.Roots {
		hop[r] = 0
	}
	for h := 1; h <= q.Hops; h++ {
		for from, d := range hop {
			if d != h-1 {
				continue
			}
			for n := range s.Neighbors(from, q.Via) {
				if n.Node.Kind == IncidentNode && q.Within != nil && !q.Within.Has(Ord(n.Node.N)) {
					continue
				}
				if _, ok := hop[n.Node]; !ok {
					hop[n.Node] = h
				}
			}
		}
	}
	return hop
}

func TestSubgraphAgainstRelaxation(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 300 {
		s := randomLinked(r, 3+r.IntN(20))
		q := SubgraphQuery{Hops: r.IntN(4), MaxNodes: 1 << 20}
		for o := range s.All().All() {
			if r.IntN(6) == 0 || len(q.Roots) == 0 {
				root := NodeRef{IncidentNode, uint32(o)}
				for n := range s.Neighbors(root, 0) { // sometimes a term or an org
					if r.IntN(8) == 0 {
						root = n.Node
					}
				}
				q.Roots = append(q.Roots, root)
			}
		}
		if r.IntN(3) == 0 {
			var in []Ord
			for o := range s.All().All() {
				if r.IntN(2) == 0 {
					in = append(in, o)
				}
			}
			set := SetOf(in...)
			q.Within = &set
		}
		if r.IntN(3) == 0 {
			q.Via = EdgeKinds(1 + r.IntN(1<<edgeKindCount-1))
		}
		full, err := s.Subgraph(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := slowSubgraph(s, q)
		if len(full.Nodes) != len(want) || full.Truncated || full.Omitted != 0 {
			t.Fatalf("Subgraph(%+v) has %d nodes (truncated %v), want %d", q, len(full.Nodes), full.Truncated, len(want))
		}
		for i, n := range full.Nodes {
			degree := 0
			for range s.Neighbors(n.Node, 0) {
				degree++
			}
			if n.Hop != want[n.Node] || n.Degree != degree || s.Degree(n.Node) != degree {
				t.Fatalf("node %+v, want hop %d and degree %d", n, want[n.Node], degree)
			}
			if i > 0 {
				p := full.Nodes[i-1]
				if c := cmp.Or(cmp.Compare(p.Hop, n.Hop), cmp.Compare(n.Degree, p.Degree), cmp.Compare(s.nodeKey(p.Node), s.nodeKey(n.Node))); c >= 0 {
					t.Fatalf("nodes %+v and %+v are out of order", p, n)
				}
			}
		}
		pairs := map[[2]NodeRef]int{}
		for _, e := range full.Edges {
			pairs[[2]NodeRef{e.Source, e.Target}]++
		}
		edges := 0
		for a := range want {
			for n := range s.Neighbors(a, q.Via) {
				if _, ok := want[n.Node]; !ok {
					continue
				}
				edges++ // seen from both ends
				if pairs[[2]NodeRef{a, n.Node}]+pairs[[2]NodeRef{n.Node, a}] != 1 {
					t.Fatalf("the edge %v-%v is there %d times, want once", a, n.Node, pairs[[2]NodeRef{a, n.Node}]+pairs[[2]NodeRef{n.Node, a}])
				}
			}
		}
		if edges != 2*len(full.Edges) {
			t.Fatalf("%d edges, want %d", len(full.Edges), edges/2)
		}
		q.MaxNodes = 1 + r.IntN(len(full.Nodes))
		cut, err := s.Subgraph(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cut.Nodes, full.Nodes[:q.MaxNodes]) || cut.Truncated != (q.MaxNodes < len(full.Nodes)) || cut.Truncated && cut.Omitted == 0 {
			t.Fatalf("Subgraph with at most %d nodes = %+v, want the first of %+v", q.MaxNodes, cut, full.Nodes)
		}
	}
}
