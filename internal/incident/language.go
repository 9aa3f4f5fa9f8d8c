package incident

import "strings"

// languageTag gives a well-formed BCP 47 tag (RFC 5646, 2.1 and 2.2.9) in its
// canonical case (2.1.1), and false where s is not well-formed.
func languageTag(s string) (string, bool) {
	if (len(s) == 2 || len(s) == 3) && isLower(s[0]) && isLower(s[1]) && isLower(s[len(s)-1]) {
		return s, true
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '-' {
			return "", false
		}
	}
	lower := strings.ToLower(s)
	parts := strings.Split(lower, "-")
	if !irregular(lower) && !wellFormed(parts) {
		return "", false
	}
	single := false // whether a singleton was met
	for i, p := range parts {
		switch {
		case i > 0 && !single && len(p) == 2:
			parts[i] = strings.ToUpper(p)
		case i > 0 && !single && len(p) == 4 && isLower(p[0]):
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
		single = single || len(p) == 1
	}
	return strings.Join(parts, "-"), true
}

// irregular tells of the grandfathered tags that the grammar does not cover.
func irregular(lower string) bool {
	switch lower {
	case "en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo",
		"i-navajo", "i-pwn", "i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl", "sgn-ch-de":
		return true
	}
	return false
}

// wellFormed matches the subtags, in lower case, with the grammar
//
//	langtag = language ["-" script] ["-" region] *("-" variant) *("-" extension) ["-" privateuse]
func wellFormed(p []string) bool {
	if p[0] == "x" {
		return privateUse(p)
	}
	n := len(p[0])
	if n < 2 || n > 8 || !isAlpha(p[0]) {
		return false
	}
	p = p[1:]
	if n <= 3 {
		for range 3 {
			p = skipTag(p, func(s string) bool { return len(s) == 3 && isAlpha(s) })
		}
	}
	p = skipTag(p, func(s string) bool { return len(s) == 4 && isAlpha(s) })
	p = skipTag(p, func(s string) bool {
		return len(s) == 2 && isAlpha(s) || len(s) == 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2])
	})
	for len(p) > 0 && (len(p[0]) >= 5 && len(p[0]) <= 8 || len(p[0]) == 4 && isDigit(p[0][0])) {
		p = p[1:]
	}
	for len(p) > 0 && len(p[0]) == 1 && p[0] != "x" {
		rest := p[1:]
		for len(rest) > 0 && len(rest[0]) >= 2 && len(rest[0]) <= 8 {
			rest = rest[1:]
		}
		if len(rest) == len(p)-1 {
			return false
		}
		p = rest
	}
	return len(p) == 0 || privateUse(p)
}

func privateUse(p []string) bool {
	if p[0] != "x" || len(p) == 1 {
		return false
	}
	for _, s := range p[1:] {
		if len(s) < 1 || len(s) > 8 {
			return false
		}
	}
	return true
}

// skipTag drops the first subtag where it matches.
func skipTag(p []string, match func(string) bool) []string {
	if len(p) > 0 && match(p[0]) {
		return p[1:]
	}
	return p
}

func isAlpha(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLower(c|0x20) }
