package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

// oracleWord is a word of the random corpora and queries: what a query with it
// looks for, and for what instead where that finds too little.
type oracleWord struct {
	text, same string
	loose      []string
}

var oracleWords = func() []oracleWord {
	list := []oracleWord{
		{"DynamoDB의", "DynamoDB", []string{"DynamoDB"}},
		{"API를", "API", []string{"API"}},
		{"서버에서", "", []string{"서버"}},
		{"서버가", "", []string{"서버"}},
		{"재시도", "", []string{"재시"}},
		{"재시도를", "", []string{"재시도"}},
		{"메타데이터는", "", []string{"메타데이터"}},
		{"us-east-1", "", []string{"us", "east", "1"}},
		{"retry-storm", "", []string{"retry", "storm"}},
		{"max_connections", "", []string{"max", "connections"}},
		{"API호출", "", []string{"API", "호출"}},
	}
	for _, plain := range strings.Fields("outage outages storm retry retries us east 1 5.0.1 5.0 Amazon's leap second " +
		"서버 서비스 데이터베이스 데이터 이터 터베 메타데이터 시도 폭풍 큐 큐가 값을 장애 오류율 障害 の サーバー 火災 云故障") {
		list = append(list, oracleWord{text: plain})
	}
	for i, w := range list {
		if w.same == "" {
			list[i].same = w.text
		}
		if w.loose == nil {
			list[i].loose = []string{list[i].same}
		}
	}
	return list
}()

// oracleItem is one item of a random query.
type oracleItem struct {
	field            Field
	quoted, excluded bool
	words            []oracleWord
}

func (it oracleItem) String() string {
	var b strings.Builder
	if it.excluded {
		b.WriteByte('-')
	}
	if it.field != AnyField {
		b.WriteString(it.field.String() + ":")
	}
	if !it.quoted {
		return b.String() + it.words[0].text
	}
	return b.String() + `"` + it.text() + `"`
}

// text is what the item looks for.
func (it oracleItem) text() string {
	if !it.quoted {
		return it.words[0].same
	}
	var words []string
	for _, w := range it.words {
		words = append(words, w.text)
	}
	return strings.Join(words, " ")
}

// required tells whether a wider search must find the item too.
func (it oracleItem) required() bool { return it.quoted || it.field != AnyField }

// oracleText is a text as tokens.
type oracleText struct {
	field  Field
	tokens []oracleToken
}

type oracleToken struct {
	term  string
	at    int
	extra bool
}

func oracleTokens(text string) []oracleToken {
	var list []oracleToken
	newAnalyzer().analyze(text, func(t token) { list = append(list, oracleToken{string(t.term), t.at, t.extra}) })
	return list
}

// stands tells whether the words of text stand side by side in one of the
// texts: all their tokens one after the other, at the same distances. The last
// one may be a syllable before a particle.
func stands(texts []oracleText, f Field, text string) bool {
	want := slices.DeleteFunc(oracleTokens(text), func(t oracleToken) bool { return t.extra })
	last := len(want) - 1
	for _, t := range texts {
		if f != AnyField && f != t.field {
			continue
		}
		have := slices.DeleteFunc(slices.Clone(t.tokens), func(t oracleToken) bool { return t.extra })
		for _, end := range t.tokens {
			i, _ := slices.BinarySearchFunc(have, end.at, func(t oracleToken, at int) int { return t.at - at })
			if end.term == want[last].term && i >= last && slices.EqualFunc(want[:last], have[i-last:i], func(w, h oracleToken) bool {
				return w.term == h.term && want[last].at-w.at == end.at-h.at
			}) {
				return true
			}
		}
	}
	return false
}

// oracle answers by reading everything.
type oracle struct {
	incidents map[string][]oracleText
	names     map[string]oracleForm // by id of the form
}

type oracleForm struct {
	name  name
	texts []oracleText
}

func newOracle(incidents map[string]*incident.Incident, concepts *incident.Concepts) *oracle {
	o := &oracle{incidents: make(map[string][]oracleText), names: make(map[string]oracleForm)}
	add := func(list []form) {
		for _, f := range list {
			kind, term := named(f.id)
			o.names[f.id] = oracleForm{name{kind, term}, []oracleText{{f.field, oracleTokens(f.text)}}}
		}
	}
	for id, inc := range incidents {
		texts(inc, concepts, func(f Field, _, text string) {
			o.incidents[id] = append(o.incidents[id], oracleText{f, oracleTokens(text)})
		})
		add(forms(inc))
	}
	add(labelForms(concepts))
	return o
}

// oracleAnswer holds the ids of the incidents and the names found.
type oracleAnswer struct {
	Strict, Partial []string
	Names           []string
}

