package index

import (
	"slices"
	"sync"
)

// Chain is the tree of incidents joined by recurrence_of, from its root (the
// topmost stored case).
//
// Stored records never point in a circle, for writing one is refused. Where
// they do all the same, the member with the smallest case id is the root.
type Chain struct {
	Root *Node
	Size int // number of members

	s *Snapshot
	c *chain
}

// ChainMember is one incident of a chain.
type ChainMember struct {
	Node   *Node
	Parent *Node // nil for the root
	Depth  int
}

// chain is a chain in all snapshots in which it has the same members, with
// the same parents and dates.
type chain struct {
	size    int
	once    sync.Once
	members []chainPlace // set by once: the root, then by depth, date and case id
}

type chainPlace struct{ ord, depth uint32 }

// Chain gives the chain that n is part of, nil where n is alone. It costs
// nothing to speak of, whatever the size of the chain.
func (s *Snapshot) Chain(n *Node) *Chain {
	root := s.chainRoot(n.Ord)
	c := s.chains.at(uint32(root))
	if c == nil {
		return nil
	}
	return &Chain{Root: s.Node(root), Size: c.size, s: s, c: c}
}

// chainRoot gives the root of a stored incident's chain, itself where it is
// alone.
func (s *Snapshot) chainRoot(o Ord) Ord {
	if r := s.roots.at(uint32(o)); r != 0 {
		return Ord(r - 1)
	}
	return o
}

// chainLen gives the number of members of the chain with this root, 0 where
// there is none.
func (s *Snapshot) chainLen(root Ord) int {
	if c := s.chains.at(uint32(root)); c != nil {
		return c.size
	}
	return 0
}

// inChain tells whether an incident has a chain.
func (s *Snapshot) inChain(o Ord) bool {
	return s.roots.at(uint32(o)) != 0 || s.chains.at(uint32(o)) != nil
}

// Depth gives that of the deepest member; the root has 0.
func (c *Chain) Depth() int { return int(c.members()[c.Size-1].depth) }

// Member gives the i-th member: the root, then by depth, then by date, without
// a date last, then by case id.
func (c *Chain) Member(i int) ChainMember {
	p := c.members()[i]
	m := ChainMember{Node: c.s.Node(Ord(p.ord)), Depth: int(p.depth)}
	if i > 0 {
		m.Parent = c.s.RecurrenceOf(m.Node)
	}
	return m
}

// members walks the chain the first time that anyone asks for it.
func (c *Chain) members() []chainPlace {
	c.c.once.Do(func() {
		c.c.members = make([]chainPlace, 0, c.Size)
		level := []*Node{c.Root}
		for depth := uint32(0); len(level) > 0; depth++ {
			var next []*Node
			for _, n := range level {
				c.c.members = append(c.c.members, chainPlace{uint32(n.Ord), depth})
				for _, o := range c.s.in(n.Ord).recurrences() {
					if o != c.Root.Ord {
						next = append(next, c.s.Node(o))
					}
				}
			}
			slices.SortFunc(next, func(a, b *Node) int { return compareDates(a, b, false) })
			level = next
		}
	})
	return c.c.members
}
