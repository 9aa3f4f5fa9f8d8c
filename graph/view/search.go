package view

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"incidentgraph/graph/model"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/search"
)

// SearchResult is the schema's union of what a search finds.
type SearchResult interface{ isSearchResult() }

func (*Incident) isSearchResult() {}
func (*Org) isSearchResult()      {}
func (*term) isSearchResult()     {}

// Search searches the texts.
func (o *Operation) Search(query string, languages []string, where *model.IncidentFilter, first *int, after *string) (*SearchConnection, error) {
	r := &searchRun{op: o, written: query, query: search.ParseQuery(query), languages: o.languages}
	if len(languages) > 0 {
		r.languages = languages[:min(len(languages), maxLanguages)]
	}
	p, err := o.check(PageArgs{First: first, After: after}, searchList, r.order(), searchValues)
	if err != nil {
		return nil, err
	}
	r.options.First = p.first
	if p.after != nil {
		r.options.After = hitAt(p.after)
	}
	if where != nil {
		set, err := o.selected(o.index.All(), where)
		if err != nil {
			return nil, err
		}
		r.within, r.options.IncidentsOnly = &set, true
	}
	return &SearchConnection{
		connection: connection[SearchResult, *SearchEdge]{load: r.page, count: r.total},
		run:        r,
	}, nil
}

// searchRun is one search. It runs again where the incidents found are asked
// for that were not noted the first time, which takes a little longer.
type searchRun struct {
	op        *Operation
	written   string
	query     search.Query
	languages Languages
	options   search.Options
	within    *index.Set // nil for all incidents

	mu     sync.Mutex
	result *search.Result
	found  *index.Set // the incidents found, nil where they were not noted
}

func (r *searchRun) run(note bool) (*search.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result != nil && (r.found != nil || !note) {
		return r.result, nil
	}
	o := r.options
	var found index.SetBuilder
	if note || r.within != nil {
		note = true
		within := r.op.index.All()
		if r.within != nil {
			within = *r.within
		}
		o.Keep = func(number uint32) bool {
			ok := within.Has(index.Ord(number))
			if ok {
				found.Add(index.Ord(number))
			}
			return ok
		}
	}
	result, err := r.op.records.Search(r.op.ctx, r.query, o)
	if err != nil {
		return nil, err
	}
	if r.result = result; note {
		set := found.Set()
		r.found = &set
	}
	return result, nil
}

func (r *searchRun) total() (int, error) {
	result, err := r.run(false)
	if err != nil {
		return 0, err
	}
	return result.Total, nil
}

func (r *searchRun) page() (page[*SearchEdge], error) {
	result, err := r.run(false)
	if err != nil {
		return page[*SearchEdge]{}, err
	}
	edges := make([]*SearchEdge, len(result.Hits))
	for i := range result.Hits {
		edges[i] = &SearchEdge{run: r, hit: &result.Hits[i], Score: result.Hits[i].Score}
	}
	return page[*SearchEdge]{edges: edges, next: result.More, previous: r.options.After != nil}, nil
}

// order stands for the list's order in cursors: a hash of the query, since
// scores mean nothing under another.
func (r *searchRun) order() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.TrimSpace(r.written)))
	return string(h.Sum(nil))
}

// searchValues is how many sort values a place in a search has: the score's
// bits, the kind and the vocabulary.
const searchValues = 3

func placeOf(h *search.Hit, order string) *place {
	return &place{list: searchList, order: order, key: h.ID, values: []index.KeyValue{
		{N: int64(math.Float64bits(h.Score))}, {N: int64(h.Kind)}, {N: int64(h.Vocabulary)},
	}}
}

func hitAt(p *place) *search.Hit {
	return &search.Hit{
		Score:      math.Float64frombits(uint64(p.values[0].N)),
		Kind:       search.Kind(p.values[1].N),
		Vocabulary: incident.Vocabulary(p.values[2].N),
		ID:         p.key,
	}
}

// SearchConnection is what a search found, in pages.
type SearchConnection struct {
	connection[SearchResult, *SearchEdge]
	run *searchRun
}

