package index

import (
	"cmp"
	"slices"

	"incidentgraph/internal/incident"
)

// The intersection of two terms that very many incidents have is one of bitmaps,
// which are large: to count it is to read both. So, of a large snapshot, the
// number of incidents with both is kept for each two of the terms that most
// incidents have, block by block.
const (
	// pairBlocks is from how many blocks on the numbers are kept.
	pairBlocks = 4
	// maxPaired is of how many terms at most; the numbers of all pairs of
	// these take half a megabyte a block.
	maxPaired = 512
)

// pairCounts holds for each block how many incidents have both of two terms.
// It is immutable.
type pairCounts struct {
	lists  TermLists // what was counted
	made   int       // number of incidents when the terms were chosen
	terms  int       // number of terms that were chosen
	rank   []uint16  // by TermID, one more than the place among these; 0 for others
	blocks []pairTable
}

// pairTable holds the numbers of one block: of the terms with places i < j at
// j·(j−1)/2 + i.
type pairTable []uint32

// common gives the incidents that have both of two terms.
func (s *Snapshot) common(t, u TermID) Set {
	if s.all.Blocks() < pairBlocks {
		return s.Postings(t).And(s.Postings(u))
	}
	return s.pairCounts().and(s, t, u)
}

type pairKey struct{}

// pairCounts gives the counts of the snapshot: those of a predecessor with what
// has changed, where there are some.
func (s *Snapshot) pairCounts() *pairCounts {
	return s.Inherited(pairKey{},
		func() any { return s.countPairs() },
		func(old any, changed []Ord) any { return old.(*pairCounts).derive(s, changed) },
	).(*pairCounts)
}

// countPairs counts the pairs of all incidents.
func (s *Snapshot) countPairs() *pairCounts {
	terms := s.commonTerms()
	p := &pairCounts{lists: s.termLists, made: s.Len(), terms: len(terms), rank: make([]uint16, s.TermCount())}
	for i, t := range terms {
		p.rank[t] = uint16(i + 1)
	}
	w := pairWriter{pairCounts: p, own: make(map[int]bool)}
	for o := range s.all.All() {
		w.add(&p.lists, o, 1)
	}
	return p
}

// commonTerms gives the terms that most incidents have: so many that their
// bitmaps are worth it.
func (s *Snapshot) commonTerms() []TermID {
	var terms []TermID
	for t := range TermID(s.TermCount()) {
		if s.Postings(t).Len() > s.all.Blocks()*listMax {
			terms = append(terms, t)
		}
	}
	slices.SortFunc(terms, func(a, b TermID) int {
		return cmp.Or(cmp.Compare(s.Postings(b).Len(), s.Postings(a).Len()), cmp.Compare(a, b))
	})
	return terms[:min(len(terms), maxPaired)]
}

// derive gives the counts of a later snapshot. Once there are twice as many
// incidents the terms are chosen anew.
func (p *pairCounts) derive(s *Snapshot, changed []Ord) *pairCounts {
	if s.Len() > 2*p.made {
		return s.countPairs()
	}
	d := *p
	d.lists, d.blocks = s.termLists, slices.Clone(p.blocks)
	w := pairWriter{pairCounts: &d, own: make(map[int]bool)}
	for _, o := range changed {
		w.add(&p.lists, o, ^uint32(0)) // one less
		w.add(&d.lists, o, 1)
	}
	return &d
}

// pairWriter changes counts that nobody sees yet.
type pairWriter struct {
	*pairCounts

	own    map[int]bool // the blocks whose tables are no other's
	places []uint32     // of the terms of one incident
	terms  []TermID
}

// add adds a number to the counts of all pairs that lists have of an incident.
func (w *pairWriter) add(lists *TermLists, o Ord, n uint32) {
	if int(o>>chunkBits) >= len(lists.chunks) || lists.chunks[o>>chunkBits] == nil {
		return // there was no such incident
	}
	w.places = w.places[:0]
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		w.terms = lists.AppendTo(w.terms[:0], o, v)
		for _, t := range w.terms {
			if int(t) < len(w.rank) && w.rank[t] > 0 {
				w.places = append(w.places, uint32(w.rank[t]-1))
			}
		}
	}
	if len(w.places) < 2 {
		return
	}
	table := w.table(int(o >> blockBits))
	for i, a := range w.places {
		for _, b := range w.places[:i] {
			table[pairPlace(a, b)] += n
		}
	}
}

// table gives the table of a block, to be changed.
func (w *pairWriter) table(block int) pairTable {
	for block >= len(w.blocks) {
		w.blocks = append(w.blocks, nil)
	}
	if !w.own[block] {
		own := make(pairTable, w.pairCounts.terms*(w.pairCounts.terms-1)/2)
		copy(own, w.blocks[block])
		w.blocks[block], w.own[block] = own, true
	}
	return w.blocks[block]
}

// pairPlace gives the place of two terms in a table by theirs, which differ.
func pairPlace(a, b uint32) uint32 {
	i, j := min(a, b), max(a, b)
	return j*(j-1)/2 + i
}

// and gives the incidents that have both of two terms of the snapshot that was
// counted.
func (p *pairCounts) and(s *Snapshot, t, u TermID) Set {
	a, b := s.Postings(t), s.Postings(u)
	if t == u {
		return a
	}
	if int(max(t, u)) >= len(p.rank) || p.rank[t] == 0 || p.rank[u] == 0 {
		return a.And(b)
	}
	place := pairPlace(uint32(p.rank[t]-1), uint32(p.rank[u]-1))
	var r Set
	eachPair(a, b, func(x, y *block) {
		switch {
		case x == nil || y == nil:
		case x.bits == nil || y.bits == nil:
			r.push(x.and(y))
		case int(x.key) < len(p.blocks) && p.blocks[x.key] != nil:
			r.push(x.andCounted(y, p.blocks[x.key][place]))
		}
	})
	return r
}

// andCounted gives the members of both of two blocks with one bitmap each, of
// which it is known how many there are.
func (b *block) andCounted(c *block, n uint32) block {
	switch n {
	case b.n:
		return *b
	case c.n:
		return *c
	}
	return block{key: b.key, n: n, bits: b.bits, also: c.bits}
}
