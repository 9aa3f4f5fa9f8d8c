package incident

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// address gives s as an absolute http, https or ftp URL (RFC 3986), and false
// where it is none. Characters outside ASCII, which an IRI may have, are
// percent-encoded (RFC 3987, 3.1).
func address(s string) (string, bool) {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok {
		return "", false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp":
	default:
		return "", false
	}
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c == 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 || c == '%' && !percent(s[i:]) {
			return "", false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if u, err := url.Parse(s); err != nil || u.Hostname() == "" {
		return "", false
	}
	if ascii {
		return s, true
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String(), true
}

// percent tells whether s begins with a percent-encoded byte.
func percent(s string) bool {
	return len(s) >= 3 && isHex(s[1]) && isHex(s[2])
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
