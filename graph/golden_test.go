package graph

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the responses in testdata/*.txtar")

// TestGolden runs each case of testdata: the sections query, variables (JSON)
// and headers (one a line), the last two optional, and what must come back:
// response, the status and the body, indented.
func TestGolden(t *testing.T) {
	usual, plain, _ := bothWays(t, Config{})
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			section := make(map[string]string)
			for _, f := range archive.Files {
				section[f.Name] = string(f.Data)
			}
			var variables map[string]any
			if v := section["variables"]; v != "" {
				if err := json.Unmarshal([]byte(v), &variables); err != nil {
					t.Fatalf("variables: %v", err)
				}
			}
			headers := []string{requestIDHeader, "golden"}
			for line := range strings.Lines(section["headers"]) {
				name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
				if !ok {
					t.Fatalf("header line %q", line)
				}
				headers = append(headers, name, value)
			}
			for name, h := range map[string]*handler{"usual": usual, "by gqlgen": plain} {
				w := post(t, h, section["query"], variables, headers...)
				var body bytes.Buffer
				if err := json.Indent(&body, w.Body.Bytes(), "", "  "); err != nil {
					t.Fatalf("body %s: %v", w.Body, err)
				}
				got := fmt.Sprintf("%d\n%s\n", w.Code, &body)
				if *update && h == plain {
					rewrite(t, file, archive, got)
					return
				}
				if diff := cmp.Diff(section["response"], got); diff != "" && !*update {
					t.Errorf("response, %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func rewrite(t *testing.T, file string, archive *txtar.Archive, response string) {
	t.Helper()
	archive.Files = append(archive.Files[:0:0], archive.Files...)
	last := len(archive.Files) - 1
	if archive.Files[last].Name != "response" {
		archive.Files = append(archive.Files, txtar.File{Name: "response"})
		last++
	}
	archive.Files[last].Data = []byte(response)
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
