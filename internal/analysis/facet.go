package analysis

import (
	"cmp"
	"context"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// checkEvery is how many incidents a loop handles between two looks at its
// context.
const checkEvery = 1 << 12

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
	f := Facet{Vocabulary: v}
	counts := newTally(s, v)
	err := eachNode(ctx, s, set, func(n *index.Node) {
		terms := n.Terms(v)
		if len(terms) > 0 {
			f.Incidents++
		}
		f.Assignments += len(terms)
		for _, t := range terms {
			counts.add(t)
		}
	})
	if err != nil {
		return Facet{}, err
	}
	f.Without = set.Len() - f.Incidents
	for _, t := range s.Terms(v) {
		if n := counts.of(t); n > 0 {
			f.Values = append(f.Values, FacetValue{
				Term: t, Incidents: n,
				Share:    float64(n) / float64(set.Len()),
				Interval: Wilson(n, set.Len()),
			})
		}
	}
	slices.SortFunc(f.Values, func(a, b FacetValue) int {
		if c := cmp.Compare(b.Incidents, a.Incidents); c != 0 {
			return c
		}
		return cmp.Compare(s.Term(a.Term).Slug, s.Term(b.Term).Slug)
	})
	if top >= 0 && len(f.Values) > top {
		f.Omitted = len(f.Values) - top
		f.Values = f.Values[:top]
	}
	return f, nil
}

// eachNode calls f for the incidents of set in ascending number and ends early
// with ctx's error.
func eachNode(ctx context.Context, s *index.Snapshot, set index.Set, f func(*index.Node)) error {
	left := checkEvery
	for o := range set.All() {
		if left--; left == 0 {
			left = checkEvery
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if n := s.Node(o); n != nil {
			f(n)
		}
	}
	return ctx.Err()
}

// tally counts terms of one vocabulary. Term numbers are dense over all
// vocabularies, so an array beats a map.
type tally []int32

func newTally(s *index.Snapshot, v incident.Vocabulary) tally {
	var most index.TermID
	for _, t := range s.Terms(v) {
		most = max(most, t)
	}
	return make(tally, most+1)
}

func (c tally) add(t index.TermID)    { c[t]++ }
func (c tally) of(t index.TermID) int { return int(c[t]) }

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
	var known []float64
	err := eachNode(ctx, s, set, func(n *index.Node) {
		if d := c.Of(n); d.Known {
			known = append(known, d.Seconds)
		}
	})
	if err != nil {
		return Distribution{}, err
	}
	return NewDistribution(known, set.Len()-len(known)), nil
}
