package index

import (
	"iter"
	"math/bits"
	"slices"
)

// A Set is cut into blocks of BlockSize consecutive numbers. A block with few
// members is a sorted list of the low 16 bits, any other a bitmap: the idea of
// Roaring bitmaps (Chambi, Lemire, Kaser & Godin 2016), with a lower limit for
// lists because combining two bitmaps is the faster, and with blocks that are
// never changed, so that a change to one block of a large set copies no other.
const (
	// BlockSize is the number of Ords that one block covers.
	BlockSize = 1 << blockBits
	// BlockWords is the number of 64-bit words of a block's bitmap.
	BlockWords = BlockSize / 64

	blockBits = 16
	// listMax is the most members that a block keeps as a list: at 1,024 a
	// list takes 2 KB and a bitmap 8 KB.
	listMax = 256
)

// Words is the bitmap of one block: Ord o is bit o%64 of word o%BlockSize/64.
type Words [BlockWords]uint64

// block holds the members with one value of the high bits; it is immutable
// and never empty.
type block struct {
	key  uint32   // Ord >> blockBits
	n    uint32   // number of members
	list []uint16 // sorted low bits, where bits is nil
	bits *Words
	// also is a second bitmap that members must be in, nil for none: an
	// intersection is counted, and made only where it has to be. Most are of
	// two terms, for a page and a number.
	also *Words
}

// word gives one word of a bitmap block.
func (b *block) word(i int) uint64 {
	if b.also == nil {
		return b.bits[i]
	}
	return b.bits[i] & b.also[i]
}

// has tells whether a bitmap block has a member.
func (b *block) has(low uint16) bool {
	return b.bits.has(low) != 0 && (b.also == nil || b.also.has(low) != 0)
}

// plain gives the block with one bitmap at most.
func (b *block) plain() *block {
	if b.also == nil {
		return b
	}
	w := new(Words)
	for i := range w {
		w[i] = b.bits[i] & b.also[i]
	}
	return &block{key: b.key, n: b.n, bits: w}
}

// Set is an immutable set of incident numbers. Small sets are sorted slices,
// large ones bitmaps; the zero Set is empty. Sets of one snapshot may be
// combined; what comes out belongs to the caller and is immutable too.
type Set struct {
	blocks []block // by key
	n      int
}

// Len gives the number of members; it costs nothing.
func (a Set) Len() int { return a.n }

// steps gives the number of members, and of words of bitmaps, that All goes
// through.
func (a Set) steps() int {
	n := a.n
	for i := range a.blocks {
		if a.blocks[i].bits != nil {
			n += BlockWords
		}
	}
	return n
}

// Has tells whether o is a member.
func (a Set) Has(o Ord) bool {
	b := a.block(uint32(o) >> blockBits)
	switch {
	case b == nil:
		return false
	case b.bits != nil:
		return b.has(uint16(o % BlockSize))
	}
	_, ok := slices.BinarySearch(b.list, uint16(o%BlockSize))
	return ok
}

// block finds the block with the key, nil where there is none. Most sets have
// all blocks, so that the key is the place.
func (a Set) block(key uint32) *block {
	if int(key) < len(a.blocks) && a.blocks[key].key == key {
		return &a.blocks[key]
	}
	return a.findBlock(key)
}

func (a Set) findBlock(key uint32) *block {
	i, ok := slices.BinarySearchFunc(a.blocks, key, func(b block, key uint32) int {
		return int(b.key) - int(key)
	})
	if !ok {
		return nil
	}
	return &a.blocks[i]
}

// And gives the members of both.
func (a Set) And(b Set) Set {
	var r Set
	eachPair(a, b, func(x, y *block) {
		if x != nil && y != nil {
			r.push(x.and(y))
		}
	})
	return r
}

// AndLen gives the size of the intersection: And(b).Len() without the set.
func (a Set) AndLen(b Set) int {
	n := 0
	eachPair(a, b, func(x, y *block) {
		if x != nil && y != nil {
			n += x.andLen(y)
		}
	})
	return n
}

