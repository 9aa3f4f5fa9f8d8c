package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

// crashVariable makes the test binary a process that commits until it is
// killed; its value is the index's folder.
const crashVariable = "INCIDENTGRAPH_SEARCH_CRASH"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashVariable); dir != "" {
		commitUntilKilled(dir)
	}
	os.Exit(m.Run())
}

func concepts(t testing.TB, label string) *incident.Concepts {
	t.Helper()
	c, err := incident.DecodeConcepts([]byte(`{"version":1,"terms":[
		{"scheme":"FACTOR","slug":"retry-storm","label":{"en":` + strconv.Quote(label) + `,"ko":"재시도 폭풍"}},
		{"scheme":"COMPONENT","slug":"storm","label":{"en":"Storm"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func outage(id string) *incident.Incident {
	return &incident.Incident{ID: id, Title: inEnglish("Outage of " + id), Org: "Example Corp", OrgSlug: "example-corp", Components: values("Main database")}
}

func TestReopen(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "a", "search"), concepts(t, "Retry storm")
	ix := opened(t, dir, c)
	if ix.Found() != FoundNothing || ix.Position() != nil {
		t.Errorf("new index: Found() = %v, Position() = %q, want nothing, nil", ix.Found(), ix.Position())
	}
	put(t, ix, "first", outage("A-1"), outage("A-2"))
	b := ix.NewBatch()
	b.Delete("A-1")
	commit(t, b, "second")
	if b.Len() != 0 {
		t.Errorf("Len() after Commit = %d, want 0", b.Len())
	}
	before := found(t, ix, "outage", Options{First: 10})
	closed(t, ix)

	ix = opened(t, dir, c)
	defer closed(t, ix)
	if ix.Found() != FoundIndex || string(ix.Position()) != "second" {
		t.Errorf("opened again: Found() = %v, Position() = %q, want an index, second", ix.Found(), ix.Position())
	}
	if diff := cmp.Diff(before, found(t, ix, "outage", Options{First: 10})); diff != "" || len(before.Hits) != 1 {
		t.Errorf("Search after opening again (-before +after):\n%s", diff)
	}
	if err := ix.Check(t.Context()); err != nil {
		t.Errorf("Check() = %v, want nil", err)
	}
	commit(t, ix.NewBatch(), "third") // only the position
	if got := string(ix.Position()); got != "third" {
		t.Errorf("Position() = %q, want third", got)
	}
}

func TestOpenOtherVersion(t *testing.T) {
	dir := t.TempDir()
	ix := opened(t, dir, concepts(t, "Retry storm"))
	put(t, ix, "here", outage("A-1"))
	closed(t, ix)
	for _, label := range []string{"Storm of retries", "Retry storm"} {
		ix = opened(t, dir, concepts(t, label))
		if ix.Found() != FoundOtherVersion || ix.Position() != nil {
			t.Errorf("other vocabulary: Found() = %v, Position() = %q, want another version, nil", ix.Found(), ix.Position())
		}
		if got := matching(t, ix, "outage"); got != nil {
			t.Errorf("matching(outage) = %v, want none", got)
		}
		put(t, ix, "here", outage("A-1"))
		closed(t, ix)
	}
	ix = opened(t, dir, concepts(t, "Retry storm"))
	defer closed(t, ix)
	if ix.Found() != FoundIndex || string(ix.Position()) != "here" {
		t.Errorf("same vocabulary: Found() = %v, Position() = %q, want an index, here", ix.Found(), ix.Position())
	}
}

func TestOpenUnreadable(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, root string, segments []string)
	}{
		{"root is empty", func(t *testing.T, root string, _ []string) { rewrite(t, root, func([]byte) []byte { return nil }) }},
		{"root is something else", func(t *testing.T, root string, _ []string) {
			rewrite(t, root, func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) })
		}},
		{"root is cut", func(t *testing.T, root string, _ []string) {
			rewrite(t, root, func(b []byte) []byte { return b[:len(b)/2] })
		}},
		{"root is missing", func(t *testing.T, root string, _ []string) { removed(t, root) }},
		{"segments are missing", func(t *testing.T, _ string, segments []string) { removed(t, segments...) }},
		{"segments are empty", func(t *testing.T, _ string, segments []string) {
			for _, s := range segments {
				rewrite(t, s, func([]byte) []byte { return nil })
			}
		}},
		{"segments are cut", func(t *testing.T, _ string, segments []string) {
			for _, s := range segments {
				rewrite(t, s, func(b []byte) []byte { return b[:len(b)-10] })
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, c := t.TempDir(), concepts(t, "Retry storm")
			ix := opened(t, dir, c)
			put(t, ix, "here", outage("A-1"))
			closed(t, ix)
			segments, err := filepath.Glob(filepath.Join(dir, "*.zap"))
			if err != nil || len(segments) == 0 {
				t.Fatalf("segments %v, error %v", segments, err)
			}
			tt.damage(t, filepath.Join(dir, "root.bolt"), segments)
			ix = opened(t, dir, c)
			defer closed(t, ix)
			if ix.Found() != FoundUnreadable || ix.Position() != nil {
				t.Errorf("Found() = %v, Position() = %q, want unreadable, nil", ix.Found(), ix.Position())
			}
			put(t, ix, "again", outage("A-1"))
			if got := matching(t, ix, "outage"); !slices.Equal(got, []string{"A-1"}) {
				t.Errorf("matching(outage) = %v, want A-1", got)
			}
		})
	}
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func removed(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckDamage changes single bytes: Check must see each, and a search over
// them must not end the program.
func TestCheckDamage(t *testing.T) {
	dir := t.TempDir()
	ix := opened(t, dir, nil) // without a vocabulary there is one segment, and nothing to merge
	list := make([]*incident.Incident, 100)
	for i := range list {
		list[i] = outage(fmt.Sprintf("A-%d", i))
	}
	put(t, ix, "here", list...)
	closed(t, ix)
	segments, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil {
		t.Fatal(err)
	}
	path := segments[len(segments)-1]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for at := 0; at < len(whole)-64; at += len(whole) / 40 { // the last bytes make it unreadable at once
		rewrite(t, path, func([]byte) []byte {
			b := slices.Clone(whole)
			b[at] ^= 0xff
			return b
		})
		ix := opened(t, dir, nil)
		if ix.Found() != FoundIndex {
			closed(t, ix)
			t.Fatalf("byte %d: Found() = %v", at, ix.Found())
		}
		if err := ix.Check(t.Context()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d of %d changed: Check() = %v, want ErrCorrupt", at, len(whole), err)
		}
		for _, query := range []string{"outage", "main database", "title:outage", "-outage", "a 17"} {
			if _, err := ix.Search(t.Context(), ParseQuery(query), Options{First: 200}); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("byte %d changed: Search(%q) = %v, want ErrCorrupt or nil", at, query, err)
			}
		}
		closed(t, ix)
		checked++
	}
	if checked < 40 {
		t.Errorf("%d bytes checked, want 40", checked)
	}
}

func TestOpenForeign(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); !errors.Is(err, ErrForeign) {
		t.Errorf("Open(folder with another file) = %v, want ErrForeign", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	if _, err := Open(precious, nil); err == nil {
		t.Error("Open(file) = nil, want an error")
	}
}

func TestOpenLocked(t *testing.T) {
	dir := t.TempDir()
	ix := opened(t, dir, nil)
	put(t, ix, "here", outage("A-1"))
	if _, err := Open(dir, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("Open(index in use) = %v, want ErrLocked", err)
	}
	if got := matching(t, ix, "outage"); !slices.Equal(got, []string{"A-1"}) {
		t.Errorf("matching(outage) = %v, want A-1", got)
	}
	closed(t, ix)
}

func TestReset(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		ix := memory(t, concepts(t, "Retry storm"))
		if dir != "" {
			ix = opened(t, dir, concepts(t, "Retry storm"))
			defer closed(t, ix)
		}
		put(t, ix, "here", outage("A-1"))
		if err := ix.Reset(); err != nil {
			t.Fatal(err)
		}
		if got := matching(t, ix, "outage"); got != nil || ix.Position() != nil {
			t.Errorf("after Reset: matching(outage) = %v, Position() = %q, want none, nil", got, ix.Position())
		}
		if r := found(t, ix, "storm", Options{First: 10}); r.Total != 2 {
			t.Errorf("after Reset: Search(storm) = %v, want the 2 listed terms", r.Hits)
		}
		put(t, ix, "again", outage("A-2"))
		if got := matching(t, ix, "outage"); !slices.Equal(got, []string{"A-2"}) {
			t.Errorf("after Reset and Commit: matching(outage) = %v, want A-2", got)
		}
	}
}

func TestClosed(t *testing.T) {
	x, err := OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	ix := newReadable(x)
	closed(t, ix)
	closed(t, ix)
	b := ix.NewBatch()
	b.Put(outage("A-1"))
	_, searched := ix.Search(t.Context(), ParseQuery("a"), Options{})
	read := ix.Read(t.Context(), func(*State) error { return nil })
	for name, err := range map[string]error{
		"Commit": b.Commit(nil), "Search": searched, "Read": read, "Reset": ix.Reset(), "Check": ix.Check(t.Context()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s of a closed index = %v, want ErrClosed", name, err)
		}
	}
	if got := ix.Position(); got != nil {
		t.Errorf("Position of a closed index = %q, want nil", got)
	}
}

func TestCancel(t *testing.T) {
	ix := memory(t, nil)
	put(t, ix, "here", outage("A-1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ix.Search(ctx, ParseQuery("outage"), Options{First: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search(cancelled) = %v, want context.Canceled", err)
	}
	err := ix.Read(ctx, func(s *State) error { return s.Find(&Clause{}, nil, func([]uint32) {}) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Find(cancelled) = %v, want context.Canceled", err)
	}
}

// TestCompact checks that an index in memory does not grow a segment a commit.
func TestCompact(t *testing.T) {
	ix := memory(t, concepts(t, "Retry storm"))
	const commits = 300
	for i := range commits {
		put(t, ix, fmt.Sprint(i), outage(fmt.Sprintf("A-%d", i%200)))
		v, err := ix.snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(v.Segments()); n > maxMemorySegments+1 {
			t.Fatalf("%d segments after %d commits, want at most %d", n, i+1, maxMemorySegments+1)
		}
		v.close()
	}
	if got := len(matching(t, ix, "outage")); got != 200 {
		t.Errorf("%d incidents, want 200", got)
	}
	if got, want := string(ix.Position()), fmt.Sprint(commits-1); got != want {
		t.Errorf("Position() = %q, want %q", got, want)
	}
}

// commitUntilKilled commits incident after incident, each with its number as
// the position, and says so after each.
func commitUntilKilled(dir string) {
	ix, err := Open(dir, nil)
	for i := 0; err == nil; i++ {
		b := ix.NewBatch()
		b.Put(outage(fmt.Sprintf("A-%d", i)))
		if i >= 10 {
			b.Delete(fmt.Sprintf("A-%d", i-10))
		}
		err = b.Commit([]byte(strconv.Itoa(i)))
		fmt.Println(i)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestCrash kills a process between and amid commits. What it had committed is
// there, data and position of one commit, and it may have come one further.
func TestCrash(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []int{1, 7, 30} {
		dir := t.TempDir()
		child := exec.Command(self)
		child.Env = append(os.Environ(), crashVariable+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		said := -1
		for range lines {
			if _, err := fmt.Fscanln(out, &said); err != nil {
				t.Fatal(err)
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // tells that it was killed

		ix := opened(t, dir, nil)
		if ix.Found() != FoundIndex {
			t.Fatalf("Found() = %v, want an index", ix.Found())
		}
		at, err := strconv.Atoi(string(ix.Position()))
		if err != nil || at < said {
			t.Errorf("Position() = %q, want at least %d", ix.Position(), said)
		}
		var want []string
		for i := max(0, at-9); i <= at; i++ {
			want = append(want, fmt.Sprintf("A-%d", i))
		}
		slices.Sort(want)
		if got := matching(t, ix, "outage"); !slices.Equal(got, want) {
			t.Errorf("at position %d: incidents %v, want %v", at, got, want)
		}
		if err := ix.Check(t.Context()); err != nil {
			t.Errorf("Check() = %v, want nil", err)
		}
		put(t, ix, "on", outage("B-1"))
		closed(t, ix)
	}
}
