package main

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
)

// TestExamples runs the example queries of the explorer page on the starter
// library: each succeeds and finds something.
func TestExamples(t *testing.T) {
	b, err := os.ReadFile("../internal/web/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct{ Name, Query string }
	if err := json.Unmarshal(b, &examples); err != nil {
		t.Fatal(err)
	}
	if len(examples) < 3 {
		t.Fatalf("%d examples, want at least 3", len(examples))
	}
	server := startServer(t)
	for _, e := range examples {
		a, err := ask(http.DefaultClient, server.url, e.Query)
		if err != nil || a.errors != nil || a.status != http.StatusOK {
			t.Errorf("%s gives %d: %s (%v)", e.Name, a.status, a.raw, err)
		}
		if len(a.raw) < 500 {
			t.Errorf("%s finds little: %s", e.Name, a.raw)
		}
	}
}
