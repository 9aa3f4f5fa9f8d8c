package incident

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Duration is a length of time as a record says it. The zero Duration is
// nothing recorded.
type Duration struct {
	// Text is the recorded text, "" where nothing is recorded.
	Text string
	// Seconds is its length where Known: where the text can be read. A month
	// counts 30.44 days and a year 365.25.
	Seconds float64
	Known   bool
}

// unit is a unit of time; they fall in size.
type unit uint8

const (
	years unit = iota
	months
	weeks
	days
	hours
	minutes
	seconds
	unitCount = iota
)

// seconds gives the unit's length.
func (u unit) seconds() float64 {
	const day = 24 * 60 * 60
	return [unitCount]float64{365.25 * day, 30.44 * day, 7 * day, day, 60 * 60, 60, 1}[u]
}

// parseUnit reads a unit's name. A capital M alone could be months or minutes
// and is neither.
func parseUnit(s string) (unit, bool) {
	if s == "M" {
		return 0, false
	}
	switch strings.ToLower(s) {
	case "y", "yr", "yrs", "year", "years":
		return years, true
	case "mo", "mos", "month", "months":
		return months, true
	case "w", "wk", "wks", "week", "weeks":
		return weeks, true
	case "d", "day", "days":
		return days, true
	case "h", "hr", "hrs", "hour", "hours":
		return hours, true
	case "m", "min", "mins", "minute", "minutes":
		return minutes, true
	case "s", "sec", "secs", "second", "seconds":
		return seconds, true
	}
	return 0, false
}

// part is a number of one unit, such as 4h.
type part struct {
	number string // digits, possibly with a point and a fraction; no sign
	unit   unit
}

// ParseDuration reads a recorded duration: numbers, possibly with a fraction,
// with the units y, mo, w, d, h, m, s (also in words: "54 hours", "5280
// minutes") in falling order, or an ISO 8601 duration ("PT4H51M", "P1Y2M3D",
// "P2W"). Text that cannot be read is kept with Known false and no error. A
// negative duration is an error.
func ParseDuration(s string) (Duration, error) {
	d := Duration{Text: s}
	parts, negative, ok := splitDuration(s)
	if !ok {
		return d, nil
	}
	if negative {
		return Duration{}, fmt.Errorf("must not be negative, as %q is", s)
	}
	for _, p := range parts {
		n, err := strconv.ParseFloat(p.number, 64)
		if err != nil {
			return d, nil //nolint:nilerr // out of range: text that cannot be read
		}
		d.Seconds += n * p.unit.seconds()
	}
	if math.IsInf(d.Seconds, 0) {
		d.Seconds = 0
		return d, nil
	}
	d.Known = true
	return d, nil
}

// splitDuration gives the parts of a duration in either notation, and whether
// any of them has a minus sign; false where the text cannot be read.
func splitDuration(s string) (parts []part, negative, ok bool) {
	s = strings.TrimSpace(s)
	body, signed := cutSign(s)
	if strings.HasPrefix(body, "P") {
		parts, negative, ok = splitISO8601(body[1:])
	} else {
		parts, negative, ok = splitWords(body)
	}
	return parts, negative || signed, ok
}

// cutSign cuts a sign from the front and tells whether it is a minus.
func cutSign(s string) (rest string, minus bool) {
	for _, sign := range []string{"-", "\u2212", "+"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return rest, sign != "+"
		}
	}
	return s, false
}

// splitWords reads "4h 51m", "54 hours", "1 day, 2 hours and 5 minutes".
func splitWords(s string) (parts []part, negative, ok bool) {
	for first := true; ; first = false {
		s = strings.TrimLeft(s, " \t")
		if !first {
			s = strings.TrimLeft(strings.TrimPrefix(s, ","), " \t")
			s = strings.TrimLeft(strings.TrimPrefix(s, "and "), " \t")
		}
		rest, minus := cutSign(s)
		number, rest := cutNumber(rest, ".")
		if number == "" {
			return nil, false, false
		}
		rest = strings.TrimLeft(rest, " \t")
		word := rest[:len(rest)-len(strings.TrimLeft(rest, letters))]
		u, ok := parseUnit(word)
		if !ok || len(parts) > 0 && parts[len(parts)-1].unit >= u {
			return nil, false, false
		}
		parts = append(parts, part{number, u})
		negative = negative || minus
		if s = rest[len(word):]; s == "" {
			return parts, negative, true
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// splitISO8601 reads what comes after the P: nYnMnWnDTnHnMnS.
func splitISO8601(s string) (parts []part, negative, ok bool) {
	designators := "YMWD"
	base := years
	for s != "" {
		if base == years && s[0] == 'T' {
			designators, base, s = "HMS", hours, s[1:]
		}
		rest, minus := cutSign(s)
		number, rest := cutNumber(rest, ".,")
		if number == "" || rest == "" {
			return nil, false, false
		}
		at := strings.IndexByte(designators, rest[0])
		if at < 0 {
			return nil, false, false
		}
		u := base + unit(at)
		if len(parts) > 0 && (parts[len(parts)-1].unit >= u || strings.Contains(parts[len(parts)-1].number, ".")) {
			return nil, false, false
		}
		parts = append(parts, part{number, u})
		negative = negative || minus
		s = rest[1:]
	}
	return parts, negative, len(parts) > 0
}

// cutNumber cuts digits and possibly a fraction from the front of s. The
// number comes without needless zeros and with a point; "" where there is
// none.
func cutNumber(s, marks string) (number, rest string) {
	whole := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	if whole == "" {
		return "", s
	}
	rest = s[len(whole):]
	number = strings.TrimLeft(whole[:len(whole)-1], "0") + whole[len(whole)-1:]
	if rest != "" && strings.IndexByte(marks, rest[0]) >= 0 {
		fraction := rest[1 : len(rest)-len(strings.TrimLeft(rest[1:], "0123456789"))]
		if fraction == "" {
			return "", s
		}
		rest = rest[1+len(fraction):]
		if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
			number += "." + fraction
		}
	}
	return number, rest
}

// ISO8601 gives the duration as ISO 8601, keeping the recorded units where
// ISO 8601 can say them ("PT4H51M", "P1Y3M", "P593D"); "" where not Known.
func (d Duration) ISO8601() string {
	if !d.Known {
		return ""
	}
	parts, _, ok := splitDuration(d.Text)
	if !ok || !sayable(parts) {
		return "PT" + strconv.FormatFloat(d.Seconds, 'f', -1, 64) + "S"
	}
	var b strings.Builder
	b.WriteByte('P')
	time := false
	for _, p := range parts {
		if p.unit >= hours && !time {
			b.WriteByte('T')
			time = true
		}
		b.WriteString(p.number)
		b.WriteByte("YMWDHMS"[p.unit])
	}
	return b.String()
}

// sayable tells whether ISO 8601 has a form for the parts: a fraction in the
// last only, and weeks only alone.
func sayable(parts []part) bool {
	for i, p := range parts {
		if i < len(parts)-1 && strings.Contains(p.number, ".") || p.unit == weeks && len(parts) > 1 {
			return false
		}
	}
	return true
}
