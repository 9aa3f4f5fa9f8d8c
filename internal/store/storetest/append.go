package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"incidentgraph/internal/store"
)

func testEmpty(t *testing.T, log store.Log) {
	head := headOf(t, log)
	if head.Lineage == (store.Lineage{}) || head.Sequence != 0 || head.Digest != (store.Digest{}) {
		t.Errorf("Head() = %v, want a lineage, sequence 0, no digest", head)
	}
	s := snapshotOf(t, log)
	defer closeSnapshot(t, s)
	if got := s.Position(); got != head {
		t.Errorf("Snapshot.Position() = %v, want %v", got, head)
	}
	checkSnapshot(t, s, nil)
	if _, err := s.Get("a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get() = %v, want %v", err, store.ErrNotFound)
	}
	for _, after := range []store.Position{{}, head} {
		if entries, err := followed(t.Context(), log, after); len(entries) > 0 || err != nil {
			t.Errorf("Follow(%v) = %d entries, %v, want none", after, len(entries), err)
		}
	}
}

func testPutAndGet(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	first := w.append(put("b", "one"), put("a", "two"))
	second := w.append(put("b", "three"))
	checkState(t, log, []store.Record{
		{ID: "a", Version: 1, Sequence: 1, Time: first.Change.Time, Bytes: []byte("two")},
		{ID: "b", Version: 2, Sequence: 2, Time: second.Change.Time, Bytes: []byte("three")},
	})
	s := snapshotOf(t, log)
	defer closeSnapshot(t, s)
	for _, id := range []string{"", "A", "aa", "c", strings.Repeat("x", 40_000)} {
		if r, err := s.Get(id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get(%.10q) = %+v, %v, want %v", id, r, err, store.ErrNotFound)
		}
	}
}

func testVersions(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("a", "1"))
	w.append(put("a", "2"), put("other", "1"))
	w.append(remove("a"))
	s := snapshotOf(t, log)
	if r, err := s.Get("a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get() of a deleted record = %+v, %v, want %v", r, err, store.ErrNotFound)
	}
	closeSnapshot(t, s)
	w.append(put("b", "1"))
	again := w.append(put("a", "4"))
	s = snapshotOf(t, log)
	defer closeSnapshot(t, s)
	got, err := s.Get("a")
	want := store.Record{ID: "a", Version: 4, Sequence: 5, Time: again.Change.Time, Bytes: []byte("4")}
	if d := diff(want, got); err != nil || d != "" {
		t.Errorf("Get() after delete and put = %v (-want +got):\n%s", err, d)
	}
}

func testLimits(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	c := change(1)
	c.Actor = strings.Repeat("é", store.MaxActorBytes/2)
	c.RequestID = strings.Repeat("\x00", store.MaxRequestIDBytes)
	longest := strings.Repeat("\xff", store.MaxIDBytes)
	c.Ops = []store.Op{put(longest, "x"), put("\x00", "\x00"), put("big", strings.Repeat("y", 5<<20))}
	e := w.commit(c)
	checkState(t, log, []store.Record{
		{ID: "\x00", Version: 1, Sequence: 1, Time: c.Time, Bytes: []byte("\x00")},
		{ID: "big", Version: 1, Sequence: 1, Time: c.Time, Bytes: c.Ops[2].Record},
		{ID: longest, Version: 1, Sequence: 1, Time: c.Time, Bytes: []byte("x")},
	})
	entries, err := followed(t.Context(), log, store.Position{})
	if d := diff([]store.Entry{e}, entries); err != nil || d != "" {
		t.Errorf("Follow() = %v (-want +got):\n%s", err, d)
	}
}

