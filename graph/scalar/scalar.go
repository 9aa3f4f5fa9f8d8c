// Package scalar gives the schema's scalars their Go types, and decides which
// values they take. Its functions are named as gqlgen binds them: MarshalX and
// UnmarshalX for the scalar X. What MarshalX writes is made by AppendX, which
// package direct's generated code calls; it gives false, and nothing appended,
// for a value that is null.
//
// Unmarshalling is strict, as the GraphQL specification wants input coercion
// to be: a String is never made of a number. Every refusal is an *Error.
package scalar

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/text/language"

	"incidentgraph/graph/direct"
	"incidentgraph/internal/incident"
)

// Error says that a value is not one of a scalar's.
type Error struct {
	Scalar string
	// Reason says what would be right.
	Reason string
}

// Error names the scalar and the reason.
func (e *Error) Error() string { return "not a " + e.Scalar + ": " + e.Reason }

// checks holds the custom scalars that do not take every value.
var checks = map[string]func(any) error{
	"DateTime":    func(v any) error { _, err := UnmarshalDateTime(v); return err },
	"PartialDate": func(v any) error { _, err := UnmarshalPartialDate(v); return err },
	"Language":    func(v any) error { _, err := UnmarshalLanguage(v); return err },
	"URL":         func(v any) error { _, err := UnmarshalURL(v); return err },
}

// Check tells whether the named custom scalar takes a value; a scalar that it
// does not know takes all.
func Check(name string, v any) error {
	if check := checks[name]; check != nil {
		return check(v)
	}
	return nil
}

func text(scalar, want string, v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", &Error{Scalar: scalar, Reason: "it must be a string, " + want}
	}
	return s, nil
}

// marshal makes a marshaler of what a function appends.
func marshal[T any](v T, appendTo func([]byte, T) ([]byte, bool)) graphql.Marshaler {
	b, ok := appendTo(nil, v)
	if !ok {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(b) })
}

// MarshalID writes an id.
func MarshalID(id string) graphql.Marshaler { return marshal(id, AppendID) }

// AppendID writes an id.
func AppendID(b []byte, id string) ([]byte, bool) { return direct.AppendString(b, id), true }

// UnmarshalID takes a string or an integer.
func UnmarshalID(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v.String(), nil
		}
	}
	return "", &Error{Scalar: "ID", Reason: "it must be a string or an integer"}
}

// MarshalFloat writes a finite number as JSON does: without an exponent unless
// it is very large or small. Others become null, which is an error where the
// schema does not allow it.
func MarshalFloat(f float64) graphql.Marshaler { return marshal(f, AppendFloat) }

// AppendFloat is MarshalFloat.
func AppendFloat(b []byte, f float64) ([]byte, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, false
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64), true
}

// UnmarshalFloat takes a finite number.
func UnmarshalFloat(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int: // a default in the schema
		return float64(v), nil
	case int64:
		return float64(v), nil
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f, nil
		}
	}
	return 0, &Error{Scalar: "Float", Reason: "it must be a finite number"}
}

// MarshalDateTime writes an instant in UTC with the digits it needs; the zero
// time is null.
func MarshalDateTime(t time.Time) graphql.Marshaler { return marshal(t, AppendDateTime) }

// AppendDateTime is MarshalDateTime.
func AppendDateTime(b []byte, t time.Time) ([]byte, bool) {
	if t.IsZero() {
		return b, false
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"'), true
}

// UnmarshalDateTime reads RFC 3339 text.
func UnmarshalDateTime(v any) (time.Time, error) {
	const want = "such as 2026-11-14T12:33:53Z"
	s, err := text("DateTime", want, v)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, &Error{Scalar: "DateTime", Reason: "it must be RFC 3339 text, " + want}
	}
	return t.UTC(), nil
}

// MarshalPartialDate writes a date with the precision it has; no date is null.
func MarshalPartialDate(d incident.Date) graphql.Marshaler { return marshal(d, AppendPartialDate) }

