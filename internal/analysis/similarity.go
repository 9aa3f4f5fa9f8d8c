// Package analysis computes similarity and statistics over incidents: pure
// functions of an index snapshot. Each formula names its source.
package analysis

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Measure is a similarity measure over weighted term sets. With A and B the
// terms of the two incidents and w(S) the sum of the weights of S:
type Measure uint8

// The measures. WeightedJaccard weighs each term by its idf; the others weigh
// each term 1. Every weight is multiplied by its vocabulary's weight.
const (
	// WeightedJaccard is w(A∩B) / w(A∪B) with idf weights ln(1 + (N−n+0.5)/(n+0.5))
	// (Robertson & Spärck Jones 1976, in the form that stays positive).
	WeightedJaccard Measure = iota
	// Jaccard is w(A∩B) / w(A∪B) (Jaccard 1912).
	Jaccard
	// Overlap is w(A∩B) / min(w(A), w(B)) (Szymkiewicz 1934, Simpson 1943).
	Overlap
	// Cosine is w(A∩B) / √(w(A)·w(B)) (Ochiai 1957).
	Cosine
)

// Weights holds the weight of each vocabulary, each finite and at least 0. A
// vocabulary that weighs less than 10⁻¹⁰⁰ of the heaviest counts as one of
// weight 0.
type Weights [incident.VocabularyCount]float64

// DefaultWeights counts contributing factors and nothing else.
func DefaultWeights() Weights {
	var w Weights
	w[incident.ContributingFactor] = 1
	return w
}

// SimilarQuery asks for the incidents most similar to one.
type SimilarQuery struct {
	Measure Measure
	Weights Weights
	// Within restricts the candidates, nil does not.
	Within *index.Set
	// MinScore leaves out lower scores; scores of zero are never listed.
	MinScore float64
	// ExcludeLinked leaves out incidents linked to the case directly.
	ExcludeLinked bool
	// First is the number of results wanted, After where to go on.
	First int
	After *SimilarKey
	// Count asks for Total; without it Total is -1.
	Count bool
}

// SimilarKey is a place in a result list: the score, then the case id.
type SimilarKey struct {
	Score float64
	ID    string
}

// SimilarResult is part of the list, highest score first, ties by case id.
type SimilarResult struct {
	Hits []SimilarHit
	// Before is how many results come before the first of Hits, so that the
	// rank of Hits[i] is Before+i+1.
	Before  int
	HasNext bool
	Total   int
}

// SimilarHit is one result.
type SimilarHit struct {
	Node  *index.Node
	Score float64
}

// Similar finds the incidents most similar to n. It ends early with ctx's
// error where ctx ends.
//
// It divides the candidates, 65,536 numbers at a time, by which of the case's
// heaviest terms they share, those that share most first, and leaves a part
// alone as soon as no member of it can reach the results: with S the weight
// that a part can share at most and W the weight of the case, the score is at
// most S/W (Jaccard) or √(S/W) (cosine).
func Similar(ctx context.Context, s *index.Snapshot, n *index.Node, q SimilarQuery) (SimilarResult, error) {
	f := search{scorer: newScorer(s, n, q.Measure, q.Weights), node: n, query: &q}
	f.best.k = min(max(q.First, 0), s.Len()) + 1
	if q.Count {
		f.total = 0
	} else {
		f.total = -1
	}
	if len(f.terms) > 0 {
		if err := f.run(ctx); err != nil {
			return SimilarResult{}, err
		}
	}
	r := SimilarResult{Hits: f.best.sorted(), Before: f.before, Total: f.total}
	if first := f.best.k - 1; len(r.Hits) > first {
		r.Hits, r.HasNext = r.Hits[:first], true
	}
	return r, nil
}

// fixed is the unit of fixed-point weights. Weights of terms are rounded to
// it and summed as integers, so that a sum is the same in whatever order.
const fixed = 1 << 40

type weightsKey struct{}

