package index

import (
	"iter"
	"maps"
	"slices"
	"sort"
)

const (
	// partLen is how many items a new part of a sequence has, maxPart how many
	// it may grow to before it is split.
	partLen  = 512
	maxPart  = 1 << partBits
	partBits = 10
)

// sequence is a sorted list of incidents that is never changed: what is
// derived from it shares all parts but those that the change touches, so that
// moving one incident of a million copies some tens of kilobytes.
//
// Each part has a number of its own, which it keeps as long as it lives, and
// each incident knows the part that it is in. So an incident is found without
// knowing the values that it was sorted by, which may have changed since.
type sequence struct {
	parts  [][]Ord  // none of them empty
	starts []uint32 // by place of a part, the number of items before it
	number []uint32 // by place of a part
	place  []uint32 // by number of a part; meaningless where it lives no more
	rising []bool   // by number of a part, whether its Ords are
	// home tells of each incident the number of its part, and roughly where in
	// it the incident is: see homeOf. It is 0 where the incident is not in the
	// list. A short list may do without: see listed.
	home  vector[uint32]
	batch uint64 // how many times it was derived: the owner of chunks of home
}

// newSequence makes a sequence of sorted incidents, none of them twice. It
// keeps ords.
func newSequence(ords []Ord) *sequence {
	q := &sequence{}
	home := q.home.edit(q.batch)
	q.add(&home, slices.Chunk(ords, partLen))
	q.home = home.vector
	q.finish()
	return q
}

// listed makes a sequence of few sorted incidents that is only read in order.
func listed(ords []Ord) *sequence {
	q := &sequence{}
	if len(ords) > 0 {
		q.parts, q.starts = [][]Ord{ords}, []uint32{0}
	}
	return q
}

// add adds new parts at the end.
func (q *sequence) add(home *editor[uint32], parts iter.Seq[[]Ord]) {
	for part := range parts {
		q.parts = append(q.parts, part)
		q.number = append(q.number, uint32(len(q.place)))
		q.place = append(q.place, 0)
		q.rising = append(q.rising, isRising(part))
		for i, o := range part {
			home.set(uint32(o), homeOf(len(q.place)-1, i))
		}
	}
}

func isRising(part []Ord) bool {
	for i := 1; i < len(part); i++ {
		if part[i] <= part[i-1] {
			return false
		}
	}
	return true
}

// isRising tells whether the Ords of a part, by its place, are in rising order.
func (q *sequence) isRising(p int) bool { return q.number != nil && q.rising[q.number[p]] }

// words gives the number of words of a bitmap that hold the items of a part,
// or of some of it in a row, where these are in the order of the bits; else as
// many as there are items.
func (q *sequence) words(p int, part []Ord) int {
	if !q.isRising(p) {
		return len(part)
	}
	return int(part[len(part)-1]-part[0])/64 + 1
}

// homeOf packs the number of a part and a place in it; there are fewer parts
// than 2^22, for there are fewer than 2^31 incidents.
func homeOf(number, i int) uint32 { return uint32(number<<partBits|i) + 1 }

func partNumber(home uint32) uint32 { return (home - 1) >> partBits }

// finish works out what follows from the parts.
func (q *sequence) finish() {
	q.starts = make([]uint32, len(q.parts))
	n := 0
	for i, part := range q.parts {
		q.starts[i] = uint32(n)
		q.place[q.number[i]] = uint32(i)
		n += len(part)
	}
}

func (q *sequence) len() int {
	if len(q.parts) == 0 {
		return 0
	}
	last := len(q.parts) - 1
	return int(q.starts[last]) + len(q.parts[last])
}

// at gives the item at a place.
func (q *sequence) at(i int) Ord {
	p := q.partAt(i)
	return q.parts[p][i-int(q.starts[p])]
}

