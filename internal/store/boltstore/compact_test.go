package boltstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
	"incidentgraph/internal/store/storetest"
)

// put makes a change of one record.
func put(request, id, record string) store.Change {
	return store.Change{
		Time:      time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		RequestID: request,
		Ops:       []store.Op{{Kind: store.Put, ID: id, Record: []byte(record)}},
	}
}

func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, boltstore.Options{})
	replica := store.NewMemoryOf(head(t, s).Lineage)
	positions := []store.Position{head(t, s)}
	commit := func(c store.Change) {
		t.Helper()
		appendTo(t, replica, c)
		positions = append(positions, appendTo(t, s, c))
	}
	big := string(make([]byte, 1<<20))
	commit(put("1", "a", big))
	commit(put("2", "b", "kept since"))
	commit(put("3", "c", big))
	commit(put("4", "a", "new"))
	remove := put("5", "c", "")
	remove.Ops[0] = store.Op{Kind: store.Delete, ID: "c"}
	commit(remove)
	closeStore(t, s)

	c, err := boltstore.Compact(t.Context(), path, path)
	if err != nil {
		t.Fatalf("Compact() = %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Dropped != 2 || c.After != info.Size() || c.After > 64<<10 || c.Before < 2<<20 {
		t.Errorf("Compact() = %+v, want 2 records dropped, from over 2 MiB to %d bytes", c, info.Size())
	}
	checkSound(t, path)

	s = open(t, path, boltstore.Options{})
	// The newest change whose record is gone is the third.
	for n, after := range positions {
		var err error
		for _, err = range s.Follow(t.Context(), after) {
			if err != nil {
				break
			}
		}
		if n < 3 && !errors.Is(err, store.ErrCompacted) {
			t.Errorf("Follow(after change %d) = %v, want %v", n, err, store.ErrCompacted)
		}
		if n >= 3 && err != nil {
			t.Errorf("Follow(after change %d) = %v", n, err)
		}
	}
	stranger := positions[1]
	stranger.Digest[0]++
	for _, err := range s.Follow(t.Context(), stranger) {
		if !errors.Is(err, store.ErrUnknownPosition) {
			t.Errorf("Follow(a position before the horizon that never was) = %v, want %v", err, store.ErrUnknownPosition)
		}
	}
	storetest.Equal(t, s, replica)

	// Versions go on from before, and a request stays used.
	commit(put("6", "c", "again"))
	commit(put("7", "b", "other"))
	if _, err := s.Append(t.Context(), head(t, s), put("1", "z", "z")); !errors.Is(err, store.ErrInvalidChange) {
		t.Errorf("Append(request used before compaction) = %v, want %v", err, store.ErrInvalidChange)
	}
	storetest.Equal(t, s, replica)
	closeStore(t, s)
	checkSound(t, path)

	// Nothing left to drop: the horizon stays, the file does not grow.
	for range 2 {
		if c, err = boltstore.Compact(t.Context(), path, ""); err != nil || c.Dropped != 0 {
			t.Errorf("Compact() = %+v, %v, want nothing dropped", c, err)
		}
	}
	if c.Before != c.After {
		t.Errorf("Compact() of a compact file = %+v, want the same size", c)
	}
}

// TestCompactDropsNothingOfPlainHistory: where nothing was superseded, the
// whole history stays.
func TestCompactDropsNothingOfPlainHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, boltstore.Options{})
	replica := store.NewMemoryOf(head(t, s).Lineage)
	for i := range 5 {
		c := put(fmt.Sprint(i), fmt.Sprint("id-", i), "x")
		appendTo(t, s, c)
		appendTo(t, replica, c)
	}
	closeStore(t, s)
	if _, err := boltstore.Compact(t.Context(), path, ""); err != nil {
		t.Fatalf("Compact() = %v", err)
	}
	s = open(t, path, boltstore.Options{})
	defer closeStore(t, s)
	n := 0
	for _, err := range s.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatalf("Follow() = %v", err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("Follow() = %d changes, want 5", n)
	}
	storetest.Equal(t, s, replica)
}

func TestCompactToAnotherFile(t *testing.T) {
	path, replica := filled(t, 21, 40)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	dst := filepath.Join(folder, "new.db")
	if _, err := boltstore.Compact(t.Context(), path, dst); err != nil {
		t.Fatalf("Compact() = %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("Compact() to another file has changed the first (%v)", err)
	}
	s := open(t, dst, boltstore.Options{})
	storetest.Equal(t, s, replica)
	closeStore(t, s)
	if _, err := boltstore.Compact(t.Context(), path, dst); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Compact() onto another store = %v, want %v", err, fs.ErrExist)
	}
	if names, err := os.ReadDir(folder); err != nil || len(names) != 1 {
		t.Errorf("folder holds %v, %v, want the new file alone", names, err)
	}
}

func TestCompactThroughLink(t *testing.T) {
	path, replica := filled(t, 22, 40)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := boltstore.Compact(t.Context(), link, link); err != nil {
		t.Fatalf("Compact() = %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("Compact() has replaced the link by a file (%v)", err)
	}
	s := open(t, path, boltstore.Options{})
	defer closeStore(t, s)
	storetest.Equal(t, s, replica)
}

// TestCompactFails leaves everything as it was.
func TestCompactFails(t *testing.T) {
	path, _ := filled(t, 23, 40)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := boltstore.Compact(ended, path, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Compact() with an ended context = %v, want %v", err, context.Canceled)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("a failed Compact() has changed the file (%v)", err)
	}
	if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
		t.Errorf("folder holds %v, %v, want the store alone", names, err)
	}
	if _, err := boltstore.Compact(t.Context(), path+".none", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Compact(no file) = %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := os.Stat(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Compact(no file) has made one (%v)", err)
	}
}
