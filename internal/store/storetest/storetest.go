// Package storetest is what every store must pass: Run holds an
// implementation against each promise of store.Log. A new promise of the
// contract is first a test here; there is no list of tests to skip.
//
// Generator makes the changes for tests of one implementation's own promises
// (crashes, compaction), and Equal compares what two stores hold.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/store"
)

// Run tests an implementation. Open gives a new, empty store each time; Run
// closes it.
func Run(t *testing.T, open func(t *testing.T) store.Log) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, log store.Log)
	}{
		{"Empty", testEmpty},
		{"PutAndGet", testPutAndGet},
		{"VersionsCountOn", testVersions},
		{"Limits", testLimits},
		{"InvalidChangeStoresNothing", testInvalid},
		{"FailedDeleteStoresNothing", testAtomicity},
		{"Conflict", testConflict},
		{"WhichErrorFirst", testErrorOrder},
		{"Request", testRequest},
		{"AppendKeepsNoSlices", testAppendKeepsNoSlices},
		{"TimeIsUTC", testTime},
		{"Digest", testDigest},
		{"Replay", testReplay},
		{"Follow", testFollow},
		{"FollowUnknownPosition", testFollowUnknown},
		{"FollowEndsAtTheHeadOfTheCall", testFollowHead},
		{"FollowStops", testFollowStops},
		{"FollowGivesSlicesAway", testFollowGivesSlicesAway},
		{"SnapshotOrder", testSnapshotOrder},
		{"SnapshotIsolation", testSnapshotIsolation},
		{"SnapshotGivesSlicesAway", testSnapshotGivesSlicesAway},
		{"SnapshotClose", testSnapshotClose},
		{"SnapshotManyReaders", testSnapshotManyReaders},
		{"GrowsUnderAnOpenSnapshot", testGrowth},
		{"ConcurrentAppends", testConcurrentAppends},
		{"ReadersSeeWholeChanges", testWholeChanges},
		{"Context", testContext},
		{"Close", testClose},
		{"Random", testRandom},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := open(t)
			t.Cleanup(func() {
				if err := log.Close(); err != nil {
					t.Errorf("Close() = %v", err)
				}
			})
			test.run(t, log)
		})
	}
}

// writer appends to a store and remembers the history that must come out.
type writer struct {
	t       *testing.T
	log     store.Log
	head    store.Position
	history []store.Entry
}

func newWriter(t *testing.T, log store.Log) *writer {
	t.Helper()
	return &writer{t: t, log: log, head: headOf(t, log)}
}

// append commits one change of these operations.
func (w *writer) append(ops ...store.Op) store.Entry {
	w.t.Helper()
	return w.commit(change(len(w.history)+1, ops...))
}

func (w *writer) commit(c store.Change) store.Entry {
	w.t.Helper()
	p, err := w.log.Append(w.t.Context(), w.head, c)
	if err != nil {
		w.t.Fatalf("Append(%v) = %v", w.head, err)
	}
	if p.Sequence != w.head.Sequence+1 || p.Lineage != w.head.Lineage || p.Digest == w.head.Digest {
		w.t.Fatalf("Append(%v) = %v, want the next position", w.head, p)
	}
	if got := headOf(w.t, w.log); got != p {
		w.t.Fatalf("Head() = %v after Append, want %v", got, p)
	}
	w.head = p
	e := store.Entry{Position: p, Change: c}
	w.history = append(w.history, e)
	return e
}

// change makes a change that is valid for any store that lacks the request.
func change(n int, ops ...store.Op) store.Change {
	return store.Change{
		Time:      time.Date(2026, 1, 2, 3, 4, 5, n, time.UTC),
		Actor:     "storetest",
		RequestID: fmt.Sprintf("request-%d", n),
		Ops:       ops,
	}
}

func put(id, record string) store.Op {
	return store.Op{Kind: store.Put, ID: id, Record: []byte(record)}
}

func remove(id string) store.Op { return store.Op{Kind: store.Delete, ID: id} }

func headOf(t *testing.T, log store.Log) store.Position {
	t.Helper()
	p, err := log.Head(t.Context())
	if err != nil {
		t.Fatalf("Head() = %v", err)
	}
	return p
}

func snapshotOf(t *testing.T, log store.Log) store.Snapshot {
	t.Helper()
	s, err := log.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("Snapshot() = %v", err)
	}
	return s
}

