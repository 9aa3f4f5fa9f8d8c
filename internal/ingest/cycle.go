package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CycleError names a cycle of recurrence_of across records.
type CycleError struct {
	CaseID string
	// Cycle holds the case ids around the cycle, smallest first.
	Cycle []string
}

// Error names the cycle, and not the member that closes it.
func (e *CycleError) Error() string {
	return fmt.Sprintf("closes a cycle: %s -> %s", strings.Join(e.Cycle, " -> "), e.Cycle[0])
}

// parent gives the id that id points to in the state that the plan leads to.
func (p *plan) parent(id caseNumber) caseNumber {
	if c := p.latest[id]; c != nil {
		return c.recurrenceOf
	}
	return p.storedParent(id)
}

// storedParent gives the id that the stored record points to.
func (p *plan) storedParent(id caseNumber) caseNumber {
	s := p.view.Index()
	n := s.Lookup(p.cases.name(id))
	if n == nil {
		return 0
	}
	if parent := s.RecurrenceOf(n); parent != nil {
		return p.number(parent.ID)
	}
	_, parent := s.Unresolved(n)
	return p.number(parent)
}

// marks holds a number for each case that a walk has met, 0 for others.
type marks []int32

func (m marks) at(id caseNumber) int32 {
	if int(id) < len(m) {
		return m[id]
	}
	return 0
}

func (m *marks) set(id caseNumber, x int32) {
	for int(id) >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[id] = x
}

// settle looks for cycles in the state that the plan leads to. From each it
// takes back the version that came last in the input, with a call of reject;
// what that version replaced counts again, and the search goes on from there.
// A cycle of stored records that the run leaves alone stays.
//
// Each id points to at most one other, so cycles have no id in common, and
// breaking one neither opens nor closes another that is there: in whatever
// order they are found, the same versions are taken back.
//
// Cost: the number of ids in the chains, and the lengths of the cycles found.
func (p *plan) settle(reject func(c *candidate, cycle []string) error) error {
	const settled = -1
	// place tells of each id met whether the chain above it is settled, or,
	// from 1, where it is on the path of the walk under way.
	place := make(marks, p.cases.len())
	var path []caseNumber
	for id := caseNumber(1); int(id) < p.cases.len(); id++ {
		if p.latest[id] == nil {
			continue
		}
		path = path[:0]
		for at := id; at != 0 && place.at(at) != settled; at = p.parent(path[len(path)-1]) {
			if place.at(at) == 0 {
				path = append(path, at)
				place.set(at, int32(len(path)))
				continue
			}
			cycle := path[place.at(at)-1:]
			last := p.lastOf(cycle)
			if last == nil {
				break
			}
			if err := reject(last, p.smallestFirst(cycle)); err != nil {
				return err
			}
			p.takeBack(last)
			// The walk goes on from the id that points elsewhere now.
			kept := place.at(last.id)
			for _, x := range path[kept:] {
				place.set(x, 0)
			}
			path = path[:kept]
		}
		for _, x := range path {
			place.set(x, settled)
		}
	}
	return nil
}

// lastOf gives the version that came last in the input of those that count
// for the ids, nil where all of them are stored ones.
func (p *plan) lastOf(ids []caseNumber) *candidate {
	var last *candidate
	for _, id := range ids {
		if c := p.latest[id]; c != nil && (last == nil || c.at.at > last.at.at) {
			last = c
		}
	}
	return last
}

// smallestFirst gives the ids around a cycle from the smallest on.
func (p *plan) smallestFirst(cycle []caseNumber) []string {
	ids := make([]string, len(cycle))
	for i, id := range cycle {
		ids[i] = p.cases.name(id)
	}
	least := slices.Index(ids, slices.Min(ids))
	return slices.Concat(ids[least:], ids[:least])
}

// arrange makes the queue of what counts, in an order in which the store is
// free of cycles after each change, wherever the changes are cut and whichever
// is the last before a crash. The stored state and the one that the plan leads
// to are free of them; so has to be what lies between.
//
// Where the plan only gives pointers to ids that had none, the state between
// has a part of the final pointers, and a part of a forest is a forest: any
// order will do, and the queue is in that of ids, in which stores write
// fastest.
//
// Else ids come by their depth in the final forest, roots first. Suppose that
// between two changes there is a cycle. Some id on it has a pointer that the
// plan has changed already, or the cycle would be in the stored state; and
// some id on it has an old pointer that is still to change, or it would be in
// the final state. Follow the cycle from the first to the nearest of the
// second kind: all pointers on the way are final, so the second is above the
// first in the final forest, and was committed before it. It is not waiting.
func (p *plan) arrange() {
	p.queue = nil
	for _, c := range p.latest {
		if c != nil {
			p.queue = append(p.queue, c)
		}
	}
	var depth marks // nil: all the same
	if p.turns() {
		depth = p.depths()
	}
	slices.SortFunc(p.queue, func(a, b *candidate) int {
		if x, y := depth.at(a.id), depth.at(b.id); x != y {
			return cmp.Compare(x, y)
		}
		return strings.Compare(p.cases.name(a.id), p.cases.name(b.id))
	})
}

// turns tells whether the plan changes a stored pointer or takes one away.
func (p *plan) turns() bool {
	return slices.ContainsFunc(p.queue, func(c *candidate) bool {
		stored := p.storedParent(c.id)
		return stored != 0 && stored != c.recurrenceOf
	})
}

// depths gives, for the ids of the queue and all above them, how many are
// above them in the final forest, and one.
func (p *plan) depths() marks {
	depth := make(marks, p.cases.len())
	var path []caseNumber
	for _, c := range p.queue {
		path = path[:0]
		top := int32(1)
		for at := c.id; at != 0; at = p.parent(at) {
			if d := depth.at(at); d != 0 {
				top = d + 1
				break
			}
			// Known from here on, for the walk has to end on a stored cycle, too.
			depth.set(at, 1)
			path = append(path, at)
		}
		for i, id := range slices.Backward(path) {
			depth.set(id, top+int32(len(path)-1-i))
		}
	}
	return depth
}
