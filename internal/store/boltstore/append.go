package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// Append implements store.Log: one bbolt transaction, two syncs of the file.
func (s *Store) Append(ctx context.Context, base store.Position, c store.Change) (store.Position, error) {
	if err := s.enter(ctx); err != nil {
		return store.Position{}, err
	}
	defer s.leave()
	if s.readOnly {
		return store.Position{}, fmt.Errorf("append: %w", ErrReadOnly)
	}
	if err := c.Validate(); err != nil {
		return store.Position{}, err
	}
	b := batch{s: s, change: c, header: store.HeaderOf(c)}
	b.encoding = b.header.Encode()
	if err := s.lockWriter(ctx); err != nil {
		return store.Position{}, err
	}
	defer s.unlockWriter()
	return s.commit(base, &b)
}

// lockWriter waits to be the only one that appends or checks.
func (s *Store) lockWriter(ctx context.Context) error {
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	err := s.broken // perhaps meanwhile
	s.mu.Unlock()
	if err != nil {
		s.unlockWriter()
	}
	return err
}

func (s *Store) unlockWriter() { <-s.writer }

// commit writes a change in one transaction.
func (s *Store) commit(base store.Position, b *batch) (store.Position, error) {
	tx, err := s.begin(true)
	if err != nil {
		return store.Position{}, err
	}
	b.tx = tx
	var next store.Position
	err = s.guard(&b.at, func() error {
		next, err = b.write(base)
		return err
	})
	if err != nil {
		if rerr := s.rollback(tx); rerr != nil {
			s.fail(rerr)
		}
		return store.Position{}, err
	}
	s.db.AllocSize = growth(tx.Size())
	if err := s.guard(&Finding{}, tx.Commit); err != nil {
		s.settle(base, err)
		return store.Position{}, fmt.Errorf("append: %w", err)
	}
	s.met(next)
	return next, nil
}

// growth gives the bytes by which bbolt lets a file of some size grow beyond
// its need, so that small files stay small and large ones seldom grow.
func growth(size int64) int { return int(min(max(size/8, 128<<10), 64<<20)) }

// settle looks at what a failed commit has left. bbolt rolls back where it
// could not write the data, on a full disk for one, and the store goes on.
// Where it has written the meta page and could not sync it, readers already
// see a change that the disk may lose: then only what the file holds after it
// is opened again counts.
func (s *Store) settle(base store.Position, cause error) {
	if isCorrupt(cause) {
		s.fail(cause) // bbolt panicked with its locks held
		return
	}
	var state fileState
	at := &Finding{}
	err := s.view(at, func(tx *bolt.Tx) error {
		var err error
		state, err = s.state(tx, at)
		return err
	})
	if err != nil || state.head != base {
		s.fail(cause)
	}
}

// batch is one change on its way into the file.
type batch struct {
	s        *Store
	tx       *bolt.Tx
	at       Finding // where the work is
	change   store.Change
	header   store.Header
	encoding []byte
	state    fileState
	steps    []step
	versions []uint64 // by operation
}

// step is one operation and what it meets.
type step struct {
	store.OpHeader
	key     []byte
	body    []byte // of a Put
	version uint64
	before  *superseded
	buried  bool // the id has a tombstone
}

// superseded is the record that a step replaces or deletes. Its body lies in
// the transaction.
type superseded struct {
	recordHeader
	body []byte
}

// write checks the change against the state and puts it into the transaction.
func (b *batch) write(base store.Position) (store.Position, error) {
	var err error
	if b.state, err = b.s.state(b.tx, &b.at); err != nil {
		return store.Position{}, err
	}
	if b.state.head != base {
		return store.Position{}, fmt.Errorf("%w: head is %v, the change was made for %v", store.ErrConflict, b.state.head, base)
	}
	used, err := b.s.get(b.tx, &b.at, bucketRequests, []byte(b.change.RequestID))
	if err != nil {
		return store.Position{}, err
	}
	if used != nil {
		return store.Position{}, fmt.Errorf("%w: request id %q was used before", store.ErrInvalidChange, b.change.RequestID)
	}
	if err := b.plan(); err != nil {
		return store.Position{}, err
	}
	next := base.Next(b.encoding)
	b.state.head = next
	return next, b.apply(next)
}

