package main

import (
	"path/filepath"
	"testing"
)

// TestRestoreIsFollowed puts an older state in the place of a newer one: what
// a server keeps beside the store is not of the newer one any more.
func TestRestoreIsFollowed(t *testing.T) {
	dir := t.TempDir()
	db, copied := filepath.Join(dir, "case.db"), filepath.Join(dir, "backup.db")
	add := func(id, title string) {
		t.Helper()
		mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(dir, id+".json"), `{"id":"`+id+`","title":{"en":"`+title+`"}}`))
	}
	found := func(what string, want map[string]int) {
		t.Helper()
		p := startServer(t, "--db", db)
		for word, n := range want {
			var data struct{ Search, Incidents struct{ TotalCount int } }
			mustAsk(t, p.url, `{ search(query: "`+word+`") { totalCount } incidents { totalCount } }`, &data)
			if data.Search.TotalCount != n {
				t.Errorf("%s: %d of %d incidents are found by %q, want %d", what, data.Search.TotalCount, data.Incidents.TotalCount, word, n)
			}
		}
		if err := p.stop(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	add("A-1", "The turboencabulator stopped")
	mustRun(t, "backup", "--db", db, "-o", copied)
	add("A-2", "The retroencabulator stopped")
	found("before", map[string]int{"turboencabulator": 1, "retroencabulator": 1})
	mustRun(t, "restore", "--db", db, "--replace", copied)
	found("restored", map[string]int{"turboencabulator": 1, "retroencabulator": 0})
	add("A-3", "The hydroencabulator stopped")
	found("and gone on from there", map[string]int{"turboencabulator": 1, "retroencabulator": 0, "hydroencabulator": 1})
}
