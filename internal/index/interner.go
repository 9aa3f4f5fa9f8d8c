package index

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"incidentgraph/internal/incident"
)

// interner numbers names densely in order of arrival. A number is never given
// to another name. One writer adds at a time; readers need no lock: the name
// is in its place before the number is in the table, and a table that grows
// is filled before it is published.
type interner[K comparable] struct {
	seed maphash.Seed
	n    atomic.Uint32 // names so far; grows last, after name and number

	// names has spare room behind the n names in use; table is an open
	// addressed hash table of numbers plus one, 0 where free, at most half
	// full.
	names atomic.Pointer[[]K]
	table atomic.Pointer[[]atomic.Uint32]
}

func newInterner[K comparable]() *interner[K] {
	in := &interner[K]{seed: maphash.MakeSeed()}
	names := make([]K, 16)
	table := make([]atomic.Uint32, 32)
	in.names.Store(&names)
	in.table.Store(&table)
	return in
}

// len gives the number of names so far.
func (in *interner[K]) len() int { return int(in.n.Load()) }

// name gives the name behind a number.
func (in *interner[K]) name(i uint32) K { return (*in.names.Load())[i] }

// lookup finds a name's number.
func (in *interner[K]) lookup(k K) (uint32, bool) {
	table := *in.table.Load()
	v := table[in.slot(table, k)].Load()
	return v - 1, v != 0
}

// slot finds where k is in the table, or the free slot where it belongs.
func (in *interner[K]) slot(table []atomic.Uint32, k K) int {
	mask := len(table) - 1
	for i := int(maphash.Comparable(in.seed, k)) & mask; ; i = (i + 1) & mask {
		if v := table[i].Load(); v == 0 || in.name(v-1) == k {
			return i
		}
	}
}

// add numbers a name that lookup does not find.
func (in *interner[K]) add(k K) uint32 {
	i := in.n.Load()
	names := *in.names.Load()
	if int(i) == len(names) {
		grown := make([]K, 2*len(names))
		copy(grown, names)
		names = grown
		in.names.Store(&grown)
	}
	names[i] = k
	table := *in.table.Load()
	if 2*int(i+1) > len(table) {
		table = in.grow(table)
	}
	table[in.slot(table, k)].Store(i + 1)
	in.n.Store(i + 1)
	return i
}

func (in *interner[K]) grow(table []atomic.Uint32) []atomic.Uint32 {
	grown := make([]atomic.Uint32, 2*len(table))
	for i := range table {
		if v := table[i].Load(); v != 0 {
			grown[in.slot(grown, in.name(v-1))].Store(v)
		}
	}
	in.table.Store(&grown)
	return grown
}

// names holds the numbers of everything that has a name. All snapshots of an
// index share it; whether a snapshot has the thing is the snapshot's to say.
type names struct {
	cases    *interner[string]
	terms    *interner[incident.Term]
	orgs     *interner[string]
	regions  *interner[string]
	spelling *interner[string] // written forms of terms and names of orgs
}

func newNames() *names {
	return &names{
		cases:    newInterner[string](),
		terms:    newInterner[incident.Term](),
		orgs:     newInterner[string](),
		regions:  newInterner[string](),
		spelling: newInterner[string](),
	}
}

// intern numbers a string, keeping a copy where it is new.
func intern(in *interner[string], s string) uint32 {
	if i, ok := in.lookup(s); ok {
		return i
	}
	return in.add(strings.Clone(s))
}

func (n *names) ord(id string) Ord { return Ord(intern(n.cases, id)) }

func (n *names) term(v incident.Vocabulary, slug string) TermID {
	t := incident.Term{Vocabulary: v, Slug: slug}
	if i, ok := n.terms.lookup(t); ok {
		return TermID(i)
	}
	t.Slug = strings.Clone(slug)
	return TermID(n.terms.add(t))
}
