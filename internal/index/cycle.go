package index

import "slices"

// RecurrenceCycle reports whether, with the given recurrence_of pointers put
// over the snapshot's (id → parent id, "" for none; ids may be unknown), some
// chain of pointers returns to its start; it gives the case ids around the
// smallest-id-first cycle, nil where there is none. Only cycles through one
// of the given ids are looked for. Cost: the length of the chains walked.
func (s *Snapshot) RecurrenceCycle(parents map[string]string) []string {
	w := cycleWalk{s: s, parents: parents, walk: make(map[string]int, len(parents))}
	starts := make([]string, 0, len(parents))
	for id := range parents {
		starts = append(starts, id)
	}
	slices.Sort(starts)
	var least []string
	for i, id := range starts {
		if cycle := w.from(id, i+1); cycle != nil && (least == nil || cycle[0] < least[0]) {
			least = cycle
		}
	}
	return least
}

// cycleWalk follows pointers and remembers which walk came by.
type cycleWalk struct {
	s       *Snapshot
	parents map[string]string
	walk    map[string]int
}

// parent gives the id that id points to, "" if none.
func (w *cycleWalk) parent(id string) string {
	if p, ok := w.parents[id]; ok {
		return p
	}
	if n := w.s.Lookup(id); n != nil && n.hasParent {
		return w.s.CaseID(n.recurrenceOf)
	}
	return ""
}

// from walks up from id and gives the cycle that it runs into, smallest id
// first, if the walk is the first there and a given id is on it.
func (w *cycleWalk) from(id string, number int) []string {
	for ; id != ""; id = w.parent(id) {
		switch w.walk[id] {
		case 0:
			w.walk[id] = number
			continue
		case number:
			return w.around(id)
		}
		return nil
	}
	return nil
}

func (w *cycleWalk) around(start string) []string {
	cycle := []string{start}
	for id := w.parent(start); id != start; id = w.parent(id) {
		cycle = append(cycle, id)
	}
	if !slices.ContainsFunc(cycle, func(id string) bool { _, ok := w.parents[id]; return ok }) {
		return nil
	}
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
}
