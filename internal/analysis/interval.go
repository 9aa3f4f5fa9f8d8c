package analysis

import "math"

// z95 is the 0.975 quantile of the standard normal distribution.
const z95 = 1.959963984540054

// Interval is a closed interval.
type Interval struct{ Low, High float64 }

// Wilson gives the 95 % score interval of a proportion of k among n (Wilson
// 1927): the interval that stays inside [0, 1] and is honest for small n and
// for proportions near 0 and 1. Without observations it is [0, 1].
func Wilson(k, n int) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	nf := float64(n)
	p := float64(k) / nf
	z2 := z95 * z95
	denominator := 1 + z2/nf
	center := (p + z2/(2*nf)) / denominator
	half := z95 * math.Sqrt(p*(1-p)/nf+z2/(4*nf*nf)) / denominator
	low, high := center-half, center+half
	// At the ends the bound is exact; rounding must not move it outside.
	if k <= 0 {
		low = 0
	}
	if k >= n {
		high = 1
	}
	return Interval{max(low, 0), min(high, 1)}
}

// medianRank gives the 1-based rank r such that the r-th smallest and the
// r-th largest of n values enclose the median of their distribution with a
// probability of at least 95 %, the narrowest such symmetric pair: the largest
// r with P(Binomial(n, 1/2) < r) ≤ 0.025 (exact order-statistic interval; see
// Conover, Practical Nonparametric Statistics, 1999, section 3.2). It gives 0
// where n is below 6 and no pair is wide enough.
func medianRank(n int) int {
	if n < 6 {
		return 0
	}
	// Sum the lower tail from its small end; log-space keeps 2^-n from
	// underflowing for large n.
	tail, r := 0.0, 0
	for k := range n {
		tail += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
		if tail > 0.025 {
			break
		}
		r = k + 1
	}
	return r
}

// logChoose gives ln of the binomial coefficient n over k.
func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

// logFactorial gives ln n!.
func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}