// AppendPartialDate is MarshalPartialDate.
func AppendPartialDate(b []byte, d incident.Date) ([]byte, bool) {
	if d.IsZero() {
		return b, false
	}
	b = append(b, '"')
	b = d.Append(b)
	return append(b, '"'), true
}

// UnmarshalPartialDate reads a year, a year and month, or a day; null, where
// the schema allows it, is no date.
func UnmarshalPartialDate(v any) (incident.Date, error) {
	const want = "such as 2015, 2015-09 or 2015-09-20"
	if v == nil {
		return 0, nil
	}
	s, err := text("PartialDate", want, v)
	if err != nil {
		return 0, err
	}
	d, err := incident.ParseDate(s)
	if err != nil || d.IsZero() {
		return 0, &Error{Scalar: "PartialDate", Reason: "it must be a date of the calendar, " + want}
	}
	return d, nil
}

// MarshalLanguage writes a language tag.
func MarshalLanguage(tag string) graphql.Marshaler { return marshal(tag, AppendLanguage) }

// AppendLanguage writes a language tag.
func AppendLanguage(b []byte, tag string) ([]byte, bool) { return direct.AppendString(b, tag), true }

// maxTag bounds the work of reading a tag: the longest registered ones have
// 35 characters (RFC 5646, section 4.4.1).
const maxTag = 100

// UnmarshalLanguage reads a well-formed BCP 47 tag and gives it in its
// canonical case.
func UnmarshalLanguage(v any) (string, error) {
	const want = "such as en or pt-BR"
	s, err := text("Language", want, v)
	if err != nil {
		return "", err
	}
	if tag, ok := CanonicalTag(s); ok {
		return tag, nil
	}
	return "", &Error{Scalar: "Language", Reason: "it must be a well-formed BCP 47 tag, " + want}
}

// CanonicalTag gives a well-formed BCP 47 tag in its canonical case; it tells
// false where the text is none. Subtags are not replaced, and need not be
// registered.
func CanonicalTag(s string) (string, bool) {
	if s == "" || len(s) > maxTag || strings.ContainsRune(s, '_') {
		return "", false
	}
	tag, err := language.Raw.Parse(s)
	if err == nil {
		return tag.String(), true
	}
	if _, unregistered := err.(language.ValueError); unregistered { //nolint:errorlint // never wrapped
		return titleCase(s), true
	}
	return "", false
}

// titleCase puts the subtags of a tag into the case that RFC 5646, section
// 2.1.1 recommends: scripts titled, regions in capitals, the rest small.
func titleCase(tag string) string {
	parts := strings.Split(strings.ToLower(tag), "-")
	for i, p := range parts {
		switch {
		case i == 0 || len(parts[i-1]) == 1:
		case len(p) == 2:
			parts[i] = strings.ToUpper(p)
		case len(p) == 4 && p[0] >= 'a':
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "-")
}

// MarshalURL writes an address.
func MarshalURL(address string) graphql.Marshaler { return marshal(address, AppendURL) }

// AppendURL writes an address.
func AppendURL(b []byte, address string) ([]byte, bool) { return direct.AppendString(b, address), true }

// UnmarshalURL reads an absolute URL.
func UnmarshalURL(v any) (string, error) {
	const want = "such as https://example.org/"
	s, err := text("URL", want, v)
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(s); err != nil || !u.IsAbs() {
		return "", &Error{Scalar: "URL", Reason: "it must be an absolute URL, " + want}
	}
	return s, nil
}

// MarshalJSON writes a JSON value as it stands; nil is null.
func MarshalJSON(raw json.RawMessage) graphql.Marshaler { return marshal(raw, AppendJSON) }

// AppendJSON is MarshalJSON.
func AppendJSON(b []byte, raw json.RawMessage) ([]byte, bool) {
	return append(b, raw...), raw != nil
}

// UnmarshalJSON takes any value.
func UnmarshalJSON(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode a JSON argument: %w", err)
	}
	return raw, nil
}
