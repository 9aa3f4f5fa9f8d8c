package incident

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Limits of one record.
const (
	MaxRecordBytes = 4 << 20
	MaxNesting     = 64
	MaxIDLength    = 128
	MaxSlugLength  = 128
)

// Code names a kind of problem with a record; the values are stable.
type Code string

// The codes.
const (
	NotJSON         Code = "NOT_JSON"
	NotAnObject     Code = "NOT_AN_OBJECT"
	InvalidUTF8     Code = "INVALID_UTF8"
	DuplicateMember Code = "DUPLICATE_MEMBER"
	WrongType       Code = "WRONG_TYPE"
	InvalidValue    Code = "INVALID_VALUE" // right type, value breaks a rule
	MissingID       Code = "MISSING_ID"
	TooLarge        Code = "TOO_LARGE"
	TooDeep         Code = "TOO_DEEP"
	SelfLink        Code = "SELF_LINK"
)

// Error tells what is wrong with one record and where.
type Error struct {
	Code Code
	// CaseID is the record's id where it could be read.
	CaseID string
	// Path leads to the member: names and list indexes. Empty for the whole record.
	Path []any
	// Offset is the byte offset of the problem in the record, -1 if unknown.
	Offset int
	// Reason says what is wrong and what would be right.
	Reason string
}

// Error gives path and reason, such as `timeline.resolved_after: must be a
// string or null, not a number`.
func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return PathString(e.Path) + ": " + e.Reason
}

// PathString writes a path as `remediation[2].text`. A name with characters
// that do not print stands in quotes, so that no record can send commands to
// the terminal that shows its errors; a long one is cut.
func PathString(path []any) string {
	var b strings.Builder
	for _, p := range path {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(printable(fmt.Sprint(p)))
		}
	}
	return b.String()
}

// printable gives a name as it can be shown.
func printable(name string) string {
	const longest = 80
	if r := []rune(name[:min(len(name), 4*longest)]); len(r) > longest {
		name = string(r[:longest]) + "…"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
