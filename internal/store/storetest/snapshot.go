package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"sync"
	"testing"

	"incidentgraph/internal/store"
)

func testSnapshotOrder(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	ids := []string{"b", "a", "ab", "a\x00", "A", "\xff", "é", "aa", "\x00", "a\xff", "10", "9"}
	for i, id := range ids {
		w.append(put(id, fmt.Sprint(i)))
	}
	sort.Strings(ids) // Go compares strings bytewise
	for i, r := range state(t, log) {
		if r.ID != ids[i] {
			t.Errorf("Records(), number %d = %q, want %q", i, r.ID, ids[i])
		}
	}
}

// testSnapshotIsolation holds several snapshots open while the store goes on:
// each keeps showing its own state.
func testSnapshotIsolation(t *testing.T, log store.Log) {
	type held struct {
		snapshot store.Snapshot
		records  []store.Record
		position store.Position
	}
	w := newWriter(t, log)
	g := NewGenerator(11)
	var snapshots []held
	for i := range 40 {
		w.commit(g.Next())
		if i%8 == 0 {
			s := snapshotOf(t, log)
			snapshots = append(snapshots, held{s, recordsOf(t, s), w.head})
		}
	}
	for _, h := range snapshots {
		if got := h.snapshot.Position(); got != h.position {
			t.Errorf("Position() = %v, want %v", got, h.position)
		}
		checkSnapshot(t, h.snapshot, h.records)
		for _, r := range state(t, log) {
			_, err := h.snapshot.Get(r.ID)
			if r.Version == 1 && r.Sequence > h.position.Sequence && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("snapshot at %v: Get(%q) = %v, want %v", h.position, r.ID, err, store.ErrNotFound)
			}
		}
		closeSnapshot(t, h.snapshot)
	}
}

func testSnapshotGivesSlicesAway(t *testing.T, log store.Log) {
	filled(t, log, 12, 10)
	s := snapshotOf(t, log)
	defer closeSnapshot(t, s)
	want := recordsOf(t, s)
	for _, r := range recordsOf(t, s) {
		clear(r.Bytes)
		_ = append(r.Bytes, "past the end"...)
		got, err := s.Get(r.ID)
		if err != nil {
			t.Fatalf("Get(%q) = %v", r.ID, err)
		}
		clear(got.Bytes)
	}
	checkSnapshot(t, s, want)
}

func testSnapshotClose(t *testing.T, log store.Log) {
	filled(t, log, 13, 10)
	s := snapshotOf(t, log)
	n := 0
	var ended error
	for _, err := range s.Records() {
		if err != nil {
			ended = err
			break
		}
		if n++; n == 3 {
			closeSnapshot(t, s) // waits for no loop that is under way
		}
	}
	if n != 3 || !errors.Is(ended, store.ErrClosed) {
		t.Errorf("Records() of a snapshot closed after 3 = %d records, then %v, want %v", n, ended, store.ErrClosed)
	}
	if r, err := s.Get("a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Get() of a closed snapshot = %v, %v, want %v", r, err, store.ErrClosed)
	}
	closeSnapshot(t, s)
}

// testSnapshotManyReaders reads one snapshot from many goroutines while the
// store is written, and closes it under them: each answer is right or ErrClosed.
func testSnapshotManyReaders(t *testing.T, log store.Log) {
	w := filled(t, log, 14, 30)
	s := snapshotOf(t, log)
	want := recordsOf(t, s)
	if len(want) < 10 {
		t.Fatalf("%d records, want at least 10 for a test of readers", len(want))
	}
	var readers sync.WaitGroup
	half := make(chan struct{})
	for i := range 8 {
		readers.Go(func() {
			for n := range 2000 {
				if i == 0 && n == 500 {
					close(half)
				}
				r := want[(i+n)%len(want)]
				got, err := s.Get(r.ID)
				if errors.Is(err, store.ErrClosed) {
					return
				}
				if err != nil || got.Version != r.Version || !bytes.Equal(got.Bytes, r.Bytes) {
					t.Errorf("Get(%q) = version %d, %v, want version %d", r.ID, got.Version, err, r.Version)
					return
				}
			}
		})
		readers.Go(func() {
			for range 50 {
				n := 0
				for got, err := range s.Records() {
					if errors.Is(err, store.ErrClosed) {
						return
					}
					if err != nil || got.ID != want[n].ID || !bytes.Equal(got.Bytes, want[n].Bytes) {
						t.Errorf("Records(), number %d = %q, %v, want %q", n, got.ID, err, want[n].ID)
						return
					}
					n++
				}
			}
		})
	}
	for i := range 20 {
		w.append(put("a", fmt.Sprint(i)))
	}
	<-half
	closeSnapshot(t, s)
	readers.Wait()
}

// testGrowth appends far more than the store held when a snapshot was opened,
// from the goroutine that holds the snapshot.
func testGrowth(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("a", "small"))
	s := snapshotOf(t, log)
	defer closeSnapshot(t, s)
	record := bytes.Repeat([]byte("x"), 1<<20)
	for i := range 40 {
		w.append(store.Op{Kind: store.Put, ID: fmt.Sprint(i), Record: record})
		if i%10 == 0 {
			headOf(t, log)
			closeSnapshot(t, snapshotOf(t, log))
		}
	}
	if r, err := s.Get("a"); err != nil || string(r.Bytes) != "small" || s.Len() != 1 {
		t.Errorf("Get() = %q, %v, want the old state", r.Bytes, err)
	}
}
