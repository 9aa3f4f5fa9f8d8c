package index

import (
	"math"

	"incidentgraph/internal/incident"
)

// maxFilterNesting is how deep filters may stand in one another.
const maxFilterNesting = 16

// termMembers are the members of a filter that hold a TermFilter, by
// vocabulary, named as in the GraphQL input.
var termMembers = [incident.VocabularyCount]string{
	incident.ContributingFactor: "contributingFactors",
	incident.Component:          "components",
	incident.Symptom:            "symptoms",
	incident.RootCause:          "rootCause",
	incident.Domain:             "domains",
	incident.Severity:           "severity",
}

// checker finds the first thing wrong with a filter, in the order of the
// members, so that the answer does not depend on what the filter matches.
type checker struct {
	s    *Snapshot
	path []any
}

// at runs a check of a part of the filter, with the part's place in the path.
func (c *checker) at(check func() error, place ...any) error {
	c.path = append(c.path, place...)
	err := check()
	c.path = c.path[:len(c.path)-len(place)]
	return err
}

func (c *checker) bad(reason string) error {
	return &FilterError{Path: append([]any(nil), c.path...), Reason: reason}
}

func (c *checker) filter(f *Filter, depth int) error {
	if f == nil {
		return nil
	}
	if depth > maxFilterNesting {
		return c.bad("filters are nested over 16 deep")
	}
	return first(
		func() error { return c.filters("and", f.And, depth) },
		func() error { return c.filters("or", f.Or, depth) },
		func() error { return c.at(func() error { return c.filter(f.Not, depth+1) }, "not") },
		func() error { return c.at(func() error { return c.dates(f.Date) }, "date") },
		func() error { return c.at(func() error { return c.dates(f.UpdatedAt) }, "updatedAt") },
		func() error { return c.terms(f) },
		func() error { return c.at(func() error { return c.durations(f.DetectedAfter) }, "detectedAfter") },
		func() error { return c.at(func() error { return c.durations(f.ResolvedAfter) }, "resolvedAfter") },
		func() error { return c.links(f.Links, depth) },
		func() error { return c.at(func() error { return c.shares(f.SharesTermsWith) }, "sharesTermsWith") },
	)
}

// first gives the first error.
func first(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) filters(member string, list []Filter, depth int) error {
	for i := range list {
		if err := c.at(func() error { return c.filter(&list[i], depth+1) }, member, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) dates(f *DateFilter) error {
	if f != nil && f.Gte != 0 && f.Lt != 0 && coarsest(f.Gte) >= coarsest(f.Lt) {
		return c.bad("gte must be before lt")
	}
	return nil
}

func (c *checker) terms(f *Filter) error {
	for v, t := range f.Terms {
		if t == nil {
			continue
		}
		v := incident.Vocabulary(v)
		if err := c.at(func() error { return c.term(v, t) }, termMembers[v]); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) term(v incident.Vocabulary, f *TermFilter) error {
	return first(
		func() error { return c.slugs(v, "any", f.Any) },
		func() error { return c.slugs(v, "all", f.All) },
		func() error { return c.slugs(v, "none", f.None) },
		func() error { return c.counts(f.MinCount, f.MaxCount) },
	)
}

func (c *checker) slugs(v incident.Vocabulary, member string, slugs []string) error {
	for i, slug := range slugs {
		t := incident.Term{Vocabulary: v, Slug: slug}
		if _, ok := c.s.LookupTerm(t); !ok {
			path := append(append([]any(nil), c.path...), member, i)
			return &UnknownTermError{Path: path, Term: t, Close: c.s.CloseSlugs(v, slug, 3)}
		}
	}
	return nil
}

func (c *checker) counts(least, most *int) error {
	switch {
	case least != nil && *least < 0:
		return c.at(func() error { return c.bad("must not be negative") }, "minCount")
	case most != nil && *most < 0:
		return c.at(func() error { return c.bad("must not be negative") }, "maxCount")
	case least != nil && most != nil && *least > *most:
		return c.bad("minCount must not be above maxCount")
	}
	return nil
}

func (c *checker) durations(f *DurationFilter) error {
	if f == nil {
		return nil
	}
	for _, bound := range []*float64{f.GteSeconds, f.LtSeconds} {
		if bound != nil && math.IsNaN(*bound) {
			return c.bad("must be a number")
		}
	}
	if f.GteSeconds != nil && f.LtSeconds != nil && *f.GteSeconds >= *f.LtSeconds {
		return c.bad("gteSeconds must be below ltSeconds")
	}
	return nil
}

func (c *checker) links(list []LinkFilter, depth int) error {
	for i := range list {
		if err := c.at(func() error { return c.link(&list[i], depth) }, "links", i); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) link(f *LinkFilter, depth int) error {
	if f.Kind == RecurrenceLink && f.Direction != nil && *f.Direction == Mutual {
		return c.at(func() error { return c.bad("a recurrence is never mutual") }, "direction")
	}
	return first(
		func() error { return c.at(func() error { return c.filter(f.Some, depth+1) }, "some") },
		func() error { return c.at(func() error { return c.filter(f.None, depth+1) }, "none") },
		func() error { return c.counts(f.MinCount, f.MaxCount) },
	)
}

func (c *checker) shares(f *SharesTermsFilter) error {
	switch {
	case f == nil:
		return nil
	case f.AtLeast < 1:
		return c.at(func() error { return c.bad("must be at least 1") }, "atLeast")
	case c.s.Lookup(f.CaseID) == nil:
		path := append(append([]any(nil), c.path...), "caseId")
		return &UnknownCaseError{Path: path, CaseID: f.CaseID}
	}
	return nil
}
