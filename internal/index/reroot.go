package index

import (
	"maps"
	"slices"
)

// applyChains finds the chains that the changes made, broke up or changed.
//
// The root of an incident may be another than before only where its own parent
// is, or that of one above it. So only what is below such incidents is walked.
func (c *changes) applyChains(base, s *Snapshot, w *writer) {
	r := rerooting{
		base: base, s: s, roots: s.roots.edit(w.batches), chains: s.chains.edit(w.batches),
		sizes: make(map[Ord]int),
	}
	r.reroot(c.reparented(base, s))
	for _, d := range c.dated {
		r.refresh(d.ord)
	}
	s.roots, s.chains = r.roots.vector, r.chains.vector
	s.chained = s.chained.with(r.entered())
	for root := range r.sizes {
		if base.chainLen(root) != s.chainLen(root) {
			c.resized = append(c.resized, root)
		}
	}
}

// reparented gives the incidents that have another parent than before, or came
// or went and have a chain; sorted.
func (c *changes) reparented(base, s *Snapshot) []Ord {
	var ords []Ord
	look := func(o Ord) {
		was, is := base.Node(o), s.Node(o)
		if (was == nil) == (is == nil) && base.parent(was) == s.parent(is) {
			return
		}
		if base.hasChain(was) || s.hasChain(is) {
			ords = append(ords, o)
		}
	}
	for _, n := range c.relinked {
		look(n.Ord)
		for _, at := range []*Snapshot{base, s} { // one that came or went is a parent, too
			for _, o := range at.in(n.Ord).recurrences() {
				look(o)
			}
		}
	}
	slices.Sort(ords)
	return slices.Compact(ords)
}

// noOrd is no incident's number.
const noOrd = ^Ord(0)

// parent gives the stored incident that n, which may be nil, repeats.
func (s *Snapshot) parent(n *Node) Ord {
	if n == nil || s.RecurrenceOf(n) == nil {
		return noOrd
	}
	return n.recurrenceOf
}

func (s *Snapshot) hasChain(n *Node) bool {
	return n != nil && (s.RecurrenceOf(n) != nil || len(s.in(n.Ord).recurrences()) > 0)
}

// rerooting leads from the chains of one snapshot to those of the next, whose
// links are there already.
type rerooting struct {
	base, s *Snapshot
	// roots has a mark for those in moved until their new root is known.
	roots  editor[uint32]
	chains editor[*chain]
	moved  []Ord // the incidents whose root may have changed
	gone   []Ord
	// sizes has, by root, by how much the chains have grown; 0 too where only
	// their form may have changed.
	sizes map[Ord]int
}

// The marks of roots.
const (
	rootUnknown  = ^uint32(0)
	rootUnderWay = ^uint32(1)
)

// reroot finds the new roots of all that is below the given incidents, and the
// sizes of their chains, old and new.
func (r *rerooting) reroot(reparented []Ord) {
	for _, o := range reparented {
		if r.s.Node(o) == nil {
			r.gone = append(r.gone, o)
			r.sizes[r.base.chainRoot(o)]--
			r.roots.set(uint32(o), 0)
			continue
		}
		r.mark(o)
	}
	for _, o := range r.moved {
		if r.base.Node(o) != nil {
			r.sizes[r.base.chainRoot(o)]--
		}
		r.sizes[r.rootOf(o)]++
	}
	for root, grown := range r.sizes {
		if size := r.base.chainSize(root) + grown; size > 1 {
			r.chains.set(uint32(root), &chain{size: size})
		} else {
			r.chains.set(uint32(root), nil)
		}
	}
}

// mark notes an incident and all below it.
func (r *rerooting) mark(o Ord) {
	for below := []Ord{o}; len(below) > 0; {
		last := len(below) - 1
		o, below = below[last], below[:last]
		if r.roots.at(uint32(o)) != rootUnknown {
			r.roots.set(uint32(o), rootUnknown)
			r.moved = append(r.moved, o)
			below = append(below, r.s.in(o).recurrences()...)
		}
	}
}

// rootOf gives the root of an incident, and enters it for those above it that
// were marked. One that was not marked has the root that it had.
func (r *rerooting) rootOf(o Ord) Ord {
	var path []Ord
	root := noOrd
	for root == noOrd {
		switch known := r.roots.at(uint32(o)); known {
		case 0:
			root = o
		case rootUnderWay:
			root = r.smallestOnCircle(o)
		case rootUnknown:
			path = append(path, o)
			r.roots.set(uint32(o), rootUnderWay)
			parent := r.s.parent(r.s.Node(o))
			if parent == noOrd {
				root = o
			}
			o = parent
		default:
			root = Ord(known - 1)
		}
	}
	for _, o := range path {
		if o == root {
			r.roots.set(uint32(o), 0)
		} else {
			r.roots.set(uint32(o), uint32(root)+1)
		}
	}
	return root
}

func (r *rerooting) smallestOnCircle(o Ord) Ord {
	least := o
	for p := r.s.parent(r.s.Node(o)); p != o; p = r.s.parent(r.s.Node(p)) {
		if r.s.CaseID(p) < r.s.CaseID(least) {
			least = p
		}
	}
	return least
}

// chainSize gives the number of members of the chain with this root, 1 for an
// incident that is alone, 0 for any other.
func (s *Snapshot) chainSize(root Ord) int {
	if s.Node(root) == nil || s.chainRoot(root) != root {
		return 0
	}
	return max(s.chainLen(root), 1)
}

// refresh lets a chain be walked again in which an incident has another date.
func (r *rerooting) refresh(o Ord) {
	root := r.rootOf(o)
	c := r.chains.at(uint32(root))
	if _, fresh := r.sizes[root]; c != nil && !fresh {
		r.sizes[root] = 0
		r.chains.set(uint32(root), &chain{size: c.size})
	}
}

// entered gives the incidents that have a chain and had none, and those of
// which the contrary is true; sorted.
func (r *rerooting) entered() (add, del []Ord) {
	touched := slices.AppendSeq(slices.Concat(r.gone, r.moved), maps.Keys(r.sizes))
	slices.Sort(touched)
	for _, o := range slices.Compact(touched) {
		switch was, is := r.base.inChain(o), r.s.inChain(o); {
		case is && !was:
			add = append(add, o)
		case was && !is:
			del = append(del, o)
		}
	}
	return add, del
}
