package index

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"incidentgraph/internal/incident"
)

// slowDistance is the definition of the restricted Damerau-Levenshtein
// distance, by recursion.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	cost := 1
	if a[0] == b[0] {
		cost = 0
	}
	d := min(slowDistance(a[1:], b)+1, slowDistance(a, b[1:])+1, slowDistance(a[1:], b[1:])+cost)
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		d = min(d, slowDistance(a[2:], b[2:])+1)
	}
	return d
}

func randomWord(r *rand.Rand, most int) string {
	b := make([]byte, r.IntN(most+1))
	for i := range b {
		b[i] = "abcd"[r.IntN(4)]
	}
	return string(b)
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"database", "databse", 1},
		{"database", "databaes", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3}, // 2 where parts may be edited twice
		{"장애", "장해", 1},
		{"", "abc", 3},
	} {
		if got := newSpeller(tt.a).distance(tt.b, 10); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		a, b := randomWord(r, 7), randomWord(r, 7)
		want, limit := slowDistance(a, b), r.IntN(8)
		s := newSpeller(a)
		for range 2 { // a speller may be used again
			if got := s.distance(b, limit); got != want && (want <= limit || got <= limit) {
				t.Fatalf("distance(%q, %q, limit %d) = %d, want %d", a, b, limit, got, want)
			}
		}
	}
}

func TestCloseSlugs(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	b := New(nil).Batch()
	var slugs []string
	for i := range 300 {
		slug := "x" + randomWord(r, 6)
		slugs = append(slugs, slug)
		b.Put(&incident.Incident{ID: fmt.Sprint(i), Symptoms: []incident.Value{{Text: slug, Slug: slug}}}, 1, 1)
	}
	slices.Sort(slugs)
	slugs = slices.Compact(slugs)
	s := b.Commit(1)
	for range 60 {
		word := randomWord(r, 7)
		n := r.IntN(6)
		want := slices.DeleteFunc(slices.Clone(slugs), func(s string) bool { return slowDistance(word, s) > len(word)/3 })
		slices.SortStableFunc(want, func(a, b string) int { return cmp.Compare(slowDistance(word, a), slowDistance(word, b)) })
		want = want[:min(n, len(want))]
		if got := s.CloseSlugs(incident.Symptom, word, n); !slices.Equal(got, want) {
			t.Fatalf("CloseSlugs(%q, %d) = %q, want %q", word, n, got, want)
		}
	}
	b = New(nil).Batch()
	b.Put(&incident.Incident{ID: "a", Symptoms: []incident.Value{{Text: "high error rate", Slug: "high-error-rate"}}}, 1, 1)
	s = b.Commit(1)
	for _, tt := range []struct {
		written string
		found   int
	}{
		{"high-error-rate", 1},
		{"High  error rate!", 1},
		{"hihg_eror_rates", 1},
		{"error-rate", 0}, // 5 edits of 10 characters
		{"", 0},
		{strings.Repeat("high-error-rate", 1000), 0},
	} {
		if got := s.CloseSlugs(incident.Symptom, tt.written, 3); len(got) != tt.found {
			t.Errorf("CloseSlugs(%.30q) = %q, want %d", tt.written, got, tt.found)
		}
	}
}
