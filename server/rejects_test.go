package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"incidentgraph/internal/ingest"
)

// TestRejectsKeepBytes: the file of bad records has each of them as it came,
// whatever its bytes are, with a server and without one.
func TestRejectsKeepBytes(t *testing.T) {
	dir := t.TempDir()
	records := []string{
		`{"id":"R-1","title":"latin ` + "\xe9" + `"}`,
		`{"id":"R-2","date":"no day","title":"<&> \u2028 ` + "\u2028 \ufffd\x7f" + `"}`,
		"{\"id\":\"R-3\",\"title\":\"\xff\xfe\x80 cut \xe2\x82\"}",
	}
	file := writeFile(t, filepath.Join(dir, "bad.jsonl"), strings.Join(records, "\n"))
	alone, served := filepath.Join(dir, "alone.db"), filepath.Join(dir, "served.db")
	startServer(t, "--db", served)
	for _, db := range []string{alone, served} {
		rejects := db + ".rejects"
		if r := runCommand(t, nil, "import", "--db", db, "--rejects", rejects, file); r.status != exitFailed {
			t.Fatalf("import ends with status %d: %s", r.status, r.stderr)
		}
		content, err := os.ReadFile(rejects)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			var got struct {
				Record       *string
				RecordBase64 []byte
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("the line %q: %v", line, err)
			}
			raw := string(got.RecordBase64)
			if got.Record != nil {
				raw += *got.Record
			}
			if n >= len(records) || raw != records[n] {
				t.Errorf("%s: record %d is %q, want %q", rejects, n+1, raw, records[n])
			}
			n++
		}
		if n != len(records) {
			t.Errorf("%s has %d lines, want %d", rejects, n, len(records))
		}
	}
}

func TestRejectWithoutBytes(t *testing.T) {
	b, err := json.Marshal(newRejectLine(ingest.Reject{File: "a", Line: 1, Err: errors.New("too large")}))
	if err != nil || strings.Contains(string(b), "record") {
		t.Errorf("a reject without its bytes is written as %s (%v), want no record in it", b, err)
	}
}