// Or gives the members of either.
func (a Set) Or(b Set) Set {
	if a.n == 0 {
		return b
	}
	if b.n == 0 {
		return a
	}
	r := Set{blocks: make([]block, 0, max(len(a.blocks), len(b.blocks)))}
	eachPair(a, b, func(x, y *block) {
		switch {
		case x == nil:
			r.push(*y)
		case y == nil:
			r.push(*x)
		default:
			r.push(x.or(y))
		}
	})
	return r
}

// AndNot gives the members of a that are not in b.
func (a Set) AndNot(b Set) Set {
	if b.n == 0 {
		return a
	}
	var r Set
	eachPair(a, b, func(x, y *block) {
		switch {
		case x == nil:
		case y == nil:
			r.push(*x)
		default:
			r.push(x.andNot(y))
		}
	})
	return r
}

// All yields the members in ascending order.
func (a Set) All() iter.Seq[Ord] {
	return func(yield func(Ord) bool) {
		for i := range a.blocks {
			b := &a.blocks[i]
			base := Ord(b.key) << blockBits
			if b.bits == nil {
				for _, low := range b.list {
					if !yield(base | Ord(low)) {
						return
					}
				}
				continue
			}
			for w := range b.bits {
				for word := b.word(w); word != 0; word &= word - 1 {
					if !yield(base | Ord(w*64+bits.TrailingZeros64(word))) {
						return
					}
				}
			}
		}
	}
}

// eachBetween calls f for the members from first to last, in ascending order,
// in descending order where backward, until f gives false; then it does, too.
func (a Set) eachBetween(first, last Ord, backward bool, f func(Ord) bool) bool {
	from, to := uint32(first)>>blockBits, uint32(last)>>blockBits
	for i := range to - from + 1 {
		key := from + i
		if backward {
			key = to - i
		}
		b := a.block(key)
		if b == nil {
			continue
		}
		lo, hi := uint16(0), uint16(BlockSize-1)
		if key == from {
			lo = uint16(first % BlockSize)
		}
		if key == to {
			hi = uint16(last % BlockSize)
		}
		if !b.eachBetween(lo, hi, backward, f) {
			return false
		}
	}
	return true
}

func (b *block) eachBetween(lo, hi uint16, backward bool, f func(Ord) bool) bool {
	base := Ord(b.key) << blockBits
	if b.bits == nil {
		start, _ := slices.BinarySearch(b.list, lo)
		end, found := slices.BinarySearch(b.list, hi)
		if found {
			end++
		}
		list := b.list[start:end]
		for i, low := range list {
			if backward {
				low = list[len(list)-1-i]
			}
			if !f(base | Ord(low)) {
				return false
			}
		}
		return true
	}
	start, end := int(lo/64), int(hi/64)
	for i := range end - start + 1 {
		w := start + i
		if backward {
			w = end - i
		}
		word := b.word(w)
		if w == start {
			word &= ^uint64(0) << (lo % 64)
		}
		if w == end {
			word &= ^uint64(0) >> (63 - hi%64)
		}
		for word != 0 {
			bit := bits.TrailingZeros64(word)
			if backward {
				bit = 63 - bits.LeadingZeros64(word)
			}
			if !f(base | Ord(w*64+bit)) {
				return false
			}
			word &^= 1 << bit
		}
	}
	return true
}

// AppendTo appends the members to ords in ascending order.
func (a Set) AppendTo(ords []Ord) []Ord {
	ords = slices.Grow(ords, a.n)
	for i := range a.blocks {
		b := &a.blocks[i]
		base := Ord(b.key) << blockBits
		if b.bits == nil {
			for _, low := range b.list {
				ords = append(ords, base|Ord(low))
			}
			continue
		}
		for w := range b.bits {
			for word := b.word(w); word != 0; word &= word - 1 {
				ords = append(ords, base|Ord(w*64+bits.TrailingZeros64(word)))
			}
		}
	}
	return ords
}

