package search

import (
	"context"
	"fmt"

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
func (ix *Index) Search(ctx context.Context, q Query, o Options) (*Result, error) {
	r, err := ix.search(ctx, q, o)
	if err != nil {
		return nil, fmt.Errorf("search: %w", readError(ctx, err))
	}
	return r, nil
}

func (ix *Index) search(ctx context.Context, q Query, o Options) (r *Result, err error) {
	ix.life.RLock()
	defer ix.life.RUnlock()
	v, err := ix.snapshot()
	if err != nil {
		return nil, err
	}
	defer v.close()
	defer recoverDamage(&err)
	if q.Empty() {
		return &Result{}, nil
	}
	o.First = max(0, o.First)
	s := &searcher{view: v, ctx: ctx, query: q, page: page{Options: o}, names: make(map[name]Hit)}
	if err := s.run(); err != nil {
		return nil, err
	}
	return &Result{
		Hits:         s.page.hits,
		Total:        s.page.total,
		More:         s.page.following > len(s.page.hits),
		Relaxed:      s.relaxed,
		ExpandedWith: s.expandedWith,
	}, nil
}

// MatchIDs gives the ids of all incidents that have everything that a query
// asks for, in no particular order. There is no wider search where they are
// few.
func (ix *Index) MatchIDs(ctx context.Context, q Query) ([]string, error) {
	ids, err := ix.matchIDs(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", readError(ctx, err))
	}
	return ids, nil
}

func (ix *Index) matchIDs(ctx context.Context, q Query) (ids []string, err error) {
	ix.life.RLock()
	defer ix.life.RUnlock()
	v, err := ix.snapshot()
	if err != nil {
		return nil, err
	}
	defer v.close()
	defer recoverDamage(&err)
	if q.Empty() {
		return nil, nil
	}
	for _, s := range v.Segments() {
		m, err := newMatcher(s, textField, q.strict, q.excluded)
		if err != nil {
			return nil, err
		}
		table, err := v.ids.of(v, s)
		if err != nil {
			return nil, err
		}
		err = m.each(ctx, false, nil, func(found match) { ids = append(ids, table.id(found.doc)[1:]) })
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// name identifies an org or a term.
type name struct {
	kind Kind
	incident.Term
}

// searcher carries out one search.
type searcher struct {
	*view
	ctx   context.Context // of the one call that the searcher serves
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
func (s *searcher) scan(wanted []clause, loose bool) error {
	matchers, err := s.matchers(textField, wanted)
	if err != nil {
		return err
	}
	incidents, err := s.count(keyField, everyIncident)
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
func (s *searcher) matchers(field string, wanted []clause) ([]*matcher, error) {
	var list []*matcher
	for _, seg := range s.Segments() {
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
	ids, err := s.ids.of(s.view, m.segment)
	if err != nil {
		return err
	}
	return m.each(s.ctx, loose, w, func(found match) {
		switch {
		case loose && s.found[i].Contains(found.doc):
			return
		case !loose && s.mayRelax():
			s.found[i].Add(found.doc)
		}
		h := Hit{ID: ids.id(found.doc)[1:], Partial: loose}
		h.Score = found.relevance / (found.relevance + halfRelevance)
		switch {
		case loose:
			h.Score *= found.matched / w.total
		case exact.Contains(found.doc):
			h.Score += 2
		default:
			h.Score++
		}
		if s.page.Keep == nil || s.page.Keep(h.ID) {
			s.page.offer(h)
		}
	})
}

// forms notes the orgs and terms that forms of the segment name.
func (s *searcher) forms(m *matcher, loose bool, w *weigher) error {
	ids, err := s.ids.of(s.view, m.segment)
	if err != nil {
		return err
	}
	return m.each(s.ctx, loose, w, func(found match) {
		kind, term := named(ids.id(found.doc))
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
}
