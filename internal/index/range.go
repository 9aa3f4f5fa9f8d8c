package index

import (
	"math"
	"math/bits"

	"incidentgraph/internal/incident"
)

// interval is the sort values at or after from and before to; a to of
// MaxInt64 is no limit.
type interval struct{ from, to int64 }

func unlimited() interval { return interval{math.MinInt64, math.MaxInt64} }

func (p interval) has(v int64) bool { return v >= p.from && (v < p.to || p.to == math.MaxInt64) }

func (s *Snapshot) withRanges(r Set, f *Filter) Set {
	if d := f.Date; d != nil && *d != (DateFilter{}) {
		r = s.within(r, ByDate, d.interval(func(d incident.Date) int64 { return int64(coarsest(d)) }))
	}
	if d := f.UpdatedAt; d != nil && *d != (DateFilter{}) {
		r = s.within(r, ByUpdatedAt, d.interval(func(d incident.Date) int64 { return nanoseconds(d.FirstDay()) }))
	}
	r = s.withDuration(r, byDetectedAfter, f.DetectedAfter)
	return s.withDuration(r, ByResolvedAfter, f.ResolvedAfter)
}

// coarsest gives the least of the dates that have d's first day: 2015 for
// 2015-01-01.
func coarsest(d incident.Date) incident.Date {
	if d.Day() <= 1 {
		d -= incident.Date(d.Day())
		if d.Month() <= 1 {
			d -= incident.Date(d.Month() << 8)
		}
	}
	return d
}

func (d *DateFilter) interval(value func(incident.Date) int64) interval {
	p := unlimited()
	if d.Gte != 0 {
		p.from = value(d.Gte)
	}
	if d.Lt != 0 {
		p.to = value(d.Lt)
	}
	return p
}

func (s *Snapshot) withDuration(r Set, field Field, f *DurationFilter) Set {
	if f == nil {
		return r
	}
	if f.GteSeconds != nil || f.LtSeconds != nil {
		p := unlimited()
		if f.GteSeconds != nil {
			p.from = seconds(*f.GteSeconds)
		}
		if f.LtSeconds != nil {
			p.to = seconds(*f.LtSeconds)
		}
		r = s.within(r, field, p)
	}
	switch {
	case f.IsKnown == nil:
		return r
	case *f.IsKnown:
		return s.within(r, field, unlimited())
	}
	return r.AndNot(s.within(r, field, unlimited()))
}

// within gives the members of r that have a value of the field in the interval.
func (s *Snapshot) within(r Set, field Field, p interval) Set {
	if field == ByDate {
		return s.withinDates(r, p)
	}
	order := s.singleOrder(Order{Field: field})
	from, to := order.search(s.below(field, p.from)), order.search(s.below(field, p.to))
	if p.to == math.MaxInt64 {
		to = order.search(func(o Ord) bool { _, ok := s.value(s.Node(o), field); return ok })
	}
	if from >= to {
		return Set{}
	}
	// To look at one incident costs as much as to put some ten in a set.
	if r.Len() > (to-from)/10 {
		return s.and(r, SetOf(order.items(from, to)...))
	}
	var in []Ord
	for o := range r.All() {
		if v, ok := s.value(s.Node(o), field); ok && p.has(v) {
			in = append(in, o)
		}
	}
	return SetOf(in...)
}

// below tells of incidents that have a value of the field below v.
func (s *Snapshot) below(field Field, v int64) func(Ord) bool {
	return func(o Ord) bool {
		x, ok := s.value(s.Node(o), field)
		return ok && x < v
	}
}

// withinDates is within for dates. The incidents with one in the interval are
// side by side in the order of lists. Where they are so by number, too, or are
// few, it takes those; else it looks at the dates of all members, which lie side
// by side.
func (s *Snapshot) withinDates(r Set, p interval) Set {
	first, last := max(p.from, 1), min(p.to-1, math.MaxUint32)
	if first > last {
		return Set{}
	}
	const many = 4096
	if r.Len() > many {
		order := s.order(byDateDesc)
		from := order.search(func(o Ord) bool { return int64(s.dates.at(uint32(o))) > last })
		to := order.search(func(o Ord) bool { return int64(s.dates.at(uint32(o))) >= first })
		if to-from < r.Len()/8 || order.scattered(from, to) < r.Len()/8 {
			return s.and(r, order.set(from, to))
		}
	}
	var in Set
	for i := range r.blocks {
		in.push(s.blockWithin(&r.blocks[i], incident.Date(first), incident.Date(last)))
	}
	return in
}

// blockWithin gives the members of a block with a date from first to last.
func (s *Snapshot) blockWithin(b *block, first, last incident.Date) block {
	base, length := b.key<<blockBits, last-first
	if b.bits == nil {
		list := make([]uint16, 0, len(b.list))
		for _, low := range b.list {
			if s.dates.at(base|uint32(low))-first <= length {
				list = append(list, low)
			}
		}
		return listBlock(b.key, list)
	}
	var w Words
	for i := range b.bits {
		word := b.word(i)
		if word == 0 {
			continue
		}
		// A word lies in one chunk, which is there, for it has members.
		at := base + uint32(i*64)
		dates := s.dates.dir[at>>chunkBits].items[at%chunkLen:][:64]
		var in uint64
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word) & 63
			if dates[bit]-first <= length {
				in |= 1 << bit
			}
		}
		w[i] = in
	}
	return w.block(b.key)
}
