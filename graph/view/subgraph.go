package view

import (
	"math"

	"incidentgraph/graph/model"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

const (
	standardNodes = 150
	standardHop   = 1
)

// Subgraph finds the surroundings of some nodes.
func (o *Operation) Subgraph(roots []string, hops *int, via []index.EdgeKind, where *model.IncidentFilter, maxNodes *int) (*Subgraph, error) {
	limits := &o.settings.Limits
	q := index.SubgraphQuery{Via: index.EdgeKindsOf(via...)}
	var err error
	if q.Hops, err = bounded("hops", hops, standardHop, 0, "maxHops", limits.MaxHops); err != nil {
		return nil, err
	}
	if q.MaxNodes, err = bounded("maxNodes", maxNodes, standardNodes, 1, "maxNodes", limits.MaxNodes); err != nil {
		return nil, err
	}
	switch {
	case len(roots) == 0:
		return nil, badInput("roots", "name at least one")
	case len(roots) > q.MaxNodes:
		return nil, badInput("roots", "must not be more than maxNodes, which is %d", q.MaxNodes)
	}
	for i, id := range roots {
		n, ok := o.nodeRef(id)
		if !ok {
			return nil, &InputError{Path: []any{"roots", i}, Reason: notInGraph}
		}
		q.Roots = append(q.Roots, n)
	}
	if where != nil {
		set, err := o.selected(o.index.All(), where)
		if err != nil {
			return nil, err
		}
		q.Within = &set
	}
	found, err := o.index.Subgraph(o.ctx, q)
	if err != nil {
		return nil, err
	}
	return &Subgraph{op: o, found: found}, nil
}

// Subgraph is the surroundings of some nodes.
type Subgraph struct {
	op    *Operation
	found index.Subgraph
}

// Truncated tells whether nodes within reach were left out.
func (g *Subgraph) Truncated() bool { return g.found.Truncated }

// OmittedCount counts those known.
func (g *Subgraph) OmittedCount() int { return g.found.Omitted }

// Nodes are the nodes, nearest first.
func (g *Subgraph) Nodes() []*SubgraphNode {
	nodes := make([]*SubgraphNode, len(g.found.Nodes))
	for i := range g.found.Nodes {
		nodes[i] = &SubgraphNode{op: g.op, SubgraphNode: &g.found.Nodes[i]}
	}
	return nodes
}

// Edges are the connections among the nodes.
func (g *Subgraph) Edges() []*SubgraphEdge {
	edges := make([]*SubgraphEdge, len(g.found.Edges))
	for i := range g.found.Edges {
		edges[i] = &SubgraphEdge{op: g.op, edge: &g.found.Edges[i]}
	}
	return edges
}

// SubgraphNode is a node of a subgraph.
type SubgraphNode struct {
	op *Operation
	*index.SubgraphNode
}

// Node is the incident, term or org.
func (n *SubgraphNode) Node() Node { return n.op.graphNode(n.SubgraphNode.Node) }

// SubgraphEdge is a connection between two nodes of a subgraph.
type SubgraphEdge struct {
	op   *Operation
	edge *index.SubgraphEdge
}

// Source is the id of the node that it leads from.
func (e *SubgraphEdge) Source() string { return e.op.graphNodeID(e.edge.Source) }

// Target is the id of the node that it leads to.
func (e *SubgraphEdge) Target() string { return e.op.graphNodeID(e.edge.Target) }

// Kind is what connects the two.
func (e *SubgraphEdge) Kind() index.EdgeKind { return e.edge.Edge }

// Weight is what a path pays for it.
func (e *SubgraphEdge) Weight() float64 {
	if e.edge.Target.Kind == index.IncidentNode {
		return 1
	}
	return math.Log2(1 + float64(e.op.index.Degree(e.edge.Target)))
}

// graphNodeID gives the id of a node of the graph.
func (o *Operation) graphNodeID(n index.NodeRef) string {
	switch n.Kind {
	case index.TermNode:
		t := o.index.Term(index.TermID(n.N))
		return nodeID(termIDs[t.Vocabulary], t.Slug)
	case index.OrgNode:
		return nodeID(orgID, o.index.Org(index.OrgID(n.N)).Slug)
	}
	return nodeID(incidentID, o.index.CaseID(index.Ord(n.N)))
}

// Export writes the subgraph as a file.
func (g *Subgraph) Export(format model.GraphFormat) (string, error) {
	nodes, edges := g.drawing()
	switch format {
	case model.GraphFormatCytoscapeJSON:
		return cytoscape(nodes, edges)
	case model.GraphFormatGraphml:
		return graphML(nodes, edges)
	}
	return dot(nodes, edges), nil
}

// drawnNode is a node as files show it.
type drawnNode struct {
	id, label, typ, key string
	date                incident.Date // of an incident
	degree, hop         int
}

// drawnEdge is an edge as files show it.
type drawnEdge struct {
	source, target, kind string
	weight               float64
	directed             bool
}

var edgeKindNames = map[index.EdgeKind]string{
	index.OrgEdge:        "ORG",
	index.FactorEdge:     "CONTRIBUTING_FACTOR",
	index.ComponentEdge:  "COMPONENT",
	index.SymptomEdge:    "SYMPTOM",
	index.RootCauseEdge:  "ROOT_CAUSE",
	index.DomainEdge:     "DOMAIN",
	index.RelatedEdge:    "RELATED",
	index.RecurrenceEdge: "RECURRENCE_OF",
}

var termTypes = [incident.VocabularyCount]string{
	incident.ContributingFactor: "ContributingFactor",
	incident.Component:          "Component",
	incident.Symptom:            "Symptom",
	incident.RootCause:          "RootCause",
	incident.Domain:             "Domain",
	incident.Severity:           "Severity",
}

func (g *Subgraph) drawing() ([]drawnNode, []drawnEdge) {
	nodes := make([]drawnNode, len(g.found.Nodes))
	for i, n := range g.found.Nodes {
		d := drawnNode{id: g.op.graphNodeID(n.Node), degree: n.Degree, hop: n.Hop}
		switch n.Node.Kind {
		case index.TermNode:
			t := g.op.index.Term(index.TermID(n.Node.N))
			d.typ, d.key, d.label = termTypes[t.Vocabulary], t.Slug, g.op.text(label(&t), nil).Text
		case index.OrgNode:
			org := g.op.index.Org(index.OrgID(n.Node.N))
			d.typ, d.key, d.label = "Org", org.Slug, org.Name
		default:
			inc := g.op.incident(g.op.index.Node(index.Ord(n.Node.N)))
			d.typ, d.key, d.label, d.date = "Incident", inc.CaseID(), inc.Title(nil).Text, inc.Date()
		}
		nodes[i] = d
	}
	edges := make([]drawnEdge, len(g.found.Edges))
	for i, e := range g.Edges() {
		edges[i] = drawnEdge{e.Source(), e.Target(), edgeKindNames[e.Kind()], e.Weight(), e.Kind() == index.RecurrenceEdge}
	}
	return nodes, edges
}