// Facets counts terms of vocabularies over all incidents found.
func (c *SearchConnection) Facets(vocabularies []incident.Vocabulary, top *int) ([]*Facet, error) {
	if _, err := c.run.run(true); err != nil {
		return nil, err
	}
	return c.run.op.facets(*c.run.found, vocabularies, top)
}

// ExpandedWith are the terms that words of the query name.
func (c *SearchConnection) ExpandedWith() ([]Term, error) {
	result, err := c.run.run(false)
	if err != nil {
		return nil, err
	}
	terms := make([]Term, len(result.ExpandedWith))
	for i, t := range result.ExpandedWith {
		terms[i] = c.run.op.Term(t.Vocabulary, t.Slug)
	}
	return terms, nil
}

// SearchEdge is one thing that a search found.
type SearchEdge struct {
	run   *searchRun
	hit   *search.Hit
	Score float64
}

// Cursor is the element's place in the list.
func (e *SearchEdge) Cursor() string { return placeOf(e.hit, e.run.order()).cursor() }

// Node is the incident, org or term.
func (e *SearchEdge) Node() SearchResult { return e.node() }

func (e *SearchEdge) node() SearchResult {
	switch e.hit.Kind {
	case search.KindOrg:
		return e.run.op.Org(e.hit.ID)
	case search.KindTerm:
		return e.run.op.Term(e.hit.Vocabulary, e.hit.ID).(SearchResult)
	}
	return e.run.op.Incident(e.hit.ID)
}

var termFields = [incident.VocabularyCount]search.Field{
	incident.ContributingFactor: search.Factor,
	incident.Component:          search.Component,
	incident.Symptom:            search.Symptom,
	incident.RootCause:          search.Cause,
	incident.Domain:             search.Domain,
	incident.Severity:           search.Severity,
}

// Highlights show where the query stands. Those of an incident read the
// record.
func (e *SearchEdge) Highlights() ([]*Highlight, error) {
	o := e.run.op
	var found []search.Highlight
	mark := func(f search.Field, language, text string) {
		if h, ok := o.records.HighlightText(e.run.query, f, language, text); ok {
			found = append(found, h)
		}
	}
	switch n := e.node().(type) {
	case *Incident:
		rec, err := o.record(n.node.ID)
		if err != nil {
			return nil, err
		}
		found = o.records.Highlight(rec, e.run.query, e.run.languages...)
	case *Org:
		mark(search.Org, "", n.Org.Name)
	default:
		id, _ := o.index.LookupTerm(e.hit.Term())
		t := o.index.Term(id)
		for _, version := range label(&t) {
			mark(termFields[t.Vocabulary], version.Language, version.Text)
		}
	}
	// A term that a record names twice is marked twice.
	found = slices.CompactFunc(found, func(a, b search.Highlight) bool {
		return a.Field == b.Field && a.Language == b.Language && a.Fragment == b.Fragment && slices.Equal(a.Ranges, b.Ranges)
	})
	list := make([]*Highlight, len(found))
	for i := range found {
		list[i] = &Highlight{&found[i]}
	}
	return list, nil
}

// Highlight shows where a query stands in one text.
type Highlight struct{ h *search.Highlight }

// Field names the text.
func (h *Highlight) Field() string { return h.h.Field.String() }

// Language is that of the text, where the record says it.
func (h *Highlight) Language() (string, bool) {
	language := cmp.Or(h.h.Language, incident.Undetermined)
	return language, language != incident.Undetermined
}

// Fragment is a part of the text.
func (h *Highlight) Fragment() string { return h.h.Fragment }

// Ranges are the parts of the fragment that were found.
func (h *Highlight) Ranges() []*TextRange {
	ranges := make([]*TextRange, len(h.h.Ranges))
	for i := range h.h.Ranges {
		ranges[i] = (*TextRange)(&h.h.Ranges[i])
	}
	return ranges
}

// TextRange is a part of a text, in code points.
type TextRange search.Range
