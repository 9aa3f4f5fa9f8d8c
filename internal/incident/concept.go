package incident

import (
	"fmt"
	"slices"
	"strings"
)

// Concept is what a vocabulary file says of one term, in the words of SKOS
// (Miles & Bechhofer, SKOS Reference, W3C 2009).
type Concept struct {
	Term Term
	// PrefLabel is the term's name, Definition what it means; either may be
	// nil.
	PrefLabel, Definition Text
	// Broader is the slug of the more general concept in the same
	// vocabulary, "" if none. Files never contain a cycle: the decoder
	// refuses it.
	Broader string
	// Mappings name matching concepts of other taxonomies.
	Mappings []Mapping
	// Cues are word beginnings, by language, whose occurrence in a text
	// suggests the concept.
	Cues []Cue
}

// Mapping is a SKOS mapping to a concept of another taxonomy.
type Mapping struct {
	Taxonomy, Code string
	Match          Match
}

// Match is a SKOS mapping property.
type Match uint8

// The mapping properties.
const (
	ExactMatch Match = iota
	CloseMatch
	BroadMatch
	NarrowMatch
)

// Cue is a word beginning in one language.
type Cue struct{ Language, Text string }

// Concepts is an immutable set of concepts.
type Concepts struct {
	list []Concept
	by   map[Term]int
}

// All gives the concepts in file order. The caller must not change them.
func (c *Concepts) All() []Concept {
	if c == nil {
		return nil
	}
	return c.list
}

// Lookup finds a term's concept, nil where no file lists it.
func (c *Concepts) Lookup(t Term) *Concept {
	if c == nil {
		return nil
	}
	if i, ok := c.by[t]; ok {
		return &c.list[i]
	}
	return nil
}

// Merge gives the concepts of base with those of more added; where both list
// a term the one of more counts.
func Merge(base, more *Concepts) (*Concepts, error) {
	merged := &Concepts{list: slices.Clone(base.All()), by: make(map[Term]int)}
	for i, c := range merged.list {
		merged.by[c.Term] = i
	}
	for _, c := range more.All() {
		if i, ok := merged.by[c.Term]; ok {
			merged.list[i] = c
			continue
		}
		merged.by[c.Term] = len(merged.list)
		merged.list = append(merged.list, c)
	}
	if cycle := merged.cycle(); cycle != nil {
		return nil, fmt.Errorf("broader concepts form a cycle: %s", cycleString(cycle))
	}
	return merged, nil
}

// cycle gives the terms around a cycle of broader, nil where there is none.
// Each concept is walked once.
func (c *Concepts) cycle() []Term {
	walk := make([]int, len(c.list)) // the walk that met the concept first, from 1
	for i := range c.list {
		at := i
		for walk[at] == 0 {
			walk[at] = i + 1
			next, ok := c.broader(at)
			if !ok {
				break
			}
			if at = next; walk[at] == i+1 {
				return c.around(at)
			}
		}
	}
	return nil
}

// around gives the terms of the cycle through concept i.
func (c *Concepts) around(i int) []Term {
	cycle := []Term{c.list[i].Term}
	for at, _ := c.broader(i); at != i; at, _ = c.broader(at) {
		cycle = append(cycle, c.list[at].Term)
	}
	return cycle
}

// broader gives the place of the concept that concept i names as broader.
func (c *Concepts) broader(i int) (int, bool) {
	b := c.list[i].Broader
	if b == "" {
		return 0, false
	}
	at, ok := c.by[Term{c.list[i].Term.Vocabulary, b}]
	return at, ok
}

func cycleString(cycle []Term) string {
	var b strings.Builder
	for _, t := range cycle {
		b.WriteString(t.String() + " -> ")
	}
	return b.String() + cycle[0].String()
}
