package analysis

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// column gives the values of one key for incidents, by dense numbers; noValue is
// that of an incident without one.
type column struct {
	*names
	totals []int32 // by value number: how many incidents have it
	all    index.Set
	// The values are terms of a vocabulary or, where lists is nil, one for each
	// incident.
	lists      *index.TermLists
	vocabulary incident.Vocabulary
	numbers    []uint32  // by TermID, the value number
	without    index.Set // the incidents without a term
	ones       spread[uint32]
}

// noValue is the number of "no value".
const noValue = 0

// names are the values of a column. Columns that have the same ones share them.
type names struct {
	list  []string // by value number; "" for noValue
	ranks []uint32 // by value number: its place by name, noValue last
	// what the values are if they are more than a name: TermIDs, dates
	terms []index.TermID
	dates []incident.Date
}

// size is the number of value numbers.
func (n *names) size() int { return len(n.list) }

// compare orders values by name, no value last.
func (n *names) compare(a, b uint32) int { return cmp.Compare(n.ranks[a], n.ranks[b]) }

// name gives the name of a value, nil for no value.
func (n *names) name(value uint32) *string {
	if value == noValue {
		return nil
	}
	return &n.list[value]
}

// rank puts the values in the order of their names.
func (n *names) rank() {
	byName := make([]uint32, len(n.list)-1)
	for i := range byName {
		byName[i] = uint32(i + 1)
	}
	slices.SortFunc(byName, func(a, b uint32) int { return cmp.Compare(n.list[a], n.list[b]) })
	n.ranks = make([]uint32, len(n.list))
	for rank, value := range byName {
		n.ranks[value] = uint32(rank)
	}
	n.ranks[noValue] = uint32(len(byName))
}

// appendTo appends the value numbers of an incident, at least one.
func (c *column) appendTo(values []uint32, o index.Ord) []uint32 {
	if c.lists == nil {
		return append(values, c.ones.of(o))
	}
	var few [8]index.TermID
	terms := c.lists.AppendTo(few[:0], o, c.vocabulary)
	for _, t := range terms {
		values = append(values, c.numbers[t])
	}
	if len(terms) == 0 {
		values = append(values, noValue)
	}
	return values
}

type columnKey struct{ key GroupKey }

// columnOf gives the column of a key.
func columnOf(s *index.Snapshot, k GroupKey) *column {
	switch k {
	case ByOrg:
		return inheritedColumn(s, columnKey{k}, orgSource(s))
	case ByRegion:
		return inheritedColumn(s, columnKey{k}, regionSource())
	case ByYear, ByQuarter, ByMonth:
		return inheritedColumn(s, columnKey{k}, dateSource(k.format, k.period))
	}
	return s.Memo(columnKey{k}, func() any { return termColumn(s, incident.Vocabulary(k)) }).(*column)
}

// termColumn gives the column of a vocabulary. The index has its values.
func termColumn(s *index.Snapshot, v incident.Vocabulary) *column {
	terms := s.Terms(v)
	c := &column{
		names:  &names{list: make([]string, len(terms)+1), terms: make([]index.TermID, len(terms)+1)},
		totals: make([]int32, len(terms)+1),
		all:    s.All(), lists: s.TermLists(), vocabulary: v,
		numbers: make([]uint32, s.TermCount()), without: s.WithTermCount(v, 0),
	}
	for i, t := range terms {
		term := s.Term(t)
		c.list[i+1], c.terms[i+1], c.totals[i+1] = term.Slug, t, int32(term.Count)
		c.numbers[t] = uint32(i + 1)
	}
	c.totals[noValue] = int32(c.without.Len())
	c.rank()
	return c
}

// source is where the one value of each incident comes from.
type source struct {
	// id gives what stands for the value of an incident in the index.
	id func(n *index.Node) (uint32, bool)
	// enter adds what there is to tell of a value that n has and that is new.
	enter func(to *names, n *index.Node, id uint32)
}

