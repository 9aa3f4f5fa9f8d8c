package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"incidentgraph/internal/store"
)

// Options of Open.
type Options struct {
	// ReadOnly opens without the right to write, beside other readers. The
	// file must exist.
	ReadOnly bool
	// Timeout is how long to wait for a file that is in use; 0 gives up at
	// once.
	Timeout time.Duration
	// Lineage is that of a store which Open creates; zero draws one at random.
	// A store that exists keeps its own.
	Lineage store.Lineage
}

// fileMode lets only the owner read a store.
const fileMode = 0o600

// mapReserve is the address space that Open maps, in bytes, however small the
// file is. bbolt maps anew when a file outgrows its map, which waits for every
// read transaction and lets none begin meanwhile: a goroutine that appends
// while it holds a snapshot would wait for itself. Address space costs
// nothing on a 64-bit system; elsewhere, and on Windows, where the file would
// grow to the size of the map, bbolt's own growth has to do, and an Append
// that outgrows the map waits until all open snapshots are closed.
const mapReserve = 64 << 30

// Open opens the store in a file, and makes an empty one where there is no
// file. It reads the structure of the whole file; see the package comment.
func Open(path string, o Options) (*Store, error) {
	if !o.ReadOnly {
		if err := createMissing(path, o.Lineage); err != nil {
			return nil, err
		}
	}
	reserve := int64(mapReserve)
	if runtime.GOOS == "windows" || ^uint(0)>>32 == 0 {
		reserve = 0
	}
	s, err := openReserving(path, o, reserve)
	if errors.Is(err, syscall.ENOMEM) {
		s, err = openReserving(path, o, 0) // the address space is limited
	}
	return s, err
}

// openReserving opens an existing store with a map of at least so many bytes.
func openReserving(path string, o Options, reserve int64) (*Store, error) {
	file, err := lockFile(path, o)
	if err != nil {
		return nil, err
	}
	if err := inspectFirst(path, file); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return openLocked(path, file, o, reserve)
}

// inspectFirst reads a file's structure and gives the first thing that is
// wrong with it.
func inspectFirst(path string, file *os.File) error {
	var first *Finding
	err := inspect(context.Background(), path, file, false, func(f Finding) bool {
		first = &f
		return false
	})
	if err == nil && first != nil {
		return &CorruptError{Path: path, Finding: *first}
	}
	return err
}

// openLocked hands a file that was locked and inspected to bbolt, which
// closes it in the end.
func openLocked(path string, file *os.File, o Options, reserve int64) (*Store, error) {
	if o.ReadOnly {
		reserve = 0
	}
	s := &Store{path: path, readOnly: o.ReadOnly, file: file, writer: make(chan struct{}, 1)}
	s.idle.L = &s.mu
	options := &bolt.Options{
		Timeout:         max(o.Timeout, time.Millisecond), // 0 would wait for ever
		ReadOnly:        o.ReadOnly,
		FreelistType:    bolt.FreelistMapType,
		NoStatistics:    true,
		InitialMmapSize: int(reserve),
		OpenFile:        func(string, int, os.FileMode) (*os.File, error) { return file, nil },
	}
	err := s.guard(&Finding{}, func() error {
		var err error
		s.db, err = bolt.Open(path, fileMode, options)
		return err
	})
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, &LockedError{Path: path}
	}
	_ = file.Close() // twice where bbolt has closed it: harmless
	return nil, fmt.Errorf("open %s: %w", path, err)
}

// lockFile opens a file and locks it: for one writer, or for readers.
func lockFile(path string, o Options) (*os.File, error) {
	deadline := time.Now().Add(o.Timeout)
	for {
		file, err := openFile(path, o.ReadOnly)
		if err != nil {
			return nil, err
		}
		if err := waitForLock(file, !o.ReadOnly, deadline); err != nil {
			_ = file.Close()
			return nil, err
		}
		// A compaction may have put another file in the place of the one that
		// was waited for.
		if same, err := isAt(file, path); same || err != nil {
			return file, err
		}
		_ = file.Close()
	}
}

