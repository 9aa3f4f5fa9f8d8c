package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"incidentgraph/internal/ingest"
)

func TestProgressLines(t *testing.T) {
	for _, tt := range []struct {
		at   ingest.Progress
		want string
	}{
		{ingest.Progress{Report: ingest.Report{Read: 30}, BytesRead: 5_000_000, BytesTotal: 20_000_000}, "reading: 30 records, 25 % of 20 MB\n"},
		{ingest.Progress{Report: ingest.Report{Read: 30}, BytesRead: 5_000_000}, "reading: 30 records, 5 MB\n"},
		{ingest.Progress{Report: ingest.Report{Read: 30}, BytesRead: 5, BytesTotal: 5, Stored: 10, ToStore: 30}, "storing: 10 of 30 records\n"},
	} {
		var out strings.Builder
		p := newProgress(&out, false)
		p.set(tt.at)
		if out.Len() > 0 {
			t.Errorf("set(%+v) prints %q at once", tt.at, &out)
		}
		p.last = time.Now().Add(-progressInterval)
		p.set(tt.at)
		p.set(tt.at)
		p.done()
		if out.String() != tt.want {
			t.Errorf("set(%+v) prints %q, want %q", tt.at, &out, tt.want)
		}
	}
}

// TestProgressBar: on a terminal there is a bar for each part of the work,
// lines between do not run into it, and it leaves nothing behind.
func TestProgressBar(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, true)
	p.set(ingest.Progress{BytesRead: 10_000, BytesTotal: 50_000})
	fmt.Fprintln(p, "a.jsonl:3: bad")
	p.set(ingest.Progress{BytesRead: 50_000, BytesTotal: 50_000, Stored: 5, ToStore: 20})
	p.done()
	shown := out.String()
	for _, want := range []string{"reading", "\ra.jsonl:3: bad\n", "storing"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal is shown %q, want %q in it", shown, want)
		}
	}
	if last := shown[strings.LastIndex(shown, "\n")+1:]; !strings.HasSuffix(last, "\r") {
		t.Errorf("what is left on the last line is %q", last)
	}
}