// Chunks yields the members in ascending order, as many at a time as buffer
// has room for, which is 64 or more. Each chunk lies in buffer and lasts until
// the next one.
func (a Set) Chunks(buffer []Ord) iter.Seq[[]Ord] {
	return func(yield func([]Ord) bool) {
		n := 0
		for i := range a.blocks {
			b := &a.blocks[i]
			base := Ord(b.key) << blockBits
			for list := b.list; len(list) > 0; {
				if n == len(buffer) {
					if !yield(buffer) {
						return
					}
					n = 0
				}
				part := list[:min(len(list), len(buffer)-n)]
				for _, low := range part {
					buffer[n] = base | Ord(low)
					n++
				}
				list = list[len(part):]
			}
			if b.bits == nil {
				continue
			}
			for w := range b.bits {
				word := b.word(w)
				if n > len(buffer)-64 && word != 0 {
					if !yield(buffer[:n]) {
						return
					}
					n = 0
				}
				for ; word != 0; word &= word - 1 {
					buffer[n] = base | Ord(w*64+bits.TrailingZeros64(word))
					n++
				}
			}
		}
		if n > 0 {
			yield(buffer[:n])
		}
	}
}

// Blocks gives the number of blocks that the numbers up to the largest member
// span.
func (a Set) Blocks() int {
	if len(a.blocks) == 0 {
		return 0
	}
	return int(a.blocks[len(a.blocks)-1].key) + 1
}

// Words gives block i as a bitmap, nil where the block has no member. The
// bitmap is the set's own or *scratch, which is overwritten where needed; it
// must not be changed.
func (a Set) Words(i int, scratch *Words) *Words {
	b := a.block(uint32(i))
	switch {
	case b == nil:
		return nil
	case b.also != nil:
		for w := range scratch {
			scratch[w] = b.word(w)
		}
		return scratch
	case b.bits != nil:
		return b.bits
	}
	*scratch = Words{}
	scratch.addList(b.list)
	return scratch
}

// BlockLen gives the number of members in block i; it costs nothing.
func (a Set) BlockLen(i int) int {
	if b := a.block(uint32(i)); b != nil {
		return int(b.n)
	}
	return 0
}

// AddTo adds the members in block i to w.
func (a Set) AddTo(i int, w *Words) {
	switch b := a.block(uint32(i)); {
	case b == nil:
	case b.bits == nil:
		w.addList(b.list)
	default:
		w.addWords(b.plain().bits)
	}
}

// Own gives the set with memory of its own, for one that is kept: what And gave
// may need that of the sets it is of.
func (a Set) Own() Set {
	if !slices.ContainsFunc(a.blocks, func(b block) bool { return b.also != nil }) {
		return a
	}
	own := Set{blocks: make([]block, len(a.blocks)), n: a.n}
	for i := range a.blocks {
		own.blocks[i] = *a.blocks[i].plain()
	}
	return own
}

// SetOf makes a set of numbers in any order, repeated ones counting once.
func SetOf(ords ...Ord) Set {
	if !slices.IsSorted(ords) {
		if len(ords) > listMax {
			return scattered(ords)
		}
		ords = slices.Sorted(slices.Values(ords))
	}
	var r Set
	for i := 0; i < len(ords); {
		key := uint32(ords[i]) >> blockBits
		end := i + 1
		for end < len(ords) && uint32(ords[end])>>blockBits == key {
			end++
		}
		r.push(sortedBlock(key, ords[i:end]))
		i = end
	}
	return r
}

// sortedBlock makes a block of sorted numbers, at least one.
func sortedBlock(key uint32, ords []Ord) block {
	if len(ords) > listMax {
		var w Words
		for _, o := range ords {
			w.add(uint16(o % BlockSize))
		}
		return w.block(key)
	}
	list := make([]uint16, 0, len(ords))
	for i, o := range ords {
		if i == 0 || o != ords[i-1] {
			list = append(list, uint16(o%BlockSize))
		}
	}
	return listBlock(key, list)
}

// scattered makes a set of many unsorted numbers by way of bitmaps.
func scattered(ords []Ord) Set {
	maps := make([]*Words, uint32(slices.Max(ords))>>blockBits+1)
	for _, o := range ords {
		k := uint32(o) >> blockBits
		if maps[k] == nil {
			maps[k] = new(Words)
		}
		maps[k].add(uint16(o % BlockSize))
	}
	var r Set
	for k, w := range maps {
		if w != nil {
			r.push(w.block(uint32(k)))
		}
	}
	return r
}

