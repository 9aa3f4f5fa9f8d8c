package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"incidentgraph/internal/incident"
)

// crowd makes incidents with few terms, which very many of them have.
type crowd struct {
	r *rand.Rand
	x *Index
	n int // ids so far
}

func (c *crowd) put(b *Batch, id string) {
	inc := &incident.Incident{ID: id}
	for range c.r.IntN(5) {
		slug := fmt.Sprintf("f%d", c.r.IntN(1+c.r.IntN(12)))
		inc.Contributing = append(inc.Contributing, incident.Value{Slug: slug, Text: slug})
	}
	for range c.r.IntN(3) {
		slug := fmt.Sprintf("c%d", c.r.IntN(1+c.r.IntN(300)))
		inc.Components = append(inc.Components, incident.Value{Slug: slug, Text: slug})
	}
	b.Put(inc, 1, 1)
}

func (c *crowd) id(i int) string { return fmt.Sprintf("C-%d", i) }

// grow puts n new incidents, and then numbers so many cases that the next ones
// are in another block.
func (c *crowd) grow(b *Batch, n int) {
	for range n {
		c.put(b, c.id(c.n))
		c.n++
	}
	for i := range BlockSize {
		c.x.names.ord(fmt.Sprintf("only named %d %d", c.n, i))
	}
}

// change changes, deletes and adds some.
func (c *crowd) change(b *Batch) {
	for range 1 + c.r.IntN(200) {
		switch i := c.r.IntN(c.n); c.r.IntN(4) {
		case 0:
			b.Delete(c.id(i))
		case 1:
			c.put(b, c.id(c.n))
			c.n++
		default:
			c.put(b, c.id(i))
		}
	}
}

// TestCommon compares the incidents with two terms, of which the number is kept,
// with the intersection of the incidents with each, while incidents change.
func TestCommon(t *testing.T) {
	c := &crowd{r: rand.New(rand.NewPCG(1, 2)), x: New(nil)}
	b := c.x.Batch()
	for range pairBlocks {
		c.grow(b, 4000)
	}
	s := b.Commit(1)
	if blocks := s.All().Blocks(); blocks != pairBlocks {
		t.Fatalf("the incidents span %d blocks, want %d", blocks, pairBlocks)
	}
	first := s.pairCounts()
	if first.terms < 8 || first.terms == s.TermCount() {
		t.Fatalf("of %d terms the pairs of %d are counted", s.TermCount(), first.terms)
	}
	lazy := 0
	for revision := range uint64(40) {
		checkCommon(t, c.r, s, &lazy)
		if t.Failed() {
			return
		}
		b := c.x.Batch()
		c.change(b)
		if revision == 30 { // so many that the terms are chosen anew
			c.grow(b, 20_000)
		}
		s = b.Commit(2 + revision)
		switch p := s.pairCounts(); {
		case revision < 30 && p.made != first.made:
			t.Fatalf("revision %d: all pairs were counted again", revision)
		case revision == 30 && p.made == first.made:
			t.Fatal("the terms were not chosen anew")
		}
	}
	if lazy == 0 {
		t.Error("no intersection was counted without being made")
	}
}

func checkCommon(t *testing.T, r *rand.Rand, s *Snapshot, lazy *int) {
	t.Helper()
	fresh := s.countPairs()
	for range 300 {
		a, b := TermID(r.IntN(s.TermCount())), TermID(r.IntN(s.TermCount()))
		got, want := s.common(a, b), s.Postings(a).And(s.Postings(b))
		if other := fresh.and(s, a, b); got.Len() != want.Len() || other.Len() != want.Len() ||
			!slices.Equal(slices.Collect(got.All()), slices.Collect(want.All())) {
			t.Errorf("%d incidents have terms %d and %d, anew %d, want %d", got.Len(), a, b, other.Len(), want.Len())
		}
		for i := range got.Blocks() {
			if got.BlockLen(i) != want.BlockLen(i) {
				t.Errorf("%d incidents of block %d have terms %d and %d, want %d", got.BlockLen(i), i, a, b, want.BlockLen(i))
			}
			if x := got.block(uint32(i)); x != nil && x.also != nil {
				*lazy++
			}
		}
	}
}

// TestCommonOfFilters asks for incidents with several terms in all ways that a
// filter has.
func TestCommonOfFilters(t *testing.T) {
	c := &crowd{r: rand.New(rand.NewPCG(3, 4)), x: New(nil)}
	b := c.x.Batch()
	for range pairBlocks {
		c.grow(b, 4000)
	}
	s := b.Commit(1)
	for range 300 {
		var f Filter
		want := s.All()
		restrict := func(v incident.Vocabulary, slug string) {
			var x Set
			if id, ok := s.LookupTerm(incident.Term{Vocabulary: v, Slug: slug}); ok {
				x = s.Postings(id)
			}
			want = want.And(x)
		}
		for v, letter := range map[incident.Vocabulary]string{incident.ContributingFactor: "f", incident.Component: "c"} {
			var terms TermFilter
			for range c.r.IntN(3) {
				slug := fmt.Sprintf("%s%d", letter, c.r.IntN(11))
				terms.All = append(terms.All, slug)
				restrict(v, slug)
			}
			if c.r.IntN(2) == 0 {
				terms.Any = []string{fmt.Sprintf("%s%d", letter, c.r.IntN(11))}
				restrict(v, terms.Any[0])
			}
			f.Terms[v] = &terms
		}
		got, err := s.Select(&f)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Collect(got.All()), slices.Collect(want.All())) {
			t.Errorf("%d incidents have %+v and %+v, want %d", got.Len(), f.Terms[0], f.Terms[1], want.Len())
		}
	}
}
