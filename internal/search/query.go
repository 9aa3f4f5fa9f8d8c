package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a query.
const (
	// MaxQueryLength is the number of code points that are read.
	MaxQueryLength = 512
	// MaxQueryClauses is the number of words and phrases that are looked for.
	MaxQueryClauses = 32
	// maxQueryTerms is the number of terms of the index that are looked up.
	maxQueryTerms = 128
)

// Query is a parsed query. It is immutable. The zero Query finds nothing.
type Query struct {
	// strict holds what a document must have, all of it; loose what it may
	// have instead where the documents with all are too few, nil where there
	// is nothing to loosen.
	strict, loose []Clause
	// excluded holds what it must not have.
	excluded []Clause
	// words are the tokens of the words and phrases, to be compared with
	// labels; nil in place of a word ends a row of words.
	words [][]string
	// written is the query as written, without blanks around it.
	written   string
	truncated bool
}

// ParseQuery reads a query:
//
//	outage storm     documents with both words, in whatever fields
//	"leap second"    the words side by side
//	-test            none with this word, or phrase
//	title:outage     in one field; -title:outage and title:"leap second" too
//
// There is no malformed query: what does not fit is read as plain words. Text
// after MaxQueryLength code points or MaxQueryClauses words is left out, which
// Truncated tells.
func ParseQuery(s string) Query {
	s = strings.ToValidUTF8(s, " ")
	var q Query
	if utf8.RuneCountInString(s) > MaxQueryLength {
		s = firstRunes(s, MaxQueryLength)
		q.truncated = true
	}
	q.written = strings.TrimSpace(s)
	p := parser{query: &q, analyzer: newAnalyzer(), rest: []rune(s)}
	p.parse()
	return q
}

// firstRunes gives the first n code points of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Empty tells whether the query has no word at all, so that it finds nothing.
func (q Query) Empty() bool { return len(q.strict) == 0 && len(q.excluded) == 0 }

// Wanted gives the clauses that a document must match, all of them.
func (q Query) Wanted() []Clause { return q.strict }

// Excluded gives the clauses that it must not match, none of them.
func (q Query) Excluded() []Clause { return q.excluded }

// Truncated tells whether the query was too long to be read to its end.
func (q Query) Truncated() bool { return q.truncated }

// parser reads a query from left to right.
type parser struct {
	query    *Query
	analyzer *analyzer
	rest     []rune
	clauses  int
	terms    int
	// optional tells whether a loose clause may be missing, changed whether
	// one differs from the strict ones.
	optional, changed bool
}

// item is one word or phrase as written.
type item struct {
	field    Field
	excluded bool
	quoted   bool
	text     string
}

func (p *parser) parse() {
	for {
		for len(p.rest) > 0 && unicode.IsSpace(p.rest[0]) {
			p.rest = p.rest[1:]
		}
		if len(p.rest) == 0 {
			break
		}
		it := p.next()
		if it.quoted {
			p.take(it)
			continue
		}
		for _, word := range split(it.text) {
			it.text = word
			p.take(it)
		}
	}
	if !p.changed && (!p.optional || len(p.query.strict) == 1) {
		p.query.loose = nil
	}
}

// split divides a word at a colon that does not name a field. Between digits
// it belongs to the word, as in 2:19.
func split(word string) []string {
	for i, r := range word {
		if r == ':' && i > 0 && !unicode.IsDigit(rune(word[i-1])) {
			return append([]string{word[:i]}, split(word[i+1:])...)
		}
	}
	return []string{word}
}

// next reads one item. rest begins with it.
func (p *parser) next() (it item) {
	if isMinus(p.rest[0]) && len(p.rest) > 1 && !unicode.IsSpace(p.rest[1]) && !isMinus(p.rest[1]) {
		it.excluded = true
		p.rest = p.rest[1:]
	}
	if f, n := fieldName(p.rest); n > 0 {
		it.field = f
		p.rest = p.rest[n:]
	}
	if isQuote(p.rest[0]) {
		if end := slices.IndexFunc(p.rest[1:], isQuote); end >= 0 {
			it.quoted = true
			it.text = string(p.rest[1 : 1+end])
			p.rest = p.rest[2+end:]
			return it
		}
	}
	end := slices.IndexFunc(p.rest, unicode.IsSpace)
	if end < 0 {
		end = len(p.rest)
	}
	it.text = string(p.rest[:end])
	p.rest = p.rest[end:]
	return it
}

