package main

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/incident"
)

// oracle answers the workloads from the fixture's incidents alone: it shares
// no code with the contestants, and takes its time.
type oracle struct {
	corpus    corpus
	incidents []*incident.Incident // latest first, as lists are
	byID      map[string]*incident.Incident
	with      map[incident.Term][]*incident.Incident // latest first
	linked    map[string][]*incident.Incident        // related, whoever says so; latest first
	repeats   map[string][]*incident.Incident        // by the case repeated; latest first
	orgNames  map[string]string                      // by slug
	factors   []weighedFactor                        // heaviest first
	have      [][]int                                // of incidents, places in factors in ascending order
	longest   string                                 // root of the longest chain, once asked for
	masks     map[string]uint64                      // see words
}

func newOracle(c corpus) *oracle {
	o := &oracle{
		corpus:    c,
		incidents: fixture.Incidents(c.seed, c.n),
		byID:      make(map[string]*incident.Incident),
		with:      make(map[incident.Term][]*incident.Incident),
		linked:    make(map[string][]*incident.Incident),
		repeats:   make(map[string][]*incident.Incident),
		orgNames:  make(map[string]string),
	}
	slices.SortFunc(o.incidents, func(a, b *incident.Incident) int {
		// The zero date is the smallest, and last where the latest is first.
		return cmp.Or(cmp.Compare(b.Date, a.Date), strings.Compare(a.ID, b.ID))
	})
	for _, inc := range o.incidents {
		o.byID[inc.ID] = inc
	}
	spelled := make(map[string]map[string]int)
	for _, inc := range o.incidents {
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			for _, x := range inc.Values(v) {
				t := incident.Term{Vocabulary: v, Slug: x.Slug}
				o.with[t] = append(o.with[t], inc)
			}
		}
		if o.byID[inc.RecurrenceOf] != nil {
			o.repeats[inc.RecurrenceOf] = append(o.repeats[inc.RecurrenceOf], inc)
		}
		if spelled[inc.OrgSlug] == nil {
			spelled[inc.OrgSlug] = make(map[string]int)
		}
		spelled[inc.OrgSlug][inc.Org]++
	}
	o.link()
	for slug, names := range spelled {
		for name, n := range names {
			best := o.orgNames[slug]
			if n > names[best] || n == names[best] && name < best {
				o.orgNames[slug] = name
			}
		}
	}
	o.weigh()
	return o
}

// weighedFactor is a contributing factor with its weight.
type weighedFactor struct {
	slug   string
	weight float64
	count  int
}

// weigh weighs the contributing factors.
func (o *oracle) weigh() {
	for t, list := range o.with {
		if t.Vocabulary == incident.ContributingFactor {
			n, total := float64(len(list)), float64(len(o.incidents))
			o.factors = append(o.factors, weighedFactor{t.Slug, math.Log(1 + (total-n+0.5)/(n+0.5)), len(list)})
		}
	}
	slices.SortFunc(o.factors, func(a, b weighedFactor) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.slug, b.slug))
	})
	place := make(map[string]int)
	for i, f := range o.factors {
		place[f.slug] = i
	}
	for _, inc := range o.incidents {
		var have []int
		for _, x := range inc.Contributing {
			have = append(have, place[x.Slug])
		}
		slices.Sort(have)
		o.have = append(o.have, have)
	}
}

// link joins the incidents of which one names the other as related.
func (o *oracle) link() {
	pairs := make(map[[2]string]bool)
	for _, inc := range o.incidents {
		for _, id := range inc.Related {
			if o.byID[id] != nil {
				pairs[[2]string{inc.ID, id}], pairs[[2]string{id, inc.ID}] = true, true
			}
		}
	}
	for pair := range pairs {
		o.linked[pair[0]] = append(o.linked[pair[0]], o.byID[pair[1]])
	}
	for _, list := range o.linked {
		slices.SortFunc(list, func(a, b *incident.Incident) int {
			return cmp.Or(cmp.Compare(b.Date, a.Date), strings.Compare(a.ID, b.ID))
		})
	}
}

type object = map[string]any

// list gives the list of what f makes of each element; an empty one is not
// null.
func list[T any](of []T, f func(T) object) []object {
	r := make([]object, len(of))
	for i, x := range of {
		r[i] = f(x)
	}
	return r
}

func first[T any](of []T, n int) []T { return of[:min(n, len(of))] }

func date(d incident.Date) any {
	if d.IsZero() {
		return nil
	}
	return d.String()
}

// card is what lists show of an incident.
func card(inc *incident.Incident) object {
	return object{"caseId": inc.ID, "date": date(inc.Date), "title": object{"text": inc.Title[0].Text}}
}

