package index

import (
	"sync"
	"sync/atomic"

	"incidentgraph/internal/incident"
)

// Ord is the dense number of a case id.
type Ord uint32

// TermID is the dense number of a term.
type TermID uint32

// OrgID is the dense number of an org.
type OrgID uint32

// NoOrg is the OrgID of an incident without org.
const NoOrg = ^OrgID(0)

// Index owns the interned names and the current snapshot. One writer at a
// time changes it through a Batch; any number of readers take snapshots.
type Index struct {
	names   *names
	current atomic.Pointer[Snapshot]

	mu sync.Mutex // held by a batch from its begin to its end
	w  writer     // guarded by mu
}

// writer is what only a batch needs, and only of the newest state.
type writer struct {
	batches   uint64 // number of batches begun
	terms     []spellings
	orgs      []spellings
	languages map[string]int // titles by language
	// words holds one copy of strings that many records share: languages and
	// kinds of date.
	words map[string]string
	slabs slabs // of the batch under way

	// Memory for lists that are made before it is known how long they are.
	termsBuffer, chunkBuffer []TermID
	spellingBuffer           []uint32
	ordBuffer                []Ord
}

// New gives an empty index at revision 0. Terms that concepts lists exist
// from the start, without incidents; concepts may be nil.
func New(concepts *incident.Concepts) *Index {
	x := &Index{names: newNames()}
	x.w.languages = make(map[string]int)
	x.w.words = make(map[string]string)
	listed := make([]*incident.Concept, len(concepts.All()))
	for i := range listed {
		c := &concepts.All()[i]
		id := x.names.term(c.Term.Vocabulary, c.Term.Slug)
		listed[id] = c
	}
	x.current.Store(newSnapshot(x.names, listed))
	return x
}

// Snapshot gives the current snapshot. It costs one atomic load.
func (x *Index) Snapshot() *Snapshot { return x.current.Load() }

// Batch begins a batch on top of the current snapshot and waits for a batch
// under way. The caller must end it with Commit or Discard.
func (x *Index) Batch() *Batch {
	x.mu.Lock()
	x.w.batches++
	x.w.slabs = slabs{}
	base := x.current.Load()
	return &Batch{x: x, base: base, nodes: base.nodes.edit(x.w.batches)}
}
