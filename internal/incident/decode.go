package incident

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Decode reads and validates one record: everything that a record can know
// about itself. The error is always an *Error. raw is not kept, but the
// strings of the Incident share one copy of it.
func Decode(raw []byte) (*Incident, error) {
	if len(raw) > MaxRecordBytes {
		return nil, &Error{Code: TooLarge, Offset: -1,
			Reason: fmt.Sprintf("the record has %d bytes, at most %d are allowed", len(raw), MaxRecordBytes)}
	}
	doc, err := scan(raw)
	if err != nil {
		err.CaseID = doc.partialID()
		return nil, err
	}
	if k := doc.nodes[0].kind; k != objectKind {
		return nil, &Error{Code: NotAnObject, Reason: fmt.Sprintf("a record must be an object, not %s", k)}
	}
	doc.text = string(raw)
	d := decoder{document: doc}
	d.record()
	if d.err != nil {
		d.err.CaseID = doc.partialID()
		return nil, d.err
	}
	if d.left {
		d.inc.Unknown = doc.appendUnknown(nil, 0)
	}
	return &d.inc, nil
}

// partialID gives the record's id, as far as the document goes; "" where
// there is no valid one.
func (d *document) partialID() string {
	if len(d.nodes) == 0 || d.nodes[0].kind != objectKind {
		return ""
	}
	for i := 1; i+1 < len(d.nodes); i = int(d.nodes[i+1].next) {
		v := d.nodes[i+1]
		if v.kind == stringKind && d.name(i) == "id" {
			if id := d.name(i + 1); checkID(id) == "" {
				return id
			}
		}
		if v.next == 0 {
			break
		}
	}
	return ""
}

// decoder reads the model from a document. The first problem stays in err,
// and reading goes on as if the value were not there.
type decoder struct {
	*document
	inc Incident
	err *Error
	// left tells whether any value was left unused.
	left bool
}

func (d *decoder) fail(i int, c Code, format string, args ...any) {
	if d.err == nil {
		d.err = &Error{Code: c, Path: d.path(i), Offset: int(d.nodes[i].start), Reason: fmt.Sprintf(format, args...)}
	}
}

// is tells whether value i has kind k; null counts as absent, any other kind
// is a problem.
func (d *decoder) is(i int, k kind) bool {
	n := &d.nodes[i]
	switch n.kind {
	case k:
		return true
	case nullKind:
		n.use = taken
	default:
		d.fail(i, WrongType, "must be %s or null, not %s", k, n.kind)
	}
	return false
}

// element tells whether value i has kind k; any other kind is a problem, null
// too.
func (d *decoder) element(i int, k kind) bool {
	if n := &d.nodes[i]; n.kind != k {
		d.fail(i, WrongType, "must be %s, not %s", k, n.kind)
		return false
	}
	return true
}

func (d *decoder) record() {
	inc := &d.inc
	d.nodes[0].use = entered
	for name, v := range d.members(0) {
		switch d.string(name) {
		case "id":
			d.id(v)
		case "org":
			inc.Org = d.plain(v)
		case "org_slug":
			inc.OrgSlug = Slug(d.plain(v))
		case "date":
			inc.Date = d.date(v)
		case "date_kind":
			inc.DateKind = d.plain(v)
		case "title":
			inc.Title = d.localized(v)
		case "summary":
			inc.Summary = d.localized(v)
		case "symptoms_text":
			inc.SymptomsText = d.localized(v)
		case "trigger":
			inc.Trigger = d.localized(v)
		case "detection":
			inc.Detection = d.localized(v)
		case "lessons":
			inc.Lessons = d.localized(v)
		case "impact":
			d.impact(v)
		case "severity":
			inc.Severity = value(d.plain(v))
		case "root_cause":
			inc.RootCause = value(d.plain(v))
		case "contributing":
			inc.Contributing = d.values(v)
		case "components":
			inc.Components = d.values(v)
		case "symptoms":
			inc.Symptoms = d.values(v)
		case "domain":
			inc.Domains = d.domains(v)
		case "timeline":
			d.timeline(v)
		case "remediation":
			inc.Remediation = d.steps(v)
		case "action_items":
			inc.ActionItems = d.steps(v)
		case "sources":
			d.sources(v)
		case "review":
			d.review(v)
		case "docs":
			d.docs(v)
		case "url":
			inc.URL = d.address(v)
		case "updated_at":
			inc.UpdatedAt = d.time(v)
		case "related":
			d.related(v)
		case "recurrence_of":
			inc.RecurrenceOf = d.caseID(v)
		default:
			d.left = true
		}
	}
	if inc.OrgSlug == "" {
		inc.OrgSlug = Slug(inc.Org)
	}
	d.links()
}

