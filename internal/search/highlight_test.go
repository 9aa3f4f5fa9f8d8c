package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"incidentgraph/internal/incident"
)

// marked writes a highlight as `title en: ...[word]...`.
func marked(h Highlight) string {
	runes := []rune(h.Fragment)
	var b strings.Builder
	at := 0
	for _, r := range h.Ranges {
		b.WriteString(string(runes[at:r.Start]) + "[" + string(runes[r.Start:r.End]) + "]")
		at = r.End
	}
	return fmt.Sprintf("%v %s: %s%s", h.Field, h.Language, b.String(), string(runes[at:]))
}

func TestHighlight(t *testing.T) {
	ix := memory(t, concepts(t, "Storm of retries"))
	inc := &incident.Incident{
		ID: "A-1", Org: "Example Cloud", OrgSlug: "example-cloud",
		Title:        bilingual("Metadata service overloaded in us-east-1", "메타데이터 서비스에 재시도가 몰렸다"),
		Summary:      bilingual("Clients retried.\nAmazon's retries\tfilled the queues & <b>more</b>.", "DynamoDB의 오류율이 55%까지 올랐다. 큐가 찼다."),
		ImpactRegion: "Zürich",
		Contributing: values("retry-storm"),
	}
	for _, tt := range []struct {
		query     string
		languages []string
		want      []string
	}{
		{"retry", nil, []string{
			"summary en: Clients [retried]. Amazon's [retries] filled the queues & <b>more</b>.",
			"factor en: Storm of [retries]",
			"factor und: [retry]-storm",
		}},
		{"metadata us-east-1", nil, []string{"title en: [Metadata] service overloaded in [us-east-1]"}},
		{`"service overloaded"`, nil, []string{"title en: Metadata [service overloaded] in us-east-1"}},
		{"메타데이터 재시도", nil, []string{"title ko: [메타데이터] 서비스에 [재시도]가 몰렸다", "factor ko: [재시도] 폭풍"}},
		{"재시도 폭풍", nil, []string{"factor ko: [재시도] [폭풍]", "title ko: 메타데이터 서비스에 [재시도]가 몰렸다"}},
		{"데이터 이터", nil, []string{"title ko: 메타[데이터] 서비스에 재시도가 몰렸다"}},
		{"오류율", nil, []string{"summary ko: DynamoDB의 [오류율]이 55%까지 올랐다. 큐가 찼다."}},
		{"dynamodb의", nil, []string{"summary ko: [DynamoDB]의 오류율이 55%까지 올랐다. 큐가 찼다."}},
		{"큐", nil, []string{"summary ko: DynamoDB의 오류율이 55%까지 올랐다. [큐]가 찼다."}},
		{"zürich", nil, []string{"impact und: [Zürich]"}},
		{"title:service", nil, []string{"title en: Metadata [service] overloaded in us-east-1"}},
		{"org:service", nil, nil},
		{"a-1", nil, []string{"id und: [A-1]"}},
		{"overloaded 몰렸다", []string{"ko", "en"}, []string{
			"title ko: 메타데이터 서비스에 재시도가 [몰렸다]", "title en: Metadata service [overloaded] in us-east-1",
		}},
		{"overloaded 몰렸다", []string{"en"}, []string{
			"title en: Metadata service [overloaded] in us-east-1", "title ko: 메타데이터 서비스에 재시도가 [몰렸다]",
		}},
		// a partial hit
		{"오류율을 zebra", nil, []string{"summary ko: DynamoDB의 [오류율]이 55%까지 올랐다. 큐가 찼다."}},
		{"us-west-1", nil, []string{"title en: Metadata service overloaded in [us]-east-[1]", "id und: A-[1]"}},
		{"-service", nil, nil},
		{"", nil, nil},
	} {
		var got []string
		for _, h := range ix.Highlight(inc, ParseQuery(tt.query), tt.languages...) {
			got = append(got, marked(h))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Highlight(%q) (-want +got):\n%s", tt.query, diff)
		}
	}
	h, ok := ix.HighlightText(ParseQuery("cloud"), Org, "und", "Example Cloud")
	if want := "org und: Example [Cloud]"; !ok || marked(h) != want {
		t.Errorf("HighlightText(cloud) = %s, %v, want %s", marked(h), ok, want)
	}
	if _, ok := ix.HighlightText(ParseQuery("title:cloud"), Org, "und", "Example Cloud"); ok {
		t.Error("HighlightText(title:cloud) in an org = true, want false")
	}
}

