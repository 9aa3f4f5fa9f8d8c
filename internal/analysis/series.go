package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// MaxPoints bounds the points of one time series.
const MaxPoints = 10_000

// TooManyPointsError is returned for a series that would have more than
// MaxPoints points.
type TooManyPointsError struct{ Points int }

// Error says what would make the series shorter.
func (e *TooManyPointsError) Error() string {
	return fmt.Sprintf("the series has %d points, at most %d are given: filter by date, take a longer interval, or leave out by", e.Points, MaxPoints)
}

// Point counts the incidents of one interval.
type Point struct {
	// Start is the first day, month or year of the interval. Where it is less
	// precise than the interval, the point counts the incidents whose date is
	// recorded no more precisely than that.
	Start incident.Date
	// Key is the value of the second dimension, nil without one or where the
	// incident has no value.
	Key       *string
	Incidents int
}

// Series counts incidents by interval (ByYear, ByQuarter or ByMonth) and, with
// by, by the values of a second key. Intervals without incidents between the
// first and the last are there with 0, for each value of by. Incidents whose
// date is less precise than the interval are counted in points of their own;
// those without a date are left out. Points go by start, the less precise
// first, then by key, no value last.
func Series(ctx context.Context, s *index.Snapshot, set index.Set, interval GroupKey, by *GroupKey) ([]Point, error) {
	type place struct {
		start incident.Date
		key   uint32
	}
	counts := map[place]int{}
	var reader *keyReader
	if by != nil {
		reader = newKeyReader(s, *by)
	}
	none := []uint32{noValue}
	var first, last incident.Date
	keys := map[uint32]bool{}
	err := eachNode(ctx, s, set, func(n *index.Node) {
		if n.Date.IsZero() {
			return
		}
		start := interval.period(n.Date)
		if start == 0 {
			start = n.Date // a year, or a year and month: its own point
		} else {
			if first == 0 || start < first {
				first = start
			}
			last = max(last, start)
		}
		values := none
		if reader != nil {
			values = reader.read(n)
		}
		for _, k := range values {
			keys[k] = true
			counts[place{start, k}]++
		}
	})
	if err != nil {
		return nil, err
	}
	if first != 0 {
		steps := interval.steps(first, last)
		if points := steps * len(keys); points > MaxPoints {
			return nil, &TooManyPointsError{Points: points}
		}
		for d := first; d <= last; d = interval.next(d) {
			for k := range keys {
				counts[place{d, k}] += 0
			}
		}
	}
	if len(counts) > MaxPoints {
		return nil, &TooManyPointsError{Points: len(counts)}
	}
	points := make([]Point, 0, len(counts))
	for p, n := range counts {
		point := Point{Start: p.start, Incidents: n}
		if reader != nil {
			point.Key = reader.text(p.key)
		}
		points = append(points, point)
	}
	slices.SortFunc(points, func(a, b Point) int {
		if c := cmp.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		return compareKeys([]*string{a.Key}, []*string{b.Key})
	})
	return points, nil
}

// next gives the start of the interval after the one that starts at d.
func (k GroupKey) next(d incident.Date) incident.Date {
	step := map[GroupKey]int{ByMonth: 1, ByQuarter: 3}[k]
	if step == 0 {
		return d + 1<<16
	}
	year, month := d.Year(), d.Month()+step
	if month > 12 {
		year, month = year+1, month-12
	}
	return incident.Date(year)<<16 | incident.Date(month)<<8 //nolint:gosec // within a date's parts
}

// steps gives the number of intervals from first to last, both included.
func (k GroupKey) steps(first, last incident.Date) int {
	years := last.Year() - first.Year()
	months := years*12 + last.Month() - first.Month()
	switch k {
	case ByMonth:
		return months + 1
	case ByQuarter:
		return months/3 + 1
	}
	return years + 1
}
