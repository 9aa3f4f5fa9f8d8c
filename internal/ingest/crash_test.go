package ingest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// crashFile names, in the environment of a child process, the store that it
// imports into until it is killed.
const crashFile = "INCIDENTGRAPH_CRASH_FILE"

// crashRecords is how many records the child imports: several batches.
const crashRecords = 1600

// crashLines are those records.
func crashLines() string {
	r := rand.New(rand.NewPCG(8, 9))
	var b strings.Builder
	for i := range crashRecords {
		b.WriteString(generated(r, fmt.Sprintf("k%04d", i), 20<<10) + "\n")
	}
	return b.String()
}

// TestCrashChild is no test: it is the process that TestCrash kills.
func TestCrashChild(t *testing.T) {
	path := os.Getenv(crashFile)
	if path == "" {
		t.Skip("only run by TestCrash")
	}
	log, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{SpoolDir: filepath.Dir(path), OnProgress: func(p Progress) { fmt.Println("stored", p.Stored) }}
	if _, err := ingesterOf(t, log).Import(t.Context(), text(crashLines()), o); err != nil {
		t.Fatal(err)
	}
}

// TestCrash kills an import and looks at what it leaves: the batches that it
// told of, whole, and no file beside the store.
func TestCrash(t *testing.T) {
	for batches := range 3 {
		dir := t.TempDir()
		path := filepath.Join(dir, "crash.db")
		killAfter(t, path, batches)
		log, err := boltstore.Open(path, boltstore.Options{})
		if err != nil {
			t.Fatalf("Open after SIGKILL = %v", err)
		}
		report, err := Check(t.Context(), log, nil)
		if err != nil || report.Faults != nil {
			t.Errorf("Check after SIGKILL = %+v, %v, want no faults", report, err)
		}
		if head, err := log.Head(t.Context()); err != nil || head.Sequence < uint64(batches) {
			t.Errorf("Head after SIGKILL = %v, %v, want the %d changes that were told of", head, err, batches)
		}
		checkWholeBatches(t, log)
		again, _ := imported(t, ingesterOf(t, log), Options{}, text(crashLines())...)
		if again.Unchanged != report.Incidents || again.Created != crashRecords-report.Incidents {
			t.Errorf("Import again = %+v after %d records, want the others created", again, report.Incidents)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "incidentgraph-import-*")); len(files) > 0 {
			t.Errorf("the killed import leaves %q", files)
		}
	}
}

// killAfter runs the child until it has told of so many batches.
func killAfter(t *testing.T, path string, batches int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$", "-test.v")
	child.Env = append(os.Environ(), crashFile+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	told, last := -1, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "stored ") && line != last {
			told, last = told+1, line
		}
		if told >= batches {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait() // it was killed
	if told < batches {
		t.Fatalf("the child ended after %d batches, want %d", told, batches)
	}
}

// checkWholeBatches checks that only the very last batch of an import is
// smaller than another record would make it.
func checkWholeBatches(t *testing.T, log store.Log) {
	t.Helper()
	records := 0
	for e, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, op := range e.Change.Ops {
			size += len(op.Record)
		}
		records += len(e.Change.Ops)
		if whole := size > maxBatchBytes-(64<<10) || len(e.Change.Ops) == maxBatchRecords; !whole && records < crashRecords {
			t.Errorf("change %d has %d records of %d bytes, want a whole batch", e.Position.Sequence, len(e.Change.Ops), size)
		}
	}
}
