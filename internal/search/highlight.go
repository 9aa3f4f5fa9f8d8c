package search

import (
	"cmp"
	"slices"
	"unicode"

	"incidentgraph/internal/incident"
)

// Highlight shows where a query stands in one text of a hit.
type Highlight struct {
	Field Field
	// Language is that of the text, incident.Undetermined where it has none.
	Language string
	// Fragment is a part of the text, or all of it: plain text on one line,
	// whatever the text contains. Clients must escape it.
	Fragment string
	// Ranges are ascending and apart from each other; at least one.
	Ranges []Range
}

// Range is a part of a fragment in code points, the end not included.
type Range struct{ Start, End int }

const (
	// maxHighlights is the number of texts shown of one incident.
	maxHighlights = 6
	// fragmentLength is the number of code points of a fragment, unless a
	// single range is longer.
	fragmentLength = 240
	// contextLength is how far a fragment begins before its first range.
	contextLength = 80
	// maxGap is the number of code points between two words of a phrase that
	// are shown as one range: a blank, a hyphen, a comma and a blank.
	maxGap = 3
)

// Highlight shows where the query stands in an incident, the texts with most
// of its words first, then those in the languages given, then by field. Of a
// partial hit it shows the words that are there.
func (ix *Index) Highlight(inc *incident.Incident, q Query, languages ...string) []Highlight {
	m := newMarker(q, ix.pool.get())
	defer ix.pool.put(m.analyzer)
	texts(inc, ix.concepts, m.read)
	return m.highlights(languages)
}

// HighlightText shows where the query stands in one text, such as the name of
// an org; false where it does not.
func (ix *Index) HighlightText(q Query, f Field, language, text string) (Highlight, bool) {
	m := newMarker(q, ix.pool.get())
	defer ix.pool.put(m.analyzer)
	m.read(f, language, text)
	list := m.highlights(nil)
	if len(list) == 0 {
		return Highlight{}, false
	}
	return list[0], true
}

// marker finds the words of a query in texts.
type marker struct {
	analyzer *analyzer
	query    Query
	terms    map[string]int // the terms of all clauses, numbered
	texts    []*markedText
}

// markedText is a text with at least one term of the query.
type markedText struct {
	field          Field
	language, text string
	spots          [][]spot // by term, ascending
	ranges         []clauseRange
	clauses        int // different clauses in ranges
}

// spot is where a term stands.
type spot struct{ at, start, end int }

// clauseRange is a part of a text that a clause matches.
type clauseRange struct {
	Range
	clause int
}

func newMarker(q Query, a *analyzer) *marker {
	m := &marker{analyzer: a, query: q, terms: make(map[string]int)}
	for _, list := range [][]Clause{q.strict, q.loose} {
		for _, c := range list {
			for _, t := range c.terms {
				if _, ok := m.terms[t.term]; !ok {
					m.terms[t.term] = len(m.terms)
				}
			}
		}
	}
	return m
}

// read notes a text where it has a term of the query.
func (m *marker) read(f Field, language, text string) {
	var t *markedText
	m.analyzer.position = 0
	m.analyzer.analyze(text, func(tok token) {
		n, ok := m.terms[string(tok.term)]
		if !ok {
			return
		}
		if t == nil {
			t = &markedText{field: f, language: language, text: text, spots: make([][]spot, len(m.terms))}
			m.texts = append(m.texts, t)
		}
		t.spots[n] = append(t.spots[n], spot{tok.at, tok.start, tok.end})
	})
}

// highlights marks the clauses, the loose ones where a strict one stands in no
// text, and shows the best texts.
func (m *marker) highlights(languages []string) []Highlight {
	if !m.mark(m.query.strict) && m.query.loose != nil {
		m.mark(m.query.loose)
	}
	marked := slices.DeleteFunc(m.texts, func(t *markedText) bool { return len(t.ranges) == 0 })
	preference := func(t *markedText) int {
		if i := slices.Index(languages, t.language); i >= 0 {
			return i
		}
		return len(languages)
	}
	slices.SortStableFunc(marked, func(a, b *markedText) int {
		return cmp.Or(
			cmp.Compare(b.clauses, a.clauses),
			cmp.Compare(preference(a), preference(b)),
			cmp.Compare(a.field, b.field))
	})
	var list []Highlight
	for _, t := range marked[:min(len(marked), maxHighlights)] {
		list = append(list, t.highlight())
	}
	return list
}

