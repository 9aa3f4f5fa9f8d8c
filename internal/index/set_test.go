package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomOrds gives distinct numbers in random order, of one of several
// densities, in some of three blocks.
func randomOrds(r *rand.Rand) []Ord {
	var ords []Ord
	for block := range Ord(3) {
		if r.IntN(4) == 0 {
			continue
		}
		n := []int{1, 20, listMax - 1, listMax, listMax + 1, 5000, 20_000, 40_000, BlockSize}[r.IntN(9)]
		for _, low := range r.Perm(BlockSize)[:n] {
			ords = append(ords, block<<blockBits|Ord(low))
		}
	}
	r.Shuffle(len(ords), func(i, j int) { ords[i], ords[j] = ords[j], ords[i] })
	return ords
}

func TestSetsAgainstMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		a, b := randomOrds(r), randomOrds(r)
		sa, sb := SetOf(a...), SetOf(b...)
		checkSet(t, "SetOf", sa, inSome(1, a))
		checkSet(t, "And", sa.And(sb), inSome(2, a, b))
		checkSet(t, "Or", sa.Or(sb), inSome(1, a, b))
		checkSet(t, "AndNot", sa.AndNot(sb), inSome(2, a, missing(b)))
		if got, want := sa.AndLen(sb), len(inSome(2, a, b)); got != want {
			t.Errorf("AndLen = %d, want %d", got, want)
		}
		c := randomOrds(r)
		sc := SetOf(c...)
		// What And gives has bitmaps that are not yet intersected.
		both, inBoth := sa.And(sb), inSome(2, a, b)
		checkSet(t, "And of And", both.And(sc), inSome(2, inBoth, c))
		checkSet(t, "And with And", sc.And(both), inSome(2, inBoth, c))
		checkSet(t, "And of Ands", both.And(sb.And(sc)), inSome(3, a, b, c))
		checkSet(t, "Or of And", both.Or(sc), inSome(1, inBoth, c))
		checkSet(t, "Or with And", sc.Or(both), inSome(1, inBoth, c))
		checkSet(t, "AndNot of And", both.AndNot(sc), inSome(2, inBoth, missing(c)))
		checkSet(t, "AndNot with And", sc.AndNot(both), inSome(2, c, missing(inBoth)))
		checkSet(t, "AtLeast of And", AtLeast(2, both, sc, sa), inSome(2, inBoth, c, a))
		checkSet(t, "Own", both.Own(), inBoth)
		for i, b := range both.Own().blocks {
			if b.also != nil || b.bits != nil && b.bits.Count() != int(b.n) {
				t.Errorf("block %d of Own is of two", i)
			}
		}
		for lists, sets := range map[*[2][]Ord][2]Set{{inBoth, c}: {both, sc}, {c, inBoth}: {sc, both}} {
			if got, want := sets[0].AndLen(sets[1]), len(inSome(2, lists[0], lists[1])); got != want {
				t.Errorf("AndLen of And = %d, want %d", got, want)
			}
		}
		if len(inBoth) > 0 {
			checkSet(t, "And with one removed", both.with(nil, inBoth[:1]), inBoth[1:])
		}
		checkBetween(t, r, sa, inSome(1, a))
		checkBetween(t, r, both, inBoth)
		for k := 1; k <= 4; k++ {
			checkSet(t, "AtLeast", AtLeast(k, sa, Set{}, sb, sc), inSome(k, a, b, c))
		}
		// The operands are as they were.
		checkSet(t, "a", sa, inSome(1, a))
		checkSet(t, "b", sb, inSome(1, b))
		if t.Failed() {
			t.FailNow()
		}
	}
}

// checkBetween compares parts of a set with those of the list of its members.
func checkBetween(t *testing.T, r *rand.Rand, a Set, members []Ord) {
	t.Helper()
	for range 8 {
		first, last := Ord(r.IntN(3*BlockSize)), Ord(r.IntN(3*BlockSize))
		if len(members) > 1 && r.IntN(2) == 0 { // ends that are members
			first, last = members[r.IntN(len(members))], members[r.IntN(len(members))]
		}
		first, last = min(first, last), max(first, last)
		var want []Ord
		for _, o := range members {
			if first <= o && o <= last {
				want = append(want, o)
			}
		}
		backward := r.IntN(2) == 0
		if backward {
			slices.Reverse(want)
		}
		stop := len(want) + 1
		if len(want) > 0 && r.IntN(2) == 0 {
			stop = 1 + r.IntN(len(want))
		}
		var got []Ord
		ended := !a.eachBetween(first, last, backward, func(o Ord) bool {
			got = append(got, o)
			return len(got) < stop
		})
		if want = want[:min(stop, len(want))]; !slices.Equal(got, want) || ended != (len(got) == stop) {
			t.Fatalf("%d members from %d to %d (backward %t, %d at most, ended %t), want %d", len(got), first, last, backward, stop, ended, len(want))
		}
	}
}

