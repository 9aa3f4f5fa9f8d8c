package incident

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someConcepts = `{"version":1,"note":"ignored","terms":[
  {"scheme":"FACTOR","slug":"retry-storm","label":{"en":"Retry storm","ko":"재시도 폭풍"},"definition":"Many retries.",
   "origin":"seed","mappings":[{"taxonomy":"T","code":"c 1","match":"EXACT"},{"taxonomy":"T","code":"c 2","match":"NARROW"}],
   "cues":{"en":["retr"],"ko":["재시도",""]},"broader":"overload"},
  {"scheme":"CONTRIBUTING_FACTOR","slug":"overload","label":null,"broader":null},
  {"scheme":"COMPONENT","slug":"overload"}]}`

func TestDecodeConcepts(t *testing.T) {
	got, err := DecodeConcepts([]byte(someConcepts))
	if err != nil {
		t.Fatalf("DecodeConcepts = %v", err)
	}
	want := []Concept{
		{Term: Term{ContributingFactor, "retry-storm"}, PrefLabel: Text{{"en", "Retry storm"}, {"ko", "재시도 폭풍"}},
			Definition: Text{{"und", "Many retries."}}, Broader: "overload",
			Mappings: []Mapping{{"T", "c 1", ExactMatch}, {"T", "c 2", NarrowMatch}},
			Cues:     []Cue{{"en", "retr"}, {"ko", "재시도"}}},
		{Term: Term{ContributingFactor, "overload"}},
		{Term: Term{Component, "overload"}},
	}
	if diff := cmp.Diff(want, got.All()); diff != "" {
		t.Errorf("DecodeConcepts differs (-want +got):\n%s", diff)
	}
	if c := got.Lookup(Term{Component, "overload"}); c != &got.All()[2] {
		t.Errorf("Lookup(COMPONENT/overload) = %v, want the third", c)
	}
	if c := got.Lookup(Term{Symptom, "overload"}); c != nil {
		t.Errorf("Lookup(SYMPTOM/overload) = %v, want nil", c)
	}
	var none *Concepts
	if none.All() != nil || none.Lookup(Term{}) != nil {
		t.Error("a nil *Concepts has concepts")
	}
}

func TestDecodeConceptsRefuses(t *testing.T) {
	terms := func(list string) string { return `{"version":1,"terms":[` + list + `]}` }
	for _, tt := range []struct {
		raw, path string
		code      Code
	}{
		{`{`, "", NotJSON},
		{`[]`, "", NotAnObject},
		{`{"terms":[]}`, "", InvalidValue},
		{`{"version":2,"terms":[]}`, "version", InvalidValue},
		{`{"version":"1","terms":[]}`, "version", InvalidValue},
		{`{"version":1,"terms":{}}`, "terms", WrongType},
		{terms(`null`), "terms[0]", WrongType},
		{terms(`{"scheme":"COLOUR","slug":"a"}`), "terms[0]", InvalidValue},
		{terms(`{"slug":"a"}`), "terms[0]", InvalidValue},
		{terms(`{"scheme":"FACTOR"}`), "terms[0]", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"A b"}`), "terms[0].slug", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a"},{"scheme":"CONTRIBUTING_FACTOR","slug":"a"}`), "terms[1]", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a","broader":"b"},{"scheme":"SYMPTOM","slug":"b"}`), "terms[0].broader", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a","broader":"a"}`), "terms[0].broader", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"x","broader":"a"},{"scheme":"FACTOR","slug":"a","broader":"b"},` +
			`{"scheme":"FACTOR","slug":"b","broader":"a"}`), "terms[1].broader", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a","mappings":[{"taxonomy":"t","code":"c","match":"SAME"}]}`), "terms[0].mappings[0]", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a","mappings":[{"code":"c","match":"EXACT"}]}`), "terms[0].mappings[0]", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a","mappings":["EXACT"]}`), "terms[0].mappings[0]", WrongType},
		{terms(`{"scheme":"FACTOR","slug":"a","cues":{"en_US":[]}}`), "terms[0].cues.en_US", InvalidValue},
		{terms(`{"scheme":"FACTOR","slug":"a","cues":{"en":[1]}}`), "terms[0].cues.en[0]", WrongType},
		{terms(`{"scheme":"FACTOR","slug":"a","label":7}`), "terms[0].label", WrongType},
	} {
		_, err := DecodeConcepts([]byte(tt.raw))
		var e *Error
		if !errors.As(err, &e) || e.Code != tt.code || PathString(e.Path) != tt.path {
			t.Errorf("DecodeConcepts(%s) = %v, want %s at %q", tt.raw, err, tt.code, tt.path)
		}
	}
}

