package index

import (
	"runtime"
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
		return s.pageOf(&view{order: listed(s.sortSet(set, keys)), set: set, all: true}, by, p)
	}
	return s.pageOf(&view{order: s.order(keys), set: set, all: set.Len() == s.Len()}, by, p)
}

// sortSet gives the members of a small set in order.
func (s *Snapshot) sortSet(set Set, by []Order) []Ord {
	ords := set.AppendTo(nil)
	slices.SortFunc(ords, func(a, b Ord) int { return s.compareNodes(s.Node(a), s.Node(b), by) })
	return ords
}

// pageOf applies the specification's steps: cut at the places given, then
// take First from the front or Last from the back.
func (s *Snapshot) pageOf(v *view, by []Order, p PageArgs) Page {
	lo, end := 0, v.order.len()
	if p.After != nil {
		lo = s.placeAfter(v.order, p.After, by, true)
	}
	if p.Before != nil {
		end = s.placeAfter(v.order, p.Before, by, false)
	}
	hi := max(lo, end)
	var page Page
	var found []Ord
	switch {
	case p.First >= 0:
		found = v.take(lo, hi, more(p.First), false)
		if page.HasNext = len(found) > p.First; page.HasNext {
			found = found[:p.First]
		}
		if p.Last >= 0 && len(found) > p.Last {
			found = found[len(found)-p.Last:]
			page.HasPrevious = true
		}
	case p.Last >= 0:
		found = v.take(lo, hi, more(p.Last), true)
		if page.HasPrevious = len(found) > p.Last; page.HasPrevious {
			found = found[:p.Last]
		}
		slices.Reverse(found)
	default:
		found = v.take(lo, hi, hi-lo, false)
	}
	if p.Last < 0 && p.After != nil {
		page.HasPrevious = len(v.take(0, lo, 1, true)) > 0
	}
	if p.First < 0 && p.Before != nil {
		page.HasNext = len(v.take(end, v.order.len(), 1, false)) > 0
	}
	page.Nodes = make([]*Node, len(found))
	for i, o := range found {
		page.Nodes[i] = s.Node(o)
	}
	Fetch(page.Nodes)
	return page
}

// Fetch brings what incidents are listed with, their ids and titles, into the
// processor's caches. Of a large corpus hardly anything is there before, and to
// follow the pointers from node to title to text is to wait for memory three
// times for each incident, one after the other. Here no read waits for one of
// another incident, so that the processor makes those of all at once.
func Fetch(nodes []*Node) {
	var sum int
	for _, n := range nodes {
		sum += len(n.ID) + len(n.Title)
	}
	for _, n := range nodes {
		sum += touch(n.ID)
		for i := range n.Title {
			sum += len(n.Title[i].Text)
		}
	}
	for _, n := range nodes {
		for i := range n.Title {
			sum += touch(n.Title[i].Text)
		}
	}
	runtime.KeepAlive(sum) // or nothing of it would be read
}

// touch reads a byte of each cache line of a string, of a long one the first
// few.
func touch(s string) (sum int) {
	const line, most = 64, 256
	for i := 0; i < len(s) && i < most; i += line {
		sum += int(s[i])
	}
	if n := len(s); 0 < n && n < most {
		sum += int(s[n-1])
	}
	return sum
}

// more is n+1 without overflow: one item more than asked for tells whether
// there are more.
func more(n int) int {
	if n+1 < n {
		return n
	}
	return n + 1
}

// placeAfter gives the first place in an order behind the key; at the key
// itself where it is not to be passed.
func (s *Snapshot) placeAfter(order *sequence, k *Key, by []Order, pass bool) int {
	return order.search(func(o Ord) bool {
		c := s.compareKey(s.Node(o), k, by)
		return c < 0 || c == 0 && pass
	})
}

// view is a set in an order of all incidents, or of its own members.
type view struct {
	order *sequence
	set   Set
	all   bool // set is everything in the order
}

// take gives the first n members at the places from lo to before hi, in order;
// from the end where backward, the last one first.
func (v *view) take(lo, hi, n int, backward bool) []Ord {
	n = min(n, hi-lo, v.set.Len())
	if n <= 0 {
		return nil
	}
	if v.all {
		if !backward {
			return v.order.items(lo, lo+n)
		}
		found := v.order.items(hi-n, hi)
		slices.Reverse(found)
		return found
	}
	// Walking the order passes about n·N/m incidents to meet n of m members,
	// if they are spread evenly, up to 64 at a time where it is that of the
	// numbers; to look at the members costs the same whatever the spread, so the
	// walk is given up when it has cost as much.
	m, atOnce := v.set.Len(), 1
	start := lo
	if backward {
		start = hi - 1
	}
	if v.order.isRising(v.order.partAt(start)) {
		atOnce = 64
	}
	cost := 2 * v.set.steps()
	if float64(n)*float64(v.order.len()) <= float64(m)*float64(cost*atOnce) {
		if found, ok := v.walk(lo, hi, n, cost, backward); ok {
			return found
		}
	}
	return v.pick(lo, hi, n, backward)
}

// walk goes through the order until it has met n members; it tells false if
// it has not after the given number of steps.
func (v *view) walk(lo, hi, n, steps int, backward bool) ([]Ord, bool) {
	found := make([]Ord, 0, n)
	take := func(o Ord) bool {
		found = append(found, o)
		return len(found) < n
	}
	v.order.eachPart(lo, hi, backward, func(p int, part []Ord) bool {
		if words := v.order.words(p, part); words < len(part) {
			steps -= words
			return v.set.eachBetween(part[0], part[len(part)-1], backward, func(o Ord) bool {
				// Other members between these are elsewhere in the order.
				return v.order.partOf(o) != p || take(o)
			}) && steps >= 0
		}
		for i := range min(len(part), steps) {
			o := part[i]
			if backward {
				o = part[len(part)-1-i]
			}
			if v.set.Has(o) && !take(o) {
				return false
			}
		}
		steps -= len(part)
		return steps >= 0
	})
	return found, len(found) == n || steps >= 0
}

// pick counts the members in each part of the order and looks for their places
// only in those parts that are nearest to the end.
func (v *view) pick(lo, hi, n int, backward bool) []Ord {
	first, last := v.order.partAt(lo), v.order.partAt(hi-1)
	counts := make([]int32, last-first+1)
	for o := range v.set.All() {
		if p := v.order.partOf(o) - first; uint(p) < uint(len(counts)) {
			counts[p]++
		}
	}
	near := nearest(counts, n, backward)
	places := make([]uint32, 0, 2*n)
	for o := range v.set.All() {
		if p := v.order.partOf(o) - first; near.from <= p && p < near.to {
			if place := v.order.placeOf(o); lo <= place && place < hi {
				places = append(places, uint32(place))
			}
		}
	}
	slices.Sort(places)
	if backward {
		slices.Reverse(places)
	}
	found := make([]Ord, min(n, len(places)))
	for i := range found {
		found[i] = v.order.at(int(places[i]))
	}
	return found
}

// partSpan is some consecutive parts.
type partSpan struct{ from, to int }

// nearest gives the parts that hold at least n members, from one end. Of the
// first part and the last it is not known how many of the members count.
func nearest(counts []int32, n int, backward bool) partSpan {
	s := partSpan{0, len(counts)}
	found := 0
	for i := 1; i < len(counts)-1; i++ {
		p := i
		if backward {
			p = len(counts) - 1 - i
		}
		if found += int(counts[p]); found >= n {
			if backward {
				s.from = p
			} else {
				s.to = p + 1
			}
			break
		}
	}
	return s
}
