package incident

import (
	"fmt"
	"slices"
)

// maxConceptBytes bounds a vocabulary file.
const maxConceptBytes = 64 << 20

// conceptVersion is the version of the vocabulary file's shape.
const conceptVersion = "1"

// DecodeConcepts reads a vocabulary file: {"version":1,"terms":[{"scheme",
// "slug","label","definition","mappings","cues","broader"}…]}; scheme is a
// vocabulary's name or FACTOR. A later term with the same scheme and slug is
// an error, and so are an unknown broader slug and a cycle of broader. Members
// with other names are ignored. The error is always an *Error.
func DecodeConcepts(raw []byte) (*Concepts, error) {
	if len(raw) > maxConceptBytes {
		return nil, &Error{Code: TooLarge, Offset: -1,
			Reason: fmt.Sprintf("the file has %d bytes, at most %d are allowed", len(raw), maxConceptBytes)}
	}
	doc, err := scan(raw)
	if err != nil {
		return nil, err
	}
	if k := doc.nodes[0].kind; k != objectKind {
		return nil, &Error{Code: NotAnObject, Reason: fmt.Sprintf("a vocabulary file must be an object, not %s", k)}
	}
	doc.text = string(raw)
	d := conceptDecoder{decoder: decoder{document: doc}, set: &Concepts{by: make(map[Term]int)}}
	d.file()
	if d.err != nil {
		return nil, d.err
	}
	return d.set, nil
}

// conceptDecoder reads concepts with the means of the record decoder.
type conceptDecoder struct {
	decoder
	set *Concepts
	// at holds, by concept, the number of its broader value, 0 if none.
	at []int
}

func (d *conceptDecoder) file() {
	version := 0
	for name, v := range d.members(0) {
		switch d.string(name) {
		case "version":
			version = v
		case "terms":
			d.terms(v)
		}
	}
	switch {
	case version == 0:
		d.fail(0, InvalidValue, "has no version, want %s", conceptVersion)
	case string(d.bytes(version)) != conceptVersion:
		d.fail(version, InvalidValue, "must be %s, not %s", conceptVersion, d.bytes(version))
	}
	d.hierarchy()
}

func (d *conceptDecoder) terms(i int) {
	if !d.is(i, arrayKind) {
		return
	}
	for e := range d.elements(i) {
		if !d.element(e, objectKind) {
			return
		}
		d.term(e)
	}
}

func (d *conceptDecoder) term(i int) {
	var c Concept
	broader, scheme := 0, ""
	for name, v := range d.members(i) {
		switch d.string(name) {
		case "scheme":
			scheme = d.plain(v)
		case "slug":
			c.Term.Slug = d.slug(v)
		case "label":
			c.PrefLabel = d.localized(v)
		case "definition":
			c.Definition = d.localized(v)
		case "mappings":
			c.Mappings = d.mappings(v)
		case "cues":
			c.Cues = d.cues(v)
		case "broader":
			if c.Broader = d.slug(v); c.Broader != "" {
				broader = v
			}
		}
	}
	vocabulary, ok := ParseVocabulary(scheme)
	c.Term.Vocabulary = vocabulary
	_, twice := d.set.by[c.Term]
	switch {
	case !ok:
		d.fail(i, InvalidValue, "scheme must be one of %v or FACTOR, not %q", vocabularyNames, scheme)
	case c.Term.Slug == "":
		d.fail(i, InvalidValue, "has no slug")
	case twice:
		d.fail(i, InvalidValue, "%s is listed already", c.Term)
	}
	d.set.by[c.Term] = len(d.set.list)
	d.set.list = append(d.set.list, c)
	d.at = append(d.at, broader)
}

// slug reads a string that is a slug as Slug makes them, "" for null.
func (d *conceptDecoder) slug(i int) string {
	if !d.is(i, stringKind) {
		return ""
	}
	s := d.plain(i)
	if want := Slug(s); s != want || s == "" {
		d.fail(i, InvalidValue, "must be a slug such as %q, not %q", want, s)
	}
	return s
}

func (d *conceptDecoder) mappings(i int) []Mapping {
	if !d.is(i, arrayKind) {
		return nil
	}
	list := make([]Mapping, 0, d.size(i))
	for e := range d.elements(i) {
		if !d.element(e, objectKind) {
			return nil
		}
		list = append(list, d.mapping(e))
	}
	return list
}

func (d *conceptDecoder) mapping(i int) (m Mapping) {
	match := ""
	for name, v := range d.members(i) {
		switch d.string(name) {
		case "taxonomy":
			m.Taxonomy = d.plain(v)
		case "code":
			m.Code = d.plain(v)
		case "match":
			match = d.plain(v)
		}
	}
	names := []string{ExactMatch: "EXACT", CloseMatch: "CLOSE", BroadMatch: "BROAD", NarrowMatch: "NARROW"}
	at := slices.Index(names, match)
	switch {
	case m.Taxonomy == "" || m.Code == "":
		d.fail(i, InvalidValue, "a mapping needs a taxonomy and a code")
	case at < 0:
		d.fail(i, InvalidValue, "match must be one of %v, not %q", names, match)
	}
	m.Match = Match(max(at, 0))
	return m
}

// cues reads {language: [text…]}.
func (d *conceptDecoder) cues(i int) []Cue {
	if !d.is(i, objectKind) {
		return nil
	}
	var list []Cue
	for name, v := range d.members(i) {
		language, ok := languageTag(d.string(name))
		if !ok {
			d.fail(v, InvalidValue, "%q is not a BCP 47 language tag", d.string(name))
		}
		if !d.is(v, arrayKind) {
			continue
		}
		for e := range d.elements(v) {
			if !d.element(e, stringKind) {
				return nil
			}
			if s := d.plain(e); s != "" {
				list = append(list, Cue{Language: language, Text: s})
			}
		}
	}
	return list
}

// hierarchy checks the broader slugs, which may name later terms.
func (d *conceptDecoder) hierarchy() {
	for i, c := range d.set.list {
		if _, ok := d.set.broader(i); c.Broader != "" && !ok {
			d.fail(d.at[i], InvalidValue, "no term %s is listed", Term{c.Term.Vocabulary, c.Broader})
		}
	}
	if cycle := d.set.cycle(); cycle != nil {
		d.fail(d.at[d.set.by[cycle[0]]], InvalidValue, "broader concepts form a cycle: %s", cycleString(cycle))
	}
}
