package boltstore

import (
	"errors"
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
)

// guard runs f, which works on mapped memory, and turns a panic of bbolt and
// a fault of the memory map into a *CorruptError at the place that f keeps up
// to date. A map faults where the disk can't deliver a page, and where the
// file was cut off meanwhile.
func (s *Store) guard(at *Finding, f func() error) (err error) {
	before := debug.SetPanicOnFault(true) // of this goroutine
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			found := *at
			found.Reason = fmt.Sprint(p)
			err = &CorruptError{Path: s.path, Finding: found}
		}
	}()
	return f()
}

// corrupt names what contradicts itself at a place.
func (s *Store) corrupt(at *Finding, err error) error {
	found := *at
	found.Reason = err.Error()
	return &CorruptError{Path: s.path, Finding: found}
}

// isCorrupt tells whether err is a *CorruptError of its own.
func isCorrupt(err error) bool {
	var c *CorruptError
	return errors.As(err, &c)
}

// begin opens a transaction. bbolt may have left locks held where it panics
// here, so the store is not usable after that.
func (s *Store) begin(writable bool) (tx *bolt.Tx, err error) {
	err = s.guard(&Finding{}, func() error {
		tx, err = s.db.Begin(writable)
		return err
	})
	if isCorrupt(err) {
		s.fail(err)
	}
	return tx, err
}

// rollback ends a transaction without effect. In a store that is not usable
// any more bbolt could wait for ever for a lock that was left behind; there
// the transaction stays as it is.
func (s *Store) rollback(tx *bolt.Tx) error {
	if s.isBroken() {
		return nil
	}
	err := s.guard(&Finding{}, tx.Rollback)
	if isCorrupt(err) {
		s.fail(err)
	}
	return err
}

// view runs f in a read transaction of its own. What f gives out must be a
// copy; at is where f works.
func (s *Store) view(at *Finding, f func(tx *bolt.Tx) error) error {
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	err = s.guard(at, func() error { return f(tx) })
	if rerr := s.rollback(tx); err == nil {
		err = rerr
	}
	return err
}

// bucket gives one of the store's buckets and notes it as the place of work.
func (s *Store) bucket(tx *bolt.Tx, at *Finding, name string) (*bolt.Bucket, error) {
	*at = Finding{Bucket: name}
	b := tx.Bucket([]byte(name))
	if b == nil {
		return nil, s.corrupt(at, errors.New("bucket is missing"))
	}
	return b, nil
}

// get gives the value of a key, nil where there is none. It lies in the
// transaction.
func (s *Store) get(tx *bolt.Tx, at *Finding, bucket string, key []byte) ([]byte, error) {
	b, err := s.bucket(tx, at, bucket)
	if err != nil {
		return nil, err
	}
	at.Key = key
	return b.Get(key), nil
}

// state reads the entry "state".
func (s *Store) state(tx *bolt.Tx, at *Finding) (fileState, error) {
	b, err := s.get(tx, at, bucketMeta, []byte(keyState))
	if err != nil {
		return fileState{}, err
	}
	state, err := decodeState(b)
	if err != nil {
		return fileState{}, s.corrupt(at, err)
	}
	return state, nil
}

// putState writes the entry "state".
func putState(tx *bolt.Tx, state fileState) error {
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyState), state.encode())
}