// informationWeights gives the idf weight of each term, by TermID, in fixed
// point.
func informationWeights(s *index.Snapshot) []int64 {
	return s.Memo(weightsKey{}, func() any {
		w := make([]int64, s.TermCount())
		total := float64(s.Len())
		for t := range w {
			n := float64(s.Postings(index.TermID(t)).Len())
			w[t] = int64(math.Round(math.Log1p((total-n+0.5)/(n+0.5)) * fixed))
		}
		return w
	}).([]int64)
}

// sums holds a sum of term weights for each vocabulary, in fixed point.
type sums [incident.VocabularyCount]int64

// scorer compares incidents with one.
type scorer struct {
	s       *index.Snapshot
	measure Measure
	weights Weights               // the largest is 1, for the measures do not depend on the scale
	active  []incident.Vocabulary // those of a weight other than 0
	idf     []int64               // by TermID; nil: each term weighs 1
	terms   []weighedTerm
	here    sums
	weight  float64 // of here
}

// weighedTerm is a term of the case, its weight in fixed point, and with its
// vocabulary's.
type weighedTerm struct {
	id         index.TermID
	vocabulary incident.Vocabulary
	fixed      int64
	weight     float64
}

func newScorer(s *index.Snapshot, n *index.Node, m Measure, w Weights) *scorer {
	c := &scorer{s: s, measure: m, weights: w.scaled()}
	if m == WeightedJaccard {
		c.idf = informationWeights(s)
	}
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		if c.weights[v] == 0 {
			continue
		}
		c.active = append(c.active, v)
		for _, t := range n.Terms(v) {
			x := c.of(t)
			c.here[v] += x
			c.terms = append(c.terms, weighedTerm{t, v, x, c.weights[v] * (float64(x) / fixed)})
		}
	}
	c.weight = c.combine(&c.here)
	return c
}

// scaled gives the weights divided by the largest.
func (w Weights) scaled() Weights {
	if most := slices.Max(w[:]); most > 0 {
		for v := range w {
			if w[v] /= most; !(w[v] >= 1e-100) {
				w[v] = 0
			}
		}
	}
	return w
}

// of gives the weight of a term within its vocabulary.
func (c *scorer) of(t index.TermID) int64 {
	if c.idf == nil {
		return fixed
	}
	return c.idf[t]
}

// combine adds the vocabularies up in their order. The conversion keeps the
// product from being fused with the sum, which would round differently on some
// processors.
func (c *scorer) combine(x *sums) float64 {
	sum := 0.0
	for _, v := range c.active {
		sum += float64(c.weights[v] * (float64(x[v]) / fixed))
	}
	return sum
}

// score gives the similarity of the case and an incident by the weight of the
// terms that they share and of the incident's.
func (c *scorer) score(shared, there *sums) float64 {
	both := c.combine(shared)
	if both == 0 {
		return 0
	}
	switch c.measure {
	case Overlap:
		return both / min(c.weight, c.combine(there))
	case Cosine:
		return both / math.Sqrt(c.weight*c.combine(there))
	}
	either := c.here
	for _, v := range c.active {
		either[v] += there[v] - shared[v]
	}
	return both / c.combine(&either)
}

// bound gives what the score is at most where the shared terms weigh at most
// shared; a little more, lest rounding hide a result.
func (c *scorer) bound(shared float64) float64 {
	const above = 1 + 1e-9
	switch {
	case shared == 0:
		return 0
	case c.measure == Overlap:
		return above
	case c.measure == Cosine:
		return math.Sqrt(shared/c.weight) * above
	}
	return shared / c.weight * above
}

const (
	// splits is by how many terms candidates are divided at most.
	splits = 16
	// fewCandidates is how many candidates are looked at one by one rather
	// than divided further.
	fewCandidates = 64
)

// search finds the best of one case's candidates.
type search struct {
	*scorer
	node    *index.Node
	query   *SimilarQuery
	linked  index.Set
	divided []weighedTerm       // the heaviest terms
	rest    [splits + 1]float64 // rest[i] is the weight of the terms from the i-th on
	totals  *totals
	columns [][]int64 // of the active vocabularies; nil while they do not pay
	*scratch

	best   best
	before int
	total  int
	visits int // nodes whose terms were read
}

