package search

import (
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
		g := a.gather()
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
		g := a.gather()
		g.add(f.field, f.text)
		d.fields = append(d.fields, g.placed(nameField))
		if whole := g.whole(); whole != "" {
			d.fields = append(d.fields, &field{name: wholeField, options: keyOptions, terms: keyTerms([]string{whole})})
		}
	}
	return d
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
