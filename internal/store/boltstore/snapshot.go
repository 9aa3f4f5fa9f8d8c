package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// snapshot is a bbolt read transaction that is kept open. Records are copied
// out of it and checked outside, so that readers share only the copying.
type snapshot struct {
	s     *Store
	state fileState

	mu      sync.Mutex // guards what follows: a transaction serves one goroutine at a time
	tx      *bolt.Tx   // nil once closed
	records *bolt.Bucket
}

// Snapshot implements store.Log.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	tx, err := s.begin(false)
	if err != nil {
		return nil, err
	}
	sn := &snapshot{s: s, tx: tx}
	at := &Finding{}
	err = s.guard(at, func() error {
		if sn.state, err = s.state(tx, at); err != nil {
			return err
		}
		sn.records, err = s.bucket(tx, at, bucketRecords)
		return err
	})
	if err != nil {
		_ = s.rollback(tx) // err says more
		return nil, err
	}
	s.met(sn.state.head)
	s.mu.Lock()
	s.snapshots++
	s.mu.Unlock()
	return sn, nil
}

// Position implements store.Snapshot.
func (sn *snapshot) Position() store.Position { return sn.state.head }

// Len implements store.Snapshot.
func (sn *snapshot) Len() int { return int(sn.state.records) }

// Get implements store.Snapshot.
func (sn *snapshot) Get(id string) (store.Record, error) {
	key := []byte(id)
	_, value, err := sn.copy(&Finding{Bucket: bucketRecords, Key: key}, func() ([]byte, []byte) {
		return nil, sn.records.Get(key)
	})
	if err != nil {
		return store.Record{}, err
	}
	if value == nil {
		return store.Record{}, fmt.Errorf("record %q: %w", id, store.ErrNotFound)
	}
	return sn.decode(key, value)
}

// copy runs f on the transaction and copies what it gives.
func (sn *snapshot) copy(at *Finding, f func() (key, value []byte)) (key, value []byte, err error) {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.tx == nil {
		return nil, nil, store.ErrClosed
	}
	err = sn.s.guard(at, func() error {
		key, value = f()
		key, value = bytes.Clone(key), bytes.Clone(value)
		return nil
	})
	return key, value, err
}

// decode makes a Record of a value that is the caller's.
func (sn *snapshot) decode(key, value []byte) (store.Record, error) {
	h, body, err := decodeRecord(bucketRecords, key, value)
	if err != nil {
		return store.Record{}, sn.s.corrupt(&Finding{Bucket: bucketRecords, Key: key}, err)
	}
	return store.Record{ID: string(key), Version: h.version, Sequence: h.sequence, Time: h.time, Bytes: body}, nil
}

// Records implements store.Snapshot.
func (sn *snapshot) Records() iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		var cursor *bolt.Cursor
		next := func() (key, value []byte) {
			if cursor == nil {
				cursor = sn.records.Cursor()
				return cursor.First()
			}
			return cursor.Next()
		}
		at := &Finding{Bucket: bucketRecords}
		n := 0
		for ; ; n++ {
			key, value, err := sn.copy(at, next)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			if key == nil {
				break
			}
			r, err := sn.decode(key, value)
			if !yield(r, err) || err != nil {
				return
			}
			at.Key = key // what comes next is behind it
		}
		if n != sn.Len() {
			yield(store.Record{}, sn.s.corrupt(&Finding{Bucket: bucketRecords}, fmt.Errorf("%d records, want %d", n, sn.Len())))
		}
	}
}

// Close implements store.Snapshot.
func (sn *snapshot) Close() error {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.tx == nil {
		return nil
	}
	err := sn.s.rollback(sn.tx)
	sn.tx, sn.records = nil, nil
	sn.s.mu.Lock()
	sn.s.snapshots--
	sn.s.mu.Unlock()
	return err
}