func testInvalid(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("a", "1"))
	before := state(t, log)
	for name, spoil := range map[string]func(c *store.Change){
		"year 0":                    func(c *store.Change) { c.Time = time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC) },
		"year 10000":                func(c *store.Change) { c.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"actor too long":            func(c *store.Change) { c.Actor = strings.Repeat("a", store.MaxActorBytes+1) },
		"actor not UTF-8":           func(c *store.Change) { c.Actor = "\xff" },
		"no request id":             func(c *store.Change) { c.RequestID = "" },
		"request id too long":       func(c *store.Change) { c.RequestID = strings.Repeat("r", store.MaxRequestIDBytes+1) },
		"request id used before":    func(c *store.Change) { c.RequestID = w.history[0].Change.RequestID },
		"no operation":              func(c *store.Change) { c.Ops = nil },
		"no id":                     func(c *store.Change) { c.Ops[1].ID = "" },
		"id too long":               func(c *store.Change) { c.Ops[1].ID = strings.Repeat("i", store.MaxIDBytes+1) },
		"unknown kind":              func(c *store.Change) { c.Ops[1].Kind = 3 },
		"kind 0":                    func(c *store.Change) { c.Ops[1].Kind = 0 },
		"put without record":        func(c *store.Change) { c.Ops[1].Record = nil },
		"put of an empty record":    func(c *store.Change) { c.Ops[1].Record = []byte{} },
		"delete with record":        func(c *store.Change) { c.Ops[1] = store.Op{Kind: store.Delete, ID: "a", Record: []byte("x")} },
		"delete of a missing":       func(c *store.Change) { c.Ops[1] = remove("missing") },
		"id named twice":            func(c *store.Change) { c.Ops[1].ID = c.Ops[0].ID },
		"id put and deleted":        func(c *store.Change) { c.Ops[1] = remove(c.Ops[0].ID) },
		"record beyond the maximum": func(c *store.Change) { c.Ops[1].Record = make([]byte, store.MaxRecordBytes+1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := &writer{t: t, log: log, head: w.head, history: w.history}
			c := change(99, put("new", "x"), put("newer", "y"))
			spoil(&c)
			if p, err := log.Append(t.Context(), w.head, c); !errors.Is(err, store.ErrInvalidChange) {
				t.Errorf("Append() = %v, %v, want %v", p, err, store.ErrInvalidChange)
			}
			w.checkNothingStored(before, c.RequestID)
		})
	}
}

// testAtomicity breaks a change at its last operation, after valid ones that
// put, replace and delete.
func testAtomicity(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	w.append(put("a", "1"), put("b", "1"))
	w.append(remove("b"))
	w.append(put("c", "1"))
	before := state(t, log)
	c := change(99, put("a", "2"), put("b", "3"), remove("c"), put("d", "1"), remove("missing"))
	if p, err := log.Append(t.Context(), w.head, c); !errors.Is(err, store.ErrInvalidChange) {
		t.Errorf("Append() = %v, %v, want %v", p, err, store.ErrInvalidChange)
	}
	w.checkNothingStored(before, c.RequestID)
	c.Ops = c.Ops[:4]
	w.commit(c)
}

func testConflict(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	empty := w.head
	first := w.append(put("a", "1")).Position
	w.append(put("a", "2"))
	before := state(t, log)
	otherLineage, otherDigest, future := w.head, w.head, w.head
	otherLineage.Lineage[0]++
	otherDigest.Digest[31]++
	future.Sequence++
	for _, base := range []store.Position{{}, empty, first, otherLineage, otherDigest, future} {
		c := change(99, put("b", "1"))
		if p, err := log.Append(t.Context(), base, c); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Append(%v) = %v, %v, want %v", base, p, err, store.ErrConflict)
		}
		w.checkNothingStored(before, c.RequestID)
	}
}

func testErrorOrder(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	stale := w.head
	w.append(put("a", "1"))
	if _, err := log.Append(t.Context(), stale, change(99)); !errors.Is(err, store.ErrInvalidChange) {
		t.Errorf("Append(stale base, no operations) = %v, want %v", err, store.ErrInvalidChange)
	}
	if _, err := log.Append(t.Context(), stale, w.history[0].Change); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Append(stale base, request used before) = %v, want %v", err, store.ErrConflict)
	}
	if _, err := log.Append(t.Context(), stale, change(99, remove("missing"))); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Append(stale base, delete of a missing) = %v, want %v", err, store.ErrConflict)
	}
}

