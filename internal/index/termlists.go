package index

import (
	"math"
	"runtime"
	"slices"

	"incidentgraph/internal/incident"
)

// TermLists holds the terms of all incidents of a snapshot side by side, in two
// bytes each, for who reads those of many waits for little else than memory.
// It is immutable.
type TermLists struct {
	chunks []*termChunk // by Ord >> chunkBits
}

// termChunk holds the terms of chunkLen incidents: first those of one
// vocabulary, then those of the next.
type termChunk struct {
	starts [incident.VocabularyCount][chunkLen + 1]uint16 // where the terms of each begin, and the last ones end
	terms  []uint16                                       // and room for spareTerms more
	wide   *wideChunk                                     // instead, where terms or their number are too large
}

type wideChunk struct {
	starts [incident.VocabularyCount][chunkLen + 1]uint32
	terms  []TermID
}

// spareTerms is how many terms the processor may be told to copy where there
// are fewer.
const spareTerms = 4

// TermLists gives the terms of all incidents.
func (s *Snapshot) TermLists() *TermLists { return &s.termLists }

// Of gives an incident's terms of one vocabulary in record order: the first
// list or, if their numbers do not fit, the second. They are the snapshot's.
func (l *TermLists) Of(o Ord, v incident.Vocabulary) ([]uint16, []TermID) {
	c, i := l.chunks[o>>chunkBits], o%chunkLen
	if c.wide != nil {
		return nil, c.wide.terms[c.wide.starts[v][i]:c.wide.starts[v][i+1]]
	}
	return c.terms[c.starts[v][i]:c.starts[v][i+1]], nil
}

// Fetch brings the terms that incidents have of a vocabulary into the
// processor's caches, all at once: see the function Fetch.
func (l *TermLists) Fetch(ords []Ord, v incident.Vocabulary) {
	var sum int
	for _, o := range ords {
		if c := l.chunks[o>>chunkBits]; c.wide == nil {
			sum += int(c.starts[v][o%chunkLen])
		}
	}
	for _, o := range ords {
		if c := l.chunks[o>>chunkBits]; c.wide == nil {
			sum += int(c.terms[c.starts[v][o%chunkLen]]) // there is room for spareTerms
		}
	}
	runtime.KeepAlive(sum)
}

// AppendTo appends an incident's terms of one vocabulary in record order.
func (l *TermLists) AppendTo(terms []TermID, o Ord, v incident.Vocabulary) []TermID {
	few, many := l.Of(o, v)
	for _, t := range few {
		terms = append(terms, TermID(t))
	}
	return append(terms, many...)
}

// Count adds to counts, by TermID, how many of the incidents have each term of
// a vocabulary.
func (l *TermLists) Count(counts []int32, ords []Ord, v incident.Vocabulary) {
	// Terms are gathered first. To copy as many as most incidents have at most,
	// and then to pass over those that are too many, spares the processor to
	// guess how many come.
	var gathered [512 + spareTerms]uint16
	n := 0
	var c *termChunk
	for chunk := ^Ord(0); len(ords) > 0; ords = ords[1:] {
		o := ords[0]
		if o>>chunkBits != chunk {
			chunk = o >> chunkBits
			c = l.chunks[chunk]
		}
		i := o % chunkLen
		if c.wide != nil {
			countAll(counts, c.wide.terms[c.wide.starts[v][i]:c.wide.starts[v][i+1]])
			continue
		}
		starts := &c.starts[v]
		from, many := uint(starts[i]), uint(starts[i+1])-uint(starts[i])
		if many > spareTerms {
			countAll(counts, c.terms[from:from+many])
			continue
		}
		if n > len(gathered)-spareTerms {
			countAll(counts, gathered[:n])
			n = 0
		}
		*(*[spareTerms]uint16)(gathered[n : n+spareTerms]) = *(*[spareTerms]uint16)(c.terms[from : from+spareTerms])
		n += int(many)
	}
	countAll(counts, gathered[:n])
}

func countAll[T uint16 | TermID](counts []int32, terms []T) {
	for _, t := range terms {
		counts[t]++
	}
}

// applyTermLists makes the lists of s from those of its predecessor; changed
// are the incidents, sorted, that may have other terms.
func (s *Snapshot) applyTermLists(changed []Ord, w *writer) {
	if len(changed) == 0 {
		return
	}
	old := s.termLists.chunks
	chunks := make([]*termChunk, max(len(old), int(changed[len(changed)-1]>>chunkBits)+1))
	copy(chunks, old)
	for len(changed) > 0 {
		c := changed[0] >> chunkBits
		n := 1
		for n < len(changed) && changed[n]>>chunkBits == c {
			n++
		}
		d := termDraft{terms: w.chunkBuffer[:0]}
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			d.write(s, chunks[c], c<<chunkBits, changed[:n], v)
		}
		chunks[c], w.chunkBuffer = d.chunk(), d.terms
		changed = changed[n:]
	}
	s.termLists = TermLists{chunks}
}

// termDraft is a chunk while it is made.
type termDraft struct {
	starts [incident.VocabularyCount][chunkLen + 1]uint32
	terms  []TermID
}

// write adds the terms of one vocabulary: those that the changed incidents
// have now, and of the others those in the older chunk, if there is one.
func (d *termDraft) write(s *Snapshot, old *termChunk, base Ord, changed []Ord, v incident.Vocabulary) {
	next := 0
	for _, o := range changed {
		i := int(o - base)
		d.keep(old, v, next, i)
		d.starts[v][i] = uint32(len(d.terms))
		if n := s.Node(o); n != nil {
			d.terms = append(d.terms, n.Terms(v)...)
		}
		next = i + 1
	}
	d.keep(old, v, next, chunkLen)
	d.starts[v][chunkLen] = uint32(len(d.terms))
}

// keep adds the terms that the incidents from place from to before to have in
// a chunk.
func (d *termDraft) keep(c *termChunk, v incident.Vocabulary, from, to int) {
	at := uint32(len(d.terms))
	starts := d.starts[v][from:to]
	switch {
	case c == nil:
		for i := range starts {
			starts[i] = at
		}
	case c.wide != nil:
		first := c.wide.starts[v][from]
		for i := range starts {
			starts[i] = at + c.wide.starts[v][from+i] - first
		}
		d.terms = append(d.terms, c.wide.terms[first:c.wide.starts[v][to]]...)
	default:
		first := c.starts[v][from]
		for i := range starts {
			starts[i] = at + uint32(c.starts[v][from+i]-first)
		}
		for _, t := range c.terms[first:c.starts[v][to]] {
			d.terms = append(d.terms, TermID(t))
		}
	}
}

// chunk gives the chunk.
func (d *termDraft) chunk() *termChunk {
	c := new(termChunk)
	if len(d.terms) > math.MaxUint16 || len(d.terms) > 0 && slices.Max(d.terms) > math.MaxUint16 {
		c.wide = &wideChunk{d.starts, slices.Clone(d.terms)}
		return c
	}
	for v := range d.starts {
		for i, at := range d.starts[v] {
			c.starts[v][i] = uint16(at)
		}
	}
	c.terms = make([]uint16, len(d.terms)+spareTerms)
	for i, t := range d.terms {
		c.terms[i] = uint16(t)
	}
	return c
}