func nodes(of []*incident.Incident) object { return object{"nodes": list(of, card)} }

// nestedCase answers W1.
func (o *oracle) nestedCase(v variables) any {
	inc := o.byID[v["caseId"]]
	terms := func(v incident.Vocabulary) []object {
		return list(inc.Values(v), func(x incident.Value) object {
			return object{"slug": x.Slug, "incidents": nodes(first(o.with[incident.Term{Vocabulary: v, Slug: x.Slug}], 5))}
		})
	}
	r := card(inc)
	r["severity"] = object{"slug": inc.Severity.Slug}
	r["rootCause"] = object{"slug": inc.RootCause.Slug}
	r["org"] = object{"slug": inc.OrgSlug, "name": o.orgNames[inc.OrgSlug]}
	r["components"] = terms(incident.Component)
	r["contributingFactors"] = terms(incident.ContributingFactor)
	r["related"] = nodes(first(o.linked[inc.ID], 10))
	r["recurrenceOf"] = nil
	if parent := o.byID[inc.RecurrenceOf]; parent != nil {
		r["recurrenceOf"] = card(parent)
	}
	return object{"incident": r}
}

// hit is a case that shares factors with another.
type hit struct {
	inc    *incident.Incident
	shared []int // places in factors
	score  float64
}

// similar answers W2: the weighted Jaccard index of all contributing factors.
// Weights are added up in one order everywhere, the heaviest first, so that
// cases with the same factors score the same.
func (o *oracle) similar(v variables) any {
	inc := o.byID[v["caseId"]]
	here := o.have[slices.Index(o.incidents, inc)]
	isHere := func(f int) bool { return slices.Contains(here, f) }
	hits := make([]hit, 0, 1000)
	for i, other := range o.incidents {
		if other == inc || !slices.ContainsFunc(o.have[i], isHere) {
			continue
		}
		h := hit{inc: other}
		all := slices.Clone(here)
		for _, f := range o.have[i] {
			if isHere(f) {
				h.shared = append(h.shared, f)
			} else {
				all = append(all, f)
			}
		}
		slices.Sort(all)
		h.score = o.sum(h.shared) / o.sum(all)
		if hits = append(hits, h); len(hits) == cap(hits) {
			hits = best(hits, 10)
		}
	}
	rank := 0
	edges := list(best(hits, 10), func(h hit) object {
		rank++
		shared := list(h.shared, func(f int) object {
			return object{"term": object{"slug": o.factors[f].slug}, "incidentCount": o.factors[f].count}
		})
		return object{"rank": rank, "score": h.score, "node": card(h.inc), "explanation": object{"shared": shared}}
	})
	return object{"incident": object{"caseId": inc.ID, "similar": object{"edges": edges}}}
}

func (o *oracle) sum(factors []int) float64 {
	s := 0.0
	for _, f := range factors {
		s += o.factors[f].weight
	}
	return s
}

// best gives the first n hits by score, then by case id, in the same memory.
func best(hits []hit, n int) []hit {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(compareScores(b.score, a.score), strings.Compare(a.inc.ID, b.inc.ID))
	})
	return first(hits, n)
}

// compareScores takes scores for equal that differ by rounding alone.
func compareScores(a, b float64) int {
	if math.Abs(a-b) <= tolerance {
		return 0
	}
	return cmp.Compare(a, b)
}

// root gives the topmost case of a case's chain.
func (o *oracle) root(id string) string {
	for o.byID[o.byID[id].RecurrenceOf] != nil {
		id = o.byID[id].RecurrenceOf
	}
	return id
}

// member is a case of a chain.
type member struct {
	inc   *incident.Incident
	depth int
}

// chain gives a case's chain: by depth, then by date, without a date last,
// then by case id.
func (o *oracle) chain(id string) []member {
	members := []member{{inc: o.byID[o.root(id)]}}
	for i := 0; i < len(members); i++ {
		for _, next := range o.repeats[members[i].inc.ID] {
			members = append(members, member{next, members[i].depth + 1})
		}
	}
	// Less one, no date is the largest.
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(
			cmp.Compare(a.depth, b.depth),
			cmp.Compare(a.inc.Date-1, b.inc.Date-1),
			strings.Compare(a.inc.ID, b.inc.ID))
	})
	return members
}

// longestChain gives the root of the longest chain.
func (o *oracle) longestChain() string {
	if o.longest == "" {
		size := make(map[string]int)
		for _, inc := range o.incidents {
			root := o.root(inc.ID)
			if size[root]++; size[root] > size[o.longest] || size[root] == size[o.longest] && root < o.longest {
				o.longest = root
			}
		}
	}
	return o.longest
}

