package analysis_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// similarModel scores every incident in floating point, straight from the
// definitions.
type similarModel struct {
	list    []*incident.Incident
	counts  map[incident.Term]float64 // incidents with the term
	measure analysis.Measure
	weights analysis.Weights
}

func newSimilarModel(list []*incident.Incident, m analysis.Measure, w analysis.Weights) *similarModel {
	x := &similarModel{list, make(map[incident.Term]float64), m, w}
	for _, inc := range list {
		for t := range termsOf(inc) {
			x.counts[t]++
		}
	}
	return x
}

func termsOf(inc *incident.Incident) map[incident.Term]bool {
	terms := make(map[incident.Term]bool)
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, x := range inc.Values(v) {
			terms[incident.Term{Vocabulary: v, Slug: x.Slug}] = true
		}
	}
	return terms
}

// weighed is termsOf without vocabularies of no weight.
func (x *similarModel) weighed(inc *incident.Incident) map[incident.Term]bool {
	terms := make(map[incident.Term]bool)
	for v, w := range x.weights {
		for _, value := range inc.Values(incident.Vocabulary(v)) {
			if w != 0 {
				terms[incident.Term{Vocabulary: incident.Vocabulary(v), Slug: value.Slug}] = true
			}
		}
	}
	return terms
}

func (x *similarModel) weight(t incident.Term) float64 {
	w := x.weights[t.Vocabulary]
	if x.measure == analysis.WeightedJaccard {
		n, total := x.counts[t], float64(len(x.list))
		w *= math.Log(1 + (total-n+0.5)/(n+0.5))
	}
	return w
}

func (x *similarModel) sum(terms map[incident.Term]bool) float64 {
	sum := 0.0
	for t := range terms {
		sum += x.weight(t)
	}
	return sum
}

func (x *similarModel) score(a, b *incident.Incident) float64 {
	ta, tb := x.weighed(a), x.weighed(b)
	shared, either := make(map[incident.Term]bool), make(map[incident.Term]bool)
	for t := range ta {
		either[t] = true
		if tb[t] {
			shared[t] = true
		}
	}
	for t := range tb {
		either[t] = true
	}
	both := x.sum(shared)
	if both == 0 {
		return 0
	}
	switch x.measure {
	case analysis.Overlap:
		return both / min(x.sum(ta), x.sum(tb))
	case analysis.Cosine:
		return both / math.Sqrt(x.sum(ta)*x.sum(tb))
	default:
		return both / x.sum(either)
	}
}

func areLinked(a, b *incident.Incident) bool {
	return slices.Contains(a.Related, b.ID) || slices.Contains(b.Related, a.ID) ||
		a.RecurrenceOf == b.ID || b.RecurrenceOf == a.ID
}

type scored struct {
	id    string
	score float64
}

func buildIndex(list []*incident.Incident) *index.Snapshot {
	b := index.New(nil).Batch()
	for _, inc := range list {
		b.Put(inc, 1, 1)
	}
	return b.Commit(1)
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0xa11)) }

func randomWeights(r *rand.Rand) analysis.Weights {
	if r.IntN(3) == 0 {
		return analysis.DefaultWeights()
	}
	var w analysis.Weights
	for v := range w {
		w[v] = []float64{0, 1, 0.5, 2, 0.1, r.Float64() * 10}[r.IntN(6)]
	}
	return w
}

const measures = 4

