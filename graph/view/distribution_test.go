package view

import (
	"math"
	"math/rand/v2"
	"testing"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
)

func TestDurationText(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{0, "0s"},
		{0.0004, "0s"},
		{0.25, "0.25s"},
		{59.9996, "1m"},
		{60, "1m"},
		{17460, "4h 51m"},
		{86400, "1d"},
		{90061.5, "1d 1h 1m 1.5s"},
		{39447648, "456d 13h 40m 48s"},
		{1e12, "1000000000000s"},
		{1e20, "100000000000000000000s"},
	} {
		if got := durationText(c.seconds); got != c.want {
			t.Errorf("durationText(%v) = %q, want %q", c.seconds, got, c.want)
		}
	}
}

// The text is one that a record may have: read back it gives the same length
// to the millisecond.
func TestDurationTextIsRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		seconds := math.Exp(r.Float64()*30 - 3)
		if r.IntN(3) == 0 {
			seconds = math.Floor(seconds)
		}
		d, err := incident.ParseDuration(durationText(seconds))
		if err != nil || !d.Known || math.Abs(d.Seconds-seconds) > 0.000501+seconds*1e-12 {
			t.Fatalf("durationText(%v) = %q, read as %+v, %v", seconds, durationText(seconds), d, err)
		}
		if d.ISO8601() == "" {
			t.Fatalf("%q has no ISO 8601 form", d.Text)
		}
	}
}

func TestNothingKnownHasNoFigures(t *testing.T) {
	d := &DurationDistribution{analysis.NewDistribution(nil, 3)}
	for name, figure := range map[string]*Duration{
		"min": d.Min(), "p25": d.P25(), "median": d.Median(), "medianLow": d.MedianLow(), "medianHigh": d.MedianHigh(),
		"p75": d.P75(), "p90": d.P90(), "max": d.Max(), "geometricMean": d.GeometricMean(), "mean": d.Mean(),
	} {
		if figure != nil {
			t.Errorf("%s = %+v, want none", name, figure.Duration)
		}
	}
	zeros := &DurationDistribution{analysis.NewDistribution([]float64{0, 0}, 0)}
	if zeros.GeometricMean() != nil || zeros.Mean() == nil {
		t.Errorf("means of zeros = %+v and %+v, want none and 0", zeros.GeometricMean(), zeros.Mean())
	}
}