// scratch is the memory of one search.
type scratch struct {
	isHere     []bool // by TermID: whether the case has the term
	candidates index.Words
	postings   [splits]*index.Words // of the divided terms in the block
	lists      [splits]index.Words  // bitmaps of postings that are lists
	parts      [splits]index.Words
}

type scratchKey struct{}

func (f *search) run(ctx context.Context) error {
	pool := f.s.Memo(scratchKey{}, func() any {
		terms := f.s.TermCount()
		return &sync.Pool{New: func() any { return &scratch{isHere: make([]bool, terms)} }}
	}).(*sync.Pool)
	f.scratch = pool.Get().(*scratch)
	defer pool.Put(f.scratch)
	f.mark(true)
	defer f.mark(false)
	f.order()
	f.totals = totalsOf(f.scorer)
	f.columns = f.totals.columns(f.active)
	defer func() { f.totals.visits.Add(int64(f.visits)) }()
	if f.query.ExcludeLinked {
		f.linked = f.s.Linked(f.node)
	}
	for block := range f.s.All().Blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.block(block)
	}
	return nil
}

func (f *search) mark(here bool) {
	for _, t := range f.terms {
		f.isHere[t.id] = here
	}
}

// order puts the heaviest terms first; of equal ones the rarer, then by
// number, which changes the work and not the result.
func (f *search) order() {
	slices.SortFunc(f.terms, func(a, b weighedTerm) int {
		return cmp.Or(
			cmp.Compare(b.weight, a.weight),
			cmp.Compare(f.s.Postings(a.id).Len(), f.s.Postings(b.id).Len()),
			cmp.Compare(a.id, b.id))
	})
	f.divided = f.terms[:min(splits, len(f.terms))]
	rest := 0.0
	for i := len(f.terms) - 1; i >= 0; i-- {
		rest += f.terms[i].weight
		if i <= splits {
			f.rest[i] = rest
		}
	}
}

// block searches one block of numbers.
func (f *search) block(i int) {
	f.candidates = index.Words{}
	for _, t := range f.terms {
		f.s.Postings(t.id).AddTo(i, &f.candidates)
	}
	f.restrict(i)
	n := f.candidates.Count()
	if f.query.Count && f.query.MinScore <= 0 {
		f.total += n // all that share a term have a score
	}
	for j, t := range f.divided {
		f.postings[j] = f.s.Postings(t.id).Words(i, &f.lists[j])
	}
	f.divide(part{block: i, members: &f.candidates, n: n})
}

// restrict leaves out the candidates that the query does not want.
func (f *search) restrict(i int) {
	if own := int(f.node.Ord); own/index.BlockSize == i {
		f.candidates[own%index.BlockSize/64] &^= 1 << (own % 64)
	}
	if f.query.Within != nil {
		within := f.query.Within.Words(i, &f.parts[0])
		if within == nil {
			f.candidates = index.Words{}
			return
		}
		for j := range f.candidates {
			f.candidates[j] &= within[j]
		}
	}
	if linked := f.linked.Words(i, &f.parts[0]); linked != nil {
		for j := range f.candidates {
			f.candidates[j] &^= linked[j]
		}
	}
}

// part is the candidates in a block that share the same ones of the first
// terms.
type part struct {
	block   int
	members *index.Words
	n       int     // number of members
	decided int     // number of terms decided on
	shared  sums    // of those that the members share
	weight  float64 // of shared
}

// divide looks for results in a part: first among the members with the next
// term, then among those without.
func (f *search) divide(p part) {
	if p.n == 0 || f.hopeless(f.bound(p.weight+f.rest[p.decided])) {
		return
	}
	if p.decided == len(f.divided) || p.n <= fewCandidates {
		f.evaluate(&p)
		return
	}
	i := p.decided
	p.decided++
	posting := f.postings[i]
	if posting == nil {
		f.divide(p)
		return
	}
	with, without := p, p
	with.members, with.n = &f.parts[i], 0
	with.shared[f.divided[i].vocabulary] += f.divided[i].fixed
	with.weight += f.divided[i].weight
	for j, word := range p.members {
		word &= posting[j]
		with.members[j] = word
		with.n += bits.OnesCount64(word)
	}
	f.divide(with)
	without.members, without.n = &f.parts[i], p.n-with.n
	for j, word := range p.members {
		without.members[j] = word &^ posting[j]
	}
	f.divide(without)
}

