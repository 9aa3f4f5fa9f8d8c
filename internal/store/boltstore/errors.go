package boltstore

import (
	"errors"
	"fmt"
	"strings"

	"incidentgraph/internal/store"
)

// Errors of this package beside those of package store; test with errors.Is.
var (
	// ErrLocked: another store, in this process or another, has the file
	// open. The error is a *LockedError.
	ErrLocked = errors.New("store is in use")
	// ErrFormat: the file is a store of another format version. The error is
	// a *FormatError.
	ErrFormat = errors.New("store has another format version")
	// ErrNotStore: what is there is not a store of this program.
	ErrNotStore = errors.New("not an incidentgraph store")
	// ErrReadOnly: the store was opened for reading, or its file can't be
	// written.
	ErrReadOnly = errors.New("store is read-only")
	// ErrBusy: snapshots of the store are still open.
	ErrBusy = errors.New("snapshots are still open")
)

// LockedError tells who has a file open.
type LockedError struct {
	Path string
	// PID is the process that holds the lock, 0 where the system doesn't tell.
	PID int
}

// Error names the file and the holder.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: %v: another process has it open", e.Path, ErrLocked)
	}
	return fmt.Sprintf("%s: %v: process %d has it open", e.Path, ErrLocked, e.PID)
}

// Unwrap gives ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// FormatError tells of a file that another version of this program wrote.
type FormatError struct {
	Path       string
	Have, Want uint32 // format versions of the file and of this program
}

// Error names both versions and what to do.
func (e *FormatError) Error() string {
	remedy := "open it with a newer incidentgraph"
	if e.Have < e.Want {
		remedy = "export it with the incidentgraph that wrote it and import that into a new file"
	}
	return fmt.Sprintf("%s: %v: the file has %d, this program reads %d; %s", e.Path, ErrFormat, e.Have, e.Want, remedy)
}

// Unwrap gives ErrFormat.
func (e *FormatError) Unwrap() error { return ErrFormat }

// Finding is one thing that is wrong in a file, with the place as far as known.
type Finding struct {
	Page   uint64 // number of the bbolt page; 0 where none is named
	Bucket string // "" where none is named
	Key    []byte // nil where none is named
	Reason string
}

// String writes the place, then the reason: `bucket records, key "IL-0282",
// page 12: checksum does not match`.
func (f Finding) String() string {
	var place []string
	if f.Bucket != "" {
		place = append(place, "bucket "+f.Bucket)
	}
	if f.Key != nil {
		place = append(place, fmt.Sprintf("key %q", f.Key))
	}
	if f.Page != 0 {
		place = append(place, fmt.Sprintf("page %d", f.Page))
	}
	if len(place) == 0 {
		return f.Reason
	}
	return strings.Join(place, ", ") + ": " + f.Reason
}

// CorruptError tells where a file contradicts itself.
type CorruptError struct {
	Path string
	Finding
}

// Error names the file and the place. Nothing was repaired.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: %v: %v", e.Path, store.ErrCorrupt, e.Finding)
}

// Unwrap gives store.ErrCorrupt.
func (e *CorruptError) Unwrap() error { return store.ErrCorrupt }
