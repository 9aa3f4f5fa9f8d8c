package library

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"incidentgraph/internal/incident"
)

// decoded reads the whole library.
func decoded(t *testing.T) []*incident.Incident {
	t.Helper()
	records, err := Records()
	if err != nil {
		t.Fatal(err)
	}
	var all []*incident.Incident
	for _, r := range records {
		inc, err := incident.Decode(r.Bytes)
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if want := inc.ID + ".json"; r.Name != want {
			t.Errorf("record %s is in the file %s", inc.ID, r.Name)
		}
		all = append(all, inc)
	}
	return all
}

func TestLibraryIsLarge(t *testing.T) {
	all := decoded(t)
	if len(all) < 80 {
		t.Errorf("%d records, want at least 80", len(all))
	}
	related, recurrences := map[[2]string]bool{}, 0
	parent := map[string]string{}
	for _, inc := range all {
		for _, o := range inc.Related {
			related[[2]string{min(inc.ID, o), max(inc.ID, o)}] = true
		}
		if inc.RecurrenceOf != "" {
			recurrences++
			parent[inc.ID] = inc.RecurrenceOf
		}
	}
	if len(related) < 60 {
		t.Errorf("%d related pairs, want at least 60", len(related))
	}
	if recurrences < 10 {
		t.Errorf("%d recurrence links, want at least 10", recurrences)
	}
	longest := 0
	for id := range parent {
		n := 1
		for ; parent[id] != "" && n <= len(all); id = parent[id] {
			n++
		}
		longest = max(longest, n)
	}
	if longest < 3 {
		t.Errorf("the longest recurrence chain has %d cases, want at least 3", longest)
	}
}

func TestRecordsAreComplete(t *testing.T) {
	concepts, err := Concepts()
	if err != nil {
		t.Fatal(err)
	}
	for _, inc := range decoded(t) {
		texts := map[string]incident.Text{
			"title": inc.Title, "summary": inc.Summary, "symptoms_text": inc.SymptomsText,
			"trigger": inc.Trigger, "detection": inc.Detection, "lessons": inc.Lessons,
		}
		for _, list := range []struct {
			name  string
			texts []incident.Text
		}{{"remediation", inc.Remediation}, {"action_items", inc.ActionItems}} {
			for i, x := range list.texts {
				texts[list.name+string(rune('0'+i))] = x
			}
		}
		for name, text := range texts {
			if len(text) == 0 && name != "title" && name != "summary" {
				continue // the sources say nothing
			}
			var languages []string
			for _, l := range text {
				languages = append(languages, l.Language)
			}
			slices.Sort(languages)
			if !slices.Equal(languages, []string{"en", "ko"}) {
				t.Errorf("%s: %s is in %v, want en and ko", inc.ID, name, languages)
			}
		}
		for v := range incident.Vocabulary(incident.VocabularyCount) {
			for _, value := range inc.Values(v) {
				if concepts.Lookup(incident.Term{Vocabulary: v, Slug: value.Slug}) == nil {
					t.Errorf("%s: %v/%s is not in the vocabulary", inc.ID, v, value.Slug)
				}
				if value.Text != value.Slug {
					t.Errorf("%s: %v is written %q, want the slug %q", inc.ID, v, value.Text, value.Slug)
				}
			}
		}
		if inc.Org == "" || inc.RootCause.Slug == "" || inc.Date.IsZero() || len(inc.Contributing) == 0 || len(inc.Components) == 0 {
			t.Errorf("%s: org, root cause, date, a factor or a component is missing", inc.ID)
		}
		if y := inc.Date.Year(); y < 2003 || y > 2026 {
			t.Errorf("%s: date %v is outside 2003 to 2026", inc.ID, inc.Date)
		}
		if len(inc.Sources) == 0 {
			t.Errorf("%s: no source with an address", inc.ID)
		}
		if inc.Unknown != nil {
			t.Errorf("%s: members that the model does not know: %s", inc.ID, inc.Unknown)
		}
		if inc.Review.Reviewed() || inc.Review.WrittenBy == "" {
			t.Errorf("%s: review = %+v, want written_by and no review", inc.ID, inc.Review)
		}
	}
}