func testRequest(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	for _, id := range []string{"r", "r\x00", "\xff"} {
		c := change(len(w.history)+1, put("a", id))
		c.RequestID = id
		w.commit(c)
	}
	for _, e := range w.history {
		if got, err := log.Request(t.Context(), e.Change.RequestID); err != nil || got != e.Position {
			t.Errorf("Request(%q) = %v, %v, want %v", e.Change.RequestID, got, err, e.Position)
		}
	}
	for _, id := range []string{"", "R", "rr", strings.Repeat("r", 40_000)} {
		if got, err := log.Request(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Request(%.10q) = %v, %v, want %v", id, got, err, store.ErrNotFound)
		}
	}
}

func testAppendKeepsNoSlices(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	record := []byte("as it was")
	ops := []store.Op{{Kind: store.Put, ID: "a", Record: record}}
	e := w.append(ops...)
	copy(record, "scribble!")
	ops[0].ID = "b"
	checkState(t, log, []store.Record{{ID: "a", Version: 1, Sequence: 1, Time: e.Change.Time, Bytes: []byte("as it was")}})
	entries, err := followed(t.Context(), log, store.Position{})
	if err != nil || len(entries) != 1 || entries[0].Change.Ops[0].ID != "a" || string(entries[0].Change.Ops[0].Record) != "as it was" {
		t.Errorf("Follow() = %+v, %v, want what was appended", entries, err)
	}
}

func testTime(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	want := time.Date(2026, 2, 3, 4, 5, 6, 123456789, time.UTC)
	c := change(1, put("a", "1"))
	c.Time = want.In(time.FixedZone("KST", 9*3600))
	w.commit(c)
	if r := state(t, log)[0]; r.Time != want {
		t.Errorf("Record.Time = %v, want %v", r.Time, want)
	}
	c = change(2, put("a", "2"))
	c.Time = time.Time{}
	w.commit(c)
	entries, err := followed(t.Context(), log, store.Position{})
	if err != nil || len(entries) != 2 || entries[0].Change.Time != want || entries[1].Change.Time != (time.Time{}) {
		t.Errorf("Follow() = %+v, %v, want the times %v and %v", entries, err, want, time.Time{})
	}
}

// testDigest recomputes the chain from the contract's words alone.
func testDigest(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	g := NewGenerator(7)
	var digest store.Digest
	for range 20 {
		e := w.commit(g.Next())
		digest = sha256.Sum256(append(digest[:], encodeByHand(e.Change)...))
		if e.Position.Digest != digest {
			t.Fatalf("digest of change %d = %x, want %x", e.Position.Sequence, e.Position.Digest, digest)
		}
	}
}

func encodeByHand(c store.Change) []byte {
	var b bytes.Buffer
	write := func(v any) { _ = binary.Write(&b, binary.BigEndian, v) } // a Buffer takes all
	write(uint8(1))
	write(c.Time.Unix())
	write(uint32(c.Time.Nanosecond()))
	write(uint16(len(c.Actor)))
	b.WriteString(c.Actor)
	write(uint8(len(c.RequestID)))
	b.WriteString(c.RequestID)
	write(uint32(len(c.Ops)))
	for _, op := range c.Ops {
		write(uint8(op.Kind))
		write(uint8(len(op.ID)))
		b.WriteString(op.ID)
		if op.Kind == store.Put {
			write(uint32(len(op.Record)))
			write(sha256.Sum256(op.Record))
		}
	}
	return b.Bytes()
}

// testReplay applies the changes of one store to another of its lineage: the
// same positions, the same bytes.
func testReplay(t *testing.T, log store.Log) {
	w := newWriter(t, log)
	g := NewGenerator(8)
	for range 60 {
		w.commit(g.Next())
	}
	replica := store.NewMemoryOf(w.head.Lineage)
	for e, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatalf("Follow() = %v", err)
		}
		base := headOf(t, replica)
		if p, err := replica.Append(t.Context(), base, e.Change); err != nil || p != e.Position {
			t.Fatalf("replayed Append() = %v, %v, want %v", p, err, e.Position)
		}
	}
	Equal(t, log, replica)
}
