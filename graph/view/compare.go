package view

import (
	"time"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// wholeWeights compares incidents by what they are about as a whole.
func wholeWeights() analysis.Weights {
	return analysis.Weights{
		incident.ContributingFactor: 1,
		incident.Component:          1,
		incident.Symptom:            1,
		incident.RootCause:          1,
	}
}

// Compare compares two incidents; nil where one is not stored.
func (o *Operation) Compare(left, right string) *Comparison {
	a, b := o.index.Lookup(left), o.index.Lookup(right)
	if a == nil || b == nil {
		return nil
	}
	return &Comparison{op: o, left: a, right: b}
}

// Comparison is two incidents compared.
type Comparison struct {
	op          *Operation
	left, right *index.Node
}

// Left is the first one.
func (c *Comparison) Left() *Incident { return c.op.incident(c.left) }

// Right is the second one.
func (c *Comparison) Right() *Incident { return c.op.incident(c.right) }

// Explanation tells what they have in common.
func (c *Comparison) Explanation() *SimilarityExplanation {
	s := similarity{op: c.op, here: c.left, weights: wholeWeights()}
	return s.explain(c.right)
}

// Path is the cheapest path from the one to the other.
func (c *Comparison) Path() (*GraphPath, error) {
	if c.left == c.right {
		return nil, nil
	}
	found, err := c.op.paths(index.PathQuery{
		From:       index.NodeRef{Kind: index.IncidentNode, N: uint32(c.left.Ord)},
		To:         index.NodeRef{Kind: index.IncidentNode, N: uint32(c.right.Ord)},
		MaxHops:    min(standardHops, c.op.settings.Limits.MaxHops),
		First:      1,
		MaxVisited: maxPathVisits,
	})
	if err != nil || !found.Complete || len(found.Paths) == 0 {
		return nil, err
	}
	return found.Paths[0], nil
}

// SameOrg tells whether both are of one organisation.
func (c *Comparison) SameOrg() bool { return c.left.Org != index.NoOrg && c.left.Org == c.right.Org }

// DaysApart is how many days lie between them.
func (c *Comparison) DaysApart() (int, bool) {
	a, b := c.left.Date, c.right.Date
	if a.IsZero() || b.IsZero() {
		return 0, false
	}
	return int(a.FirstDay().Sub(b.FirstDay()).Abs() / (24 * time.Hour)), true
}