func TestLinksResolveAndFollowTime(t *testing.T) {
	all := decoded(t)
	byID := map[string]*incident.Incident{}
	for _, inc := range all {
		byID[inc.ID] = inc
	}
	for _, inc := range all {
		for _, o := range inc.Related {
			if byID[o] == nil {
				t.Errorf("%s: related %s is not in the library", inc.ID, o)
			}
		}
		parent := byID[inc.RecurrenceOf]
		switch {
		case inc.RecurrenceOf == "":
		case parent == nil:
			t.Errorf("%s: recurrence_of %s is not in the library", inc.ID, inc.RecurrenceOf)
		case parent.OrgSlug != inc.OrgSlug:
			t.Errorf("%s of %s: recurrence of %s of %s", inc.ID, inc.Org, parent.ID, parent.Org)
		case !parent.Date.FirstDay().Before(inc.Date.FirstDay()):
			t.Errorf("%s of %v repeats %s of %v, want an earlier one", inc.ID, inc.Date, parent.ID, parent.Date)
		}
	}
}

// A text that stands in two records was copied, and would make them look alike.
func TestNoLongTextTwice(t *testing.T) {
	const most = 120
	seen := map[string]string{}
	for _, inc := range decoded(t) {
		own := map[string]bool{}
		for _, text := range append(append([]incident.Text{inc.Title, inc.Summary, inc.SymptomsText, inc.Trigger, inc.Detection, inc.Lessons,
			inc.ImpactScope, inc.ImpactUsers}, inc.Remediation...), inc.ActionItems...) {
			for _, l := range text {
				for _, s := range append(strings.Split(l.Text, "\n"), l.Text) {
					if utf8.RuneCountInString(s) > most {
						own[s] = true
					}
				}
			}
		}
		for s := range own {
			if other, ok := seen[s]; ok {
				t.Errorf("%s and %s share the text %.60q…", other, inc.ID, s)
			}
			seen[s] = inc.ID
		}
	}
}

func TestVocabularyIsDescribed(t *testing.T) {
	concepts, err := Concepts()
	if err != nil {
		t.Fatal(err)
	}
	both := func(text incident.Text) bool {
		return len(text) == 2 && text[0].Language == "en" && text[1].Language == "ko"
	}
	for _, c := range concepts.All() {
		if !both(c.PrefLabel) || !both(c.Definition) {
			t.Errorf("%v: label or definition is not in en and ko", c.Term)
		}
		if incident.Slug(c.Term.Slug) != c.Term.Slug {
			t.Errorf("%v: not a slug", c.Term)
		}
	}
}

// Each record has its line in the table of checks, naming one of its sources.
func TestChecksCoverAllRecords(t *testing.T) {
	b, err := os.ReadFile("checks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"record", "source", "read_for", "checked_again"}; len(rows) == 0 || !slices.Equal(rows[0], want) {
		t.Fatalf("checks.tsv has the columns %v, want %v", rows[0], want)
	}
	sources := map[string][]string{}
	for _, row := range rows[1:] {
		if row[3] == "" {
			t.Errorf("%s: not checked again", row[0])
		}
		sources[row[0]] = append(sources[row[0]], row[1])
	}
	for _, inc := range decoded(t) {
		named := slices.ContainsFunc(inc.Sources, func(s incident.Source) bool { return slices.Contains(sources[inc.ID], s.URL) })
		if !named {
			t.Errorf("%s: no line of checks.tsv names one of its sources", inc.ID)
		}
		delete(sources, inc.ID)
	}
	for id := range sources {
		t.Errorf("checks.tsv names %s, which is not in the library", id)
	}
}

func TestJSONLines(t *testing.T) {
	lines, err := JSONLines()
	if err != nil {
		t.Fatal(err)
	}
	records, err := Records()
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Split(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"))
	if len(all) != len(records) {
		t.Fatalf("%d lines, want %d", len(all), len(records))
	}
	for i, line := range all {
		if !json.Valid(line) || !incident.Equal(line, records[i].Bytes) {
			t.Errorf("line %d is not the record %s", i+1, records[i].Name)
		}
	}
}