func orgSource(s *index.Snapshot) source {
	return source{
		id:    func(n *index.Node) (uint32, bool) { return uint32(n.Org), n.Org != index.NoOrg },
		enter: func(to *names, n *index.Node, _ uint32) { to.list = append(to.list, s.Org(n.Org).Slug) },
	}
}

func regionSource() source {
	return source{
		id:    func(n *index.Node) (uint32, bool) { return n.RegionID, n.Region != "" },
		enter: func(to *names, n *index.Node, _ uint32) { to.list = append(to.list, n.Region) },
	}
}

// dateSource is what period makes of an incident's date, 0 being no value.
func dateSource(format func(incident.Date) string, period func(incident.Date) incident.Date) source {
	return source{
		id: func(n *index.Node) (uint32, bool) {
			d := period(n.Date)
			return uint32(d), d != 0
		},
		enter: func(to *names, _ *index.Node, id uint32) {
			to.list = append(to.list, format(incident.Date(id)))
			to.dates = append(to.dates, incident.Date(id))
		},
	}
}

// oneEach is a column of one value for each incident, as it is handed from one
// snapshot to the next.
type oneEach struct {
	column
	byID map[uint32]uint32 // value numbers by what stands for the value
}

// inheritedColumn gives a column of one value for each incident. It is made
// once; then the incidents that have changed are put into another place.
func inheritedColumn(s *index.Snapshot, key any, from source) *column {
	return &s.Inherited(key,
		func() any {
			w := newOneWriter(s, from, &oneEach{column: column{
				names:  &names{list: []string{""}, dates: []incident.Date{0}},
				totals: []int32{noValue: 0},
			}})
			w.c.ones = newSpread(s, w.value)
			return w.finish()
		},
		func(old any, changed []index.Ord) any {
			before := old.(*oneEach)
			w := newOneWriter(s, from, before)
			for _, o := range changed {
				if before.all.Has(o) {
					w.c.totals[before.ones.of(o)]--
				}
			}
			w.c.ones = before.ones.with(s, changed, w.value)
			return w.finish()
		},
	).(*oneEach).column
}

// oneWriter makes a column of one value each from an older one.
type oneWriter struct {
	s        *index.Snapshot
	from     source
	c        *oneEach
	ownNames bool
}

func newOneWriter(s *index.Snapshot, from source, old *oneEach) *oneWriter {
	c := &oneEach{column{names: old.names, totals: slices.Clone(old.totals), all: s.All()}, old.byID}
	return &oneWriter{s: s, from: from, c: c}
}

// value gives the value number of an incident and counts it.
func (w *oneWriter) value(o index.Ord) uint32 {
	n := w.s.Node(o)
	if n == nil {
		return noValue
	}
	number := uint32(noValue)
	if id, ok := w.from.id(n); ok {
		number = w.numberOf(n, id)
	}
	w.c.totals[number]++
	return number
}

// numberOf gives the number of a value, and enters it where it is new.
func (w *oneWriter) numberOf(n *index.Node, id uint32) uint32 {
	number := w.c.byID[id]
	if number != 0 {
		return number
	}
	if !w.ownNames {
		w.ownNames = true
		w.c.names = &names{list: slices.Clone(w.c.list), dates: slices.Clone(w.c.dates)}
		if w.c.byID = maps.Clone(w.c.byID); w.c.byID == nil {
			w.c.byID = make(map[uint32]uint32)
		}
	}
	number = uint32(len(w.c.list))
	w.c.byID[id] = number
	w.c.totals = append(w.c.totals, 0)
	w.from.enter(w.c.names, n, id)
	return number
}

func (w *oneWriter) finish() *oneEach {
	if w.c.ranks == nil {
		w.c.rank()
	}
	return w.c
}

const (
	runBits = 10
	runLen  = 1 << runBits
)

// spread holds a value for each incident, by Ord in runs of runLen. It never
// changes; spreads share their runs.
type spread[T any] [][]T