// hopeless tells whether no score up to bound can matter.
func (f *search) hopeless(bound float64) bool {
	if bound == 0 || bound < f.query.MinScore {
		return true
	}
	return !f.counts() && f.best.full && bound < f.best.least().Score
}

// counts tells whether the total needs every score.
func (f *search) counts() bool { return f.query.Count && f.query.MinScore > 0 }

// evaluate scores the members of a part one by one.
func (f *search) evaluate(p *part) {
	byColumn := f.columns != nil && len(f.divided) == len(f.terms)
	for i, word := range p.members {
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			o := index.Ord(p.block*index.BlockSize + i*64 + bit)
			if byColumn {
				f.offer(o, f.scoreColumn(p, o, i, bit))
			} else {
				f.offer(o, f.scoreNode(f.s.Node(o)))
			}
		}
	}
}

// scoreColumn scores a member of a part without reading its node: what it
// shares is in the postings, bit by bit, and the rest in the columns.
func (f *search) scoreColumn(p *part, o index.Ord, word, bit int) float64 {
	var there sums
	shared := p.shared
	for j := p.decided; j < len(f.divided); j++ {
		if posting := f.postings[j]; posting != nil {
			shared[f.divided[j].vocabulary] += f.divided[j].fixed & -int64(posting[word]>>bit&1)
		}
	}
	for i, v := range f.active {
		there[v] = f.columns[i][o]
	}
	return f.score(&shared, &there)
}

func (f *search) scoreNode(n *index.Node) float64 {
	f.visits++
	var shared, there sums
	for _, v := range f.active {
		for _, t := range n.Terms(v) {
			x := f.of(t)
			there[v] += x
			if f.isHere[t] {
				shared[v] += x
			}
		}
	}
	return f.score(&shared, &there)
}

// offer counts one candidate and keeps it if it is among the best.
func (f *search) offer(o index.Ord, score float64) {
	if score == 0 || score < f.query.MinScore {
		return
	}
	if f.counts() {
		f.total++
	}
	if after := f.query.After; after != nil {
		if score > after.Score || score == after.Score && f.s.CaseID(o) <= after.ID {
			f.before++
			return
		}
	}
	if f.best.full && score < f.best.least().Score {
		return
	}
	f.best.add(SimilarHit{Node: f.s.Node(o), Score: score})
}

// totals holds, when filled, the weight of every incident's terms by
// vocabulary and Ord. Most searches look at few incidents and read those
// themselves, so columns are filled only once the searches in a snapshot have
// read half as many as there are.
type totals struct {
	size   int
	visits atomic.Int64
	by     [incident.VocabularyCount]func() []int64
}

type totalsKey struct{ weighted bool }

func totalsOf(c *scorer) *totals {
	return c.s.Memo(totalsKey{c.idf != nil}, func() any {
		t := &totals{size: c.s.Len()}
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			t.by[v] = sync.OnceValue(func() []int64 { return c.column(v) })
		}
		return t
	}).(*totals)
}

func (t *totals) columns(of []incident.Vocabulary) [][]int64 {
	if t.visits.Load() < int64(t.size/2) {
		return nil
	}
	list := make([][]int64, len(of))
	for i, v := range of {
		list[i] = t.by[v]()
	}
	return list
}

// column weighs every incident's terms of one vocabulary.
func (c *scorer) column(v incident.Vocabulary) []int64 {
	column := make([]int64, c.s.All().Blocks()*index.BlockSize)
	for o := range c.s.All().All() {
		for _, t := range c.s.Node(o).Terms(v) {
			column[o] += c.of(t)
		}
	}
	return column
}

