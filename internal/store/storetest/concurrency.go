package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"incidentgraph/internal/store"
)

// testConcurrentAppends lets authors race for the head: each retries on a
// conflict, and in the end every change is there once, in one order.
func testConcurrentAppends(t *testing.T, log store.Log) {
	const authors, each = 6, 15
	var running sync.WaitGroup
	for a := range authors {
		running.Go(func() {
			for n := range each {
				c := change(a*each+n+1, put(fmt.Sprintf("author-%d", a), fmt.Sprint(n)), put("shared", fmt.Sprint(a, n)))
				for {
					base, err := log.Head(t.Context())
					if err != nil {
						t.Errorf("Head() = %v", err)
						return
					}
					_, err = log.Append(t.Context(), base, c)
					if err == nil {
						break
					}
					if !errors.Is(err, store.ErrConflict) {
						t.Errorf("Append() = %v", err)
						return
					}
				}
			}
		})
	}
	running.Wait()
	entries, err := followed(t.Context(), log, store.Position{})
	if err != nil || len(entries) != authors*each {
		t.Fatalf("Follow() = %d changes, %v, want %d", len(entries), err, authors*each)
	}
	next := map[string]int{} // by author: the number of its next change
	for _, e := range entries {
		op := e.Change.Ops[0]
		if got, want := string(op.Record), fmt.Sprint(next[op.ID]); got != want {
			t.Errorf("%s wrote %s, want %s: changes lost or out of order", op.ID, got, want)
		}
		next[op.ID]++
		if p, err := log.Request(t.Context(), e.Change.RequestID); err != nil || p != e.Position {
			t.Errorf("Request(%q) = %v, %v, want %v", e.Change.RequestID, p, err, e.Position)
		}
	}
	for _, r := range state(t, log) {
		if want := uint64(each); r.ID != "shared" && r.Version != want {
			t.Errorf("%s has version %d, want %d", r.ID, r.Version, want)
		}
	}
}

// testWholeChanges writes two records that must always be equal, and reads
// while they change: no reader sees one without the other.
func testWholeChanges(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("left", "0"), put("right", "0"))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var last uint64
			for {
				select {
				case <-done:
					return
				default:
				}
				sequence, err := readPair(t.Context(), log)
				if err != nil {
					t.Error(err)
					return
				}
				if sequence < last {
					t.Errorf("Snapshot() went back from %d to %d", last, sequence)
				}
				last = sequence
			}
		})
	}
	readers.Go(func() {
		var after store.Position
		for {
			select {
			case <-done:
				return
			default:
			}
			for e, err := range log.Follow(t.Context(), after) {
				if err != nil || e.Position.Sequence != after.Sequence+1 {
					t.Errorf("Follow(%v) = %v, %v, want no gap", after, e.Position, err)
					return
				}
				after = e.Position
			}
		}
	})
	for i := 1; i <= 60; i++ {
		v := fmt.Sprint(i)
		w.append(put("left", v), put("right", v))
	}
	close(done)
	readers.Wait()
}

// readPair reads both records of one snapshot and gives its sequence.
func readPair(ctx context.Context, log store.Log) (sequence uint64, err error) {
	s, err := log.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	left, err := s.Get("left")
	if err != nil {
		return 0, err
	}
	right, err := s.Get("right")
	if err != nil {
		return 0, err
	}
	p := s.Position()
	if string(left.Bytes) != string(right.Bytes) || left.Sequence != p.Sequence || right.Sequence != p.Sequence {
		return 0, fmt.Errorf("at %v: left is %q of change %d, right is %q of change %d", p, left.Bytes, left.Sequence, right.Bytes, right.Sequence)
	}
	return p.Sequence, nil
}

func testContext(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("a", "1"))
	before := state(t, log)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := change(99, put("b", "1"))
	if p, err := log.Append(ended, w.head, c); !errors.Is(err, context.Canceled) {
		t.Errorf("Append() = %v, %v, want %v", p, err, context.Canceled)
	}
	if _, err := log.Head(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Head() = %v, want %v", err, context.Canceled)
	}
	if _, err := log.Request(ended, "request-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("Request() = %v, want %v", err, context.Canceled)
	}
	if _, err := log.Snapshot(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Snapshot() = %v, want %v", err, context.Canceled)
	}
	if entries, err := followed(ended, log, store.Position{}); len(entries) > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Follow() = %d entries, %v, want %v", len(entries), err, context.Canceled)
	}
	w.checkNothingStored(before, c.RequestID)
}

func testClose(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("a", "1"))
	w.append(put("a", "2"))
	changes := log.Follow(t.Context(), store.Position{})
	if err := log.Close(); err != nil {
		t.Fatalf("Close() = %v", err)
	}
	var errs []error
	for _, err := range changes {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], store.ErrClosed) {
		t.Errorf("Follow() used after Close = %v, want [%v]", errs, store.ErrClosed)
	}
	if _, err := log.Head(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Head() = %v, want %v", err, store.ErrClosed)
	}
	if _, err := log.Append(t.Context(), w.head, change(9, put("b", "1"))); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Append() = %v, want %v", err, store.ErrClosed)
	}
	if _, err := log.Request(t.Context(), "request-1"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Request() = %v, want %v", err, store.ErrClosed)
	}
	if _, err := log.Snapshot(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Snapshot() = %v, want %v", err, store.ErrClosed)
	}
	if entries, err := followed(t.Context(), log, w.head); len(entries) > 0 || !errors.Is(err, store.ErrClosed) {
		t.Errorf("Follow() = %d entries, %v, want %v", len(entries), err, store.ErrClosed)
	}
}
