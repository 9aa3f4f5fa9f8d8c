package view

import (
	"hash/fnv"
	"math"
	"sync"

	"incidentgraph/graph/model"
	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Similar are the incidents that resemble this one most.
func (i *Incident) Similar(measure *analysis.Measure, by []*model.VocabularyWeight, where *model.IncidentFilter, minScore *float64, excludeLinked *bool, first *int, after *string) (*SimilarIncidentConnection, error) {
	o := i.op
	s := &similarity{op: o, here: i.node}
	if measure != nil {
		s.measure = *measure
	}
	var err error
	if s.weights, err = weights(by); err != nil {
		return nil, err
	}
	q := analysis.SimilarQuery{Measure: s.measure, Weights: s.weights, ExcludeLinked: excludeLinked != nil && *excludeLinked}
	if minScore != nil {
		if q.MinScore = *minScore; q.MinScore < 0 || q.MinScore > 1 {
			return nil, badInput("minScore", "must be between 0 and 1")
		}
	}
	p, err := o.check(PageArgs{First: first, After: after}, similarList, s.order(), 1)
	if err != nil {
		return nil, err
	}
	if p.after != nil {
		q.After = &analysis.SimilarKey{Score: math.Float64frombits(uint64(p.after.values[0].N)), ID: p.after.key}
	}
	q.First = p.first
	if where != nil {
		set, err := o.selected(o.index.All(), where)
		if err != nil {
			return nil, err
		}
		q.Within = &set
	}
	run := &similarRun{similarity: s, query: q}
	return &SimilarIncidentConnection{
		connection: connection[*Incident, *SimilarIncidentEdge]{load: run.page, count: run.total},
		CorpusSize: o.index.Len(),
	}, nil
}

// maxWeight keeps sums of weights, and of their squares, far from the end of
// what a float can hold.
const maxWeight = 1_000_000

// weights turns the argument by into weights.
func weights(by []*model.VocabularyWeight) (analysis.Weights, error) {
	if len(by) == 0 {
		return analysis.DefaultWeights(), nil
	}
	var w analysis.Weights
	var given [incident.VocabularyCount]bool
	for n, b := range by {
		switch {
		case given[b.Vocabulary]:
			return w, &InputError{Path: []any{"by", n, "vocabulary"}, Reason: "a vocabulary may be named once"}
		case b.Weight < 0:
			return w, &InputError{Path: []any{"by", n, "weight"}, Reason: "must not be negative"}
		case !(b.Weight <= maxWeight): // NaN, too
			return w, &InputError{Path: []any{"by", n, "weight"}, Reason: "must be 1000000 or less"}
		}
		given[b.Vocabulary], w[b.Vocabulary] = true, b.Weight
	}
	return w, nil
}

// similarity is one way of comparing incidents with one of them.
type similarity struct {
	op      *Operation
	here    *index.Node
	measure analysis.Measure
	weights analysis.Weights
}

// order stands for the list's order in cursors: the measure, and a hash of
// the weights and the case, since scores mean nothing under others.
func (s *similarity) order() string {
	h := fnv.New32a()
	var buf [8]byte
	for _, w := range s.weights {
		bits := math.Float64bits(w)
		for i := range buf {
			buf[i] = byte(bits >> (8 * i))
		}
		_, _ = h.Write(buf[:])
	}
	_, _ = h.Write([]byte(s.here.ID))
	return string(h.Sum([]byte{byte(s.measure)}))
}

// similarRun finds a page, and counts the whole list, in one pass where the
// total is asked for first.
type similarRun struct {
	*similarity
	query analysis.SimilarQuery

	mu     sync.Mutex
	result *analysis.SimilarResult
}

func (r *similarRun) run(count bool) (*analysis.SimilarResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result != nil && (r.query.Count || !count) {
		return r.result, nil
	}
	r.query.Count = count
	result, err := analysis.Similar(r.op.ctx, r.op.index, r.here, r.query)
	if err != nil {
		return nil, err
	}
	r.result = &result
	return r.result, nil
}

func (r *similarRun) total() (int, error) {
	result, err := r.run(true)
	if err != nil {
		return 0, err
	}
	return result.Total, nil
}

func (r *similarRun) page() (page[*SimilarIncidentEdge], error) {
	result, err := r.run(false)
	if err != nil {
		return page[*SimilarIncidentEdge]{}, err
	}
	edges := make([]*SimilarIncidentEdge, len(result.Hits))
	for n, h := range result.Hits {
		edges[n] = &SimilarIncidentEdge{
			similarity: r.similarity,
			incident:   Incident{r.op, h.Node},
			Score:      h.Score,
			Rank:       result.Before + n + 1,
		}
	}
	return page[*SimilarIncidentEdge]{edges: edges, next: result.HasNext, previous: result.Before > 0}, nil
}

// SimilarIncidentConnection is a list of similar incidents, in pages.
type SimilarIncidentConnection struct {
	connection[*Incident, *SimilarIncidentEdge]
	CorpusSize int
}

// SimilarIncidentEdge is one incident that resembles another.
type SimilarIncidentEdge struct {
	*similarity
	incident Incident
	Rank     int
	Score    float64
}

// Node is the similar incident.
func (e *SimilarIncidentEdge) Node() *Incident { return &e.incident }

func (e *SimilarIncidentEdge) node() *Incident { return &e.incident }

// Cursor is the element's place in the list.
func (e *SimilarIncidentEdge) Cursor() string {
	p := place{
		list:   similarList,
		order:  e.order(),
		values: []index.KeyValue{{N: int64(math.Float64bits(e.Score))}},
		key:    e.incident.node.ID,
	}
	return p.cursor()
}

// Explanation shows how the score comes about.
func (e *SimilarIncidentEdge) Explanation() *SimilarityExplanation {
	return e.explain(e.incident.node)
}

// explain compares the incident with one other.
func (s *similarity) explain(there *index.Node) *SimilarityExplanation {
	return &SimilarityExplanation{
		op:          s.op,
		measure:     s.measure,
		here:        s.here.ID,
		there:       there.ID,
		explanation: analysis.Explain(s.op.index, s.here, there, s.measure, s.weights),
	}
}
