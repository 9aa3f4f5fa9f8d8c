package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Field is what incidents can be ordered by.
type Field uint8

// The fields. Incidents without a value (no date, no updated_at, unknown
// duration) come last in both directions.
const (
	ByDate Field = iota
	ByUpdatedAt
	ByCaseID
	ByResolvedAfter
	ByLinkCount
	byDetectedAfter // for filters only
	fieldCount      = iota
)

// Order is one key of a sort; ties after all keys go by case id ascending.
type Order struct {
	Field Field
	Desc  bool
}

// Key is a place in a sorted list: the sort values of an incident and its
// case id. It stays meaningful when incidents come and go, the one it was
// made from included.
type Key struct {
	// Values has one per Order: date as integer, updated_at as nanoseconds
	// since 1970 (the nearest that int64 can hold), seconds as float bits
	// order-preserving, link count; 0 with Null set where there is none. By
	// case id it is not used.
	Values []KeyValue
	ID     string
}

// KeyValue is one sort value.
type KeyValue struct {
	Null bool
	N    int64
}

// byDateDesc is the order of lists where none is asked for.
var byDateDesc = []Order{{Field: ByDate, Desc: true}}

// KeyOf gives n's place in the order.
func (s *Snapshot) KeyOf(n *Node, by []Order) Key {
	if len(by) == 0 {
		by = byDateDesc
	}
	k := Key{Values: make([]KeyValue, len(by)), ID: n.ID}
	for i, o := range by {
		k.Values[i] = s.keyValue(n, o.Field)
	}
	return k
}

func (s *Snapshot) keyValue(n *Node, f Field) KeyValue {
	v, ok := s.value(n, f)
	if !ok {
		return KeyValue{Null: true}
	}
	return KeyValue{N: v}
}

// compare gives the order of two sort values, null last in both directions.
func (o Order) compare(a, b KeyValue) int {
	switch c := cmp.Compare(a.N, b.N); {
	case a.Null || b.Null:
		return compareBools(a.Null, b.Null)
	case o.Desc:
		return -c
	default:
		return c
	}
}