func (o *oracle) search(items []oracleItem, q Query, incidentsOnly bool) oracleAnswer {
	var a oracleAnswer
	strictNames := make(map[name]bool)
	wanted := slices.ContainsFunc(items, func(it oracleItem) bool { return !it.excluded })
	for id, texts := range o.incidents {
		if all(texts, items) {
			a.Strict = append(a.Strict, id)
		}
	}
	if !incidentsOnly && wanted {
		for _, f := range o.names {
			if all(f.texts, items) {
				strictNames[f.name] = true
			}
		}
	}
	names := strictNames
	if relaxable(items) && len(a.Strict)+len(strictNames) < tooFew {
		names = o.relax(items, q, incidentsOnly, &a, strictNames)
	}
	for n := range names {
		a.Names = append(a.Names, fmt.Sprint(n.kind, " ", n.Term))
	}
	slices.Sort(a.Strict)
	slices.Sort(a.Partial)
	slices.Sort(a.Names)
	return a
}

// all tells whether the texts have all that the items want and nothing that
// they exclude.
func all(texts []oracleText, items []oracleItem) bool {
	for _, it := range items {
		if stands(texts, it.field, it.text()) == it.excluded {
			return false
		}
	}
	return true
}

func relaxable(items []oracleItem) bool {
	positive, optional, changed := 0, false, false
	for _, it := range items {
		if it.excluded {
			continue
		}
		positive++
		if !it.required() {
			optional = true
			changed = changed || !slices.Equal(it.words[0].loose, []string{it.words[0].same})
		}
	}
	return changed || optional && positive > 1
}

// relax adds the partial hits of a wider search.
func (o *oracle) relax(items []oracleItem, q Query, incidentsOnly bool, a *oracleAnswer, strict map[name]bool) map[name]bool {
	var loose []oracleItem
	for _, it := range items {
		switch {
		case it.excluded:
		case it.required():
			loose = append(loose, it)
		default:
			for _, text := range it.words[0].loose {
				loose = append(loose, oracleItem{words: []oracleWord{{text: text, same: text}}})
			}
		}
	}
	var weights []float64
	met, sum := 0, 0.0
	for _, c := range q.loose {
		df := o.withTerms(c)
		w := math.Log(1 + (float64(len(o.incidents)-df)+0.5)/(float64(df)+0.5))
		weights = append(weights, w)
		if df > 0 {
			met++
			sum += w
		}
	}
	least := sum / float64(max(1, met)) * (1 - 1e-9)
	if slices.ContainsFunc(loose, oracleItem.required) {
		least = 0
	}
	partial := func(texts []oracleText) bool {
		matched, hits := 0.0, 0
		for i, it := range loose {
			switch found := stands(texts, it.field, it.text()); {
			case found:
				hits++
				matched += weights[i]
			case it.required():
				return false
			}
		}
		excluded := slices.ContainsFunc(items, func(it oracleItem) bool { return it.excluded && stands(texts, it.field, it.text()) })
		return hits > 0 && matched >= least && !excluded
	}
	for id, texts := range o.incidents {
		if !slices.Contains(a.Strict, id) && partial(texts) {
			a.Partial = append(a.Partial, id)
		}
	}
	names := make(map[name]bool)
	for _, f := range o.names {
		if strict[f.name] || !incidentsOnly && partial(f.texts) {
			names[f.name] = true
		}
	}
	return names
}

// withTerms counts the incidents with all terms of a clause anywhere.
func (o *oracle) withTerms(c Clause) int {
	n := 0
	for _, texts := range o.incidents {
		missing := slices.ContainsFunc(c.terms, func(t placedTerm) bool {
			return !slices.ContainsFunc(texts, func(text oracleText) bool {
				return slices.ContainsFunc(text.tokens, func(have oracleToken) bool { return have.term == t.term })
			})
		})
		if !missing {
			n++
		}
	}
	return n
}

// randomText strings words together as writers do.
func randomText(r *rand.Rand, maximum int) string {
	var b strings.Builder
	for range r.IntN(maximum + 1) {
		b.WriteString(oracleWords[r.IntN(len(oracleWords))].text)
		b.WriteString([]string{" ", " ", " ", ", ", ". ", "\n", "-"}[r.IntN(7)])
	}
	return b.String()
}