// plan looks up what each operation meets, before anything is changed.
func (b *batch) plan() error {
	b.steps = make([]step, len(b.header.Ops))
	b.versions = make([]uint64, len(b.header.Ops))
	for i, op := range b.header.Ops {
		st := step{OpHeader: op, key: []byte(op.ID), body: b.change.Ops[i].Record}
		if err := b.meet(&st); err != nil {
			return err
		}
		if op.Kind == store.Delete && st.before == nil {
			return fmt.Errorf("%w: delete of %q, which is not there", store.ErrInvalidChange, op.ID)
		}
		b.steps[i], b.versions[i] = st, st.version
	}
	// In the order of keys: pages are visited once, and filled from the left.
	slices.SortFunc(b.steps, func(x, y step) int { return cmp.Compare(x.ID, y.ID) })
	return nil
}

// meet finds the record or the tombstone of a step's id, and the version that
// follows.
func (b *batch) meet(st *step) error {
	old, err := b.s.get(b.tx, &b.at, bucketRecords, st.key)
	if err != nil {
		return err
	}
	if old != nil {
		h, err := decodeRecordHeader(bucketRecords, st.key, old, len(old))
		if err != nil {
			return b.s.corrupt(&b.at, err)
		}
		st.before = &superseded{recordHeader: h, body: old[recordHeaderSize:]}
		st.version = h.version + 1
		return nil
	}
	stone, err := b.s.get(b.tx, &b.at, bucketTombstones, st.key)
	if err != nil {
		return err
	}
	if stone != nil {
		version, _, err := decodeTombstone(st.key, stone)
		if err != nil {
			return b.s.corrupt(&b.at, err)
		}
		st.buried, st.version = true, version
	}
	st.version++
	return nil
}

// apply writes all entries of the change.
func (b *batch) apply(next store.Position) error {
	history, err := b.s.bucket(b.tx, &b.at, bucketHistory)
	if err != nil {
		return err
	}
	tombstones, err := b.s.bucket(b.tx, &b.at, bucketTombstones)
	if err != nil {
		return err
	}
	records, err := b.records()
	if err != nil {
		return err
	}
	for _, st := range b.steps {
		b.at.Key = st.key
		if err := errors.Join(
			b.keepBefore(history, st),
			b.bury(tombstones, st),
			b.set(records, st),
		); err != nil {
			return err
		}
	}
	return b.note(next)
}

// records gives the bucket of records, made ready for a batch.
func (b *batch) records() (*bolt.Bucket, error) {
	records, err := b.s.bucket(b.tx, &b.at, bucketRecords)
	if err != nil {
		return nil, err
	}
	// Sorted input lands behind all that is there: then nothing will be
	// inserted between, and pages can be filled.
	if last, _ := records.Cursor().Last(); bytes.Compare(b.steps[0].key, last) > 0 {
		records.FillPercent = 1
	}
	return records, nil
}

// keepBefore moves a superseded record to history, if Follow may need it.
func (b *batch) keepBefore(history *bolt.Bucket, st step) error {
	if st.before == nil || st.before.sequence <= b.state.horizon {
		return nil
	}
	key := historyKey(st.ID, st.before.version)
	b.state.history++
	return history.Put(key, encodeRecord(bucketHistory, key, st.before.recordHeader, st.before.body))
}

// bury keeps the tombstone of a step's id.
func (b *batch) bury(tombstones *bolt.Bucket, st step) error {
	switch {
	case st.Kind == store.Delete:
		b.state.tombstones++
		return tombstones.Put(st.key, encodeTombstone(st.ID, st.version, b.state.head.Sequence))
	case st.buried:
		b.state.tombstones--
		return tombstones.Delete(st.key)
	}
	return nil
}

// set writes or deletes the record of a step.
func (b *batch) set(records *bolt.Bucket, st step) error {
	if st.Kind == store.Delete {
		b.state.records--
		return records.Delete(st.key)
	}
	if st.before == nil {
		b.state.records++
	}
	h := recordHeader{version: st.version, sequence: b.state.head.Sequence, time: b.header.Time, size: st.Size, sum: st.Sum}
	return records.Put(st.key, encodeRecord(bucketRecords, st.key, h, st.body))
}

// note enters the change itself, its request and the new state.
func (b *batch) note(next store.Position) error {
	changes, err := b.s.bucket(b.tx, &b.at, bucketChanges)
	if err != nil {
		return err
	}
	requests, err := b.s.bucket(b.tx, &b.at, bucketRequests)
	if err != nil {
		return err
	}
	changes.FillPercent = 1 // keys only ever grow
	return errors.Join(
		changes.Put(sequenceKey(next.Sequence), encodeChange(next, b.encoding, b.versions)),
		requests.Put([]byte(b.change.RequestID), encodeRequest(b.change.RequestID, next.Sequence)),
		putState(b.tx, b.state),
	)
}
