package index

import "slices"

const (
	chunkBits = 8
	chunkLen  = 1 << chunkBits
)

// vector is a persistent array: a directory of chunks that snapshots share.
// Elements that were never set are zero.
type vector[T any] struct {
	dir []*chunk[T]
}

// chunk belongs to the batch that made it, which may change it until it
// commits; after that it is immutable.
type chunk[T any] struct {
	owner uint64
	items [chunkLen]T
}

// at gives element i, zero where it was never set.
func (v vector[T]) at(i uint32) (x T) {
	if c := int(i >> chunkBits); c < len(v.dir) && v.dir[c] != nil {
		return v.dir[c].items[i%chunkLen]
	}
	return x
}

// len gives a number that all elements set are below.
func (v vector[T]) len() int { return len(v.dir) * chunkLen }

// editor changes a vector without changing what snapshots see: it copies the
// directory once and each chunk the first time that it is touched.
type editor[T any] struct {
	vector[T]
	owner   uint64 // number of the batch; never used twice
	ownsDir bool
}

func (v vector[T]) edit(owner uint64) editor[T] { return editor[T]{vector: v, owner: owner} }

func (e *editor[T]) set(i uint32, x T) {
	c := int(i >> chunkBits)
	if !e.ownsDir {
		e.dir = slices.Grow(slices.Clone(e.dir), 1)
		e.ownsDir = true
	}
	for c >= len(e.dir) {
		e.dir = append(e.dir, nil)
	}
	switch {
	case e.dir[c] == nil:
		e.dir[c] = &chunk[T]{owner: e.owner}
	case e.dir[c].owner != e.owner:
		own := *e.dir[c]
		own.owner = e.owner
		e.dir[c] = &own
	}
	e.dir[c].items[i%chunkLen] = x
}
