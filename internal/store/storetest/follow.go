package storetest

import (
	"context"
	"errors"
	"testing"

	"incidentgraph/internal/store"
)

// filled gives a writer after n random changes.
func filled(t *testing.T, log store.Log, seed uint64, n int) *writer {
	t.Helper()
	w := newWriter(t, log)
	g := NewGenerator(seed)
	for range n {
		w.commit(g.Next())
	}
	return w
}

func testFollow(t *testing.T, log store.Log) {
	beginning := headOf(t, log)
	w := filled(t, log, 1, 25)
	positions := append(make([]store.Position, 0, len(w.history)+2), beginning)
	for _, e := range w.history {
		positions = append(positions, e.Position)
	}
	for n, after := range append(positions, store.Position{}) {
		want := w.history[n%len(positions):]
		got, err := followed(t.Context(), log, after)
		if err != nil || len(got) != len(want) {
			t.Fatalf("Follow(%v) = %d entries, %v, want %d", after, len(got), err, len(want))
		}
		for i := range want {
			if d := diff(want[i], got[i]); d != "" {
				t.Errorf("Follow(%v), entry %d differs (-want +got):\n%s", after, i, d)
			}
		}
	}
}

func testFollowUnknown(t *testing.T, log store.Log) {
	beginning := headOf(t, log)
	w := filled(t, log, 2, 5)
	digest, lineage, future, first, zero := w.history[2].Position, w.history[2].Position, w.head, beginning, beginning
	digest.Digest[0]++
	lineage.Lineage[15]++
	future.Sequence++
	first.Digest[0]++
	zero.Lineage = store.Lineage{1}
	for _, after := range []store.Position{digest, lineage, future, first, zero, {Sequence: 1 << 63, Lineage: w.head.Lineage}} {
		entries, err := followed(t.Context(), log, after)
		if len(entries) > 0 || !errors.Is(err, store.ErrUnknownPosition) {
			t.Errorf("Follow(%v) = %d entries, %v, want %v", after, len(entries), err, store.ErrUnknownPosition)
		}
	}
}

// testFollowHead appends between the call and its use, and from inside of it:
// neither is yielded, and neither blocks.
func testFollowHead(t *testing.T, log store.Log) {
	w := filled(t, log, 3, 3)
	want := w.history[:3]
	g := NewGenerator(30)
	changes := log.Follow(t.Context(), store.Position{})
	w.commit(g.Next())
	var got []store.Entry
	for e, err := range changes {
		if err != nil {
			t.Fatalf("Follow() = %v", err)
		}
		got = append(got, e)
		c := change(100+len(got), put("a", "x"))
		w.commit(c)
	}
	if d := diff(want, got); d != "" {
		t.Errorf("Follow() differs (-want +got):\n%s", d)
	}
}

func testFollowStops(t *testing.T, log store.Log) {
	w := filled(t, log, 4, 6)
	n := 0
	for _, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatalf("Follow() = %v", err)
		}
		if n++; n == 2 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errs []error
	n = 0
	for _, err := range log.Follow(ctx, store.Position{}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if n++; n == 2 {
			cancel()
		}
	}
	if n != 2 || len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("Follow() with a context that ended = %d entries, then %v, want 2, then [%v]", n, errs, context.Canceled)
	}
	w.append(put("a", "still open")) // what was broken off blocks nobody
}

func testFollowGivesSlicesAway(t *testing.T, log store.Log) {
	w := filled(t, log, 5, 8)
	for range 2 {
		got, err := followed(t.Context(), log, store.Position{})
		if d := diff(w.history, got); err != nil || d != "" {
			t.Fatalf("Follow() = %v (-want +got):\n%s", err, d)
		}
		for _, e := range got {
			for i := range e.Change.Ops {
				clear(e.Change.Ops[i].Record)
				e.Change.Ops[i].ID = "scribble"
			}
		}
	}
}
