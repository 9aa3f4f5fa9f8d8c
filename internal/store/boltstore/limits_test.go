package boltstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// TestNoAddressSpace: where the reserve can't be mapped, a store works with
// bbolt's own growth.
func TestNoAddressSpace(t *testing.T) {
	if runtime.GOOS != "linux" || ^uint(0)>>32 == 0 {
		t.Skip("the size that can't be mapped is that of 64-bit Linux")
	}
	path := small(t)
	if _, err := openReserving(path, Options{}, 1<<47); !errors.Is(err, syscall.ENOMEM) {
		t.Fatalf("openReserving(2^47) = %v, want %v", err, syscall.ENOMEM)
	}
	s, err := openReserving(path, Options{}, 0) // the lock was given back
	if err != nil {
		t.Fatalf("openReserving(0) = %v", err)
	}
	defer closing(t, s)
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	big := store.Change{RequestID: "big", Ops: []store.Op{{Kind: store.Put, ID: "big", Record: make([]byte, 4<<20)}}}
	if _, err := s.Append(t.Context(), head, big); err != nil {
		t.Errorf("Append() beyond the map = %v", err)
	}
}

// TestCommitThatMayBeLost: a commit has failed after its meta page was
// written. What readers see is not certain, so nothing is answered.
func TestCommitThatMayBeLost(t *testing.T) {
	path := small(t)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.settle(base, errors.New("disk full")) // nothing is visible: all goes on
	next, err := s.Append(t.Context(), base, store.Change{RequestID: "n", Ops: []store.Op{{Kind: store.Put, ID: "n", Record: []byte("n")}}})
	if err != nil {
		t.Fatalf("Append() after a commit that was rolled back = %v", err)
	}
	lost := errors.New("sync failed")
	s.settle(base, lost) // as if that commit had failed, though it is visible
	checks := map[string]error{}
	_, checks["Head"] = s.Head(t.Context())
	_, checks["Request"] = s.Request(t.Context(), "n")
	_, checks["Append"] = s.Append(t.Context(), next, store.Change{RequestID: "o", Ops: []store.Op{{Kind: store.Put, ID: "o", Record: []byte("o")}}})
	_, checks["Snapshot"] = s.Snapshot(t.Context())
	_, checks["Check"] = s.Check(t.Context())
	for name, err := range checks {
		if !errors.Is(err, lost) || !strings.Contains(err.Error(), "opened again") {
			t.Errorf("%s() = %v, want %v", name, err, lost)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	s, err = Open(path, Options{})
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	defer closing(t, s)
	if got, err := s.Head(t.Context()); err != nil || got != next {
		t.Errorf("Head() = %v, %v, want %v", got, err, next)
	}
}

// TestPanicInTransaction: a panic while a change is written costs that change
// and no more.
func TestPanicInTransaction(t *testing.T) {
	s, err := Open(small(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s)
	at := &Finding{Bucket: bucketRecords, Key: []byte("b"), Page: 4}
	err = s.view(at, func(*bolt.Tx) error { panic("assertion failed") })
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Bucket != bucketRecords || string(corrupt.Key) != "b" || corrupt.Page != 4 || corrupt.Reason != "assertion failed" {
		t.Errorf("view() with a panic = %v, want the place and the panic", err)
	}
	if _, err := s.Head(context.Background()); err != nil {
		t.Errorf("Head() after a panic of a reader = %v", err)
	}
}

// TestRecordsAreCounted: a record that can't be found any more is missed.
func TestRecordsAreCounted(t *testing.T) {
	s, err := Open(small(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s)
	if err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketRecords)).Delete([]byte("b")) }); err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := snapshot.Close(); err != nil {
			t.Errorf("Snapshot.Close() = %v", err)
		}
	}()
	var last error
	for _, last = range snapshot.Records() {
	}
	if !errors.Is(last, store.ErrCorrupt) {
		t.Errorf("Records() ends with %v, want %v", last, store.ErrCorrupt)
	}
}

// TestCopyIsChecked: Compact does not give a name to a copy that is not what
// it must be.
func TestCopyIsChecked(t *testing.T) {
	path := small(t)
	want := fileState{head: store.Position{Sequence: 9}}
	if err := checkCopy(t.Context(), path, want); err == nil || !strings.Contains(err.Error(), "the copy is at") {
		t.Errorf("checkCopy() of another state = %v, want an error", err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "broken"), make([]byte, 8192), fileMode); err != nil {
		t.Fatal(err)
	}
	if _, err := finishCopy(t.Context(), filepath.Join(filepath.Dir(path), "broken"), want); err == nil {
		t.Error("finishCopy() of a broken file = nil, want an error")
	}
}