// Union gives the members of any of the sets.
func Union(sets ...Set) Set {
	sets = withMembers(sets)
	switch {
	case len(sets) == 0:
		return Set{}
	case len(sets) == 1:
		return sets[0]
	case totalLen(sets) <= listMax:
		return smallUnion(sets)
	}
	var r Set
	var w Words
	for i := range span(sets) {
		w = Words{}
		for _, a := range sets {
			a.AddTo(i, &w)
		}
		r.push(w.block(uint32(i)))
	}
	return r
}

// AtLeast gives the numbers that are members of at least k of the sets, k
// being 1 or more. It adds up 64 membership bits at a time in vertical
// counters, so that its cost does not depend on the number of members.
func AtLeast(k int, sets ...Set) Set {
	sets = withMembers(sets)
	switch {
	case len(sets) < k:
		return Set{}
	case k == 1:
		return Union(sets...)
	}
	var r Set
	planes := make([]Words, bits.Len(uint(len(sets))))
	for i := range span(sets) {
		if w := countBlock(i, k, sets, planes); w != nil {
			r.push(w.block(uint32(i)))
		}
	}
	return r
}

func withMembers(sets []Set) []Set {
	return slices.DeleteFunc(slices.Clone(sets), func(a Set) bool { return a.n == 0 })
}

// span gives the number of blocks that the sets span.
func span(sets []Set) int {
	n := 0
	for _, a := range sets {
		n = max(n, a.Blocks())
	}
	return n
}

func totalLen(sets []Set) int {
	n := 0
	for _, a := range sets {
		n += a.n
	}
	return n
}

func smallUnion(sets []Set) Set {
	ords := make([]Ord, 0, totalLen(sets))
	for _, a := range sets {
		ords = a.AppendTo(ords)
	}
	return SetOf(ords...)
}

// countBlock counts the members in block i over the sets into planes, plane i
// holding bit i of each count, and gives those counted k times or more; nil
// where no set has the block.
func countBlock(i, k int, sets []Set, planes []Words) *Words {
	clear(planes)
	var scratch Words
	found := 0
	for _, a := range sets {
		w := a.Words(i, &scratch)
		if w == nil {
			continue
		}
		found++
		for j, carry := range w {
			for p := 0; carry != 0; p++ {
				planes[p][j], carry = planes[p][j]^carry, planes[p][j]&carry
			}
		}
	}
	if found < k {
		return nil
	}
	return atLeast(planes, k)
}

// atLeast compares vertical counters with k, from the highest bit down.
func atLeast(planes []Words, k int) *Words {
	r := new(Words)
	for i := range r {
		var greater uint64
		equal := ^uint64(0)
		for p := len(planes) - 1; p >= 0; p-- {
			if k>>p&1 != 0 {
				equal &= planes[p][i]
				continue
			}
			greater |= equal & planes[p][i]
			equal &^= planes[p][i]
		}
		r[i] = greater | equal
	}
	return r
}

// with gives the set with numbers added and removed; both are sorted and
// without repetition, and no number is in both. Untouched blocks are shared.
func (a Set) with(add, del []Ord) Set {
	if len(add)+len(del) == 0 {
		return a
	}
	r := Set{blocks: make([]block, 0, len(a.blocks)+1)}
	i := 0
	for len(add) > 0 || len(del) > 0 {
		key := ^uint32(0)
		if len(add) > 0 {
			key = uint32(add[0]) >> blockBits
		}
		if len(del) > 0 {
			key = min(key, uint32(del[0])>>blockBits)
		}
		for ; i < len(a.blocks) && a.blocks[i].key < key; i++ {
			r.push(a.blocks[i])
		}
		old := block{key: key}
		if i < len(a.blocks) && a.blocks[i].key == key {
			old = a.blocks[i]
			i++
		}
		var adds, dels []Ord
		adds, add = cutBlock(add, key)
		dels, del = cutBlock(del, key)
		r.push(old.with(adds, dels))
	}
	for ; i < len(a.blocks); i++ {
		r.push(a.blocks[i])
	}
	return r
}

// cutBlock splits sorted numbers after the block with the key.
func cutBlock(ords []Ord, key uint32) (in, rest []Ord) {
	end, _ := slices.BinarySearchFunc(ords, uint64(key+1)<<blockBits, func(o Ord, limit uint64) int {
		if uint64(o) < limit {
			return -1
		}
		return 1
	})
	return ords[:end], ords[end:]
}

