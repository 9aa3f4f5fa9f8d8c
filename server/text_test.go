package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSearchAcrossRestarts searches a store through servers that come and go:
// the text index stays, follows what is imported meanwhile, and is made again
// where it was removed or is of no use.
func TestSearchAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "case.db")
	found := func(what string, want int) {
		t.Helper()
		p := startServer(t, "--db", db)
		var data struct {
			Search    struct{ TotalCount int }
			Incidents struct{ TotalCount int }
		}
		mustAsk(t, p.url, `{ search(query: "turboencabulator") { totalCount } incidents(where: {text: "turboencabulator"}) { totalCount } }`, &data)
		if data.Search.TotalCount != want || data.Incidents.TotalCount != want {
			t.Errorf("%s: found %+v, want %d", what, data, want)
		}
		if err := p.stop(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	add := func(id string) {
		t.Helper()
		mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(dir, id+".json"), `{"id":"`+id+`","title":{"en":"A turboencabulator stopped"}}`))
	}
	add("A-1")
	found("a new store", 1)
	found("the same again", 1)
	add("A-2")
	found("after an import without a server", 2)
	if err := os.RemoveAll(db + textSuffix); err != nil {
		t.Fatal(err)
	}
	found("without its text index", 2)
	if err := os.RemoveAll(db + textSuffix); err != nil {
		t.Fatal(err)
	}
	writeFile(t, db+textSuffix, "a file in the folder's place")
	found("where the folder cannot be", 2)
}
