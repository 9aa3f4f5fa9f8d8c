package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"incidentgraph/internal/incident"
)

// workload is one kind of request: a document, the variables that it is asked
// with, and what the answer has to be.
type workload struct {
	name, title string
	document    string
	// draw gives the variables of one request at random, about an incident
	// that is drawn uniformly; false where that incident is of no use.
	draw func(o *oracle, r *rand.Rand, inc *incident.Incident) (variables, bool)
	// answer gives the data of the answer.
	answer func(o *oracle, v variables) any
}

// variables are those of one request. All are strings.
type variables map[string]string

// workloads are W1 to W6, and W3 over the one long chain that each corpus has.
var workloads = []workload{
	{
		name: "W1", title: "nested case",
		document: `query W1($caseId: String!) {
  incident(caseId: $caseId) {
    caseId
    date
    title { text }
    severity { slug }
    rootCause { slug }
    org { slug name }
    components { slug incidents(first: 5) { nodes { ...card } } }
    contributingFactors { slug incidents(first: 5) { nodes { ...card } } }
    related(first: 10) { nodes { ...card } }
    recurrenceOf { ...card }
  }
}
fragment card on Incident { caseId date title { text } }`,
		draw:   drawCase(func(*oracle, *incident.Incident) bool { return true }),
		answer: (*oracle).nestedCase,
	},
	{
		name: "W2", title: "similar, top 10",
		document: `query W2($caseId: String!) {
  incident(caseId: $caseId) {
    caseId
    similar(first: 10) {
      edges {
        rank
        score
        node { caseId date title { text } }
        explanation { shared { term { slug } incidentCount } }
      }
    }
  }
}`,
		draw:   drawCase(func(*oracle, *incident.Incident) bool { return true }),
		answer: (*oracle).similar,
	},
	{
		name: "W3", title: "recurrence chain",
		document: chainDocument("W3"),
		draw: drawCase(func(o *oracle, inc *incident.Incident) bool {
			size := len(o.chain(inc.ID))
			return size > 1 && size < longChain
		}),
		answer: (*oracle).recurrenceChain,
	},
	{
		name: "W3L", title: "the longest chain",
		document: chainDocument("W3L"),
		draw: drawCase(func(o *oracle, inc *incident.Incident) bool {
			return o.root(inc.ID) == o.longestChain()
		}),
		answer: (*oracle).recurrenceChain,
	},
	{
		name: "W4", title: "factor and component, newest 20, total",
		document: `query W4($factor: String!, $component: String!) {
  incidents(where: {contributingFactors: {all: [$factor]}, components: {all: [$component]}}, first: 20) {
    totalCount
    nodes { caseId date title { text } org { slug } }
  }
}`,
		draw: func(_ *oracle, r *rand.Rand, inc *incident.Incident) (variables, bool) {
			return variables{
				"factor":    inc.Contributing[r.IntN(len(inc.Contributing))].Slug,
				"component": inc.Components[r.IntN(len(inc.Components))].Slug,
			}, true
		},
		answer: (*oracle).factorAndComponent,
	},
	{
		name: "W5", title: "facets by factor, component, year",
		document: `query W5($rootCause: String!, $since: PartialDate!) {
  incidents(where: {rootCause: {any: [$rootCause]}, date: {gte: $since}}) {
    totalCount
    facets(vocabularies: [CONTRIBUTING_FACTOR, COMPONENT], top: 20) {
      vocabulary
      incidents
      assignments
      without
      omittedValues
      values { term { slug } incidents share }
    }
    timeSeries(interval: YEAR) { start incidents }
  }
}`,
		draw: func(_ *oracle, r *rand.Rand, inc *incident.Incident) (variables, bool) {
			return variables{
				"rootCause": inc.RootCause.Slug,
				"since":     fmt.Sprintf("%d-%02d", 2005+r.IntN(20), 1+r.IntN(12)),
			}, true
		},
		answer: (*oracle).facets,
	},
	{
		name: "W6", title: "word search, newest 10",
		document: `query W6($text: String!) {
  incidents(where: {text: $text}, first: 10) {
    nodes { caseId date title { text } }
  }
}`,
		draw:   drawWords,
		answer: (*oracle).wordSearch,
	},
}

