package storetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"incidentgraph/internal/store"
)

// Generator makes changes at random, each valid for the store that holds all
// the earlier ones. Equal seeds give equal changes.
type Generator struct {
	random *rand.Rand
	ids    []string
	live   map[string]bool
	made   int
}

// NewGenerator makes a generator.
func NewGenerator(seed uint64) *Generator {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeated, not to be secret
	g := &Generator{random: random, live: map[string]bool{}}
	// Ids that sort unlike their lengths, and bytes that formats stumble over.
	g.ids = append(g.ids, "a", "a\x00", "a\x00b", "aa", "B", "\xff", "\x00", "é", "한국어")
	for i := range 40 {
		g.ids = append(g.ids, fmt.Sprintf("IL-%04d", i*i*i%9973))
	}
	return g
}

// Next makes the next change.
func (g *Generator) Next() store.Change {
	g.made++
	c := store.Change{
		Time:      time.Date(2026, 1, 1, 0, 0, 0, g.random.IntN(1e9), time.UTC).Add(time.Duration(g.made) * time.Second),
		Actor:     []string{"", "curl", "김"}[g.random.IntN(3)],
		RequestID: fmt.Sprintf("%x-%d", g.random.Uint32(), g.made),
	}
	for _, i := range g.random.Perm(len(g.ids))[:1+g.random.IntN(8)] {
		id := g.ids[i]
		if g.live[id] && g.random.IntN(3) == 0 {
			c.Ops = append(c.Ops, remove(id))
			delete(g.live, id)
			continue
		}
		c.Ops = append(c.Ops, store.Op{Kind: store.Put, ID: id, Record: g.record()})
		g.live[id] = true
	}
	return c
}

// record makes a record: mostly small, some over several pages of a file.
func (g *Generator) record() []byte {
	size := 1 + g.random.IntN(400)
	if g.random.IntN(10) == 0 {
		size = 1 + g.random.IntN(30_000)
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(g.random.Uint32())
	}
	return b
}