func TestDecodeConceptsLongChain(t *testing.T) {
	var b strings.Builder
	const n = 20000
	for i := range n {
		fmt.Fprintf(&b, `{"scheme":"DOMAIN","slug":"d%d","broader":"d%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `{"scheme":"DOMAIN","slug":"d%d"}`, n)
	if _, err := DecodeConcepts([]byte(`{"version":1,"terms":[` + b.String() + `]}`)); err != nil {
		t.Errorf("DecodeConcepts of a chain of %d = %v", n, err)
	}
}

func TestMerge(t *testing.T) {
	decode := func(terms string) *Concepts {
		t.Helper()
		c, err := DecodeConcepts([]byte(`{"version":1,"terms":[` + terms + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := decode(`{"scheme":"DOMAIN","slug":"a","broader":"b"},{"scheme":"DOMAIN","slug":"b"}`)
	more := decode(`{"scheme":"DOMAIN","slug":"c"},{"scheme":"DOMAIN","slug":"a","label":"A"}`)
	got, err := Merge(base, more)
	if err != nil {
		t.Fatalf("Merge = %v", err)
	}
	want := []Concept{{Term: Term{Domain, "a"}, PrefLabel: Text{{"und", "A"}}}, {Term: Term{Domain, "b"}}, {Term: Term{Domain, "c"}}}
	if diff := cmp.Diff(want, got.All()); diff != "" {
		t.Errorf("Merge differs (-want +got):\n%s", diff)
	}
	if base.All()[0].Broader != "b" {
		t.Error("Merge changed base")
	}
	for _, tt := range [][2]*Concepts{{nil, base}, {base, nil}} {
		got, err := Merge(tt[0], tt[1])
		if err != nil || len(got.All()) != 2 || got.Lookup(Term{Domain, "b"}) == nil {
			t.Errorf("Merge with nil = %v, %v, want the concepts of the other", got, err)
		}
	}
	cyclic := decode(`{"scheme":"DOMAIN","slug":"b","broader":"a"},{"scheme":"DOMAIN","slug":"a"}`)
	twoWay := decode(`{"scheme":"DOMAIN","slug":"a","broader":"c"},{"scheme":"DOMAIN","slug":"c"}`)
	if _, err := Merge(cyclic, twoWay); err != nil {
		t.Errorf("Merge of a chain = %v", err)
	}
	back := decode(`{"scheme":"DOMAIN","slug":"b","broader":"x"},{"scheme":"DOMAIN","slug":"x"}`)
	withX, err := Merge(base, back) // a -> b -> x
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(withX, decode(`{"scheme":"DOMAIN","slug":"x","broader":"a"},{"scheme":"DOMAIN","slug":"a","broader":null}`)); err != nil {
		t.Errorf("Merge that cuts the chain = %v", err)
	}
	onlyX := &Concepts{list: []Concept{{Term: Term{Domain, "x"}, Broader: "a"}}, by: map[Term]int{{Domain, "x"}: 0}}
	if _, err := Merge(withX, onlyX); err == nil {
		t.Error("Merge that closes a cycle = nil, want an error")
	}
}

func TestDecodeVocabularyFile(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "library", "vocabulary.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no vocabulary file")
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := DecodeConcepts(raw)
	if err != nil || len(c.All()) == 0 {
		t.Errorf("DecodeConcepts(vocabulary.json) = %v, %v, want concepts", c, err)
	}
}

func FuzzDecodeConcepts(f *testing.F) {
	f.Add([]byte(someConcepts))
	f.Add([]byte(`{"version":1,"terms":[{"scheme":"DOMAIN","slug":"a","broader":"b"},{"scheme":"DOMAIN","slug":"b","broader":"a"}]}`))
	f.Add([]byte(`{"version":1,"terms":[null]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := DecodeConcepts(raw)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("DecodeConcepts(%q) = %T, want *Error", raw, err)
			}
			return
		}
		for i, concept := range c.All() {
			if c.Lookup(concept.Term) != &c.All()[i] {
				t.Errorf("DecodeConcepts(%q): Lookup(%v) is another concept", raw, concept.Term)
			}
			at, steps := concept, 0
			for ; at.Broader != "" && steps <= len(c.All()); steps++ {
				at = *c.Lookup(Term{at.Term.Vocabulary, at.Broader})
			}
			if steps > len(c.All()) {
				t.Errorf("DecodeConcepts(%q): broader of %v has no end", raw, concept.Term)
			}
		}
		if _, err := Merge(c, c); err != nil {
			t.Errorf("Merge with itself = %v", err)
		}
	})
}
