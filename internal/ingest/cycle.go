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

// parent gives the id that id points to in the state that the plan leads to,
// "" if none.
func (p *plan) parent(id string) string {
	if c := p.latest[id]; c != nil {
		return c.recurrenceOf
	}
	return p.storedParent(id)
}

// storedParent gives the id that the stored record points to, "" if none.
func (p *plan) storedParent(id string) string {
	n := p.view.Index().Lookup(id)
	if n == nil {
		return ""
	}
	if parent := p.view.Index().RecurrenceOf(n); parent != nil {
		return parent.ID
	}
	_, parent := p.view.Index().Unresolved(n)
	return parent
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
	place := make(map[string]int, len(p.ids))
	var path []string
	for _, id := range p.ids {
		path = path[:0]
		for at := id; at != "" && place[at] != settled; at = p.parent(path[len(path)-1]) {
			if place[at] == 0 {
				path = append(path, at)
				place[at] = len(path)
				continue
			}
			cycle := path[place[at]-1:]
			last := p.lastOf(cycle)
			if last == nil {
				break
			}
			if err := reject(last, smallestFirst(cycle)); err != nil {
				return err
			}
			p.takeBack(last)
			// The walk goes on from the id that points elsewhere now.
			kept := place[last.id]
			for _, x := range path[kept:] {
				delete(place, x)
			}
			path = path[:kept]
		}
		for _, x := range path {
			place[x] = settled
		}
	}
	return nil
}

// lastOf gives the version that came last in the input of those that count
// for the ids, nil where all of them are stored ones.
func (p *plan) lastOf(ids []string) *candidate {
	var last *candidate
	for _, id := range ids {
		if c := p.latest[id]; c != nil && (last == nil || c.at.at > last.at.at) {
			last = c
		}
	}
	return last
}

// smallestFirst gives the ids around a cycle from the smallest on.
func smallestFirst(cycle []string) []string {
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
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
	p.queue = make([]*candidate, 0, len(p.latest))
	for _, c := range p.latest {
		p.queue = append(p.queue, c)
	}
	var depth map[string]int // nil: all the same
	if p.turns() {
		depth = p.depths()
	}
	slices.SortFunc(p.queue, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(depth[a.id], depth[b.id]), strings.Compare(a.id, b.id))
	})
}

// turns tells whether the plan changes a stored pointer or takes one away.
func (p *plan) turns() bool {
	return slices.ContainsFunc(p.queue, func(c *candidate) bool {
		stored := p.storedParent(c.id)
		return stored != "" && stored != c.recurrenceOf
	})
}

// depths gives, for the ids of the queue and all above them, how many are
// above them in the final forest.
func (p *plan) depths() map[string]int {
	depth := make(map[string]int, len(p.queue))
	var path []string
	for _, c := range p.queue {
		path = path[:0]
		top := 0
		for at := c.id; at != ""; at = p.parent(at) {
			if d, known := depth[at]; known {
				top = d + 1
				break
			}
			// Known from here on, for the walk has to end on a stored cycle, too.
			depth[at] = 0
			path = append(path, at)
		}
		for i, id := range slices.Backward(path) {
			depth[id] = top + len(path) - 1 - i
		}
	}
	return depth
}
