package search

import (
	"unicode"
	"unicode/utf8"

	// NFKC, the first step of the chain, is in no package of the standard
	// library.
	"golang.org/x/text/unicode/norm"
)

// fold yields the runes of s after NFKC and lower case, each with the range of
// code points of s that it comes from: a ligature gives several runes with one
// range, letters that compose give one rune with a long range.
func fold(s string, yield func(r rune, start, end int)) {
	at := 0
	same := func(s string) { // NFKC leaves s as it is
		for _, r := range s {
			yield(lower(r), at, at+1)
			at++
		}
	}
	if norm.NFKC.QuickSpanString(s) == len(s) { // nearly every text
		same(s)
		return
	}
	var folded []byte
	for len(s) > 0 {
		n := norm.NFKC.NextBoundaryInString(s, true)
		folded = norm.NFKC.AppendString(folded[:0], s[:n])
		if string(folded) == s[:n] {
			same(s[:n])
			s = s[n:]
			continue
		}
		end := at + utf8.RuneCountInString(s[:n])
		for rest := folded; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			yield(lower(r), at, end)
			rest = rest[size:]
		}
		s, at = s[n:], end
	}
}

func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}
