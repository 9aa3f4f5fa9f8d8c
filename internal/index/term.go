package index

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"incidentgraph/internal/incident"
)

// Term is one vocabulary term as the snapshot sees it.
type Term struct {
	ID TermID
	incident.Term
	// Written is the most used spelling, the bytewise smallest on a tie; ""
	// where no incident uses the term.
	Written string
	// Concept is what the vocabulary file says, nil where none lists it.
	Concept *incident.Concept
	// Count is the number of incidents with the term.
	Count int
}

// linkConcepts finds the narrower terms of each listed one.
func (s *Snapshot) linkConcepts() {
	for i, c := range s.listed {
		if c.Broader == "" {
			continue
		}
		broader := incident.Term{Vocabulary: c.Term.Vocabulary, Slug: c.Broader}
		if b, ok := s.names.terms.lookup(broader); ok {
			s.narrower[TermID(b)] = append(s.narrower[TermID(b)], TermID(i))
		}
	}
	for _, ids := range s.narrower {
		slices.SortFunc(ids, func(a, b TermID) int { return cmp.Compare(s.slug(a), s.slug(b)) })
	}
}

func (s *Snapshot) slug(id TermID) string { return s.names.terms.name(uint32(id)).Slug }

// concept gives what the vocabulary file says of a term, nil if nothing.
func (s *Snapshot) concept(id TermID) *incident.Concept {
	if int(id) < len(s.listed) {
		return s.listed[id]
	}
	return nil
}

// exists tells whether an incident has the term or the vocabulary lists it.
func (s *Snapshot) exists(id TermID) bool {
	return s.concept(id) != nil || s.Postings(id).Len() > 0
}

// LookupTerm finds a term that some incident has or the vocabulary lists; it
// tells false where there is none.
func (s *Snapshot) LookupTerm(t incident.Term) (TermID, bool) {
	i, ok := s.names.terms.lookup(t)
	if !ok || !s.exists(TermID(i)) {
		return 0, false
	}
	return TermID(i), true
}

// Term gives a term by number.
func (s *Snapshot) Term(id TermID) Term {
	state := s.terms.at(uint32(id))
	return Term{
		ID:      id,
		Term:    s.names.terms.name(uint32(id)),
		Written: state.spelling(),
		Concept: s.concept(id),
		Count:   state.set().Len(),
	}
}

// Postings gives the incidents with the term.
func (s *Snapshot) Postings(id TermID) Set { return s.terms.at(uint32(id)).set() }

// TermCount gives the number of TermIDs: all are below it.
func (s *Snapshot) TermCount() int { return int(s.termCount) }

type termsKey struct{}

// Terms gives the terms of a vocabulary (used, or listed), most used first,
// then by slug. The slice is shared: do not change it.
func (s *Snapshot) Terms(v incident.Vocabulary) []TermID {
	return memoized(s, termsKey{}, s.sortTerms)[v]
}

func (s *Snapshot) sortTerms() *[incident.VocabularyCount][]TermID {
	var by [incident.VocabularyCount][]TermID
	for id := range TermID(s.termCount) {
		if s.exists(id) {
			v := s.names.terms.name(uint32(id)).Vocabulary
			by[v] = append(by[v], id)
		}
	}
	for _, ids := range by {
		slices.SortFunc(ids, func(a, b TermID) int {
			return cmp.Or(
				cmp.Compare(s.Postings(b).Len(), s.Postings(a).Len()),
				cmp.Compare(s.slug(a), s.slug(b)))
		})
	}
	return &by
}

// Narrower gives the listed terms whose broader concept is id, by slug.
func (s *Snapshot) Narrower(id TermID) []TermID { return s.narrower[id] }

// CloseSlugs gives up to n slugs of a vocabulary that are near in spelling
// (Damerau-Levenshtein distance at most a third of the length), nearest first,
// then by slug. The distance is the restricted one, in which no part of the
// word is edited twice; lengths count characters. Words that are no slug are
// taken for the slug that they make.
func (s *Snapshot) CloseSlugs(v incident.Vocabulary, slug string, n int) []string {
	if n <= 0 || len(slug) > utf8.UTFMax*incident.MaxSlugLength {
		return nil
	}
	type near struct {
		distance int
		slug     string
	}
	var found []near
	nearest := func() {
		slices.SortFunc(found, func(a, b near) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.slug, b.slug))
		})
	}
	word := newSpeller(incident.Slug(slug))
	limit := len(word.word) / 3
	for _, id := range s.Terms(v) {
		d := word.distance(s.slug(id), limit)
		if d > limit {
			continue
		}
		found = append(found, near{d, s.slug(id)})
		if len(found) == 2*n {
			nearest()
			found = found[:n]
			limit = found[n-1].distance
		}
	}
	nearest()
	slugs := make([]string, 0, n)
	for _, f := range found[:min(n, len(found))] {
		slugs = append(slugs, f.slug)
	}
	return slugs
}