// inSome gives the numbers that are in at least k of the lists, sorted.
func inSome(k int, lists ...[]Ord) []Ord {
	counts := make([]uint8, 3*BlockSize)
	for _, l := range lists {
		for _, o := range l {
			counts[o]++
		}
	}
	var r []Ord
	for o, n := range counts {
		if int(n) >= k {
			r = append(r, Ord(o))
		}
	}
	return r
}

func missing(ords []Ord) []Ord {
	in := make([]bool, 3*BlockSize)
	for _, o := range ords {
		in[o] = true
	}
	var r []Ord
	for o := range in {
		if !in[o] {
			r = append(r, Ord(o))
		}
	}
	return r
}

func checkSet(t *testing.T, what string, a Set, want []Ord) {
	t.Helper()
	if got := slices.Collect(a.All()); !slices.Equal(got, want) {
		t.Errorf("%s has %d members, want %d", what, len(got), len(want))
	}
	if got := a.AppendTo(nil); !slices.Equal(got, want) {
		t.Errorf("%s.AppendTo gives %d members, want %d", what, len(got), len(want))
	}
	if a.Len() != len(want) {
		t.Errorf("%s.Len() = %d, want %d", what, a.Len(), len(want))
	}
	in := make([]bool, 4*BlockSize)
	for _, o := range want {
		in[o] = true
	}
	for o := Ord(0); o < 4*BlockSize; o += 7 {
		if a.Has(o) != in[o] {
			t.Errorf("%s.Has(%d) = %t, want %t", what, o, a.Has(o), in[o])
		}
	}
	var scratch Words
	n, added := 0, 0
	for i := range a.Blocks() {
		if w := a.Words(i, &scratch); w != nil {
			if w.Count() != a.BlockLen(i) {
				t.Errorf("%s.BlockLen(%d) = %d, want %d", what, i, a.BlockLen(i), w.Count())
			}
			n += w.Count()
		}
		var w Words
		a.AddTo(i, &w)
		added += w.Count()
	}
	var chunked []Ord
	for chunk := range a.Chunks(make([]Ord, 100)) {
		chunked = append(chunked, chunk...)
	}
	if !slices.Equal(chunked, want) {
		t.Errorf("%s.Chunks gives %d members, want %d", what, len(chunked), len(want))
	}
	if n != len(want) || added != len(want) {
		t.Errorf("%s.Words have %d members, want %d", what, n, len(want))
	}
	for _, b := range a.blocks {
		if b.n == 0 || b.bits == nil && int(b.n) != len(b.list) || b.bits != nil && b.plain().bits.Count() != int(b.n) {
			t.Errorf("%s has a block that says %d members", what, b.n)
		}
	}
}

func TestSetWith(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		old, other := randomOrds(r), randomOrds(r)
		a := SetOf(old...)
		add := inSome(2, other, missing(old))
		del := inSome(2, randomOrds(r), old)
		want := inSome(1, inSome(2, old, missing(del)), add)
		checkSet(t, "with", a.with(add, del), want)
		checkSet(t, "old", a, inSome(1, old))
		if t.Failed() {
			t.FailNow()
		}
	}
}

func TestSetStopsEarly(t *testing.T) {
	for _, ords := range [][]Ord{{1, 2, 3}, ascending(5000)} {
		n := 0
		for range SetOf(ords...).All() {
			if n++; n == 2 {
				break
			}
		}
		if n != 2 {
			t.Errorf("All yields %d members before the end of the loop, want 2", n)
		}
	}
}

func TestSetOfRepeated(t *testing.T) {
	many := make([]Ord, 0, 6000)
	for range 3 {
		for o := range Ord(2000) {
			many = append(many, o)
		}
	}
	for _, tt := range []struct {
		ords []Ord
		want int
	}{
		{nil, 0},
		{[]Ord{5, 5, 5}, 1},
		{[]Ord{70000, 3, 70000, 3}, 2},
		{many, 2000},
		{slices.Sorted(slices.Values(many)), 2000},
	} {
		if got := SetOf(tt.ords...).Len(); got != tt.want {
			t.Errorf("SetOf(%d numbers).Len() = %d, want %d", len(tt.ords), got, tt.want)
		}
	}
}

func ascending(n int) []Ord {
	ords := make([]Ord, n)
	for i := range ords {
		ords[i] = Ord(i)
	}
	return ords
}

func TestChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 60 {
		ords := make([]Ord, r.IntN(1<<r.IntN(13)))
		spread := 1 << (6 + r.IntN(12))
		for i := range ords {
			ords[i] = Ord(r.IntN(spread))
		}
		set := SetOf(ords...)
		buffer := make([]Ord, 64+r.IntN(1000))
		var got []Ord
		for chunk := range set.Chunks(buffer) {
			if len(chunk) == 0 || len(chunk) > len(buffer) {
				t.Fatalf("a chunk has %d members in a buffer of %d", len(chunk), len(buffer))
			}
			got = append(got, chunk...)
		}
		if want := set.AppendTo(nil); !slices.Equal(got, want) {
			t.Fatalf("Chunks = %v, want %v", got, want)
		}
		for chunk := range set.Chunks(buffer) { // to end early
			_ = chunk
			break
		}
	}
}
