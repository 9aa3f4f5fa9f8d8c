package headroom

import (
	"math"
	"math/big"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// current gives the percentage that is set.
func current() int {
	p := debug.SetGCPercent(usual)
	debug.SetGCPercent(p)
	return p
}

// collected collects garbage until the percentage is what is wanted; what runs
// after a collection runs some time after it.
func collected(t *testing.T, want func(percent int) bool) {
	t.Helper()
	for range 500 {
		runtime.GC()
		if want(current()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the percentage stays at %d with %d bytes live", current(), live())
}

func TestKeep(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	runtime.GC()
	stop := Keep(64 << 20)
	defer stop()
	collected(t, func(p int) bool { return p == most }) // of a test's heap, a few MB
	held := make([]byte, 40<<20)
	collected(t, func(p int) bool { return usual < p && p < 200 })
	more := make([]byte, 60<<20)
	collected(t, func(p int) bool { return p == usual })
	runtime.KeepAlive(held)
	runtime.KeepAlive(more)
	collected(t, func(p int) bool { return p == most })

	stop()
	stop()
	if p := current(); p != usual {
		t.Errorf("after stop the percentage is %d", p)
	}
	runtime.GC()
	time.Sleep(50 * time.Millisecond)
	if p := current(); p != usual {
		t.Errorf("after stop and a collection the percentage is %d", p)
	}
}

// TestKeepWhereDecided checks that a percentage that somebody chose stays.
func TestKeepWhereDecided(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for _, chosen := range []int{50, 300, -1} {
		debug.SetGCPercent(chosen)
		stop := Keep(1 << 30)
		if p := current(); p != chosen {
			t.Errorf("%d became %d", chosen, p)
		}
		stop()
		if p := current(); p != chosen {
			t.Errorf("%d became %d after stop", chosen, p)
		}
	}
}

func TestPercent(t *testing.T) {
	sizes := []uint64{0, 12345, 1 << 20, 77 << 20, 256 << 20, 1 << 30, 1 << 40, math.MaxUint64}
	for _, bytes := range sizes {
		for _, live := range sizes {
			got := percent(bytes, live)
			if got < usual || got > most {
				t.Fatalf("percent(%d, %d) is %d", bytes, live, got)
			}
			if live == 0 {
				continue // nothing grows
			}
			// Within the bounds the heap grows by bytes, up to two percent.
			grows := new(big.Float).Mul(new(big.Float).SetUint64(live), big.NewFloat(float64(got)/100))
			wanted := new(big.Float).SetUint64(bytes)
			ratio, _ := new(big.Float).Quo(grows, new(big.Float).Add(wanted, big.NewFloat(1))).Float64()
			switch {
			case got == usual && ratio < 0.97, got == most && ratio > 1.03, usual < got && got < most && math.Abs(ratio-1) > 0.03:
				t.Errorf("percent(%d, %d) is %d: the heap grows by %.2f times what is wanted", bytes, live, got, ratio)
			}
		}
	}
}