func (b block) with(add, del []Ord) block {
	if b.bits == nil && len(b.list)+len(add) <= listMax {
		return listBlock(b.key, mergeList(b.list, add, del))
	}
	w := new(Words)
	if b.bits != nil {
		*w = *b.plain().bits
	} else {
		w.addList(b.list)
	}
	for _, o := range add {
		w.add(uint16(o % BlockSize))
	}
	for _, o := range del {
		w[o%BlockSize/64] &^= 1 << (o % 64)
	}
	b.n += uint32(len(add) - len(del))
	b.list, b.bits, b.also = nil, w, nil
	if b.n <= listMax/2 { // not at once, lest a set at the limit turn back and forth
		return listBlock(b.key, w.list(int(b.n)))
	}
	return b
}

// mergeList gives a sorted list with numbers added and removed.
func mergeList(list []uint16, add, del []Ord) []uint16 {
	r := make([]uint16, 0, len(list)+len(add))
	for _, low := range list {
		for len(add) > 0 && uint16(add[0]%BlockSize) < low {
			r = append(r, uint16(add[0]%BlockSize))
			add = add[1:]
		}
		if len(del) > 0 && uint16(del[0]%BlockSize) == low {
			del = del[1:]
			continue
		}
		r = append(r, low)
	}
	for _, o := range add {
		r = append(r, uint16(o%BlockSize))
	}
	return r
}

// push adds a block behind the last; an empty one is left out.
func (a *Set) push(b block) {
	if b.n == 0 {
		return
	}
	a.blocks = append(a.blocks, b)
	a.n += int(b.n)
}

// eachPair calls f with the blocks of equal key, nil for the one that lacks
// it, by key.
func eachPair(a, b Set, f func(x, y *block)) {
	i, j := 0, 0
	for i < len(a.blocks) || j < len(b.blocks) {
		switch {
		case j == len(b.blocks) || i < len(a.blocks) && a.blocks[i].key < b.blocks[j].key:
			f(&a.blocks[i], nil)
			i++
		case i == len(a.blocks) || b.blocks[j].key < a.blocks[i].key:
			f(nil, &b.blocks[j])
			j++
		default:
			f(&a.blocks[i], &b.blocks[j])
			i++
			j++
		}
	}
}

func (b *block) and(c *block) block {
	switch {
	case b.bits != nil && c.bits != nil:
		return andBits(b.plain(), c.plain())
	case b.bits == nil && c.bits == nil:
		return listBlock(b.key, intersect(b.list, c.list))
	case b.bits != nil:
		b, c = c, b
	}
	return b.filter(c, true)
}

func (b *block) andLen(c *block) int {
	n := 0
	switch {
	case b.bits != nil && c.bits != nil:
		for i := range b.bits {
			n += bits.OnesCount64(b.word(i) & c.word(i))
		}
		return n
	case b.bits == nil && c.bits == nil:
		return len(intersect(b.list, c.list))
	case b.bits != nil:
		b, c = c, b
	}
	for _, low := range b.list {
		if c.has(low) {
			n++
		}
	}
	return n
}

func (b *block) or(c *block) block {
	if b.bits == nil && c.bits == nil && len(b.list)+len(c.list) <= listMax {
		return listBlock(b.key, mergeLists(b.list, c.list))
	}
	if b.bits == nil {
		b, c = c, b
	}
	w := new(Words)
	if b.bits != nil {
		*w = *b.plain().bits
	}
	w.addList(b.list)
	w.addList(c.list)
	if c.bits != nil {
		w.addWords(c.plain().bits)
	}
	return block{key: b.key, n: uint32(w.Count()), bits: w}
}

func (b *block) andNot(c *block) block {
	switch {
	case b.bits != nil && c.bits != nil:
		return andNotBits(b, c)
	case b.bits != nil:
		w := *b.plain().bits
		for _, low := range c.list {
			w[low/64] &^= 1 << (low % 64)
		}
		return w.block(b.key)
	case c.bits != nil:
		return b.filter(c, false)
	}
	return listBlock(b.key, without(b.list, c.list))
}

