package search

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// batchSize is the number of incidents of a commit in the benchmarks.
const batchSize = 2000

// built makes an index of n generated incidents on disk.
func built(b *testing.B, dir string, n int) *readable {
	b.Helper()
	ix := opened(b, dir, libraryConcepts(b))
	g := newGenerator(b)
	batch := ix.NewBatch()
	for i := range n {
		batch.Put(g.incident(i))
		if batch.Len() == batchSize || i == n-1 {
			commit(b, batch, fmt.Sprint(i))
		}
	}
	return ix
}

func sizes(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n > 10_000 && testing.Short() {
				b.Skip("takes a minute")
			}
			f(b, n)
		})
	}
}

// BenchmarkBuild makes an index on disk; the generator's time is part of it.
func BenchmarkBuild(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		for b.Loop() {
			dir := b.TempDir()
			start := time.Now()
			ix := built(b, dir, n)
			b.ReportMetric(float64(n)/time.Since(start).Seconds(), "incidents/s")
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/float64(n), "heap-B/incident")
			closed(b, ix)
			b.ReportMetric(float64(diskBytes(b, dir))/float64(n), "disk-B/incident")
		}
	})
}

func diskBytes(b *testing.B, dir string) (n int64) {
	b.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f.Name()))
		if err != nil {
			b.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// BenchmarkSearch asks for a first page of 20 with its total.
func BenchmarkSearch(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		ix := built(b, b.TempDir(), n)
		defer closed(b, ix)
		for _, query := range []string{
			"host123", "service", "the", "metadata service", `"leap second"`, "certificate expired -azure",
			"title:outage database", "오류율", "서비스", "메타데이터 서비스", "데이터베이스 장애 조치", "재시도 폭풍", "-service",
		} {
			q := ParseQuery(query)
			b.Run(query, func(b *testing.B) {
				b.ReportAllocs()
				total := 0
				for b.Loop() {
					r, err := ix.Search(b.Context(), q, Options{First: 20})
					if err != nil {
						b.Fatal(err)
					}
					total = r.Total
				}
				b.ReportMetric(float64(total), "hits")
			})
		}
	})
}

// BenchmarkHighlight shows a query in one record of the starter library.
func BenchmarkHighlight(b *testing.B) {
	ix := memory(b, libraryConcepts(b))
	inc := libraryIncidents(b)[0]
	q := ParseQuery("metadata service 오류율 재시도")
	for b.Loop() {
		ix.Highlight(inc, q)
	}
}
