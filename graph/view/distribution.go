package view

import (
	"math"
	"strconv"
	"strings"

	"incidentgraph/internal/analysis"
	"incidentgraph/internal/incident"
)

// DurationDistribution tells how long some incidents took.
type DurationDistribution struct{ d analysis.Distribution }

// Known counts the durations.
func (d *DurationDistribution) Known() int { return d.d.Known }

// Unknown counts the incidents without a duration.
func (d *DurationDistribution) Unknown() int { return d.d.Unknown }

// Caveats are reasons to read the figures with care.
func (d *DurationDistribution) Caveats() []analysis.Caveat {
	return append([]analysis.Caveat{}, d.d.Caveats...)
}

// figure gives a figure as a duration where it is there.
func (d *DurationDistribution) figure(seconds float64, there bool) *Duration {
	if d.d.Known == 0 || !there {
		return nil
	}
	return &Duration{&incident.Duration{Text: durationText(seconds), Seconds: seconds, Known: true}}
}

// Min is the shortest.
func (d *DurationDistribution) Min() *Duration { return d.figure(d.d.Min, true) }

// P25 is the first quartile.
func (d *DurationDistribution) P25() *Duration { return d.figure(d.d.P25, true) }

// Median is the middle one.
func (d *DurationDistribution) Median() *Duration { return d.figure(d.d.Median, true) }

// MedianLow is the lower end of the median's interval.
func (d *DurationDistribution) MedianLow() *Duration {
	return d.figure(d.d.MedianInterval.Low, d.d.HasMedianInterval)
}

// MedianHigh is the upper end.
func (d *DurationDistribution) MedianHigh() *Duration {
	return d.figure(d.d.MedianInterval.High, d.d.HasMedianInterval)
}

// P75 is the third quartile.
func (d *DurationDistribution) P75() *Duration { return d.figure(d.d.P75, true) }

// P90 is the 90th percentile.
func (d *DurationDistribution) P90() *Duration { return d.figure(d.d.P90, true) }

// Max is the longest.
func (d *DurationDistribution) Max() *Duration { return d.figure(d.d.Max, true) }

// GeometricMean is over the durations above zero.
func (d *DurationDistribution) GeometricMean() *Duration {
	return d.figure(d.d.GeometricMean, d.d.HasGeometricMean)
}

// Mean is the arithmetic mean.
func (d *DurationDistribution) Mean() *Duration { return d.figure(d.d.Mean, true) }

// Bounds of the argument bins.
const (
	standardBins = 12
	maxBins      = 50
)

// Histogram counts the durations in bins.
func (d *DurationDistribution) Histogram(bins *int) ([]*HistogramBin, error) {
	n, err := atLeast("bins", bins, standardBins, 1)
	if err != nil {
		return nil, err
	}
	if n > maxBins {
		return nil, badInput("bins", "must be %d or less", maxBins)
	}
	counts := d.d.Histogram(n)
	list := make([]*HistogramBin, len(counts))
	for i, b := range counts {
		list[i] = &HistogramBin{FromSeconds: b.From, ToSeconds: b.To, Count: b.Count}
	}
	return list, nil
}

// HistogramBin counts the durations in one range.
type HistogramBin struct {
	FromSeconds, ToSeconds float64
	Count                  int
}

// durationText writes a length of time in days, hours, minutes and seconds, as
// records do, to the millisecond.
func durationText(seconds float64) string {
	const longest = 1e12 // from here on a double has no milliseconds worth the name
	if seconds >= longest {
		return strconv.FormatFloat(seconds, 'f', 0, 64) + "s"
	}
	ms := int64(math.Round(seconds * 1000))
	var parts []string
	for _, u := range []struct {
		name string
		ms   int64
	}{{"d", 86_400_000}, {"h", 3_600_000}, {"m", 60_000}} {
		if n := ms / u.ms; n > 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+u.name)
			ms %= u.ms
		}
	}
	if ms > 0 || len(parts) == 0 {
		parts = append(parts, strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64)+"s")
	}
	return strings.Join(parts, " ")
}
