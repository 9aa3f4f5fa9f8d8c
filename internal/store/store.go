// Package store is the contract of the record store: a totally ordered log of
// changes, and the state that they add up to.
//
// A Change carries everything that applying it needs, so applying is
// deterministic: the same changes in the same order give the same state and
// the same Position anywhere. A Position names one state: two stores at equal
// positions hold the same bytes. Data and position become visible, and
// durable, in one step.
//
// The package owns the contract, its errors, the digest that chains the
// changes, and an in-memory implementation. Package boltstore keeps a store
// in one bbolt file; package storetest is what each implementation must pass.
package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors of every implementation; test with errors.Is.
var (
	// ErrConflict: the head is no longer the base that the change was made
	// for. Nothing was stored.
	ErrConflict = errors.New("the store has moved on")
	// ErrCompacted: changes after the position asked for are no longer held;
	// start over from a Snapshot.
	ErrCompacted = errors.New("changes were compacted")
	// ErrUnknownPosition: the position is not one of this store's history.
	ErrUnknownPosition = errors.New("position is not in this store's history")
	// ErrNotFound: no such record, or no such request.
	ErrNotFound = errors.New("not found")
	// ErrCorrupt: stored bytes contradict the layout or a digest.
	ErrCorrupt = errors.New("store is corrupt")
	// ErrInvalidChange: the change breaks a rule of Change. Nothing was stored.
	ErrInvalidChange = errors.New("invalid change")
	// ErrClosed: the store or snapshot has been closed.
	ErrClosed = errors.New("store is closed")
)

// Lineage identifies one history of changes: it is drawn at random when a
// store is created and never changes.
type Lineage [16]byte

// Digest chains over all changes up to a position.
type Digest [32]byte

// Position names one state of a store. The zero Position is before any store.
type Position struct {
	Lineage  Lineage
	Sequence uint64 // number of changes applied; 0 is the empty store
	Digest   Digest // zero at sequence 0
}

// OpKind says what an Op does.
type OpKind uint8

// The kinds of operation. Their values are stored: never renumber.
const (
	// Put stores a record, new or in place of the one with the same id.
	Put OpKind = 1
	// Delete removes a record.
	Delete OpKind = 2
)

// Limits of one change; beyond them it is invalid.
const (
	MaxIDBytes        = 128
	MaxActorBytes     = 256
	MaxRequestIDBytes = 128
	MaxRecordBytes    = 64 << 20
	MaxOps            = 1 << 20
)

// Op changes one record.
type Op struct {
	Kind OpKind
	// ID is the record's key: 1 to MaxIDBytes bytes of any value.
	ID string
	// Record is the whole new record of a Put, 1 to MaxRecordBytes bytes; nil
	// for Delete.
	Record []byte
}

// Change is what one Append commits, whole or not at all.
type Change struct {
	// Time is when the change was made, in UTC, in the years 1 to 9999;
	// stored with nanoseconds.
	Time time.Time
	// Actor names who made it, "" if unknown; at most MaxActorBytes bytes of
	// UTF-8.
	Actor string
	// RequestID lets the author ask later whether it was committed: 1 to
	// MaxRequestIDBytes bytes of any value, unique among the store's changes.
	RequestID string
	// Ops are applied in order; 1 to MaxOps, and each id at most once. A
	// Delete names a record that exists.
	Ops []Op
}

// Entry is a committed change with the position that it led to.
type Entry struct {
	Position Position
	Change   Change
}

// Record is one stored record.
type Record struct {
	ID string
	// Version counts the stored changes of this id, from 1. It keeps
	// counting when the id is deleted and put again.
	Version uint64
	// Sequence is the change that wrote it; Time is that change's time.
	Sequence uint64
	Time     time.Time
	// Bytes is the record as it was put.
	Bytes []byte
}

// Log is a store. All methods are safe for concurrent use. A call whose
// context has ended before it began does nothing and gives the context's
// error.
type Log interface {
	// Head gives the current position.
	Head(ctx context.Context) (Position, error)

	// Append commits c on top of base and gives the new head. The commit is
	// atomic and durable when Append returns nil. It fails with ErrConflict
	// where the head is not base, with ErrInvalidChange where c breaks a rule
	// (a RequestID used before included): then nothing was stored. Where
	// several apply, a rule that c breaks by itself comes first, then the
	// conflict, then the rules that need the state. After any other error the
	// outcome is unknown: ask Request. Append does not keep c's slices.
	Append(ctx context.Context, base Position, c Change) (Position, error)

	// Request gives the position that the change with this request id led
	// to, ErrNotFound where none was committed.
	Request(ctx context.Context, requestID string) (Position, error)

	// Follow yields the changes after a position in order without gaps up to
	// the head at the time of the call. It yields one error and ends where
	// the position is not in the history (ErrUnknownPosition), where changes
	// after it are gone (ErrCompacted), or where ctx ends. The position with
	// sequence 0 of this lineage, or the zero Position, is the beginning.
	// The yielded slices are the receiver's.
	Follow(ctx context.Context, after Position) iter.Seq2[Entry, error]

	// Snapshot opens the whole state at the current head. The caller closes
	// it soon: an open snapshot keeps old pages from being reused.
	Snapshot(ctx context.Context) (Snapshot, error)

	// Close releases the store; open snapshots must be closed before.
	Close() error
}

// Snapshot is the state of a store at one position. Its methods are safe for
// concurrent use until Close, which waits for none of them.
type Snapshot interface {
	// Position is the state's position.
	Position() Position
	// Len gives the number of records.
	Len() int
	// Get gives the record with this id, ErrNotFound where there is none.
	// The Record's slices are the caller's.
	Get(id string) (Record, error)
	// Records yields all records in the order of their ids, bytewise. The
	// slices are the receiver's. An error ends the sequence.
	Records() iter.Seq2[Record, error]
	// Close releases the snapshot; closing twice is harmless.
	Close() error
}