// andBits gives the members of both, of which each has one bitmap. They are
// counted, which takes a fraction of what a bitmap of them does.
func andBits(b, c *block) block {
	switch {
	case b.n == BlockSize: // of all incidents, mostly
		return *c
	case c.n == BlockSize:
		return *b
	}
	n := b.bits.countAnd(c.bits)
	both := block{key: b.key, n: uint32(n), bits: b.bits, also: c.bits}
	switch {
	case n == int(b.n):
		return *b
	case n == int(c.n):
		return *c
	case n > listMax:
		return both
	}
	list := make([]uint16, 0, n)
	for i := range both.bits {
		list = appendBits(list, i, both.word(i))
	}
	return listBlock(b.key, list)
}

// andNotBits gives the members of b that are not in c.
func andNotBits(b, c *block) block {
	var w Words
	for i := range w {
		w[i] = b.word(i) &^ c.word(i)
	}
	return w.block(b.key)
}

// filter gives those members of a list block that a bitmap has, or lacks where
// they are not wanted.
func (b *block) filter(c *block, wanted bool) block {
	list := make([]uint16, 0, len(b.list))
	for _, low := range b.list {
		if c.has(low) == wanted {
			list = append(list, low)
		}
	}
	return listBlock(b.key, list)
}

func listBlock(key uint32, list []uint16) block {
	return block{key: key, n: uint32(len(list)), list: list}
}

// appendBits appends the members that word i of a bitmap holds.
func appendBits(list []uint16, i int, word uint64) []uint16 {
	for ; word != 0; word &= word - 1 {
		list = append(list, uint16(i*64+bits.TrailingZeros64(word)))
	}
	return list
}

// without gives the numbers of a sorted list that are not in another.
func without(a, b []uint16) []uint16 {
	r := make([]uint16, 0, len(a))
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != x {
			r = append(r, x)
		}
	}
	return r
}

func intersect(a, b []uint16) []uint16 {
	if len(a) > len(b) {
		a, b = b, a
	}
	r := make([]uint16, 0, len(a))
	for _, x := range a {
		i, ok := slices.BinarySearch(b, x)
		if ok {
			r = append(r, x)
		}
		b = b[i:]
	}
	return r
}

func mergeLists(a, b []uint16) []uint16 {
	r := make([]uint16, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			r, a = append(r, a[0]), a[1:]
		case b[0] < a[0]:
			r, b = append(r, b[0]), b[1:]
		default:
			r, a, b = append(r, a[0]), a[1:], b[1:]
		}
	}
	return append(append(r, a...), b...)
}

func (w *Words) add(low uint16) { w[low/64] |= 1 << (low % 64) }

func (w *Words) has(low uint16) uint64 { return w[low/64] >> (low % 64) & 1 }

func (w *Words) addList(list []uint16) {
	for _, low := range list {
		w.add(low)
	}
}

func (w *Words) addWords(x *Words) {
	for i, word := range x {
		w[i] |= word
	}
}

// Count gives the number of bits set.
func (w *Words) Count() int {
	n := 0
	for _, word := range w {
		n += bits.OnesCount64(word)
	}
	return n
}

// countAnd gives the number of bits set in both; four at a time, for the
// processor counts several at once.
func (w *Words) countAnd(x *Words) int {
	var n0, n1, n2, n3 int
	for i := 0; i < BlockWords; i += 4 {
		n0 += bits.OnesCount64(w[i] & x[i])
		n1 += bits.OnesCount64(w[i+1] & x[i+1])
		n2 += bits.OnesCount64(w[i+2] & x[i+2])
		n3 += bits.OnesCount64(w[i+3] & x[i+3])
	}
	return n0 + n1 + n2 + n3
}

// list gives the n members.
func (w *Words) list(n int) []uint16 {
	list := make([]uint16, 0, n)
	for i, word := range w {
		list = appendBits(list, i, word)
	}
	return list
}

// block makes a block of a copy of w, as a list where members are few.
func (w *Words) block(key uint32) block {
	n := w.Count()
	if n <= listMax {
		return listBlock(key, w.list(n))
	}
	c := *w
	return block{key: key, n: uint32(n), bits: &c}
}
