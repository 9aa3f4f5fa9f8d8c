package view

import (
	"encoding/json"
	"strings"
	"time"

	"incidentgraph/graph/model"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// Incident is one incident. Methods with an error read the whole record.
type Incident struct {
	op   *Operation
	node *index.Node
}

func (o *Operation) incident(n *index.Node) *Incident {
	if n == nil {
		return nil
	}
	return &Incident{o, n}
}

// Incident finds an incident by case id; nil where there is none.
func (o *Operation) Incident(caseID string) *Incident { return o.incident(o.index.Lookup(caseID)) }

// ID is the node id.
func (i *Incident) ID() string { return nodeID(incidentID, i.node.ID) }

// CaseID is the record's own id.
func (i *Incident) CaseID() string { return i.node.ID }

// Version counts the stored changes.
func (i *Incident) Version() int { return int(i.node.Version) }

// Title is the title, the case id where there is none.
func (i *Incident) Title(languages []string) LocalizedText {
	title := i.node.Title
	if len(title) == 0 {
		title = undetermined(i.node.ID)
	}
	return i.op.shown(title, languages)
}

// recordText shows one of the record's texts.
func (i *Incident) recordText(languages []string, of func(*incident.Incident) incident.Text) (*LocalizedText, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	return i.op.text(of(rec), languages), nil
}

// Summary says what happened.
func (i *Incident) Summary(languages []string) (*LocalizedText, error) {
	return i.recordText(languages, func(r *incident.Incident) incident.Text { return r.Summary })
}

// SymptomsText says what was seen from outside.
func (i *Incident) SymptomsText(languages []string) (*LocalizedText, error) {
	return i.recordText(languages, func(r *incident.Incident) incident.Text { return r.SymptomsText })
}

// Trigger says what set the incident off.
func (i *Incident) Trigger(languages []string) (*LocalizedText, error) {
	return i.recordText(languages, func(r *incident.Incident) incident.Text { return r.Trigger })
}

// Detection says how it was noticed.
func (i *Incident) Detection(languages []string) (*LocalizedText, error) {
	return i.recordText(languages, func(r *incident.Incident) incident.Text { return r.Detection })
}

// Lessons says what was learned.
func (i *Incident) Lessons(languages []string) (*LocalizedText, error) {
	return i.recordText(languages, func(r *incident.Incident) incident.Text { return r.Lessons })
}

// Org is the organisation whose incident it is.
func (i *Incident) Org() *Org {
	if i.node.Org == index.NoOrg {
		return nil
	}
	return i.op.org(i.node.Org)
}

// Date is the day of the incident.
func (i *Incident) Date() incident.Date { return i.node.Date }

// DateKind says what Date dates.
func (i *Incident) DateKind() (string, bool) { return i.node.DateKind, i.node.DateKind != "" }

// one gives the term of a vocabulary of which an incident has at most one.
func one[T any](terms []*T) *T {
	if len(terms) == 0 {
		return nil
	}
	return terms[0]
}

// Severity is how severe it was.
func (i *Incident) Severity() *Severity {
	return one(termsOf[Severity](i.op, i.node.Terms(incident.Severity)))
}

// RootCause is the kind of cause.
func (i *Incident) RootCause() *RootCause {
	return one(termsOf[RootCause](i.op, i.node.Terms(incident.RootCause)))
}

// ContributingFactors are what else made it possible or worse.
func (i *Incident) ContributingFactors() []*ContributingFactor {
	return termsOf[ContributingFactor](i.op, i.node.Terms(incident.ContributingFactor))
}

// Components are the parts of the system affected.
func (i *Incident) Components() []*Component {
	return termsOf[Component](i.op, i.node.Terms(incident.Component))
}

// Symptoms are how it showed.
func (i *Incident) Symptoms() []*Symptom {
	return termsOf[Symptom](i.op, i.node.Terms(incident.Symptom))
}

// Domains are the fields that it belongs to.
func (i *Incident) Domains() []*Domain {
	return termsOf[Domain](i.op, i.node.Terms(incident.Domain))
}

// Impact is whom and what it touched.
func (i *Incident) Impact() (*Impact, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil || !rec.HasImpact {
		return nil, err
	}
	return &Impact{i.op, rec}, nil
}

// Impact is whom and what an incident touched.
type Impact struct {
	op  *Operation
	rec *incident.Incident
}

// Scope is what was affected.
func (i *Impact) Scope(languages []string) *LocalizedText {
	return i.op.text(i.rec.ImpactScope, languages)
}

// Users are who was affected.
func (i *Impact) Users(languages []string) *LocalizedText {
	return i.op.text(i.rec.ImpactUsers, languages)
}

// Region is the region affected.
func (i *Impact) Region() (string, bool) { return i.rec.ImpactRegion, i.rec.ImpactRegion != "" }

// Timeline tells how long detection and resolution took.
func (i *Incident) Timeline() *Timeline { return &Timeline{i.node} }

// Timeline tells how long after its start an incident was detected and resolved.
type Timeline struct{ node *index.Node }

// DetectedAfter is from the start to the detection.
func (t *Timeline) DetectedAfter() *Duration { return duration(&t.node.DetectedAfter) }

// ResolvedAfter is from the start to the end.
func (t *Timeline) ResolvedAfter() *Duration { return duration(&t.node.ResolvedAfter) }

// Duration is a length of time as a record says it.
type Duration struct{ *incident.Duration }

func duration(d *incident.Duration) *Duration {
	if d.Text == "" {
		return nil
	}
	return &Duration{d}
}

// Text is the recorded text.
func (d *Duration) Text() string { return d.Duration.Text }

// Seconds is the length, where it can be read.
func (d *Duration) Seconds() (float64, bool) { return d.Duration.Seconds, d.Known }

// Iso8601 is the length as ISO 8601 writes it.
func (d *Duration) Iso8601() (string, bool) {
	s := d.ISO8601()
	return s, s != ""
}

// Remediation is what was done to end the incident.
func (i *Incident) Remediation() ([]*RemediationStep, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	steps := make([]*RemediationStep, len(rec.Remediation))
	for n, t := range rec.Remediation {
		steps[n] = &RemediationStep{i.op, t}
	}
	return steps, nil
}

// RemediationStep is one step taken to end an incident.
type RemediationStep struct {
	op   *Operation
	text incident.Text
}

// Text is what was done.
func (s *RemediationStep) Text(languages []string) *LocalizedText {
	return s.op.text(s.text, languages)
}

// ActionItems are what was done or promised against a repetition.
func (i *Incident) ActionItems() ([]*ActionItem, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	items := make([]*ActionItem, len(rec.ActionItems))
	for n, t := range rec.ActionItems {
		items[n] = &ActionItem{incident: i, n: n, text: t}
	}
	return items, nil
}

// ActionItem is something done or promised against a repetition.
type ActionItem struct {
	incident *Incident
	n        int // position in the record, from 0
	text     incident.Text
}

// ID is the node id.
func (a *ActionItem) ID() string { return itemID(a.incident.node.ID, a.n) }

// Text is what is to be done.
func (a *ActionItem) Text(languages []string) *LocalizedText {
	return a.incident.op.text(a.text, languages)
}

// Incident is the one that it follows from.
func (a *ActionItem) Incident() *Incident { return a.incident }

// Sources are where the record's facts come from.
func (i *Incident) Sources() ([]*Source, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	sources := make([]*Source, len(rec.Sources))
	for n := range rec.Sources {
		sources[n] = &Source{&rec.Sources[n]}
	}
	return sources, nil
}

// Source is where a record's facts come from.
type Source struct{ source *incident.Source }

// URL is the address.
func (s *Source) URL() string { return s.source.URL }

// Kind is what kind of source it is.
func (s *Source) Kind() (string, bool) { return s.source.Kind, s.source.Kind != "" }

// Archived is the address of an archived copy.
func (s *Source) Archived() (string, bool) { return s.source.Archived, s.source.Archived != "" }

// ArchivedAt is when the copy was archived.
func (s *Source) ArchivedAt() time.Time { return archiveTime(s.source.Archived) }

// archiveTime reads the time that web archives put into their addresses: a
// path segment of 14 digits, YYYYMMDDhhmmss in UTC, perhaps followed by a
// modifier such as "id_". It gives the zero time where there is none.
func archiveTime(address string) time.Time {
	const layout = "20060102150405"
	_, path, _ := strings.Cut(address, "://")
	for segment := range strings.SplitSeq(path, "/") {
		digits := len(segment) - len(strings.TrimLeft(segment, "0123456789"))
		if digits != len(layout) || len(segment) > digits+len("id_") {
			continue
		}
		if t, err := time.Parse(layout, segment[:digits]); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Review tells who wrote and who reviewed the record.
func (i *Incident) Review() (*Review, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	return &Review{&rec.Review}, nil
}

// Review tells who wrote a record and who reviewed it.
type Review struct{ review *incident.Review }

// WrittenBy wrote the record.
func (r *Review) WrittenBy() (string, bool) { return r.review.WrittenBy, r.review.WrittenBy != "" }

// ReviewedBy reviewed it.
func (r *Review) ReviewedBy() (string, bool) { return r.review.ReviewedBy, r.review.ReviewedBy != "" }

// ReviewedAt is when.
func (r *Review) ReviewedAt() time.Time { return r.review.ReviewedAt }

// Reviewed tells whether it has been reviewed.
func (r *Review) Reviewed() bool { return r.review.Reviewed() }

// Docs are the record's docs as they stand.
func (i *Incident) Docs() ([]json.RawMessage, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	return rec.Docs, nil
}

// URL is the record's own page.
func (i *Incident) URL() (*string, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil || rec.URL == "" {
		return nil, err
	}
	return &rec.URL, nil
}

// UpdatedAt is when the record says that it was last changed.
func (i *Incident) UpdatedAt() time.Time { return i.node.UpdatedAt }

// UnknownMembers are the record's members that the schema has no field for.
func (i *Incident) UnknownMembers() (json.RawMessage, error) {
	rec, err := i.op.record(i.node.ID)
	if err != nil {
		return nil, err
	}
	return rec.Unknown, nil
}

// RecurrenceOf is the earlier case that this one repeats.
func (i *Incident) RecurrenceOf() *Incident {
	return i.op.incident(i.op.index.RecurrenceOf(i.node))
}

// Recurrences are the later cases that name this one.
func (i *Incident) Recurrences(first *int, after *string, last *int, before *string) (*IncidentConnection, error) {
	return i.op.incidents(i.op.index.Recurrences(i.node), nil, nil, PageArgs{First: first, After: after, Last: last, Before: before})
}

// UnresolvedLinks are those to cases that are not stored.
func (i *Incident) UnresolvedLinks() []*UnresolvedLink {
	related, recurrenceOf := i.op.index.Unresolved(i.node)
	links := make([]*UnresolvedLink, 0, len(related)+1)
	for _, id := range related {
		links = append(links, &UnresolvedLink{index.RelatedLink, id})
	}
	if recurrenceOf != "" {
		links = append(links, &UnresolvedLink{index.RecurrenceLink, recurrenceOf})
	}
	return links
}

// UnresolvedLink is a link to a case that is not stored.
type UnresolvedLink struct {
	Kind   index.LinkKind
	CaseID string
}

// IncidentConnection is a list of incidents, in pages.
type IncidentConnection struct {
	connection[*Incident, *IncidentEdge]
	op  *Operation
	set index.Set // the whole list
}

// IncidentEdge is one element of a list of incidents.
type IncidentEdge struct {
	incident Incident
	order    []index.Order
}

// Node is the incident.
func (e *IncidentEdge) Node() *Incident { return &e.incident }

func (e *IncidentEdge) node() *Incident { return &e.incident }

// Cursor is the element's place in the list.
func (e *IncidentEdge) Cursor() string {
	key := e.incident.op.index.KeyOf(e.incident.node, e.order)
	p := place{list: incidentList, order: orderBytes(e.order), values: key.Values, key: key.ID}
	return p.cursor()
}

// key is the place as the index has it.
func (p *place) indexKey() *index.Key {
	if p == nil {
		return nil
	}
	return &index.Key{Values: p.values, ID: p.key}
}

// Incidents lists the incidents that match.
func (o *Operation) Incidents(where *model.IncidentFilter, orderBy []*model.IncidentOrder, a PageArgs) (*IncidentConnection, error) {
	return o.incidents(o.index.All(), where, orderBy, a)
}

// incidents lists the incidents of a set that match.
func (o *Operation) incidents(set index.Set, where *model.IncidentFilter, orderBy []*model.IncidentOrder, a PageArgs) (*IncidentConnection, error) {
	by, err := orders(orderBy)
	if err != nil {
		return nil, err
	}
	p, err := o.check(a, incidentList, orderBytes(by), len(by))
	if err != nil {
		return nil, err
	}
	if set, err = o.selected(set, where); err != nil {
		return nil, err
	}
	return &IncidentConnection{op: o, set: set, connection: connection[*Incident, *IncidentEdge]{
		load: func() (page[*IncidentEdge], error) {
			at := o.index.Page(set, by, index.PageArgs{
				First: p.first, Last: p.last, After: p.after.indexKey(), Before: p.before.indexKey(),
			})
			values, edges := make([]IncidentEdge, len(at.Nodes)), make([]*IncidentEdge, len(at.Nodes))
			for i, n := range at.Nodes {
				values[i] = IncidentEdge{Incident{o, n}, by}
				edges[i] = &values[i]
			}
			return page[*IncidentEdge]{edges: edges, next: at.HasNext, previous: at.HasPrevious}, nil
		},
		count: func() (int, error) { return set.Len(), nil },
	}}, nil
}
