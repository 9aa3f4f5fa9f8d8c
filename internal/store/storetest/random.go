package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"incidentgraph/internal/store"
)

// model is a store as a plain map, written without looking at any.
type model struct {
	records  map[string]store.Record
	versions map[string]uint64 // of every id ever put
	requests map[string]bool
	sequence uint64
}

func newModel() *model {
	return &model{records: map[string]store.Record{}, versions: map[string]uint64{}, requests: map[string]bool{}}
}

func (m *model) apply(c store.Change) {
	m.sequence++
	m.requests[c.RequestID] = true
	for _, op := range c.Ops {
		m.versions[op.ID]++
		delete(m.records, op.ID)
		if op.Kind == store.Put {
			m.records[op.ID] = store.Record{ID: op.ID, Version: m.versions[op.ID], Sequence: m.sequence, Time: c.Time, Bytes: op.Record}
		}
	}
}

// sorted gives the records by id.
func (m *model) sorted() []store.Record {
	records := make([]store.Record, 0, len(m.records))
	for _, id := range slices.Sorted(maps.Keys(m.records)) {
		records = append(records, m.records[id])
	}
	return records
}

// testRandom holds the store against the model over random changes, bad
// changes between good ones, and snapshots kept open for a while.
func testRandom(t *testing.T, log store.Log) {
	const seed, steps = 20, 250
	random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // to be repeated, not to be secret
	g := NewGenerator(seed)
	w := newWriter(t, log)
	m := newModel()
	type held struct {
		snapshot store.Snapshot
		want     []store.Record
		until    int
	}
	var open []held
	for step := range steps {
		switch random.IntN(6) {
		case 0:
			badAppend(t, random, w, m)
		default:
			c := g.Next()
			w.commit(c)
			m.apply(c)
		}
		if random.IntN(10) == 0 {
			open = append(open, held{snapshotOf(t, log), m.sorted(), step + random.IntN(30)})
		}
		if step%25 == 0 {
			checkState(t, log, m.sorted())
		}
		open = slices.DeleteFunc(open, func(h held) bool {
			if step < h.until {
				return false
			}
			checkSnapshot(t, h.snapshot, h.want)
			closeSnapshot(t, h.snapshot)
			return true
		})
		if t.Failed() {
			t.Fatalf("seed %d, step %d", seed, step)
		}
	}
	for _, h := range open {
		closeSnapshot(t, h.snapshot)
	}
	checkState(t, log, m.sorted())
	for id := range m.requests {
		if _, err := log.Request(t.Context(), id); err != nil {
			t.Errorf("Request(%q) = %v", id, err)
		}
	}
	Equal(t, log, replay(t, w))
}

// badAppend tries one change that must be refused.
func badAppend(t *testing.T, random *rand.Rand, w *writer, m *model) {
	t.Helper()
	c := change(1_000_000+int(random.Uint32()), put("IL-0000", "bad"))
	base, want := w.head, store.ErrInvalidChange
	switch random.IntN(4) {
	case 0:
		c.Ops = append(c.Ops, remove(fmt.Sprintf("never-%d", random.Uint32())))
	case 1:
		if len(w.history) == 0 {
			return
		}
		c.RequestID = w.history[random.IntN(len(w.history))].Change.RequestID
	case 2:
		c.Ops = append(c.Ops, put("IL-0000", "twice"))
	case 3:
		if len(w.history) == 0 {
			return
		}
		base, want = w.history[random.IntN(len(w.history))].Position, store.ErrConflict
		base.Digest[0]++
	}
	if p, err := w.log.Append(t.Context(), base, c); !errors.Is(err, want) {
		t.Errorf("Append(%v, %+v) = %v, %v, want %v", base, c, p, err, want)
	}
	if got := headOf(t, w.log); got.Sequence != m.sequence {
		t.Errorf("Head() = %v after a refused change, want sequence %d", got, m.sequence)
	}
}

// replay gives a Memory with the writer's history.
func replay(t *testing.T, w *writer) store.Log {
	t.Helper()
	m := store.NewMemoryOf(w.head.Lineage)
	for _, e := range w.history {
		if _, err := m.Append(t.Context(), headOf(t, m), e.Change); err != nil {
			t.Fatalf("Append() = %v", err)
		}
	}
	return m
}
