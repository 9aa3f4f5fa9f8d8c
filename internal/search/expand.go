package search

import (
	"cmp"
	"slices"
	"strings"

	"incidentgraph/internal/incident"
)

// maxLabelWords is the number of words of a query that can name a term
// together.
const maxLabelWords = 8

// expand finds the terms that words of the query name: at each word the
// longest row of words that is a name, going on after it.
func (s *searcher) expand() error {
	words := s.query.words
	for i := 0; i < len(words); {
		length, err := s.expandAt(words[i:])
		if err != nil {
			return err
		}
		i += max(1, length)
	}
	whole := strings.Join(slices.Concat(words...), " ")
	if whole == "" || slices.ContainsFunc(words, func(w []string) bool { return w == nil }) {
		return nil
	}
	s.exact = make(map[name]bool)
	return s.wholes(whole, func(n name) { s.exact[n] = true })
}

// expandAt gives the length of the longest row of words that begins here and
// names a term, 0 if none does.
func (s *searcher) expandAt(words [][]string) (int, error) {
	row := 0
	for row < min(len(words), maxLabelWords) && words[row] != nil {
		row++
	}
	for ; row > 0; row-- {
		var terms []incident.Term
		err := s.wholes(strings.Join(slices.Concat(words[:row]...), " "), func(n name) {
			if n.kind == KindTerm && !slices.Contains(terms, n.Term) && !slices.Contains(s.expandedWith, n.Term) {
				terms = append(terms, n.Term)
			}
		})
		if err != nil {
			return 0, err
		}
		if len(terms) > 0 {
			slices.SortFunc(terms, func(a, b incident.Term) int {
				return cmp.Or(cmp.Compare(a.Vocabulary, b.Vocabulary), cmp.Compare(a.Slug, b.Slug))
			})
			s.expandedWith = append(s.expandedWith, terms...)
			return row, nil
		}
	}
	return 0, nil
}

// wholes yields the orgs and terms with a form of exactly these tokens.
func (s *searcher) wholes(tokens string, yield func(name)) error {
	for _, seg := range s.view.Segments() {
		list, err := postings(seg, wholeField, tokens)
		if err != nil {
			return err
		}
		for it := documents(list).Iterator(); it.HasNext(); {
			id, err := seg.DocID(uint64(it.Next()))
			if err != nil {
				return err
			}
			kind, term := named(string(id))
			yield(name{kind, term})
		}
	}
	return nil
}
