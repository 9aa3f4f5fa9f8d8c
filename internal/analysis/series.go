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
	x := crossing{set: set, columns: [2]*column{startColumn(s, interval)}}
	if by != nil {
		x.columns[1] = columnOf(s, *by)
	}
	counts, err := x.count(ctx)
	if err != nil {
		return nil, err
	}
	starts := x.columns[0]
	var found []seriesCell
	keys := make(map[uint32]bool)
	var first, last incident.Date // of the whole intervals
	counts.each(func(row, key uint32, n int) {
		if row == noValue {
			return
		}
		start := starts.dates[row]
		found = append(found, seriesCell{start, key, n})
		keys[key] = true
		if interval.period(start) == start {
			if first == 0 || start < first {
				first = start
			}
			last = max(last, start)
		}
	})
	found, err = fillGaps(found, interval, first, last, keys)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b seriesCell) int {
		return cmp.Or(cmp.Compare(a.start, b.start), x.second().compare(a.key, b.key))
	})
	points := make([]Point, len(found))
	for i, c := range found {
		points[i] = Point{Start: c.start, Key: x.second().name(c.key), Incidents: c.n}
	}
	return points, nil
}

// seriesCell is a point while counting.
type seriesCell struct {
	start incident.Date
	key   uint32
	n     int
}

// fillGaps adds cells of 0 for the intervals from first to last, 0 being none,
// so that each key has one for each.
func fillGaps(found []seriesCell, interval GroupKey, first, last incident.Date, keys map[uint32]bool) ([]seriesCell, error) {
	if first != 0 {
		if points := interval.steps(first, last) * len(keys); points > MaxPoints {
			return nil, &TooManyPointsError{Points: points}
		}
		type place struct {
			start incident.Date
			key   uint32
		}
		there := make(map[place]bool, len(found))
		for _, c := range found {
			there[place{c.start, c.key}] = true
		}
		for d := first; d <= last; d = interval.next(d) {
			for k := range keys {
				if !there[place{d, k}] {
					found = append(found, seriesCell{start: d, key: k})
				}
			}
		}
	}
	if len(found) > MaxPoints {
		return nil, &TooManyPointsError{Points: len(found)}
	}
	return found, nil
}

type startKey struct{ interval GroupKey }

// startColumn gives the column of the starts of intervals; a date that is less
// precise than the interval stands for itself.
func startColumn(s *index.Snapshot, interval GroupKey) *column {
	return inheritedColumn(s, startKey{interval}, dateSource(incident.Date.String, func(d incident.Date) incident.Date {
		if start := interval.period(d); start != 0 {
			return start
		}
		return d
	}))
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
	return incident.Date(year)<<16 | incident.Date(month)<<8
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
