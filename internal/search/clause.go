package search

import "strings"

// Clause is one thing that a query asks for: a word or a phrase, anywhere or
// in one field. It is immutable. The zero Clause asks for nothing, so that all
// incidents match it.
type Clause struct {
	field Field
	// terms, the first at 0. They are the ones needed to be sure of the
	// others: of the bigrams of a run every second one, and the last.
	terms []placedTerm
	// size is the number of tokens, the needless ones included.
	size int
	// required tells that a loose clause may not be missing.
	required bool
}

// placedTerm is a term and its distance from the first one.
type placedTerm struct {
	term string
	at   int
}

// Key tells clauses apart: two with equal keys match the same incidents.
func (c *Clause) Key() string {
	var b strings.Builder
	b.WriteByte(byte(c.field))
	for _, t := range c.terms {
		b.WriteByte(byte(t.at >> 16))
		b.WriteByte(byte(t.at >> 8))
		b.WriteByte(byte(t.at))
		b.WriteString(t.term)
		b.WriteByte(0xff) // which is in no term
	}
	return b.String()
}

// Single tells whether the clause has at most one term, wherever it stands, so
// that it is looked up and no place has to be compared.
func (c *Clause) Single() bool { return len(c.terms) == 0 || len(c.terms) == 1 && c.field == AnyField }

// Terms gives a clause for each of the terms, wherever it stands: what matches
// the clause matches all of them.
func (c *Clause) Terms() []Clause {
	if c.Single() {
		return []Clause{*c}
	}
	list := make([]Clause, len(c.terms))
	for i, t := range c.terms {
		list[i] = Clause{terms: []placedTerm{{term: t.term}}, size: 1}
	}
	return list
}
