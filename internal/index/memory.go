package index

import (
	"unsafe"

	"incidentgraph/internal/incident"
)

type bytesKey struct{}

// Bytes gives the memory that the snapshot holds, about: incidents with their
// titles, names, links and sets. What the snapshot computes when first asked,
// such as orders, is left out, and so is what the runtime adds to each
// allocation.
func (s *Snapshot) Bytes() int {
	return memoized(s, bytesKey{}, func() int {
		n := s.names.bytes() + s.nodeBytes()
		n += s.all.bytes() + s.reviewed.bytes() + s.noOrg.bytes()
		for _, v := range []vector[*holders]{s.terms, s.orgs, s.regions} {
			n += holderBytes(v)
		}
		for _, v := range s.counts {
			n += holderBytes(v)
		}
		return n
	})
}

// nodeBytes gives the memory of the incidents and their links.
func (s *Snapshot) nodeBytes() int {
	total := s.nodes.bytes() + s.incoming.bytes()
	for i := range uint32(s.nodes.len()) {
		if n := s.nodes.at(i); n != nil {
			total += int(unsafe.Sizeof(*n)) + 4*(cap(n.terms)+cap(n.spelling)+cap(n.related)) +
				len(n.DetectedAfter.Text) + len(n.ResolvedAfter.Text) + cap(n.Title)*int(unsafe.Sizeof(incident.LanguageText{}))
			for _, t := range n.Title {
				total += len(t.Text)
			}
		}
	}
	for i := range uint32(s.incoming.len()) {
		if in := s.incoming.at(i); in != nil {
			total += int(unsafe.Sizeof(*in)) + 4*cap(in.sources)
		}
	}
	return total
}

func holderBytes(v vector[*holders]) int {
	total := v.bytes()
	for i := range uint32(v.len()) {
		if h := v.at(i); h != nil {
			total += int(unsafe.Sizeof(*h)) + h.incidents.bytes()
		}
	}
	return total
}

// bytes gives the memory of a vector, without what its elements point to.
func (v vector[T]) bytes() int {
	total := 8 * cap(v.dir)
	for _, c := range v.dir {
		if c != nil {
			total += int(unsafe.Sizeof(*c))
		}
	}
	return total
}

// bytes gives the memory of a set's blocks.
func (a Set) bytes() int {
	total := cap(a.blocks) * int(unsafe.Sizeof(block{}))
	for _, b := range a.blocks {
		if total += 2 * cap(b.list); b.bits != nil {
			total += int(unsafe.Sizeof(*b.bits))
		}
	}
	return total
}

// bytes gives the memory of all names with their tables.
func (n *names) bytes() int {
	total := n.terms.bytes()
	for i := range uint32(n.terms.len()) {
		total += len(n.terms.name(i).Slug)
	}
	for _, in := range []*interner[string]{n.cases, n.orgs, n.regions, n.spelling} {
		total += in.bytes()
		for i := range uint32(in.len()) {
			total += len(in.name(i))
		}
	}
	return total
}

// bytes gives the memory of the tables, without what names point to.
func (in *interner[K]) bytes() int {
	var k K
	return cap(*in.names.Load())*int(unsafe.Sizeof(k)) + 8*cap(*in.table.Load())
}