func (d *decoder) id(i int) {
	if d.nodes[i].kind == nullKind || d.element(i, stringKind) {
		d.inc.ID = d.caseID(i)
	}
}

// links checks what the record says of itself: it has an id and does not name
// it as another case's.
func (d *decoder) links() {
	inc := &d.inc
	if inc.ID == "" {
		if d.err == nil {
			d.err = &Error{Code: MissingID, Path: []any{"id"}, Offset: -1, Reason: "is missing: a record needs an id of " + idRule}
		}
		return
	}
	for name, v := range d.members(0) {
		switch d.string(name) {
		case "recurrence_of":
			if inc.RecurrenceOf == inc.ID {
				d.fail(v, SelfLink, "the case cannot be a recurrence of itself")
			}
		case "related":
			if d.nodes[v].kind != arrayKind {
				continue
			}
			for e := range d.elements(v) {
				if d.nodes[e].kind == stringKind && d.string(e) == inc.ID {
					d.fail(e, SelfLink, "the case cannot be related to itself")
				}
			}
		}
	}
}

const idRule = `1 to 128 ASCII letters, digits and "._:-"`

// checkID tells what is wrong with a case id, "" if nothing.
func checkID(id string) string {
	if len(id) == 0 || len(id) > MaxIDLength {
		return "must have " + idRule
	}
	for i := range len(id) {
		c := id[i]
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte("._:-", c) < 0 {
			return fmt.Sprintf("must be %s; %q has others", idRule, id)
		}
	}
	return ""
}

// caseID reads a case id, "" for null.
func (d *decoder) caseID(i int) string {
	if !d.is(i, stringKind) {
		return ""
	}
	id := d.plain(i)
	if wrong := checkID(id); wrong != "" {
		d.fail(i, InvalidValue, "%s", wrong)
		return ""
	}
	return id
}

// plain reads a string, "" for null.
func (d *decoder) plain(i int) string {
	if !d.is(i, stringKind) {
		return ""
	}
	d.nodes[i].use = taken
	return d.string(i)
}

func (d *decoder) date(i int) Date {
	if !d.is(i, stringKind) {
		return 0
	}
	date, err := ParseDate(d.plain(i))
	if err != nil {
		d.fail(i, InvalidValue, "%v", err)
	}
	return date
}

func (d *decoder) time(i int) time.Time {
	if !d.is(i, stringKind) {
		return time.Time{}
	}
	s := d.plain(i)
	t, ok := parseTime(s)
	if !ok {
		d.fail(i, InvalidValue, "must be an RFC 3339 time such as 2026-11-14T12:33:53Z, not %q", s)
		return time.Time{}
	}
	return t
}

func (d *decoder) duration(i int) Duration {
	if !d.is(i, stringKind) {
		return Duration{}
	}
	dur, err := ParseDuration(d.plain(i))
	if err != nil {
		d.fail(i, InvalidValue, "%v", err)
	}
	return dur
}

// localized reads a text in several languages, or a plain string.
func (d *decoder) localized(i int) Text {
	if d.nodes[i].kind == stringKind {
		if s := d.plain(i); s != "" {
			return Text{{Language: Undetermined, Text: s}}
		}
		return nil
	}
	if d.nodes[i].kind != objectKind && d.nodes[i].kind != nullKind {
		d.fail(i, WrongType, "must be an object {language: text}, a string or null, not %s", d.nodes[i].kind)
		return nil
	}
	if !d.is(i, objectKind) {
		return nil
	}
	d.nodes[i].use = entered
	text := make(Text, 0, 2)
	var seen map[string]bool // made for texts in many languages
	for name, v := range d.members(i) {
		language, ok := languageTag(d.string(name))
		// Two spellings of one tag: the model has room for the first.
		if !ok || text.has(language, &seen) {
			d.left = true
			continue
		}
		if s := d.plain(v); s != "" {
			text = append(text, LanguageText{Language: language, Text: s})
		}
	}
	if len(text) == 0 {
		return nil
	}
	return text
}