func randomIncident(r *rand.Rand, id string, slugs []string) *incident.Incident {
	inc := &incident.Incident{
		ID:      id,
		Title:   bilingual(randomText(r, 4), randomText(r, 3)),
		Summary: inEnglish(randomText(r, 10)),
		Lessons: inEnglish(randomText(r, 3)),
	}
	if r.IntN(3) > 0 {
		inc.Org = []string{"Amazon Web Services", "amazon web  services", "서버 Inc", "큐", "!"}[r.IntN(5)]
		inc.OrgSlug = incident.Slug(inc.Org)
	}
	for range r.IntN(3) {
		inc.ActionItems = append(inc.ActionItems, inEnglish(randomText(r, 3)))
		inc.Contributing = append(inc.Contributing, values(slugs[r.IntN(len(slugs))])...)
		inc.Components = append(inc.Components, values(randomText(r, 2)+"x")...)
	}
	return inc
}

func randomQuery(r *rand.Rand) (items []oracleItem, written string) {
	fields := []Field{Title, Summary, Action, Org, Factor, Component, ID}
	for range 1 + r.IntN(3) {
		it := oracleItem{quoted: r.IntN(4) == 0, excluded: r.IntN(6) == 0}
		if r.IntN(5) == 0 {
			it.field = fields[r.IntN(len(fields))]
		}
		n := 1
		if it.quoted {
			n += r.IntN(3)
		}
		for range n {
			it.words = append(it.words, oracleWords[r.IntN(len(oracleWords))])
		}
		items = append(items, it)
		written += it.String() + " "
	}
	return items, written
}

// TestSearchOracle compares an index that has grown and shrunk by many commits,
// in memory and on disk, with one made at once and with the oracle.
func TestSearchOracle(t *testing.T) {
	concepts := libraryConcepts(t)
	slugs := []string{"no-capacity-planning", "something else", "큐 폭풍"}
	for _, c := range concepts.All()[:5] {
		slugs = append(slugs, c.Term.Slug)
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		grown, disk := memory(t, concepts), opened(t, t.TempDir(), concepts)
		defer closed(t, disk)
		live := make(map[string]*incident.Incident)
		for range 40 {
			inMemory, onDisk := grown.NewBatch(), disk.NewBatch()
			for range 1 + r.IntN(6) {
				id := fmt.Sprintf("IL-%d", r.IntN(60))
				if r.IntN(4) == 0 {
					delete(live, id)
					inMemory.Delete(id)
					onDisk.Delete(id)
					continue
				}
				live[id] = randomIncident(r, id, slugs)
				inMemory.Put(live[id])
				onDisk.Put(live[id])
			}
			commit(t, inMemory, "x")
			commit(t, onDisk, "x")
		}
		once := memory(t, concepts)
		var list []*incident.Incident
		for _, inc := range live {
			list = append(list, inc)
		}
		put(t, once, "x", list...)
		o := newOracle(live, concepts)
		for range 200 {
			items, query := randomQuery(r)
			compareWithOracle(t, o, items, query, once, grown, disk)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func compareWithOracle(t *testing.T, o *oracle, items []oracleItem, query string, indexes ...*readable) {
	t.Helper()
	for _, incidentsOnly := range []bool{false, true} {
		options := Options{First: 1000, IncidentsOnly: incidentsOnly}
		want := found(t, indexes[0], query, options)
		expected := o.search(items, ParseQuery(query), incidentsOnly)
		if diff := cmp.Diff(expected, answerOf(want)); diff != "" {
			t.Errorf("Search(%q) (-oracle +got):\n%s", query, diff)
		}
		if want.Total != len(want.Hits) || want.More || want.Relaxed != slices.ContainsFunc(want.Hits, func(h Hit) bool { return h.Partial }) {
			t.Errorf("Search(%q) = %d of %d hits, more %v, relaxed %v", query, len(want.Hits), want.Total, want.More, want.Relaxed)
		}
		if !slices.IsSortedFunc(want.Hits, Hit.compare) {
			t.Errorf("Search(%q) is not sorted: %v", query, want.Hits)
		}
		for i, ix := range indexes[1:] {
			if diff := cmp.Diff(want, found(t, ix, query, options)); diff != "" {
				t.Errorf("Search(%q) in index %d (-made at once +grown):\n%s", query, i+1, diff)
			}
		}
		if diff := cmp.Diff(expected.Strict, matching(t, indexes[1], query)); diff != "" {
			t.Errorf("matching(%q) (-oracle +got):\n%s", query, diff)
		}
	}
}

func answerOf(r *Result) oracleAnswer {
	var a oracleAnswer
	for _, h := range r.Hits {
		switch {
		case h.Kind != KindIncident:
			a.Names = append(a.Names, fmt.Sprint(h.Kind, " ", h.Term()))
		case h.Partial:
			a.Partial = append(a.Partial, h.ID)
		default:
			a.Strict = append(a.Strict, h.ID)
		}
	}
	slices.Sort(a.Strict)
	slices.Sort(a.Partial)
	slices.Sort(a.Names)
	return a
}
