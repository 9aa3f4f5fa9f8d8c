package analysis

import (
	"cmp"
	"context"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Facet counts the terms of one vocabulary over a set of incidents. Incidents
// is how many have at least one term and Without how many have none; they add
// up to the set. Assignments counts tags, of which an incident may have many.
type Facet struct {
	Vocabulary                      incident.Vocabulary
	Incidents, Assignments, Without int
	// Values are most used first, ties by slug; Omitted is how many more
	// there are.
	Values  []FacetValue
	Omitted int
}

// FacetValue is one term's part of a facet.
type FacetValue struct {
	Term      index.TermID
	Incidents int
	// Share is of all incidents of the set, with its Wilson interval.
	Share    float64
	Interval Interval
}

// Facets counts the terms of a vocabulary over set and keeps the top most used
// values (top < 0 keeps all).
func Facets(ctx context.Context, s *index.Snapshot, set index.Set, v incident.Vocabulary, top int) (Facet, error) {
	c := columnOf(s, GroupKey(v))
	counts, err := tally(ctx, set, c)
	if err != nil {
		return Facet{}, err
	}
	f := Facet{Vocabulary: v, Without: int(counts[noValue])}
	f.Incidents = set.Len() - f.Without
	var values []uint32
	for v, n := range counts {
		if n > 0 && v != noValue {
			f.Assignments += int(n)
			values = append(values, uint32(v))
		}
	}
	found := len(values)
	values = firstOf(values, top, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), c.compare(a, b))
	})
	f.Omitted = found - len(values)
	f.Values = make([]FacetValue, len(values))
	for i, v := range values {
		n := int(counts[v])
		f.Values[i] = FacetValue{
			Term: c.terms[v], Incidents: n,
			Share:    float64(n) / float64(set.Len()),
			Interval: Wilson(n, set.Len()),
		}
	}
	return f, nil
}

// Clock is a duration that incidents record.
type Clock uint8

// The clocks, both from the start of the incident.
const (
	DetectedAfter Clock = iota
	ResolvedAfter
)

// Of gives the clock's reading for one incident.
func (c Clock) Of(n *index.Node) incident.Duration {
	if c == DetectedAfter {
		return n.DetectedAfter
	}
	return n.ResolvedAfter
}

// Durations describes one clock over a set. Incidents whose duration is not
// recorded or cannot be read are counted as unknown.
func Durations(ctx context.Context, s *index.Snapshot, set index.Set, c Clock) (Distribution, error) {
	seconds := secondsOf(s, c)
	var known []float64
	err := chunks(ctx, set, func(ords []index.Ord) {
		for _, o := range ords {
			if x := seconds.of(o); x >= 0 {
				known = append(known, x)
			}
		}
	})
	if err != nil {
		return Distribution{}, err
	}
	return NewDistribution(known, set.Len()-len(known)), nil
}
