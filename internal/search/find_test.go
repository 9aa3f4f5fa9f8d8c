package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFindAmong finds clauses among small and large sets, while documents come,
// go and are moved by merges.
func TestFindAmong(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	ix := opened(t, t.TempDir(), nil)
	defer closed(t, ix)
	slugs := []string{"something"}
	for round := range 40 {
		b := ix.NewBatch()
		for range 1 + r.IntN(60) {
			if id := fmt.Sprintf("IL-%d", r.IntN(1000)); r.IntN(5) == 0 {
				b.Delete(id)
			} else {
				b.Put(randomIncident(r, id, slugs))
			}
		}
		commit(t, b, fmt.Sprint(round))
		_, query := randomQuery(r)
		q := ParseQuery(query)
		err := ix.Read(t.Context(), func(s *State) error {
			for _, c := range append(q.Wanted(), Clause{}) {
				all, err := find(s, &c, nil)
				if err != nil {
					return err
				}
				for _, size := range []int{0, 1, 20, 100, 400, 2000} {
					among := make(numberSet)
					for range size {
						among[uint32(r.IntN(1200))] = true // some have no incident
					}
					want := maps.Clone(all)
					maps.DeleteFunc(want, func(n uint32, _ bool) bool { return !among[n] })
					got, err := find(s, &c, among)
					if err != nil {
						return err
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("round %d: %q among %d incidents (-all and among +got):\n%s", round, c.Key(), len(among), diff)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadAgain uses a state after a newer one was looked into.
func TestReadAgain(t *testing.T) {
	ix := opened(t, t.TempDir(), nil)
	defer closed(t, ix)
	put(t, ix, "0", outage("A-0"))
	word := ParseQuery("outage").Wanted()[0]
	n := 0
	// newer puts one more incident and finds it.
	newer := func() {
		n++
		put(t, ix, fmt.Sprint(n), outage(fmt.Sprintf("A-%d", n)))
		if got := len(matching(t, ix, "outage")); got != n+1 {
			t.Fatalf("%d incidents found, want %d", got, n+1)
		}
	}
	one := numberSet{0: true}
	for _, tt := range []struct {
		name  string
		tries int
		use   func(s *State, first bool) (numberSet, error)
	}{
		{"nothing found before", 2, func(s *State, first bool) (numberSet, error) {
			if first {
				newer()
			}
			return find(s, &word, one)
		}},
		{"found one by one", 2, func(s *State, first bool) (numberSet, error) {
			if _, err := find(s, &word, one); err != nil || !first {
				return one, err
			}
			newer()
			return find(s, &word, one)
		}},
		{"found among all", 1, func(s *State, _ bool) (numberSet, error) {
			if _, err := find(s, &word, nil); err != nil {
				return nil, err
			}
			newer()
			found, err := find(s, &word, nil)
			if err == nil && len(found) != n {
				t.Errorf("%d incidents found in the state before the last one, want %d", len(found), n)
			}
			return one, err
		}},
	} {
		tries := 0
		var found numberSet
		err := ix.Read(t.Context(), func(s *State) (err error) {
			tries++
			found, err = tt.use(s, tries == 1)
			return err
		})
		if err != nil || tries != tt.tries || !found[0] || len(found) != 1 {
			t.Errorf("%s: Read = %v after %d tries with %v, want %d tries with %v", tt.name, err, tries, found, tt.tries, one)
		}
	}
}

// TestChangedSince compares what commits changed with what is remembered.
func TestChangedSince(t *testing.T) {
	var r recentChanges
	if ids, ok := r.between(7, 7); !ok || ids != nil {
		t.Errorf("between(7, 7) of nothing = %v, %v, want none, true", ids, ok)
	}
	if _, ok := r.between(6, 7); ok {
		t.Error("between(6, 7) of nothing = true, want false")
	}
	r.add(7, []string{"a", "b"})
	r.add(8, []string{"c"})
	r.add(9, []string{"d"})
	for _, tt := range []struct {
		after, upTo uint64
		want        []string
		ok          bool
	}{
		{5, 9, nil, false},
		{6, 9, []string{"a", "b", "c", "d"}, true},
		{7, 9, []string{"c", "d"}, true},
		{6, 8, []string{"a", "b", "c"}, true},
		{9, 9, nil, true},
	} {
		got, ok := r.between(tt.after, tt.upTo)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("between(%d, %d) = %v, %v, want %v, %v", tt.after, tt.upTo, got, ok, tt.want, tt.ok)
		}
	}
	r.add(10, make([]string, maxRecent-1))
	if _, ok := r.between(7, 10); ok {
		t.Error("between(7, 10) = true after too many ids, want false")
	}
	if ids, ok := r.between(8, 10); !ok || len(ids) != maxRecent {
		t.Errorf("between(8, 10) = %d ids, %v, want %d, true", len(ids), ok, maxRecent)
	}
	r.add(11, make([]string, maxRecent+1))
	if _, ok := r.between(10, 11); ok {
		t.Error("between(10, 11) = true for a commit of too many ids, want false")
	}
	r.add(12, []string{"e"})
	if ids, ok := r.between(11, 12); !ok || len(ids) != 1 {
		t.Errorf("between(11, 12) = %v, %v, want one id, true", ids, ok)
	}
	r.forget()
	if _, ok := r.between(11, 12); ok {
		t.Error("between(11, 12) = true after all was forgotten, want false")
	}
}
