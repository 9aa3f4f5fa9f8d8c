package boltstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// small makes a store with one of everything: a record, one that was
// replaced, one that was deleted.
func small(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s)
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put := func(id, record string) store.Op { return store.Op{Kind: store.Put, ID: id, Record: []byte(record)} }
	for i, ops := range [][]store.Op{
		{put("a", "a1"), put("b", "b1"), put("c", "c1")},
		{put("a", "a2")},
		{{Kind: store.Delete, ID: "c"}},
	} {
		if head, err = s.Append(t.Context(), head, store.Change{RequestID: fmt.Sprint("request-", i+1), Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// edit changes a file behind the store's back.
func edit(t *testing.T, path string, f func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, fileMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(f), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// editState changes the entry "state".
func editState(tx *bolt.Tx, f func(*fileState)) error {
	state, err := decodeState(tx.Bucket([]byte(bucketMeta)).Get([]byte(keyState)))
	if err != nil {
		return err
	}
	f(&state)
	return putState(tx, state)
}

// TestCheckFinds makes files whose pages and checksums are all right, and
// which contradict themselves all the same.
func TestCheckFinds(t *testing.T) {
	bucket := func(tx *bolt.Tx, name string) *bolt.Bucket { return tx.Bucket([]byte(name)) }
	change := func(tx *bolt.Tx, n uint64, f func(*changeEntry)) error {
		c, err := decodeChange(sequenceKey(n), bucket(tx, bucketChanges).Get(sequenceKey(n)))
		if err != nil {
			return err
		}
		f(&c)
		value := encodeChange(store.Position{Sequence: n, Digest: c.digest}, c.encoding, c.versions)
		return bucket(tx, bucketChanges).Put(sequenceKey(n), value)
	}
	record := func(version, sequence uint64, body string) recordHeader {
		return recordHeader{version: version, sequence: sequence, size: uint32(len(body)), sum: sha256.Sum256([]byte(body))}
	}
	for _, test := range []struct {
		name, want string // a part of one finding
		edit       func(tx *bolt.Tx) error
	}{
		{"record is gone", "bucket records", func(tx *bolt.Tx) error {
			return bucket(tx, bucketRecords).Delete([]byte("b"))
		}},
		{"record and its count are gone", `bucket records, key "b": entry is missing`, func(tx *bolt.Tx) error {
			return errors.Join(bucket(tx, bucketRecords).Delete([]byte("b")), editState(tx, func(s *fileState) { s.records-- }))
		}},
		{"record that nobody wrote", `key "z"`, func(tx *bolt.Tx) error {
			value := encodeRecord(bucketRecords, []byte("z"), record(1, 1, "z"), []byte("z"))
			return errors.Join(bucket(tx, bucketRecords).Put([]byte("z"), value), editState(tx, func(s *fileState) { s.records++ }))
		}},
		{"record with another body", `record is not the one`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketRecords).Put([]byte("b"), encodeRecord(bucketRecords, []byte("b"), record(1, 1, "b2"), []byte("b2")))
		}},
		{"record with another version", `record is not the one`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketRecords).Put([]byte("b"), encodeRecord(bucketRecords, []byte("b"), record(2, 1, "b1"), []byte("b1")))
		}},
		{"body is damaged", `key "b", page`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketRecords).Put([]byte("b"), encodeRecord(bucketRecords, []byte("b"), record(1, 1, "b1"), []byte("b!")))
		}},
		{"record under another's key", `key "b"`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketRecords).Put([]byte("b"), bucket(tx, bucketRecords).Get([]byte("a")))
		}},
		{"history is gone", `bucket history, key "a\x00`, func(tx *bolt.Tx) error {
			return errors.Join(bucket(tx, bucketHistory).Delete(historyKey("a", 1)), editState(tx, func(s *fileState) { s.history-- }))
		}},
		{"history is an orphan", `bucket history, key "b\x00`, func(tx *bolt.Tx) error {
			key := historyKey("b", 7)
			value := encodeRecord(bucketHistory, key, record(7, 1, "x"), []byte("x"))
			return errors.Join(bucket(tx, bucketHistory).Put(key, value), editState(tx, func(s *fileState) { s.history++ }))
		}},
		{"history with another version than its key", `bucket history`, func(tx *bolt.Tx) error {
			key := historyKey("a", 1)
			return bucket(tx, bucketHistory).Put(key, encodeRecord(bucketHistory, key, record(2, 1, "a1"), []byte("a1")))
		}},
		{"history before the horizon", `no change asks`, func(tx *bolt.Tx) error {
			return editState(tx, func(s *fileState) { s.horizon = 1 })
		}},
		{"horizon past the head", "horizon 9", func(tx *bolt.Tx) error {
			return editState(tx, func(s *fileState) { s.horizon = 9 })
		}},
		{"request leads elsewhere", `bucket requests, key "request-1"`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketRequests).Put([]byte("request-1"), encodeRequest("request-1", 2))
		}},
		{"request is gone", "bucket requests: 2 entries, want 3", func(tx *bolt.Tx) error {
			return bucket(tx, bucketRequests).Delete([]byte("request-1"))
		}},
		{"request was renamed", `no change has this request id`, func(tx *bolt.Tx) error {
			b := bucket(tx, bucketRequests)
			return errors.Join(b.Delete([]byte("request-1")), b.Put([]byte("request-x"), encodeRequest("request-x", 1)))
		}},
		{"tombstone with another version", `bucket tombstones, key "c"`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketTombstones).Put([]byte("c"), encodeTombstone("c", 3, 3))
		}},
		{"tombstone is gone", `bucket tombstones, key "c": entry is missing`, func(tx *bolt.Tx) error {
			return errors.Join(bucket(tx, bucketTombstones).Delete([]byte("c")), editState(tx, func(s *fileState) { s.tombstones-- }))
		}},
		{"tombstone of a living record", `bucket tombstones, key "a"`, func(tx *bolt.Tx) error {
			return errors.Join(bucket(tx, bucketTombstones).Put([]byte("a"), encodeTombstone("a", 2, 2)), editState(tx, func(s *fileState) { s.tombstones++ }))
		}},
		{"change is gone", "change 3 follows on change 1", func(tx *bolt.Tx) error {
			return bucket(tx, bucketChanges).Delete(sequenceKey(2))
		}},
		{"change was edited", "digest does not follow", func(tx *bolt.Tx) error {
			return change(tx, 2, func(c *changeEntry) {
				h := c.header
				h.Actor = "somebody else"
				c.encoding = h.Encode()
			})
		}},
		{"digest was edited", "digest does not follow", func(tx *bolt.Tx) error {
			return change(tx, 2, func(c *changeEntry) { c.digest[0]++ })
		}},
		{"version of a change was edited", "makes version 5, want 2", func(tx *bolt.Tx) error {
			return change(tx, 2, func(c *changeEntry) { c.versions[0] = 5 })
		}},
		{"head was edited", "head is 3", func(tx *bolt.Tx) error {
			return editState(tx, func(s *fileState) { s.head.Digest[0]++ })
		}},
		{"last change was cut off", "bucket changes", func(tx *bolt.Tx) error {
			return bucket(tx, bucketChanges).Delete(sequenceKey(3))
		}},
		{"bucket is gone", "bucket tombstones: bucket is missing", func(tx *bolt.Tx) error {
			return tx.DeleteBucket([]byte(bucketTombstones))
		}},
		{"bucket too many", "bucket extra: bucket is not one", func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("extra"))
			return err
		}},
		{"bucket in a bucket", `bucket records, key "nested"`, func(tx *bolt.Tx) error {
			_, err := bucket(tx, bucketRecords).CreateBucket([]byte("nested"))
			return err
		}},
		{"entry too many in meta", `bucket meta, key "more"`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketMeta).Put([]byte("more"), []byte("x"))
		}},
		{"state is gone", `bucket meta, key "state"`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketMeta).Delete([]byte(keyState))
		}},
		{"format is gone", `bucket meta, key "format"`, func(tx *bolt.Tx) error {
			return bucket(tx, bucketMeta).Delete([]byte(keyFormat))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := small(t)
			if findings, err := Check(t.Context(), path, Options{}); err != nil || len(findings) > 0 {
				t.Fatalf("Check() before = %v, %v", findings, err)
			}
			edit(t, path, test.edit)
			findings, err := Check(t.Context(), path, Options{})
			if err != nil || !strings.Contains(fmt.Sprint(findings), test.want) {
				t.Errorf("Check() = %v, %v, want %q", findings, err, test.want)
			}
			if _, err := Compact(t.Context(), path, ""); err == nil {
				t.Error("Compact() = nil, want an error")
			}
		})
	}
}

