package boltstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"incidentgraph/internal/store"
)

// wanted is what the changes ask of the other buckets. It is built from the
// changes alone; then each entry that is there is taken out.
type wanted struct {
	horizon  uint64
	latest   map[string]written // by record id, deletions too
	records  map[string]written // by record id
	history  map[string]written // by key
	stones   map[string]written // by record id
	requests map[string]uint64  // request id to sequence
}

// written is what one operation wrote.
type written struct {
	store.OpHeader
	header recordHeader
}

func newWanted(horizon uint64) wanted {
	return wanted{
		horizon:  horizon,
		latest:   map[string]written{},
		records:  map[string]written{},
		history:  map[string]written{},
		stones:   map[string]written{},
		requests: map[string]uint64{},
	}
}

// add enters the next change.
func (w *wanted) add(sequence uint64, c changeEntry) error {
	if other, twice := w.requests[c.header.RequestID]; twice {
		return fmt.Errorf("request id %q is that of change %d too", c.header.RequestID, other)
	}
	w.requests[c.header.RequestID] = sequence
	for i, op := range c.header.Ops {
		before := w.latest[op.ID]
		if got, want := c.versions[i], before.header.version+1; got != want {
			return fmt.Errorf("operation on %q makes version %d, want %d", op.ID, got, want)
		}
		if op.Kind == store.Delete && before.Kind != store.Put {
			return fmt.Errorf("delete of %q, which is not there", op.ID)
		}
		if before.Kind == store.Put && before.header.sequence > w.horizon {
			w.history[string(historyKey(op.ID, before.header.version))] = before
		}
		now := written{op, recordHeader{version: c.versions[i], sequence: sequence, time: c.header.Time, size: op.Size, sum: op.Sum}}
		w.latest[op.ID] = now
		delete(w.records, op.ID)
		delete(w.stones, op.ID)
		if op.Kind == store.Put {
			w.records[op.ID] = now
		} else {
			w.stones[op.ID] = now
		}
	}
	return nil
}

// takeRecord compares an entry of records or history with the operation that
// wrote it.
func (w *wanted) takeRecord(bucket, id string, h recordHeader) error {
	from, key := w.records, id
	if bucket == bucketHistory {
		from, key = w.history, string(historyKey(id, h.version))
	}
	want, ok := from[key]
	if !ok {
		return errors.New("no change asks for this record")
	}
	delete(from, key)
	if h != want.header {
		return fmt.Errorf("record is not the one that change %d wrote", want.header.sequence)
	}
	return nil
}

func (w *wanted) takeRequest(id string, sequence uint64) error {
	want, ok := w.requests[id]
	if !ok {
		return errors.New("no change has this request id")
	}
	delete(w.requests, id)
	if sequence != want {
		return fmt.Errorf("request leads to change %d, want %d", sequence, want)
	}
	return nil
}

func (w *wanted) takeTombstone(id string, version, sequence uint64) error {
	want, ok := w.stones[id]
	if !ok {
		return errors.New("no change has deleted this record")
	}
	delete(w.stones, id)
	if version != want.header.version || sequence != want.header.sequence {
		return fmt.Errorf("tombstone has version %d of change %d, want %d of %d", version, sequence, want.header.version, want.header.sequence)
	}
	return nil
}

// missing lists what was not taken out.
func (w *wanted) missing() []Finding {
	var findings []Finding
	for _, m := range []struct {
		bucket string
		keys   []string
	}{
		{bucketRecords, slices.Sorted(maps.Keys(w.records))},
		{bucketHistory, slices.Sorted(maps.Keys(w.history))},
		{bucketTombstones, slices.Sorted(maps.Keys(w.stones))},
		{bucketRequests, slices.Sorted(maps.Keys(w.requests))},
	} {
		for _, key := range m.keys {
			findings = append(findings, Finding{Bucket: m.bucket, Key: []byte(key), Reason: "entry is missing"})
		}
	}
	return findings
}
