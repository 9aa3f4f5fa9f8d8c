package search

import (
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// lookup is one clause in one segment.
type lookup struct {
	Clause
	lists []segment.PostingsList
	// docs are the documents with all terms, wherever these stand.
	docs *roaring.Bitmap
	// at reads on in lists; opened when first needed.
	at    []segment.PostingsIterator
	codes [][]int // the places in the document at hand, by term
}

// lookUp looks up the terms of a clause in a field of the index; every
// incident has none.
func lookUp(s *scorch.SegmentSnapshot, field string, c Clause) (*lookup, error) {
	l := &lookup{Clause: c}
	if len(c.terms) == 0 {
		list, err := postings(s, keyField, everyIncident)
		if err != nil {
			return nil, err
		}
		l.docs = documents(list)
	}
	for _, t := range c.terms {
		list, err := postings(s, field, t.term)
		if err != nil {
			return nil, err
		}
		l.lists = append(l.lists, list)
		docs := documents(list)
		if l.docs != nil {
			docs = roaring.And(l.docs, docs)
		}
		l.docs = docs
	}
	return l, nil
}

// occurrences counts the places of the clause in one of docs, and tells the
// number of the document's tokens. Documents are asked for in ascending order,
// each once.
func (l *lookup) occurrences(doc uint32) (count, length int, err error) {
	if l.at == nil {
		for _, list := range l.lists {
			l.at = append(l.at, list.Iterator(true, true, !l.Single(), nil))
		}
		l.codes = make([][]int, len(l.lists))
	}
	for i, at := range l.at {
		p, err := at.Advance(uint64(doc))
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			count, length = int(p.Frequency()), lengthOf(p)
		}
		l.codes[i] = l.codes[i][:0]
		for _, place := range p.Locations() {
			l.codes[i] = append(l.codes[i], int(place.Pos()))
		}
	}
	if !l.Single() {
		count = l.places(l.codes)
	}
	return count, length, nil
}

// places counts the places where a clause stands, given the places of its
// terms in ascending order.
func (c *Clause) places(codes [][]int) int {
	n := 0
	for _, code := range codes[0] {
		if c.field != AnyField && Field(code&(1<<fieldBits-1)) != c.field {
			continue
		}
		if c.standsAt(code, codes) {
			n++
		}
	}
	return n
}

func (c *Clause) standsAt(code int, codes [][]int) bool {
	for i, t := range c.terms[1:] {
		if _, ok := slices.BinarySearch(codes[i+1], code+t.at<<fieldBits); !ok {
			return false
		}
	}
	return true
}

// matcher finds the documents of one segment.
type matcher struct {
	segment          *scorch.SegmentSnapshot
	wanted, excluded []*lookup
	// heads holds for each wanted clause the documents with all its terms in
	// headings; empty for the documents of names.
	heads []ascending
}

// ascending answers for documents asked for in ascending order whether a set
// has them, which takes less than looking each of them up.
type ascending struct{ roaring.IntPeekable }

func (a ascending) has(doc uint32) bool {
	if a.HasNext() && a.PeekNext() < doc {
		a.AdvanceIfNeeded(doc)
	}
	return a.HasNext() && a.PeekNext() == doc
}

// newMatcher looks up clauses in textField or nameField.
func newMatcher(s *scorch.SegmentSnapshot, field string, wanted, excluded []Clause) (*matcher, error) {
	m := &matcher{segment: s}
	for _, c := range wanted {
		l, err := lookUp(s, field, c)
		if err != nil {
			return nil, err
		}
		m.wanted = append(m.wanted, l)
		if field != textField {
			continue
		}
		head, err := lookUp(s, headField, c)
		if err != nil {
			return nil, err
		}
		m.heads = append(m.heads, ascending{head.docs.Iterator()})
	}
	for _, c := range excluded {
		l, err := lookUp(s, field, c)
		if err != nil {
			return nil, err
		}
		m.excluded = append(m.excluded, l)
	}
	return m, nil
}

