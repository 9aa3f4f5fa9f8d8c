package index

import (
	"hash/maphash"
	"math"
	"strings"
	"sync/atomic"

	"incidentgraph/internal/incident"
)

// interner numbers names densely in order of arrival. A number is never given
// to another name. One writer adds at a time; readers need no lock: the name
// is in its place before the number is in the table, and a table that grows
// is filled before it is published.
type interner[K comparable] struct {
	hash func(K) uint32
	n    atomic.Uint32 // names so far; grows last, after name and number
	// texts holds the names where they are strings; it is the writer's. The
	// names have so many bytes.
	texts     textSlab
	textBytes atomic.Int64

	// names has spare room behind the n names in use; table is an open
	// addressed hash table, at most half full, of the hash of a name <<32 |
	// its number plus one; 0 is a free slot.
	names atomic.Pointer[[]K]
	table atomic.Pointer[[]atomic.Uint64]
}

func newInterner[K comparable](hash func(K) uint32) *interner[K] {
	in := &interner[K]{hash: hash}
	names := make([]K, 16)
	table := make([]atomic.Uint64, 32)
	in.names.Store(&names)
	in.table.Store(&table)
	return in
}

// len gives the number of names so far.
func (in *interner[K]) len() int { return int(in.n.Load()) }

// name gives the name behind a number.
func (in *interner[K]) name(i uint32) K { return (*in.names.Load())[i] }

// lookup finds a name's number.
func (in *interner[K]) lookup(k K) (uint32, bool) { return in.find(k, in.hash(k)) }

func (in *interner[K]) find(k K, hash uint32) (uint32, bool) {
	table := *in.table.Load()
	mask := uint32(len(table) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch v := table[i].Load(); {
		case v == 0:
			return 0, false
		case uint32(v>>32) == hash && in.name(uint32(v)-1) == k:
			return uint32(v) - 1, true
		}
	}
}

// add numbers a name that find does not find.
func (in *interner[K]) add(k K, hash uint32) uint32 {
	i := in.n.Load()
	if int(i) == len(*in.names.Load()) {
		in.growNames()
	}
	if 2*int(i+1) > len(*in.table.Load()) {
		in.growTable()
	}
	(*in.names.Load())[i] = k
	insert(*in.table.Load(), uint64(hash)<<32|uint64(i+1))
	in.n.Store(i + 1)
	return i
}

func (in *interner[K]) growNames() {
	names := *in.names.Load()
	larger := make([]K, 2*len(names))
	copy(larger, names)
	in.names.Store(&larger)
}

func (in *interner[K]) growTable() {
	table := *in.table.Load()
	larger := make([]atomic.Uint64, 2*len(table))
	for i := range table {
		if v := table[i].Load(); v != 0 {
			insert(larger, v)
		}
	}
	in.table.Store(&larger)
}

// arrange gives the names other numbers, by their old ones, which nobody may
// know.
func (in *interner[K]) arrange(place []uint32) {
	old := *in.names.Load()
	names := make([]K, len(old))
	for i, p := range place {
		names[p] = old[i]
	}
	in.names.Store(&names)
	table := *in.table.Load()
	for i := range table {
		if v := table[i].Load(); v != 0 {
			table[i].Store(v&^math.MaxUint32 | uint64(place[uint32(v)-1]+1))
		}
	}
}

func insert(table []atomic.Uint64, v uint64) {
	mask := uint32(len(table) - 1)
	i := uint32(v>>32) & mask
	for table[i].Load() != 0 {
		i = (i + 1) & mask
	}
	table[i].Store(v)
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
	seed := maphash.MakeSeed()
	text := func(s string) uint32 { return uint32(maphash.String(seed, s)) }
	return &names{
		cases:    newInterner(text),
		terms:    newInterner(func(t incident.Term) uint32 { return text(t.Slug) + uint32(t.Vocabulary) }),
		orgs:     newInterner(text),
		regions:  newInterner(text),
		spelling: newInterner(text),
	}
}

// intern numbers a string, keeping a copy where it is new.
func intern(in *interner[string], s string) uint32 {
	hash := in.hash(s)
	if i, ok := in.find(s, hash); ok {
		return i
	}
	in.textBytes.Add(int64(len(s)))
	return in.add(in.texts.keep(s), hash)
}

func (n *names) ord(id string) Ord { return Ord(intern(n.cases, id)) }

func (n *names) term(v incident.Vocabulary, slug string) TermID {
	t := incident.Term{Vocabulary: v, Slug: slug}
	hash := n.terms.hash(t)
	if i, ok := n.terms.find(t, hash); ok {
		return TermID(i)
	}
	t.Slug = strings.Clone(slug)
	return TermID(n.terms.add(t, hash))
}