// partAt gives the place of the part that the i-th item is in; there must be one.
func (q *sequence) partAt(i int) int {
	p, found := slices.BinarySearch(q.starts, uint32(i))
	if !found {
		p--
	}
	return p
}

// partOf gives the place of the part that an item is in.
func (q *sequence) partOf(o Ord) int { return int(q.place[partNumber(q.home.at(uint32(o)))]) }

// placeOf gives the place of an item. In its part it is not far from where it
// was when it came there: as far as others have come and gone since.
func (q *sequence) placeOf(o Ord) int {
	home := q.home.at(uint32(o))
	p := q.place[partNumber(home)]
	part, near := q.parts[p], int((home-1)%maxPart)
	for d := range maxPart {
		if i := near - d; 0 <= i && i < len(part) && part[i] == o {
			return int(q.starts[p]) + i
		}
		if i := near + d; i < len(part) && part[i] == o {
			return int(q.starts[p]) + i
		}
	}
	panic("index: an incident is not in its part of an order")
}

// search gives the place of the first item that is not before something;
// before must tell true for all items up to there.
func (q *sequence) search(before func(Ord) bool) int {
	p := sort.Search(len(q.parts), func(p int) bool { return !before(q.parts[p][len(q.parts[p])-1]) })
	if p == len(q.parts) {
		return q.len()
	}
	part := q.parts[p]
	return int(q.starts[p]) + sort.Search(len(part), func(i int) bool { return !before(part[i]) })
}

// eachPart calls f for the items from place lo to before hi, part by part,
// until f gives false; from the end where backward. p is the part's place.
func (q *sequence) eachPart(lo, hi int, backward bool, f func(p int, part []Ord) bool) {
	if lo >= hi {
		return
	}
	first, last := q.partAt(lo), q.partAt(hi-1)
	for i := range last - first + 1 {
		p := first + i
		if backward {
			p = last - i
		}
		start := int(q.starts[p])
		part := q.parts[p]
		if !f(p, part[max(lo-start, 0):min(hi-start, len(part))]) {
			return
		}
	}
}

// items gives a list of those from place lo to before hi.
func (q *sequence) items(lo, hi int) []Ord {
	ords := make([]Ord, 0, max(hi-lo, 0))
	q.eachPart(lo, hi, false, func(_ int, part []Ord) bool {
		ords = append(ords, part...)
		return true
	})
	return ords
}

// set gives the set of those from place lo to before hi.
func (q *sequence) set(lo, hi int) Set {
	var b SetBuilder
	first, next := Ord(0), Ord(0) // a run of parts: from first to before next
	flush := func() {
		if first < next {
			b.addRun(first, next-1)
		}
	}
	q.eachPart(lo, hi, false, func(p int, part []Ord) bool {
		if !q.isRun(p, part) {
			for _, o := range part {
				b.Add(o)
			}
			return true
		}
		if part[0] != next {
			flush()
			first = part[0]
		}
		next = part[len(part)-1] + 1
		return true
	})
	flush()
	return b.Set()
}

// scattered counts those from place lo to before hi that set has to add one by
// one.
func (q *sequence) scattered(lo, hi int) (n int) {
	q.eachPart(lo, hi, false, func(p int, part []Ord) bool {
		if !q.isRun(p, part) {
			n += len(part)
		}
		return true
	})
	return n
}

// isRun tells whether a part, or some of it in a row, is numbers that follow one
// upon the other.
func (q *sequence) isRun(p int, part []Ord) bool {
	return q.isRising(p) && int(part[len(part)-1]-part[0]) == len(part)-1
}

// derive gives the sequence without the incidents that changed, and with those
// that arrived, sorted; compare tells where those stand among the others.
func (q *sequence) derive(changed *changedOrds, arrived []Ord, compare func(a, b Ord) int) *sequence {
	r := &sequence{place: slices.Clone(q.place), rising: slices.Clone(q.rising), batch: q.batch + 1}
	home := q.home.edit(r.batch)
	q.removeTo(r, &home, changed)
	r.insert(&home, arrived, compare)
	r.home = home.vector
	r.finish()
	n := r.len()
	if few := n/partLen + 1; len(r.parts) > 4*few || len(r.place) > 8*few { // many have become small or are gone
		return newSequence(r.items(0, n))
	}
	return r
}

