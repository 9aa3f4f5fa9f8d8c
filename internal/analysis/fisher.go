package analysis

import (
	"math"
	"slices"

	"incidentgraph/internal/index"
)

// FisherGreater gives the one-sided p value of Fisher's exact test (Fisher
// 1935): the probability that at least both of total incidents have two terms
// with left and right incidents each, if the terms were independent (the upper
// tail of the hypergeometric distribution). The counts must be possible:
// both ≤ left, right ≤ total and left + right − both ≤ total.
func FisherGreater(both, left, right, total int) float64 {
	return logFactorials(nil).fisherGreater(both, left, right, total)
}

// logFactorials holds ln n!, as far as it goes.
type logFactorials []float64

type logFactorialsKey struct{}

// logFactorialsOf gives those up to the number of incidents, which is what
// tests over a snapshot need.
func logFactorialsOf(s *index.Snapshot) logFactorials {
	return s.Memo(logFactorialsKey{}, func() any {
		logs := make(logFactorials, s.Len()+1)
		for n := range logs {
			logs[n] = logFactorial(n)
		}
		return logs
	}).(logFactorials)
}

func (l logFactorials) of(n int) float64 {
	if n < len(l) {
		return l[n]
	}
	return logFactorial(n)
}

// choose gives ln of the binomial coefficient n over k.
func (l logFactorials) choose(n, k int) float64 { return l.of(n) - l.of(k) - l.of(n-k) }

func (l logFactorials) fisherGreater(both, left, right, total int) float64 {
	h := hypergeometric{left: left, right: right, total: total}
	lowest, highest := max(0, left+right-total), min(left, right)
	if both <= lowest {
		return 1
	}
	// Sum the tail that is away from the mode; terms fall fast on that side.
	if mode := (left + 1) * (right + 1) / (total + 2); both > mode {
		return min(h.up(h.probability(l, both), both, highest), 1)
	}
	return max(0, 1-h.down(h.probability(l, both-1), both-1, lowest))
}

// hypergeometric is the distribution of how many incidents have both terms.
type hypergeometric struct{ left, right, total int }

// probability gives P(X = k).
func (h hypergeometric) probability(l logFactorials, k int) float64 {
	return math.Exp(l.choose(h.right, k) + l.choose(h.total-h.right, h.left-k) - l.choose(h.total, h.left))
}

// negligible is the part of a sum from which on further terms change it no
// more.
const negligible = 1e-17

// up sums P(X = k) for k from from, where it is term, up to to, each term from
// the one before by the ratio of neighboring probabilities.
func (h hypergeometric) up(term float64, from, to int) float64 {
	sum := term
	for k := from; k < to && term > sum*negligible; k++ {
		term *= float64(h.right-k) * float64(h.left-k) / (float64(k+1) * float64(h.total-h.right-h.left+k+1))
		sum += term
	}
	return sum
}

// down sums P(X = k) for k from from down to to, likewise.
func (h hypergeometric) down(term float64, from, to int) float64 {
	sum := term
	for k := from; k > to && term > sum*negligible; k-- {
		term *= float64(k) * float64(h.total-h.right-h.left+k) / (float64(h.right-k+1) * float64(h.left-k+1))
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