// compareIDs is compare for ByCaseID.
func (o Order) compareIDs(a, b string) int {
	if o.Desc {
		a, b = b, a
	}
	return strings.Compare(a, b)
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// compareNodes orders two incidents.
func (s *Snapshot) compareNodes(a, b *Node, by []Order) int {
	for _, o := range by {
		if o.Field == ByCaseID {
			return o.compareIDs(a.ID, b.ID)
		}
		if c := o.compare(s.keyValue(a, o.Field), s.keyValue(b, o.Field)); c != 0 {
			return c
		}
	}
	return strings.Compare(a.ID, b.ID)
}

// compareKey orders an incident and a place; values that the key lacks count
// as null.
func (s *Snapshot) compareKey(n *Node, k *Key, by []Order) int {
	for i, o := range by {
		if o.Field == ByCaseID {
			return o.compareIDs(n.ID, k.ID)
		}
		v := KeyValue{Null: true}
		if i < len(k.Values) {
			v = k.Values[i]
		}
		if c := o.compare(s.keyValue(n, o.Field), v); c != 0 {
			return c
		}
	}
	return strings.Compare(n.ID, k.ID)
}

// permutation is all incidents in one order.
type permutation struct {
	ords  []Ord
	known int // those with a value come first: ords[:known]

	once sync.Once
	rank atomic.Pointer[[]uint32] // by Ord, the place in ords; set by ranks
}

// ranks gives each incident's place. Numbers without an incident have no
// meaningful one. There must be incidents.
func (p *permutation) ranks() []uint32 {
	p.once.Do(func() {
		rank := make([]uint32, slices.Max(p.ords)+1)
		for i, o := range p.ords {
			rank[o] = uint32(i)
		}
		p.rank.Store(&rank)
	})
	return *p.rank.Load()
}

// manyOrders is how many orders by several keys a snapshot keeps.
const manyOrders = 8

// orders are the permutations that a snapshot has.
type orders struct {
	single [fieldCount][2]lazyPermutation // ascending, descending

	mu     sync.Mutex
	many   []manyKeys   // guarded by mu; newest last
	direct atomic.Int64 // as in lazyPermutation
}

type manyKeys struct {
	by []Order
	p  *permutation
}

// lazyPermutation is computed when first asked for, from a predecessor's
// where there is one that differs little.
type lazyPermutation struct {
	built atomic.Pointer[permutation]
	// direct counts the incidents that were sorted by themselves to spare
	// computing the permutation or its ranks.
	direct atomic.Int64

	mu      sync.Mutex
	old     *permutation // of a predecessor, guarded by mu, as is changed
	changed *changedOrds
}

// changedOrds lists the incidents that changed since a permutation was made.
type changedOrds struct {
	before *changedOrds
	ords   []Ord
	n      int // with those before
}

// inheritOrders lets s derive its permutations from those of its predecessor:
// changed are the numbers of the incidents that changed, relinked those whose
// number of links did.
func (s *Snapshot) inheritOrders(from *Snapshot, changed []Ord, relinked func() []Ord) {
	// Moving more than a part of the incidents costs more than sorting anew.
	limit := s.Len() / 8
	for f := range s.orders.single {
		for d := range s.orders.single[f] {
			old, since := from.orders.single[f][d].bequeath()
			if old == nil {
				continue
			}
			moved := changed
			if Field(f) == ByLinkCount {
				moved = relinked()
			}
			since = &changedOrds{since, moved, len(moved)}
			if since.before != nil {
				since.n += since.before.n
			}
			if since.n <= limit {
				s.orders.single[f][d].old, s.orders.single[f][d].changed = old, since
			}
		}
	}
}

func (l *lazyPermutation) bequeath() (*permutation, *changedOrds) {
	if p := l.built.Load(); p != nil {
		return p, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.built.Load(); p != nil {
		return p, nil
	}
	return l.old, l.changed
}

// normalized leaves out the keys of an order that cannot matter.
func normalized(by []Order) []Order {
	if len(by) == 0 {
		return byDateDesc
	}
	for i, o := range by {
		if slices.ContainsFunc(by[:i], func(p Order) bool { return p.Field == o.Field }) {
			return normalized(slices.Concat(by[:i], by[i+1:]))
		}
		if o.Field == ByCaseID {
			if i > 0 && !o.Desc {
				i-- // the tie breaker is the same
			}
			return by[:i+1]
		}
	}
	return by
}

// directly tells whether a set of n is better sorted by itself than through
// the permutation: where it is small and the permutation is not ready. Each
// time brings the permutation nearer to being worth its cost.
func (s *Snapshot) directly(by []Order, n int) bool {
	const small = 256
	if n > small {
		return false
	}
	direct := &s.orders.direct
	if len(by) == 1 {
		cell := s.cell(by[0])
		if p := cell.built.Load(); p != nil && p.rank.Load() != nil {
			return false
		}
		direct = &cell.direct
	} else if s.kept(by) != nil {
		return false
	}
	return direct.Add(int64(n)) <= int64(s.Len()/16)
}

// kept gives an order by several keys if it is there.
func (s *Snapshot) kept(by []Order) *permutation {
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	if i := s.orders.find(by); i >= 0 {
		return s.orders.many[i].p
	}
	return nil
}

// order gives the permutation of a normalized order.
func (s *Snapshot) order(by []Order) *permutation {
	if len(by) == 1 {
		return s.singleOrder(by[0])
	}
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	if i := s.orders.find(by); i >= 0 {
		return s.orders.many[i].p
	}
	if len(s.orders.many) == manyOrders {
		s.orders.many = slices.Delete(s.orders.many, 0, 1)
	}
	p := s.sort(by)
	s.orders.many = append(s.orders.many, manyKeys{slices.Clone(by), p})
	return p
}

func (o *orders) find(by []Order) int {
	return slices.IndexFunc(o.many, func(m manyKeys) bool { return slices.Equal(m.by, by) })
}

func (s *Snapshot) cell(o Order) *lazyPermutation {
	d := 0
	if o.Desc {
		d = 1
	}
	return &s.orders.single[o.Field][d]
}

func (s *Snapshot) singleOrder(o Order) *permutation {
	l := s.cell(o)
	if p := l.built.Load(); p != nil {
		return p
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.built.Load(); p != nil {
		return p
	}
	var p *permutation
	if l.old != nil {
		p = s.derive(l.old, l.changed, o)
	} else {
		p = s.sort([]Order{o})
	}
	l.built.Store(p)
	l.old, l.changed = nil, nil
	return p
}

// derive moves the changed incidents of a predecessor's permutation to where
// they belong now.
func (s *Snapshot) derive(old *permutation, changed *changedOrds, o Order) *permutation {
	by := []Order{o}
	p := &permutation{ords: make([]Ord, 0, s.Len())}
	moved := changed.bitmap(s.names.cases.len())
	for _, x := range old.ords {
		if moved[x/64]>>(x%64)&1 == 0 {
			p.ords = append(p.ords, x)
		}
	}
	var arrived []*Node
	for c := changed; c != nil; c = c.before {
		for _, x := range c.ords {
			if n := s.Node(x); n != nil {
				arrived = append(arrived, n)
			}
		}
	}
	slices.SortFunc(arrived, func(a, b *Node) int { return s.compareNodes(a, b, by) })
	arrived = slices.Compact(arrived)
	p.insert(arrived, func(x Ord, n *Node) int { return s.compareNodes(s.Node(x), n, by) })
	p.known = s.countKnown(p.ords, o.Field)
	return p
}

// insert adds sorted incidents from the last to the first, moving each of the
// others at most once.
func (p *permutation) insert(nodes []*Node, compare func(Ord, *Node) int) {
	end := len(p.ords)
	p.ords = p.ords[:end+len(nodes)]
	for i := len(nodes) - 1; i >= 0; i-- {
		at, _ := slices.BinarySearchFunc(p.ords[:end], nodes[i], compare)
		copy(p.ords[at+i+1:], p.ords[at:end])
		p.ords[at+i] = nodes[i].Ord
		end = at
	}
}

// bitmap marks the numbers, all of which are below n.
func (c *changedOrds) bitmap(n int) []uint64 {
	words := make([]uint64, n/64+1)
	for ; c != nil; c = c.before {
		for _, o := range c.ords {
			words[o/64] |= 1 << (o % 64)
		}
	}
	return words
}

// countKnown gives the number of incidents that have a value of the field;
// those without come last in ords.
func (s *Snapshot) countKnown(ords []Ord, f Field) int {
	n, _ := slices.BinarySearchFunc(ords, struct{}{}, func(x Ord, _ struct{}) int {
		if _, ok := s.value(s.Node(x), f); ok {
			return -1
		}
		return 1
	})
	return n
}

// sort computes a permutation from nothing. It gathers the values first:
// comparing them where they lie would miss the cache each time.
func (s *Snapshot) sort(by []Order) *permutation {
	if by[0].Field == ByCaseID {
		return s.sortIDs(by[0].Desc)
	}
	type item struct {
		first KeyValue
		place int // in the order of ids
	}
	ids := s.singleOrder(Order{Field: ByCaseID}).ords
	items := make([]item, len(ids))
	rest := make([]KeyValue, 0, len(ids)*(len(by)-1)) // by place
	p := &permutation{ords: make([]Ord, len(ids))}
	for i, x := range ids {
		n := s.Node(x)
		items[i] = item{s.keyValue(n, by[0].Field), i}
		if !items[i].first.Null {
			p.known++
		}
		for _, o := range by[1:] {
			v := s.keyValue(n, o.Field)
			if o.Field == ByCaseID {
				v.N = int64(i)
			}
			rest = append(rest, v)
		}
	}
	slices.SortFunc(items, func(a, b item) int {
		c := by[0].compare(a.first, b.first)
		for i := 0; c == 0 && i < len(by)-1; i++ {
			c = by[i+1].compare(rest[a.place*(len(by)-1)+i], rest[b.place*(len(by)-1)+i])
		}
		return cmp.Or(c, cmp.Compare(a.place, b.place))
	})
	for i, x := range items {
		p.ords[i] = ids[x.place]
	}
	return p
}

func (s *Snapshot) sortIDs(desc bool) *permutation {
	var ords []Ord
	if desc {
		ords = slices.Clone(s.singleOrder(Order{Field: ByCaseID}).ords)
		slices.Reverse(ords)
	} else {
		ords = s.all.AppendTo(nil)
		slices.SortFunc(ords, func(a, b Ord) int { return strings.Compare(s.CaseID(a), s.CaseID(b)) })
	}
	return &permutation{ords: ords, known: len(ords)}
}
