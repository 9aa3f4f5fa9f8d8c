package index

// Arrange numbers the incidents of an index's first batch anew, in the order
// that lists have where none is asked for: the newest first. Then a page of such
// a list, and the incidents of a span of time, are side by side in sets and
// arrays, not all over them. Incidents that come later have the numbers after
// these, wherever they belong.
//
// It may be called once all incidents of the batch are there, and before anybody
// has got a number of the index. For a batch that is not the first it does
// nothing.
func (b *Batch) Arrange() {
	if b.x.w.batches > 1 {
		return
	}
	stored := b.inOrder()
	names := b.x.names.cases
	place := make([]uint32, names.len()) // new numbers by the old ones
	for i, o := range stored {
		place[o] = uint32(i) + 1
	}
	next := len(stored)
	for o, p := range place {
		if p == 0 { // a case that is only named
			next++
			place[o] = uint32(next)
		}
		place[o]--
	}
	arranged := vector[*Node]{}.edit(b.nodes.owner)
	b.dirty = b.dirty[:0]
	for i, o := range stored {
		n := b.nodes.at(uint32(o))
		n.Ord = Ord(i)
		for j, t := range n.related {
			n.related[j] = Ord(place[t])
		}
		if n.hasParent {
			n.recurrenceOf = Ord(place[n.recurrenceOf])
		}
		arranged.set(uint32(i), n)
		b.dirty = append(b.dirty, Ord(i))
	}
	b.nodes = arranged
	names.arrange(place)
}

// inOrder gives the incidents of the batch in the order of lists.
func (b *Batch) inOrder() []Ord {
	var stored []Ord
	for o := range b.x.names.cases.len() {
		if b.nodes.at(uint32(o)) != nil {
			stored = append(stored, Ord(o))
		}
	}
	s := b.base.next(0)
	s.nodes = b.nodes.vector
	s.sortByID(stored)
	s.sortBy(stored, byDateDesc[0])
	return stored
}
