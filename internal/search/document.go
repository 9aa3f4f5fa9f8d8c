package search

import (
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"incidentgraph/internal/incident"
)

// The fields of the index; doc.go says what is in each.
const (
	textField  = "text"
	headField  = "head"
	nameField  = "name"
	wholeField = "whole"
	keyField   = "key"
	formsField = "forms"
)

// everyIncident is the term of keyField that every incident has. Document ids,
// the other terms of the field, never begin with it.
const everyIncident = "*"

// fieldBits is the number of low bits of a stored position that hold the
// Field, so that one list of places serves all fields.
const fieldBits = 5

// maxWhole is the number of tokens up to which a form can be found as a whole.
const maxWhole = 64

// document is what the index takes: an id and fields with their terms. The
// index calls analyzeText from one of several goroutines.
type document struct {
	id     string
	fields []index.Field
	// analyzeText adds the fields made of text; nil where they are there.
	analyzeText func(d *document)
}

// newIncident makes the document of an incident.
func newIncident(inc *incident.Incident, uses []form, concepts *incident.Concepts, pool *analyzers) *document {
	d := &document{id: string(incidentKey) + inc.ID}
	ids := make([]string, len(uses))
	for i, f := range uses {
		ids[i] = f.id
	}
	keys := append([]string{everyIncident}, ids...)
	d.fields = append(d.fields,
		&field{name: keyField, options: keyOptions, terms: keyTerms(keys)},
		&field{name: formsField, options: index.StoreField, value: []byte(strings.Join(ids, "\n"))},
	)
	d.analyzeText = func(d *document) {
		a := pool.get()
		defer pool.put(a)
		g := newGatherer(a)
		texts(inc, concepts, func(f Field, _, text string) { g.add(f, text) })
		d.fields = append(d.fields, g.placed(textField), g.heading(headField))
	}
	return d
}

// newFormDocument makes the document of a form.
func newFormDocument(f form, pool *analyzers) *document {
	d := &document{id: f.id}
	d.analyzeText = func(d *document) {
		a := pool.get()
		defer pool.put(a)
		g := newGatherer(a)
		g.add(f.field, f.text)
		d.fields = append(d.fields, g.placed(nameField))
		if g.count > 0 && g.count <= maxWhole {
			d.fields = append(d.fields, &field{name: wholeField, options: keyOptions, terms: keyTerms([]string{g.whole.String()})})
		}
	}
	return d
}

// gatherer collects the tokens of a document.
type gatherer struct {
	*analyzer
	field  Field
	number map[string]int // of each term, from 0
	terms  []string
	places []place
	heads  []bool // by term: whether it stands in a heading
	count  int    // tokens
	whole  strings.Builder
}

// place is one occurrence of a term.
type place struct{ term, code int }

func newGatherer(a *analyzer) *gatherer {
	a.position = 0
	return &gatherer{analyzer: a, number: make(map[string]int)}
}

func (g *gatherer) add(f Field, text string) {
	if f != g.field {
		g.field, g.position = f, 0
	}
	g.analyze(text, g.token)
}

func (g *gatherer) token(t token) {
	n, ok := g.number[string(t.term)]
	if !ok {
		n = len(g.terms)
		term := string(t.term)
		g.number[term] = n
		g.terms = append(g.terms, term)
		g.heads = append(g.heads, false)
	}
	g.places = append(g.places, place{n, t.at<<fieldBits | int(g.field)})
	g.heads[n] = g.heads[n] || g.field.heading()
	if t.extra {
		return
	}
	g.count++
	if g.count <= maxWhole {
		appendWhole(&g.whole, t.term)
	}
}

// appendWhole adds a token to the term of wholeField.
func appendWhole(b *strings.Builder, term []byte) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.Write(term)
}

// placed gives a field of all terms with their places in ascending order.
func (g *gatherer) placed(name string) *field {
	slices.SortFunc(g.places, func(a, b place) int {
		if a.term != b.term {
			return a.term - b.term
		}
		return a.code - b.code
	})
	locations := make([]index.TokenLocation, len(g.places))
	pointers := make([]*index.TokenLocation, len(g.places))
	for i, p := range g.places {
		locations[i].Position = p.code
		pointers[i] = &locations[i]
	}
	frequencies := make([]index.TokenFreq, len(g.terms))
	f := &field{name: name, options: placedOptions, length: g.count, terms: make(index.TokenFrequencies, len(g.terms))}
	for from := 0; from < len(g.places); {
		to := from
		for to < len(g.places) && g.places[to].term == g.places[from].term {
			to++
		}
		n := g.places[from].term
		frequencies[n] = index.TokenFreq{Term: []byte(g.terms[n]), Locations: pointers[from:to:to]}
		frequencies[n].SetFrequency(to - from)
		f.terms[g.terms[n]] = &frequencies[n]
		from = to
	}
	return f
}

// heading gives a field of the terms in headings.
func (g *gatherer) heading(name string) *field {
	var terms []string
	for n, head := range g.heads {
		if head {
			terms = append(terms, g.terms[n])
		}
	}
	return &field{name: name, options: keyOptions, terms: keyTerms(terms)}
}

const (
	placedOptions = index.IndexField | index.IncludeTermVectors
	keyOptions    = index.IndexField | index.SkipFreqNorm
)

// keyTerms gives terms without frequency or place.
func keyTerms(terms []string) index.TokenFrequencies {
	m := make(index.TokenFrequencies, len(terms))
	for _, t := range terms {
		m[t] = &index.TokenFreq{Term: []byte(t)}
	}
	return m
}

// The methods of index.Document.

func (d *document) ID() string { return d.id }

func (d *document) AddIDField() {
	d.fields = append(d.fields, &field{
		name:    "_id",
		options: index.IndexField | index.StoreField,
		value:   []byte(d.id),
		length:  1,
		terms:   idTerms(d.id),
	})
}

func idTerms(id string) index.TokenFrequencies {
	f := &index.TokenFreq{Term: []byte(id)}
	f.SetFrequency(1)
	return index.TokenFrequencies{id: f}
}

// VisitFields is first called by the goroutine that analyses the document.
func (d *document) VisitFields(visit index.FieldVisitor) {
	if d.analyzeText != nil {
		analyze := d.analyzeText
		d.analyzeText = nil
		analyze(d)
	}
	for _, f := range d.fields {
		visit(f)
	}
}

func (d *document) Size() int                                  { return len(d.id) }
func (d *document) VisitComposite(index.CompositeFieldVisitor) {}
func (d *document) HasComposite() bool                         { return false }
func (d *document) NumPlainTextBytes() uint64                  { return 0 }
func (d *document) StoredFieldsBytes() uint64                  { return 0 }
func (d *document) Indexed() bool                              { return true }

// field implements index.Field.
type field struct {
	name    string
	options index.FieldIndexingOptions
	value   []byte // where stored
	length  int    // tokens
	terms   index.TokenFrequencies
}

func (f *field) Name() string                                     { return f.name }
func (f *field) Value() []byte                                    { return f.value }
func (f *field) ArrayPositions() []uint64                         { return nil }
func (f *field) EncodedFieldType() byte                           { return 't' }
func (f *field) Analyze()                                         {}
func (f *field) Options() index.FieldIndexingOptions              { return f.options }
func (f *field) AnalyzedLength() int                              { return f.length }
func (f *field) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }
func (f *field) NumPlainTextBytes() uint64                        { return 0 }
