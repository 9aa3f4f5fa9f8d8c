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
	t := newTester(s, set.Len())
	var err error
	if q.Term != nil {
		err = t.countTerm(ctx, set, *q.Term, q.Right, q.MinSupport)
	} else {
		err = t.countPairs(ctx, set, q.Left, q.Right, q.MinSupport)
	}
	if err != nil {
		return nil, err
	}
	if err := t.test(ctx); err != nil {
		return nil, err
	}
	return t.associations(q.First), nil
}

// tester collects pairs of terms and tests them together.
type tester struct {
	s     *index.Snapshot
	total int
	pairs []pair
}

func newTester(s *index.Snapshot, total int) *tester { return &tester{s: s, total: total} }

// pair is two terms that occur together.
type pair struct {
	left, right         index.TermID
	leftSlug, rightSlug string
	both, lefts, rights int
	strength            float64 // NPMI times both
	p, q                float64
}

// add adds a pair.
func (t *tester) add(p pair) {
	p.strength = npmi(p.both, p.lefts, p.rights, t.total) * float64(p.both)
	t.pairs = append(t.pairs, p)
}

// countPairs adds the pairs of the terms of two vocabularies.
func (t *tester) countPairs(ctx context.Context, set index.Set, left, right incident.Vocabulary, minSupport int) error {
	x := crossingOf(t.s, set, GroupKey(left), GroupKey(right))
	a, b := x.columns[0], x.columns[1]
	lefts, err := tally(ctx, set, a)
	if err != nil {
		return err
	}
	rights, err := tally(ctx, set, b)
	if err != nil {
		return err
	}
	same := left == right
	counts := newGrid(a.size(), b.size())
	var first, second []uint32
	err = chunks(ctx, set, func(ords []index.Ord) {
		for _, o := range ords {
			first, second = a.appendTo(first[:0], o), b.appendTo(second[:0], o)
			for k, i := range first {
				if !same {
					counts.addAll(i, second)
					continue
				}
				for _, j := range second[k+1:] { // each pair once
					counts.add(min(i, j), max(i, j))
				}
			}
		}
	})
	if err != nil {
		return err
	}
	counts.each(func(i, j uint32, n int) {
		if n < minSupport || i == noValue || j == noValue {
			return
		}
		if same && a.list[i] > a.list[j] {
			i, j = j, i
		}
		t.add(pair{
			left: a.terms[i], right: b.terms[j], leftSlug: a.list[i], rightSlug: b.list[j],
			both: n, lefts: int(lefts[i]), rights: int(rights[j]),
		})
	})
	return nil
}

// countTerm adds the pairs of one term with those of a vocabulary.
func (t *tester) countTerm(ctx context.Context, set index.Set, left index.TermID, right incident.Vocabulary, minSupport int) error {
	b := columnOf(t.s, GroupKey(right))
	rights, err := tally(ctx, set, b)
	if err != nil {
		return err
	}
	return t.countWith(ctx, set, left, b, rights, minSupport, []index.TermID{left})
}

// countWith adds the pairs of one term with those of a column that are not
// among except; rights are the column's counts over set.
func (t *tester) countWith(ctx context.Context, set index.Set, left index.TermID, b *column, rights []int32, minSupport int, except []index.TermID) error {
	with := set.And(t.s.Postings(left))
	both, err := tally(ctx, with, b)
	if err != nil {
		return err
	}
	slug := t.s.Term(left).Slug
	for j, n := range both {
		if j == noValue || int(n) < max(minSupport, 1) || slices.Contains(except, b.terms[j]) {
			continue
		}
		t.add(pair{
			left: left, right: b.terms[j], leftSlug: slug, rightSlug: b.list[j],
			both: int(n), lefts: with.Len(), rights: int(rights[j]),
		})
	}
	return nil
}

// test gives the pairs their p and q.
func (t *tester) test(ctx context.Context) error {
	logs := logFactorialsOf(t.s)
	p := make([]float64, len(t.pairs))
	for i, x := range t.pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p[i] = logs.fisherGreater(x.both, x.lefts, x.rights, t.total)
	}
	for i, q := range BenjaminiHochberg(p) {
		t.pairs[i].p, t.pairs[i].q = p[i], q
	}
	return nil
}

// associations gives the first pairs as associations, all where first is
// negative: the strongest first, then by slugs.
func (t *tester) associations(first int) []Association {
	pairs := firstOf(t.pairs, first, func(a, b pair) int {
		return cmp.Or(
			cmp.Compare(b.strength, a.strength),
			cmp.Compare(a.leftSlug, b.leftSlug),
			cmp.Compare(a.rightSlug, b.rightSlug))
	})
	list := make([]Association, len(pairs))
	for i, p := range pairs {
		list[i] = Association{
			Left: p.left, Right: p.right, Both: p.both, LeftCount: p.lefts, RightCount: p.rights, Total: t.total,
			Support:            float64(p.both) / float64(t.total),
			Confidence:         float64(p.both) / float64(p.lefts),
			ConfidenceInterval: Wilson(p.both, p.lefts),
			Lift:               lift(p.both, p.lefts, p.rights, t.total),
			NPMI:               npmi(p.both, p.lefts, p.rights, t.total),
			P:                  p.p,
			Q:                  p.q,
		}
	}
	return list
}

func lift(both, left, right, total int) float64 {
	return float64(both) * float64(total) / (float64(left) * float64(right))
}

func npmi(both, left, right, total int) float64 {
	if both == total {
		return 1
	}
	return math.Log(lift(both, left, right, total)) / -math.Log(float64(both)/float64(total))
}
