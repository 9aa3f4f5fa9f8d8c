package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// checkEvery is how many incidents a loop handles between two looks at its
// context.
const checkEvery = 1 << 12

// column holds the values of one key for all incidents, one after the other in
// memory, so that counting a large set does not wait for a node at a time. It
// is made once for a snapshot.
//
// Values have dense numbers; the number of "no value" is len(names), and is
// that of an incident without one.
type column struct {
	names  []string // by value number
	values []uint32
	starts []uint32 // by Ord, where its values begin; nil: each has one
	none   uint32
	ranks  []uint32 // by value number, that of no value included: its place by name
	totals []int32  // by value number: how many incidents have it
	count  int      // incidents
	// numbers of the values that are more than a name: TermIDs, dates.
	terms []index.TermID
	dates []incident.Date
}

// of gives the value numbers of an incident, at least one.
func (c *column) of(o index.Ord) []uint32 {
	if c.starts == nil {
		return c.values[o : o+1]
	}
	return c.values[c.starts[o]:c.starts[o+1]]
}

// size is the number of value numbers, that of no value included.
func (c *column) size() int { return len(c.names) + 1 }

// compare orders values by name, no value last.
func (c *column) compare(a, b uint32) int { return cmp.Compare(c.ranks[a], c.ranks[b]) }

// name gives the name of a value, nil for no value.
func (c *column) name(value uint32) *string {
	if value == c.none {
		return nil
	}
	return &c.names[value]
}

type columnKey struct{ key GroupKey }

// columnOf gives the column of a key.
func columnOf(s *index.Snapshot, k GroupKey) *column {
	return s.Memo(columnKey{k}, func() any {
		var c *column
		switch k {
		case ByOrg:
			c = orgColumn(s)
		case ByRegion:
			c = regionColumn(s)
		case ByYear, ByQuarter, ByMonth:
			c = dateColumn(s, k.format, k.period)
		default:
			c = termColumns(s)[k]
		}
		c.finish(s)
		return c
	}).(*column)
}

// finish works out what follows from the values.
func (c *column) finish(s *index.Snapshot) {
	byName := make([]uint32, len(c.names))
	for i := range byName {
		byName[i] = uint32(i)
	}
	slices.SortFunc(byName, func(a, b uint32) int { return cmp.Compare(c.names[a], c.names[b]) })
	c.ranks = make([]uint32, c.size())
	for rank, value := range byName {
		c.ranks[value] = uint32(rank)
	}
	c.ranks[c.none] = c.none
	c.totals = make([]int32, c.size())
	for o := range s.All().All() {
		for _, v := range c.of(o) {
			c.totals[v]++
		}
	}
	c.count = s.Len()
}

// numbers gives the number of Ords that the snapshot's incidents span.
func numbers(s *index.Snapshot) int { return s.All().Blocks() * index.BlockSize }

type termColumnsKey struct{}

// termColumns makes the columns of all vocabularies, for to pass over the
// nodes is what takes the time.
func termColumns(s *index.Snapshot) *[incident.VocabularyCount]*column {
	return s.Memo(termColumnsKey{}, func() any {
		var columns [incident.VocabularyCount]*column
		number := make([]uint32, s.TermCount()) // by TermID, the value number
		for v := range columns {
			c := &column{terms: s.Terms(incident.Vocabulary(v)), starts: make([]uint32, numbers(s)+1)}
			c.none = uint32(len(c.terms))
			c.names = make([]string, len(c.terms))
			tags := 0
			for i, t := range c.terms {
				c.names[i] = s.Term(t).Slug
				number[t] = uint32(i)
				tags += s.Postings(t).Len()
			}
			c.values = make([]uint32, 0, tags+s.WithTermCount(incident.Vocabulary(v), 0).Len())
			columns[v] = c
		}
		next := index.Ord(0)
		begin := func(upTo index.Ord) {
			for ; next <= upTo; next++ {
				for _, c := range columns {
					c.starts[next] = uint32(len(c.values))
				}
			}
		}
		for o := range s.All().All() {
			begin(o)
			n := s.Node(o)
			for v, c := range columns {
				terms := n.Terms(incident.Vocabulary(v))
				for _, t := range terms {
					c.values = append(c.values, number[t])
				}
				if len(terms) == 0 {
					c.values = append(c.values, c.none)
				}
			}
		}
		begin(index.Ord(numbers(s)))
		return &columns
	}).(*[incident.VocabularyCount]*column)
}

