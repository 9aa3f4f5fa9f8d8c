package index_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/index"
)

// BenchmarkPath finds the three cheapest paths between two random incidents.
func BenchmarkPath(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		r := rand.New(rand.NewPCG(1, 1))
		ref := func() index.NodeRef {
			n := c.s.Lookup(fixture.CaseID(r.IntN(len(c.list))))
			return index.NodeRef{Kind: index.IncidentNode, N: uint32(n.Ord)}
		}
		visited, complete := 0, 0
		runs := 0
		for b.Loop() {
			q := index.PathQuery{From: ref(), To: ref(), MaxHops: 6, First: 3, MaxVisited: 1 << 40}
			if q.From == q.To {
				continue
			}
			got, err := c.s.Paths(context.Background(), q)
			if err != nil {
				b.Fatal(err)
			}
			runs++
			visited += got.Visited
			if got.Complete {
				complete++
			}
		}
		b.ReportMetric(float64(visited)/float64(runs), "visited/op")
	})
}
