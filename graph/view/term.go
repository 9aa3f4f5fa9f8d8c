package view

import (
	"strings"

	"incidentgraph/graph/model"
	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Term is the schema's interface of the six kinds of vocabulary term.
type Term interface {
	Node
	isTerm()
}

func (*term) isTerm() {}

// The six kinds of term differ in their GraphQL type alone.
type (
	// ContributingFactor made an incident possible or worse.
	ContributingFactor struct{ term }
	// Component is a part of a system that was affected.
	Component struct{ term }
	// Symptom is how an incident showed.
	Symptom struct{ term }
	// RootCause is a kind of cause.
	RootCause struct{ term }
	// Domain is a field that incidents belong to.
	Domain struct{ term }
	// Severity is a degree.
	Severity struct{ term }
)

type term struct {
	op *Operation
	index.Term
}

func (t *term) set(o *Operation, id index.TermID) { t.op, t.Term = o, o.index.Term(id) }

// term gives the term with this number as its GraphQL type.
func (o *Operation) term(id index.TermID) Term {
	t := term{o, o.index.Term(id)}
	switch t.Term.Vocabulary {
	case incident.ContributingFactor:
		return &ContributingFactor{t}
	case incident.Component:
		return &Component{t}
	case incident.Symptom:
		return &Symptom{t}
	case incident.RootCause:
		return &RootCause{t}
	case incident.Domain:
		return &Domain{t}
	}
	return &Severity{t}
}

// mixed gives terms of several vocabularies.
func (o *Operation) mixed(ids []index.TermID) []Term {
	terms := make([]Term, len(ids))
	for i, id := range ids {
		terms[i] = o.term(id)
	}
	return terms
}

// termsOf gives terms of the one vocabulary that T stands for.
func termsOf[T any, P interface {
	*T
	set(*Operation, index.TermID)
}](o *Operation, ids []index.TermID) []*T {
	values, terms := make([]T, len(ids)), make([]*T, len(ids))
	for i, id := range ids {
		P(&values[i]).set(o, id)
		terms[i] = &values[i]
	}
	return terms
}

// Term finds a term; nil where no incident has it and no file lists it.
func (o *Operation) Term(v incident.Vocabulary, slug string) Term {
	id, ok := o.index.LookupTerm(incident.Term{Vocabulary: v, Slug: slug})
	if !ok {
		return nil
	}
	return o.term(id)
}

// ID is the node id.
func (t *term) ID() string { return nodeID(termIDs[t.Term.Vocabulary], t.Term.Slug) }

// Slug identifies the term in its vocabulary.
func (t *term) Slug() string { return t.Term.Slug }

// Vocabulary is the one that the term belongs to.
func (t *term) Vocabulary() incident.Vocabulary { return t.Term.Vocabulary }

// Label is the term's name.
func (t *term) Label(languages []string) LocalizedText { return t.op.shown(label(&t.Term), languages) }

// label is the name that a vocabulary file gives, else the spelling most used;
// a slug in words.
func label(t *index.Term) incident.Text {
	switch {
	case t.Concept != nil && len(t.Concept.PrefLabel) > 0:
		return t.Concept.PrefLabel
	case t.Written != "" && t.Written != t.Slug:
		return undetermined(t.Written)
	}
	return undetermined(inWords(t.Slug))
}

// inWords writes a slug as words.
func inWords(slug string) string { return strings.ReplaceAll(slug, "-", " ") }

// Definition is what a vocabulary file says that the term means.
func (t *term) Definition(languages []string) *LocalizedText {
	if t.Concept == nil {
		return nil
	}
	return t.op.text(t.Concept.Definition, languages)
}

// Listed tells whether a vocabulary file lists the term.
func (t *term) Listed() bool { return t.Concept != nil }

// Broader is the more general term.
func (t *term) Broader() Term {
	if t.Concept == nil || t.Concept.Broader == "" {
		return nil
	}
	return t.op.Term(t.Term.Vocabulary, t.Concept.Broader)
}

// Narrower are the terms whose broader term this is.
func (t *term) Narrower() []Term { return t.op.mixed(t.op.index.Narrower(t.Term.ID)) }

// Mappings are what corresponds to the term in other taxonomies.
func (t *term) Mappings() []*TermMapping {
	if t.Concept == nil {
		return []*TermMapping{}
	}
	mappings := make([]*TermMapping, len(t.Concept.Mappings))
	for i := range t.Concept.Mappings {
		mappings[i] = (*TermMapping)(&t.Concept.Mappings[i])
	}
	return mappings
}

// TermMapping is what corresponds to a term in another taxonomy.
type TermMapping incident.Mapping

// InformationContent is how much the term tells, in bits.
func (t *term) InformationContent() float64 {
	return analysis.InformationContent(t.Count, t.op.index.Len())
}

// Incidents are those with the term.
func (t *term) Incidents(where *model.IncidentFilter, orderBy []*model.IncidentOrder, first *int, after *string, last *int, before *string) (*IncidentConnection, error) {
	return t.op.incidents(t.op.index.Postings(t.Term.ID), where, orderBy, PageArgs{First: first, After: after, Last: last, Before: before})
}

// TermConnection is a list of terms, in pages.
type TermConnection struct {
	connection[Term, *TermEdge]
}

// TermEdge is one element of a list of terms.
type TermEdge struct {
	Node          Term
	IncidentCount int
	at            place
}

func (e *TermEdge) node() Term { return e.Node }

// Cursor is the element's place in the list.
func (e *TermEdge) Cursor() string { return e.at.cursor() }

// Terms lists the terms of a vocabulary.
func (o *Operation) Terms(v incident.Vocabulary, a PageArgs) (*TermConnection, error) {
	order := string(rune(v))
	p, err := o.check(a, termList, order, 1)
	if err != nil {
		return nil, err
	}
	ids := o.index.Terms(v)
	at := func(i int) *place {
		t := o.index.Term(ids[i])
		return countPlace(termList, order, t.Count, t.Slug)
	}
	return &TermConnection{listed(p, len(ids), at, func(i int) *TermEdge {
		return &TermEdge{Node: o.term(ids[i]), IncidentCount: o.index.Term(ids[i]).Count, at: *at(i)}
	})}, nil
}

// countPlace is a place in a list by falling count, then by key.
func countPlace(l list, order string, count int, key string) *place {
	return &place{list: l, order: order, values: []index.KeyValue{{N: -int64(count)}}, key: key}
}
