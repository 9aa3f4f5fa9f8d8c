package view

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"incidentgraph/graph/scalar"
	"incidentgraph/internal/incident"
)

// Languages are language ranges (RFC 4647), best first, in canonical case;
// "*" is any language.
type Languages []string

// Bounds of an Accept-Language header; what is beyond is ignored.
const (
	maxAcceptLanguage = 1 << 10 // bytes
	maxRanges         = 16
)

// ParseAcceptLanguage reads an Accept-Language header (RFC 9110, section
// 12.5.4): the ranges by falling weight, in the order given where that is the
// same. What is malformed, or has the weight 0, is left out.
func ParseAcceptLanguage(header string) Languages {
	if len(header) > maxAcceptLanguage {
		header = header[:maxAcceptLanguage]
		header = header[:max(0, strings.LastIndexByte(header, ','))]
	}
	if header == "" {
		return nil
	}
	type weighted struct {
		tag string
		q   float64
	}
	var ranges []weighted
	for part := range strings.SplitSeq(header, ",") {
		tag, params, _ := strings.Cut(part, ";")
		tag = strings.TrimSpace(tag)
		ok := tag == "*"
		if !ok {
			tag, ok = scalar.CanonicalTag(tag)
		}
		if q := weight(params); ok && q > 0 && len(ranges) < maxRanges {
			ranges = append(ranges, weighted{tag, q})
		}
	}
	slices.SortStableFunc(ranges, func(a, b weighted) int {
		switch {
		case a.q > b.q:
			return -1
		case a.q < b.q:
			return 1
		}
		return 0
	})
	languages := make(Languages, len(ranges))
	for i, r := range ranges {
		languages[i] = r.tag
	}
	return languages
}

// weight reads "q=0.5"; 1 where there is none, 0 where it is malformed.
func weight(params string) float64 {
	params = strings.TrimSpace(params)
	if params == "" {
		return 1
	}
	value, ok := strings.CutPrefix(strings.ToLower(params), "q=")
	if !ok {
		return 0
	}
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(q) || q < 0 || q > 1 {
		return 0
	}
	return q
}

// english stands in where a reader asks for no language, and is tried before
// any other where those asked for are not there.
var english = Languages{"en"}

// choose picks the version of a text, which must not be empty, and tells
// whether none of the languages asked for was there.
func (l Languages) choose(t incident.Text) (version int, fallback bool) {
	if len(l) == 0 {
		l = english
	}
	if i := l.find(t); i >= 0 {
		return i, false
	}
	fallback = !slices.Contains(l, "*")
	return max(0, english.find(t)), fallback
}

// find looks the ranges up (RFC 4647, section 3.4); where that finds nothing
// it takes a longer tag that a range begins, so that pt finds pt-BR. -1 where
// there is none.
func (l Languages) find(t incident.Text) int {
	for _, r := range l {
		if i := lookup(t, r); i >= 0 {
			return i
		}
	}
	for _, r := range l {
		for i := range t {
			if tag := t[i].Language; len(tag) > len(r) && tag[len(r)] == '-' && tag[:len(r)] == r {
				return i
			}
		}
	}
	return -1
}

// lookup finds the version whose language is the range or, failing that, the
// longest beginning of it; -1 where there is none.
func lookup(t incident.Text, r string) int {
	for r != "" {
		for i := range t {
			if t[i].Language == r {
				return i
			}
		}
		r = r[:max(0, strings.LastIndexByte(r, '-'))]
		if n := len(r); n > 1 && r[n-2] == '-' { // a single letter is never last
			r = r[:n-2]
		}
	}
	return -1
}

// LocalizedText is a text in one of its languages.
type LocalizedText struct {
	Text       string
	Language   string
	IsFallback bool
	versions   incident.Text
}

// Available lists the languages that the text is in.
func (t *LocalizedText) Available() []string {
	tags := make([]string, len(t.versions))
	for i, v := range t.versions {
		tags[i] = v.Language
	}
	return tags
}

// Translation gives the text in one language, false where it is not there.
func (t *LocalizedText) Translation(language string) (string, bool) {
	if i := lookup(t.versions, language); i >= 0 {
		return t.versions[i].Text, true
	}
	return "", false
}

// maxLanguages bounds the argument languages.
const maxLanguages = maxRanges

// text picks the version of a text to show; nil for no text. asked is the
// argument languages, empty where it is not given.
func (o *Operation) text(t incident.Text, asked []string) *LocalizedText {
	if len(t) == 0 {
		return nil
	}
	languages := o.languages
	if len(asked) > 0 {
		languages = asked[:min(len(asked), maxLanguages)]
	}
	i, fallback := languages.choose(t)
	return &LocalizedText{Text: t[i].Text, Language: t[i].Language, IsFallback: fallback, versions: t}
}

// undetermined makes a text of a string whose language is not recorded.
func undetermined(s string) incident.Text {
	return incident.Text{{Language: incident.Undetermined, Text: s}}
}
