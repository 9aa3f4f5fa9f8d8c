package view

import (
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Bounds of path and subgraph searches.
const (
	standardHops  = 6 // of a path
	standardPaths = 3
	// maxPathVisits is how often a search for paths comes to a node. It takes
	// less than a microsecond each time.
	maxPathVisits = 300_000
)

// nodeRef finds the node of the graph that an id names; false where it names
// none: nothing that is there, or something that the graph does not connect.
func (o *Operation) nodeRef(id string) (index.NodeRef, bool) {
	kind, key, ok := splitNodeID(id)
	if !ok {
		return index.NodeRef{}, false
	}
	switch kind {
	case incidentID:
		if n := o.index.Lookup(key); n != nil {
			return index.NodeRef{Kind: index.IncidentNode, N: uint32(n.Ord)}, true
		}
		return index.NodeRef{}, false
	case orgID:
		n, ok := o.index.LookupOrg(key)
		return index.NodeRef{Kind: index.OrgNode, N: uint32(n)}, ok
	}
	for v, t := range termIDs {
		if t == kind && incident.Vocabulary(v) != incident.Severity {
			n, ok := o.index.LookupTerm(incident.Term{Vocabulary: incident.Vocabulary(v), Slug: key})
			return index.NodeRef{Kind: index.TermNode, N: uint32(n)}, ok
		}
	}
	return index.NodeRef{}, false
}

// notInGraph is the reason where an id names no node of the graph.
const notInGraph = "names no incident, organisation or term of the graph"

// graphNode gives a node of the graph as its GraphQL type.
func (o *Operation) graphNode(n index.NodeRef) Node {
	switch n.Kind {
	case index.TermNode:
		return o.term(index.TermID(n.N))
	case index.OrgNode:
		return o.org(index.OrgID(n.N))
	}
	return o.incident(o.index.Node(index.Ord(n.N)))
}

// Paths finds the cheapest paths between two nodes.
func (o *Operation) Paths(from, to string, via []index.EdgeKind, maxHops, first *int) (*PathResult, error) {
	q := index.PathQuery{Via: index.EdgeKindsOf(via...), MaxVisited: maxPathVisits}
	var ok bool
	if q.From, ok = o.nodeRef(from); !ok {
		return nil, badInput("from", notInGraph)
	}
	if q.To, ok = o.nodeRef(to); !ok {
		return nil, badInput("to", notInGraph)
	}
	if q.From == q.To {
		return nil, badInput("to", "must be another node than from")
	}
	var err error
	if q.MaxHops, err = bounded("maxHops", maxHops, standardHops, 1, "maxHops", o.settings.Limits.MaxHops); err != nil {
		return nil, err
	}
	if q.First, err = o.amount("first", first, standardPaths, 1); err != nil {
		return nil, err
	}
	return o.paths(q)
}

func (o *Operation) paths(q index.PathQuery) (*PathResult, error) {
	found, err := o.index.Paths(o.ctx, q)
	if err != nil {
		return nil, err
	}
	result := &PathResult{Paths: make([]*GraphPath, len(found.Paths)), Complete: found.Complete, Visited: found.Visited}
	for i, p := range found.Paths {
		result.Paths[i] = &GraphPath{op: o, path: p}
	}
	return result, nil
}

// PathResult is the cheapest paths between two nodes.
type PathResult struct {
	Paths    []*GraphPath
	Complete bool
	Visited  int
}

// GraphPath is a way through the graph.
type GraphPath struct {
	op   *Operation
	path index.Path
}

// Hops counts the steps.
func (p *GraphPath) Hops() int { return len(p.path.Steps) }

// Cost is the sum of the steps' costs.
func (p *GraphPath) Cost() float64 { return p.path.Cost }

// Steps are the steps.
func (p *GraphPath) Steps() []*PathStep {
	steps := make([]*PathStep, len(p.path.Steps))
	for i := range p.path.Steps {
		steps[i] = &PathStep{op: p.op, step: &p.path.Steps[i]}
	}
	return steps
}

// Sentence says the same in words.
func (p *GraphPath) Sentence(languages []string) *LocalizedText {
	return p.op.text(incident.Text{
		{Language: "en", Text: p.english()},
		{Language: "ko", Text: p.korean()},
	}, languages)
}

// PathStep is one step of a path.
type PathStep struct {
	op   *Operation
	step *index.PathStep
}

// From is the node that it leads from.
func (s *PathStep) From() Node { return s.op.graphNode(s.step.From) }

// Kind is what connects the two.
func (s *PathStep) Kind() index.EdgeKind { return s.step.Edge }

// To is the node that it leads to.
func (s *PathStep) To() Node { return s.op.graphNode(s.step.To) }

// Cost is what the step costs.
func (s *PathStep) Cost() float64 { return s.step.Cost }
