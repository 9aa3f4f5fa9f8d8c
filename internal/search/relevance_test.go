package search

import (
	"os"
	"slices"
	"strings"
	"testing"

	"incidentgraph/internal/incident"
)

// recallAt is the number of hits that count in the relevance set.
const recallAt = 10

// relevant is one judged query of testdata/relevance.tsv.
type relevant struct {
	language, query string
	cases           []string
}

func relevanceSet(t *testing.T) []relevant {
	t.Helper()
	b, err := os.ReadFile("testdata/relevance.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var list []relevant
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 3 {
			t.Fatalf("relevance.tsv: %q has %d columns, want 3", line, len(parts))
		}
		list = append(list, relevant{parts[0], parts[1], strings.Fields(parts[2])})
	}
	return list
}

// TestRelevance computes the recall at 10 over the starter library: of the
// cases that a query is about, the share among the first ten incidents, meant
// over the queries of each language and over all.
func TestRelevance(t *testing.T) {
	const want = 0.95
	ix := memory(t, libraryConcepts(t))
	incidents := libraryIncidents(t)
	put(t, ix, "x", incidents...)
	sums, counts := make(map[string]float64), make(map[string]int)
	for _, r := range relevanceSet(t) {
		for _, id := range r.cases {
			if !slices.ContainsFunc(incidents, func(inc *incident.Incident) bool { return inc.ID == id }) {
				t.Errorf("%s: the library has no case %s", r.query, id)
			}
		}
		got := found(t, ix, r.query, Options{First: recallAt, IncidentsOnly: true}).Hits
		hits := 0
		for _, id := range r.cases {
			if slices.ContainsFunc(got, func(h Hit) bool { return h.ID == id }) {
				hits++
			}
		}
		recall := float64(hits) / float64(min(recallAt, len(r.cases)))
		if recall < 1 {
			t.Logf("%s %q: recall %.2f: got %v, want %v", r.language, r.query, recall, names(&Result{Hits: got}), r.cases)
		}
		for _, key := range []string{r.language, "all"} {
			sums[key] += recall
			counts[key]++
		}
	}
	for _, key := range []string{"en", "ko", "all"} {
		mean := sums[key] / float64(max(1, counts[key]))
		t.Logf("%s: recall@%d %.3f over %d queries", key, recallAt, mean, counts[key])
		if mean < want {
			t.Errorf("%s: recall@%d = %.3f, want at least %.2f", key, recallAt, mean, want)
		}
	}
	if counts["en"] < 20 || counts["ko"] < 20 {
		t.Errorf("%d English and %d Korean queries, want at least 20 each", counts["en"], counts["ko"])
	}
}
