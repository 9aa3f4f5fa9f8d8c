package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// stats is what the process has used so far. The Go allocations leave SQLite's
// own out, which the memory counts.
type stats struct {
	CPU        time.Duration `json:"cpu"`
	Allocs     uint64        `json:"allocs"`
	AllocBytes uint64        `json:"allocBytes"`
	LiveBytes  uint64        `json:"liveBytes"` // of the heap, after the last collection
	PeakBytes  int64         `json:"peakBytes"`
}

func serveStats(w http.ResponseWriter, _ *http.Request) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	s := stats{
		CPU:        processorTime(),
		Allocs:     samples[0].Value.Uint64(),
		AllocBytes: samples[1].Value.Uint64(),
		LiveBytes:  samples[2].Value.Uint64(),
		PeakBytes:  peakMemory(),
	}
	_ = json.NewEncoder(w).Encode(s) // an error is the client's
}

// peakMemory gives the most memory that the process has had at once, in
// bytes, 0 where the system does not tell.
func peakMemory() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}
