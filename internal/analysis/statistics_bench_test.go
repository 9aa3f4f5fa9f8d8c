package analysis_test

import (
	"context"
	"testing"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// BenchmarkStatistics computes over all of 100,000 incidents and over a
// scattered tenth of them.
//
//	go test ./internal/analysis -run '^$' -bench Statistics
func BenchmarkStatistics(b *testing.B) {
	s := buildIndex(fixture.Incidents(1, 100_000))
	r := seeded(1)
	var ords []index.Ord
	for o := range s.All().All() {
		if r.IntN(10) == 0 {
			ords = append(ords, o)
		}
	}
	ctx := context.Background()
	factor, component := analysis.ByContributingFactor, analysis.ByComponent
	for _, set := range []struct {
		name string
		index.Set
	}{{"all", s.All()}, {"tenth", index.SetOf(ords...)}} {
		for _, tt := range []struct {
			name string
			run  func() error
		}{
			{"facets of six vocabularies", func() error {
				for v := range incident.Vocabulary(incident.VocabularyCount) {
					if _, err := analysis.Facets(ctx, s, set.Set, v, 20); err != nil {
						return err
					}
				}
				return nil
			}},
			{"groups by factor", func() error {
				_, err := analysis.GroupBy(ctx, s, set.Set, analysis.GroupQuery{By: []analysis.GroupKey{factor}, First: 20})
				return err
			}},
			{"groups by factor and component", func() error {
				_, err := analysis.GroupBy(ctx, s, set.Set, analysis.GroupQuery{By: []analysis.GroupKey{factor, component}, First: 20})
				return err
			}},
			{"groups by org and month", func() error {
				_, err := analysis.GroupBy(ctx, s, set.Set, analysis.GroupQuery{By: []analysis.GroupKey{analysis.ByOrg, analysis.ByMonth}, First: 20})
				return err
			}},
			{"groups by year and region, with members", func() error {
				g, err := analysis.GroupBy(ctx, s, set.Set, analysis.GroupQuery{By: []analysis.GroupKey{analysis.ByYear, analysis.ByRegion}, First: 20})
				if err != nil {
					return err
				}
				_, err = g.Members(ctx, 0)
				return err
			}},
			{"series by year and factor", func() error {
				_, err := analysis.Series(ctx, s, set.Set, analysis.ByYear, &factor)
				return err
			}},
			{"durations", func() error {
				_, err := analysis.Durations(ctx, s, set.Set, analysis.ResolvedAfter)
				return err
			}},
			{"associations of factors", func() error {
				_, err := analysis.Associations(ctx, s, set.Set, analysis.AssociationQuery{
					Left: incident.ContributingFactor, Right: incident.ContributingFactor, First: 20,
				})
				return err
			}},
			{"associations of factor and component", func() error {
				_, err := analysis.Associations(ctx, s, set.Set, analysis.AssociationQuery{
					Left: incident.ContributingFactor, Right: incident.Component, First: 20,
				})
				return err
			}},
		} {
			b.Run(tt.name+"/"+set.name, func(b *testing.B) {
				if err := tt.run(); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := tt.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStatisticsAfterWrite computes the first facets of a snapshot, which
// lay the values of all incidents out flat.
func BenchmarkStatisticsAfterWrite(b *testing.B) {
	list := fixture.Incidents(1, 100_000)
	x := index.New(nil)
	batch := x.Batch()
	for _, inc := range list {
		batch.Put(inc, 1, 1)
	}
	batch.Commit(1)
	revision := uint64(1)
	for b.Loop() {
		b.StopTimer()
		revision++
		batch := x.Batch()
		batch.Put(list[revision%1000], revision, revision)
		s := batch.Commit(revision)
		b.StartTimer()
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			if _, err := analysis.Facets(context.Background(), s, s.All(), v, 20); err != nil {
				b.Fatal(err)
			}
		}
	}
}