// candidates gives the documents that can match: with all clauses, or in a
// loose search with the required ones and, where all are optional, with at
// least one.
func (m *matcher) candidates(loose bool) (*roaring.Bitmap, error) {
	var all, some *roaring.Bitmap
	for _, l := range m.wanted {
		switch {
		case loose && !l.required && some == nil:
			some = l.docs
		case loose && !l.required:
			some = roaring.Or(some, l.docs)
		case all == nil:
			all = l.docs
		default:
			all = roaring.And(all, l.docs)
		}
	}
	if all == nil {
		all = some
	}
	if all == nil {
		l, err := lookUp(m.segment, textField, Clause{})
		if err != nil {
			return nil, err
		}
		all = l.docs
	}
	for _, l := range m.excluded {
		if l.Single() {
			all = roaring.AndNot(all, l.docs)
		}
	}
	return all, nil
}

// match is a document that matches.
type match struct {
	doc uint32
	// matched is the weight of the clauses that it matches.
	matched float64
	// relevance is what BM25 gives it.
	relevance float64
	// tokens is the number of its tokens that clauses of the query match, of
	// length in all: what counts for a name.
	tokens, length int
}

// Parameters of BM25 (Robertson & Zaragoza 2009), and what a word in a heading
// adds. The usual length is a constant, so that a score does not depend on
// documents that have none of the words; length counts little, as records in
// two languages are long without being about more.
const (
	saturation   = 1.2
	lengthEffect = 0.3
	usualLength  = 1000
	headingBonus = 1.5
)

// each calls yield with the documents that match. w is nil where relevance is
// not needed, which a loose search does.
func (m *matcher) each(ctx context.Context, loose bool, w *weigher, yield func(match)) error {
	docs, err := m.candidates(loose)
	if err != nil {
		return err
	}
	seen := 0
	for it := docs.Iterator(); it.HasNext(); seen++ {
		if seen%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		found, ok, err := m.match(it.Next(), loose, w)
		if err != nil {
			return err
		}
		if ok {
			yield(found)
		}
	}
	return nil
}

func (m *matcher) match(doc uint32, loose bool, w *weigher) (found match, ok bool, err error) {
	found.doc = doc
	for _, l := range m.excluded {
		if l.Single() || !l.docs.Contains(doc) {
			continue
		}
		if n, _, err := l.occurrences(doc); n > 0 || err != nil {
			return found, false, err
		}
	}
	for i, l := range m.wanted {
		n, length := 0, 0
		switch {
		case loose && !l.docs.Contains(doc): // a strict search has candidates with all terms
		case w == nil && l.Single():
			n = 1
		default:
			if n, length, err = l.occurrences(doc); err != nil {
				return found, false, err
			}
		}
		if n == 0 {
			if !loose || l.required {
				return found, false, nil
			}
			continue
		}
		if w != nil {
			found.add(l, n, length, w.weights[i], len(m.heads) > 0 && m.heads[i].has(doc))
		}
	}
	return found, !loose || found.matched >= w.least, nil
}

// add counts a clause that the document has n times.
func (found *match) add(l *lookup, n, length int, weight float64, heading bool) {
	found.matched += weight
	found.tokens += l.size
	found.length = length
	tf := float64(n)
	norm := 1 - lengthEffect + lengthEffect*float64(length)/usualLength
	found.relevance += weight * tf * (saturation + 1) / (tf + saturation*norm)
	if heading {
		found.relevance += weight * headingBonus
	}
}

// weigher holds the weights of the wanted clauses.
type weigher struct {
	// weights are the inverse document frequencies (Robertson & Spärck Jones
	// 1976) over all incidents, where documents with all terms of a clause
	// count whether or not these stand side by side.
	weights []float64
	total   float64
	// least is the weight that a loose search wants of a document: that of an
	// average clause among those that are in some document, so that the rare
	// words of a query bring documents in and the common ones alone do not.
	least float64
}

func newWeigher(matchers []*matcher, incidents int, clauses []Clause) *weigher {
	w := &weigher{}
	met, sum := 0, 0.0
	for i := range clauses {
		df := 0
		for _, m := range matchers {
			df += int(m.wanted[i].docs.GetCardinality())
		}
		weight := math.Log1p((float64(incidents-df) + 0.5) / (float64(df) + 0.5))
		w.weights = append(w.weights, weight)
		w.total += weight
		if df > 0 {
			met++
			sum += weight
		}
	}
	if met > 0 && !slices.ContainsFunc(clauses, func(c Clause) bool { return c.required }) {
		w.least = sum / float64(met) * (1 - 1e-9)
	}
	return w
}
