package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// DetectTerms finds the listed terms that a text suggests: those whose label,
// in any language, or one of whose cues stands in it. Labels and cues in
// alphabets with words between blanks must begin at a word's beginning; a
// label must also end at a word's end, a cue is the beginning of a word.
// Hangul, kana and Han stand anywhere, since particles and compounds join
// them without a blank. Severities, and terms that say that nothing is known,
// have no cues and are not looked for by label either.
//
// Terms come in the order of their first place in the text, then by
// vocabulary and slug.
func DetectTerms(s *index.Snapshot, concepts *incident.Concepts, text string) []index.TermID {
	folded := fold(text)
	type hit struct {
		at   int
		term incident.Term
		id   index.TermID
	}
	var hits []hit
	for _, c := range concepts.All() {
		if c.Term.Vocabulary == incident.Severity || len(c.Cues) == 0 && isResidual(c.Term.Slug) {
			continue
		}
		first := -1
		note := func(at int) {
			if at >= 0 && (first < 0 || at < first) {
				first = at
			}
		}
		for _, l := range c.PrefLabel {
			note(findWord(folded, fold(l.Text), true))
		}
		for _, cue := range c.Cues {
			note(findWord(folded, fold(cue.Text), false))
		}
		if first < 0 {
			continue
		}
		if id, ok := s.LookupTerm(c.Term); ok {
			hits = append(hits, hit{first, c.Term, id})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.term.Vocabulary != b.term.Vocabulary:
			return int(a.term.Vocabulary) - int(b.term.Vocabulary)
		}
		return strings.Compare(a.term.Slug, b.term.Slug)
	})
	ids := make([]index.TermID, len(hits))
	for i, h := range hits {
		ids[i] = h.id
	}
	return ids
}

// isResidual tells whether a slug is one that vocabularies use for what is
// left over.
func isResidual(slug string) bool { return slug == "unknown" || slug == "other" || slug == "none" }

// fold makes texts comparable: NFKC, lower case.
func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }

// findWord gives the place of the first occurrence of word in text that begins
// at a word's beginning and, if whole, ends at a word's end; -1 where there is
// none.
func findWord(text, word string, whole bool) int {
	if word == "" {
		return -1
	}
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(word)
		if bounded(text[:at], word, true) && (!whole || bounded(text[end:], word, false)) {
			return at
		}
		from = at + 1
	}
}

// bounded tells whether rest, the text before or after an occurrence of word,
// leaves word standing on its own on that side.
func bounded(rest, word string, before bool) bool {
	if rest == "" {
		return true
	}
	var inside, outside rune
	if before {
		outside = lastRune(rest)
		inside, _ = utf8.DecodeRuneInString(word)
	} else {
		outside, _ = utf8.DecodeRuneInString(rest)
		inside = lastRune(word)
	}
	return !isWordRune(outside) || joins(inside) || joins(outside)
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// joins tells whether r belongs to a script whose words join others without a
// blank between.
func joins(r rune) bool {
	return unicode.In(r, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
