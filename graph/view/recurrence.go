package view

import (
	"slices"
	"time"

	"incidentgraph/graph/model"
	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// RecurrenceChain is the tree of cases that repeat one case.
type RecurrenceChain struct {
	op    *Operation
	chain *index.Chain
}

func (o *Operation) chain(c *index.Chain) *RecurrenceChain {
	if c == nil {
		return nil
	}
	return &RecurrenceChain{o, c}
}

// chainOf finds the chain with this root; nil where the case is not the root
// of one.
func (o *Operation) chainOf(rootID string) *RecurrenceChain {
	n := o.index.Lookup(rootID)
	if n == nil || o.index.RecurrenceOf(n) != nil {
		return nil
	}
	return o.chain(o.index.Chain(n))
}

// RecurrenceChain is the chain that the incident is part of.
func (i *Incident) RecurrenceChain() *RecurrenceChain { return i.op.chain(i.op.index.Chain(i.node)) }

// ID is the node id.
func (c *RecurrenceChain) ID() string { return nodeID(chainID, c.chain.Root.ID) }

// Root is the case that all others repeat.
func (c *RecurrenceChain) Root() *Incident { return c.op.incident(c.chain.Root) }

// Size counts the members.
func (c *RecurrenceChain) Size() int { return c.chain.Size }

// Depth is that of the deepest member.
func (c *RecurrenceChain) Depth() int { return c.chain.Depth() }

// PersistentFactors are the contributing factors that every member has.
func (c *RecurrenceChain) PersistentFactors() []*ContributingFactor {
	ids := slices.Clone(c.chain.Root.Terms(incident.ContributingFactor))
	for i := 1; i < c.chain.Size && len(ids) > 0; i++ {
		theirs := c.chain.Member(i).Node.Terms(incident.ContributingFactor)
		ids = slices.DeleteFunc(ids, func(id index.TermID) bool { return !slices.Contains(theirs, id) })
	}
	return termsOf[ContributingFactor](c.op, ids)
}

// Gaps tells how long after their parents the members happened.
func (c *RecurrenceChain) Gaps() *DurationDistribution {
	var known []float64
	for i := range c.chain.Size {
		if days, ok := gapDays(c.chain.Member(i)); ok && days >= 0 {
			known = append(known, float64(days)*(24*time.Hour).Seconds())
		}
	}
	return &DurationDistribution{analysis.NewDistribution(known, c.chain.Size-1-len(known))}
}

// Members are the cases of the chain.
func (c *RecurrenceChain) Members(first *int, after *string) (*RecurrenceMemberConnection, error) {
	p, err := c.op.check(PageArgs{First: first, After: after}, memberList, "", 2)
	if err != nil {
		return nil, err
	}
	at := func(i int) *place { return memberPlace(c.chain.Member(i)) }
	return &RecurrenceMemberConnection{listed(p, c.chain.Size, at, func(i int) *RecurrenceMemberEdge {
		m := c.chain.Member(i)
		return &RecurrenceMemberEdge{incident: Incident{c.op, m.Node}, member: m}
	})}, nil
}

// memberPlace is a place in a chain: by depth, then date, without a date last,
// then case id.
func memberPlace(m index.ChainMember) *place {
	date := m.Node.Date
	return &place{
		list:   memberList,
		values: []index.KeyValue{{N: int64(m.Depth)}, {N: int64(date), Null: date.IsZero()}},
		key:    m.Node.ID,
	}
}

// RecurrenceMemberConnection is the list of a chain's members, in pages.
type RecurrenceMemberConnection struct {
	connection[*Incident, *RecurrenceMemberEdge]
}

// RecurrenceMemberEdge is one member of a chain, compared with its parent.
type RecurrenceMemberEdge struct {
	incident Incident
	member   index.ChainMember
}

// Node is the member.
func (e *RecurrenceMemberEdge) Node() *Incident { return &e.incident }

func (e *RecurrenceMemberEdge) node() *Incident { return &e.incident }

// Cursor is the element's place in the list.
func (e *RecurrenceMemberEdge) Cursor() string { return memberPlace(e.member).cursor() }

// Parent is the case that the member repeats.
func (e *RecurrenceMemberEdge) Parent() *Incident { return e.incident.op.incident(e.member.Parent) }

// Depth is how far the member is from the root.
func (e *RecurrenceMemberEdge) Depth() int { return e.member.Depth }

// GapDays is how many days after its parent the member happened.
func (e *RecurrenceMemberEdge) GapDays() (int, bool) { return gapDays(e.member) }

// gapDays gives the days from the parent of a member to the member; false where
// it has none, or one of the dates is not known to the day.
func gapDays(m index.ChainMember) (int, bool) {
	if m.Parent == nil || m.Parent.Date.Day() == 0 || m.Node.Date.Day() == 0 {
		return 0, false
	}
	gap := m.Node.Date.FirstDay().Sub(m.Parent.Date.FirstDay())
	return int(gap / (24 * time.Hour)), true
}

// Kept are the terms that the parent has too.
func (e *RecurrenceMemberEdge) Kept() []Term { return e.compared(common, false) }

// Appeared are the terms that the parent does not have.
func (e *RecurrenceMemberEdge) Appeared() []Term { return e.compared(only, false) }

// Gone are the terms of the parent that the member does not have.
func (e *RecurrenceMemberEdge) Gone() []Term { return e.compared(only, true) }

func (e *RecurrenceMemberEdge) compared(by func(a, b *index.Node) []index.TermID, fromParent bool) []Term {
	a, b := e.member.Node, e.member.Parent
	if b == nil {
		return []Term{}
	}
	if fromParent {
		a, b = b, a
	}
	return e.incident.op.mixed(by(a, b))
}

// RecurrenceChainConnection is a list of chains, in pages.
type RecurrenceChainConnection struct {
	connection[*RecurrenceChain, *RecurrenceChainEdge]
}

// RecurrenceChainEdge is one element of a list of chains.
type RecurrenceChainEdge struct {
	Node *RecurrenceChain
	at   place
}

func (e *RecurrenceChainEdge) node() *RecurrenceChain { return e.Node }

// Cursor is the element's place in the list.
func (e *RecurrenceChainEdge) Cursor() string { return e.at.cursor() }

// RecurrenceChains lists the chains of which a member matches.
func (o *Operation) RecurrenceChains(minSize *int, where *model.IncidentFilter, a PageArgs) (*RecurrenceChainConnection, error) {
	set, err := o.selected(o.index.All(), where)
	if err != nil {
		return nil, err
	}
	return o.chains(set, minSize, a)
}

// minChainSize is the size of the smallest chain.
const minChainSize = 2

// chains lists the chains with a member in the set.
func (o *Operation) chains(set index.Set, minSize *int, a PageArgs) (*RecurrenceChainConnection, error) {
	least := minChainSize
	if minSize != nil {
		least = *minSize
	}
	if least < minChainSize {
		return nil, badInput("minSize", "must be %d or more", minChainSize)
	}
	p, err := o.check(a, chainList, "", 1)
	if err != nil {
		return nil, err
	}
	chains := o.index.Chains(least, set)
	at := func(i int) *place { return countPlace(chainList, "", chains.At(i).Size, chains.At(i).Root.ID) }
	return &RecurrenceChainConnection{listed(p, chains.Len(), at, func(i int) *RecurrenceChainEdge {
		return &RecurrenceChainEdge{Node: o.chain(chains.At(i)), at: *at(i)}
	})}, nil
}
