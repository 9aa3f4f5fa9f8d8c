package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// Head implements store.Log. It reads the file only the first time: from then
// on each transaction tells what it meets, and no other process writes.
func (s *Store) Head(ctx context.Context) (store.Position, error) {
	if err := s.enter(ctx); err != nil {
		return store.Position{}, err
	}
	defer s.leave()
	if head := s.head.Load(); head != nil {
		return *head, nil
	}
	var state fileState
	at := &Finding{}
	err := s.view(at, func(tx *bolt.Tx) error {
		var err error
		state, err = s.state(tx, at)
		return err
	})
	if err != nil {
		return store.Position{}, err
	}
	return *s.met(state.head), nil
}

// met takes note of a position that a transaction has met, and gives the
// newest one. A commit tells before it is acknowledged, and a snapshot before
// anyone sees what it holds: so nobody is told an older head after that.
func (s *Store) met(p store.Position) *store.Position {
	for {
		head := s.head.Load()
		if head != nil && head.Sequence >= p.Sequence {
			return head
		}
		newer := p // of which only a new head takes memory
		if s.head.CompareAndSwap(head, &newer) {
			return &newer
		}
	}
}

// read is view as a call of its own.
func (s *Store) read(ctx context.Context, at *Finding, f func(tx *bolt.Tx) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	return s.view(at, f)
}

// Request implements store.Log.
func (s *Store) Request(ctx context.Context, requestID string) (store.Position, error) {
	var p store.Position
	at := &Finding{}
	err := s.read(ctx, at, func(tx *bolt.Tx) error {
		value, err := s.get(tx, at, bucketRequests, []byte(requestID))
		if err != nil {
			return err
		}
		if value == nil {
			return fmt.Errorf("request %q: %w", requestID, store.ErrNotFound)
		}
		sequence, err := decodeRequest(at.Key, value)
		if err != nil {
			return s.corrupt(at, err)
		}
		p, err = s.position(tx, at, sequence)
		return err
	})
	return p, err
}

// position gives the position with a sequence, which must be in the history.
func (s *Store) position(tx *bolt.Tx, at *Finding, sequence uint64) (store.Position, error) {
	state, err := s.state(tx, at)
	if err != nil {
		return store.Position{}, err
	}
	p := store.Position{Lineage: state.head.Lineage, Sequence: sequence}
	if sequence == 0 {
		return p, nil
	}
	value, err := s.get(tx, at, bucketChanges, sequenceKey(sequence))
	if err != nil {
		return store.Position{}, err
	}
	if value == nil {
		return store.Position{}, s.corrupt(at, errors.New("change is missing"))
	}
	if p.Digest, err = decodeDigest(at.Key, value); err != nil {
		return store.Position{}, s.corrupt(at, err)
	}
	return p, nil
}

// Follow implements store.Log. Each change is read in a transaction of its
// own, so a slow receiver holds nothing.
func (s *Store) Follow(ctx context.Context, after store.Position) iter.Seq2[store.Entry, error] {
	from, head, err := s.followFrom(ctx, after)
	return func(yield func(store.Entry, error) bool) {
		if err != nil {
			yield(store.Entry{}, err)
			return
		}
		for last := from; last.Sequence < head; {
			e, err := s.entryAfter(ctx, last)
			if !yield(e, err) || err != nil {
				return
			}
			last = e.Position
		}
	}
}

// followFrom finds a position in the history. It gives the position as the
// store has it, and the sequence of the head.
func (s *Store) followFrom(ctx context.Context, after store.Position) (from store.Position, head uint64, err error) {
	at := &Finding{}
	err = s.read(ctx, at, func(tx *bolt.Tx) error {
		state, err := s.state(tx, at)
		if err != nil {
			return err
		}
		if after == (store.Position{}) {
			after.Lineage = state.head.Lineage
		}
		unknown := fmt.Errorf("%w: %v; head is %v", store.ErrUnknownPosition, after, state.head)
		if after.Lineage != state.head.Lineage || after.Sequence > state.head.Sequence {
			return unknown
		}
		from, err = s.position(tx, at, after.Sequence)
		if err != nil {
			return err
		}
		if from != after {
			return unknown
		}
		if after.Sequence < state.horizon {
			return fmt.Errorf("%w: up to sequence %d; asked for those after %v", store.ErrCompacted, state.horizon, after)
		}
		head = state.head.Sequence
		return nil
	})
	return from, head, err
}

// entryAfter reads the change that follows a position, and checks that it
// leads from there.
func (s *Store) entryAfter(ctx context.Context, last store.Position) (store.Entry, error) {
	var e store.Entry
	at := &Finding{}
	err := s.read(ctx, at, func(tx *bolt.Tx) error {
		value, err := s.get(tx, at, bucketChanges, sequenceKey(last.Sequence+1))
		if err != nil {
			return err
		}
		if value == nil {
			return s.corrupt(at, errors.New("change is missing"))
		}
		entry, err := decodeChange(at.Key, value)
		if err != nil {
			return s.corrupt(at, err)
		}
		e.Position = last.Next(entry.encoding)
		if e.Position.Digest != entry.digest {
			return s.corrupt(at, errors.New("digest does not follow from the change before"))
		}
		e.Change, err = s.wholeChange(tx, at, e.Position.Sequence, entry)
		return err
	})
	if err != nil {
		return store.Entry{}, err
	}
	return e, nil
}

// wholeChange puts the records back into a change.
func (s *Store) wholeChange(tx *bolt.Tx, at *Finding, sequence uint64, entry changeEntry) (store.Change, error) {
	h := entry.header
	c := store.Change{Time: h.Time, Actor: h.Actor, RequestID: h.RequestID, Ops: make([]store.Op, len(h.Ops))}
	for i, op := range h.Ops {
		c.Ops[i] = store.Op{Kind: op.Kind, ID: op.ID}
		if op.Kind == store.Delete {
			continue
		}
		body, err := s.body(tx, at, op.ID, entry.versions[i], sequence, op)
		if err != nil {
			return store.Change{}, err
		}
		c.Ops[i].Record = body
	}
	return c, nil
}

// body gives a copy of the record that an operation wrote: the current one, or
// one that was superseded.
func (s *Store) body(tx *bolt.Tx, at *Finding, id string, version, sequence uint64, op store.OpHeader) ([]byte, error) {
	value, err := s.get(tx, at, bucketRecords, []byte(id))
	if err != nil {
		return nil, err
	}
	if value != nil {
		h, err := decodeRecordHeader(bucketRecords, at.Key, value, len(value))
		if err != nil {
			return nil, s.corrupt(at, err)
		}
		if h.version != version {
			value = nil
		}
	}
	if value == nil {
		if value, err = s.get(tx, at, bucketHistory, historyKey(id, version)); err != nil {
			return nil, err
		}
		if value == nil {
			return nil, s.corrupt(at, errors.New("superseded record is missing"))
		}
	}
	h, body, err := decodeRecord(at.Bucket, at.Key, value)
	if err != nil {
		return nil, s.corrupt(at, err)
	}
	if h.sequence != sequence || h.sum != op.Sum {
		return nil, s.corrupt(at, fmt.Errorf("record is not the one that change %d wrote", sequence))
	}
	return bytes.Clone(body), nil
}