// removeTo makes the parts of r those of q without some incidents.
func (q *sequence) removeTo(r *sequence, home *editor[uint32], changed *changedOrds) {
	gone := make(map[int]int) // by place of a part, how many
	for o := range changed.all() {
		if h := home.at(uint32(o)); h != 0 {
			home.set(uint32(o), 0)
			gone[int(q.place[partNumber(h)])]++
		}
	}
	r.parts = make([][]Ord, 0, len(q.parts)+1)
	r.number = make([]uint32, 0, len(q.parts)+1)
	kept := 0
	for _, p := range slices.Sorted(maps.Keys(gone)) {
		r.share(q.parts[kept:p], q.number[kept:p])
		kept = p + 1
		if left := len(q.parts[p]) - gone[p]; left > 0 {
			part := make([]Ord, 0, left)
			for _, o := range q.parts[p] {
				if home.at(uint32(o)) != 0 {
					part = append(part, o)
				}
			}
			r.share([][]Ord{part}, q.number[p:p+1])
		}
	}
	r.share(q.parts[kept:], q.number[kept:])
}

// share adds parts that have their numbers.
func (q *sequence) share(parts [][]Ord, numbers []uint32) {
	q.parts = append(q.parts, parts...)
	q.number = append(q.number, numbers...)
}

// insert puts sorted incidents where they belong.
func (q *sequence) insert(home *editor[uint32], arrived []Ord, compare func(a, b Ord) int) {
	if len(arrived) == 0 {
		return
	}
	if len(q.parts) == 0 {
		q.add(home, slices.Chunk(arrived, partLen))
		return
	}
	parts, number := q.parts, q.number
	q.parts, q.number = make([][]Ord, 0, len(parts)+1), make([]uint32, 0, len(parts)+1)
	kept := 0
	for len(arrived) > 0 {
		// A part takes what belongs before its end, the last one the rest too.
		p := kept + sort.Search(len(parts)-1-kept, func(i int) bool {
			part := parts[kept+i]
			return compare(arrived[0], part[len(part)-1]) < 0
		})
		n := len(arrived)
		if p < len(parts)-1 {
			end := parts[p][len(parts[p])-1]
			n = sort.Search(n, func(i int) bool { return compare(arrived[i], end) > 0 })
		}
		q.share(parts[kept:p], number[kept:p])
		q.grow(home, number[p], merged(parts[p], arrived[:n], compare))
		kept, arrived = p+1, arrived[n:]
	}
	q.share(parts[kept:], number[kept:])
}

// grow adds a part with its number, in several where it is too long for one.
func (q *sequence) grow(home *editor[uint32], number uint32, part []Ord) {
	size := len(part)
	if size > maxPart {
		pieces := size / partLen
		size = (size + pieces - 1) / pieces
	}
	for i, o := range part[:size] {
		if h := home.at(uint32(o)); h == 0 || partNumber(h) != number { // to set it may copy
			home.set(uint32(o), homeOf(int(number), i))
		}
	}
	q.rising[number] = isRising(part[:size])
	q.share([][]Ord{part[:size:size]}, []uint32{number})
	q.add(home, slices.Chunk(part[size:], size))
}

// merged merges two sorted lists.
func merged(a, b []Ord, compare func(a, b Ord) int) []Ord {
	r := make([]Ord, 0, len(a)+len(b))
	for _, x := range b {
		i := sort.Search(len(a), func(i int) bool { return compare(a[i], x) > 0 })
		r = append(append(r, a[:i]...), x)
		a = a[i:]
	}
	return append(r, a...)
}
