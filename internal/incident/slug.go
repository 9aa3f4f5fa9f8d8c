package incident

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	// NFKC is in no package of the standard library, and its tables are the
	// kind of thing that is wrong when written twice.
	"golang.org/x/text/unicode/norm"
)

// hashLength is the number of hexadecimal digits of a slug's hash.
const hashLength = 8

// Slug derives a term's or an org's slug from its written form: NFKC, lower
// case, runs of characters other than letters, marks and digits to one
// hyphen, none at the ends. A slug over 128 characters is cut and ends in a
// hyphen and a short hash of the whole; a form that leaves nothing gives
// "x-" and a hash. "" only for "".
func Slug(written string) string {
	if isSlug(written) {
		return written
	}
	s := hyphenate(fold(written))
	if s == "" {
		return "x-" + hash(written)
	}
	if len(s) > MaxSlugLength && utf8.RuneCountInString(s) > MaxSlugLength {
		return strings.TrimRight(firstRunes(s, MaxSlugLength-hashLength-1), "-") + "-" + hash(s)
	}
	return s
}

// isSlug tells of most slugs, and of "", that they are slugs already.
func isSlug(s string) bool {
	if len(s) > MaxSlugLength {
		return false
	}
	hyphen := true // whether the character before is a hyphen, or none
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || isDigit(c):
			hyphen = false
		case c == '-' && !hyphen:
			hyphen = true
		default:
			return false
		}
	}
	return s == "" || !hyphen
}

// fold gives NFKC in lower case. Lower case can undo NFKC (and NFKC lower
// case), so both are repeated until nothing changes.
func fold(s string) string {
	for {
		folded := norm.NFKC.String(strings.ToLower(norm.NFKC.String(s)))
		if folded == s {
			return s
		}
		s = folded
	}
}

func hyphenate(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:hashLength]
}
