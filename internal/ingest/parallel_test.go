package ingest

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// counted yields 0 to n-1, then an error if there is one.
func counted(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestManyInOrder(t *testing.T) {
	broken := errors.New("broken")
	r := rand.New(rand.NewPCG(1, 5))
	for range 100 {
		n := r.IntN(1000)
		var end error
		if r.IntN(3) == 0 {
			end = broken
		}
		stop := n + 1 // where take fails
		if r.IntN(3) == 0 {
			stop = r.IntN(n + 1)
		}
		var got []int
		err := manyInOrder(t.Context(), counted(n, end),
			func(i int) int { return i % 7 * 10_000 },
			func(i int) int { return i * 2 },
			func(i int) error {
				if len(got) == stop {
					return context.Canceled
				}
				got = append(got, i)
				return nil
			})
		want := end
		if stop < n {
			want = context.Canceled
		}
		if !errors.Is(err, want) || want == nil && err != nil || len(got) != min(n, stop) {
			t.Fatalf("manyInOrder of %d, stopped at %d: %d results, %v, want %d, %v", n, stop, len(got), err, min(n, stop), want)
		}
		for i, x := range got {
			if x != 2*i {
				t.Fatalf("result %d is %d, want %d", i, x, 2*i)
			}
		}
	}
}

func TestBatches(t *testing.T) {
	for _, tt := range []struct {
		n, size int
		want    []int
	}{
		{0, 1, nil},
		{1, 1, []int{1}},
		{batchItems, 1, []int{batchItems}},
		{2*batchItems + 1, 1, []int{batchItems, batchItems, 1}},
		{3, batchBytes, []int{1, 1, 1}},
		{5, batchBytes / 2, []int{2, 2, 1}},
	} {
		var got []int
		for batch, err := range batches(counted(tt.n, nil), func(int) int { return tt.size }) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, len(batch))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("batches of %d items of size %d = %v, want %v", tt.n, tt.size, got, tt.want)
		}
	}
}
