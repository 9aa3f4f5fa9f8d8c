package search

import (
	"cmp"
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"incidentgraph/internal/incident"
)

// tooFew is the number of strict hits below which partial ones are added.
const tooFew = 3

// halfRelevance is the relevance that gives a score half way between the
// bounds of its kind.
const halfRelevance = 8

// nameFactor keeps orgs and terms that a query names in part behind incidents
// that are about it.
const nameFactor = 0.5

// Search finds incidents, orgs and terms. The order and the scores are the
// same in every index with the same documents. The error is that of the
// context, ErrClosed or ErrCorrupt.
func (r *Reader) Search(ctx context.Context, q Query, o Options) (result *Result, err error) {
	o.First = max(0, o.First)
	err = r.Read(ctx, func(s *State) error {
		if q.Empty() {
			result = &Result{}
			return nil
		}
		if err := s.open(); err != nil {
			return err // before Keep was called
		}
		run := &searcher{State: s, query: q, page: page{Options: o}, names: make(map[name]Hit)}
		if err := run.run(); err != nil {
			return err
		}
		result = &Result{
			Hits:         run.page.hits,
			Total:        run.page.total,
			More:         run.page.following > len(run.page.hits),
			Relaxed:      run.relaxed,
			ExpandedWith: run.expandedWith,
		}
		return nil
	})
	return result, err
}

// name identifies an org or a term.
type name struct {
	kind Kind
	incident.Term
}

// searcher carries out one search.
type searcher struct {
	*State
	query Query
	page  page

	relaxed      bool
	expandedWith []incident.Term
	exact        map[name]bool // orgs and terms whose name is the query
	names        map[name]Hit  // orgs and terms found, each by its best form
	// found holds the incidents that match, by segment, as long as there are
	// too few.
	found []*roaring.Bitmap
}

func (s *searcher) run() error {
	if err := s.expand(); err != nil {
		return err
	}
	if err := s.scan(s.query.strict, false); err != nil {
		return err
	}
	if s.mayRelax() {
		before := s.page.total + len(s.names)
		if err := s.scan(s.query.loose, true); err != nil {
			return err
		}
		s.relaxed = s.page.total+len(s.names) > before
	}
	for _, h := range s.names {
		s.page.offer(h)
	}
	return nil
}

// mayRelax tells whether there are too few hits so far.
func (s *searcher) mayRelax() bool {
	return s.query.loose != nil && s.page.total+len(s.names) < tooFew
}

// scan finds the documents with all of the clauses, or with some of them those
// that were not found before.
func (s *searcher) scan(wanted []Clause, loose bool) error {
	matchers, err := s.matchers(textField, wanted)
	if err != nil {
		return err
	}
	incidents, err := s.view.count(keyField, everyIncident)
	if err != nil {
		return err
	}
	w := newWeigher(matchers, incidents, wanted)
	for i, m := range matchers {
		if err := s.incidents(m, i, loose, w); err != nil {
			return err
		}
	}
	if s.page.IncidentsOnly || len(wanted) == 0 {
		return nil
	}
	matchers, err = s.matchers(nameField, wanted)
	if err != nil {
		return err
	}
	for _, m := range matchers {
		if err := s.forms(m, loose, w); err != nil {
			return err
		}
	}
	return nil
}

// matchers gives a matcher for each segment.
func (s *searcher) matchers(field string, wanted []Clause) ([]*matcher, error) {
	var list []*matcher
	for _, seg := range s.view.Segments() {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		m, err := newMatcher(seg, field, wanted, s.query.excluded)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// incidents offers the incidents of the segment with number i to the page.
func (s *searcher) incidents(m *matcher, i int, loose bool, w *weigher) error {
	if !loose {
		s.found = append(s.found, roaring.New())
	}
	exact, err := m.segment.DocNumbers([]string{string(incidentKey) + s.query.written})
	if err != nil {
		return err
	}
	numbers := s.tables[i].numbers
	return m.each(s.ctx, loose, w, func(found match) {
		number := numbers[found.doc]
		switch {
		case number == noNumber:
			return
		case loose && s.found[i].Contains(found.doc):
			return
		case !loose && s.mayRelax():
			s.found[i].Add(found.doc)
		}
		if s.page.Keep != nil && !s.page.Keep(number) {
			return
		}
		score := found.relevance / (found.relevance + halfRelevance)
		switch {
		case loose:
			score *= found.matched / w.total
		case exact.Contains(found.doc):
			score += 2
		default:
			score++
		}
		if !s.page.passes(score) {
			s.page.offer(Hit{ID: s.reader.numbers.CaseID(number), Score: score, Partial: loose})
		}
	})
}

// forms notes the orgs and terms that forms of the segment name.
func (s *searcher) forms(m *matcher, loose bool, w *weigher) error {
	var failed error
	err := m.each(s.ctx, loose, w, func(found match) {
		id, err := m.segment.DocID(uint64(found.doc))
		if err != nil {
			failed = err
			return
		}
		kind, term := named(string(id))
		n := name{kind, term}
		h := Hit{Kind: kind, ID: term.Slug, Vocabulary: term.Vocabulary, Partial: loose}
		h.Score = nameFactor * min(1, float64(found.tokens)/float64(max(1, found.length)))
		switch {
		case loose:
			h.Score *= found.matched / w.total
		case s.exact[n]:
			h.Score += 2
		default:
			h.Score++
		}
		if before, ok := s.names[n]; !ok || h.Score > before.Score {
			s.names[n] = h
		}
	})
	return cmp.Or(failed, err)
}