func (x spread[T]) of(o index.Ord) T { return x[o>>runBits][o%runLen] }

// runsOf gives the number of runs that the snapshot's incidents span.
func runsOf(s *index.Snapshot) int { return s.All().Blocks() * (index.BlockSize / runLen) }

func newSpread[T any](s *index.Snapshot, value func(index.Ord) T) spread[T] {
	x := make(spread[T], runsOf(s))
	for i := range x {
		x[i] = make([]T, runLen)
		for j := range x[i] {
			x[i][j] = value(index.Ord(i<<runBits + j))
		}
	}
	return x
}

// with gives the spread with the values that some incidents, sorted, have now.
func (x spread[T]) with(s *index.Snapshot, changed []index.Ord, value func(index.Ord) T) spread[T] {
	y := make(spread[T], max(runsOf(s), len(x)))
	copy(y, x)
	own := -1 // the run that was copied last
	for _, o := range changed {
		i := int(o >> runBits)
		if i != own {
			own = i
			y[i] = make([]T, runLen)
			if i < len(x) {
				copy(y[i], x[i])
			}
		}
		y[i][o%runLen] = value(o)
	}
	return y
}

type secondsKey struct{ clock Clock }

// secondsOf gives what a clock says of each incident; -1 where that is not
// known.
func secondsOf(s *index.Snapshot, c Clock) spread[float64] {
	value := func(o index.Ord) float64 {
		if n := s.Node(o); n != nil && c.Of(n).Known {
			return c.Of(n).Seconds
		}
		return -1
	}
	return s.Inherited(secondsKey{c},
		func() any { return newSpread(s, value) },
		func(old any, changed []index.Ord) any { return old.(spread[float64]).with(s, changed, value) },
	).(spread[float64])
}

// checkEvery is how many incidents a loop handles between two looks at its
// context.
const checkEvery = 1 << 10

// chunks calls f for the members of set in ascending order, many at a time, and
// ends early with ctx's error.
func chunks(ctx context.Context, set index.Set, f func([]index.Ord)) error {
	buffer := make([]index.Ord, min(checkEvery, set.Len()+64))
	for chunk := range set.Chunks(buffer) {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(chunk)
	}
	return ctx.Err()
}

// tally counts the values of a column over a set, by value number. What it
// gives must not be changed. Of a set of most incidents it counts those that
// are not in it.
func tally(ctx context.Context, set index.Set, c *column) ([]int32, error) {
	switch n := c.all.Len(); {
	case set.Len() == n:
		return c.totals, ctx.Err()
	case set.Len() > n/2:
		others, err := tally(ctx, c.all.AndNot(set), c)
		if err != nil {
			return nil, err
		}
		counts := slices.Clone(c.totals)
		for v, n := range others {
			counts[v] -= n
		}
		return counts, nil
	}
	if c.lists == nil {
		counts := make([]int32, c.size())
		return counts, chunks(ctx, set, func(ords []index.Ord) {
			for _, o := range ords {
				counts[c.ones.of(o)]++
			}
		})
	}
	byTerm := make([]int32, len(c.numbers))
	err := chunks(ctx, set, func(ords []index.Ord) { c.lists.Count(byTerm, ords, c.vocabulary) })
	counts := make([]int32, c.size())
	counts[noValue] = int32(set.AndLen(c.without))
	for v, t := range c.terms[1:] {
		counts[v+1] = byTerm[t]
	}
	return counts, err
}

// crossing is a set of incidents and one or two keys that divide it.
type crossing struct {
	set     index.Set
	columns [2]*column // the second is nil where there is one key only
}

// crossingOf makes a crossing.
func crossingOf(s *index.Snapshot, set index.Set, by ...GroupKey) crossing {
	x := crossing{set: set}
	for i, k := range by {
		x.columns[i] = columnOf(s, k)
	}
	return x
}