func (h SimilarHit) compare(other SimilarHit) int {
	return cmp.Or(cmp.Compare(other.Score, h.Score), strings.Compare(h.Node.ID, other.Node.ID))
}

// best keeps the k best of many results: up to 2k of them, cut back to k when
// there is no more room.
type best struct {
	k    int
	hits []SimilarHit
	full bool // there have been k results, and hits[:k] are sorted
}

// least gives a result that is no better than the k-th best so far.
func (b *best) least() SimilarHit { return b.hits[b.k-1] }

func (b *best) add(h SimilarHit) {
	if b.full && h.compare(b.least()) >= 0 {
		return
	}
	b.hits = append(b.hits, h)
	if len(b.hits) == b.k && !b.full || len(b.hits) == 2*b.k {
		b.hits = b.sorted()
		b.full = true
	}
}

// sorted gives the k best results, best first.
func (b *best) sorted() []SimilarHit {
	slices.SortFunc(b.hits, SimilarHit.compare)
	return b.hits[:min(b.k, len(b.hits))]
}

// Explanation shows how the similarity of two incidents comes about. The
// shares over all three lists add up to 1; the score can be recomputed from
// the weights.
type Explanation struct {
	Score                       float64
	Shared, OnlyHere, OnlyThere []WeightedTerm
	// Bits is the information content of the shared terms: Σ −log2(n/N).
	Bits float64
}

// WeightedTerm is one term's part.
type WeightedTerm struct {
	Term   index.TermID
	Weight float64
	Share  float64 // Weight / sum over all three lists; 0 where that is 0
	Count  int     // incidents with the term
}

// Explain compares two incidents. Terms are listed heaviest first, then by
// vocabulary and slug; those of weight 0 are left out.
func Explain(s *index.Snapshot, here, there *index.Node, m Measure, w Weights) Explanation {
	a, b := newScorer(s, here, m, w), newScorer(s, there, m, w)
	isHere, isThere := a.has(), b.has()
	var e Explanation
	var shared sums
	either := a.here
	for _, t := range a.terms {
		if isThere[t.id] {
			shared[t.vocabulary] += t.fixed
			e.Shared = append(e.Shared, a.explain(t, w))
		} else {
			e.OnlyHere = append(e.OnlyHere, a.explain(t, w))
		}
	}
	for _, t := range b.terms {
		if !isHere[t.id] {
			either[t.vocabulary] += t.fixed
			e.OnlyThere = append(e.OnlyThere, a.explain(t, w))
		}
	}
	e.Score = a.score(&shared, &b.here)
	for _, list := range [][]WeightedTerm{e.Shared, e.OnlyHere, e.OnlyThere} {
		for i := range list {
			list[i].Share /= a.combine(&either)
		}
		slices.SortFunc(list, func(x, y WeightedTerm) int {
			tx, ty := s.Term(x.Term), s.Term(y.Term)
			return cmp.Or(
				cmp.Compare(y.Weight, x.Weight),
				cmp.Compare(tx.Vocabulary, ty.Vocabulary),
				strings.Compare(tx.Slug, ty.Slug))
		})
	}
	for _, t := range e.Shared {
		e.Bits += InformationContent(t.Count, s.Len())
	}
	return e
}

func (c *scorer) has() map[index.TermID]bool {
	m := make(map[index.TermID]bool, len(c.terms))
	for _, t := range c.terms {
		m[t.id] = true
	}
	return m
}

// explain gives a term's part, with the weights as they were given; Share is
// still to be divided by the sum.
func (c *scorer) explain(t weighedTerm, w Weights) WeightedTerm {
	return WeightedTerm{
		Term:   t.id,
		Weight: w[t.vocabulary] * (float64(t.fixed) / fixed),
		Share:  t.weight,
		Count:  c.s.Postings(t.id).Len(),
	}
}

// InformationContent gives −log2 of the share of incidents that have the
// term, in bits (Shannon 1948); a term that none has counts as if one had it,
// and an empty store gives 0.
func InformationContent(count, total int) float64 {
	if total < 1 {
		return 0
	}
	return max(0, math.Log2(float64(total)/float64(max(count, 1))))
}
