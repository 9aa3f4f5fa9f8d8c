package analysis_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/fixture"
	"incidentgraph/internal/index"
)

var million = flag.Bool("million", false, "benchmark indexes of a million incidents, too")

// BenchmarkSimilar finds the ten incidents most similar to random ones.
func BenchmarkSimilar(b *testing.B) {
	sizes := []int{1000, 10_000, 100_000}
	if *million {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		s := buildIndex(fixture.Incidents(1, n))
		factors := analysis.DefaultWeights()
		for _, tt := range []struct {
			name string
			q    analysis.SimilarQuery
		}{
			{"WeightedJaccard", analysis.SimilarQuery{Weights: factors}},
			{"WeightedJaccardTotal", analysis.SimilarQuery{Weights: factors, Count: true}},
			{"WeightedJaccardTotalFrom0.2", analysis.SimilarQuery{Weights: factors, Count: true, MinScore: 0.2}},
			{"WeightedJaccardAll", analysis.SimilarQuery{Weights: analysis.Weights{1, 0.5, 0.5, 0.25, 0.1, 0.1}}},
			{"Jaccard", analysis.SimilarQuery{Weights: factors, Measure: analysis.Jaccard}},
			{"Overlap", analysis.SimilarQuery{Weights: factors, Measure: analysis.Overlap}},
			{"OverlapAll", analysis.SimilarQuery{Weights: analysis.Weights{1, 1, 1}, Measure: analysis.Overlap}},
			{"Cosine", analysis.SimilarQuery{Weights: factors, Measure: analysis.Cosine}},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", tt.name, n), func(b *testing.B) { benchmarkSimilar(b, s, n, tt.q) })
		}
	}
}

func benchmarkSimilar(b *testing.B, s *index.Snapshot, n int, q analysis.SimilarQuery) {
	r := seeded(1)
	q.First = 10
	ctx := context.Background()
	cases := make([]*index.Node, 200)
	for i := range cases {
		cases[i] = s.Lookup(fixture.CaseID(r.IntN(n)))
	}
	if _, err := analysis.Similar(ctx, s, cases[0], q); err != nil { // weighs the terms
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	i := 0
	for b.Loop() {
		if _, err := analysis.Similar(ctx, s, cases[i%len(cases)], q); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkPages goes through the first five hundred results, fifty by fifty.
func BenchmarkPages(b *testing.B) {
	s := buildIndex(fixture.Incidents(1, 100_000))
	r := seeded(1)
	for b.Loop() {
		n := s.Lookup(fixture.CaseID(r.IntN(100_000)))
		q := analysis.SimilarQuery{Weights: analysis.DefaultWeights(), First: 50}
		for range 10 {
			page, err := analysis.Similar(context.Background(), s, n, q)
			if err != nil {
				b.Fatal(err)
			}
			if !page.HasNext {
				break
			}
			last := page.Hits[len(page.Hits)-1]
			q.After = &analysis.SimilarKey{Score: last.Score, ID: last.Node.ID}
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	s := buildIndex(fixture.Incidents(1, 10_000))
	r := seeded(1)
	b.ReportAllocs()
	for b.Loop() {
		here, there := s.Lookup(fixture.CaseID(r.IntN(10_000))), s.Lookup(fixture.CaseID(r.IntN(10_000)))
		analysis.Explain(s, here, there, analysis.WeightedJaccard, analysis.DefaultWeights())
	}
}
