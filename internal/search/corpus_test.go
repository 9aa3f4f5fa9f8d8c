package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
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

// readable is an index with a reader of it.
type readable struct {
	*Index
	*Reader
}

func newReadable(ix *Index) *readable { return &readable{ix, NewReader(ix, &numbering{})} }

// numbering numbers case ids as it meets them.
type numbering struct {
	mu      sync.Mutex
	numbers map[string]uint32
	ids     []string
}

func (n *numbering) Number(id string) (uint32, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	number, ok := n.numbers[id]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[string]uint32)
		}
		number = uint32(len(n.ids))
		id = strings.Clone(id)
		n.numbers[id] = number
		n.ids = append(n.ids, id)
	}
	return number, true
}

func (n *numbering) CaseID(number uint32) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ids[number]
}

// numberSet is a set of numbers.
type numberSet map[uint32]bool

func (s numberSet) Len() int               { return len(s) }
func (s numberSet) Has(number uint32) bool { return s[number] }
func (s numberSet) AppendTo(numbers []uint32) []uint32 {
	return slices.AppendSeq(numbers, maps.Keys(s))
}

// memory makes an index in memory that the test closes.
func memory(t testing.TB, concepts *incident.Concepts) *readable {
	t.Helper()
	ix, err := OpenMemory(concepts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, newReadable(ix)) })
	return newReadable(ix)
}

func opened(t testing.TB, dir string, concepts *incident.Concepts) *readable {
	t.Helper()
	ix, err := Open(dir, concepts)
	if err != nil {
		t.Fatal(err)
	}
	return newReadable(ix)
}

func closed(t testing.TB, ix *readable) {
	t.Helper()
	if err := ix.Close(); err != nil {
		t.Error(err)
	}
}

// put commits incidents.
func put(t testing.TB, ix *readable, position string, list ...*incident.Incident) {
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

func found(t testing.TB, ix *readable, query string, o Options) *Result {
	t.Helper()
	r, err := ix.Search(t.Context(), ParseQuery(query), o)
	if err != nil {
		t.Fatalf("Search(%q): %v", query, err)
	}
	return r
}

// matching gives the ids of the incidents that have all that a query asks for,
// in order.
func matching(t testing.TB, ix *readable, query string) []string {
	t.Helper()
	q := ParseQuery(query)
	if q.Empty() {
		return nil
	}
	var ids []string
	err := ix.Read(t.Context(), func(s *State) error {
		ids = nil
		found, err := find(s, &Clause{}, nil)
		if err != nil {
			return err
		}
		for _, c := range q.Wanted() {
			if found, err = find(s, &c, found); err != nil {
				return err
			}
		}
		for _, c := range q.Excluded() {
			out, err := find(s, &c, nil)
			if err != nil {
				return err
			}
			maps.DeleteFunc(found, func(number uint32, _ bool) bool { return out[number] })
		}
		for number := range found {
			ids = append(ids, ix.numbers.CaseID(number))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Read for %q: %v", query, err)
	}
	slices.Sort(ids)
	return ids
}

// find gives what matches a clause, of all where among is nil.
func find(s *State, c *Clause, among numberSet) (numberSet, error) {
	var set Set
	if among != nil {
		set = among
	}
	found := make(numberSet)
	err := s.Find(c, set, func(numbers []uint32) {
		for _, n := range numbers {
			if found[n] {
				panic("an incident was found twice")
			}
			found[n] = true
		}
	})
	return found, err
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
