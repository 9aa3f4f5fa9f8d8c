package incident

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Date // 0: refused
	}{
		{"2015", date(2015, 0, 0)},
		{"2015-09", date(2015, 9, 0)},
		{"2015-09-20", date(2015, 9, 20)},
		{"0001", date(1, 0, 0)},
		{"0001-01-01", date(1, 1, 1)},
		{"9999-12-31", date(9999, 12, 31)},
		{"1628-08-10", date(1628, 8, 10)},
		{"2016-02-29", date(2016, 2, 29)},
		{"2000-02-29", date(2000, 2, 29)},
		{in: "2018-02-29"}, {in: "1900-02-29"}, {in: "2015-13"}, {in: "2015-00"}, {in: "2015-04-31"}, {in: "2015-01-00"},
		{in: "0000"}, {in: "0000-05"}, {in: ""}, {in: "15"}, {in: "2015-9"}, {in: "2015-9-20"}, {in: "2015-09-20T00:00:00Z"},
		{in: " 2015"}, {in: "2015 "}, {in: "20150920"}, {in: "2015-263"}, {in: "-001"}, {in: "+2015"}, {in: "２０１５"},
		{in: "2015/09"}, {in: "2015--9"}, {in: "2021/22-??-??"},
	} {
		got, err := ParseDate(tt.in)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("ParseDate(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
		if err == nil && got.String() != tt.in {
			t.Errorf("ParseDate(%q).String() = %q, want the same", tt.in, got)
		}
	}
}

func TestDateOrder(t *testing.T) {
	want := []string{"2014-12-31", "2015", "2015-01", "2015-01-01", "2015-01-02", "2015-02", "2015-02-01", "2016"}
	dates := make([]Date, 0, len(want))
	for _, s := range want {
		d, err := ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		dates = append(dates, d)
	}
	got := slices.Clone(dates)
	slices.Reverse(got)
	slices.Sort(got)
	if !slices.Equal(got, dates) {
		t.Errorf("sorted = %v, want %v", got, dates)
	}
	if !slices.IsSortedFunc(got, func(a, b Date) int { return a.FirstDay().Compare(b.FirstDay()) }) {
		t.Errorf("first days of %v are not in order", got)
	}
}

func TestDateOf(t *testing.T) {
	at := time.Date(2015, 9, 20, 23, 30, 0, 0, time.FixedZone("", -3600))
	if got, want := DateOf(at), date(2015, 9, 21); got != want {
		t.Errorf("DateOf(%v) = %v, want %v", at, got, want)
	}
	var none Date
	if !none.IsZero() || none.String() != "" {
		t.Errorf("Date(0) = %q, %v, want no date", none, none.IsZero())
	}
}

func TestParseTime(t *testing.T) {
	for _, tt := range []struct {
		in, want string // "" refused
	}{
		{"2026-11-14T12:33:53.681461Z", "2026-11-14T12:33:53.681461Z"},
		{"2026-11-14T12:33:53+09:00", "2026-11-14T03:33:53Z"},
		{"2026-11-14t12:33:53.5z", "2026-11-14T12:33:53.5Z"},
		{"2026-11-14T12:33:53-23:59", "2026-11-15T12:32:53Z"},
		{in: ""}, {in: "2026-11-14"}, {in: "2026-11-14T12:33Z"}, {in: "2026-11-14T1:33:53Z"}, {in: "2026-11-14 12:33:53Z"},
		{in: "2026-11-14T12:33:53"}, {in: "2026-11-14T12:33:53,5Z"}, {in: "2026-11-14T24:00:00Z"},
		{in: "2026-11-14T12:33:53+24:00"}, {in: "2026-11-14T12:33:53+09:60"}, {in: "2026-02-30T00:00:00Z"},
		{in: "2026-11-14T12:33:53+0900"}, {in: "2026-11-14T12:33:53.Z"}, {in: "2026-11-14T12:33:53+"},
	} {
		got, ok := parseTime(tt.in)
		if ok != (tt.want != "") || ok && got.Format(time.RFC3339Nano) != tt.want {
			t.Errorf("parseTime(%q) = %v, %v, want %q", tt.in, got, ok, tt.want)
		}
	}
}

// FuzzParseDate compares with a regular reading of the parts.
func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2015", "2015-09", "2015-09-20", "2018-02-29", "0000", "9999-12-31", "2021/22-??-??"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDate(s)
		if err != nil {
			if d != 0 {
				t.Errorf("ParseDate(%q) = %v, %v, want no date", s, d, err)
			}
			for _, layout := range []string{"2006", "2006-01", "2006-01-02"} {
				if at, err := time.Parse(layout, s); err == nil && at.Year() > 0 && at.Format(layout) == s {
					t.Errorf("ParseDate(%q) is refused, want %v", s, at)
				}
			}
			return
		}
		if d.String() != s {
			t.Errorf("ParseDate(%q).String() = %q, want the same", s, d)
		}
		day := d.FirstDay()
		if cmp.Compare(d.Year(), day.Year()) != 0 || d.Month() > 0 && d.Month() != int(day.Month()) || d.Day() > 0 && d.Day() != day.Day() {
			t.Errorf("ParseDate(%q) = %v, want a day of the calendar, not %v", s, d, day)
		}
	})
}
