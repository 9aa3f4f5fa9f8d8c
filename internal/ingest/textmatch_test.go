package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/index"
	"incidentgraph/internal/search"
	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// spokenWords are what random records and queries are made of. None is a form
// of another one or one of its parts, but for 이터.
var spokenWords = append(slices.Clone(vocabularyOfTitles), "retry", "storm", "재시도", "서비스", "데이터베이스", "이터")

// spoken are the texts of a record as words.
type spoken struct{ title, summary []string }

// speaker makes random changes and knows the texts that they lead to.
type speaker struct {
	*rand.Rand
	t     *testing.T
	log   store.Log
	texts map[string]spoken // by case id
	n     int
}

func newSpeaker(t *testing.T, log store.Log, seed uint64) *speaker {
	return &speaker{Rand: rand.New(rand.NewPCG(seed, 71)), t: t, log: log, texts: make(map[string]spoken)}
}

func (s *speaker) words(most int) []string {
	list := make([]string, s.IntN(most+1))
	for i := range list {
		list[i] = spokenWords[s.IntN(len(spokenWords))]
	}
	return list
}

// write puts and deletes up to n of as many incidents as given, in one commit.
func (s *speaker) write(n, of int) {
	s.t.Helper()
	var ops []store.Op
	for _, i := range s.Perm(of)[:1+s.IntN(n)] {
		id := fmt.Sprintf("C-%d", i)
		if _, ok := s.texts[id]; ok && s.IntN(4) == 0 {
			delete(s.texts, id)
			ops = append(ops, store.Op{Kind: store.Delete, ID: id})
			continue
		}
		text := spoken{s.words(3), s.words(8)}
		s.texts[id] = text
		record, err := json.Marshal(map[string]any{
			"id":      id,
			"title":   map[string]string{"en": strings.Join(text.title, " ")},
			"summary": map[string]string{"ko": strings.Join(text.summary, " ")},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		ops = append(ops, store.Op{Kind: store.Put, ID: id, Record: record})
	}
	s.n++
	head, err := s.log.Head(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	c := store.Change{Time: time.Date(2026, 1, 1, 0, 0, s.n%60, 0, time.UTC), RequestID: fmt.Sprint("speaker-", s.n), Ops: ops}
	if _, err := s.log.Append(s.t.Context(), head, c); err != nil {
		s.t.Fatal(err)
	}
}

// spokenItem is a part of a query.
type spokenItem struct {
	words           []string
	title, excluded bool
}

func (it spokenItem) String() string {
	s := it.words[0]
	if len(it.words) > 1 {
		s = `"` + strings.Join(it.words, " ") + `"`
	}
	if it.title {
		s = "title:" + s
	}
	if it.excluded {
		s = "-" + s
	}
	return s
}

func (s *speaker) query() []spokenItem {
	list := make([]spokenItem, 1+s.IntN(3))
	for i := range list {
		list[i] = spokenItem{title: s.IntN(5) == 0, excluded: s.IntN(5) == 0}
		for range 1 + s.IntN(4)/3 {
			list[i].words = append(list[i].words, spokenWords[s.IntN(len(spokenWords))])
		}
	}
	return list
}

// says tells whether the words stand in a text one after the other. A Korean
// one may be a part of a word, where nothing has to stand beside it.
func says(text, words []string) bool {
	for i := range len(text) - len(words) + 1 {
		found := true
		for j, word := range words {
			have := text[i+j]
			ends := j == 0 && strings.HasSuffix(have, word) || j == len(words)-1 && strings.HasPrefix(have, word)
			inside := len(words) == 1 && word >= "가" && strings.Contains(have, word)
			found = found && (have == word || word >= "가" && ends || inside)
		}
		if found {
			return true
		}
	}
	return false
}

// matching reads all texts.
func (s *speaker) matching(items []spokenItem) []string {
	ids := []string{}
	for id, text := range s.texts {
		if !slices.ContainsFunc(items, func(it spokenItem) bool {
			return (says(text.title, it.words) || !it.title && says(text.summary, it.words)) == it.excluded
		}) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// check asks for a random query with what is kept and with nothing kept.
func (s *speaker) check(v *View) {
	s.t.Helper()
	items := s.query()
	text := strings.Trim(fmt.Sprint(items), "[]")
	q, want := search.ParseQuery(text), s.matching(items)
	here := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return v.Index().Lookup(id) == nil })
	for range 2 { // the second time it is kept
		set, err := v.MatchText(s.t.Context(), text)
		if err != nil {
			s.t.Fatal(err)
		}
		if diff := cmp.Diff(here, caseIDs(v.Index(), set)); diff != "" {
			s.t.Fatalf("change %d: incidents with %s (-read +found):\n%s", s.n, text, diff)
		}
	}
	cold, err := newTextSets(v.text.Index, v.Index().Numbers()).match(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(want, caseIDs(v.Index(), cold)); diff != "" {
		s.t.Fatalf("change %d: with nothing kept: incidents with %s (-read +found):\n%s", s.n, text, diff)
	}
}

func caseIDs(s *index.Snapshot, set index.Set) []string {
	ids := []string{}
	for o := range set.All() {
		ids = append(ids, s.CaseID(o))
	}
	slices.Sort(ids)
	return ids
}

// TestMatchText compares what queries find with what reading all records finds,
// while these change: with what is kept of earlier queries and without, in new
// views and in one that was opened long before.
func TestMatchText(t *testing.T) {
	dir := t.TempDir()
	log, err := boltstore.Open(filepath.Join(dir, "test.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s := newSpeaker(t, log, 1)
	in := withText(t, log, openText(t, filepath.Join(dir, "search")))
	defer func() { closeIngester(t, in) }()
	s.write(100, 150)
	old := viewOf(t, in)
	for round := range 130 {
		switch {
		case round == 120: // more than the text index remembers the ids of
			s.write(1, 1)
			for len(s.texts) < 4500 {
				s.write(2000, 9000)
			}
		case round == 60: // another process
			old.Close()
			closeIngester(t, in)
			in = withText(t, log, openText(t, filepath.Join(dir, "search")))
			old = viewOf(t, in)
		case round%3 == 0:
			s.write(4, 150)
		case round%50 == 1: // queries have to wait for most of the words
			for range 80 {
				s.write(2, 150)
				v := viewOf(t, in)
				if _, err := v.MatchText(t.Context(), "alpha"); err != nil {
					t.Fatal(err)
				}
				v.Close()
			}
		}
		v := viewOf(t, in)
		for range 6 {
			s.check(v)
		}
		s.check(old) // the text index is ahead of it
		v.Close()
	}
	if sets := in.text.sets.Load(); sets.bytes != sets.counted() || sets.bytes < 10_000 {
		t.Errorf("%d bytes are counted, want %d", sets.bytes, sets.counted())
	}
}

// counted adds up what is kept.
func (t *textSets) counted() (n int) {
	for key, e := range t.clauses {
		c := e.Value.(*textClause)
		n += clauseOverhead + len(key) + c.found.Bytes() + c.unknown.Bytes()
	}
	return n
}

// TestTextSetsAreBounded asks for more than may be kept.
func TestTextSetsAreBounded(t *testing.T) {
	log := store.NewMemory()
	s := newSpeaker(t, log, 2)
	s.write(100, 100)
	in := withText(t, log, openText(t, t.TempDir()))
	defer closeIngester(t, in)
	v := viewOf(t, in)
	s.check(v)
	sets := in.text.setsFor(v.state)
	sets.limit = 3000
	for range 300 {
		s.check(v)
		if sets.bytes > sets.limit || sets.bytes != sets.counted() || len(sets.clauses) != sets.recent.Len() {
			t.Fatalf("%d bytes are counted for %d clauses in a list of %d, want %d, at most %d",
				sets.bytes, len(sets.clauses), sets.recent.Len(), sets.counted(), sets.limit)
		}
	}
	if len(sets.clauses) == 0 {
		t.Error("nothing is kept")
	}
}

// TestMatchTextAfterReload replaces the index, and with it all numbers, while
// views of the one before are open.
func TestMatchTextAfterReload(t *testing.T) {
	log := store.NewMemory()
	s := newSpeaker(t, log, 3)
	in := withText(t, log, openText(t, t.TempDir()))
	defer closeIngester(t, in)
	for range 10 { // numbers in an order that no load gives
		s.write(10, 50)
		s.check(viewOf(t, in))
	}
	old := viewOf(t, in)
	if err := in.open(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	v := viewOf(t, in)
	if old.Index().Numbers() == v.Index().Numbers() {
		t.Fatal("the numbers are the same, want others")
	}
	for range 50 {
		s.check(v)
		s.check(old)
	}
	if in.text.sets.Load().numbers != v.Index().Numbers() {
		t.Error("what is kept is of the index before")
	}
}

// TestMatchTextOfOneState asks while records change. Each of them has alpha and
// bravo or charlie and delta, so that no answer may have only half a pair.
func TestMatchTextOfOneState(t *testing.T) {
	log := store.NewMemory()
	in := withText(t, log, openText(t, t.TempDir()))
	defer closeIngester(t, in)
	const incidents = 40
	put := func(r *rand.Rand, i int) store.Op {
		title := []string{"alpha bravo", "charlie delta"}[r.IntN(2)]
		return store.Op{Kind: store.Put, ID: fmt.Sprintf("C-%d", i), Record: fmt.Appendf(nil, `{"id":"C-%d","title":{"en":%q}}`, i, title)}
	}
	r := rand.New(rand.NewPCG(4, 4))
	var all []store.Op
	for i := range incidents {
		all = append(all, put(r, i))
	}
	appended(t, log, all...)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for reader := range 3 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(reader)))
			queries := []string{"alpha -bravo", "bravo -alpha", "alpha charlie", `"alpha bravo" delta`, `-alpha -"charlie delta"`, `"charlie delta" -charlie`}
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				query := queries[r.IntN(len(queries))]
				if set, err := matchText(t, in, query); err != nil || set.Len() > 0 {
					t.Errorf("MatchText(%s) = %d incidents, %v, want none", query, set.Len(), err)
					return
				}
				if n%16 == 0 {
					sets := in.text.sets.Load()
					sets.mu.Lock()
					sets.forget()
					sets.mu.Unlock()
				}
			}
		})
	}
	for range 150 {
		ops := make(map[string]store.Op)
		for range 1 + r.IntN(8) {
			op := put(r, r.IntN(incidents))
			ops[op.ID] = op
		}
		appended(t, log, slices.Collect(maps.Values(ops))...)
		if _, err := matchText(t, in, "alpha"); err != nil { // the text index follows
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}

// matchText asks in a view of its own.
func matchText(t *testing.T, in *Ingester, query string) (index.Set, error) {
	v, err := in.View(t.Context())
	if err != nil {
		return index.Set{}, err
	}
	defer v.Close()
	return v.MatchText(t.Context(), query)
}

// TestMatchTextAgain lets another query of a newer state get in between.
func TestMatchTextAgain(t *testing.T) {
	log := store.NewMemory()
	in := withText(t, log, openText(t, t.TempDir()))
	defer closeIngester(t, in)
	appended(t, log, put("A-0", `{"id":"A-0","title":{"en":"alpha bravo"}}`), put("A-1", `{"id":"A-1","title":{"en":"alpha"}}`))
	alpha, both := search.ParseQuery("alpha"), search.ParseQuery("alpha bravo")
	if set, err := matchText(t, in, "bravo"); err != nil || set.Len() != 1 {
		t.Fatalf("MatchText(bravo) = %d incidents, %v, want one", set.Len(), err)
	}
	sets := in.text.sets.Load()
	// turn swaps bravo between the two incidents.
	at := 0
	turn := func() {
		at = 1 - at
		appended(t, log,
			put("A-0", fmt.Sprintf(`{"id":"A-0","title":{"en":"alpha%s"}}`, []string{" bravo", ""}[at])),
			put("A-1", fmt.Sprintf(`{"id":"A-1","title":{"en":"alpha%s"}}`, []string{"", " bravo"}[at])))
	}
	// newer asks in a newer state.
	newer := func() {
		turn()
		if set, err := matchText(t, in, "bravo"); err != nil || set.Len() != 1 {
			t.Fatalf("MatchText(bravo) = %d incidents, %v, want one", set.Len(), err)
		}
	}
	forget := func() {
		sets.mu.Lock()
		defer sets.mu.Unlock()
		sets.forget()
	}
	for _, tt := range []struct {
		name  string
		tries int
		ask   func(s *search.State, first bool) (index.Set, error)
	}{
		{"before it looks at what is kept", 2, func(s *search.State, first bool) (index.Set, error) {
			if first {
				newer()
			}
			return sets.at(s).query(both)
		}},
		{"between two looks", 2, func(s *search.State, first bool) (index.Set, error) {
			m := sets.at(s)
			if _, err := m.query(alpha); err != nil {
				return index.Set{}, err
			}
			if first {
				newer()
			}
			return m.query(both)
		}},
		{"and all is forgotten", 1, func(s *search.State, first bool) (index.Set, error) {
			forget()
			m := sets.at(s)
			if _, err := m.query(both); err != nil { // whose documents are at hand now
				return index.Set{}, err
			}
			newer()
			forget()
			return m.query(both) // is kept, and is of a state before
		}},
	} {
		tries := 0
		err := sets.reader.Read(t.Context(), func(s *search.State) error {
			tries++
			set, err := tt.ask(s, tries == 1)
			if err == nil && set.Len() != 1 {
				t.Errorf("%s: %d incidents found, want one", tt.name, set.Len())
			}
			return err
		})
		if err != nil || tries != tt.tries {
			t.Errorf("%s: Read = %v after %d tries, want %d", tt.name, err, tries, tt.tries)
		}
		v := viewOf(t, in)
		set, err := v.MatchText(t.Context(), "alpha bravo")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{fmt.Sprint("A-", at)}, caseIDs(v.Index(), set)); diff != "" {
			t.Errorf("%s: afterwards (-want +got):\n%s", tt.name, diff)
		}
	}
}
