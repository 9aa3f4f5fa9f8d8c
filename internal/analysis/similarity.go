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
	nodes := make([]*index.Node, len(r.Hits))
	for i := range nodes {
		nodes[i] = r.Hits[i].Node
	}
	index.Fetch(nodes)
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

type equalWeightsKey struct{}

// equalWeights gives the weight of each term, by TermID, where all weigh the
// same.
func equalWeights(s *index.Snapshot) []int64 {
	return s.Memo(equalWeightsKey{}, func() any { return slices.Repeat([]int64{fixed}, s.TermCount()) }).([]int64)
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
	termsOf *index.TermLists
	weighed []int64             // by TermID, as scorer.of has it
	places  func(index.Ord) int // by case id, roughly; nil while there are none
	*scratch

	// Of the parts only those count whose bound is floor or more and below done.
	floor, done float64

	best   best
	before int
	total  int
}

// scratch is the memory of one search.
type scratch struct {
	isHere     []int64 // by TermID: all bits where the case has the term, else 0
	candidates index.Words
	postings   [splits]*index.Words // of the divided terms in the block
	lists      [splits]index.Words  // bitmaps of postings that are lists
	parts      [splits]index.Words
	classes    [incident.VocabularyCount]index.Words
	list       index.Words
	evaluated  [fewCandidates]index.Ord
}

type scratchKey struct{}

func (f *search) run(ctx context.Context) error {
	pool := f.s.Memo(scratchKey{}, func() any {
		terms := f.s.TermCount()
		return &sync.Pool{New: func() any { return &scratch{isHere: make([]int64, terms)} }}
	}).(*sync.Pool)
	f.scratch = pool.Get().(*scratch)
	defer pool.Put(f.scratch)
	f.mark(-1)
	defer f.mark(0)
	f.order()
	f.termsOf = f.s.TermLists()
	f.weighed = f.idf
	if f.weighed == nil {
		f.weighed = equalWeights(f.s)
	}
	f.places = f.s.RoughPlaces()
	if f.query.ExcludeLinked {
		f.linked = f.s.Linked(f.node)
	}
	// First come those that share all terms, in all blocks: where they are
	// enough, the rest is done with; else it has more to compare with.
	floors := []float64{f.bound(f.rest[0]), 0}
	if f.measure == Overlap { // whose bound is always the same
		floors = floors[1:]
	}
	f.done = math.Inf(1)
	for _, f.floor = range floors {
		for block := range f.s.All().Blocks() {
			if err := ctx.Err(); err != nil {
				return err
			}
			f.block(block)
		}
		f.done = f.floor
	}
	return nil
}

