package boltstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"incidentgraph/internal/store"
)

// TestFullDisk appends until the file may not grow. Nothing of the change that
// does not fit is stored; reading goes on, and so does writing once there is
// room.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // writing past the limit is an error then
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}
	defer restore()

	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	replica := store.NewMemoryOf(head.Lineage)
	small := before
	small.Cur = 3 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Skip(err)
	}
	full := 0
	for i := range 60 {
		c := store.Change{RequestID: fmt.Sprint("r", i), Ops: []store.Op{
			{Kind: store.Put, ID: "shared", Record: fmt.Append(nil, i)},
			{Kind: store.Put, ID: fmt.Sprint("id", i), Record: bytes.Repeat([]byte("x"), 100_000)},
		}}
		next, err := s.Append(t.Context(), head, c)
		if err != nil {
			if full++; full == 3 {
				restore()
			}
			if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrInvalidChange) || errors.Is(err, store.ErrCorrupt) {
				t.Errorf("Append() on a full disk = %v", err)
			}
			if _, err := s.Request(t.Context(), c.RequestID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Request() of the change that did not fit = %v, want %v", err, store.ErrNotFound)
			}
			continue
		}
		if _, err := replica.Append(t.Context(), head, c); err != nil {
			t.Fatal(err)
		}
		head = next
		if got, err := s.Head(t.Context()); err != nil || got != head {
			t.Fatalf("Head() = %v, %v, want %v", got, err, head)
		}
	}
	if full < 3 || head.Sequence < 30 {
		t.Errorf("%d appends failed and %d did not: the test misses what it is for", full, head.Sequence)
	}
	if findings, err := s.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("Check() = %v, %v, want nothing", findings, err)
	}
	if want, err := replica.Head(t.Context()); err != nil || want != head {
		t.Errorf("Head() = %v, want %v (%v)", head, want, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

// TestReadOnlyFile opens a file that this user may read and not write. Where
// the tests run as root, who may do all, one thread becomes another user for
// the file system.
func TestReadOnlyFile(t *testing.T) {
	path := small(t)
	for p, mode := range map[string]os.FileMode{path: 0o444, filepath.Dir(path): 0o755, filepath.Dir(filepath.Dir(path)): 0o755} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0); errno != 0 {
				t.Error(errno)
				return
			}
		}
		s, err := Open(path, Options{ReadOnly: true})
		if err != nil {
			t.Errorf("Open(ReadOnly) of a read-only file = %v", err)
			return
		}
		defer closing(t, s)
		s2, err := Open(path, Options{})
		if !errors.Is(err, ErrReadOnly) || !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open() of a read-only file = %v, %v, want %v", s2, err, ErrReadOnly)
		}
		if _, err := Compact(t.Context(), path, ""); !errors.Is(err, ErrReadOnly) {
			t.Errorf("Compact() of a read-only file = %v, want %v", err, ErrReadOnly)
		}
		if _, err := Open(filepath.Join(filepath.Dir(path), "new.db"), Options{}); !errors.Is(err, os.ErrPermission) {
			t.Errorf("Open() in a read-only folder = %v, want %v", err, os.ErrPermission)
		}
	}()
	<-done
}