func TestSimilarAgainstModel(t *testing.T) {
	results := 0
	for seed := range uint64(60) {
		r := seeded(seed)
		list := fixture.Graph(r, 20+r.IntN(80))
		if seed%10 == 0 {
			list = fixture.Incidents(seed, 1500)
		}
		s := buildIndex(list)
		if seed%2 == 0 { // else there is no order of ids to look into
			orderIDs(s)
		}
		for range 8 {
			x := newSimilarModel(list, analysis.Measure(r.IntN(measures)), randomWeights(r))
			results += checkSimilar(t, r, x, s)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	if results < 5000 {
		t.Errorf("only %d results were compared", results)
	}
}

// orderIDs lets a snapshot make its order by case id.
func orderIDs(s *index.Snapshot) {
	s.Page(s.All(), []index.Order{{Field: index.ByCaseID}}, index.PageArgs{First: 1, Last: -1})
}

// checkSimilar pages through the whole list of a random query.
func checkSimilar(t *testing.T, r *rand.Rand, x *similarModel, s *index.Snapshot) int {
	t.Helper()
	here := x.list[r.IntN(len(x.list))]
	q := analysis.SimilarQuery{Measure: x.measure, Weights: x.weights, First: 1 + r.IntN(20), Count: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		q.MinScore = r.Float64() * 0.7
	}
	q.ExcludeLinked = r.IntN(2) == 0
	allowed := func(*incident.Incident) bool { return true }
	if r.IntN(2) == 0 {
		var ords []index.Ord
		in := make(map[string]bool)
		for _, inc := range x.list {
			if r.IntN(3) > 0 {
				in[inc.ID] = true
				ords = append(ords, s.Lookup(inc.ID).Ord)
			}
		}
		q.Within = new(index.Set)
		*q.Within = index.SetOf(ords...)
		allowed = func(inc *incident.Incident) bool { return in[inc.ID] }
	}
	want := make(map[string]float64)
	for _, inc := range x.list {
		score := x.score(here, inc)
		if inc != here && score > 0 && score >= q.MinScore && allowed(inc) && (!q.ExcludeLinked || !areLinked(here, inc)) {
			want[inc.ID] = score
		}
	}
	var got []scored
	for {
		page, err := analysis.Similar(context.Background(), s, s.Lookup(here.ID), q)
		if err != nil {
			t.Fatal(err)
		}
		if page.Before != len(got) {
			t.Errorf("Similar(%+v).Before = %d, want %d", q, page.Before, len(got))
		}
		if total := page.Total; q.Count && total != len(want) || !q.Count && total != -1 {
			t.Errorf("Similar(%+v).Total = %d, want %d", q, total, len(want))
		}
		for _, h := range page.Hits {
			got = append(got, scored{h.Node.ID, h.Score})
		}
		if !page.HasNext || len(page.Hits) == 0 {
			break
		}
		if len(page.Hits) != q.First {
			t.Errorf("Similar(%+v) gives %d results and has more", q, len(page.Hits))
		}
		last := page.Hits[len(page.Hits)-1]
		q.After = &analysis.SimilarKey{Score: last.Score, ID: last.Node.ID}
	}
	if !slices.IsSortedFunc(got, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	}) {
		t.Errorf("Similar(%+v) is not sorted: %v", q, got)
	}
	if len(got) != len(want) {
		t.Errorf("Similar(%+v) gives %d results, want %d", q, len(got), len(want))
	}
	for _, g := range got {
		if w, ok := want[g.id]; !ok || math.Abs(g.score-w) > 1e-9 {
			t.Errorf("Similar(%+v) gives %s the score %v, want %v", q, g.id, g.score, w)
		}
	}
	return len(got)
}

// TestSimilarManyBlocks has candidates in several blocks of numbers and, in
// one case, more terms than are divided by.
func TestSimilarManyBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 70,000 incidents")
	}
	list := fixture.Incidents(5, 70_000)
	wide := *list[100]
	for _, inc := range list[200:206] {
		wide.Contributing = slices.Concat(wide.Contributing, inc.Contributing)
	}
	list[100] = &wide
	s := buildIndex(list)
	for i, tt := range []struct {
		measure analysis.Measure
		here    *incident.Incident
	}{
		{analysis.WeightedJaccard, &wide},
		{analysis.WeightedJaccard, list[69_999]},
		{analysis.Jaccard, list[7]},
		{analysis.Overlap, list[69_999]},
		{analysis.Overlap, list[30_000]},
		{analysis.Cosine, list[30_000]},
		{analysis.Cosine, &wide},
	} {
		x := newSimilarModel(list, tt.measure, analysis.DefaultWeights())
		want := x.ranking(tt.here)
		if i%2 == 1 {
			orderIDs(s)
		}
		for _, q := range []analysis.SimilarQuery{{Count: true}, {}, {MinScore: 0.3, Count: true}, {First: 600}} {
			q.Measure, q.Weights, q.First = tt.measure, x.weights, max(q.First, 50)
			page, err := analysis.Similar(context.Background(), s, s.Lookup(tt.here.ID), q)
			if err != nil {
				t.Fatal(err)
			}
			total := slices.IndexFunc(want, func(x scored) bool { return x.score < q.MinScore })
			if total < 0 {
				total = len(want)
			}
			if q.Count && page.Total != total {
				t.Errorf("measure %d from %v: Total = %d, want %d", tt.measure, q.MinScore, page.Total, total)
			}
			if len(page.Hits) != min(total, q.First) {
				t.Errorf("measure %d: %d results, want %d", tt.measure, len(page.Hits), min(total, q.First))
			}
			for i, h := range page.Hits {
				if h.Node.ID != want[i].id || math.Abs(h.Score-want[i].score) > 1e-9 {
					t.Fatalf("measure %d: result %d is %s with %v, want %v", tt.measure, i, h.Node.ID, h.Score, want[i])
				}
			}
		}
	}
}