// fill makes the values of a key of which an incident has at most one.
func (c *column) fill(s *index.Snapshot, value func(*index.Node) (uint32, bool)) {
	c.none = uint32(len(c.names))
	c.values = make([]uint32, numbers(s))
	for o := range s.All().All() {
		v, ok := value(s.Node(o))
		if !ok {
			v = c.none
		}
		c.values[o] = v
	}
}

func orgColumn(s *index.Snapshot) *column {
	c := &column{}
	number := make(map[index.OrgID]uint32)
	for i, id := range s.Orgs() {
		c.names = append(c.names, s.Org(id).Slug)
		number[id] = uint32(i)
	}
	c.fill(s, func(n *index.Node) (uint32, bool) { i, ok := number[n.Org]; return i, ok })
	return c
}

func regionColumn(s *index.Snapshot) *column {
	c := &column{}
	number := make(map[string]uint32)
	for i, r := range s.Regions() {
		c.names = append(c.names, r.Name)
		number[r.Name] = uint32(i)
	}
	c.fill(s, func(n *index.Node) (uint32, bool) { i, ok := number[n.Region]; return i, ok })
	return c
}

// dateColumn makes a column of what period makes of an incident's date, 0
// being no value. The values are in the order of time.
func dateColumn(s *index.Snapshot, format func(incident.Date) string, period func(incident.Date) incident.Date) *column {
	number := make(map[incident.Date]uint32)
	for o := range s.All().All() {
		if d := period(s.Node(o).Date); d != 0 {
			number[d] = 0
		}
	}
	c := &column{}
	for d := range number {
		c.dates = append(c.dates, d)
	}
	slices.Sort(c.dates)
	for i, d := range c.dates {
		c.names = append(c.names, format(d))
		number[d] = uint32(i)
	}
	c.fill(s, func(n *index.Node) (uint32, bool) { i, ok := number[period(n.Date)]; return i, ok })
	return c
}

type secondsKey struct{ clock Clock }

// secondsOf gives what a clock says of each incident, by Ord; -1 where that is
// not known.
func secondsOf(s *index.Snapshot, c Clock) []float64 {
	return s.Memo(secondsKey{c}, func() any {
		seconds := make([]float64, numbers(s))
		for o := range s.All().All() {
			if d := c.Of(s.Node(o)); d.Known {
				seconds[o] = d.Seconds
			} else {
				seconds[o] = -1
			}
		}
		return seconds
	}).([]float64)
}

// each calls f for the members of set in ascending order and ends early with
// ctx's error.
func each(ctx context.Context, set index.Set, f func(index.Ord)) error {
	left := checkEvery
	for o := range set.All() {
		if left--; left == 0 {
			left = checkEvery
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		f(o)
	}
	return ctx.Err()
}

// tally counts the values of a column over a set, by value number. What it
// gives must not be changed.
func tally(ctx context.Context, set index.Set, c *column) ([]int32, error) {
	if set.Len() == c.count {
		return c.totals, ctx.Err()
	}
	counts := make([]int32, c.size())
	err := each(ctx, set, func(o index.Ord) {
		for _, v := range c.of(o) {
			counts[v]++
		}
	})
	return counts, err
}

// crossing is a set of incidents and one or two keys that divide it.
type crossing struct {
	set     index.Set
	columns [2]*column
}

// crossingOf makes a crossing. Where there is one key only, the second is one
// that no incident has a value of.
func crossingOf(s *index.Snapshot, set index.Set, by ...GroupKey) crossing {
	x := crossing{set: set, columns: [2]*column{1: noColumn()}}
	for i, k := range by {
		x.columns[i] = columnOf(s, k)
	}
	return x
}

// noColumn gives the column of a key that no incident has a value of.
func noColumn() *column { return &column{ranks: []uint32{0}} }

// each calls f for each pair of values of each incident.
func (x *crossing) each(ctx context.Context, f func(o index.Ord, a, b uint32)) error {
	second := []uint32{x.columns[1].none}
	two := len(x.columns[1].values) > 0
	return each(ctx, x.set, func(o index.Ord) {
		if two {
			second = x.columns[1].of(o)
		}
		for _, a := range x.columns[0].of(o) {
			for _, b := range second {
				f(o, a, b)
			}
		}
	})
}

// count counts the incidents by pair of values.
func (x *crossing) count(ctx context.Context) (*grid, error) {
	g := newGrid(x.columns[0].size(), x.columns[1].size())
	err := x.each(ctx, func(_ index.Ord, a, b uint32) { g.add(a, b) })
	return g, err
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