func TestCheckWithContext(t *testing.T) {
	path := small(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ended, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Check() = %v, want %v", err, context.Canceled)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s)
	if _, err := s.Check(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Store.Check() = %v, want %v", err, context.Canceled)
	}
}

// TestCheckBounds: what a check reports has a limit.
func TestCheckBounds(t *testing.T) {
	path := small(t)
	edit(t, path, func(tx *bolt.Tx) error {
		for i := range 2 * maxFindings {
			if err := tx.Bucket([]byte(bucketRecords)).Put(fmt.Append(nil, "z", i), []byte("not a record")); err != nil {
				return err
			}
		}
		return nil
	})
	findings, err := Check(t.Context(), path, Options{})
	if err != nil || len(findings) != maxFindings {
		t.Errorf("Check() = %d findings, %v, want %d", len(findings), err, maxFindings)
	}
}

func TestOtherFormats(t *testing.T) {
	for version, remedy := range map[uint32]string{0: "export it with the incidentgraph that wrote it", 2: "newer incidentgraph", 1 << 31: "newer incidentgraph"} {
		path := small(t)
		edit(t, path, func(tx *bolt.Tx) error {
			// Another version may lay out all but the entry "format" as it likes.
			for _, name := range []string{bucketRecords, bucketChanges} {
				if err := tx.Bucket([]byte(name)).Put([]byte("x"), []byte("y")); err != nil {
					return err
				}
			}
			return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyFormat), encodeFormat(version))
		})
		_, openErr := Open(path, Options{})
		_, checkErr := Check(t.Context(), path, Options{})
		_, compactErr := Compact(t.Context(), path, "")
		for _, err := range []error{openErr, checkErr, compactErr} {
			var f *FormatError
			if !errors.Is(err, ErrFormat) || !errors.As(err, &f) || f.Have != version || f.Want != FormatVersion || !strings.Contains(err.Error(), remedy) {
				t.Errorf("format %d: %v, want %v with both versions and %q", version, err, ErrFormat, remedy)
			}
		}
	}
}

func TestFindingString(t *testing.T) {
	f := Finding{Bucket: "records", Key: []byte("IL\xff"), Page: 12, Reason: "reason"}
	if got, want := f.String(), `bucket records, key "IL\xff", page 12: reason`; got != want {
		t.Errorf("Finding.String() = %s, want %s", got, want)
	}
}

// closing closes a store at the end of a test.
func closing(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}
