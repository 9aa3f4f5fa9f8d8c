package view

import (
	"slices"
	"sync"
	"unicode/utf8"

	"incidentgraph/graph/model"
	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Bounds of a draft.
const (
	maxDraftText  = 100_000 // characters
	maxDraftTerms = 100
)

// suggested are the vocabularies whose missing terms a draft is told about.
var suggested = []incident.Vocabulary{incident.ContributingFactor, incident.Component, incident.Symptom}

// Assess tells what the stored incidents say about a draft.
func (o *Operation) Assess(draft model.CaseDraft) (*Assessment, error) {
	a := &Assessment{op: o}
	if draft.Text != nil {
		if a.text = *draft.Text; utf8.RuneCountInString(a.text) > maxDraftText {
			return nil, &InputError{Path: []any{"draft", "text"}, Reason: "must be of 100000 characters or less"}
		}
	}
	if len(draft.ContributingFactors)+len(draft.Components)+len(draft.Symptoms) > maxDraftTerms {
		return nil, badInput("draft", "must not have more than %d slugs", maxDraftTerms)
	}
	org := index.NoOrg
	if draft.Org != nil {
		if id, ok := o.index.LookupOrg(*draft.Org); ok {
			org = id
		}
	}
	if draft.RootCause != nil {
		if err := a.give(incident.RootCause, *draft.RootCause, "rootCause"); err != nil {
			return nil, err
		}
	}
	for _, list := range []struct {
		member     string
		vocabulary incident.Vocabulary
		slugs      []string
	}{
		{"contributingFactors", incident.ContributingFactor, draft.ContributingFactors},
		{"components", incident.Component, draft.Components},
		{"symptoms", incident.Symptom, draft.Symptoms},
	} {
		for i, slug := range list.slugs {
			if err := a.give(list.vocabulary, slug, list.member, i); err != nil {
				return nil, err
			}
		}
	}
	if len(a.given) == 0 {
		for _, t := range a.detected() {
			if wholeWeights()[o.index.Term(t).Vocabulary] > 0 {
				a.given = append(a.given, t)
			}
		}
	}
	a.here = &similarity{op: o, here: o.index.Draft(org, a.given...), weights: wholeWeights()}
	return a, nil
}

// Assessment is what the stored incidents say about a draft.
type Assessment struct {
	op    *Operation
	text  string
	given []index.TermID // each once
	here  *similarity    // to the draft

	detectOnce sync.Once
	found      []index.TermID
}

// give adds a term of the draft, found at a path inside it.
func (a *Assessment) give(v incident.Vocabulary, slug string, path ...any) error {
	id, ok := a.op.index.LookupTerm(incident.Term{Vocabulary: v, Slug: slug})
	if !ok {
		const suggestions = 3
		return &index.UnknownTermError{
			Path:  append([]any{"draft"}, path...),
			Term:  incident.Term{Vocabulary: v, Slug: slug},
			Close: a.op.index.CloseSlugs(v, slug, suggestions),
		}
	}
	if !slices.Contains(a.given, id) {
		a.given = append(a.given, id)
	}
	return nil
}

func (a *Assessment) detected() []index.TermID {
	a.detectOnce.Do(func() {
		if a.text != "" {
			a.found = analysis.DetectTerms(a.op.index, a.op.settings.Concepts, a.text)
		}
	})
	return a.found
}

// DetectedTerms are the terms that the text suggests.
func (a *Assessment) DetectedTerms() []Term { return a.op.mixed(a.detected()) }

// Similar are the incidents that resemble the draft most.
func (a *Assessment) Similar(first *int) ([]*SimilarIncidentEdge, error) {
	const standard = 5
	n, err := a.op.amount("first", first, standard, 0)
	if err != nil {
		return nil, err
	}
	r := similarRun{similarity: a.here, query: analysis.SimilarQuery{Weights: a.here.weights, First: n}}
	page, err := r.page()
	return page.edges, err
}

// Consider are the terms that usually come with those of the draft.
func (a *Assessment) Consider(first *int) ([]*Association, error) {
	const standard = 5
	n, err := a.op.amount("first", first, standard, 0)
	if err != nil {
		return nil, err
	}
	all := a.op.index.All()
	found, err := analysis.Consider(a.op.ctx, a.op.index, all, a.given, suggested, n)
	if err != nil {
		return nil, err
	}
	return a.op.associationsOver(all, found), nil
}

// nearest is how many of the most similar incidents tell how long cases like
// the draft take.
const nearest = 50

// ResolvedAfter tells how long the nearest incidents took.
func (a *Assessment) ResolvedAfter() (*DurationDistribution, error) {
	found, err := analysis.Similar(a.op.ctx, a.op.index, a.here.here, analysis.SimilarQuery{Weights: a.here.weights, First: nearest})
	if err != nil {
		return nil, err
	}
	ords := make([]index.Ord, len(found.Hits))
	for i, h := range found.Hits {
		ords[i] = h.Node.Ord
	}
	return a.op.durations(index.SetOf(ords...), analysis.ResolvedAfter)
}
