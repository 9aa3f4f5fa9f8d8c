package index

import (
	"unsafe"

	"incidentgraph/internal/incident"
)

type bytesKey struct{}

// Bytes gives the memory that the snapshot holds, about: incidents with their
// titles, names, links and sets. What the snapshot computes when first asked,
// such as orders, is left out, and so is what the runtime adds to each
// allocation. It does not look at each incident.
func (s *Snapshot) Bytes() int {
	return memoized(s, bytesKey{}, func() int {
		n := s.names.bytes() + s.nodeBytes + s.linkBytes + s.termLists.bytes()
		n += s.nodes.bytes() + s.dates.bytes() + s.incoming.bytes() + s.roots.bytes() + s.chains.bytes()
		n += s.all.bytes() + s.reviewed.bytes() + s.noOrg.bytes() + s.chained.bytes()
		for _, v := range []vector[*holders]{s.terms, s.orgs, s.regions} {
			n += holderBytes(v)
		}
		for _, v := range s.counts {
			n += holderBytes(v)
		}
		return n
	})
}

// bytes gives the memory of one incident without its links to others.
func (n *Node) bytes() int {
	if n == nil {
		return 0
	}
	total := int(unsafe.Sizeof(*n)) + 4*(cap(n.terms)+cap(n.spelling)+cap(n.related)) +
		len(n.DetectedAfter.Text) + len(n.ResolvedAfter.Text) + cap(n.Title)*int(unsafe.Sizeof(incident.LanguageText{}))
	for _, t := range n.Title {
		total += len(t.Text)
	}
	return total
}

func (in *incoming) bytes() int {
	if in == nil {
		return 0
	}
	return int(unsafe.Sizeof(*in)) + 4*cap(in.sources)
}

func (l *TermLists) bytes() int {
	total := 8 * cap(l.chunks)
	for _, c := range l.chunks {
		if c != nil {
			total += int(unsafe.Sizeof(*c)) + 2*cap(c.terms)
		}
		if c != nil && c.wide != nil {
			total += int(unsafe.Sizeof(*c.wide)) + 4*cap(c.wide.terms)
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
		total += in.bytes() + int(in.textBytes.Load())
	}
	return total
}

// bytes gives the memory of the tables, without what names point to.
func (in *interner[K]) bytes() int {
	var k K
	return cap(*in.names.Load())*int(unsafe.Sizeof(k)) + 8*cap(*in.table.Load())
}
