package index

import (
	"testing"

	"incidentgraph/internal/fixture"
)

// BenchmarkPairs counts the pairs of terms of 100,000 incidents, and again after
// a change of one.
func BenchmarkPairs(b *testing.B) {
	batch := New(nil).Batch()
	for _, inc := range fixture.Incidents(1, 100_000) {
		batch.Put(inc, 1, 1)
	}
	s := batch.Commit(1)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			s.countPairs()
		}
		b.ReportMetric(float64(s.Len())*float64(b.N)/b.Elapsed().Seconds(), "incidents/s")
	})
	b.Run("after one change", func(b *testing.B) {
		old := s.pairCounts()
		for b.Loop() {
			old.derive(s, []Ord{7})
		}
	})
}
