package index

import (
	"cmp"
	"slices"
	"strings"
)

// ChainList is a list of chains, largest first, then by the case id of the root.
type ChainList struct {
	s     *Snapshot
	all   *sequence // of roots, of which the first n count
	n     int
	roots []Ord // instead of all
}

// Len gives the number of chains.
func (l *ChainList) Len() int { return l.n }

// At gives the i-th chain.
func (l *ChainList) At(i int) *Chain {
	var root Ord
	if l.all != nil {
		root = l.all.at(i)
	} else {
		root = l.roots[i]
	}
	return l.s.Chain(l.s.Node(root))
}

// Chains gives the chains of at least minSize members (2 or more) that have a
// member in set. Where set is everything it costs nothing to speak of, but for
// the first use in a snapshot; else it grows with the set.
func (s *Snapshot) Chains(minSize int, set Set) *ChainList {
	order := s.chainOrder.get(chainSorting{s})
	n := order.search(func(o Ord) bool { return s.chainLen(o) >= minSize })
	if set.Len() == s.Len() {
		return &ChainList{s: s, all: order, n: n}
	}
	l := &ChainList{s: s}
	hit := make([]uint64, s.names.cases.len()/64+1)
	for o := range set.And(s.chained).All() {
		root := s.chainRoot(o)
		if word, bit := &hit[root/64], uint64(1)<<(root%64); *word&bit == 0 && s.chainLen(root) >= minSize {
			*word |= bit
			l.roots = append(l.roots, root)
		}
	}
	l.n = len(l.roots)
	if l.n < n/16 { // to go through all costs more than to sort these
		slices.SortFunc(l.roots, chainSorting{s}.compare)
		return l
	}
	l.roots = l.roots[:0]
	order.eachPart(0, n, false, func(_ int, part []Ord) bool {
		for _, o := range part {
			if hit[o/64]>>(o%64)&1 != 0 {
				l.roots = append(l.roots, o)
			}
		}
		return true
	})
	return l
}

// chainSorting puts the roots of chains in the order of a ChainList.
type chainSorting struct{ s *Snapshot }

func (x chainSorting) has(o Ord) bool { return x.s.chains.at(uint32(o)) != nil }

func (x chainSorting) compare(a, b Ord) int {
	return cmp.Or(
		cmp.Compare(x.s.chainLen(b), x.s.chainLen(a)),
		strings.Compare(x.s.CaseID(a), x.s.CaseID(b)))
}

func (x chainSorting) sort() []Ord {
	var roots []Ord
	for o := range x.s.chained.All() {
		if x.has(o) {
			roots = append(roots, o)
		}
	}
	slices.SortFunc(roots, x.compare)
	return roots
}
