package index

import "unsafe"

// Numbers are the numbers that an Index gives case ids. They are the same for
// all its snapshots; two values are equal where their numbers mean the same.
type Numbers struct{ names *names }

// Numbers gives the numbers that the snapshot's sets are of.
func (s *Snapshot) Numbers() Numbers { return Numbers{s.names} }

// Number finds the number of a case id, also of one that no incident has;
// false where the index has not met it yet.
func (n Numbers) Number(id string) (Ord, bool) {
	o, ok := n.names.cases.lookup(id)
	return Ord(o), ok
}

// CaseID gives the case id behind a number.
func (n Numbers) CaseID(o Ord) string { return n.names.cases.name(uint32(o)) }

// SetBuilder collects numbers in any order. The zero value is empty.
type SetBuilder struct{ blocks []*Words }

// Add adds a number, for which it keeps a bitmap of its block.
func (b *SetBuilder) Add(o Ord) {
	key := int(o >> blockBits)
	b.reach(key)
	if w := b.blocks[key]; w != full {
		w.add(uint16(o % BlockSize))
	}
}

// full is the bitmap of a block that has everything; nobody changes it.
var full = func() *Words {
	w := new(Words)
	for i := range w {
		w[i] = ^uint64(0)
	}
	return w
}()

// addRun adds the numbers from first to last.
func (b *SetBuilder) addRun(first, last Ord) {
	for {
		key := int(first >> blockBits)
		end := min(last, Ord(key+1)<<blockBits-1)
		b.reach(key)
		switch from, to := int(first%BlockSize), int(end%BlockSize); {
		case from == 0 && to == BlockSize-1:
			b.blocks[key] = full
		case b.blocks[key] != full:
			b.blocks[key].addRun(from, to)
		}
		if end == last {
			return
		}
		first = end + 1
	}
}

// addRun adds the members from first to last.
func (w *Words) addRun(first, last int) {
	from, to := first/64, last/64
	head, tail := ^uint64(0)<<(first%64), ^uint64(0)>>(63-last%64)
	if from == to {
		w[from] |= head & tail
		return
	}
	w[from] |= head
	for i := from + 1; i < to; i++ {
		w[i] = ^uint64(0)
	}
	w[to] |= tail
}

// reach makes the bitmap of a block if there is none.
func (b *SetBuilder) reach(key int) {
	if key < len(b.blocks) && b.blocks[key] != nil {
		return
	}
	if key >= len(b.blocks) {
		b.blocks = append(b.blocks, make([]*Words, key+1-len(b.blocks))...)
	}
	b.blocks[key] = new(Words)
}

// Set gives the numbers added and empties the builder.
func (b *SetBuilder) Set() Set {
	var s Set
	for key, w := range b.blocks {
		if w == nil {
			continue
		}
		switch n := w.Count(); {
		case n == BlockSize:
			s.push(block{key: uint32(key), n: BlockSize, bits: full})
		case n > listMax:
			s.push(block{key: uint32(key), n: uint32(n), bits: w})
		default:
			s.push(listBlock(uint32(key), w.list(n)))
		}
	}
	b.blocks = nil
	return s
}

// Bytes gives the memory that the set takes, parts that it shares with others
// included.
func (a Set) Bytes() int { return int(unsafe.Sizeof(a)) + a.bytes() }
