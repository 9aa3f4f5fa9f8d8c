package search

import (
	"slices"
	"strings"

	"incidentgraph/internal/incident"
)

// Field is a part of an incident that a query can name: `title:outage`.
type Field uint8

// The fields. Their numbers are part of the index's format.
const (
	AnyField Field = iota
	ID
	Title
	Summary
	Symptoms // the text, where Symptom is the vocabulary
	Trigger
	Detection
	Lessons
	Impact // scope, users and region
	Remediation
	Action
	Org
	Factor
	Component
	Symptom
	Cause
	Domain
	Severity
	fieldCount
)

var fieldNames = [fieldCount]string{
	"", "id", "title", "summary", "symptoms", "trigger", "detection", "lessons", "impact", "remediation", "action",
	"org", "factor", "component", "symptom", "cause", "domain", "severity",
}

// String gives the name that queries use.
func (f Field) String() string {
	if f < fieldCount {
		return fieldNames[f]
	}
	return ""
}

// parseField finds a field by its name in any case.
func parseField(name string) (Field, bool) {
	for f := AnyField + 1; f < fieldCount; f++ {
		if strings.EqualFold(fieldNames[f], name) {
			return f, true
		}
	}
	return AnyField, false
}

// termFields gives the field of each vocabulary.
var termFields = [incident.VocabularyCount]Field{
	incident.ContributingFactor: Factor,
	incident.Component:          Component,
	incident.Symptom:            Symptom,
	incident.RootCause:          Cause,
	incident.Domain:             Domain,
	incident.Severity:           Severity,
}

// FieldOf gives the field that holds the terms of a vocabulary.
func FieldOf(v incident.Vocabulary) Field { return termFields[v] }

// heading tells whether the field names what the incident is about, so that a
// word in it counts for more than one in passing.
func (f Field) heading() bool { return f == Title || f >= Org }

// texts calls yield with every text of an incident that is searched, fields in
// the order of their numbers. Concepts give the names of terms that the record
// does not write itself.
func texts(inc *incident.Incident, concepts *incident.Concepts, yield func(f Field, language, text string)) {
	written := func(f Field, text incident.Text) {
		for _, t := range text {
			yield(f, t.Language, t.Text)
		}
	}
	yield(ID, incident.Undetermined, inc.ID)
	written(Title, inc.Title)
	written(Summary, inc.Summary)
	written(Symptoms, inc.SymptomsText)
	written(Trigger, inc.Trigger)
	written(Detection, inc.Detection)
	written(Lessons, inc.Lessons)
	written(Impact, inc.ImpactScope)
	written(Impact, inc.ImpactUsers)
	if inc.ImpactRegion != "" {
		yield(Impact, incident.Undetermined, inc.ImpactRegion)
	}
	for _, step := range inc.Remediation {
		written(Remediation, step)
	}
	for _, item := range inc.ActionItems {
		written(Action, item)
	}
	for _, name := range orgNames(inc) {
		yield(Org, incident.Undetermined, name)
	}
	for v, f := range termFields {
		for _, value := range inc.Values(incident.Vocabulary(v)) {
			term := incident.Term{Vocabulary: incident.Vocabulary(v), Slug: value.Slug}
			written(f, termNames(term, value.Text, concepts))
		}
	}
}

// orgNames gives the names of an incident's org: as the record writes it, and
// its slug where that says something else.
func orgNames(inc *incident.Incident) []string {
	var names []string
	if inc.Org != "" {
		names = append(names, inc.Org)
	}
	if inc.OrgSlug != "" && inc.OrgSlug != incident.Slug(inc.Org) {
		names = append(names, inc.OrgSlug)
	}
	return names
}

// termNames gives the names of a term: its labels in the vocabulary, how a
// record writes it ("" for not at all) and its slug, each unless one before it
// has the same words.
func termNames(t incident.Term, writtenAs string, concepts *incident.Concepts) incident.Text {
	var names incident.Text
	var slugs []string
	add := func(language, text string) {
		if s := incident.Slug(text); s != "" && !slices.Contains(slugs, s) {
			names = append(names, incident.LanguageText{Language: language, Text: text})
			slugs = append(slugs, s)
		}
	}
	if c := concepts.Lookup(t); c != nil {
		for _, label := range c.PrefLabel {
			add(label.Language, label.Text)
		}
	}
	add(incident.Undetermined, writtenAs)
	add(incident.Undetermined, t.Slug)
	return names
}
