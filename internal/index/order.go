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

// manyOrders is how many orders by several keys a snapshot keeps.
const manyOrders = 8

// orders are the orders of all incidents that a snapshot has.
type orders struct {
	single [fieldCount][2]lazySequence // ascending, descending

	mu   sync.Mutex
	many []*manyKeys // guarded by mu; the one asked for last comes last
	// direct is as in lazySequence, for orders by several keys that are not
	// here.
	direct atomic.Int64
}

// manyKeys is an order by several keys.
type manyKeys struct {
	by []Order
	lazySequence
}

// inheritOrders lets s derive its orders from those of its predecessor; moved
// gives the incidents whose place in an order by a field may differ.
func (s *Snapshot) inheritOrders(from *Snapshot, moved func(Field) []Ord) {
	limit := s.Len() / inheritShare
	for f := range s.orders.single {
		for d := range s.orders.single[f] {
			s.orders.single[f][d].inherit(&from.orders.single[f][d].lazily, limit, func() []Ord { return moved(Field(f)) })
		}
	}
	from.orders.mu.Lock()
	defer from.orders.mu.Unlock()
	for _, m := range from.orders.many {
		heir := &manyKeys{by: m.by}
		if heir.inherit(&m.lazily, limit, func() []Ord {
			var ords []Ord
			for _, o := range m.by {
				ords = append(ords, moved(o.Field)...)
			}
			return ords
		}) {
			s.orders.many = append(s.orders.many, heir)
		}
	}
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
// the order of all: where it is small and the order is not there. Each time
// brings the order nearer to being worth its cost.
func (s *Snapshot) directly(by []Order, n int) bool {
	const small = 256
	if n > small {
		return false
	}
	direct := &s.orders.direct
	if l := s.orders.find(by); l != nil {
		if l.built.Load() != nil {
			return false
		}
		direct = &l.direct
	}
	return direct.Add(int64(n)) <= int64(s.Len()/16)
}

// order gives all incidents in a normalized order.
func (s *Snapshot) order(by []Order) *sequence {
	l := s.orders.find(by)
	if l == nil {
		l = s.orders.add(by)
	}
	return l.get(nodeSorting{s, by})
}

func (s *Snapshot) singleOrder(o Order) *sequence { return s.order([]Order{o}) }

// RoughPlaces gives a function that tells, for a stored incident, roughly its
// place by case id: of two with different places, the one with the smaller one
// comes first. It gives nil where that would cost more than a look-up.
func (s *Snapshot) RoughPlaces() func(Ord) int {
	if ids := s.orders.find([]Order{{Field: ByCaseID}}).built.Load(); ids != nil {
		return ids.partOf
	}
	return nil
}

// find gives the place of a normalized order, nil where it has none, and takes
// note that it was asked for.
func (x *orders) find(by []Order) *lazySequence {
	if len(by) == 1 {
		d := 0
		if by[0].Desc {
			d = 1
		}
		return &x.single[by[0].Field][d]
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.findMany(by)
}

// findMany is find for several keys; the caller holds mu.
func (x *orders) findMany(by []Order) *lazySequence {
	i := slices.IndexFunc(x.many, func(m *manyKeys) bool { return slices.Equal(m.by, by) })
	if i < 0 {
		return nil
	}
	m := x.many[i]
	x.many = append(slices.Delete(x.many, i, i+1), m)
	return &m.lazySequence
}

// add makes a place for an order by several keys, and drops the one that was
// not asked for the longest where there are too many.
func (x *orders) add(by []Order) *lazySequence {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.findMany(by); l != nil { // meanwhile
		return l
	}
	if len(x.many) == manyOrders {
		x.many = slices.Delete(x.many, 0, 1)
	}
	m := &manyKeys{by: slices.Clone(by)}
	x.many = append(x.many, m)
	return &m.lazySequence
}

// nodeSorting puts incidents in a normalized order.
type nodeSorting struct {
	s  *Snapshot
	by []Order
}

func (x nodeSorting) has(o Ord) bool { return x.s.Node(o) != nil }

func (x nodeSorting) compare(a, b Ord) int {
	return x.s.compareNodes(x.s.Node(a), x.s.Node(b), x.by)
}

// sort sorts by the last key first: each sorting leaves equal ones as the one
// before had them.
func (x nodeSorting) sort() []Ord {
	s, by := x.s, x.by
	last := by[len(by)-1]
	if len(by) == 1 && last == (Order{Field: ByCaseID}) {
		ords := s.all.AppendTo(nil)
		s.sortByID(ords)
		return ords
	}
	ords := s.singleOrder(Order{Field: ByCaseID}).items(0, s.Len())
	if last.Field == ByCaseID { // falling, or it would not be here
		slices.Reverse(ords)
		by = by[:len(by)-1]
	}
	for _, o := range slices.Backward(by) {
		s.sortBy(ords, o)
	}
	return ords
}
