package incident

import (
	"encoding/json"
	"time"
)

// Incident is one case record as the model reads it. It is a view of the
// record's bytes: what the model has no field for is in Unknown, and the
// record itself, not this struct, is what is stored and exported.
//
// An Incident is immutable once decoded; its strings may share memory with
// the decoded record, so whoever keeps one field for long clones it.
type Incident struct {
	// ID is the case id: 1 to 128 characters of letters, digits and "._:-",
	// compared as written.
	ID string
	// Org is the organisation's name as this record spells it, "" where the
	// record has none; OrgSlug is the slug that identifies it, written or
	// derived, "" only where the record has neither.
	Org, OrgSlug string
	// Date is the day of the incident with the precision recorded.
	Date Date
	// DateKind says what Date dates ("incident", "published"), "" if not said.
	DateKind string

	// The texts, each in every language the record has it in.
	Title, Summary, SymptomsText, Trigger, Detection, Lessons Text

	// ImpactScope and ImpactUsers are texts; ImpactRegion is a plain string,
	// "" where the record has none.
	ImpactScope, ImpactUsers Text
	ImpactRegion             string
	// HasImpact tells whether the record has an impact object.
	HasImpact bool

	// Severity and RootCause are the zero Value where the record has none.
	Severity, RootCause Value
	// The many-valued vocabularies in record order, duplicates included.
	Contributing, Components, Symptoms, Domains []Value

	// DetectedAfter and ResolvedAfter are counted from the start of the
	// incident; the zero Duration where the record says nothing.
	DetectedAfter, ResolvedAfter Duration

	// Remediation and ActionItems are the texts of the steps, record order.
	Remediation, ActionItems []Text
	// Sources holds the sources with an absolute http, https or ftp address;
	// others stay in the record and show in Unknown.
	Sources []Source
	Review  Review
	// Docs are the elements of docs as they stand, valid JSON each.
	Docs []json.RawMessage
	// URL is the record's own page, "" where there is none.
	URL string
	// UpdatedAt is the record's own time of last change in UTC, zero if none.
	UpdatedAt time.Time

	// Related holds the case ids that the record names, record order,
	// duplicates removed; RecurrenceOf the one it repeats, "" if none.
	Related      []string
	RecurrenceOf string

	// Unknown is a JSON object of the members that the model has no field
	// for, nested as in the record (a list keeps its length, null standing
	// where an element has nothing unknown); nil where there are none.
	Unknown json.RawMessage
}

// Values gives the incident's values of one vocabulary in record order. The
// single-valued ones give at most one.
func (i *Incident) Values(v Vocabulary) []Value {
	switch v {
	case ContributingFactor:
		return i.Contributing
	case Component:
		return i.Components
	case Symptom:
		return i.Symptoms
	case Domain:
		return i.Domains
	case RootCause:
		return one(i.RootCause)
	case Severity:
		return one(i.Severity)
	}
	return nil
}

func one(v Value) []Value {
	if v.Slug == "" {
		return nil
	}
	return []Value{v}
}

// Source is where a record's facts come from.
type Source struct {
	// URL is an absolute http, https or ftp address.
	URL string
	// Kind is free text such as "official-status", "" if not said.
	Kind string
	// Archived is the address of an archived copy, "" where there is none.
	Archived string
}

// Review says who wrote and who reviewed a record.
type Review struct {
	WrittenBy, ReviewedBy string
	// ReviewedAt is zero where the record has not been reviewed.
	ReviewedAt time.Time
}

// Reviewed tells whether the record has been reviewed: whether it has a
// review time.
func (r Review) Reviewed() bool { return !r.ReviewedAt.IsZero() }
