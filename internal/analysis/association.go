package analysis

import (
	"cmp"
	"context"
	"math"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Association says how often two terms occur together in a set of incidents,
// and whether that is more than chance. It is no evidence of cause.
type Association struct {
	Left, Right index.TermID
	// Both, LeftCount, RightCount and Total count incidents of the set.
	Both, LeftCount, RightCount, Total int
	// Support is Both/Total (Agrawal et al. 1993).
	Support float64
	// Confidence is Both/LeftCount, the share of the left term's incidents
	// that have the right one (Agrawal et al. 1993), with its Wilson interval.
	Confidence         float64
	ConfidenceInterval Interval
	// Lift is P(both) / (P(left)·P(right)) (Brin et al. 1997, there called
	// interest): 1 where the terms are independent.
	Lift float64
	// NPMI is ln(Lift) / −ln(P(both)) (Bouma 2009): 1 where the terms only
	// occur together, 0 where they are independent, below 0 where they avoid
	// each other. It is 1 where every incident has both.
	NPMI float64
	// P is the one-sided Fisher exact p; Q the same after
	// Benjamini–Hochberg over all pairs tested.
	P, Q float64
}

// AssociationQuery asks for the associations between two vocabularies.
type AssociationQuery struct {
	Left, Right incident.Vocabulary
	// Term restricts the left side to one term; nil does not.
	Term *index.TermID
	// MinSupport leaves out pairs that occur together in fewer incidents;
	// they are not tested. Below 1 counts as 1.
	MinSupport int
	// First is how many associations are wanted; negative wants all.
	First int
}

// Associations finds the associations over the incidents of set: highest NPMI
// times Both first, then by the left and the right slug. Within one vocabulary
// each unordered pair is there once, the smaller slug left, unless Term names
// the left side.
func Associations(ctx context.Context, s *index.Snapshot, set index.Set, q AssociationQuery) ([]Association, error) {
	left, right, pairs, err := countPairs(ctx, s, set, q)
	if err != nil {
		return nil, err
	}
	total := set.Len()
	list := make([]Association, 0, len(pairs))
	for _, p := range pairs {
		if p.both < max(q.MinSupport, 1) {
			continue
		}
		list = append(list, associate(p, left.of(p.left), right.of(p.right), total))
	}
	// A defined order before the correction keeps its result the same to the
	// last bit, whatever order the pairs were counted in.
	slug := func(t index.TermID) string { return s.Term(t).Slug }
	slices.SortFunc(list, func(a, b Association) int {
		return cmp.Or(
			cmp.Compare(b.NPMI*float64(b.Both), a.NPMI*float64(a.Both)),
			cmp.Compare(slug(a.Left), slug(b.Left)),
			cmp.Compare(slug(a.Right), slug(b.Right)))
	})
	p := make([]float64, len(list))
	for i, a := range list {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p[i] = FisherGreater(a.Both, a.LeftCount, a.RightCount, a.Total)
	}
	for i, v := range BenjaminiHochberg(p) {
		list[i].P, list[i].Q = p[i], v
	}
	if q.First >= 0 && len(list) > q.First {
		list = slices.Clip(list[:q.First])
	}
	return list, nil
}

// Associate compares two terms over set; Q is left 0 since one pair alone is
// tested by whoever asks for it.
func associate(p pair, left, right, total int) Association {
	a := Association{Left: p.left, Right: p.right, Both: p.both, LeftCount: left, RightCount: right, Total: total}
	n := float64(total)
	pb := float64(p.both) / n
	a.Support = pb
	a.Confidence = float64(p.both) / float64(left)
	a.ConfidenceInterval = Wilson(p.both, left)
	a.Lift = float64(p.both) * n / (float64(left) * float64(right))
	if p.both == total {
		a.NPMI = 1
	} else {
		a.NPMI = math.Log(a.Lift) / -math.Log(pb)
	}
	return a
}

// pair is two terms and the number of incidents with both.
type pair struct {
	left, right index.TermID
	both        int
}

// maxMatrix bounds the cells of the counting matrix; beyond it a map counts.
const maxMatrix = 1 << 22

// countPairs counts, over the incidents of set, the terms of both sides and
// the pairs that occur together.
func countPairs(ctx context.Context, s *index.Snapshot, set index.Set, q AssociationQuery) (left, right tally, pairs []pair, err error) {
	left, right = newTally(s, q.Left), newTally(s, q.Right)
	column := newTally(s, q.Right) // place of a right term in a row
	for i, t := range s.Terms(q.Right) {
		column[t] = int32(i) //nolint:gosec // fewer terms than 2^31
	}
	row := newTally(s, q.Left)
	rows := s.Terms(q.Left)
	if q.Term != nil {
		rows = []index.TermID{*q.Term}
	}
	for i := range row {
		row[i] = -1
	}
	for i, t := range rows {
		row[t] = int32(i) //nolint:gosec // fewer terms than 2^31
	}
	width := len(s.Terms(q.Right))
	count, collect := newPairCounter(len(rows), width)
	same := q.Left == q.Right && q.Term == nil
	err = eachNode(ctx, s, set, func(n *index.Node) {
		a, b := n.Terms(q.Left), n.Terms(q.Right)
		for _, t := range a {
			left.add(t)
		}
		for _, t := range b {
			right.add(t)
		}
		for i, x := range a {
			if row[x] < 0 {
				continue
			}
			for j, y := range b {
				if x == y || same && j <= i {
					continue
				}
				count(int(row[x]), int(column[y]))
			}
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	columns := s.Terms(q.Right)
	seen := map[[2]index.TermID]int{} // within one vocabulary (x, y) and (y, x) are one pair
	collect(func(r, c, both int) {
		p := pair{rows[r], columns[c], both}
		if !same {
			pairs = append(pairs, p)
			return
		}
		if s.Term(p.left).Slug > s.Term(p.right).Slug {
			p.left, p.right = p.right, p.left
		}
		key := [2]index.TermID{p.left, p.right}
		if i, ok := seen[key]; ok {
			pairs[i].both += both
			return
		}
		seen[key] = len(pairs)
		pairs = append(pairs, p)
	})
	return left, right, pairs, nil
}

// newPairCounter counts cells of a matrix: in an array where it is small, in a
// map otherwise. collect calls f for each cell that was counted.
func newPairCounter(rows, width int) (count func(r, c int), collect func(f func(r, c, n int))) {
	if rows*width <= maxMatrix {
		cells := make([]int32, rows*width)
		return func(r, c int) { cells[r*width+c]++ }, func(f func(r, c, n int)) {
			for i, n := range cells {
				if n > 0 {
					f(i/width, i%width, int(n))
				}
			}
		}
	}
	cells := map[uint64]int{}
	return func(r, c int) { cells[uint64(r)<<32|uint64(c)]++ }, func(f func(r, c, n int)) { //nolint:gosec // places in slices
		for k, n := range cells {
			f(int(k>>32), int(k&math.MaxUint32), n) //nolint:gosec // as above
		}
	}
}