// recurrenceChain answers W3.
func (o *oracle) recurrenceChain(v variables) any {
	members := o.chain(v["caseId"])
	edges := list(first(members, 50), func(m member) object {
		e := object{"depth": m.depth, "gapDays": nil, "parent": nil, "node": card(m.inc)}
		if m.depth > 0 {
			parent := o.byID[m.inc.RecurrenceOf]
			e["parent"] = object{"caseId": parent.ID}
			if m.inc.Date.Day() > 0 && parent.Date.Day() > 0 {
				e["gapDays"] = int(m.inc.Date.FirstDay().Sub(parent.Date.FirstDay()).Hours() / 24)
			}
		}
		return e
	})
	return object{"incident": object{"caseId": v["caseId"], "recurrenceChain": object{
		"size":    len(members),
		"depth":   members[len(members)-1].depth,
		"root":    object{"caseId": members[0].inc.ID},
		"members": object{"edges": edges},
	}}}
}

// factorAndComponent answers W4.
func (o *oracle) factorAndComponent(v variables) any {
	var both []*incident.Incident
	for _, inc := range o.with[incident.Term{Vocabulary: incident.ContributingFactor, Slug: v["factor"]}] {
		if slices.ContainsFunc(inc.Components, func(x incident.Value) bool { return x.Slug == v["component"] }) {
			both = append(both, inc)
		}
	}
	return object{"incidents": object{
		"totalCount": len(both),
		"nodes": list(first(both, 20), func(inc *incident.Incident) object {
			c := card(inc)
			c["org"] = object{"slug": inc.OrgSlug}
			return c
		}),
	}}
}

// facets answers W5.
func (o *oracle) facets(v variables) any {
	since, _ := incident.ParseDate(v["since"])
	var set []*incident.Incident
	years := make(map[int]int)
	for _, inc := range o.with[incident.Term{Vocabulary: incident.RootCause, Slug: v["rootCause"]}] {
		if !inc.Date.IsZero() && !inc.Date.FirstDay().Before(since.FirstDay()) {
			set = append(set, inc)
			years[inc.Date.Year()]++
		}
	}
	series := []object{}
	if len(set) > 0 { // latest first
		for y := set[len(set)-1].Date.Year(); y <= set[0].Date.Year(); y++ {
			series = append(series, object{"start": incident.Date(y << 16).String(), "incidents": years[y]})
		}
	}
	return object{"incidents": object{
		"totalCount": len(set),
		"facets":     []any{facet(set, incident.ContributingFactor), facet(set, incident.Component)},
		"timeSeries": series,
	}}
}

// facet counts a vocabulary that every incident of the fixture has terms of.
func facet(set []*incident.Incident, v incident.Vocabulary) object {
	counts := make(map[string]int)
	assignments := 0
	for _, inc := range set {
		for _, x := range inc.Values(v) {
			counts[x.Slug]++
			assignments++
		}
	}
	slugs := make([]string, 0, len(counts))
	for slug := range counts {
		slugs = append(slugs, slug)
	}
	slices.SortFunc(slugs, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return object{
		"vocabulary":    v.String(),
		"incidents":     len(set),
		"assignments":   assignments,
		"without":       0,
		"omittedValues": max(0, len(slugs)-20),
		"values": list(first(slugs, 20), func(slug string) object {
			return object{
				"term":      object{"slug": slug},
				"incidents": counts[slug],
				"share":     float64(counts[slug]) / float64(len(set)),
			}
		}),
	}
}

// words gives, by case id, which of searchWords a record has: a bit each, the
// rare ones first.
func (o *oracle) words() map[string]uint64 {
	if o.masks != nil {
		return o.masks
	}
	bit := make(map[string]uint64)
	for i, word := range slices.Concat(searchWords.rare, searchWords.common) {
		bit[word] = 1 << i
	}
	o.masks = make(map[string]uint64, o.corpus.n)
	i := 0
	for record := range o.corpus.records() {
		// The names of the members, and what is not searched, have none of them.
		var mask uint64
		for word := range bytes.FieldsFuncSeq(bytes.ToLower(record), func(r rune) bool { return !unicode.IsLetter(r) }) {
			mask |= bit[string(word)]
		}
		o.masks[fixture.CaseID(i)] = mask
		i++
	}
	return o.masks
}

// wordSearch answers W6.
func (o *oracle) wordSearch(v variables) any {
	var want uint64
	for i, word := range slices.Concat(searchWords.rare, searchWords.common) {
		if slices.Contains(strings.Fields(v["text"]), word) {
			want |= 1 << i
		}
	}
	var found []*incident.Incident
	for _, inc := range o.incidents {
		if o.words()[inc.ID]&want == want {
			found = append(found, inc)
		}
	}
	return object{"incidents": nodes(first(found, 10))}
}
