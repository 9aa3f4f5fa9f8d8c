package boltstore

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"incidentgraph/internal/store"
)

// TestHeadIsNewest asks for the head while another appends: it is never older
// than a commit that was acknowledged, or a snapshot that was opened, before.
func TestHeadIsNewest(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "head.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var acknowledged atomic.Uint64
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				oldest := acknowledged.Load()
				sn, err := s.Snapshot(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				oldest = max(oldest, sn.Position().Sequence)
				if head, err := s.Head(t.Context()); err != nil || head.Sequence < oldest {
					t.Errorf("Head() = %v, %v, want sequence %d or later", head, err, oldest)
				}
				if err := sn.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var base store.Position
	if base, err = s.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		c := store.Change{RequestID: fmt.Sprint(n), Ops: []store.Op{{Kind: store.Put, ID: "a", Record: []byte("{}")}}}
		if base, err = s.Append(t.Context(), base, c); err != nil {
			t.Fatal(err)
		}
		acknowledged.Store(base.Sequence)
		if head, err := s.Head(t.Context()); err != nil || head != base {
			t.Errorf("Head() after Append = %v, %v, want %v", head, err, base)
		}
	}
	close(done)
	readers.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Head(t.Context()); err == nil {
		t.Error("Head() after Close = nil error")
	}
}

// BenchmarkHead asks for the head of an open store.
func BenchmarkHead(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "head.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Head(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
