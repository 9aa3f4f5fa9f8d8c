package incident

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpora decodes the real records next to the repository, if they are
// there.
func TestCorpora(t *testing.T) {
	dir := os.Getenv("INCIDENTGRAPH_CORPORA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpora")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no corpora")
	}
	for _, name := range files {
		if strings.HasSuffix(name, ".origin.jsonl") { // another shape
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) { decodeCorpus(t, name) })
	}
}

func decodeCorpus(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, MaxRecordBytes)
	n := 0
	for lines.Scan() {
		n++
		inc, err := Decode(lines.Bytes())
		if err != nil {
			// The one day that is in no calendar, which the corpora keep as it was found.
			var e *Error
			if !errors.As(err, &e) || e.Code != InvalidValue || PathString(e.Path) != "date" || !strings.Contains(e.Reason, "2018-02-29") {
				t.Errorf("%s:%d: Decode = %v", name, n, err)
			}
			continue
		}
		if inc.OrgSlug == "" != (inc.Org == "") {
			t.Errorf("%s:%d: org %q has slug %q", name, n, inc.Org, inc.OrgSlug)
		}
		for _, d := range []Duration{inc.DetectedAfter, inc.ResolvedAfter} {
			if d.Text != "" && !d.Known {
				t.Errorf("%s:%d: duration %q is unread", name, n, d.Text)
			}
		}
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Errorf("%s: %d records, %v", name, n, err)
	}
}

func TestSample(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "seed", "IL-0282.json"))
	if os.IsNotExist(err) {
		t.Skip("no sample")
	}
	if err != nil {
		t.Fatal(err)
	}
	inc, err := Decode(raw)
	if err != nil {
		t.Fatalf("Decode(IL-0282) = %v", err)
	}
	if inc.Unknown != nil {
		t.Errorf("Decode(IL-0282).Unknown = %s, want none", inc.Unknown)
	}
	if len(inc.Contributing) != 5 || len(inc.ActionItems) != 12 || inc.ResolvedAfter.Seconds != 17460 || len(inc.Title) != 2 {
		t.Errorf("Decode(IL-0282) = %+v", inc)
	}
}
