package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Memory is a Log that lives as long as the process. It keeps every change,
// and so every state: a Snapshot is a sequence number to look back to, and
// costs nothing to open or to hold.
type Memory struct {
	lineage Lineage

	mu       sync.RWMutex // guards what follows
	closed   bool
	entries  []Entry              // entries[i] led to sequence i+1
	live     []int                // live[n] is the number of records at sequence n
	requests map[string]uint64    // request id to sequence
	versions map[string][]version // record id to its changes, oldest first
	ids      []string             // all ids ever put, sorted; replaced, never changed in place
}

// version is what one change made of one record.
type version struct {
	sequence uint64
	time     time.Time
	record   []byte // nil where the change deleted it
}

// NewMemory makes an empty store of a new lineage.
func NewMemory() *Memory { return NewMemoryOf(NewLineage()) }

// NewMemoryOf makes an empty store of a given lineage, to replay the changes
// of another store in: equal changes lead to equal positions.
func NewMemoryOf(l Lineage) *Memory {
	return &Memory{
		lineage:  l,
		live:     []int{0},
		requests: map[string]uint64{},
		versions: map[string][]version{},
	}
}

// Head implements Log.
func (m *Memory) Head(ctx context.Context) (Position, error) {
	if err := ctx.Err(); err != nil {
		return Position{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return Position{}, ErrClosed
	}
	return m.at(uint64(len(m.entries))), nil
}

// at gives the position after n changes. The caller holds mu.
func (m *Memory) at(n uint64) Position {
	if n == 0 {
		return Position{Lineage: m.lineage}
	}
	return m.entries[n-1].Position
}

// Append implements Log.
func (m *Memory) Append(ctx context.Context, base Position, c Change) (Position, error) {
	if err := ctx.Err(); err != nil {
		return Position{}, err
	}
	if err := c.Validate(); err != nil {
		return Position{}, err
	}
	c = c.clone()
	encoding := HeaderOf(c).Encode()

	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return Position{}, ErrClosed
	}
	if head := m.at(uint64(len(m.entries))); head != base {
		return Position{}, fmt.Errorf("%w: head is %v, the change was made for %v", ErrConflict, head, base)
	}
	if _, used := m.requests[c.RequestID]; used {
		return Position{}, fmt.Errorf("%w: request id %q was used before", ErrInvalidChange, c.RequestID)
	}
	for _, op := range c.Ops {
		if op.Kind == Delete && !m.exists(op.ID) {
			return Position{}, fmt.Errorf("%w: delete of %q, which is not there", ErrInvalidChange, op.ID)
		}
	}
	next := base.Next(encoding)
	m.apply(next, c)
	return next, nil
}

func (m *Memory) exists(id string) bool {
	v := m.versions[id]
	return len(v) > 0 && v[len(v)-1].record != nil
}

// apply takes in a change that nothing can refuse any more.
func (m *Memory) apply(p Position, c Change) {
	live := m.live[len(m.live)-1]
	var added []string
	for _, op := range c.Ops {
		switch existed := m.exists(op.ID); {
		case op.Kind == Delete:
			live--
		case !existed:
			live++
		}
		if m.versions[op.ID] == nil {
			added = append(added, op.ID)
		}
		m.versions[op.ID] = append(m.versions[op.ID], version{p.Sequence, c.Time, op.Record})
	}
	if len(added) > 0 {
		slices.Sort(added)
		m.ids = merge(m.ids, added)
	}
	m.entries = append(m.entries, Entry{Position: p, Change: c})
	m.live = append(m.live, live)
	m.requests[c.RequestID] = p.Sequence
}

// merge gives two sorted lists as one, in a slice of its own: snapshots read
// the old one without a lock.
func merge(a, b []string) []string {
	merged := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// Request implements Log.
func (m *Memory) Request(ctx context.Context, requestID string) (Position, error) {
	if err := ctx.Err(); err != nil {
		return Position{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return Position{}, ErrClosed
	}
	n, ok := m.requests[requestID]
	if !ok {
		return Position{}, fmt.Errorf("request %q: %w", requestID, ErrNotFound)
	}
	return m.at(n), nil
}

// Follow implements Log.
func (m *Memory) Follow(ctx context.Context, after Position) iter.Seq2[Entry, error] {
	head, err := m.Head(ctx)
	if err == nil {
		err = m.knows(after, head)
	}
	return func(yield func(Entry, error) bool) {
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for n := after.Sequence; n < head.Sequence; n++ {
			e, err := m.entry(ctx, n)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// knows tells whether p is in the history that led to head.
func (m *Memory) knows(p, head Position) error {
	if p == (Position{}) {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if p.Sequence > head.Sequence || m.at(p.Sequence) != p {
		return fmt.Errorf("%w: %v; head is %v", ErrUnknownPosition, p, head)
	}
	return nil
}

// entry gives the change that follows the first n, for the caller to keep.
func (m *Memory) entry(ctx context.Context, n uint64) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return Entry{}, ErrClosed
	}
	e := m.entries[n]
	e.Change = e.Change.clone()
	return e, nil
}

// clone copies the change with all that it refers to, in the form in which it
// is stored.
func (c Change) clone() Change {
	c.Time = c.Time.UTC().Round(0)
	c.Ops = slices.Clone(c.Ops)
	for i := range c.Ops {
		if c.Ops[i].Kind == Delete {
			c.Ops[i].Record = nil
			continue
		}
		c.Ops[i].Record = bytes.Clone(c.Ops[i].Record)
	}
	return c
}

// Snapshot implements Log.
func (m *Memory) Snapshot(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	n := uint64(len(m.entries))
	return &memorySnapshot{m: m, position: m.at(n), size: m.live[n], ids: m.ids}, nil
}

// Close implements Log.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// memorySnapshot looks back at a Memory from a later time.
type memorySnapshot struct {
	m        *Memory
	position Position
	size     int
	ids      []string // of the records, and of others that are passed over
	closed   atomic.Bool
}

func (s *memorySnapshot) Position() Position { return s.position }

func (s *memorySnapshot) Len() int { return s.size }

func (s *memorySnapshot) Get(id string) (Record, error) {
	if s.closed.Load() {
		return Record{}, ErrClosed
	}
	r, ok := s.find(id)
	if !ok {
		return Record{}, fmt.Errorf("record %q: %w", id, ErrNotFound)
	}
	return r, nil
}

// find gives the record as it was at the snapshot's position.
func (s *memorySnapshot) find(id string) (Record, bool) {
	s.m.mu.RLock()
	versions := s.m.versions[id]
	s.m.mu.RUnlock()
	n := sort.Search(len(versions), func(i int) bool { return versions[i].sequence > s.position.Sequence })
	if n == 0 || versions[n-1].record == nil {
		return Record{}, false
	}
	v := versions[n-1]
	return Record{ID: id, Version: uint64(n), Sequence: v.sequence, Time: v.time, Bytes: bytes.Clone(v.record)}, true
}

func (s *memorySnapshot) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, id := range s.ids {
			if s.closed.Load() {
				yield(Record{}, ErrClosed)
				return
			}
			if r, ok := s.find(id); ok && !yield(r, nil) {
				return
			}
		}
	}
}

func (s *memorySnapshot) Close() error {
	s.closed.Store(true)
	return nil
}