// has tells whether t has a version in the language. Looking through a few is
// fastest; beyond that seen, which starts out nil, keeps track.
func (t Text) has(language string, seen *map[string]bool) bool {
	const few = 16
	if len(t) <= few {
		return slices.ContainsFunc(t, func(l LanguageText) bool { return l.Language == language })
	}
	if *seen == nil {
		*seen = make(map[string]bool, 2*few)
	}
	for _, l := range t[len(*seen):] {
		(*seen)[l.Language] = true
	}
	return (*seen)[language]
}

func (d *decoder) impact(i int) {
	if !d.is(i, objectKind) {
		return
	}
	d.nodes[i].use = entered
	d.inc.HasImpact = true
	for name, v := range d.members(i) {
		switch d.string(name) {
		case "scope":
			d.inc.ImpactScope = d.localized(v)
		case "users":
			d.inc.ImpactUsers = d.localized(v)
		case "region":
			d.inc.ImpactRegion = d.region(v)
		default:
			d.left = true
		}
	}
}

// region reads impact.region, of which the model keeps one version: English,
// or else the first. The others are unknown members.
func (d *decoder) region(i int) string {
	text := d.localized(i)
	if len(text) == 0 {
		return ""
	}
	best := 0
	for k, l := range text {
		if l.Language == "en" {
			best = k
		}
	}
	if len(text) == 1 {
		return text[0].Text
	}
	for name, v := range d.members(i) {
		language, ok := languageTag(d.string(name))
		if ok && d.nodes[v].kind == stringKind && d.nodes[v].end-d.nodes[v].start > 2 && language != text[best].Language {
			d.nodes[v].use = unused
			d.left = true
		}
	}
	return text[best].Text
}

func value(written string) Value { return Value{Text: written, Slug: Slug(written)} }

// values reads a list of vocabulary values; an empty string is none.
func (d *decoder) values(i int) []Value {
	if !d.is(i, arrayKind) {
		return nil
	}
	d.nodes[i].use = taken
	list := make([]Value, 0, d.size(i))
	for e := range d.elements(i) {
		if !d.element(e, stringKind) {
			return nil
		}
		if s := d.string(e); s != "" {
			list = append(list, value(s))
		}
	}
	return list
}

// domains reads a list of values or a single one.
func (d *decoder) domains(i int) []Value {
	switch k := d.nodes[i].kind; k {
	case stringKind:
		return one(value(d.plain(i)))
	case arrayKind, nullKind:
		return d.values(i)
	default:
		d.fail(i, WrongType, "must be a list of strings, a string or null, not %s", k)
		return nil
	}
}

func (d *decoder) timeline(i int) {
	if !d.is(i, objectKind) {
		return
	}
	d.nodes[i].use = entered
	for name, v := range d.members(i) {
		switch d.string(name) {
		case "detected_after":
			d.inc.DetectedAfter = d.duration(v)
		case "resolved_after":
			d.inc.ResolvedAfter = d.duration(v)
		default:
			d.left = true
		}
	}
}

// steps reads a list of {"text": …} and plain strings; an element without a
// text is no step.
func (d *decoder) steps(i int) []Text {
	if !d.is(i, arrayKind) {
		return nil
	}
	d.nodes[i].use = entered
	list := make([]Text, 0, d.size(i))
	for e := range d.elements(i) {
		if text := d.step(e); text != nil {
			list = append(list, text)
		}
	}
	return list
}

func (d *decoder) step(i int) Text {
	if d.nodes[i].kind == stringKind {
		return d.localized(i)
	}
	if d.nodes[i].kind != objectKind {
		d.fail(i, WrongType, "must be an object with a text, or a string, not %s", d.nodes[i].kind)
		return nil
	}
	d.nodes[i].use = entered
	var text Text
	for name, v := range d.members(i) {
		if d.string(name) == "text" {
			text = d.localized(v)
		} else {
			d.left = true
		}
	}
	return text
}

