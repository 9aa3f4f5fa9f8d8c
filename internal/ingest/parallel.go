package ingest

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// job is one item on its way through inOrder.
type job[T, R any] struct {
	item   T
	result R
	err    error
	done   chan struct{}
}

// inOrder calls work for each item, on as many goroutines as there are
// processors, and take with each result in the order of the items, on the
// caller's goroutine. It ends at the first error: of the items, of take, or of
// ctx. Only few items are under way at a time.
func inOrder[T, R any](ctx context.Context, items iter.Seq2[T, error], work func(T) R, take func(R) error) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan *job[T, R], 4*workers)
	queue := make(chan *job[T, R], 4*workers) // the same jobs, in order
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(queue)
		defer close(todo)
		for item, err := range items {
			j := &job[T, R]{item: item, err: err, done: make(chan struct{})}
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
			if err != nil {
				close(j.done)
				return
			}
			todo <- j // workers never stop before todo is closed
		}
	})
	for range workers {
		wg.Go(func() {
			for j := range todo {
				j.result = work(j.item)
				close(j.done)
			}
		})
	}
	for j := range queue {
		<-j.done
		if j.err != nil {
			return j.err
		}
		if err := take(j.result); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// manyInOrder is inOrder for items that are small work each: it hands many over
// at a time, those of up to batchBytes together, for to wake a goroutine may
// take longer than one of them.
func manyInOrder[T, R any](
	ctx context.Context, items iter.Seq2[T, error], size func(T) int, work func(T) R, take func(R) error,
) error {
	return inOrder(ctx, batches(items, size),
		func(batch []T) []R {
			results := make([]R, len(batch))
			for i, item := range batch {
				results[i] = work(item)
			}
			return results
		},
		func(results []R) error {
			for _, r := range results {
				if err := take(r); err != nil {
					return err
				}
			}
			return nil
		})
}

const (
	batchItems = 64
	batchBytes = 256 << 10
)

// batches yields the items in batches; where an error ends them, those before
// it come first.
func batches[T any](items iter.Seq2[T, error], size func(T) int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var batch []T
		bytes := 0
		for item, err := range items {
			if err != nil {
				if len(batch) == 0 || yield(batch, nil) {
					yield(nil, err)
				}
				return
			}
			batch = append(batch, item)
			if bytes += size(item); len(batch) < batchItems && bytes < batchBytes {
				continue
			}
			if !yield(batch, nil) {
				return
			}
			batch, bytes = make([]T, 0, batchItems), 0
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// items gives the elements of a list as items of inOrder.
func items[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}
