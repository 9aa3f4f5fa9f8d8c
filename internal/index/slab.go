package index

import (
	"strings"
	"unsafe"

	"incidentgraph/internal/incident"
)

// maxSlab is how many bytes a slab has at most.
const maxSlab = 64 << 10

// slab cuts lists off larger arrays: a million lists of their own would each
// be an object for the garbage collector to visit. An array lives as long as
// any of its lists does, so arrays grow with what one batch asks for: lists of
// which few are made have arrays of their own.
type slab[T any] struct {
	free []T
	made int // number of elements so far
}

// take gives a list of n zero elements.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		var x T
		s.free = make([]T, max(n, min(s.made, maxSlab/int(unsafe.Sizeof(x)))))
		s.made += len(s.free)
	}
	list := s.free[:n:n]
	s.free = s.free[n:]
	return list
}

// keep gives a copy of a list, nil of an empty one.
func (s *slab[T]) keep(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	own := s.take(len(list))
	copy(own, list)
	return own
}

// textSlab is a slab for strings.
type textSlab struct {
	b    strings.Builder
	made int // bytes so far
}

// keep gives a copy of a string.
func (s *textSlab) keep(text string) string {
	if s.b.Cap()-s.b.Len() < len(text) {
		s.b = strings.Builder{}
		s.b.Grow(max(len(text), min(s.made, maxSlab)))
		s.made += s.b.Cap()
	}
	s.b.WriteString(text)
	return s.b.String()[s.b.Len()-len(text):]
}

// slabs are those of one batch.
type slabs struct {
	texts    textSlab
	titles   slab[incident.LanguageText]
	terms    slab[TermID]
	numbers  slab[uint32]
	ords     slab[Ord]
	incoming slab[incoming]
}
