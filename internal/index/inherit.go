package index

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// inheritShare is which part of the incidents may have changed for a value to be
// derived from an older one: with more it is better computed anew.
const inheritShare = 8

// sorting is how a lazySequence is sorted: what it has, and in which order.
type sorting interface {
	has(o Ord) bool
	compare(a, b Ord) int
	sort() []Ord // all that it has
}

// lazySequence is a sequence that is computed when first asked for.
type lazySequence struct {
	lazily[sequence]
	// direct counts the incidents that were sorted by themselves to spare
	// computing the sequence.
	direct atomic.Int64
}

// get gives the sequence, which x sorts.
func (l *lazySequence) get(x sorting) *sequence {
	return l.lazily.get(
		func() *sequence { return newSequence(x.sort()) },
		func(old *sequence, changed *changedOrds) *sequence {
			return old.derive(changed, changed.sorted(x), x.compare)
		})
}

// lazily is a value that is computed when first asked for, from a
// predecessor's where there is one that differs little.
type lazily[T any] struct {
	built atomic.Pointer[T]

	mu      sync.Mutex
	old     *T // of a predecessor, guarded by mu, as is changed
	changed *changedOrds
}

// changedOrds lists the incidents that changed since a value was computed.
type changedOrds struct {
	before *changedOrds
	ords   []Ord
	n      int // with those before
}

// and gives the list with more incidents.
func (c *changedOrds) and(ords []Ord) *changedOrds {
	if len(ords) == 0 {
		return c
	}
	more := &changedOrds{c, ords, len(ords)}
	if c != nil {
		more.n += c.n
	}
	return more
}

// all yields the incidents, possibly repeated.
func (c *changedOrds) all() iter.Seq[Ord] {
	return func(yield func(Ord) bool) {
		for ; c != nil; c = c.before {
			for _, o := range c.ords {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// inherit takes over what a predecessor has, and tells whether there is any of
// use; moved gives the incidents that the value depends on and that changed,
// limit is how many may. The one that inherits is not in use yet.
func (l *lazily[T]) inherit(from *lazily[T], limit int, moved func() []Ord) bool {
	old, since := from.bequeath()
	if old == nil {
		return false
	}
	since = since.and(moved())
	switch {
	case since == nil:
		l.built.Store(old)
	case since.n > limit:
		return false
	default:
		l.old, l.changed = old, since
	}
	return true
}

func (l *lazily[T]) bequeath() (*T, *changedOrds) {
	if x := l.built.Load(); x != nil {
		return x, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.built.Load(); x != nil {
		return x, nil
	}
	return l.old, l.changed
}

// get gives the value.
func (l *lazily[T]) get(compute func() *T, derive func(old *T, changed *changedOrds) *T) *T {
	if x := l.built.Load(); x != nil {
		return x
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.built.Load(); x != nil {
		return x
	}
	var x *T
	if l.old != nil {
		x = derive(l.old, l.changed)
	} else {
		x = compute()
	}
	l.built.Store(x)
	l.old, l.changed = nil, nil
	return x
}

// sorted gives those that x has, each once.
func (c *changedOrds) sorted(x sorting) []Ord {
	var ords []Ord
	for o := range c.all() {
		if x.has(o) {
			ords = append(ords, o)
		}
	}
	slices.SortFunc(ords, x.compare)
	return slices.Compact(ords)
}

// Inherited is like Memo, for values that have a part for each incident: where
// a snapshot before this one has computed the value, derive may make it from
// that one. What changed are all incidents that came, went, or differ in
// anything since, by their records or by whom they are linked with.
func (s *Snapshot) Inherited(key any, compute func() any, derive func(old any, changed []Ord) any) any {
	l, ok := s.inherited.Load(key)
	if !ok {
		l, _ = s.inherited.LoadOrStore(key, new(lazily[any]))
	}
	return *l.(*lazily[any]).get(
		func() *any {
			x := compute()
			return &x
		},
		func(old *any, changed *changedOrds) *any {
			x := derive(*old, changed.sortedOrds())
			return &x
		})
}

// inheritValues hands the values of Inherited over; changed gives the
// incidents that changed.
func (s *Snapshot) inheritValues(from *Snapshot, changed func() []Ord) {
	from.inherited.Range(func(key, l any) bool {
		heir := new(lazily[any])
		if heir.inherit(l.(*lazily[any]), s.Len()/inheritShare, changed) {
			s.inherited.Store(key, heir)
		}
		return true
	})
}

// sortedOrds gives the incidents by number, each once.
func (c *changedOrds) sortedOrds() []Ord {
	ords := slices.Collect(c.all())
	slices.Sort(ords)
	return slices.Compact(ords)
}