// TestHighlightFragment checks where a fragment is cut out of a long text.
func TestHighlightFragment(t *testing.T) {
	ix := memory(t, nil)
	filler := strings.Repeat("lorem ipsum ", 50)
	for _, tt := range []struct{ name, text, query, want string }{
		{"the sentence it stands in", filler + ". The leap was long. " + filler, "leap",
			"title : The [leap] was long. lorem ipsum"},
		{"a word where the sentence is long", filler + "leap " + filler, "leap",
			"title : ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum [leap]"},
		{"the beginning", "leap " + filler, "leap", "title : [leap] lorem"},
		{"the end", filler + "leap", "leap", "title : ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum [leap]"},
		{"most of the words", "leap " + filler + "a second leap " + filler, "leap second",
			"title : ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum a [second] [leap] lorem"},
		{"no blank anywhere", strings.Repeat("x", 500) + "장애" + strings.Repeat("x", 500), "장애",
			"title : " + strings.Repeat("x", 80) + "[장애]x"},
	} {
		h, ok := ix.HighlightText(ParseQuery(tt.query), Title, "", tt.text)
		if got := marked(h); !ok || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want it to begin with %q", tt.name, got, tt.want)
		}
		if n := utf8.RuneCountInString(h.Fragment); n > fragmentLength {
			t.Errorf("%s: fragment of %d code points, want at most %d", tt.name, n, fragmentLength)
		}
	}
	long := strings.Repeat("가", 400)
	h, _ := ix.HighlightText(ParseQuery(strings.Repeat("가", 250)), Title, "", "x "+long)
	if len(h.Ranges) != 1 || h.Ranges[0].End-h.Ranges[0].Start < 250 {
		t.Errorf("a range longer than a fragment: %v, want it whole", h.Ranges)
	}
}

// checkHighlight checks what every highlight of a text promises: the fragment
// is part of the text, the ranges lie in it, apart and ascending, and what
// stands there, analysed for itself, begins and ends with a word asked for.
func checkHighlight(t *testing.T, q Query, text string, h Highlight) {
	t.Helper()
	line := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if !strings.Contains(line, h.Fragment) {
		t.Fatalf("fragment %q is not in %q", h.Fragment, text)
	}
	wanted := make(map[string]bool)
	for _, list := range [][]Clause{q.strict, q.loose} {
		for _, c := range list {
			for _, term := range c.terms {
				wanted[term.term] = true
			}
		}
	}
	runes := []rune(h.Fragment)
	end := -1
	if len(h.Ranges) == 0 {
		t.Fatalf("no range in %q", h.Fragment)
	}
	for _, r := range h.Ranges {
		if r.Start <= end || r.End <= r.Start || r.End > len(runes) {
			t.Fatalf("ranges %v of a fragment of %d code points", h.Ranges, len(runes))
		}
		end = r.End
		if word := string(runes[r.Start:r.End]); !isWanted(word, wanted) {
			t.Fatalf("range %q of %q for terms %v", word, h.Fragment, wanted)
		}
	}
}

// isWanted tells whether text begins and ends with a wanted token. One code
// point may be several characters (½ is 1⁄2): then one token has to be wanted.
func isWanted(text string, wanted map[string]bool) bool {
	tokens := oracleTokens(text)
	if !norm.NFKC.IsNormalString(text) {
		return slices.ContainsFunc(tokens, func(t oracleToken) bool { return wanted[t.term] })
	}
	last := len(tokens) - 1
	return last >= 0 && wanted[tokens[last].term] && (wanted[tokens[0].term] || wanted[tokens[min(1, last)].term])
}

// TestHighlightHits compares search and highlighting, which find words in
// different ways: what an incident has of a query is the same for both.
func TestHighlightHits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := libraryConcepts(t)
	ix := memory(t, c)
	all := make(map[string]*incident.Incident)
	var list []*incident.Incident
	for i := range 80 {
		inc := randomIncident(r, fmt.Sprintf("IL-%d", i), []string{c.All()[0].Term.Slug, "큐 폭풍"})
		all[inc.ID] = inc
		list = append(list, inc)
	}
	put(t, ix, "x", list...)
	for range 500 {
		items, _ := randomQuery(r)
		query := ""
		for _, it := range items {
			it.excluded = false
			query += it.String() + " "
		}
		q := ParseQuery(query)
		ids := matching(t, ix, query)
		for id, inc := range all {
			m := newMarker(q, newAnalyzer())
			byText := make(map[string]string)
			texts(inc, c, func(f Field, language, text string) {
				byText[f.String()+language+text] = text
				m.read(f, language, text)
			})
			if got, want := m.mark(q.strict), slices.Contains(ids, id); got != want {
				t.Fatalf("all of %q marked in %s: %v, want %v as in the search", query, id, got, want)
			}
			for _, h := range ix.Highlight(inc, q) {
				checkHighlight(t, q, textOf(t, inc, c, h), h)
			}
		}
	}
}

// textOf finds the text that a highlight is of.
func textOf(t *testing.T, inc *incident.Incident, c *incident.Concepts, h Highlight) string {
	t.Helper()
	var all strings.Builder
	texts(inc, c, func(f Field, language, text string) {
		if f == h.Field && language == h.Language {
			all.WriteString(text + "\x00")
		}
	})
	return all.String()
}

func FuzzHighlight(f *testing.F) {
	for _, s := range [][2]string{
		{"The retries of us-east-1", "retry us-east-1"}, {"메타데이터 서비스", "데이터 \"서비스\""}, {"ﬁre ㈜ e\u0301 ½", "fire 주 é 1"},
		{strings.Repeat("lorem ipsum ", 60) + "leap", "leap"}, {"a\nb\tc\u2028d", `"a b c d"`}, {"큐가", "큐"}, {"data", "-data"}, {"ー ー", "ー"},
		{"5.0.1", "5.0.1"}, {"\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		text = strings.ToValidUTF8(text, "")
		q := ParseQuery(query)
		m := newMarker(q, newAnalyzer())
		m.read(Title, "en", text)
		for _, h := range m.highlights(nil) {
			checkHighlight(t, q, text, h)
		}
	})
}
