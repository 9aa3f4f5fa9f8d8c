package search

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

// TestCorpora searches real records with words, neighbours and exclusions out
// of their own texts and compares with the oracle.
func TestCorpora(t *testing.T) {
	dir := cmp.Or(os.Getenv("INCIDENTGRAPH_CORPORA"), "../../../shared/corpora")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no corpora in %s", dir)
	}
	concepts := libraryConcepts(t)
	ix := memory(t, concepts)
	all := make(map[string]*incident.Incident)
	b := ix.NewBatch()
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			inc, err := incident.Decode(line)
			if err != nil {
				continue // the records that an import refuses
			}
			all[inc.ID] = inc
			b.Put(inc)
		}
		commit(t, b, f)
	}
	o := newOracle(all, concepts)
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		texts := o.incidents[ids[r.IntN(len(ids))]]
		text := texts[r.IntN(len(texts))]
		words := slices.DeleteFunc(slices.Clone(text.tokens), func(tok oracleToken) bool { return tok.extra })
		if len(words) == 0 {
			continue
		}
		// Tokens are stems: they are looked for as such, which the chain
		// keeps only where a stem is its own stem.
		at := r.IntN(len(words))
		near := words[at:min(len(words), at+1+r.IntN(3))]
		if slices.ContainsFunc(near, func(tok oracleToken) bool { return tokensOf(tok.term) != tok.term }) || len(near) > 1 && near[1].at-near[0].at != 2 {
			continue
		}
		var terms []string
		for _, tok := range near {
			terms = append(terms, tok.term)
		}
		phrase := strings.Join(terms, " ")
		for _, items := range [][]oracleItem{
			{quotedItem(AnyField, phrase)},
			{quotedItem(text.field, phrase)},
			{quotedItem(AnyField, terms[0]), {quoted: true, excluded: true, words: []oracleWord{{text: "the"}}}},
		} {
			var query []string
			for _, it := range items {
				query = append(query, it.String())
			}
			written := strings.Join(query, " ")
			want := o.search(items, ParseQuery(written), true).Strict
			if diff := gocmp.Diff(want, matching(t, ix, written)); diff != "" {
				t.Errorf("matching(%q) (-oracle +got):\n%s", written, diff)
			}
		}
	}
	t.Logf("%d incidents", len(all))
}

func quotedItem(f Field, text string) oracleItem {
	return oracleItem{field: f, quoted: true, words: []oracleWord{{text: text, same: text}}}
}