func (f *search) mark(mask int64) {
	for _, t := range f.terms {
		f.isHere[t.id] = mask
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
	for j, t := range f.divided {
		f.postings[j] = f.s.Postings(t.id).Words(i, &f.lists[j])
	}
	p := part{block: i, members: f.candidatesIn(i)}
	if p.members != nil {
		p.n = p.members.Count()
	}
	if f.query.Count && f.query.MinScore <= 0 && f.floor == 0 {
		f.total += p.n // all that share a term have a score
	}
	f.divide(p)
}

// candidatesIn gives the incidents in a block that share a term and that the
// query wants; nil for everything, of which the terms will tell what shares
// any, so that no more of them are looked at than matter.
func (f *search) candidatesIn(i int) *index.Words {
	all := !f.query.Count && len(f.divided) == len(f.terms)
	if all && f.query.Within == nil && f.linked.Len() == 0 {
		return nil
	}
	f.candidates = index.Words{}
	if all {
		for j := range f.candidates {
			f.candidates[j] = ^uint64(0)
		}
	} else {
		for _, t := range f.terms {
			f.s.Postings(t.id).AddTo(i, &f.candidates)
		}
	}
	f.restrict(i)
	return &f.candidates
}

// restrict leaves out the candidates that the query does not want.
func (f *search) restrict(i int) {
	if own := int(f.node.Ord); own/index.BlockSize == i {
		f.candidates[own%index.BlockSize/64] &^= 1 << (own % 64)
	}
	if f.query.Within != nil {
		within := f.query.Within.Words(i, &f.list)
		if within == nil {
			f.candidates = index.Words{}
			return
		}
		for j := range f.candidates {
			f.candidates[j] &= within[j]
		}
	}
	if linked := f.linked.Words(i, &f.list); linked != nil {
		for j := range f.candidates {
			f.candidates[j] &^= linked[j]
		}
	}
}

// part is the candidates in a block that share the same ones of the first
// terms.
type part struct {
	block   int
	members *index.Words // nil: all, of which none has a term decided on
	n       int          // number of members where they are not nil
	decided int          // number of terms decided on
	shared  sums         // of those that the members share
	weight  float64      // of shared
}

// divide looks for results in a part: first among the members with the next
// term, then among those without.
func (f *search) divide(p part) {
	bound := f.bound(p.weight + f.rest[p.decided])
	if bound < f.floor || f.hopeless(bound) {
		return
	}
	switch {
	case p.members == nil && p.decided == len(f.divided): // they share nothing
		return
	case p.members != nil && p.n == 0:
		return
	case p.members != nil && (p.n <= fewCandidates || p.decided == len(f.divided)):
		if bound < f.done {
			f.evaluate(&p)
		}
		return
	}
	i := p.decided
	p.decided++
	posting := f.postings[i]
	if posting == nil {
		f.divide(p)
		return
	}
	f.divide(f.with(p, i, posting))
	if bound = f.bound(p.weight + f.rest[p.decided]); p.members == nil || bound < f.floor || f.hopeless(bound) {
		f.divide(p)
		return
	}
	without := p
	without.members, without.n = &f.parts[i], 0
	for j, word := range p.members {
		word &^= posting[j]
		without.members[j] = word
		without.n += bits.OnesCount64(word)
	}
	f.divide(without)
}

// with gives the members of a part that have the i-th term.
func (f *search) with(p part, i int, posting *index.Words) part {
	p.shared[f.divided[i].vocabulary] += f.divided[i].fixed
	p.weight += f.divided[i].weight
	if p.members == nil { // all those without a term before
		p.members, p.n = posting, f.s.Postings(f.divided[i].id).BlockLen(p.block)
		for _, before := range f.postings[:i] {
			if before == nil {
				continue
			}
			in := &f.parts[i]
			n := 0
			for j, word := range p.members {
				word &^= before[j]
				in[j] = word
				n += bits.OnesCount64(word)
			}
			p.members, p.n = in, n
		}
		return p
	}
	members := p.members
	p.members, p.n = &f.parts[i], 0
	for j, word := range members {
		word &= posting[j]
		p.members[j] = word
		p.n += bits.OnesCount64(word)
	}
	return p
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

// evaluate scores the members of a part one by one, or, where they are many and
// each term weighs 1, by how many terms they have: then that and what they share
// is all that the score depends on.
func (f *search) evaluate(p *part) {
	exact := p.decided == len(f.terms)
	if exact && f.idf == nil && p.n > 4*fewCandidates {
		f.evaluateClasses(p, p.members, 0, p.shared)
		return
	}
	list := f.evaluated[:0]
	for i, word := range p.members {
		for ; word != 0; word &= word - 1 {
			if len(list) == len(f.evaluated) {
				f.offerAll(list)
				list = list[:0]
			}
			list = append(list, index.Ord(p.block*index.BlockSize+i*64+bits.TrailingZeros64(word)))
		}
	}
	f.offerAll(list)
}

// offerAll scores incidents.
func (f *search) offerAll(list []index.Ord) {
	for _, v := range f.active {
		f.termsOf.Fetch(list, v)
	}
	for _, o := range list {
		f.offer(o, f.scoreOf(o))
	}
}

// evaluateClasses scores members of a part of which it is known what they
// share, and how many terms they have of the first i vocabularies: that is in
// there, with what they share of the others, which they have at least.
func (f *search) evaluateClasses(p *part, members *index.Words, i int, there sums) {
	score := f.score(&p.shared, &there) // of more terms it would be lower
	if f.hopeless(score) {
		return
	}
	if i == len(f.active) {
		for j, word := range members {
			for ; word != 0; word &= word - 1 {
				f.offer(index.Ord(p.block*index.BlockSize+j*64+bits.TrailingZeros64(word)), score)
			}
		}
		return
	}
	v := f.active[i]
	least := int(p.shared[v] / fixed)
	for _, n := range f.s.TermCounts(v) {
		if n < least {
			continue
		}
		class := f.s.WithTermCount(v, n).Words(p.block, &f.list)
		if class == nil {
			continue
		}
		in := &f.classes[i]
		any := uint64(0)
		for j, word := range members {
			in[j] = word & class[j]
			any |= in[j]
		}
		if there[v] = int64(n) * fixed; any != 0 {
			f.evaluateClasses(p, in, i+1, there)
		}
	}
}

// scoreOf scores an incident.
func (f *search) scoreOf(o index.Ord) float64 {
	var shared, there sums
	for _, v := range f.active {
		terms, wide := f.termsOf.Of(o, v)
		there[v], shared[v] = weigh(terms, f.weighed, f.isHere)
		if wide != nil {
			there[v], shared[v] = weigh(wide, f.weighed, f.isHere)
		}
	}
	return f.score(&shared, &there)
}

// weigh sums the weights of terms, and of those that are here: whose mask has
// all bits.
func weigh[T uint16 | index.TermID](terms []T, weights, isHere []int64) (all, here int64) {
	for _, t := range terms {
		x := weights[t]
		all += x
		here += x & isHere[t]
	}
	return all, here
}

// offer counts one candidate and keeps it if it is among the best.
func (f *search) offer(o index.Ord, score float64) {
	if score == 0 || score < f.query.MinScore || o == f.node.Ord {
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
	if f.best.full {
		if least := f.best.least(); score < least.Score || score == least.Score && f.isBehind(o, least.Node) {
			return
		}
	}
	f.best.add(SimilarHit{Node: f.s.Node(o), Score: score})
}

// isBehind tells, where that costs little, whether an incident comes after
// another by case id: of equal scores there may be very many.
func (f *search) isBehind(o index.Ord, other *index.Node) bool {
	return f.places != nil && f.places(o) > f.places(other.Ord)
}

func (h SimilarHit) compare(other SimilarHit) int {
	if h.Score != other.Score {
		return cmp.Compare(other.Score, h.Score)
	}
	return strings.Compare(h.Node.ID, other.Node.ID)
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