// ranking scores all incidents that share a factor, best first.
func (x *similarModel) ranking(here *incident.Incident) []scored {
	var r []scored
	for _, inc := range x.list {
		shares := slices.ContainsFunc(here.Contributing, func(v incident.Value) bool { return slices.Contains(inc.Contributing, v) })
		if inc != here && shares {
			r = append(r, scored{inc.ID, x.score(here, inc)})
		}
	}
	slices.SortFunc(r, func(a, b scored) int {
		if math.Abs(a.score-b.score) < 1e-9 { // rounding could part what ties exactly
			return cmp.Compare(a.id, b.id)
		}
		return cmp.Compare(b.score, a.score)
	})
	return r
}

func TestSimilarNoOrderOfArrival(t *testing.T) {
	r := seeded(6)
	list := fixture.Graph(r, 60)
	q := analysis.SimilarQuery{Weights: analysis.Weights{1, 0.3, 0.7, 0.2, 0.1, 0.9}, First: 100}
	var first []scored
	for range 5 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		s := buildIndex(list)
		page, err := analysis.Similar(context.Background(), s, s.Lookup(fixture.SmallID(7)), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []scored
		for _, h := range page.Hits {
			got = append(got, scored{h.Node.ID, h.Score})
		}
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) { // to the last bit
			t.Errorf("Similar = %v, want %v as in another order of arrival", got, first)
		}
	}
}