func (d *decoder) sources(i int) {
	if !d.is(i, arrayKind) {
		return
	}
	d.nodes[i].use = entered
	list := make([]Source, 0, d.size(i))
	for e := range d.elements(i) {
		if source := d.source(e); source.URL != "" {
			list = append(list, source)
		}
	}
	d.inc.Sources = list
}

// source reads one element of sources. One without an address that can be
// followed is not a source: it is unknown as a whole.
func (d *decoder) source(i int) (s Source) {
	if d.nodes[i].kind == stringKind {
		s.URL = d.address(i)
		return s
	}
	if d.nodes[i].kind != objectKind {
		d.fail(i, WrongType, "must be an object with a url, or a string, not %s", d.nodes[i].kind)
		return s
	}
	for name, v := range d.members(i) {
		switch d.string(name) {
		case "url":
			s.URL = d.address(v)
		case "kind":
			s.Kind = d.plain(v)
		case "archived":
			s.Archived = d.address(v)
		default:
			d.left = true
		}
	}
	if s.URL == "" {
		d.left = true
		return Source{}
	}
	d.nodes[i].use = entered
	return s
}

// address reads an absolute URL, "" for null; anything else that is a string
// is unknown.
func (d *decoder) address(i int) string {
	if !d.is(i, stringKind) {
		return ""
	}
	s := d.string(i)
	if s == "" {
		d.nodes[i].use = taken
		return ""
	}
	u, ok := address(s)
	if !ok {
		d.left = true
		return ""
	}
	d.nodes[i].use = taken
	return u
}

func (d *decoder) review(i int) {
	if !d.is(i, objectKind) {
		return
	}
	d.nodes[i].use = entered
	for name, v := range d.members(i) {
		switch d.string(name) {
		case "written_by":
			d.inc.Review.WrittenBy = d.plain(v)
		case "reviewed_by":
			d.inc.Review.ReviewedBy = d.plain(v)
		case "reviewed_at":
			d.inc.Review.ReviewedAt = d.time(v)
		default:
			d.left = true
		}
	}
}

func (d *decoder) docs(i int) {
	if !d.is(i, arrayKind) {
		return
	}
	d.nodes[i].use = taken
	list := make([]json.RawMessage, 0, d.size(i))
	for e := range d.elements(i) {
		list = append(list, Compact(d.bytes(e)))
	}
	d.inc.Docs = list
}

func (d *decoder) related(i int) {
	if !d.is(i, arrayKind) {
		return
	}
	d.nodes[i].use = taken
	list := make([]string, 0, d.size(i))
	for e := range d.elements(i) {
		if !d.element(e, stringKind) {
			return
		}
		list = append(list, d.caseID(e))
	}
	d.inc.Related = distinct(list)
}

// distinct removes later copies from list.
func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	out := list[:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// appendUnknown writes the unused parts of container i.
func (d *document) appendUnknown(b []byte, i int) []byte {
	if d.nodes[i].kind == objectKind {
		return d.appendUnknownMembers(b, i)
	}
	b = append(b, '[')
	for e := range d.elements(i) {
		if e > i+1 {
			b = append(b, ',')
		}
		if d.hasUnknown(e) {
			b = d.appendValue(b, e)
		} else {
			b = append(b, "null"...)
		}
	}
	return append(b, ']')
}

func (d *document) appendUnknownMembers(b []byte, i int) []byte {
	b = append(b, '{')
	first := true
	for name, v := range d.members(i) {
		if !d.hasUnknown(v) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, d.bytes(name)...), ':')
		b = d.appendValue(b, v)
	}
	return append(b, '}')
}

func (d *document) appendValue(b []byte, i int) []byte {
	if d.nodes[i].use == unused {
		return AppendCompact(b, d.bytes(i))
	}
	return d.appendUnknown(b, i)
}

// hasUnknown tells whether value i or a part of it is unused.
func (d *document) hasUnknown(i int) bool {
	if d.nodes[i].use != entered {
		return d.nodes[i].use == unused
	}
	if d.nodes[i].kind == objectKind {
		for _, v := range d.members(i) {
			if d.hasUnknown(v) {
				return true
			}
		}
		return false
	}
	for e := range d.elements(i) {
		if d.hasUnknown(e) {
			return true
		}
	}
	return false
}