// longChain is the size from which a chain counts as long. Apart from the one
// that the fixture makes on purpose all are far below.
const longChain = 100

// searchWords are words of the fixture, of which no other word of it has the
// stem: however a search cuts off endings, it finds the same records. Nor are
// they in what of a record is not searched, such as the names of its members.
// The rare ones are in names and slugs, the common ones in four of five texts.
var searchWords = struct{ rare, common []string }{
	rare: []string{
		"amber", "blue", "cedar", "delta", "echo", "falcon", "granite", "harbor", "juniper",
		"tokyo", "dublin", "seoul", "oceania", "africa", "frankfurt", "mumbai", "london",
		"catastrophic", "critical", "fragile", "premature", "undocumented", "circular", "stale", "telecom", "retail",
	},
	common: []string{
		"quorum", "consensus", "metadata", "tenfold", "leader", "traffic", "peak", "latency",
		"nodes", "until", "replicas", "spot", "depth", "load", "customers", "engineers",
	},
}

// drawWords draws a search for a rare word that the incident has and a common
// one.
func drawWords(o *oracle, r *rand.Rand, inc *incident.Incident) (variables, bool) {
	var rare []string
	for i, word := range searchWords.rare {
		if o.words()[inc.ID]>>i&1 == 1 {
			rare = append(rare, word)
		}
	}
	if len(rare) == 0 {
		return nil, false
	}
	return variables{"text": rare[r.IntN(len(rare))] + " " + searchWords.common[r.IntN(len(searchWords.common))]}, true
}

func chainDocument(name string) string {
	return "query " + name + `($caseId: String!) {
  incident(caseId: $caseId) {
    caseId
    recurrenceChain {
      size
      depth
      root { caseId }
      members(first: 50) {
        edges {
          depth
          gapDays
          parent { caseId }
          node { caseId date title { text } }
        }
      }
    }
  }
}`
}

// drawCase draws requests for one case of those that are fit.
func drawCase(fit func(*oracle, *incident.Incident) bool) func(*oracle, *rand.Rand, *incident.Incident) (variables, bool) {
	return func(o *oracle, _ *rand.Rand, inc *incident.Incident) (variables, bool) {
		return variables{"caseId": inc.ID}, fit(o, inc)
	}
}

// request is one request with the answer that every contestant has to give.
type request struct {
	Workload  string          `json:"workload"`
	Variables variables       `json:"variables"`
	Body      json.RawMessage `json:"body"` // of the POST
	Answer    json.RawMessage `json:"answer"`
}

// requests draws up to n different requests; a corpus may not have so many.
func (w *workload) requests(o *oracle, seed uint64, n int) ([]request, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	have := make(map[string]bool)
	var list []request
	for tries := 0; len(list) < n && tries < 100*n; tries++ {
		v, ok := w.draw(o, r, o.incidents[r.IntN(len(o.incidents))])
		if !ok {
			continue
		}
		body, err := json.Marshal(struct {
			Operation string    `json:"operationName"`
			Query     string    `json:"query"`
			Variables variables `json:"variables"`
		}{w.name, w.document, v})
		if err != nil {
			return nil, err
		}
		if !have[string(body)] {
			have[string(body)] = true
			list = append(list, request{Workload: w.name, Variables: v, Body: body})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the corpus has no incident fit for it", w.name)
	}
	for i := range list {
		var err error
		if list[i].Answer, err = json.Marshal(object{"data": w.answer(o, list[i].Variables)}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// workloadsNamed gives the workloads with these names, all where there are
// none.
func workloadsNamed(names []string) ([]workload, error) {
	if len(names) == 0 {
		return workloads, nil
	}
	var list []workload
	for _, name := range names {
		i := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no workload %q", name)
		}
		list = append(list, workloads[i])
	}
	return list, nil
}
