package index

import (
	"math/bits"
	"slices"
)

// PageArgs asks for a page of a sorted list as in the Relay connection
// specification: First or Last items (negative = not given; not both), after
// and before places (nil = not given).
type PageArgs struct {
	First, Last   int
	After, Before *Key
}

// Page is part of a sorted list. HasNext and HasPrevious are as the
// specification has them: whether First or Last left something out, and for
// the other end whether something lies beyond the place given.
type Page struct {
	Nodes                []*Node
	HasNext, HasPrevious bool
}

// Page gives one page of set in the given order (none: date descending). Cost
// grows with the page and slowly with the set, not with the corpus, except
// for the first use of an order in a snapshot. Orders by several keys are
// kept for the few that are used last.
func (s *Snapshot) Page(set Set, by []Order, p PageArgs) Page {
	if len(by) == 0 {
		by = byDateDesc
	}
	keys := normalized(by)
	if s.directly(keys, set.Len()) {
		ords := s.sortSet(set, keys)
		return s.pageOf(sorted(ords), ords, by, p)
	}
	order := s.order(keys)
	v := view{order: order, set: set, all: set.Len() == s.Len()}
	return s.pageOf(&v, order.ords, by, p)
}

// sortSet gives the members of a small set in order.
func (s *Snapshot) sortSet(set Set, by []Order) []Ord {
	ords := set.AppendTo(nil)
	slices.SortFunc(ords, func(a, b Ord) int { return s.compareNodes(s.Node(a), s.Node(b), by) })
	return ords
}

// lister takes items from one end of a part of a sorted list.
type lister interface {
	// take gives the first n members at the places from lo to before hi, in
	// order; from the end where backward, the last one first.
	take(lo, hi, n int, backward bool) []Ord
}

// pageOf applies the specification's steps: cut at the places given, then
// take First from the front or Last from the back.
func (s *Snapshot) pageOf(l lister, ords []Ord, by []Order, p PageArgs) Page {
	lo, end := 0, len(ords)
	if p.After != nil {
		lo = s.placeAfter(ords, p.After, by, true)
	}
	if p.Before != nil {
		end = s.placeAfter(ords, p.Before, by, false)
	}
	hi := max(lo, end)
	var page Page
	var found []Ord
	switch {
	case p.First >= 0:
		found = l.take(lo, hi, more(p.First), false)
		if page.HasNext = len(found) > p.First; page.HasNext {
			found = found[:p.First]
		}
		if p.Last >= 0 && len(found) > p.Last {
			found = found[len(found)-p.Last:]
			page.HasPrevious = true
		}
	case p.Last >= 0:
		found = l.take(lo, hi, more(p.Last), true)
		if page.HasPrevious = len(found) > p.Last; page.HasPrevious {
			found = found[:p.Last]
		}
		slices.Reverse(found)
	default:
		found = l.take(lo, hi, hi-lo, false)
	}
	if p.Last < 0 && p.After != nil {
		page.HasPrevious = len(l.take(0, lo, 1, true)) > 0
	}
	if p.First < 0 && p.Before != nil {
		page.HasNext = len(l.take(end, len(ords), 1, false)) > 0
	}
	page.Nodes = make([]*Node, len(found))
	for i, o := range found {
		page.Nodes[i] = s.Node(o)
	}
	return page
}

// more is n+1 without overflow: one item more than asked for tells whether
// there are more.
func more(n int) int {
	if n+1 < n {
		return n
	}
	return n + 1
}

// placeAfter gives the first place in ords behind the key; at the key itself
// where it is not to be passed.
func (s *Snapshot) placeAfter(ords []Ord, k *Key, by []Order, pass bool) int {
	i, _ := slices.BinarySearchFunc(ords, k, func(o Ord, k *Key) int {
		c := s.compareKey(s.Node(o), k, by)
		if c == 0 && pass {
			return -1
		}
		if c == 0 {
			return 1
		}
		return c
	})
	return i
}

// sorted is a list of its own.
type sorted []Ord

func (l sorted) take(lo, hi, n int, backward bool) []Ord {
	n = min(n, hi-lo)
	if backward {
		r := slices.Clone(l[hi-n : hi])
		slices.Reverse(r)
		return r
	}
	return slices.Clone(l[lo : lo+n])
}

// view is a set in an order of all incidents.
type view struct {
	order *permutation
	set   Set
	all   bool // set is everything
}

func (v *view) take(lo, hi, n int, backward bool) []Ord {
	n = min(n, hi-lo, v.set.Len())
	if n <= 0 {
		return nil
	}
	if v.all {
		return sorted(v.order.ords).take(lo, hi, n, backward)
	}
	// Walking the order passes about n·N/m incidents to meet n of m members,
	// if they are spread evenly; looking at the members costs m whatever the
	// spread, so the walk is given up when it has cost as much.
	m := v.set.Len()
	if n <= m*m/len(v.order.ords)*2 {
		if found, ok := v.walk(lo, hi, n, 2*m, backward); ok {
			return found
		}
	}
	return v.pick(lo, hi, n, backward)
}

// walk goes through the order until it has met n members; it tells false if
// it has not after the given number of steps.
func (v *view) walk(lo, hi, n, steps int, backward bool) ([]Ord, bool) {
	found := make([]Ord, 0, n)
	for i := range hi - lo {
		if i == steps {
			return nil, false
		}
		o := v.order.ords[lo+i]
		if backward {
			o = v.order.ords[hi-1-i]
		}
		if v.set.Has(o) {
			if found = append(found, o); len(found) == n {
				break
			}
		}
	}
	return found, true
}

// pick looks at each member's place and keeps the n nearest to the end.
func (v *view) pick(lo, hi, n int, backward bool) []Ord {
	ranks := v.order.ranks()
	near := nearest{n: n, bound: 1 << 32}
	if backward {
		near.flip = ^uint32(0)
	}
	low, span := uint32(lo), uint32(hi-lo)
	for i := range v.set.blocks {
		b := &v.set.blocks[i]
		part := ranks[b.key<<blockBits:]
		if b.bits == nil {
			for _, x := range b.list {
				if r := part[x]; r-low < span {
					near.add(r)
				}
			}
			continue
		}
		for w, word := range b.bits {
			for ; word != 0; word &= word - 1 {
				if r := part[w<<6|bits.TrailingZeros64(word)]; r-low < span {
					near.add(r)
				}
			}
		}
	}
	places := near.result()
	found := make([]Ord, len(places))
	for i, r := range places {
		found[i] = v.order.ords[r]
	}
	return found
}

// nearest keeps the n smallest numbers of many, or with flip all ones the n
// largest: up to 2n of them, cut back to n when there is no more room.
type nearest struct {
	n     int
	flip  uint32
	bound uint64 // numbers at or above it (flipped) are too far
	kept  []uint32
}

func (x *nearest) add(r uint32) {
	r ^= x.flip
	if uint64(r) >= x.bound {
		return
	}
	x.kept = append(x.kept, r)
	if len(x.kept) >= 2*x.n {
		x.cut()
	}
}

func (x *nearest) cut() {
	slices.Sort(x.kept)
	if len(x.kept) >= x.n {
		x.kept = x.kept[:x.n]
		x.bound = uint64(x.kept[x.n-1])
	}
}

// result gives the numbers kept, nearest first.
func (x *nearest) result() []uint32 {
	x.cut()
	for i := range x.kept {
		x.kept[i] ^= x.flip
	}
	return x.kept
}