// second gives the second column. Where there is one key only it is one that
// no incident has a value of.
func (x *crossing) second() *column {
	if x.columns[1] == nil {
		return &column{names: &names{list: []string{""}, ranks: []uint32{noValue: 0}}}
	}
	return x.columns[1]
}

// each calls f for each pair of values of each incident.
func (x *crossing) each(ctx context.Context, f func(o index.Ord, a, b uint32)) error {
	var first []uint32
	second := []uint32{noValue}
	return chunks(ctx, x.set, func(ords []index.Ord) {
		for _, o := range ords {
			first = x.columns[0].appendTo(first[:0], o)
			if x.columns[1] != nil {
				second = x.columns[1].appendTo(second[:0], o)
			}
			for _, a := range first {
				for _, b := range second {
					f(o, a, b)
				}
			}
		}
	})
}

// count counts the incidents by pair of values.
func (x *crossing) count(ctx context.Context) (*grid, error) {
	if x.columns[1] == nil {
		counts, err := tally(ctx, x.set, x.columns[0])
		return &grid{width: 1, cells: counts}, err
	}
	g := newGrid(x.columns[0].size(), x.columns[1].size())
	var first, second []uint32
	return g, chunks(ctx, x.set, func(ords []index.Ord) {
		for _, o := range ords {
			first = x.columns[0].appendTo(first[:0], o)
			second = x.columns[1].appendTo(second[:0], o)
			for _, a := range first {
				g.addAll(a, second)
			}
		}
	})
}

// maxCells bounds the array of a grid; where it would be larger a map counts.
const maxCells = 1 << 21

// grid counts pairs of numbers.
type grid struct {
	width  int
	cells  []int32
	sparse map[uint64]int32 // instead of cells, by row<<32 | column
}

func newGrid(rows, width int) *grid {
	if rows > maxCells/width {
		return &grid{sparse: make(map[uint64]int32)}
	}
	return &grid{width: width, cells: make([]int32, rows*width)}
}

// add counts a pair.
func (g *grid) add(row, column uint32) {
	if g.sparse != nil {
		g.sparse[uint64(row)<<32|uint64(column)]++
		return
	}
	g.cells[int(row)*g.width+int(column)]++
}

// addAll counts the pairs of a row with each of some columns.
func (g *grid) addAll(row uint32, columns []uint32) {
	if g.sparse != nil {
		for _, c := range columns {
			g.sparse[uint64(row)<<32|uint64(c)]++
		}
		return
	}
	cells := g.cells[int(row)*g.width:][:g.width]
	for _, c := range columns {
		cells[c]++
	}
}

// each calls f for the pairs that were counted, in no particular order.
func (g *grid) each(f func(row, column uint32, n int)) {
	for key, n := range g.sparse {
		f(uint32(key>>32), uint32(key), int(n))
	}
	for i, n := range g.cells {
		if n > 0 {
			f(uint32(i/g.width), uint32(i%g.width), int(n))
		}
	}
}

// format writes the start of a period as a group key.
func (k GroupKey) format(d incident.Date) string {
	if k == ByQuarter {
		return fmt.Sprintf("%04d-Q%d", d.Year(), (d.Month()+2)/3)
	}
	return d.String()
}

// firstOf gives the first k of a list in order, all where k is negative. It
// reuses the list, and sorts no more of it than it must.
func firstOf[T any](list []T, k int, compare func(a, b T) int) []T {
	if k < 0 || k >= len(list) {
		slices.SortFunc(list, compare)
		return list
	}
	kept, full := list[:0], false // full: kept[:k] are the first so far, sorted
	for _, x := range list {
		if full && compare(x, kept[k-1]) >= 0 || k == 0 {
			continue
		}
		if kept = append(kept, x); len(kept) >= 2*k {
			slices.SortFunc(kept, compare)
			kept, full = kept[:k], true
		}
	}
	slices.SortFunc(kept, compare)
	return kept[:k]
}
