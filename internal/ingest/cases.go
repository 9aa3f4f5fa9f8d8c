package ingest

import (
	"hash/maphash"
	"strings"
)

// caseNumber stands for a case id in a plan; 0 for none.
type caseNumber uint32

// caseNumbers numbers case ids in few bytes each, for a run may have very many.
type caseNumbers struct {
	seed  maphash.Seed
	names []string        // by number
	text  strings.Builder // which names are cut from
	slots []caseNumber    // an open addressed hash table, at most half full; 0 is free
}

func newCaseNumbers() *caseNumbers {
	return &caseNumbers{seed: maphash.MakeSeed(), names: []string{""}, slots: make([]caseNumber, 64)}
}

// len gives the number of numbers, that of "" included.
func (c *caseNumbers) len() int { return len(c.names) }

// name gives the case id with a number, "" for 0.
func (c *caseNumbers) name(n caseNumber) string { return c.names[n] }

// find gives the number of an id, 0 if it has none.
func (c *caseNumbers) find(id string) caseNumber { return c.slots[c.slot(id)] }

// slot gives the place of an id in the table, or where it would be.
func (c *caseNumbers) slot(id string) int {
	mask := len(c.slots) - 1
	i := int(maphash.String(c.seed, id)) & mask
	for c.slots[i] != 0 && c.names[c.slots[i]] != id {
		i = (i + 1) & mask
	}
	return i
}

// number gives the number of an id, a new one where it has none.
func (c *caseNumbers) number(id string) caseNumber {
	if id == "" {
		return 0
	}
	if n := c.find(id); n != 0 {
		return n
	}
	if 2*len(c.names) > len(c.slots) {
		c.slots = make([]caseNumber, 2*len(c.slots))
		for n := 1; n < len(c.names); n++ {
			c.slots[c.slot(c.names[n])] = caseNumber(n)
		}
	}
	n := caseNumber(len(c.names))
	c.slots[c.slot(id)] = n
	c.names = append(c.names, c.keep(id))
	return n
}

// keep gives a copy of an id: many lie in one piece of memory.
func (c *caseNumbers) keep(id string) string {
	if c.text.Cap()-c.text.Len() < len(id) {
		c.text = strings.Builder{}
		c.text.Grow(max(len(id), 16<<10))
	}
	c.text.WriteString(id)
	return c.text.String()[c.text.Len()-len(id):]
}