func isMinus(r rune) bool { return r == '-' || r == '－' || r == '−' }

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' || r == '＂' }

// fieldName reads the name of a field, its colon included; 0 where there is
// none or nothing follows it.
func fieldName(rest []rune) (Field, int) {
	colon := slices.IndexFunc(rest, func(r rune) bool { return r == ':' || r == '：' || unicode.IsSpace(r) })
	if colon < 0 || colon+1 >= len(rest) || unicode.IsSpace(rest[colon]) || unicode.IsSpace(rest[colon+1]) {
		return AnyField, 0
	}
	f, ok := parseField(string(rest[:colon]))
	if !ok {
		return AnyField, 0
	}
	return f, colon + 1
}

// run is what one run of characters of an item gives.
type run struct {
	script script
	// tokens at their distances from the first token of the item.
	tokens []placedTerm
}

// take adds an item to the query.
func (p *parser) take(it item) {
	runs := p.runs(it.text)
	if !it.quoted {
		runs = withoutParticle(runs)
	}
	switch {
	case len(runs) == 0 && it.field != AnyField: // the name of a field and no word
		p.take(item{excluded: it.excluded, text: it.field.String()})
		return
	case len(runs) == 0:
		return
	}
	c := clauseOf(it.field, runs)
	if p.clauses++; p.clauses > MaxQueryClauses || p.terms+len(c.terms) > maxQueryTerms {
		p.query.truncated = true
		return
	}
	p.terms += len(c.terms)
	if it.excluded {
		p.query.excluded = append(p.query.excluded, c)
		return
	}
	p.query.strict = append(p.query.strict, c)
	p.name(it, runs)
	if it.quoted || it.field != AnyField {
		c.required = true
		p.query.loose = append(p.query.loose, c)
		return
	}
	p.optional = true
	for _, r := range runs {
		stem := withoutEnding(r)
		p.changed = p.changed || len(runs) > 1 || len(stem.tokens) < len(r.tokens)
		p.query.loose = append(p.query.loose, clauseOf(AnyField, []run{stem}))
	}
}

// runs analyses an item.
func (p *parser) runs(text string) []run {
	var runs []run
	p.analyzer.position = 0
	p.analyzer.analyze(text, func(t token) {
		if t.extra {
			return
		}
		if t.run == len(runs) {
			runs = append(runs, run{script: t.script})
		}
		r := &runs[t.run]
		r.tokens = append(r.tokens, placedTerm{string(t.term), t.at})
	})
	return runs
}

// withoutParticle leaves out a particle that stands after a word of another
// script: DynamoDB의.
func withoutParticle(runs []run) []run {
	if n := len(runs); n > 1 && runs[n-1].script == hangul && isParticle(runs[n-1].text()) {
		return runs[:n-1]
	}
	return runs
}

// withoutEnding leaves out the particle at the end of a Korean word.
func withoutEnding(r run) run {
	if r.script == hangul && len(r.tokens) > 1 {
		// A run of n syllables has n-1 bigrams.
		r.tokens = r.tokens[:stemLength(r.text())-1]
	}
	return r
}

// text puts a run of Hangul together again.
func (r run) text() string {
	var b strings.Builder
	for i, t := range r.tokens {
		if i < len(r.tokens)-1 {
			first, _ := utf8.DecodeRuneInString(t.term)
			b.WriteRune(first)
			continue
		}
		b.WriteString(t.term)
	}
	return b.String()
}

// clauseOf makes a clause of runs side by side.
func clauseOf(f Field, runs []run) Clause {
	c := Clause{field: f}
	from := runs[0].tokens[0].at
	for _, r := range runs {
		for i, t := range r.tokens {
			if i%2 == 0 || i == len(r.tokens)-1 {
				c.terms = append(c.terms, placedTerm{t.term, t.at - from})
			}
		}
		c.size += len(r.tokens)
	}
	return c
}

// name adds an item to the words that are compared with labels. Items with
// different fields never name one thing together.
func (p *parser) name(it item, runs []run) {
	var tokens []string
	for _, r := range runs {
		for _, t := range r.tokens {
			tokens = append(tokens, t.term)
		}
	}
	switch {
	case it.field == AnyField:
		p.query.words = append(p.query.words, tokens)
	case it.field >= Factor:
		p.query.words = append(p.query.words, nil, tokens, nil)
	default:
		p.query.words = append(p.query.words, nil)
	}
}
