package analysis

import (
	"math"
	"slices"
)

// FisherGreater gives the one-sided p value of Fisher's exact test (Fisher
// 1935): the probability that at least both of total incidents have two terms
// with left and right incidents each, if the terms were independent (the upper
// tail of the hypergeometric distribution). The counts must be possible:
// both ≤ left, right ≤ total and left + right − both ≤ total.
func FisherGreater(both, left, right, total int) float64 {
	lowest := max(0, left+right-total)
	highest := min(left, right)
	if both <= lowest {
		return 1
	}
	// Sum the tail that is away from the mode; terms fall fast on that side.
	mode := (left + 1) * (right + 1) / (total + 2)
	if both > mode {
		return min(hypergeometricUp(both, highest, left, right, total), 1)
	}
	return max(0, 1-hypergeometricDown(both-1, lowest, left, right, total))
}

// logHypergeometric gives ln P(X = k).
func logHypergeometric(k, left, right, total int) float64 {
	return logChoose(right, k) + logChoose(total-right, left-k) - logChoose(total, left)
}

// hypergeometricUp sums P(X = k) for k from from up to to, each term from the
// one before by the ratio of neighboring probabilities.
func hypergeometricUp(from, to, left, right, total int) float64 {
	term := math.Exp(logHypergeometric(from, left, right, total))
	sum := term
	for k := from; k < to && term > sum*1e-17; k++ {
		term *= float64(right-k) * float64(left-k) / (float64(k+1) * float64(total-right-left+k+1))
		sum += term
	}
	return sum
}

// hypergeometricDown sums P(X = k) for k from from down to to.
func hypergeometricDown(from, to, left, right, total int) float64 {
	term := math.Exp(logHypergeometric(from, left, right, total))
	sum := term
	for k := from; k > to && term > sum*1e-17; k-- {
		term *= float64(k) * float64(total-right-left+k) / (float64(right-k+1) * float64(left-k+1))
		sum += term
	}
	return sum
}

// BenjaminiHochberg gives for each p value the smallest false discovery rate
// at which its hypothesis would be rejected among all of them (Benjamini &
// Hochberg 1995): q(i) = min over j ≥ i of p(j)·m/j in ascending order of p.
func BenjaminiHochberg(p []float64) []float64 {
	m := len(p)
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	q := make([]float64, m)
	least := 1.0
	for rank := m; rank >= 1; rank-- {
		i := order[rank-1]
		least = min(least, p[i]*(float64(m)/float64(rank)))
		q[i] = least
	}
	return q
}
