package ingest

import (
	"flag"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"testing"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/store/boltstore"
)

var million = flag.Bool("million", false, "benchmark a million records, too, which takes some 4 GB of disk")

// recordReader gives records as JSON Lines without keeping them.
type recordReader struct {
	next func() ([]byte, bool)
	rest []byte
}

func newRecordReader(records iter.Seq[[]byte]) (r *recordReader, stop func()) {
	next, stop := iter.Pull(records)
	return &recordReader{next: next}, stop
}

// Read implements io.Reader.
func (r *recordReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		record, ok := r.next()
		if !ok {
			return 0, io.EOF
		}
		r.rest = append(r.rest[:0:0], record...)
		r.rest = append(r.rest, '\n')
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// peak is the most memory that a process asked for while something ran.
type peak struct{ bytes uint64 }

func (p *peak) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.bytes = max(p.bytes, m.HeapInuse)
}

// BenchmarkLarge imports records of 2 KB as they come, and opens the store:
//
//	go test ./internal/ingest -run '^$' -bench Large -benchtime 1x -million
//
// It tells the most memory in use while all is read and stored, and while the
// index is loaded. Making the records takes its part of the time of an import.
func BenchmarkLarge(b *testing.B) {
	sizes := []int{10_000, 100_000}
	if *million {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("import/n=%d", n), func(b *testing.B) {
			var most uint64
			for i := 0; b.Loop(); i++ {
				most = max(most, importLarge(b, filepath.Join(b.TempDir(), fmt.Sprint(i)), n))
			}
			report(b, n, most)
		})
		b.Run(fmt.Sprintf("open/n=%d", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "store")
			importLarge(b, path, n)
			var p peak
			for b.Loop() {
				log, err := boltstore.Open(path, boltstore.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := New(b.Context(), log, nil, func(int, int) { p.look() }); err != nil {
					b.Fatal(err)
				}
				if err := log.Close(); err != nil {
					b.Fatal(err)
				}
			}
			report(b, n, p.bytes)
		})
	}
}

func report(b *testing.B, records int, peak uint64) {
	b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
}

// importLarge imports n records into a new store and gives the most memory in
// use.
func importLarge(b *testing.B, path string, n int) uint64 {
	b.Helper()
	log, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	records, stop := newRecordReader(fixture.Records(1, n, fixture.Lite))
	defer stop()
	var p peak
	report, err := ingesterOf(b, log).Import(b.Context(), []Source{{Name: "x", Reader: records}},
		Options{SpoolDir: b.TempDir(), OnProgress: func(Progress) { p.look() }})
	if err != nil || report.Created != n {
		b.Fatal(report, err)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	return p.bytes
}
