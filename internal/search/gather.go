package search

import (
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"
)

// maxLexicon bounds the terms that a gatherer knows.
const maxLexicon = 1 << 14

// gatherer collects the tokens of one document after the other. What documents
// have in common, it makes once: the index reads terms and places and changes
// neither.
type gatherer struct {
	*analyzer
	lexicon   map[string]*entry
	locations [fieldCount][]*locationChunk

	// The document at hand.
	document int // its number
	field    Field
	entries  []*entry // by number of the term
	places   []place
	count    int // tokens
}

// entry is a term.
type entry struct {
	text string
	term []byte
	// key is the term without frequency or place.
	key *index.TokenFreq

	// document is the last one that has the term, and the others are of it.
	document int
	number   int
	times    int  // occurrences
	heading  bool // whether it stands in a heading
	next     int
}

// place is one occurrence of a term.
type place struct {
	term, at int32
	field    Field
	extra    bool
}

const (
	// locationsPerChunk places of a field have their locations made at a time.
	locationsPerChunk = 256
	// sharedLocations is up to which place of a field locations are shared.
	sharedLocations = 2048
)

type locationChunk [locationsPerChunk]index.TokenLocation

// gather begins a document. What the one before gave is not touched.
func (a *analyzer) gather() *gatherer {
	g := &a.gatherer
	if g.analyzer == nil || len(g.lexicon) > maxLexicon {
		g.analyzer, g.lexicon = a, make(map[string]*entry)
	}
	a.position = 0
	g.document++
	g.field, g.count = AnyField, 0
	clear(g.entries)
	g.entries, g.places = g.entries[:0], g.places[:0]
	return g
}

// add analyses a text.
func (g *gatherer) add(f Field, text string) {
	if f != g.field {
		g.field, g.position = f, 0
	}
	g.analyze(text, g.token)
}

func (g *gatherer) token(t token) {
	e := g.lexicon[string(t.term)]
	if e == nil {
		e = newEntry(string(t.term))
		g.lexicon[e.text] = e
	}
	if e.document != g.document {
		e.document, e.number, e.times, e.heading = g.document, len(g.entries), 0, false
		g.entries = append(g.entries, e)
	}
	e.times++
	e.heading = e.heading || g.field.heading()
	g.places = append(g.places, place{int32(e.number), int32(t.at), g.field, t.extra})
	if !t.extra {
		g.count++
	}
}

func newEntry(text string) *entry {
	term := []byte(text)
	return &entry{text: text, term: term, key: &index.TokenFreq{Term: term}}
}

// placed gives a field of all terms with their places in ascending order.
func (g *gatherer) placed(name string) *field {
	locations := make([]*index.TokenLocation, len(g.places))
	next := 0
	for _, e := range g.entries {
		e.next = next
		next += e.times
	}
	for _, p := range g.places {
		e := g.entries[p.term]
		locations[e.next] = g.location(p)
		e.next++
	}
	frequencies := make([]index.TokenFreq, len(g.entries))
	f := &field{name: name, options: placedOptions, length: g.count, terms: make(index.TokenFrequencies, len(g.entries))}
	for n, e := range g.entries {
		of := locations[e.next-e.times : e.next : e.next]
		if !slices.IsSortedFunc(of, byPosition) { // of several fields
			slices.SortFunc(of, byPosition)
		}
		frequencies[n] = index.TokenFreq{Term: e.term, Locations: of}
		frequencies[n].SetFrequency(e.times)
		f.terms[e.text] = &frequencies[n]
	}
	return f
}

func byPosition(a, b *index.TokenLocation) int { return a.Position - b.Position }

// location gives the location of a place.
func (g *gatherer) location(p place) *index.TokenLocation {
	code := func(at int) int { return at<<fieldBits | int(p.field) }
	at := int(p.at)
	if at >= sharedLocations {
		return &index.TokenLocation{Position: code(at)}
	}
	of := &g.locations[p.field]
	for at/locationsPerChunk >= len(*of) {
		chunk := new(locationChunk)
		for i := range chunk {
			chunk[i].Position = code(len(*of)*locationsPerChunk + i)
		}
		*of = append(*of, chunk)
	}
	return &(*of)[at/locationsPerChunk][at%locationsPerChunk]
}

// heading gives a field of the terms in headings.
func (g *gatherer) heading(name string) *field {
	terms := make(index.TokenFrequencies)
	for _, e := range g.entries {
		if e.heading {
			terms[e.text] = e.key
		}
	}
	return &field{name: name, options: keyOptions, terms: terms}
}

// whole gives all tokens in one term, "" where there are none or too many.
func (g *gatherer) whole() string {
	if g.count > maxWhole {
		return ""
	}
	var b strings.Builder
	for _, p := range g.places {
		if p.extra {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.entries[p.term].text)
	}
	return b.String()
}
