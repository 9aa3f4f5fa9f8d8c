package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"incidentgraph/internal/store"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"b.json":          `{"id":"b"}`,
		"a/2.txt":         string(zstdOf(t, "{\"id\":\"a2\"}\n{\"id\":\"a3\"}")),
		"a/10.bin":        string(gzipped(t, `[{"id":"a10"}]`)),
		"README.md":       "# Records\n",
		".hidden.json":    `{"id":"hidden"}`,
		".git/x.json":     `{"id":"git"}`,
		"a/.x/deep.json":  `{"id":"deep"}`,
		"empty":           "",
		"c/d/e/last.json": `{"id":"last"}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, ".hidden.json"), filepath.Join(dir, "link.json")); err != nil {
		t.Log(err) // some systems have none
	}
	sources, err := Open([]string{dir, "-"}, strings.NewReader(`{"id":"stdin"}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range sources {
		name := s.Name
		if rel, err := filepath.Rel(dir, s.Name); err == nil {
			name = filepath.ToSlash(rel)
		}
		names = append(names, name)
	}
	if want := []string{"README.md", "a/10.bin", "a/2.txt", "b.json", "c/d/e/last.json", "empty", "standard input"}; !slices.Equal(names, want) {
		t.Errorf("Open = %q, want %q", names, want)
	}
	var passed []string
	log := store.NewMemory()
	o := Options{OnPassedOver: func(file string) { passed = append(passed, filepath.Base(file)) }}
	imported(t, ingesterOf(t, log), o, sources...)
	if want := []string{"README.md"}; !slices.Equal(passed, want) {
		t.Errorf("passed over %q, want %q", passed, want)
	}
	want := `{"id":"a10"}` + "\n" + `{"id":"a2"}` + "\n" + `{"id":"a3"}` + "\n" + `{"id":"b"}` + "\n" + `{"id":"last"}` + "\n" + `{"id":"stdin"}` + "\n"
	if got := exported(t, log); got != want {
		t.Errorf("Export = %s, want %s", got, want)
	}
	// Named by itself, the file is looked at, and is no JSON.
	sources, err = Open([]string{filepath.Join(dir, "README.md")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, bad := imported(t, ingesterOf(t, log), Options{}, sources...); len(bad) != 1 {
		t.Errorf("rejects = %q, want one", bad)
	}
	if _, err := Open([]string{filepath.Join(dir, "gone")}, nil); !os.IsNotExist(err) {
		t.Errorf("Open(gone) = %v, want a missing file", err)
	}
	if _, err := Open([]string{"-", "-"}, nil); err == nil {
		t.Error("Open(-, -) = nil, want an error")
	}
}

func TestLazyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f := &lazyFile{path: path}
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil { // only after it was made
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := f.Read(b); n != 3 || err != nil {
		t.Errorf("Read = %d, %v, want 3", n, err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := f.Read(b); err == nil {
		t.Error("Read after Close = nil, want an error")
	}
	if err := (&lazyFile{path: path}).Close(); err != nil {
		t.Errorf("Close unread = %v", err)
	}
}
