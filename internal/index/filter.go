package index

import (
	"fmt"
	"strings"

	"incidentgraph/internal/incident"
)

// Filter selects incidents. The members of one Filter are ANDed; the zero
// Filter matches everything. It mirrors the GraphQL input IncidentFilter.
type Filter struct {
	And, Or []Filter // Or: at least one; an empty non-nil Or matches nothing
	Not     *Filter
	CaseID  *StringFilter
	Org     *StringFilter // by org slug
	Region  *StringFilter
	Date    *DateFilter
	// UpdatedAt compares the day (UTC) of the record's updated_at.
	UpdatedAt                    *DateFilter
	Terms                        [incident.VocabularyCount]*TermFilter
	DetectedAfter, ResolvedAfter *DurationFilter
	Reviewed                     *bool
	Links                        []LinkFilter
	SharesTermsWith              *SharesTermsFilter
	// Within restricts to a set computed elsewhere (a text search), all of whose
	// members are in the snapshot; nil does not.
	Within *Set
}

// StringFilter compares a string exactly, by code points. Members are ANDed.
type StringFilter struct {
	Eq         *string
	In         []string // nil does not restrict; empty matches nothing
	StartsWith *string
	IsNull     *bool
}

// DateFilter compares first days: at or after Gte, before Lt; zero does not
// restrict. A record without a date never matches a bound.
type DateFilter struct{ Gte, Lt incident.Date }

// TermFilter compares the terms that an incident has in one vocabulary, by
// slug. Empty non-nil Any matches nothing.
type TermFilter struct {
	Any, All, None     []string
	MinCount, MaxCount *int
}

// DurationFilter compares seconds; an unknown duration matches no bound.
type DurationFilter struct {
	GteSeconds, LtSeconds *float64
	IsKnown               *bool
}

// LinkKind is a kind of link between incidents.
type LinkKind uint8

// The kinds of link.
const (
	RelatedLink LinkKind = iota
	RecurrenceLink
)

// LinkFilter compares an incident's stored neighbors by one kind of link. For
// RecurrenceLink Outgoing is the case it repeats, Incoming are its
// recurrences. For RelatedLink Outgoing means that this record names the
// other, Incoming that the other names this one, Mutual both (so that a mutual
// neighbor is an outgoing and an incoming one too); nil Direction takes all
// neighbors. A filter of kind and direction alone asks for at least one
// neighbor.
type LinkFilter struct {
	Kind      LinkKind
	Direction *Direction
	// Some: at least one neighbor matches; None: no neighbor matches.
	Some, None *Filter
	// MinCount and MaxCount bound the number of neighbors.
	MinCount, MaxCount *int
}

// SharesTermsFilter selects the other incidents that share at least AtLeast
// terms of a vocabulary with a case.
type SharesTermsFilter struct {
	CaseID     string
	Vocabulary incident.Vocabulary
	AtLeast    int
}

// UnknownTermError is returned for a slug that no incident has and no
// vocabulary file lists.
type UnknownTermError struct {
	// Path leads to the slug inside the filter: member names and list
	// indexes, named as in the GraphQL input.
	Path []any
	Term incident.Term
	// Close holds up to three slugs near in spelling.
	Close []string
}

// Error names the slug, its first 60 code points, the vocabulary and the near
// slugs.
func (e *UnknownTermError) Error() string {
	term := e.Term
	term.Slug = fmt.Sprintf("%.60s", term.Slug)
	if len(e.Close) == 0 {
		return fmt.Sprintf("unknown term %s", term)
	}
	return fmt.Sprintf("unknown term %s; near in spelling: %s", term, strings.Join(e.Close, ", "))
}

// UnknownCaseError is returned for a case id in sharesTermsWith that is not
// stored.
type UnknownCaseError struct {
	Path   []any
	CaseID string
}

// Error names the case, its first 60 code points.
func (e *UnknownCaseError) Error() string { return fmt.Sprintf("unknown case %.60q", e.CaseID) }

// FilterError is returned for a filter that makes no sense (a negative count,
// atLeast below 1, an empty interval, nesting over 16).
type FilterError struct {
	Path   []any
	Reason string
}

// Error gives the reason.
func (e *FilterError) Error() string { return e.Reason }