func TestSimilarEdges(t *testing.T) {
	one := []incident.Value{{Text: "x", Slug: "x"}}
	s := buildIndex([]*incident.Incident{
		{ID: "a", Contributing: one}, {ID: "b", Contributing: one}, {ID: "c"}, {ID: "d", Components: one},
	})
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		id   string
		q    analysis.SimilarQuery
		hits int
		more bool
		all  int
	}{
		{"default", "a", analysis.SimilarQuery{First: 10, Count: true}, 1, false, 1},
		{"none asked for", "a", analysis.SimilarQuery{Count: true}, 0, true, 1},
		{"not counted", "a", analysis.SimilarQuery{First: 1}, 1, false, -1},
		{"negative", "a", analysis.SimilarQuery{First: -5}, 0, true, -1},
		{"huge", "a", analysis.SimilarQuery{First: math.MaxInt}, 1, false, -1},
		{"no terms", "c", analysis.SimilarQuery{First: 10, Count: true}, 0, false, 0},
		{"terms of no weight", "d", analysis.SimilarQuery{First: 10, Count: true}, 0, false, 0},
		{"score above all", "a", analysis.SimilarQuery{First: 10, MinScore: 1.1, Count: true}, 0, false, 0},
		{"score of 1", "a", analysis.SimilarQuery{First: 10, MinScore: 1, Count: true}, 1, false, 1},
		{"tiny weights", "a", analysis.SimilarQuery{First: 10, Weights: analysis.Weights{1e-300}, Count: true}, 1, false, 1},
		{"huge weights", "a", analysis.SimilarQuery{First: 10, Weights: analysis.Weights{1e300, 1e300}, Count: true}, 1, false, 1},
		{"no weights", "a", analysis.SimilarQuery{First: 10, Weights: analysis.Weights{0, 0, 0, 1}, Count: true}, 0, false, 0},
	} {
		if tt.q.Weights == (analysis.Weights{}) {
			tt.q.Weights = analysis.DefaultWeights()
		}
		got, err := analysis.Similar(ctx, s, s.Lookup(tt.id), tt.q)
		if err != nil || len(got.Hits) != tt.hits || got.HasNext != tt.more || got.Total != tt.all {
			t.Errorf("%s: Similar(%s) = %+v, %v, want %d hits, more %t, total %d", tt.name, tt.id, got, err, tt.hits, tt.more, tt.all)
		}
		for _, h := range got.Hits {
			if h.Score != 1 || h.Node.ID != "b" {
				t.Errorf("%s: Similar(%s) gives %s with %v, want b with 1", tt.name, tt.id, h.Node.ID, h.Score)
			}
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	q := analysis.SimilarQuery{Weights: analysis.DefaultWeights(), First: 10}
	if _, err := analysis.Similar(canceled, s, s.Lookup("a"), q); !errors.Is(err, context.Canceled) {
		t.Errorf("Similar(canceled) = %v, want context.Canceled", err)
	}
}

func TestExplainAgainstModel(t *testing.T) {
	for seed := range uint64(30) {
		r := seeded(seed)
		list := fixture.Graph(r, 40)
		s := buildIndex(list)
		for range 20 {
			x := newSimilarModel(list, analysis.Measure(r.IntN(measures)), randomWeights(r))
			a, b := list[r.IntN(40)], list[r.IntN(40)]
			e := analysis.Explain(s, s.Lookup(a.ID), s.Lookup(b.ID), x.measure, x.weights)
			checkExplanation(t, x, s, a, b, e)
			if back := analysis.Explain(s, s.Lookup(b.ID), s.Lookup(a.ID), x.measure, x.weights); back.Score != e.Score || back.Bits != e.Bits {
				t.Errorf("Explain(%s, %s) scores %v, the other way round %v", a.ID, b.ID, e.Score, back.Score)
			}
			page, err := analysis.Similar(context.Background(), s, s.Lookup(a.ID),
				analysis.SimilarQuery{Measure: x.measure, Weights: x.weights, First: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range page.Hits {
				if h.Node.ID == b.ID && h.Score != e.Score {
					t.Errorf("Explain(%s, %s) scores %v, Similar %v", a.ID, b.ID, e.Score, h.Score)
				}
			}
		}
	}
}

func checkExplanation(t *testing.T, x *similarModel, s *index.Snapshot, a, b *incident.Incident, e analysis.Explanation) {
	t.Helper()
	ta, tb := termsOf(a), termsOf(b)
	var want [3]map[incident.Term]bool
	for i := range want {
		want[i] = make(map[incident.Term]bool)
	}
	bits := 0.0
	for v := range incident.Vocabulary(incident.VocabularyCount) {
		for _, id := range s.Terms(v) {
			term := s.Term(id).Term
			if x.weights[v] == 0 {
				continue
			}
			switch {
			case ta[term] && tb[term]:
				want[0][term] = true
				bits -= math.Log2(x.counts[term] / float64(len(x.list)))
			case ta[term]:
				want[1][term] = true
			case tb[term]:
				want[2][term] = true
			}
		}
	}
	all := x.sum(want[0]) + x.sum(want[1]) + x.sum(want[2])
	shares, sum := 0.0, [3]float64{}
	for i, list := range [][]analysis.WeightedTerm{e.Shared, e.OnlyHere, e.OnlyThere} {
		got := make(map[incident.Term]bool)
		for j, w := range list {
			term := s.Term(w.Term).Term
			got[term] = true
			shares += w.Share
			sum[i] += w.Weight
			if math.Abs(w.Weight-x.weight(term)) > 1e-9 || math.Abs(w.Share-x.weight(term)/all) > 1e-9 || w.Count != int(x.counts[term]) {
				t.Errorf("%v has weight %v, share %v, count %d, want %v, %v, %v", term, w.Weight, w.Share, w.Count, x.weight(term), x.weight(term)/all, x.counts[term])
			}
			if j > 0 && list[j-1].Weight < w.Weight {
				t.Errorf("%v comes behind a lighter term", term)
			}
		}
		if d := gocmp.Diff(want[i], got); d != "" {
			t.Errorf("Explain(%s, %s) list %d (-want +got):\n%s", a.ID, b.ID, i, d)
		}
	}
	if len(e.Shared)+len(e.OnlyHere)+len(e.OnlyThere) > 0 && math.Abs(shares-1) > 1e-9 {
		t.Errorf("Explain(%s, %s) shares add up to %v, want 1", a.ID, b.ID, shares)
	}
	if math.Abs(e.Bits-bits) > 1e-9 {
		t.Errorf("Explain(%s, %s).Bits = %v, want %v", a.ID, b.ID, e.Bits, bits)
	}
	if math.Abs(e.Score-x.score(a, b)) > 1e-9 {
		t.Errorf("Explain(%s, %s).Score = %v, want %v", a.ID, b.ID, e.Score, x.score(a, b))
	}
	// By hand, from nothing but the weights shown.
	byHand := 0.0
	switch total := sum[0] + sum[1] + sum[2]; {
	case sum[0] == 0:
	case x.measure == analysis.Overlap:
		byHand = sum[0] / min(sum[0]+sum[1], sum[0]+sum[2])
	case x.measure == analysis.Cosine:
		byHand = sum[0] / math.Sqrt((sum[0]+sum[1])*(sum[0]+sum[2]))
	default:
		byHand = sum[0] / total
	}
	if math.Abs(e.Score-byHand) > 1e-9 {
		t.Errorf("Explain(%s, %s).Score = %v, by hand %v", a.ID, b.ID, e.Score, byHand)
	}
}

func TestExplainOrder(t *testing.T) {
	values := func(slugs ...string) []incident.Value {
		var r []incident.Value
		for _, s := range slugs {
			r = append(r, incident.Value{Text: s, Slug: s})
		}
		return r
	}
	s := buildIndex([]*incident.Incident{
		{ID: "a", Contributing: values("z", "common", "b"), Components: values("c", "a")},
		{ID: "b", Contributing: values("b", "common", "z"), Components: values("a", "c")},
		{ID: "c", Contributing: values("common")},
	})
	e := analysis.Explain(s, s.Lookup("a"), s.Lookup("b"), analysis.WeightedJaccard, analysis.Weights{1, 1})
	var got []string
	for _, w := range e.Shared {
		got = append(got, s.Term(w.Term).String())
	}
	want := []string{
		"CONTRIBUTING_FACTOR/b", "CONTRIBUTING_FACTOR/z", "COMPONENT/a", "COMPONENT/c", "CONTRIBUTING_FACTOR/common",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Explain(a, b).Shared = %v, want %v", got, want)
	}
}

func TestInformationContent(t *testing.T) {
	for _, tt := range []struct {
		count, total int
		want         float64
	}{
		{1, 8, 3},
		{8, 8, 0},
		{3, 24, 3},
		{0, 8, 3},
		{0, 0, 0},
		{5, 0, 0},
		{1, 1, 0},
	} {
		got := analysis.InformationContent(tt.count, tt.total)
		if got != tt.want || math.Signbit(got) {
			t.Errorf("InformationContent(%d, %d) = %v, want %v", tt.count, tt.total, got, tt.want)
		}
	}
}
