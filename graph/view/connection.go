package view

import (
	"sort"
	"sync"
)

// DefaultPageSize is the size of a page where neither first nor last is given.
const DefaultPageSize = 20

// PageArgs are a connection field's paging arguments as the request gives
// them; nil where it does not.
type PageArgs struct {
	First, Last   *int
	After, Before *string
}

// paging is checked PageArgs: one of first and last is negative, and stands
// for not given.
type paging struct {
	first, last   int
	after, before *place
}

// check checks the arguments against the list that they are for: its kind and
// order, and how many values its places have.
func (o *Operation) check(a PageArgs, l list, order string, values int) (paging, error) {
	p := paging{first: -1, last: -1}
	if err := o.alive(); err != nil {
		return p, err
	}
	if a.First != nil && a.Last != nil {
		return p, badInput("last", "use first or last, not both")
	}
	for _, size := range []struct {
		argument string
		given    *int
		to       *int
	}{{"first", a.First, &p.first}, {"last", a.Last, &p.last}} {
		switch limit := o.settings.Limits.MaxPageSize; {
		case size.given == nil:
		case *size.given < 0:
			return p, badInput(size.argument, "must not be negative")
		case *size.given > limit:
			return p, &LimitError{Limit: "maxPageSize", Max: limit, Value: *size.given, Path: []any{size.argument}}
		default:
			*size.to = *size.given
		}
	}
	if p.first < 0 && p.last < 0 {
		p.first = min(DefaultPageSize, o.settings.Limits.MaxPageSize)
	}
	for _, c := range []struct {
		argument string
		given    *string
		to       **place
	}{{"after", a.After, &p.after}, {"before", a.Before, &p.before}} {
		if c.given == nil {
			continue
		}
		at, ok := parseCursor(*c.given)
		switch {
		case !ok:
			return p, badInput(c.argument, "not a cursor")
		case at.list != l || at.order != order || len(at.values) != values:
			return p, badInput(c.argument, "the cursor is of another list, or of another order of this one")
		}
		*c.to = at
	}
	return p, nil
}

// window finds the page of a list of n elements whose places are at(0) …
// at(n-1), in order: the elements from start up to end. What lies beyond is
// told as the specification of connections has it: at the end that the page
// is cut off at, whether it left something out; at the other, whether there is
// something beyond the cursor given.
func (p paging) window(n int, at func(i int) *place) (start, end int, previous, next bool) {
	start, end = 0, n
	if p.after != nil {
		start = sort.Search(n, func(i int) bool { return at(i).compare(p.after) > 0 })
	}
	before := n
	if p.before != nil {
		before = sort.Search(n, func(i int) bool { return at(i).compare(p.before) >= 0 })
		end = max(start, before)
	}
	if p.first >= 0 {
		next = end-start > p.first
		end = min(end, start+p.first)
		return start, end, start > 0, next
	}
	previous = end-start > p.last
	return max(start, end-p.last), end, previous, before < n
}

// edge is one element of a page; N is what the list is a list of.
type edge[N any] interface {
	Cursor() string
	node() N
}

// page is part of a list, with what its PageInfo needs.
type page[E any] struct {
	edges          []E
	next, previous bool
}

// connection is what all connection types have in common. A page is loaded
// when first asked for, the total counted likewise.
type connection[N any, E edge[N]] struct {
	load  func() (page[E], error)
	count func() (int, error)

	once sync.Once
	page page[E]
	err  error
}

func (c *connection[N, E]) loaded() (*page[E], error) {
	c.once.Do(func() { c.page, c.err = c.load() })
	return &c.page, c.err
}

// Edges gives the elements of the page with their cursors.
func (c *connection[N, E]) Edges() ([]E, error) {
	p, err := c.loaded()
	return p.edges, err
}

// Nodes gives the elements of the page.
func (c *connection[N, E]) Nodes() ([]N, error) {
	p, err := c.loaded()
	nodes := make([]N, len(p.edges))
	for i, e := range p.edges {
		nodes[i] = e.node()
	}
	return nodes, err
}

// TotalCount counts the elements of the whole list.
func (c *connection[N, E]) TotalCount() (int, error) { return c.count() }

// PageInfo tells where the page is in the list.
func (c *connection[N, E]) PageInfo() (*PageInfo, error) {
	p, err := c.loaded()
	if err != nil {
		return nil, err
	}
	info := &PageInfo{HasNextPage: p.next, HasPreviousPage: p.previous}
	if n := len(p.edges); n > 0 {
		info.start, info.end = p.edges[0], p.edges[n-1]
	}
	return info, nil
}

// PageInfo tells where a page is in its list.
type PageInfo struct {
	HasNextPage, HasPreviousPage bool
	start, end                   interface{ Cursor() string } // nil on an empty page
}

// StartCursor is the cursor of the first element.
func (i *PageInfo) StartCursor() (string, bool) { return cursorOf(i.start) }

// EndCursor is the cursor of the last element.
func (i *PageInfo) EndCursor() (string, bool) { return cursorOf(i.end) }

func cursorOf(e interface{ Cursor() string }) (string, bool) {
	if e == nil {
		return "", false
	}
	return e.Cursor(), true
}

// listed makes a connection of a list in memory: n elements whose places are
// given by at and whose edges are made by element.
func listed[N any, E edge[N]](p paging, n int, at func(i int) *place, element func(i int) E) connection[N, E] {
	return connection[N, E]{
		load: func() (page[E], error) {
			start, end, previous, next := p.window(n, at)
			edges := make([]E, 0, end-start)
			for i := start; i < end; i++ {
				edges = append(edges, element(i))
			}
			return page[E]{edges: edges, previous: previous, next: next}, nil
		},
		count: func() (int, error) { return n, nil },
	}
}
