package boltstore_test

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
	"incidentgraph/internal/store/storetest"
)

var makeRelease = flag.Bool("make-release-file", false, "write the file of this format version to testdata/backcompat, once, before its first release")

// release is what the file of each released format version holds: the changes
// of a generator that will never change, seed 106. They are replayed here, so
// the file must still say the same, byte for byte.
const (
	releaseSeed    = 106
	releaseChanges = 8
)

// TestReleasedFormats opens one file of every format version that was
// released, and appends to it.
func TestReleasedFormats(t *testing.T) {
	if *makeRelease {
		makeReleaseFile(t)
	}
	files, err := filepath.Glob("testdata/backcompat/*.db")
	if err != nil || len(files) == 0 {
		t.Fatalf("released files: %v, %v, want at least one", files, err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("bbolt files are those of a little-endian machine")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "store.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			checkSound(t, path)
			s := open(t, path, boltstore.Options{})
			defer closeStore(t, s)
			replica := releaseReplica(t)
			storetest.Equal(t, s, replica)
			c := put("after the release", "a", "x")
			appendTo(t, s, c)
			appendTo(t, replica, c)
			storetest.Equal(t, s, replica)
		})
	}
}

func releaseReplica(t *testing.T) *store.Memory {
	t.Helper()
	m := store.NewMemoryOf(store.Lineage([]byte("released format.")))
	g := storetest.NewGenerator(releaseSeed)
	for range releaseChanges {
		appendTo(t, m, g.Next())
	}
	return m
}

// makeReleaseFile writes history on both sides of a compaction.
func makeReleaseFile(t *testing.T) {
	t.Helper()
	path := filepath.Join("testdata", "backcompat", "v1.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, boltstore.Options{Lineage: store.Lineage([]byte("released format."))})
	g := storetest.NewGenerator(releaseSeed)
	for n := range releaseChanges {
		if n == releaseChanges/2 {
			closeStore(t, s)
			if _, err := boltstore.Compact(t.Context(), path, ""); err != nil {
				t.Fatal(err)
			}
			s = open(t, path, boltstore.Options{})
		}
		appendTo(t, s, g.Next())
	}
	closeStore(t, s)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s has %d bytes", path, info.Size())
}
