package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"incidentgraph/internal/incident"
)

func TestSetBuilder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	var b SetBuilder // used again and again
	for _, n := range []int{0, 1, listMax, listMax + 1, 5000, 100_000} {
		for _, span := range []uint32{BlockSize, 5 * BlockSize} {
			ords := make([]Ord, n)
			for i := range ords {
				ords[i] = Ord(r.Uint32N(span))
				b.Add(ords[i])
			}
			want, got := SetOf(ords...), b.Set()
			if !slices.Equal(slices.Collect(got.All()), slices.Collect(want.All())) || got.Len() != want.Len() {
				t.Errorf("%d numbers below %d make a set of %d, want %d", n, span, got.Len(), want.Len())
			}
			for i := range got.blocks {
				if g, w := got.blocks[i], want.blocks[i]; g.key != w.key || g.n != w.n || (g.bits == nil) != (w.bits == nil) {
					t.Errorf("block %d of a set of %d is of %d, want %d", g.key, n, g.n, w.n)
				}
			}
			if n > listMax && got.Bytes() < min(got.Len()*2, BlockSize/8) {
				t.Errorf("a set of %d takes %d bytes", got.Len(), got.Bytes())
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	x := New(nil)
	put := func(ids ...string) *Snapshot {
		b := x.Batch()
		for _, id := range ids {
			b.Put(&incident.Incident{ID: id, Related: []string{"named"}}, 1, 1)
		}
		return b.Commit(1)
	}
	first := put("a", "b")
	numbers := first.Numbers()
	second := put("c")
	if second.Numbers() != numbers {
		t.Error("the numbers of the next snapshot are others, want the same")
	}
	if New(nil).Snapshot().Numbers() == numbers {
		t.Error("the numbers of another index are the same, want others")
	}
	for _, id := range []string{"a", "b", "c", "named"} {
		if o, ok := numbers.Number(id); !ok || numbers.CaseID(o) != id {
			t.Errorf("Number(%s) = %d, %v, want that of %s", id, o, ok, id)
		}
	}
	if o, _ := numbers.Number("c"); second.Lookup("c").Ord != o || first.Node(o) != nil {
		t.Errorf("Number(c) = %d, want %d, which the first snapshot has nothing of", o, second.Lookup("c").Ord)
	}
	if o, ok := numbers.Number("d"); ok {
		t.Errorf("Number(d) = %d, want none", o)
	}
}
