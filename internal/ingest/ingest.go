// Package ingest is the write path and the door to reading: records come in,
// are decoded and checked, committed to the store, and the index catches up.
//
// # Reading
//
// A View pairs an index snapshot with a store snapshot at the same position.
// The index follows the store and nothing else: CatchUp asks the store which
// records changed after the index's position and takes them from one store
// snapshot, so that a reader never sees half a change.
//
// A text index follows the store, too, in the background, and keeps the
// position that it has come to beside its documents. A View searches it when it
// is at the view's position or after it.
//
// # Writing
//
// Import reads all of its input before it stores anything. What it accepts
// lies meanwhile in a spool, in memory while it is small and in a temporary
// file from there on, so a run with a bad record can still store nothing, and
// standard input needs no second pass. Then the records are committed in
// batches of bounded size, each one change of the store. The index and the
// check of what one record cannot know (recurrence cycles) belong to the
// position that the first batch is based on; where another writer got in
// between, what is left is checked again.
package ingest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/store"
)

// Ingester joins one store and one index. It is safe for concurrent use.
type Ingester struct {
	log      store.Log
	concepts *incident.Concepts
	text     *textIndex // nil for none

	// catching is held while the index catches up.
	catching sync.Mutex
	index    *index.Index // guarded by catching
	current  atomic.Pointer[state]
}

// state is an index snapshot with the store's position that it shows.
type state struct {
	index    *index.Snapshot
	position store.Position
}

// New makes an ingester over a store with an index that has caught up with
// it. onProgress may be nil; it is called now and then with the number of
// records loaded and the total. An ingester with a text index is to be closed.
func New(ctx context.Context, log store.Log, concepts *incident.Concepts, onProgress func(done, total int), options ...Option) (*Ingester, error) {
	in := &Ingester{log: log, concepts: concepts}
	for _, o := range options {
		o(in)
	}
	if err := in.open(ctx, onProgress); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// open loads the newest state.
func (in *Ingester) open(ctx context.Context, onProgress func(done, total int)) error {
	in.catching.Lock()
	defer in.catching.Unlock()
	snap, err := in.log.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	return in.load(ctx, snap, onProgress)
}

// Concepts gives the vocabulary that the index was made with.
func (in *Ingester) Concepts() *incident.Concepts { return in.concepts }
