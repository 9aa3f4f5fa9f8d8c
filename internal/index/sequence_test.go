package index

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// byKey sorts incidents by keys in a map, which stand for whatever changes.
type byKey map[Ord]int

func (x byKey) has(o Ord) bool { _, ok := x[o]; return ok }

func (x byKey) compare(a, b Ord) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(a, b)) }

func (x byKey) sort() []Ord {
	ords := make([]Ord, 0, len(x))
	for o := range x {
		ords = append(ords, o)
	}
	slices.SortFunc(ords, x.compare)
	return ords
}

// TestDerivedSequences derives sequences from one another by changes of all
// sizes, at random places and at one place, and compares each with a list that
// is sorted anew; at the end, each older one with what it was.
func TestDerivedSequences(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		x := make(byKey)
		for o := range Ord(r.IntN(20_000)) {
			x[o] = r.IntN(1000)
		}
		q := newSequence(x.sort())
		var past []*sequence
		var lists [][]Ord
		for round := range 60 {
			var changed *changedOrds
			for range 1 + r.IntN(3) {
				changed = changed.and(changeSome(r, x, round))
			}
			q = q.derive(changed, changed.sorted(x), x.compare)
			past, lists = append(past, q), append(lists, x.sort())
			checkSequence(t, r, q, lists[round])
		}
		for i, q := range past {
			checkSequence(t, r, q, lists[i])
		}
	}
}

// changeSome changes the keys of some incidents, takes some out, and adds some.
func changeSome(r *rand.Rand, x byKey, round int) []Ord {
	var ords []Ord
	for range 1 + r.IntN(1<<r.IntN(12)) {
		o := Ord(r.IntN(20_000))
		switch {
		case round%20 == 19: // nearly all go
			o = Ord(len(ords) * 7 % 20_000)
			delete(x, o)
		case round%3 == 0: // behind all
			x[o] = 1000 + round
		case round%3 == 1 || r.IntN(3) > 0:
			x[o] = r.IntN(1000)
		default:
			delete(x, o)
		}
		ords = append(ords, o)
	}
	return ords
}

func checkSequence(t *testing.T, r *rand.Rand, q *sequence, want []Ord) {
	t.Helper()
	if got := q.items(0, q.len()); q.len() != len(want) || !slices.Equal(got, want) {
		t.Fatalf("the sequence has %d items %v, want %d: %v", q.len(), got, len(want), want)
	}
	for i, part := range q.parts {
		if q.isRising(i) && !slices.IsSorted(part) {
			t.Fatalf("part %d is said to be rising: %v", i, part)
		}
		if len(part) == 0 || len(part) > maxPart || cap(part) > len(part) {
			t.Fatalf("part %d has %d items and room for %d", i, len(part), cap(part))
		}
		for _, o := range part {
			if q.partOf(o) != i || q.at(q.placeOf(o)) != o {
				t.Fatalf("%d is in part %d, and said to be in %d at %d", o, i, q.partOf(o), q.placeOf(o))
			}
		}
	}
	if most := 4 * (len(want)/partLen + 1); len(q.parts) > most {
		t.Fatalf("%d items are in %d parts, want %d or less", len(want), len(q.parts), most)
	}
	n := 0
	for i := range uint32(q.home.len()) {
		if q.home.at(i) != 0 {
			n++
		}
	}
	if n != len(want) {
		t.Fatalf("%d incidents have a part, want %d", n, len(want))
	}
	place := make(map[Ord]int, len(want))
	for i, o := range want {
		place[o] = i
	}
	for range 20 {
		lo, hi := r.IntN(len(want)+1), r.IntN(len(want)+1)
		if lo < len(want) && q.at(lo) != want[lo] {
			t.Fatalf("at(%d) = %d, want %d", lo, q.at(lo), want[lo])
		}
		if got := q.search(func(o Ord) bool { return place[o] < lo }); got != lo {
			t.Fatalf("search = %d, want %d", got, lo)
		}
		if got, want := q.items(lo, hi), want[lo:max(lo, hi)]; !slices.Equal(got, want) {
			t.Fatalf("items(%d, %d) = %v, want %v", lo, hi, got, want)
		}
		if got, want := slices.Collect(q.set(lo, hi).All()), slices.Sorted(slices.Values(want[lo:max(lo, hi)])); !slices.Equal(got, want) {
			t.Fatalf("set(%d, %d) has %d items, want %d", lo, hi, len(got), len(want))
		}
		var backward []Ord
		q.eachPart(lo, hi, true, func(_ int, part []Ord) bool {
			for _, o := range slices.Backward(part) {
				backward = append(backward, o)
			}
			return true
		})
		slices.Reverse(backward)
		if want := want[lo:max(lo, hi)]; !slices.Equal(backward, want) {
			t.Fatalf("eachPart(%d, %d, backward) = %v, want %v", lo, hi, backward, want)
		}
	}
}

// TestSequenceSharesParts: what one incident's move copies must not grow with
// the list as the list does.
func TestSequenceSharesParts(t *testing.T) {
	x := make(byKey)
	for o := range Ord(200_000) {
		x[o] = int(o)
	}
	old := newSequence(x.sort())
	x[7] = 150_000
	changed := (*changedOrds)(nil).and([]Ord{7})
	q := old.derive(changed, []Ord{7}, x.compare)
	other := 0
	for i := range q.parts {
		if &q.parts[i][0] != &old.parts[i][0] || len(q.parts[i]) != len(old.parts[i]) {
			other++
		}
	}
	if len(q.parts) != len(old.parts) || other != 2 {
		t.Errorf("to move one incident changes %d of %d parts, want 2", other, len(q.parts))
	}
}

// TestSetsOfRuns makes sets of long runs, of which blocks are full, and of a list
// with some incidents elsewhere.
func TestSetsOfRuns(t *testing.T) {
	const n = 5*BlockSize/2 + 100
	r := rand.New(rand.NewPCG(7, 7))
	x := make(byKey, n)
	for o := range Ord(n) {
		x[o] = int(o)
	}
	q := newSequence(x.sort())
	for round := range 4 {
		if n := q.scattered(0, q.len()); n > 40*maxPart {
			t.Errorf("round %d: %d incidents are in parts that are no runs", round, n)
		}
		for range 40 {
			lo, hi := r.IntN(n), r.IntN(n)
			lo, hi = min(lo, hi), max(lo, hi)
			if r.IntN(4) == 0 {
				lo = 0
			}
			hi = min(hi, q.len())
			got := q.set(lo, hi)
			if want := slices.Sorted(slices.Values(q.items(lo, hi))); got.Len() != len(want) || !slices.Equal(got.AppendTo(nil), want) {
				t.Fatalf("round %d: the set from %d to %d has %d items, want %d", round, lo, hi, got.Len(), len(want))
			}
			// What is done to it leaves full blocks as they are.
			if o := Ord(r.IntN(n)); got.Has(o) && got.with(nil, []Ord{o}).Has(o) {
				t.Fatalf("%d is still there", o)
			}
		}
		var changed *changedOrds
		for range 10 {
			o := Ord(r.IntN(n))
			x[o] = r.IntN(n)
			changed = changed.and([]Ord{o})
		}
		q = q.derive(changed, changed.sorted(x), x.compare)
	}
	if full.Count() != BlockSize {
		t.Error("the full block is not full")
	}
}
