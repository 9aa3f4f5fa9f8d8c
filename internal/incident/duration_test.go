package incident

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestParseDuration(t *testing.T) {
	const day = 86400
	for _, tt := range []struct {
		in      string
		seconds float64 // negative: unknown
		iso     string
	}{
		{"4h 51m", 17460, "PT4H51M"},
		{"2d", 2 * day, "P2D"},
		{"1y 3mo", 365.25*day + 3*30.44*day, "P1Y3M"},
		{"593d", 593 * day, "P593D"},
		{"PT4H51M", 17460, "PT4H51M"},
		{"P1Y2M3D", 365.25*day + 2*30.44*day + 3*day, "P1Y2M3D"},
		{"P2W", 14 * day, "P2W"},
		{"P1DT12H", 1.5 * day, "P1DT12H"},
		{"PT0,5H", 1800, "PT0.5H"},
		{"5280m", 316800, "PT5280M"},
		{"5280 minutes", 316800, "PT5280M"},
		{"2.3y", 2.3 * 365.25 * day, "P2.3Y"},
		{"54 hours", 194400, "PT54H"},
		{"1 day, 2 hours and 5 minutes", day + 7200 + 300, "P1DT2H5M"},
		{"1h30m", 5400, "PT1H30M"},
		{"213d 23h 59m", 213*day + 23*3600 + 59*60, "P213DT23H59M"},
		{"0m", 0, "PT0M"},
		{"05 Min", 300, "PT5M"},
		{" 4h ", 14400, "PT4H"},
		{"+4h", 14400, "PT4H"},
		{"1.5h 30m", 7200, "PT7200S"},
		{"1w 2d", 9 * day, "PT777600S"},
		{"0.50s", 0.5, "PT0.5S"},
		{"1 yr 2 mos 3 wks 4 days 5 hrs 6 mins 7 secs", 365.25*day + 2*30.44*day + 25*day + 5*3600 + 6*60 + 7, "PT38995999S"},
		{in: "", seconds: -1}, {in: "Never", seconds: -1}, {in: "NA", seconds: -1}, {in: "?", seconds: -1}, {in: "N/A", seconds: -1},
		{in: "5", seconds: -1}, {in: "h", seconds: -1}, {in: "5m 4h", seconds: -1}, {in: "5m 5m", seconds: -1}, {in: "5M", seconds: -1},
		{in: "500ms", seconds: -1}, {in: "about 4h", seconds: -1}, {in: "4h or so", seconds: -1}, {in: "10-20m", seconds: -1},
		{in: "1,500m", seconds: -1}, {in: "1.h", seconds: -1}, {in: ".5h", seconds: -1}, {in: "4h,", seconds: -1}, {in: "4h and", seconds: -1},
		{in: "P", seconds: -1}, {in: "PT", seconds: -1}, {in: "P1DT", seconds: -1}, {in: "PT1D", seconds: -1}, {in: "P1H", seconds: -1},
		{in: "PT1.5H30M", seconds: -1}, {in: "PT5M4H", seconds: -1}, {in: "P1", seconds: -1}, {in: "PTT1H", seconds: -1}, {in: "pt4h", seconds: -1},
		{in: strings.Repeat("9", 400) + "y", seconds: -1}, {in: strings.Repeat("9", 308) + "y", seconds: -1}, {in: "4시간", seconds: -1},
	} {
		got, err := ParseDuration(tt.in)
		want := Duration{Text: tt.in}
		if tt.seconds >= 0 {
			want = Duration{Text: tt.in, Seconds: tt.seconds, Known: true}
		}
		if err != nil || got.Text != want.Text || got.Known != want.Known || math.Abs(got.Seconds-want.Seconds) > 1e-6 {
			t.Errorf("ParseDuration(%.40q) = %+v, %v, want %+v", tt.in, got, err, want)
		}
		if iso := got.ISO8601(); iso != tt.iso {
			t.Errorf("ParseDuration(%.40q).ISO8601() = %q, want %q", tt.in, iso, tt.iso)
		}
	}
}

func TestParseDurationNegative(t *testing.T) {
	for _, in := range []string{"-5m", "-4h 51m", "4h -51m", "\u22125 minutes", "-PT5M", "PT-5M", "P-1D", "-0m"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %+v, nil, want an error", in, got)
		}
	}
	for _, in := range []string{"-", "-5", "- soon", "-h"} { // cannot be read, and so are not negative
		if got, err := ParseDuration(in); err != nil || got.Known {
			t.Errorf("ParseDuration(%q) = %+v, %v, want it unread", in, got, err)
		}
	}
}

func TestDurationISO8601Computed(t *testing.T) {
	d := Duration{Text: "median", Seconds: 90.5, Known: true}
	if got, want := d.ISO8601(), "PT90.5S"; got != want {
		t.Errorf("%+v.ISO8601() = %q, want %q", d, got, want)
	}
}

var isoPattern = regexp.MustCompile(`^P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?` +
	`(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// FuzzParseDuration checks that what is read comes back as an ISO 8601
// duration of the same length, read by a regular expression.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"4h 51m", "1y 3mo", "54 hours", "2.3y", "PT4H51M", "P1Y2M3DT4H5M6,5S", "-5m", "Never", "1w 2d", "1.5h 30m", "1 day, 2 hours and 5 minutes"} {
		f.Add(s)
	}
	lengths := []float64{365.25 * 86400, 30.44 * 86400, 7 * 86400, 86400, 3600, 60, 1}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			if !strings.ContainsAny(s, "-\u2212") {
				t.Errorf("ParseDuration(%q) = %v, but nothing is negative", s, err)
			}
			return
		}
		if d.Text != s || !d.Known && (d.Seconds != 0 || d.ISO8601() != "") || d.Seconds < 0 || math.IsInf(d.Seconds, 0) || math.IsNaN(d.Seconds) {
			t.Fatalf("ParseDuration(%q) = %+v, %q", s, d, d.ISO8601())
		}
		if !d.Known {
			return
		}
		iso := d.ISO8601()
		m := isoPattern.FindStringSubmatch(iso)
		if m == nil || iso == "P" || strings.HasSuffix(iso, "T") {
			t.Fatalf("ParseDuration(%q).ISO8601() = %q, want an ISO 8601 duration", s, iso)
		}
		sum := 0.0
		for i, number := range m[1:] {
			if number != "" {
				n, err := strconv.ParseFloat(number, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += n * lengths[i]
			}
		}
		if math.Abs(sum-d.Seconds) > 1e-9*d.Seconds {
			t.Errorf("ParseDuration(%q) = %v s, but %s has %v", s, d.Seconds, iso, sum)
		}
		again, err := ParseDuration(iso)
		if err != nil || !again.Known || math.Abs(again.Seconds-d.Seconds) > 1e-9*d.Seconds {
			t.Errorf("ParseDuration(%q) = %+v, %v, want %v s", iso, again, err, d.Seconds)
		}
	})
}
