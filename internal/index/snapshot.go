package index

import (
	"sync"

	"incidentgraph/internal/incident"
)

// Snapshot is the graph at one revision. It is immutable and safe for
// concurrent use.
type Snapshot struct {
	names    *names
	listed   []*incident.Concept // by TermID; the first numbers are theirs
	narrower map[TermID][]TermID // listed terms by their broader one
	revision uint64

	nodes     vector[*Node]         // by Ord
	dates     vector[incident.Date] // by Ord, as in the nodes; 0 too where there is no node
	termLists TermLists
	incoming  vector[*incoming] // by Ord of the target, which may have no node
	// roots holds, by Ord of a chain's member other than its root, the root's
	// Ord plus one; 0 where an incident is alone or a root itself.
	roots     vector[uint32]
	chains    vector[*chain]   // by Ord of the root
	terms     vector[*holders] // by TermID
	orgs      vector[*holders] // by OrgID
	regions   vector[*holders] // by region number; that of "" too
	termCount uint32           // numbers given so far; some without incidents
	orgCount  uint32

	all, reviewed, noOrg Set
	chained              Set // the members of chains
	// counts holds the incidents by their number of terms of a vocabulary.
	counts    [incident.VocabularyCount]vector[*holders]
	languages []string
	// How much memory nodes take, and the lists of incoming.
	nodeBytes, linkBytes int

	*lazy
}

// lazy is what a snapshot computes when first asked.
type lazy struct {
	orders     orders
	chainOrder lazySequence // of the roots of chains
	memo       sync.Map     // key → func() any
	inherited  sync.Map     // key → *lazily[any]
}

// holders are the incidents that have something, and how most of them spell
// it; nil stands for none. It is immutable.
type holders struct {
	incidents Set
	written   string
}

func (h *holders) set() Set {
	if h == nil {
		return Set{}
	}
	return h.incidents
}

func (h *holders) spelling() string {
	if h == nil {
		return ""
	}
	return h.written
}

// with gives the holders after a change that does not touch the spelling.
func (h *holders) with(d *delta) *holders {
	return &holders{incidents: h.set().with(d.add, d.del), written: h.spelling()}
}

func newSnapshot(n *names, listed []*incident.Concept) *Snapshot {
	s := &Snapshot{names: n, listed: listed, narrower: make(map[TermID][]TermID), lazy: new(lazy)}
	s.termCount = uint32(n.terms.len())
	s.linkConcepts()
	return s
}

// next gives a copy to be changed into the snapshot of another revision.
func (s *Snapshot) next(revision uint64) *Snapshot {
	c := *s
	c.revision = revision
	c.lazy = new(lazy)
	return &c
}

// Memo gives the value that compute gave for the key when first asked in this
// snapshot, so that what depends on nothing else is computed once. Concurrent
// callers wait for the first. Keys should be of an unexported type of the
// caller's package and few: what is kept lives as long as the snapshot.
func (s *Snapshot) Memo(key any, compute func() any) any {
	f, ok := s.memo.Load(key)
	if !ok {
		f, _ = s.memo.LoadOrStore(key, sync.OnceValue(compute))
	}
	return f.(func() any)()
}

// memoized is Memo with a type.
func memoized[T any](s *Snapshot, key any, compute func() T) T {
	return s.Memo(key, func() any { return compute() }).(T)
}

// Revision gives the store sequence that the snapshot shows.
func (s *Snapshot) Revision() uint64 { return s.revision }

// Len gives the number of incidents.
func (s *Snapshot) Len() int { return s.all.Len() }

// Languages gives the languages that any title is in, sorted. The slice is
// shared: do not change it.
func (s *Snapshot) Languages() []string { return s.languages }

// Lookup finds an incident by case id; nil where there is none.
func (s *Snapshot) Lookup(id string) *Node {
	o, ok := s.names.cases.lookup(id)
	if !ok {
		return nil
	}
	return s.nodes.at(o)
}

// Node gives the incident with this number, nil where none is stored.
func (s *Snapshot) Node(o Ord) *Node { return s.nodes.at(uint32(o)) }

// CaseID gives the case id behind a number, also of a case that is not stored.
func (s *Snapshot) CaseID(o Ord) string { return s.names.cases.name(uint32(o)) }

// All gives the set of all incidents.
func (s *Snapshot) All() Set { return s.all }

// Reviewed gives the set of incidents whose record has been reviewed.
func (s *Snapshot) Reviewed() Set { return s.reviewed }

// WithTermCount gives the incidents that have exactly n terms of the
// vocabulary; n is not negative.
func (s *Snapshot) WithTermCount(v incident.Vocabulary, n int) Set {
	return s.counts[v].at(uint32(n)).set()
}

type termCountsKey struct{ v incident.Vocabulary }

// TermCounts gives the numbers of terms of a vocabulary that incidents have,
// rising. The slice is shared: do not change it.
func (s *Snapshot) TermCounts(v incident.Vocabulary) []int {
	return memoized(s, termCountsKey{v}, func() []int {
		var list []int
		for n := range s.counts[v].len() {
			if s.WithTermCount(v, n).Len() > 0 {
				list = append(list, n)
			}
		}
		return list
	})
}
