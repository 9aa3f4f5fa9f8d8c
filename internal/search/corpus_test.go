package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/library"
)

// libraryIncidents decodes the starter library.
func libraryIncidents(t testing.TB) []*incident.Incident {
	t.Helper()
	records, err := library.Records()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]*incident.Incident, len(records))
	for i, r := range records {
		inc, err := incident.Decode(r.Bytes)
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		list[i] = inc
	}
	return list
}

func libraryConcepts(t testing.TB) *incident.Concepts {
	t.Helper()
	c, err := library.Concepts()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// memory makes an index in memory that the test closes.
func memory(t testing.TB, concepts *incident.Concepts) *Index {
	t.Helper()
	ix, err := OpenMemory(concepts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, ix) })
	return ix
}

func opened(t testing.TB, dir string, concepts *incident.Concepts) *Index {
	t.Helper()
	ix, err := Open(dir, concepts)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func closed(t testing.TB, ix *Index) {
	t.Helper()
	if err := ix.Close(); err != nil {
		t.Error(err)
	}
}

// put commits incidents.
func put(t testing.TB, ix *Index, position string, list ...*incident.Incident) {
	t.Helper()
	b := ix.NewBatch()
	for _, inc := range list {
		b.Put(inc)
	}
	commit(t, b, position)
}

func commit(t testing.TB, b *Batch, position string) {
	t.Helper()
	if err := b.Commit([]byte(position)); err != nil {
		t.Fatal(err)
	}
}

func found(t testing.TB, ix *Index, query string, o Options) *Result {
	t.Helper()
	r, err := ix.Search(t.Context(), ParseQuery(query), o)
	if err != nil {
		t.Fatalf("Search(%q): %v", query, err)
	}
	return r
}

func matching(t testing.TB, ix *Index, query string) []string {
	t.Helper()
	ids, err := ix.MatchIDs(t.Context(), ParseQuery(query))
	if err != nil {
		t.Fatalf("MatchIDs(%q): %v", query, err)
	}
	slices.Sort(ids)
	return ids
}

// inEnglish makes a text in one language, bilingual in two.
func inEnglish(s string) incident.Text { return incident.Text{{Language: "en", Text: s}} }

func bilingual(en, ko string) incident.Text {
	return incident.Text{{Language: "en", Text: en}, {Language: "ko", Text: ko}}
}

func values(texts ...string) []incident.Value {
	list := make([]incident.Value, len(texts))
	for i, s := range texts {
		list[i] = incident.Value{Text: s, Slug: incident.Slug(s)}
	}
	return list
}

// generator makes incidents of 2 KB from the sentences of the starter library,
// so that words are as common as they are in real records.
type generator struct {
	*rand.Rand
	english, korean []string
	factors         []string
}

func newGenerator(t testing.TB) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(1, 2))}
	for _, inc := range libraryIncidents(t) {
		texts(inc, nil, func(f Field, language, text string) {
			switch {
			case f < Summary || f > Lessons:
			case language == "en":
				g.english = append(g.english, strings.SplitAfter(text, ". ")...)
			case language == "ko":
				g.korean = append(g.korean, strings.SplitAfter(text, ". ")...)
			}
		})
	}
	for _, c := range libraryConcepts(t).All() {
		if c.Term.Vocabulary == incident.ContributingFactor {
			g.factors = append(g.factors, c.Term.Slug)
		}
	}
	return g
}

func (g *generator) text(sentences []string, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(sentences[g.IntN(len(sentences))])
		b.WriteByte(' ')
	}
	return b.String()
}

func (g *generator) incident(n int) *incident.Incident {
	org := fmt.Sprintf("Org %d", g.IntN(2000))
	factors := make([]string, 4)
	for i := range factors {
		factors[i] = g.factors[int(g.ExpFloat64()*20)%len(g.factors)]
	}
	return &incident.Incident{
		ID:           fmt.Sprintf("IL-%06d", n),
		Org:          org,
		OrgSlug:      incident.Slug(org),
		Title:        bilingual(g.text(g.english, 80), g.text(g.korean, 80)),
		Summary:      bilingual(g.text(g.english, 700)+fmt.Sprintf("host%d.", g.IntN(20000)), g.text(g.korean, 900)),
		Contributing: values(factors...),
	}
}