// openFile opens a regular file.
func openFile(path string, readOnly bool) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: %w: it is a directory", path, ErrNotStore)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, fmt.Errorf("%s: %w: it is not a regular file", path, ErrNotStore)
	}
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	file, err := os.OpenFile(path, flag, 0)
	if !readOnly && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return nil, fmt.Errorf("%w: %w; make it writable by this user, or open it for reading only", ErrReadOnly, err)
	}
	return file, err
}

// waitForLock tries to lock until the deadline.
func waitForLock(file *os.File, exclusive bool, deadline time.Time) error {
	const pause = 20 * time.Millisecond
	for {
		locked, err := tryLock(file, exclusive)
		if err != nil {
			return fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if locked {
			return nil
		}
		if time.Until(deadline) < pause {
			return &LockedError{Path: file.Name(), PID: lockHolder(file)}
		}
		time.Sleep(pause)
	}
}

// isAt tells whether an open file is the one that its path leads to.
func isAt(file *os.File, path string) (bool, error) {
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(opened, there), nil
}

// createMissing makes an empty store where there is no file. It appears
// whole, or not at all, and never in place of another.
func createMissing(path string, lineage store.Lineage) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if lineage == (store.Lineage{}) {
		lineage = store.NewLineage()
	}
	temporary, err := newFile(path)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	defer func() { _ = os.Remove(temporary) }() // it may have its name by then
	state := fileState{head: store.Position{Lineage: lineage}}
	if err := writeEmpty(temporary, state); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	if err := publish(temporary, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil // where another process was faster, its store will do
}

// newFile makes an empty file beside a path, to be written and then renamed.
func newFile(path string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// writeEmpty fills a new file with a store without changes.
func writeEmpty(path string, state fileState) error {
	db, err := bolt.Open(path, fileMode, &bolt.Options{FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	return errors.Join(
		db.Update(func(tx *bolt.Tx) error { return initialise(tx, state) }),
		db.Close(),
	)
}

// initialise makes the buckets of a store.
func initialise(tx *bolt.Tx, state fileState) error {
	for _, name := range bucketNames() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	if err := tx.Bucket([]byte(bucketMeta)).Put([]byte(keyFormat), encodeFormat(FormatVersion)); err != nil {
		return err
	}
	return putState(tx, state)
}

// publish gives a finished file its name, unless something is there
// (fs.ErrExist).
func publish(temporary, path string) error {
	err := os.Link(temporary, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without links: rename, which does not look.
		if _, serr := os.Lstat(path); serr == nil {
			return fs.ErrExist
		}
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // can't, and needs not
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Store is a store.Log in one file.
type Store struct {
	path     string
	readOnly bool
	file     *os.File // what bbolt reads and writes
	db       *bolt.DB
	writer   chan struct{} // full while someone appends or checks

	// head is the newest position that a transaction has met, so that asking
	// for it costs none; nil before the first.
	head atomic.Pointer[store.Position]

	mu        sync.Mutex // guards what follows
	idle      sync.Cond  // wakes Close when running falls to 0
	running   int        // calls that are under way
	snapshots int        // snapshots that are open
	closed    bool
	broken    error // why the file must be opened again
}

// Path gives the path that the store was opened with.
func (s *Store) Path() string { return s.path }

// enter begins a call, or tells why it can't.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	s.running++
	return nil
}

// usable tells what keeps the store from working. The caller holds mu.
func (s *Store) usable() error {
	if s.closed {
		return store.ErrClosed
	}
	return s.broken
}

func (s *Store) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken != nil
}

// leave ends a call.
func (s *Store) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 {
		s.idle.Broadcast()
	}
}

// fail makes the store refuse everything until it is opened again: bbolt may
// hold a lock or a state that no longer fits the file.
func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = fmt.Errorf("store must be opened again: %w", err)
	}
}

// Close waits for calls under way and closes the file. It refuses, with
// ErrBusy, where snapshots are open.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.snapshots > 0 {
		return fmt.Errorf("close %s: %w: %d", s.path, ErrBusy, s.snapshots)
	}
	s.closed = true
	for s.running > 0 {
		s.idle.Wait()
	}
	if s.broken != nil {
		// bbolt's own Close could wait for ever for a lock that was left
		// behind. The map stays until the process ends.
		return errors.Join(unlock(s.file), s.file.Close())
	}
	return s.db.Close()
}
