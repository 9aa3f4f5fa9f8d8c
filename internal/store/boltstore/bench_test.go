package boltstore_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// The sizes of an import: a batch of records as long as a case written in
// full.
const (
	benchBatch  = 512
	benchRecord = 20_000
)

// benchChange makes a batch of records with new ids. Sorted ids come as from
// an export, others as from a folder of case files.
func benchChange(n int, sorted bool) store.Change {
	random := rand.New(rand.NewPCG(uint64(n), 10))
	c := store.Change{Time: time.Unix(int64(n), 0), RequestID: fmt.Sprint("bench-", n)}
	for i := range benchBatch {
		id := fmt.Sprintf("IL-%010d", n*benchBatch+i)
		if !sorted {
			id = fmt.Sprintf("IL-%08x-%010d", random.Uint32(), n*benchBatch+i)
		}
		record := make([]byte, benchRecord)
		for j := 0; j < len(record); j += 8 {
			copy(record[j:], fmt.Sprintf("%08x", random.Uint32()))
		}
		c.Ops = append(c.Ops, store.Op{Kind: store.Put, ID: id, Record: record})
	}
	return c
}

// benchStore makes a store of some batches and gives the ids.
func benchStore(b *testing.B, batches int) (s *boltstore.Store, ids []string) {
	b.Helper()
	s, err := boltstore.Open(filepath.Join(b.TempDir(), "store.db"), boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	p, err := s.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for n := range batches {
		c := benchChange(n, true)
		if p, err = s.Append(b.Context(), p, c); err != nil {
			b.Fatal(err)
		}
		for _, op := range c.Ops {
			ids = append(ids, op.ID)
		}
	}
	return s, ids
}

func BenchmarkAppend(b *testing.B) {
	for _, sorted := range []bool{true, false} {
		b.Run(fmt.Sprintf("sorted=%v", sorted), func(b *testing.B) {
			s, _ := benchStore(b, 0)
			p, err := s.Head(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(benchBatch * benchRecord)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				b.StopTimer()
				c := benchChange(n, sorted)
				n++
				b.StartTimer()
				if p, err = s.Append(b.Context(), p, c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*benchBatch)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkGet(b *testing.B) {
	s, ids := benchStore(b, 20)
	snapshot, err := s.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := snapshot.Close(); err != nil {
			b.Errorf("Snapshot.Close() = %v", err)
		}
	}()
	b.SetBytes(benchRecord)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := snapshot.Get(ids[n*7919%len(ids)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s, _ := benchStore(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		snapshot, err := s.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := snapshot.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	s, ids := benchStore(b, 20)
	snapshot, err := s.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := snapshot.Close(); err != nil {
			b.Errorf("Snapshot.Close() = %v", err)
		}
	}()
	b.SetBytes(int64(len(ids) * benchRecord))
	n := 0
	for b.Loop() {
		for _, err := range snapshot.Records() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkOpen opens a store: the structure of the whole file is read.
func BenchmarkOpen(b *testing.B) {
	s, ids := benchStore(b, 20)
	path := s.Path()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		s, err := boltstore.Open(path, boltstore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n*len(ids))/b.Elapsed().Seconds(), "records/s")
}
