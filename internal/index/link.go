package index

import (
	"cmp"
	"slices"
	"strings"
)

// incoming holds the sources of links to one target: of related links, then
// of recurrences, both sorted. All of them are stored incidents. A nil
// incoming has none.
type incoming struct {
	sources []Ord
	n       int // number of related ones
}

func (w *writer) newIncoming(related, recurrences []Ord) *incoming {
	if len(related)+len(recurrences) == 0 {
		return nil
	}
	in := &w.slabs.incoming.take(1)[0]
	in.sources, in.n = w.slabs.ords.take(len(related)+len(recurrences)), len(related)
	copy(in.sources, related)
	copy(in.sources[in.n:], recurrences)
	return in
}

func (in *incoming) related() []Ord {
	if in == nil {
		return nil
	}
	return in.sources[:in.n]
}

func (in *incoming) recurrences() []Ord {
	if in == nil {
		return nil
	}
	return in.sources[in.n:]
}

// in gives the links to a case, which need not be stored.
func (s *Snapshot) in(o Ord) *incoming { return s.incoming.at(uint32(o)) }

// Direction says which of two related records names the other.
type Direction uint8

// The directions of a related link, seen from one end.
const (
	Outgoing Direction = iota
	Incoming
	Mutual
)

// Related is one related incident.
type Related struct {
	Ord       Ord
	Direction Direction
}

// Related gives the stored incidents related to n, each once, by date
// descending (none last), then case id.
func (s *Snapshot) Related(n *Node) []Related {
	r := s.related(n)
	if len(r) < 2 {
		return r
	}
	slices.SortFunc(r, func(a, b Related) int {
		return compareDates(s.Node(a.Ord), s.Node(b.Ord), true)
	})
	return r
}

// related gives the related incidents in no order.
func (s *Snapshot) related(n *Node) []Related {
	in := s.in(n.Ord).related()
	if len(n.related)+len(in) == 0 {
		return nil
	}
	r := make([]Related, 0, len(n.related)+len(in))
	for _, o := range in {
		r = append(r, Related{o, Incoming})
	}
	for _, o := range n.related {
		if i, ok := slices.BinarySearch(in, o); ok {
			r[i].Direction = Mutual
		} else if s.Node(o) != nil {
			r = append(r, Related{o, Outgoing})
		}
	}
	return r
}

// RelatedCount gives the number of stored incidents related to n.
func (s *Snapshot) RelatedCount(n *Node) int {
	in := s.in(n.Ord).related()
	count := len(in)
	for _, o := range n.related {
		if s.Node(o) == nil {
			continue
		}
		if _, mutual := slices.BinarySearch(in, o); !mutual {
			count++
		}
	}
	return count
}

// RecurrenceOf gives the stored incident that n repeats, nil if none.
func (s *Snapshot) RecurrenceOf(n *Node) *Node {
	if !n.hasParent {
		return nil
	}
	return s.Node(n.recurrenceOf)
}

// Recurrences gives the stored incidents that name n as what they repeat.
func (s *Snapshot) Recurrences(n *Node) Set {
	return SetOf(s.in(n.Ord).recurrences()...)
}

// Unresolved gives the case ids that n names and that are not stored: related
// ones by record order, and the recurrence_of one ("" if resolved or none).
func (s *Snapshot) Unresolved(n *Node) (related []string, recurrenceOf string) {
	for _, o := range n.related {
		if s.Node(o) == nil {
			related = append(related, s.CaseID(o))
		}
	}
	if n.hasParent && s.Node(n.recurrenceOf) == nil {
		recurrenceOf = s.CaseID(n.recurrenceOf)
	}
	return related, recurrenceOf
}

// LinkCount gives n's number of stored neighbors by links: related pairs,
// recurrences and the case that it repeats. A case that is linked in two of
// these ways counts twice.
func (s *Snapshot) LinkCount(n *Node) int {
	count := s.RelatedCount(n) + len(s.in(n.Ord).recurrences())
	if s.RecurrenceOf(n) != nil {
		count++
	}
	return count
}

// Linked gives the stored incidents that are linked with n directly, by
// whatever kind of link.
func (s *Snapshot) Linked(n *Node) Set {
	var ords []Ord
	for _, r := range s.related(n) {
		ords = append(ords, r.Ord)
	}
	ords = append(ords, s.in(n.Ord).recurrences()...)
	if p := s.RecurrenceOf(n); p != nil {
		ords = append(ords, p.Ord)
	}
	return SetOf(ords...)
}

// compareDates orders by date, none last, then by case id ascending.
func compareDates(a, b *Node, desc bool) int {
	switch {
	case a.Date == b.Date:
	case a.Date == 0:
		return 1
	case b.Date == 0:
		return -1
	case desc:
		return cmp.Compare(b.Date, a.Date)
	default:
		return cmp.Compare(a.Date, b.Date)
	}
	return strings.Compare(a.ID, b.ID)
}
