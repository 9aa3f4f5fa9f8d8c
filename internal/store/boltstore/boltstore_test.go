package boltstore_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
	"incidentgraph/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Log {
		return open(t, filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	})
}

// open opens a store that the test closes.
func open(t *testing.T, path string, o boltstore.Options) *boltstore.Store {
	t.Helper()
	s, err := boltstore.Open(path, o)
	if err != nil {
		t.Fatalf("Open(%s, %+v) = %v", path, o, err)
	}
	return s
}

func closeStore(t *testing.T, s *boltstore.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close() = %v", err)
	}
}

func head(t *testing.T, log store.Log) store.Position {
	t.Helper()
	p, err := log.Head(t.Context())
	if err != nil {
		t.Fatalf("Head() = %v", err)
	}
	return p
}

func appendTo(t *testing.T, log store.Log, c store.Change) store.Position {
	t.Helper()
	p, err := log.Append(t.Context(), head(t, log), c)
	if err != nil {
		t.Fatalf("Append(%q) = %v", c.RequestID, err)
	}
	return p
}

// checkSound runs Check on a file.
func checkSound(t *testing.T, path string) {
	t.Helper()
	findings, err := boltstore.Check(t.Context(), path, boltstore.Options{})
	if err != nil || len(findings) > 0 {
		t.Errorf("Check(%s) = %v, %v, want nothing", path, findings, err)
	}
}

// filled makes a file of random changes, and a Memory that holds the same.
func filled(t *testing.T, seed uint64, changes int) (path string, replica *store.Memory) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, boltstore.Options{})
	defer closeStore(t, s)
	replica = store.NewMemoryOf(head(t, s).Lineage)
	g := storetest.NewGenerator(seed)
	for range changes {
		c := g.Next()
		if got, want := appendTo(t, s, c), appendTo(t, replica, c); got != want {
			t.Fatalf("Append() = %v, want %v", got, want)
		}
	}
	return path, replica
}

// TestReopen closes, opens and compacts a store between random changes; a
// Memory that sees the same changes tells what must be there.
func TestReopen(t *testing.T) {
	const seed, steps = 3, 150
	random := rand.New(rand.NewPCG(seed, 3))
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, boltstore.Options{Lineage: store.Lineage{1, 2, 3}})
	replica := store.NewMemoryOf(store.Lineage{1, 2, 3})
	g := storetest.NewGenerator(seed)
	for step := range steps {
		switch random.IntN(12) {
		case 0:
			closeStore(t, s)
			if _, err := boltstore.Compact(t.Context(), path, ""); err != nil {
				t.Fatalf("Compact() = %v", err)
			}
			s = open(t, path, boltstore.Options{})
		case 1, 2:
			closeStore(t, s)
			checkSound(t, path)
			s = open(t, path, boltstore.Options{})
		case 3:
			storetest.Equal(t, s, replica)
			if findings, err := s.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("Check() = %v, %v, want nothing", findings, err)
			}
		default:
			c := g.Next()
			appendTo(t, s, c)
			appendTo(t, replica, c)
		}
		if t.Failed() {
			t.Fatalf("seed %d, step %d", seed, step)
		}
	}
	storetest.Equal(t, s, replica)
	closeStore(t, s)
}

func TestOpenCreates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	closeStore(t, open(t, path, boltstore.Options{}))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != 0o600 {
		t.Errorf("mode of a new file = %o, want 600", got)
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 1 {
		t.Errorf("folder holds %v, %v, want the store alone", names, err)
	}
	checkSound(t, path)

	if _, err := boltstore.Open(path+".none", boltstore.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open(no file, read only) = %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := boltstore.Open(filepath.Join(path, "below"), boltstore.Options{}); err == nil {
		t.Error("Open(below a file) = nil, want an error")
	}
	if _, err := boltstore.Open(filepath.Join(t.TempDir(), "no", "folder"), boltstore.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open(in no folder) = %v, want %v", err, fs.ErrNotExist)
	}
}

func TestLineage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := store.NewLineage()
	for _, asked := range []store.Lineage{want, {}, store.NewLineage()} {
		s := open(t, path, boltstore.Options{Lineage: asked})
		if got := head(t, s).Lineage; got != want {
			t.Errorf("lineage = %x, want %x", got, want)
		}
		closeStore(t, s)
	}
}

