package ingest

import (
	"fmt"
	"slices"
	"strings"

	"incidentgraph/internal/index"
)

// CycleError names a cycle of recurrence_of across records.
type CycleError struct {
	CaseID string
	// Cycle holds the case ids around the cycle, smallest first.
	Cycle []string
}

// Error names the cycle.
func (e *CycleError) Error() string {
	return fmt.Sprintf("recurrence_of closes a cycle: %s -> %s", strings.Join(e.Cycle, " -> "), e.Cycle[0])
}

// pointers are the recurrence_of of all incidents as a run of changes leaves
// them: each points to at most one other. A pointer that would close a cycle
// is refused, so at each time there is none.
type pointers struct {
	index *index.Snapshot
	// changed holds what the run made of the index's pointers; "" is none.
	changed map[string]string
	// ahead holds, for ids that a walk came by, an id farther along the same
	// chain. That stays true while pointers are only added, and makes a walk
	// up a long chain short (path compression, Tarjan 1975).
	ahead map[string]string
	// turned tells that a pointer was changed or taken away: then the changes
	// are free of cycles in their order only.
	turned bool
}

func newPointers(s *index.Snapshot) *pointers {
	return &pointers{index: s, changed: make(map[string]string), ahead: make(map[string]string)}
}

// of gives the id that id points to, "" if none.
func (p *pointers) of(id string) string {
	if parent, ok := p.changed[id]; ok {
		return parent
	}
	n := p.index.Lookup(id)
	if n == nil {
		return ""
	}
	if parent := p.index.RecurrenceOf(n); parent != nil {
		return parent.ID
	}
	_, parent := p.index.Unresolved(n)
	return parent
}

// point makes id point to parent, "" for none. Where that would close a cycle
// it changes nothing and gives the ids around it, smallest first.
func (p *pointers) point(id, parent string) []string {
	before := p.of(id)
	if before == parent {
		return nil
	}
	if before != "" {
		clear(p.ahead)
	}
	// id points nowhere now, or is met before its old pointer is followed.
	if parent != "" && p.end(parent, id) == id {
		return p.around(id, parent)
	}
	p.changed[id] = parent
	p.turned = p.turned || before != ""
	return nil
}

// end walks from id to the end of its chain, or to stop if that comes first.
func (p *pointers) end(id, stop string) string {
	var passed []string
	// Stored records never point in a circle, but a walk must end even if they do.
	for steps := p.index.Len() + len(p.changed); steps >= 0 && id != stop; steps-- {
		next, ok := p.ahead[id]
		if !ok {
			if next = p.of(id); next == "" {
				break
			}
		}
		passed = append(passed, id)
		id = next
	}
	for _, x := range passed {
		p.ahead[x] = id
	}
	return id
}

// around gives the ids from id over parent back to id, smallest first.
func (p *pointers) around(id, parent string) []string {
	cycle := []string{id}
	for x := parent; x != id; x = p.of(x) {
		cycle = append(cycle, x)
	}
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
}
