package index_test

import (
	"runtime"
	"testing"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/index"
)

// TestBytes compares with what the runtime says that an index takes.
func TestBytes(t *testing.T) {
	list := fixture.Incidents(3, 20_000)
	before := inUse()
	x := index.New(nil)
	s := load(x, list)
	want := inUse() - before
	runtime.KeepAlive(list)
	got := s.Bytes()
	if got < want*3/4 || got > want*5/4 {
		t.Errorf("Bytes() = %d, want %d within a quarter", got, want)
	}
	// Also where incidents came and went.
	b := x.Batch()
	for i, inc := range list {
		if i%2 == 0 {
			b.Delete(inc.ID)
			continue
		}
		other := *list[(i*7)%len(list)]
		other.ID = inc.ID
		b.Put(&other, 2, 2)
	}
	s = b.Commit(2)
	want = inUse() - before
	if got := s.Bytes(); got < want*3/5 || got > want*5/4 {
		t.Errorf("after changes Bytes() = %d, want %d", got, want)
	}
	runtime.KeepAlive(x)
	runtime.KeepAlive(list)
	if empty := index.New(nil).Snapshot().Bytes(); empty > 100_000 {
		t.Errorf("Bytes() = %d of an empty index", empty)
	}
}
