package view

import (
	"cmp"
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
// same. What is malformed is left out; what has the weight 0 is in refused.
func ParseAcceptLanguage(header string) (wanted, refused Languages) {
	if len(header) > maxAcceptLanguage {
		header = header[:maxAcceptLanguage]
		header = header[:max(0, strings.LastIndexByte(header, ','))]
	}
	if header == "" {
		return nil, nil
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
		q, valid := weight(params)
		switch {
		case !ok || !valid:
		case q == 0 && len(refused) < maxRanges:
			refused = append(refused, tag)
		case q > 0 && len(ranges) < maxRanges:
			ranges = append(ranges, weighted{tag, q})
		}
	}
	slices.SortStableFunc(ranges, func(a, b weighted) int { return cmp.Compare(b.q, a.q) })
	wanted = make(Languages, len(ranges))
	for i, r := range ranges {
		wanted[i] = r.tag
	}
	return wanted, refused
}

// weight reads "q=0.5"; 1 where there is none, false where it is malformed.
func weight(params string) (float64, bool) {
	params = strings.TrimSpace(params)
	if params == "" {
		return 1, true
	}
	value, ok := strings.CutPrefix(strings.ToLower(params), "q=")
	if !ok {
		return 0, false
	}
	q, err := strconv.ParseFloat(value, 64)
	return q, err == nil && q >= 0 && q <= 1
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

// refuses tells whether a range is the beginning of a tag, or the tag.
func (l Languages) refuses(tag string) bool {
	return slices.ContainsFunc(l, func(r string) bool {
		return tag == r || len(tag) > len(r) && tag[len(r)] == '-' && tag[:len(r)] == r
	})
}

// chooseBut is choose for a reader who refuses some languages unless he asks
// for them more closely, as in "en-GB, en;q=0": versions in them are taken only
// where there is nothing else, and are a fallback.
func (l Languages) chooseBut(refused Languages, t incident.Text) (version int, fallback bool) {
	left := make(incident.Text, 0, len(t))
	places := make([]int, 0, len(t))
	for i := range t {
		if !refused.refuses(t[i].Language) || slices.Contains(l, t[i].Language) {
			left, places = append(left, t[i]), append(places, i)
		}
	}
	if len(left) == 0 {
		version, _ = l.choose(t)
		return version, true
	}
	version, fallback = l.choose(left)
	return places[version], fallback || len(l) == 0 && (refused.refuses("en") || slices.Contains(refused, "*"))
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
	shown := o.shown(t, asked)
	return &shown
}

// shown is text for what is not empty.
func (o *Operation) shown(t incident.Text, asked []string) LocalizedText {
	languages := o.languages
	if len(asked) > 0 {
		languages = asked[:min(len(asked), maxLanguages)]
	}
	var i int
	var fallback bool
	if len(o.refused) > 0 && len(asked) == 0 {
		i, fallback = languages.chooseBut(o.refused, t)
	} else {
		i, fallback = languages.choose(t)
	}
	return LocalizedText{Text: t[i].Text, Language: t[i].Language, IsFallback: fallback, versions: t}
}

// undetermined makes a text of a string whose language is not recorded.
func undetermined(s string) incident.Text {
	return incident.Text{{Language: incident.Undetermined, Text: s}}
}
