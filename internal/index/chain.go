package index

import (
	"cmp"
	"slices"
	"strings"
)

// Chain is the tree of incidents joined by recurrence_of, from its root (the
// topmost stored case). Members are root first, by depth, then date, then
// case id.
type Chain struct {
	Root    *Node
	Members []ChainMember
	Depth   int // of the deepest member; the root has 0
}

// ChainMember is one incident of a chain.
type ChainMember struct {
	Node   *Node
	Parent *Node // nil for the root
	Depth  int
}

// Chain gives the chain that n is part of, nil where n is alone. Cost: the
// size of the chain.
//
// Stored records never point in a circle, for writing one is refused. Where
// they do all the same, the member with the smallest case id is the root.
func (s *Snapshot) Chain(n *Node) *Chain {
	root := s.chainRoot(n)
	c := &Chain{Root: root, Members: []ChainMember{{Node: root}}}
	for i := 0; i < len(c.Members); {
		end := len(c.Members)
		for ; i < end; i++ {
			parent := c.Members[i]
			for _, o := range s.in(parent.Node.Ord).recurrences() {
				if o != root.Ord {
					c.Members = append(c.Members, ChainMember{s.Node(o), parent.Node, parent.Depth + 1})
				}
			}
		}
		slices.SortFunc(c.Members[end:], func(a, b ChainMember) int {
			return compareDates(a.Node, b.Node, false)
		})
	}
	if len(c.Members) == 1 {
		return nil
	}
	c.Depth = c.Members[len(c.Members)-1].Depth
	return c
}

// chainRoot walks up to the topmost stored case. A second walk at half the
// speed meets the first on a circle and nowhere else (Floyd, in Knuth 1969).
func (s *Snapshot) chainRoot(n *Node) *Node {
	slow := n
	for steps := 1; ; steps++ {
		parent := s.RecurrenceOf(n)
		if parent == nil {
			return n
		}
		n = parent
		if steps%2 == 0 {
			slow = s.RecurrenceOf(slow)
		}
		if n == slow {
			return s.smallestOnCircle(n)
		}
	}
}

func (s *Snapshot) smallestOnCircle(n *Node) *Node {
	least := n
	for p := s.RecurrenceOf(n); p != n; p = s.RecurrenceOf(p) {
		if p.ID < least.ID {
			least = p
		}
	}
	return least
}

// ChainRoot is a chain's root and the number of its members.
type ChainRoot struct {
	Root *Node
	Size int
}

// chains holds all chains of a snapshot, largest first, then by root id.
type chains struct {
	roots   []ChainRoot
	members Set
	of      []uint32 // by Ord of a member, the place in roots
}

type chainsKey struct{}

// Chains gives the roots of chains of at least minSize members (2 or more)
// that have a member in set, largest first, then root case id; with each the
// size. Computed once per snapshot and filtered per call.
func (s *Snapshot) Chains(minSize int, set Set) []ChainRoot {
	c := memoized(s, chainsKey{}, s.findChains)
	n, _ := slices.BinarySearchFunc(c.roots, minSize, func(r ChainRoot, size int) int {
		if r.Size >= size {
			return -1
		}
		return 1
	})
	roots := c.roots[:n]
	if set.Len() == s.Len() {
		return slices.Clip(roots)
	}
	hit := make([]bool, len(c.roots))
	for o := range set.And(c.members).All() {
		hit[c.of[o]] = true
	}
	var r []ChainRoot
	for i, root := range roots {
		if hit[i] {
			r = append(r, root)
		}
	}
	return r
}

// findChains follows every pointer once.
func (s *Snapshot) findChains() *chains {
	root := make([]*Node, s.names.cases.len())
	size := make(map[*Node]int)
	var members []Ord
	for o := range s.all.All() {
		n := s.Node(o)
		if s.RecurrenceOf(n) == nil && len(s.in(o).recurrences()) == 0 {
			continue
		}
		r := s.rootKnowing(n, root)
		size[r]++
		members = append(members, o)
	}
	c := &chains{members: SetOf(members...), of: make([]uint32, len(root))}
	for r, n := range size {
		c.roots = append(c.roots, ChainRoot{r, n})
	}
	slices.SortFunc(c.roots, func(a, b ChainRoot) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), strings.Compare(a.Root.ID, b.Root.ID))
	})
	place := make(map[*Node]uint32, len(c.roots))
	for i, r := range c.roots {
		place[r.Root] = uint32(i)
	}
	for _, o := range members {
		c.of[o] = place[root[o]]
	}
	return c
}

// rootKnowing is chainRoot with the roots found so far by Ord; it adds those
// of the nodes that it passes.
func (s *Snapshot) rootKnowing(n *Node, known []*Node) *Node {
	var path []Ord
	r := n
	for known[r.Ord] == nil {
		path = append(path, r.Ord)
		known[r.Ord] = underWay
		parent := s.RecurrenceOf(r)
		if parent == nil {
			break
		}
		r = parent
	}
	if known[r.Ord] == underWay {
		r = s.chainRoot(r)
	} else {
		r = known[r.Ord]
	}
	for _, o := range path {
		known[o] = r
	}
	return r
}

// underWay marks the nodes whose root is being looked for.
var underWay = new(Node)

// RecurrenceCycle reports whether, with the given recurrence_of pointers put
// over the snapshot's (id → parent id, "" for none; ids may be unknown), some
// chain of pointers returns to its start; it gives the case ids around the
// smallest-id-first cycle, nil where there is none. Only cycles through one
// of the given ids are looked for. Cost: the length of the chains walked.
func (s *Snapshot) RecurrenceCycle(parents map[string]string) []string {
	w := cycleWalk{s: s, parents: parents, walk: make(map[string]int, len(parents))}
	starts := make([]string, 0, len(parents))
	for id := range parents {
		starts = append(starts, id)
	}
	slices.Sort(starts)
	var least []string
	for i, id := range starts {
		if cycle := w.from(id, i+1); cycle != nil && (least == nil || cycle[0] < least[0]) {
			least = cycle
		}
	}
	return least
}

// cycleWalk follows pointers and remembers which walk came by.
type cycleWalk struct {
	s       *Snapshot
	parents map[string]string
	walk    map[string]int
}

// parent gives the id that id points to, "" if none.
func (w *cycleWalk) parent(id string) string {
	if p, ok := w.parents[id]; ok {
		return p
	}
	if n := w.s.Lookup(id); n != nil && n.hasParent {
		return w.s.CaseID(n.recurrenceOf)
	}
	return ""
}

// from walks up from id and gives the cycle that it runs into, smallest id
// first, if the walk is the first there and a given id is on it.
func (w *cycleWalk) from(id string, number int) []string {
	for ; id != ""; id = w.parent(id) {
		switch w.walk[id] {
		case 0:
			w.walk[id] = number
			continue
		case number:
			return w.around(id)
		}
		return nil
	}
	return nil
}

func (w *cycleWalk) around(start string) []string {
	cycle := []string{start}
	for id := w.parent(start); id != start; id = w.parent(id) {
		cycle = append(cycle, id)
	}
	if !slices.ContainsFunc(cycle, func(id string) bool { _, ok := w.parents[id]; return ok }) {
		return nil
	}
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
}
