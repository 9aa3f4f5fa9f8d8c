package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/store"
)

// Position names one state of the store.
type Position = store.Position

// Head gives the store's newest position, without a view of it and without
// waiting for the index: a change whose commit was acknowledged before the
// call is in it, and no view opened before the call is newer.
func (in *Ingester) Head(ctx context.Context) (Position, error) { return in.log.Head(ctx) }

// View pins one state for one operation: an index snapshot, and the records
// at the same position. It is safe for concurrent use until Close.
type View struct {
	state *state
	text  *textIndex // nil for none

	// open is read-locked while a record is being read, so that Close waits.
	open sync.RWMutex
	snap store.Snapshot // nil once closed; guarded by open

	mu        sync.Mutex
	incidents map[string]*memo // guarded by mu
}

// memo is a record that was asked for.
type memo struct {
	once     sync.Once
	incident *incident.Incident
	err      error
}

// View opens a view of the newest state; the index catches up first where the
// store has moved on.
func (in *Ingester) View(ctx context.Context) (*View, error) {
	for {
		snap, err := in.log.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		state, err := in.catchUp(ctx, snap)
		if err == nil && state.position == snap.Position() {
			return &View{state: state, text: in.text, snap: snap, incidents: make(map[string]*memo)}, nil
		}
		if err := errors.Join(err, snap.Close()); err != nil {
			return nil, err
		}
		// Another view has taken the index past this snapshot: open a newer one.
	}
}

// Index gives the snapshot.
func (v *View) Index() *index.Snapshot { return v.state.index }

// Position gives the position of both.
func (v *View) Position() store.Position { return v.state.position }

// Incident reads and decodes a whole record, nil without error where there is
// none. Decoded records are kept until Close, so asking again is cheap. After
// Close it fails with store.ErrClosed.
func (v *View) Incident(id string) (*incident.Incident, error) {
	if v.state.index.Lookup(id) == nil {
		return nil, nil
	}
	v.mu.Lock()
	m := v.incidents[id]
	if m == nil {
		m = new(memo)
		v.incidents[id] = m
	}
	v.mu.Unlock()
	m.once.Do(func() { m.incident, m.err = v.read(id) })
	return m.incident, m.err
}

func (v *View) read(id string) (*incident.Incident, error) {
	rec, err := v.record(id)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: the index has %q, the store has not", store.ErrCorrupt, id)
	}
	d := decode(rec, err)
	return d.incident, d.err
}

// record reads a stored record.
func (v *View) record(id string) (store.Record, error) {
	v.open.RLock()
	defer v.open.RUnlock()
	if v.snap == nil {
		return store.Record{}, store.ErrClosed
	}
	return v.snap.Get(id)
}

// Close releases the view. Closing twice is harmless.
func (v *View) Close() {
	v.open.Lock()
	defer v.open.Unlock()
	if v.snap != nil {
		// Closing what was only read loses nothing that an error could tell of.
		_ = v.snap.Close()
		v.snap = nil
	}
}
