package search

import (
	"cmp"
	"slices"

	"incidentgraph/internal/incident"
)

// Kind is the kind of thing that a hit is.
type Kind uint8

// The kinds.
const (
	KindIncident Kind = iota
	KindOrg
	KindTerm
)

// String gives the kind in a word.
func (k Kind) String() string { return [...]string{"incident", "org", "term"}[k] }

// Hit is one result.
type Hit struct {
	Kind Kind
	// ID is the case id of an incident, the slug of an org or a term.
	ID string
	// Vocabulary is that of a term.
	Vocabulary incident.Vocabulary
	// Score is from 1 up where everything asked for was found and below 1 in a
	// partial hit; from 2 up where the query is the name or the id of the hit.
	Score float64
	// Partial tells that some of the words were not found: the hit comes from
	// the wider search that follows where the strict one finds too little.
	Partial bool
}

// Term gives the term that a hit of KindTerm is.
func (h Hit) Term() incident.Term { return incident.Term{Vocabulary: h.Vocabulary, Slug: h.ID} }

// compare orders hits: best score first, then kind, vocabulary and id.
func (h Hit) compare(other Hit) int {
	return cmp.Or(
		cmp.Compare(other.Score, h.Score),
		cmp.Compare(h.Kind, other.Kind),
		cmp.Compare(h.Vocabulary, other.Vocabulary),
		cmp.Compare(h.ID, other.ID))
}

// Options of a search.
type Options struct {
	// First is the number of hits wanted.
	First int
	// After, if not nil, is the hit that the page follows: any value with
	// score, kind, vocabulary and id will do.
	After *Hit
	// IncidentsOnly leaves out orgs and terms.
	IncidentsOnly bool
	// Keep, if not nil, tells by their numbers which incidents may be in the
	// result. It is called once for each incident that matches, in no
	// particular order, so it can also collect them. It must not use the index.
	Keep func(number uint32) bool
}

// Result of a search.
type Result struct {
	// Hits is one page, best first.
	Hits []Hit
	// Total counts all hits, whatever the page.
	Total int
	// More tells whether hits follow the page.
	More bool
	// Relaxed tells that fewer than three hits had all the words, so that
	// partial hits follow them.
	Relaxed bool
	// ExpandedWith holds the terms that words of the query are the names of,
	// in the order of the query.
	ExpandedWith []incident.Term
}

// page keeps the best hits and counts the others.
type page struct {
	Options
	hits      []Hit // sorted
	total     int
	following int // hits after Options.After
}

// passes counts a hit that is behind the page by its score alone, so that no
// more of it need be known; false for any other.
func (p *page) passes(score float64) bool {
	if len(p.hits) < p.First || p.First > 0 && score >= p.hits[p.First-1].Score || p.After != nil && score >= p.After.Score {
		return false
	}
	p.total++
	p.following++
	return true
}

// offer counts a hit and keeps it where it is among the best.
func (p *page) offer(h Hit) {
	p.total++
	if p.After != nil && h.compare(*p.After) <= 0 {
		return
	}
	p.following++
	if len(p.hits) == p.First && (p.First == 0 || h.compare(p.hits[p.First-1]) >= 0) {
		return
	}
	at, _ := slices.BinarySearchFunc(p.hits, h, Hit.compare)
	if len(p.hits) == p.First {
		p.hits = p.hits[:p.First-1]
	}
	p.hits = slices.Insert(p.hits, at, h)
}