func closeSnapshot(t *testing.T, s store.Snapshot) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Snapshot.Close() = %v", err)
	}
}

// recordsOf collects the records of a snapshot.
func recordsOf(t *testing.T, s store.Snapshot) []store.Record {
	t.Helper()
	var records []store.Record
	for r, err := range s.Records() {
		if err != nil {
			t.Fatalf("Records() = %v", err)
		}
		records = append(records, r)
	}
	return records
}

// state collects the records at the head.
func state(t *testing.T, log store.Log) []store.Record {
	t.Helper()
	s := snapshotOf(t, log)
	defer closeSnapshot(t, s)
	return recordsOf(t, s)
}

// followed collects what Follow yields, and the error that ended it.
func followed(ctx context.Context, log store.Log, after store.Position) ([]store.Entry, error) {
	var entries []store.Entry
	for e, err := range log.Follow(ctx, after) {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// checkState compares the records at the head, by Records and by Get.
func checkState(t *testing.T, log store.Log, want []store.Record) {
	t.Helper()
	s := snapshotOf(t, log)
	defer closeSnapshot(t, s)
	checkSnapshot(t, s, want)
}

func checkSnapshot(t *testing.T, s store.Snapshot, want []store.Record) {
	t.Helper()
	if got := s.Len(); got != len(want) {
		t.Errorf("Len() = %d, want %d", got, len(want))
	}
	if d := diff(want, recordsOf(t, s)); d != "" {
		t.Errorf("Records() differ (-want +got):\n%s", d)
	}
	for _, r := range want {
		got, err := s.Get(r.ID)
		if err != nil {
			t.Errorf("Get(%q) = %v", r.ID, err)
			continue
		}
		if d := diff(r, got); d != "" {
			t.Errorf("Get(%q) differs (-want +got):\n%s", r.ID, d)
		}
	}
}

// checkNothingStored tells whether a store still is as the writer left it.
func (w *writer) checkNothingStored(want []store.Record, requestID string) {
	w.t.Helper()
	if got := headOf(w.t, w.log); got != w.head {
		w.t.Errorf("Head() = %v, want %v", got, w.head)
	}
	checkState(w.t, w.log, want)
	for _, e := range w.history {
		if e.Change.RequestID == requestID {
			return
		}
	}
	if requestID == "" {
		return
	}
	if p, err := w.log.Request(w.t.Context(), requestID); !errors.Is(err, store.ErrNotFound) {
		w.t.Errorf("Request(%q) = %v, %v, want %v", requestID, p, err, store.ErrNotFound)
	}
}

// Equal reports each way in which two stores differ: position, records,
// requests, and the history as far as both hold it.
func Equal(t *testing.T, got, want store.Log) {
	t.Helper()
	head := headOf(t, want)
	if h := headOf(t, got); h != head {
		t.Errorf("Head() = %v, want %v", h, head)
	}
	checkState(t, got, state(t, want))
	history, err := followed(t.Context(), want, store.Position{})
	if err != nil {
		t.Fatalf("Follow() of the wanted store = %v", err)
	}
	for _, e := range history {
		p, err := got.Request(t.Context(), e.Change.RequestID)
		if err != nil || p != e.Position {
			t.Errorf("Request(%q) = %v, %v, want %v", e.Change.RequestID, p, err, e.Position)
		}
	}
	// The newest run of changes that got still holds must be those of want.
	for n := 0; n <= len(history); n++ {
		after := store.Position{}
		if n > 0 {
			after = history[n-1].Position
		}
		entries, err := followed(t.Context(), got, after)
		if errors.Is(err, store.ErrCompacted) {
			continue
		}
		if err != nil {
			t.Errorf("Follow(%v) = %v", after, err)
			return
		}
		if d := diff(history[n:], entries); len(entries) != len(history)-n || (n < len(history) && d != "") {
			t.Errorf("Follow(%v) differs (-want +got):\n%s", after, d)
		}
		return
	}
}

// diff compares with the bytes of records as wholes: cmp would compare them
// one by one. Of a long difference it gives the beginning.
func diff(want, got any) string {
	d := cmp.Diff(want, got, cmp.Comparer(bytes.Equal))
	const limit = 2000
	if len(d) > limit {
		d = d[:limit] + "…"
	}
	return d
}
