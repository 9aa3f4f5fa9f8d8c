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
	if key >= len(b.blocks) || b.blocks[key] == nil {
		b.begin(key)
	}
	b.blocks[key].add(uint16(o % BlockSize))
}

// begin makes the bitmap of a block.
func (b *SetBuilder) begin(key int) {
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
		if n := w.Count(); n > listMax {
			s.push(block{key: uint32(key), n: uint32(n), bits: w})
		} else {
			s.push(listBlock(uint32(key), w.list(n)))
		}
	}
	b.blocks = nil
	return s
}

// Bytes gives the memory that the set takes, parts that it shares with others
// included.
func (a Set) Bytes() int { return int(unsafe.Sizeof(a)) + a.bytes() }
