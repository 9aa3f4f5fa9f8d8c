package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/store"
)

// progressEvery is how many records lie between two calls of onProgress.
const progressEvery = 1000

// CatchUp applies the store's changes after the index's position. It is the
// only way into the index.
func (in *Ingester) CatchUp(ctx context.Context) error {
	head, err := in.log.Head(ctx)
	if err != nil {
		return err
	}
	if in.current.Load().position == head {
		return nil
	}
	snap, err := in.log.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	_, err = in.catchUp(ctx, snap)
	return err
}

// catchUp brings the index to the position of snap, or leaves it where it is
// further already, and gives the state that it is in then.
func (in *Ingester) catchUp(ctx context.Context, snap store.Snapshot) (*state, error) {
	if now := in.current.Load(); now.position == snap.Position() {
		return now, nil
	}
	in.catching.Lock()
	defer in.catching.Unlock()
	now := in.current.Load()
	if now.position.Lineage == snap.Position().Lineage && now.position.Sequence >= snap.Position().Sequence {
		return now, nil
	}
	if err := in.move(ctx, now, snap); err != nil {
		return nil, fmt.Errorf("catch up with the store: %w", err)
	}
	return in.current.Load(), nil
}

// move brings the index from one state to the position of snap. The caller
// holds catching.
func (in *Ingester) move(ctx context.Context, from *state, snap store.Snapshot) error {
	if from.position.Lineage == snap.Position().Lineage && from.position.Sequence == 0 {
		return in.load(ctx, snap, nil) // which need not ask what has changed
	}
	ids, err := in.changed(ctx, from.position, snap.Position())
	switch {
	case errors.Is(err, store.ErrCompacted):
		return in.load(ctx, snap, nil)
	case err != nil:
		return err
	}
	return in.apply(ctx, snap, ids)
}

// changed gives the ids of the records that changed between two positions,
// sorted.
func (in *Ingester) changed(ctx context.Context, after, until store.Position) ([]string, error) {
	ids := make(map[string]struct{})
	for entry, err := range in.log.Follow(ctx, after) {
		if err != nil {
			return nil, err
		}
		if entry.Position.Sequence > until.Sequence {
			break
		}
		for _, op := range entry.Change.Ops {
			ids[op.ID] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

// apply takes the records with the given ids, as they are in snap, into the
// index. The caller holds catching.
func (in *Ingester) apply(ctx context.Context, snap store.Snapshot, ids []string) error {
	batch := in.index.Batch()
	work := func(id string) decoded {
		rec, err := snap.Get(id)
		if errors.Is(err, store.ErrNotFound) {
			return decoded{record: store.Record{ID: id}}
		}
		return decode(rec, err)
	}
	err := inOrder(ctx, items(ids), work, func(d decoded) error {
		switch {
		case d.err != nil:
			return d.err
		case d.incident == nil:
			batch.Delete(d.record.ID)
		default:
			batch.Put(d.incident, d.record.Version, d.record.Sequence)
		}
		return nil
	})
	if err != nil {
		batch.Discard()
		return err
	}
	in.publish(batch, snap)
	return nil
}

// publish shows a batch as the state at the position of snap.
func (in *Ingester) publish(batch *index.Batch, snap store.Snapshot) {
	in.current.Store(&state{batch.Commit(snap.Position().Sequence), snap.Position()})
	if in.text != nil {
		in.text.catchUp()
	}
}

// load makes the index anew from snap. The caller holds catching.
func (in *Ingester) load(ctx context.Context, snap store.Snapshot, onProgress func(done, total int)) error {
	if onProgress == nil {
		onProgress = func(int, int) {}
	}
	x := index.New(in.concepts)
	batch := x.Batch()
	done := 0
	err := manyInOrder(ctx, snap.Records(), recordSize, decodeStored, func(d decoded) error {
		if d.err != nil {
			return d.err
		}
		batch.Put(d.incident, d.record.Version, d.record.Sequence)
		if done++; done%progressEvery == 0 {
			onProgress(done, snap.Len())
		}
		return nil
	})
	if err != nil {
		batch.Discard()
		return err
	}
	batch.Arrange()
	onProgress(done, snap.Len())
	in.index = x
	in.publish(batch, snap)
	return nil
}

// decoded is a stored record as the model reads it.
type decoded struct {
	record   store.Record // without its bytes
	incident *incident.Incident
	err      error
}

func recordSize(r store.Record) int { return len(r.Bytes) }

func decodeStored(r store.Record) decoded { return decode(r, nil) }

// decode reads a stored record, unless there is an error already. One that
// does not decode, or is another's, is corruption: nothing like it gets in.
func decode(r store.Record, err error) decoded {
	d := decoded{record: r, err: err}
	d.record.Bytes = nil
	if err != nil {
		return d
	}
	if d.incident, err = incident.Decode(r.Bytes); err != nil {
		d.err = fmt.Errorf("%w: record %q: %w", store.ErrCorrupt, r.ID, err)
	} else if d.incident.ID != r.ID {
		d.err = fmt.Errorf("%w: record %q has the id %q inside", store.ErrCorrupt, r.ID, d.incident.ID)
	}
	return d
}