// mark sets the ranges of the texts and tells whether each clause stands in
// one of them.
func (m *marker) mark(clauses []Clause) bool {
	met := make([]bool, len(clauses))
	for _, t := range m.texts {
		t.ranges, t.clauses = nil, 0
		for i := range clauses {
			before := len(t.ranges)
			m.markClause(t, &clauses[i], i)
			if len(t.ranges) > before {
				met[i] = true
				t.clauses++
			}
		}
		slices.SortStableFunc(t.ranges, func(a, b clauseRange) int { return cmp.Compare(a.Start, b.Start) })
	}
	return !slices.Contains(met, false)
}

func (m *marker) markClause(t *markedText, c *Clause, number int) {
	if c.field != AnyField && c.field != t.field {
		return
	}
	spots := make([][]spot, len(c.terms))
	for i, term := range c.terms {
		spots[i] = t.spots[m.terms[term.term]]
	}
	for _, first := range spots[0] {
		ranges := []Range{{first.start, first.end}}
		for i, term := range c.terms[1:] {
			at, ok := slices.BinarySearchFunc(spots[i+1], first.at+term.at, func(s spot, at int) int { return cmp.Compare(s.at, at) })
			if !ok {
				ranges = nil
				break
			}
			s := spots[i+1][at]
			if last := &ranges[len(ranges)-1]; s.start <= last.End+maxGap {
				last.End = s.end
			} else {
				ranges = append(ranges, Range{s.start, s.end})
			}
		}
		for _, r := range ranges {
			t.ranges = append(t.ranges, clauseRange{r, number})
		}
	}
}

// highlight cuts the fragment with most of the clauses out of the text.
func (t *markedText) highlight() Highlight {
	text := []rune(t.text)
	from, to := 0, len(text)
	if len(text) > fragmentLength {
		first, last := t.densest()
		from = fragmentStart(text, first)
		to = fragmentEnd(text, from+fragmentLength, last)
	}
	h := Highlight{Field: t.field, Language: t.language}
	for _, r := range t.ranges {
		if r.Start < from || r.End > to {
			continue
		}
		shown := Range{r.Start - from, r.End - from}
		if n := len(h.Ranges); n > 0 && shown.Start <= h.Ranges[n-1].End {
			h.Ranges[n-1].End = max(h.Ranges[n-1].End, shown.End)
			continue
		}
		h.Ranges = append(h.Ranges, shown)
	}
	fragment := text[from:to]
	for i, r := range fragment {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			fragment[i] = ' '
		}
	}
	h.Fragment = string(fragment)
	return h
}

// densest gives the bounds of the first part of the text that has ranges of
// most clauses and leaves place for what is before it.
func (t *markedText) densest() (from, to int) {
	counts := make(map[int]int) // ranges in the window, by clause
	best, left := 0, 0
	for right, r := range t.ranges {
		counts[r.clause]++
		for left < right && r.End-t.ranges[left].Start > fragmentLength-contextLength {
			c := t.ranges[left].clause
			if counts[c]--; counts[c] == 0 {
				delete(counts, c)
			}
			left++
		}
		if len(counts) > best {
			best, from, to = len(counts), t.ranges[left].Start, r.End
		}
	}
	return from, to
}

// fragmentStart goes back from the first range to the beginning of its
// sentence, or of a word.
func fragmentStart(text []rune, first int) int {
	low := max(0, first-contextLength)
	for i := first; i > low; i-- {
		if text[i-1] == '\n' || text[i-1] == '。' || i > 1 && unicode.IsSpace(text[i-1]) && isSentenceEnd(text[i-2]) {
			return i
		}
	}
	if low == 0 {
		return 0
	}
	for i := low; i < first; i++ {
		if unicode.IsSpace(text[i-1]) {
			return i
		}
	}
	return low
}

func isSentenceEnd(r rune) bool { return r == '.' || r == '!' || r == '?' }

// fragmentEnd goes back from a place to the end of a word, but not before the
// end of the last range.
func fragmentEnd(text []rune, end, last int) int {
	end = max(end, last)
	if end >= len(text) {
		return len(text)
	}
	for i := end; i > max(last, end-contextLength); i-- {
		if unicode.IsSpace(text[i]) {
			return i
		}
	}
	return end
}