// TestOpenWritesNothing: to look is not to touch.
func TestOpenWritesNothing(t *testing.T) {
	path, _ := filled(t, 4, 20)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{true, false} {
		closeStore(t, open(t, path, boltstore.Options{ReadOnly: readOnly}))
		checkSound(t, path)
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("Open(ReadOnly: %v) has changed the file (%v)", readOnly, err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	path, replica := filled(t, 5, 20)
	s := open(t, path, boltstore.Options{ReadOnly: true})
	defer closeStore(t, s)
	other := open(t, path, boltstore.Options{ReadOnly: true}) // readers share
	defer closeStore(t, other)
	storetest.Equal(t, s, replica)
	if findings, err := s.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("Check() = %v, %v, want nothing", findings, err)
	}
	c := storetest.NewGenerator(50).Next()
	if _, err := s.Append(t.Context(), head(t, s), c); !errors.Is(err, boltstore.ErrReadOnly) {
		t.Errorf("Append() = %v, want %v", err, boltstore.ErrReadOnly)
	}
	if _, err := boltstore.Open(path, boltstore.Options{}); !errors.Is(err, boltstore.ErrLocked) {
		t.Errorf("Open() beside readers = %v, want %v", err, boltstore.ErrLocked)
	}
}

func TestLocked(t *testing.T) {
	path, _ := filled(t, 6, 5)
	s := open(t, path, boltstore.Options{})
	attempts := map[string]func() error{
		"Open": func() error {
			_, err := boltstore.Open(path, boltstore.Options{})
			return err
		},
		"Open(ReadOnly)": func() error {
			_, err := boltstore.Open(path, boltstore.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
			return err
		},
		"Check": func() error {
			_, err := boltstore.Check(t.Context(), path, boltstore.Options{})
			return err
		},
		"Compact": func() error {
			_, err := boltstore.Compact(t.Context(), path, "")
			return err
		},
	}
	for name, try := range attempts {
		err := try()
		var locked *boltstore.LockedError
		if !errors.Is(err, boltstore.ErrLocked) || !errors.As(err, &locked) {
			t.Errorf("%s of an open store = %v, want %v", name, err, boltstore.ErrLocked)
			continue
		}
		if runtime.GOOS == "linux" && locked.PID != os.Getpid() {
			t.Errorf("%s of an open store names process %d, want %d", name, locked.PID, os.Getpid())
		}
	}
	// Who waits gets it.
	opened := make(chan error)
	go func() {
		waiting, err := boltstore.Open(path, boltstore.Options{Timeout: time.Minute})
		if err == nil {
			err = waiting.Close()
		}
		opened <- err
	}()
	closeStore(t, s)
	if err := <-opened; err != nil {
		t.Errorf("Open(Timeout) after Close = %v", err)
	}
}

// TestWaiterGetsTheNewFile replaces a store while another opener waits for the
// old file: it must not write to what no longer has a name.
func TestWaiterGetsTheNewFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells that the other has the old file open")
	}
	path, replica := filled(t, 7, 30)
	holder := open(t, path, boltstore.Options{ReadOnly: true})
	opened := make(chan error)
	c := storetest.NewGenerator(70).Next()
	c.Ops = []store.Op{{Kind: store.Put, ID: "waiter", Record: []byte("x")}}
	go func() {
		s, err := boltstore.Open(path, boltstore.Options{Timeout: time.Minute})
		if err != nil {
			opened <- err
			return
		}
		p, err := s.Head(context.Background())
		if err == nil {
			_, err = s.Append(context.Background(), p, c)
		}
		opened <- errors.Join(err, s.Close())
	}()
	for openFiles(t, path) < 2 { // the holder's and the waiter's
		runtime.Gosched()
	}
	// Put a copy in the file's place, as a compaction does.
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	closeStore(t, holder)
	if err := <-opened; err != nil {
		t.Fatalf("Open and Append = %v", err)
	}
	appendTo(t, replica, c)
	s := open(t, path, boltstore.Options{})
	defer closeStore(t, s)
	storetest.Equal(t, s, replica)
}

// openFiles counts the descriptors of this process that lead to a path.
func openFiles(t *testing.T, path string) int {
	t.Helper()
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range descriptors {
		if target, err := os.Readlink(d); err == nil && target == path {
			n++
		}
	}
	return n
}

func TestCloseWithOpenSnapshot(t *testing.T) {
	path, _ := filled(t, 8, 5)
	s := open(t, path, boltstore.Options{})
	sn, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("Snapshot() = %v", err)
	}
	if err := s.Close(); !errors.Is(err, boltstore.ErrBusy) {
		t.Errorf("Close() with an open snapshot = %v, want %v", err, boltstore.ErrBusy)
	}
	if sn.Len() == 0 {
		t.Error("snapshot is gone after a refused Close")
	}
	head(t, s) // still open
	if err := sn.Close(); err != nil {
		t.Errorf("Snapshot.Close() = %v", err)
	}
	closeStore(t, s)
	closeStore(t, s)
}

// TestAppendWaitsWithContext: an author that waits for another gives up when
// its context ends.
func TestAppendWaitsWithContext(t *testing.T) {
	path, replica := filled(t, 9, 3)
	s := open(t, path, boltstore.Options{})
	defer closeStore(t, s)
	g := storetest.NewGenerator(90)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 8)
	base := head(t, s)
	for range 8 {
		c := g.Next()
		c.Ops = []store.Op{{Kind: store.Put, ID: "big", Record: make([]byte, 8<<20)}}
		go func() {
			_, err := s.Append(ctx, base, c)
			results <- err
		}()
	}
	cancel()
	for range 8 {
		if err := <-results; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrConflict) {
			t.Errorf("Append() = %v, want nil, %v or %v", err, context.Canceled, store.ErrConflict)
		}
	}
	if got := head(t, s).Sequence; got > head(t, replica).Sequence+1 {
		t.Errorf("Head() has sequence %d, want at most one more than %d", got, head(t, replica).Sequence)
	}
}
