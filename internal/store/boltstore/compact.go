package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// Compaction tells what Compact did.
type Compaction struct {
	Before, After int64  // size of the file in bytes
	Dropped       uint64 // superseded and deleted records that are gone
}

// Compact writes the store in src to a new file without the bodies of
// superseded records and without free pages, checks that file, and gives it
// the name dst. Where dst is src, or "", it takes the place of src;
// otherwise nothing may be there. Position, versions and requests stay; Follow
// after a position before the last change whose record was dropped gives
// ErrCompacted from then on. The store must not be open: Compact locks it for
// itself. A store that Check finds fault with is not compacted, since what is
// left out could be what is wrong. Until the last step src is as it was.
func Compact(ctx context.Context, src, dst string) (Compaction, error) {
	src, dst, err := compactionPaths(src, dst)
	if err != nil {
		return Compaction{}, fmt.Errorf("compact: %w", err)
	}
	s, err := openReserving(src, Options{}, 0)
	if err != nil {
		return Compaction{}, fmt.Errorf("compact: %w", err)
	}
	c, err := s.compactTo(ctx, dst)
	// The lock must last until dst has its name: whoever waits for it looks
	// then whether the file is still the one it opened.
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return Compaction{}, fmt.Errorf("compact %s: %w", src, err)
	}
	return c, nil
}

// compactionPaths follows links, so that the file itself is replaced.
func compactionPaths(src, dst string) (from, to string, err error) {
	if from, err = filepath.EvalSymlinks(src); err != nil || dst == "" {
		return from, from, err
	}
	there, err := os.Stat(dst)
	if errors.Is(err, fs.ErrNotExist) {
		return from, dst, nil
	}
	if err != nil {
		return "", "", err
	}
	here, err := os.Stat(from)
	if err != nil {
		return "", "", err
	}
	if !os.SameFile(here, there) {
		return "", "", fmt.Errorf("%s: %w", dst, fs.ErrExist)
	}
	return from, from, nil
}

// compactTo writes, checks and names the new file.
func (s *Store) compactTo(ctx context.Context, dst string) (Compaction, error) {
	if err := s.mustBeSound(ctx); err != nil {
		return Compaction{}, err
	}
	before, err := s.file.Stat()
	if err != nil {
		return Compaction{}, err
	}
	temporary, err := newFile(dst)
	if err != nil {
		return Compaction{}, err
	}
	defer func() { _ = os.Remove(temporary) }() // it may have its name by then
	state, dropped, err := s.copyTo(ctx, temporary)
	if err != nil {
		return Compaction{}, err
	}
	size, err := finishCopy(ctx, temporary, state)
	if err != nil {
		return Compaction{}, err
	}
	if dst == s.path {
		err = errors.Join(os.Rename(temporary, dst), syncFolder(filepath.Dir(dst)))
	} else {
		err = publish(temporary, dst)
	}
	return Compaction{Before: before.Size(), After: size, Dropped: dropped}, err
}

// copyTo fills a new file and gives the state that it must have.
func (s *Store) copyTo(ctx context.Context, path string) (state fileState, dropped uint64, err error) {
	// Nothing is synced before the end: the file has no name to be found by.
	db, err := bolt.Open(path, fileMode, &bolt.Options{FreelistType: bolt.FreelistMapType, NoSync: true})
	if err != nil {
		return fileState{}, 0, err
	}
	at := &Finding{}
	err = s.view(at, func(tx *bolt.Tx) error {
		if state, err = s.state(tx, at); err != nil {
			return err
		}
		dropped = state.history
		if state.horizon, err = s.newHorizon(tx, at, state.horizon); err != nil {
			return err
		}
		state.history = 0
		return nil
	})
	if err == nil {
		err = db.Update(func(tx *bolt.Tx) error { return initialise(tx, state) })
	}
	for _, name := range []string{bucketChanges, bucketRecords, bucketRequests, bucketTombstones} {
		if err == nil {
			err = s.copyBucket(ctx, db, name)
		}
	}
	return state, dropped, errors.Join(err, db.Close())
}

// newHorizon gives the sequence up to which changes lose records: that of the
// newest superseded record.
func (s *Store) newHorizon(tx *bolt.Tx, at *Finding, horizon uint64) (uint64, error) {
	history, err := s.bucket(tx, at, bucketHistory)
	if err != nil {
		return 0, err
	}
	cursor := history.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		h, err := decodeRecordHeader(bucketHistory, key, value, len(value))
		if err != nil {
			at.Key = bytes.Clone(key)
			return 0, s.corrupt(at, err)
		}
		horizon = max(horizon, h.sequence)
	}
	return horizon, nil
}

// copyBucket copies all entries of a bucket, some megabytes a transaction.
func (s *Store) copyBucket(ctx context.Context, to *bolt.DB, name string) error {
	var after []byte
	for {
		entries, err := s.entriesAfter(name, after)
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err = to.Update(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(name))
			b.FillPercent = 1 // in the order of keys, and nothing comes between
			for _, e := range entries {
				if err := b.Put(e.key, e.value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after = entries[len(entries)-1].key
	}
}

type entry struct{ key, value []byte }

// entriesAfter copies the entries behind a key, as many as make a batch.
func (s *Store) entriesAfter(name string, after []byte) ([]entry, error) {
	const batchBytes = 8 << 20
	var entries []entry
	at := &Finding{}
	err := s.view(at, func(tx *bolt.Tx) error {
		b, err := s.bucket(tx, at, name)
		if err != nil {
			return err
		}
		cursor := b.Cursor()
		key, value := cursor.Seek(after)
		if bytes.Equal(key, after) {
			key, value = cursor.Next()
		}
		for size := 0; key != nil && size < batchBytes; key, value = cursor.Next() {
			entries = append(entries, entry{bytes.Clone(key), bytes.Clone(value)})
			size += len(key) + len(value)
			at.Key = entries[len(entries)-1].key
		}
		return nil
	})
	return entries, err
}

// finishCopy cuts off the pages that were never used, makes the copy durable
// and checks it: it must be sound and in the wanted state.
func finishCopy(ctx context.Context, path string, want fileState) (size int64, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	pages, err := openPages(file, info.Size())
	if err != nil {
		return 0, fmt.Errorf("the copy: %w", err)
	}
	size = int64(pages.meta.pages) * pages.pageSize
	if err := errors.Join(file.Truncate(size), file.Sync()); err != nil {
		return 0, err
	}
	return size, checkCopy(ctx, path, want)
}

// checkCopy tells whether a file is sound and holds a state.
func checkCopy(ctx context.Context, path string, want fileState) error {
	s, err := openReserving(path, Options{ReadOnly: true}, 0)
	if err != nil {
		return err
	}
	var got fileState
	at := &Finding{}
	err = s.view(at, func(tx *bolt.Tx) error {
		got, err = s.state(tx, at)
		return err
	})
	if err == nil && got != want {
		err = fmt.Errorf("the copy is at %v, want %v", got.head, want.head)
	}
	if err == nil {
		err = s.mustBeSound(ctx)
	}
	return errors.Join(err, s.Close())
}

// mustBeSound gives the first finding of a check as an error.
func (s *Store) mustBeSound(ctx context.Context) error {
	findings, err := s.Check(ctx)
	if err == nil && len(findings) > 0 {
		err = &CorruptError{Path: s.path, Finding: findings[0]}
	}
	return err
}
