package search

import (
	"unicode"
	"unicode/utf8"
)

// script is what decides where a run of characters ends and how it becomes
// tokens.
type script uint8

const (
	separator script = iota // between runs
	ignorable               // format characters: neither part of a run nor its end
	mark                    // combining marks: part of whatever run they stand in
	digit                   // part of a run of letters, or a run of its own

	// Scripts that put spaces between words: a run is one token.
	latin
	greek
	cyrillic
	otherLetters

	// Scripts of syllables, of words without spaces between them, or of
	// words with particles: a run becomes overlapping bigrams.
	hangul
	han
	hiragana
	katakana
	thai
	lao
	khmer
	myanmar
)

// bigrams tells whether runs of the script become bigrams.
func (s script) bigrams() bool { return s >= hangul }

// prolonged is the sign that lengthens the kana before it, hiragana or
// katakana; Unicode gives it no script of its own.
const prolonged = 'ー'

// scriptOf classifies a folded rune.
func scriptOf(r rune) script {
	switch {
	case 'a' <= r && r <= 'z':
		return latin
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf:
		return separator
	case '가' <= r && r <= '힣':
		return hangul
	case '一' <= r && r <= '\u9fff':
		return han
	}
	return scriptInTables(r)
}

func scriptInTables(r rune) script {
	switch {
	case unicode.IsMark(r):
		return mark
	case unicode.Is(unicode.Cf, r):
		return ignorable
	case unicode.IsNumber(r):
		return digit
	case !unicode.IsLetter(r):
		return separator
	case r == prolonged:
		return katakana
	}
	for _, t := range [...]struct {
		table *unicode.RangeTable
		script
	}{
		{unicode.Latin, latin}, {unicode.Greek, greek}, {unicode.Cyrillic, cyrillic},
		{unicode.Hangul, hangul}, {unicode.Han, han}, {unicode.Hiragana, hiragana}, {unicode.Katakana, katakana},
		{unicode.Thai, thai}, {unicode.Lao, lao}, {unicode.Khmer, khmer}, {unicode.Myanmar, myanmar},
	} {
		if unicode.Is(t.table, r) {
			return t.script
		}
	}
	return otherLetters
}
