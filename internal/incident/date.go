package incident

import (
	"fmt"
	"strings"
	"time"
)

// Date is an ISO 8601 calendar date of the years 0001 to 9999 with reduced
// precision: a year, a year and month, or a day. The zero Date is no date.
//
// Dates order as integers: by their first day, on a tie the less precise
// first (2015 < 2015-01 < 2015-01-01).
//
// Layout: year<<16 | month<<8 | day, month and day 0 where not recorded.
type Date uint32

// ParseDate reads "2015", "2015-09" or "2015-09-20".
func ParseDate(s string) (Date, error) {
	const layout = "2006-01-02"
	var precise string // s made a day
	switch len(s) {
	case len("2006"):
		precise = s + "-01-01"
	case len("2006-01"):
		precise = s + "-01"
	default:
		precise = s
	}
	// time.Parse takes exactly the layout, and the days of the calendar only.
	t, err := time.Parse(layout, precise)
	switch {
	case err != nil && shapedLike(precise, layout):
		return 0, fmt.Errorf("%q is not in the calendar", s)
	case err != nil:
		return 0, fmt.Errorf("must be a date such as 2015, 2015-09 or 2015-09-20, not %q", s)
	case t.Year() == 0:
		return 0, fmt.Errorf("%q is before the year 0001", s)
	}
	d := DateOf(t)
	switch len(s) {
	case len("2006"):
		return d &^ 0xffff, nil
	case len("2006-01"):
		return d &^ 0xff, nil
	}
	return d, nil
}

// parseTime reads an RFC 3339 time into UTC. time.Parse lets more pass (an
// hour of one digit, a comma, offsets over a day), so the shape is checked here.
func parseTime(s string) (time.Time, bool) {
	const layout = "2006-01-02T15:04:05"
	s = strings.ToUpper(s)
	if len(s) <= len(layout) || !shapedLike(s[:len(layout)], layout) || s[len(layout)] == ',' {
		return time.Time{}, false
	}
	if offset := s[max(0, len(s)-len("+00:00")):]; !strings.HasSuffix(s, "Z") && (offset[1:3] > "23" || offset[4:] > "59") {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, s)
	return t.UTC(), err == nil
}

// shapedLike tells whether s has digits where the layout has them, and is
// like it elsewhere.
func shapedLike(s, layout string) bool {
	if len(s) != len(layout) {
		return false
	}
	for i := range len(s) {
		if isDigit(layout[i]) != isDigit(s[i]) || !isDigit(s[i]) && s[i] != layout[i] {
			return false
		}
	}
	return true
}

// Year gives 1 to 9999, 0 for no date.
func (d Date) Year() int { return int(d >> 16) }

// Month gives 1 to 12, 0 where the date is a year.
func (d Date) Month() int { return int(d >> 8 & 0xff) }

// Day gives 1 to 31, 0 where the date is a year or a month.
func (d Date) Day() int { return int(d & 0xff) }

// IsZero tells whether there is no date.
func (d Date) IsZero() bool { return d == 0 }

// FirstDay gives the first day of the date in UTC.
func (d Date) FirstDay() time.Time {
	return time.Date(d.Year(), time.Month(max(d.Month(), 1)), max(d.Day(), 1), 0, 0, 0, 0, time.UTC)
}

// String gives the date as recorded, "" for no date.
func (d Date) String() string { return string(d.Append(nil)) }

// Append appends the date as recorded, nothing for no date.
func (d Date) Append(b []byte) []byte {
	if d == 0 {
		return b
	}
	y := d.Year()
	b = append(b, byte('0'+y/1000%10), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10))
	for _, part := range [...]int{d.Month(), d.Day()} {
		if part == 0 {
			return b
		}
		b = append(b, '-', byte('0'+part/10), byte('0'+part%10))
	}
	return b
}

// DateOf gives the day of t in UTC.
func DateOf(t time.Time) Date {
	y, m, d := t.UTC().Date()
	return Date(y)<<16 | Date(m)<<8 | Date(d)
}
