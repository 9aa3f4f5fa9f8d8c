package ingest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"incidentgraph/internal/store"
)

func TestCaseNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	c := newCaseNumbers()
	want := map[string]caseNumber{"": 0}
	for range 20_000 {
		id := fmt.Sprint("c", r.IntN(5000))
		n, known := want[id]
		if got := c.find(id); got != n {
			t.Fatalf("find(%s) = %d, want %d", id, got, n)
		}
		got := c.number(id)
		if !known {
			n = caseNumber(len(want))
			want[id] = n
		}
		if got != n || c.name(n) != id || c.len() != len(want) {
			t.Fatalf("number(%s) = %d of %d, name %q, want %d of %d", id, got, c.len(), c.name(got), n, len(want))
		}
	}
	if c.number("") != 0 || c.find("") != 0 {
		t.Error("the empty id has a number")
	}
}

// TestPlanIsSmall bounds what a run keeps of a record that it is going to
// store, so that importing does not take more memory than the index.
func TestPlanIsSmall(t *testing.T) {
	const records, most = 200_000, 150
	p := newPlan(viewOf(t, ingesterOf(t, store.NewMemory())), nil)
	before := inUse()
	for i := range records {
		c := p.newCandidate()
		*c = candidate{id: p.number(fmt.Sprintf("IL-%07d", i)), recurrenceOf: p.number(fmt.Sprintf("IL-%07d", i/2)), at: span{int64(i), 1}}
		p.accept(c)
	}
	p.arrange()
	grown := inUse() - before
	if per := grown / records; per > most || len(p.queue) != records {
		t.Errorf("a plan of %d records takes %d bytes for each, want %d or less", len(p.queue), per, most)
	}
	runtime.KeepAlive(p)
}

// inUse gives the bytes in use after a collection.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
