// Package headroom makes garbage collection rarer where memory for that is
// cheap.
//
// Go collects when the heap has grown by as much as was live after the last
// collection (GOGC=100). A collection costs time in proportion to what is live,
// so of a server whose heap is an index that stays, each byte that a request
// takes costs the same share of a collection, whatever the size of the index.
// With more room between collections the share is smaller. Keep gives a heap
// that is small, and so grows by little, more room: a fixed number of bytes. It
// costs that much memory at most, and a large heap, which is collected rarely
// enough, is left as it is.
package headroom

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Server is as much as suits a server: a fraction of what any that has a graph
// of some size needs, and of 100,000 incidents it makes collections three times
// as rare.
const Server = 256 << 20

const (
	// usual is Go's own percentage.
	usual = 100
	// most bounds the percentage, so that a heap that is small now, and then
	// has to hold much, is looked at again before it has grown to more than
	// five times its size.
	most = 400
)

// Keep lets the heap grow by up to the given number of bytes between two
// garbage collections, from now on until stop is called: to at most five times
// what is live, and at least to twice that. What is live is looked at after
// each collection. It does nothing where the program runs with another GOGC
// than the usual one, for then somebody has decided; a memory limit (GOMEMLIMIT)
// holds in any case. Nobody else may set the percentage meanwhile.
func Keep(bytes uint64) (stop func()) {
	k := &keeper{bytes: bytes, percent: usual}
	if before := debug.SetGCPercent(usual); before != usual {
		debug.SetGCPercent(before)
		return func() {}
	}
	k.adjust()
	k.watch()
	return k.stop
}

type keeper struct {
	bytes uint64

	mu      sync.Mutex // guards what follows
	percent int        // that is set
	stopped bool
}

// watch adjusts the percentage after each garbage collection: what nothing
// refers to is found by the next one.
func (k *keeper) watch() {
	sentinel := &struct{ _ [64]byte }{}
	runtime.AddCleanup(sentinel, func(k *keeper) {
		if k.adjust() {
			k.watch()
		}
	}, k)
}

// adjust sets the percentage by what was live after the last collection; false
// once it is stopped. A change by little is not worth the pause that it is made
// in.
func (k *keeper) adjust() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return false
	}
	want := percent(k.bytes, live())
	if diff := want - k.percent; diff*10 > k.percent || -diff*10 > k.percent {
		debug.SetGCPercent(want)
		k.percent = want
	}
	return true
}

func (k *keeper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stopped {
		k.stopped = true
		debug.SetGCPercent(usual)
	}
}

// percent gives the percentage by which live bytes grow by a number of bytes,
// within the bounds.
func percent(bytes, live uint64) int {
	return int(min(max(bytes/max(live/100, 1), usual), most))
}

// live gives the number of bytes that the last garbage collection found live.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
