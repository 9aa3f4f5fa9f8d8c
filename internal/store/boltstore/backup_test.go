package boltstore_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
	"incidentgraph/internal/store/storetest"
)

// TestBackup copies a store while changes are appended: the copy is the store
// as it was at the position that Backup gives.
func TestBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, boltstore.Options{})
	defer closeStore(t, s)
	replica := store.NewMemoryOf(head(t, s).Lineage)
	g := storetest.NewGenerator(8)
	for range 40 {
		c := g.Next()
		appendTo(t, s, c)
		appendTo(t, replica, c)
	}

	var copied bytes.Buffer
	got, err := s.Backup(t.Context(), writerFunc(func(p []byte) (int, error) {
		if copied.Len() < 1<<20 {
			appendTo(t, s, g.Next()) // each chunk of the copy meets another head
		}
		return copied.Write(p)
	}))
	if err != nil {
		t.Fatalf("Backup() = %v", err)
	}
	if want := head(t, replica); got != want {
		t.Errorf("Backup() = %v, want %v", got, want)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(backup, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	checkSound(t, backup)
	b := open(t, backup, boltstore.Options{})
	defer closeStore(t, b)
	storetest.Equal(t, b, replica)
	if head(t, s) == got {
		t.Error("nothing was appended while the store was copied")
	}
}

func TestBackupEnds(t *testing.T) {
	path, _ := filled(t, 9, 20)
	s := open(t, path, boltstore.Options{ReadOnly: true})
	full := errors.New("no space")
	if _, err := s.Backup(t.Context(), writerFunc(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Errorf("Backup(a writer that fails) = %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Backup(ctx, writerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Backup() = %v after its context ended, want %v", err, context.Canceled)
	}
	closeStore(t, s) // no transaction is left open
	if _, err := s.Backup(t.Context(), &bytes.Buffer{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Backup() of a closed store = %v, want %v", err, store.ErrClosed)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
