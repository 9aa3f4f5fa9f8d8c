package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/index"
	"incidentgraph/internal/search"
	"incidentgraph/internal/store/boltstore"
)

// fixtureIngester imports n records of the fixture into new files, the text
// index included.
func fixtureIngester(b *testing.B, n int) *Ingester {
	b.Helper()
	dir := b.TempDir()
	log, err := boltstore.Open(filepath.Join(dir, "db"), boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	text, err := search.Open(filepath.Join(dir, "search"), nil)
	if err != nil {
		b.Fatal(err)
	}
	in, err := New(b.Context(), log, nil, nil, WithText(text))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = errors.Join(in.Close(), log.Close()) })
	r, w := io.Pipe()
	go func() {
		for record := range fixture.Records(1, n, fixture.Lite) {
			if _, err := w.Write(append(record, '\n')); err != nil {
				return
			}
		}
		_ = w.Close()
	}()
	if _, err := in.Import(b.Context(), []Source{{Name: "x", Reader: r}}, Options{}); err != nil {
		b.Fatal(err)
	}
	awaitText(b, in)
	return in
}

// awaitText waits until the text index has everything.
func awaitText(tb testing.TB, in *Ingester) {
	tb.Helper()
	v := viewOf(tb, in)
	for {
		_, err := v.MatchText(context.Background(), "everything")
		if behind := new(TextBehindError); !errors.As(err, &behind) {
			if err != nil {
				tb.Fatal(err)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pairs makes queries for two words each.
func pairs(first, second []string) (queries []search.Query) {
	for _, a := range first {
		for _, b := range second {
			queries = append(queries, search.ParseQuery(a+" "+b))
		}
	}
	return queries
}

// BenchmarkMatchText gives the newest ten incidents with two words, of which
// one is in a few of a hundred records and one in most.
//
//	warm        both were looked for before
//	cold        neither was
//	phrase      both were, and the second one is a phrase or of a field
//	coldPhrase  neither was
//	write       both were, before an incident changed
//	parse       the query is read, and no more
func BenchmarkMatchText(b *testing.B) {
	rare := []string{"amber", "falcon", "tokyo", "africa", "premature", "retail", "stale", "telecom"}
	common := []string{"quorum", "leader", "traffic", "latency", "replicas", "spot", "load", "customers"}
	phrases := []string{`"leader traffic"`, `"service requests"`, "title:outage", "action:engineers"}
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n > 10_000 && testing.Short() {
				b.Skip("takes half a minute")
			}
			in := fixtureIngester(b, n)
			v := viewOf(b, in)
			newest := func(b *testing.B, q search.Query) {
				b.Helper()
				set, err := in.text.setsFor(v.state).match(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				v.Index().Page(set, nil, index.PageArgs{First: 10, Last: -1})
			}
			forget := func(*testing.B) {
				sets := in.text.setsFor(v.state)
				sets.mu.Lock()
				sets.forget()
				sets.mu.Unlock()
			}
			for _, c := range []struct {
				name    string
				queries []search.Query
				before  func(*testing.B) // not measured
			}{
				{"warm", pairs(rare, common), nil},
				{"cold", pairs(rare, common), forget},
				{"phrase", pairs(rare, phrases), nil},
				{"coldPhrase", pairs(rare, phrases), forget},
				{"write", pairs(rare, common), func(b *testing.B) {
					record := generated(rand.New(rand.NewPCG(uint64(b.N), 1)), fixture.CaseID(b.N%n), 2<<10)
					imported(b, in, Options{}, text(record)...)
					v.Close()
					v = viewOf(b, in)
					if err := in.text.reach(b.Context(), v.Position()); err != nil {
						b.Fatal(err)
					}
				}},
			} {
				b.Run(c.name, func(b *testing.B) {
					b.ReportAllocs()
					for _, q := range c.queries {
						newest(b, q)
					}
					b.ResetTimer()
					for i := range b.N {
						if c.before != nil {
							b.StopTimer()
							c.before(b)
							b.StartTimer()
						}
						newest(b, c.queries[i%len(c.queries)])
					}
				})
			}
			b.Run("parse", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					search.ParseQuery("falcon replicas")
				}
			})
		})
	}
}

// BenchmarkSearch gives the best ten hits for a word that most records have, of
// all incidents and of a tenth of them.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n > 10_000 && testing.Short() {
				b.Skip("takes half a minute")
			}
			v := viewOf(b, fixtureIngester(b, n))
			q := search.ParseQuery("replicas")
			var some index.SetBuilder
			for o := range v.Index().All().All() {
				if o%10 == 0 {
					some.Add(o)
				}
			}
			tenth := some.Set()
			for name, keep := range map[string]func(uint32) bool{
				"all":   nil,
				"tenth": func(n uint32) bool { return tenth.Has(index.Ord(n)) },
			} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := v.Search(b.Context(), q, search.Options{First: 10, Keep: keep}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
