package analysis

import (
	"math"
	"slices"
)

// Caveat is a reason to read a distribution with care.
type Caveat uint8

// The caveats.
const (
	// TooFewForInterval: fewer than 6 known values, so that no pair of them
	// encloses the median with 95 % probability.
	TooFewForInterval Caveat = iota
	// MostlyUnknown: more values are unknown than known.
	MostlyUnknown
	// HeavyTailMeanMisleads: the mean is more than twice the median, so a few
	// long values dominate it.
	HeavyTailMeanMisleads
)

// Distribution describes a set of durations in seconds of which some are
// unknown. The zero-valued figures of an empty distribution mean nothing:
// look at Known first.
type Distribution struct {
	Known, Unknown int
	// Quantiles by linear interpolation between order statistics (type 7 of
	// Hyndman & Fan 1996).
	Min, P25, Median, P75, P90, Max float64
	// MedianInterval is the exact order-statistic 95 % interval of the
	// median; HasMedianInterval is false below 6 known values.
	MedianInterval    Interval
	HasMedianInterval bool
	Mean              float64
	// GeometricMean is over the values above zero; HasGeometricMean is false
	// where there are none.
	GeometricMean    float64
	HasGeometricMean bool
	Caveats          []Caveat

	sorted []float64
}

// NewDistribution describes known values, and how many are unknown. It keeps
// and sorts known.
func NewDistribution(known []float64, unknown int) Distribution {
	slices.Sort(known)
	n := len(known)
	d := Distribution{Known: n, Unknown: unknown, sorted: known}
	if n < 6 {
		d.Caveats = append(d.Caveats, TooFewForInterval)
	}
	if unknown > n {
		d.Caveats = append(d.Caveats, MostlyUnknown)
	}
	if n == 0 {
		return d
	}
	d.Min, d.Max = known[0], known[n-1]
	d.P25, d.Median, d.P75, d.P90 = quantile(known, 0.25), quantile(known, 0.5), quantile(known, 0.75), quantile(known, 0.9)
	if r := medianRank(n); r > 0 {
		d.MedianInterval, d.HasMedianInterval = Interval{known[r-1], known[n-r]}, true
	}
	var sum, logs float64
	positive := 0
	for _, x := range known { // ascending, so the sum does not depend on the order that the values came in
		sum += x
		if x > 0 {
			logs += math.Log(x)
			positive++
		}
	}
	d.Mean = sum / float64(n)
	if positive > 0 {
		g := math.Exp(logs / float64(positive))
		// Rounding must not put it outside of what it is the mean of.
		d.GeometricMean, d.HasGeometricMean = min(max(g, known[n-positive]), d.Max), true
	}
	if d.Mean > 2*d.Median {
		d.Caveats = append(d.Caveats, HeavyTailMeanMisleads)
	}
	return d
}

// quantile gives the p quantile of sorted values (Hyndman & Fan 1996, type 7).
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Bin counts the values from From (included) to To (excluded; the last bin
// includes it).
type Bin struct {
	From, To float64
	Count    int
}

// Histogram counts the known values in bins of equal width on a logarithmic
// scale between the smallest positive value and the largest. Values of zero
// are in a bin of their own, [0, smallest positive), before the others. Where
// all positive values are equal there is one bin for them.
func (d *Distribution) Histogram(bins int) []Bin {
	zeros, _ := slices.BinarySearchFunc(d.sorted, 0.0, func(x, _ float64) int {
		if x > 0 {
			return 1
		}
		return -1
	})
	positive := d.sorted[zeros:]
	var out []Bin
	if len(positive) == 0 {
		if zeros > 0 {
			out = append(out, Bin{0, 0, zeros})
		}
		return out
	}
	low, high := positive[0], positive[len(positive)-1]
	if zeros > 0 {
		out = append(out, Bin{0, low, zeros})
	}
	if low == high || bins < 2 {
		return append(out, Bin{low, high, len(positive)})
	}
	step := math.Log(high/low) / float64(bins)
	rest, from := positive, low
	for i := 1; i <= bins; i++ {
		to, count := high, len(rest)
		if i < bins {
			to = low * math.Exp(step*float64(i))
			count, _ = slices.BinarySearch(rest, to)
		}
		out = append(out, Bin{from, to, count})
		rest, from = rest[count:], to
	}
	return out
}
