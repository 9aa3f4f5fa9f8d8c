package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/search"
	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

func openText(t testing.TB, dir string) *search.Index {
	t.Helper()
	x, err := search.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func withText(t testing.TB, log store.Log, x *search.Index) *Ingester {
	t.Helper()
	in, err := New(t.Context(), log, nil, nil, WithText(x))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func closeIngester(t testing.TB, in *Ingester) {
	t.Helper()
	if err := in.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

// writer makes random changes and knows what they add up to.
type writer struct {
	t     *testing.T
	r     *rand.Rand
	log   store.Log
	words map[string][]string // by case id
	n     int
}

func newWriter(t *testing.T, log store.Log) *writer {
	return &writer{t: t, r: rand.New(rand.NewPCG(61, 62)), log: log, words: map[string][]string{}}
}

var vocabularyOfTitles = []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot"}

// write commits one change of several operations.
func (w *writer) write() {
	w.t.Helper()
	w.n++
	head, err := w.log.Head(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	c := store.Change{Time: time.Date(2026, 1, 1, 0, 0, w.n%60, 0, time.UTC), RequestID: fmt.Sprintf("text-%d", w.n)}
	seen := map[string]bool{}
	for range 1 + w.r.IntN(6) {
		id := fmt.Sprintf("C-%d", w.r.IntN(40))
		if seen[id] {
			continue
		}
		seen[id] = true
		if w.words[id] != nil && w.r.IntN(4) == 0 {
			delete(w.words, id)
			c.Ops = append(c.Ops, store.Op{Kind: store.Delete, ID: id})
			continue
		}
		words := []string{vocabularyOfTitles[w.r.IntN(len(vocabularyOfTitles))], vocabularyOfTitles[w.r.IntN(len(vocabularyOfTitles))]}
		w.words[id] = words
		record, err := json.Marshal(map[string]any{"id": id, "title": map[string]string{"en": strings.Join(words, " ")}})
		if err != nil {
			w.t.Fatal(err)
		}
		c.Ops = append(c.Ops, store.Op{Kind: store.Put, ID: id, Record: record})
	}
	if _, err := w.log.Append(context.Background(), head, c); err != nil {
		w.t.Fatal(err)
	}
}

// check compares what the text index finds with what was written.
func (w *writer) check(in *Ingester) {
	w.t.Helper()
	v, err := in.View(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer v.Close()
	for _, word := range vocabularyOfTitles {
		want := []string{}
		for id, words := range w.words {
			if slices.Contains(words, word) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		set, err := v.MatchText(w.t.Context(), word)
		if err != nil {
			w.t.Fatal(err)
		}
		var got []string
		for o := range set.All() {
			got = append(got, v.Index().CaseID(o))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, append([]string{}, got...)); diff != "" {
			w.t.Fatalf("incidents with %s (-want +got):\n%s", word, diff)
		}
		r, err := v.Search(w.t.Context(), search.ParseQuery(word), search.Options{First: 100})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(r.Hits) != len(want) || r.Total != len(want) {
			w.t.Fatalf("Search(%s) gives %d hits of %d, want %d", word, len(r.Hits), r.Total, len(want))
		}
	}
}

func TestTextFollowsTheStore(t *testing.T) {
	eachStore(t, func(t *testing.T, log store.Log) {
		dir := filepath.Join(t.TempDir(), "search")
		w := newWriter(t, log)
		w.write()
		in := withText(t, log, openText(t, dir))
		for i := range 60 {
			for range w.r.IntN(4) {
				w.write()
			}
			w.check(in)
			if i%10 == 9 { // another process
				closeIngester(t, in)
				w.write()
				x := openText(t, dir)
				if x.Found() != search.FoundIndex {
					t.Fatalf("the folder holds %v, want an index", x.Found())
				}
				in = withText(t, log, x)
			}
		}
		closeIngester(t, in)
	})
}

// TestTextStartsOver opens text indexes that do not fit the store: none of
// them may leave a trace.
func TestTextStartsOver(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, w *writer, dir string)
	}{
		{"of another store", func(t *testing.T, w *writer, dir string) {
			other := newWriter(t, store.NewMemory())
			for range 20 {
				other.write()
			}
			in := withText(t, other.log, openText(t, dir))
			other.check(in)
			closeIngester(t, in)
		}},
		{"of another history with the same lineage", func(t *testing.T, w *writer, dir string) {
			x := openText(t, dir)
			head, err := w.log.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			head.Digest[0]++
			b := x.NewBatch()
			b.Put(&incident.Incident{ID: "ghost", Title: incident.Text{{Language: "en", Text: "alpha"}}})
			if err := b.Commit(encodePosition(head)); err != nil {
				t.Fatal(err)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"left in the middle of being made", func(t *testing.T, w *writer, dir string) {
			x := openText(t, dir)
			b := x.NewBatch()
			b.Put(&incident.Incident{ID: "ghost", Title: incident.Text{{Language: "en", Text: "alpha"}}})
			if err := b.Commit(nil); err != nil {
				t.Fatal(err)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"damaged", func(t *testing.T, w *writer, dir string) {
			in := withText(t, w.log, openText(t, dir))
			w.check(in)
			closeIngester(t, in)
			files, err := filepath.Glob(filepath.Join(dir, "*.zap"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no segments: %v", err)
			}
			for _, f := range files {
				if err := os.Truncate(f, 10); err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, store.NewMemory())
			for range 10 {
				w.write()
			}
			dir := filepath.Join(t.TempDir(), "search")
			tt.prepare(t, w, dir)
			in := withText(t, w.log, openText(t, dir))
			defer closeIngester(t, in)
			w.check(in)
			w.write()
			w.check(in)
		})
	}
}

// TestTextStartsOverAfterCompaction takes from the store the changes that the
// text index still needs.
func TestTextStartsOverAfterCompaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	dir := path + ".search"
	log, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, log)
	w.write()
	in := withText(t, log, openText(t, dir))
	w.check(in)
	closeIngester(t, in)
	for range 10 {
		w.write()
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.Compact(t.Context(), path, path); err != nil {
		t.Fatal(err)
	}
	if log, err = boltstore.Open(path, boltstore.Options{}); err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w.log = log
	in = withText(t, log, openText(t, dir))
	defer closeIngester(t, in)
	w.check(in)
}

// TestSearchKeepsToTheView searches a view after the store and the text index
// have moved on.
func TestSearchKeepsToTheView(t *testing.T) {
	log := store.NewMemory()
	w := newWriter(t, log)
	text, err := search.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.write()
	}
	in := withText(t, log, text)
	defer closeIngester(t, in)
	old, err := in.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	for range 30 {
		w.write()
	}
	w.check(in) // brings the text index on
	hits := 0
	for _, word := range vocabularyOfTitles {
		r, err := old.Search(t.Context(), search.ParseQuery(word), search.Options{First: 100})
		if err != nil {
			t.Fatal(err)
		}
		if r.Total != len(r.Hits) {
			t.Errorf("Search(%s) counts %d, want the %d hits", word, r.Total, len(r.Hits))
		}
		for _, h := range r.Hits {
			if old.Index().Lookup(h.ID) == nil {
				t.Errorf("Search(%s) finds %s, which the view does not have", word, h.ID)
			}
		}
		hits += len(r.Hits)
	}
	if hits == 0 {
		t.Error("nothing found")
	}
}

func TestTextIsOptional(t *testing.T) {
	in := ingesterOf(t, store.NewMemory())
	v, err := in.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, err := v.Search(t.Context(), search.ParseQuery("alpha"), search.Options{}); !errors.Is(err, ErrNoText) {
		t.Errorf("Search() = %v, want %v", err, ErrNoText)
	}
	if _, err := v.MatchText(t.Context(), "alpha"); !errors.Is(err, ErrNoText) {
		t.Errorf("MatchText() = %v, want %v", err, ErrNoText)
	}
	closeIngester(t, in)
}

// TestReadersDoNotWaitLong asks a run that has begun for how long it takes.
func TestReadersDoNotWaitLong(t *testing.T) {
	run := &textRun{over: make(chan struct{})}
	for _, c := range []struct {
		done, total int
		behind      bool
	}{{0, 0, false}, {0, patience, false}, {0, patience + 1, true}, {99_000, 100_000, false}, {10_000, 100_000, true}} {
		run.progress(c.done, c.total)
		var behind *TextBehindError
		if got := errors.As(run.left(), &behind); got != c.behind {
			t.Errorf("left() at %d of %d: behind = %v, want %v", c.done, c.total, got, c.behind)
		}
	}
}

func TestPositionsAreReadBack(t *testing.T) {
	p := store.Position{Lineage: store.NewLineage(), Sequence: 1 << 40}
	p = p.Next([]byte("change"))
	if got, ok := decodePosition(encodePosition(p)); !ok || got != p {
		t.Errorf("decodePosition(encodePosition(%v)) = %v, %v", p, got, ok)
	}
	for _, b := range [][]byte{nil, {}, make([]byte, positionBytes-1), make([]byte, positionBytes+1)} {
		if got, ok := decodePosition(b); ok {
			t.Errorf("decodePosition of %d bytes = %v, want none", len(b), got)
		}
	}
}
