package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// clauses writes clauses as `title:leap+2second`, each term but the first with
// its distance.
func clauses(list []Clause) string {
	var out []string
	for _, c := range list {
		var b strings.Builder
		if c.field != AnyField {
			b.WriteString(c.field.String() + ":")
		}
		for i, t := range c.terms {
			if i > 0 {
				fmt.Fprintf(&b, "+%d", t.at)
			}
			b.WriteString(t.term)
		}
		if c.required {
			b.WriteByte('!')
		}
		out = append(out, b.String())
	}
	return strings.Join(out, " ")
}

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct{ query, strict, excluded, loose string }{
		{"", "", "", ""},
		{" \t ", "", "", ""},
		{"outage", "outag", "", ""},
		{"Outage storms", "outag storm", "", "outag storm"},
		{`"leap second"`, "leap+2second", "", ""},
		{`"leap second" clock`, "leap+2second clock", "", "leap+2second! clock"},
		{"“leap second”", "leap+2second", "", ""},
		{"outage -test", "outag", "test", ""},
		{`-"leap second" -title:test -`, "", "leap+2second title:test", ""},
		{"－test", "", "test", ""},
		{"title:outage", "title:outag", "", ""},
		{"TITLE:outage", "title:outag", "", ""},
		{"title：outage", "title:outag", "", ""},
		{`org:"Amazon Web Services" s3`, "org:amazon+2web+4servic s3", "", "org:amazon+2web+4servic! s3"},
		{"factor:재시도", "factor:재시+1시도", "", ""},
		{"id:LIB-0001", "id:lib+20001", "", ""},
		// Korean
		{"장애", "장애", "", ""},
		{"재시도", "재시+1시도", "", "재시"},
		{"데이터베이스", "데이+2터베+4이스", "", ""},
		{"메타데이터 서비스", "메타+2데이+3이터 서비+1비스", "", "메타+2데이+3이터 서비+1비스"},
		{"DynamoDB의", "dynamodb", "", ""},
		{"서버에서", "서버+2에서", "", "서버"},
		{`"서버에서"`, "서버+2에서", "", ""},
		{"큐", "큐", "", ""},
		{"API호출", "api+2호출", "", "api 호출"},
		{"障害 の", "障害 の", "", "障害 の"},
		// words of several runs
		{"us-east-1", "us+2east+41", "", "us east 1"},
		{"retry-storm", "retri+2storm", "", "retri storm"},
		{"5.0.1", "5.0.1", "", ""},
		{"2:19am", "2+219am", "", "2 19am"},
		// what does not fit is plain words
		{`"leap second`, "leap second", "", "leap second"},
		{`leap "second`, "leap second", "", "leap second"},
		{`""`, "", "", ""},
		{`"" leap`, "leap", "", ""},
		{"foo:bar", "foo bar", "", "foo bar"},
		{"http://example.com", "http exampl+2com", "", "http exampl com"},
		{"title:", "titl", "", ""},
		{"title: outage", "titl outag", "", "titl outag"},
		{"title::outage", "title:outag", "", ""},
		{"--db", "db", "", ""},
		{"- outage", "outag", "", ""},
		{"a -- b", "a b", "", "a b"},
		{"-", "", "", ""},
		{"-title:", "", "titl", ""},
		{"!!! ... ???", "", "", ""},
		{"\xffoutage\xfe", "outag", "", ""},
		{`out"age`, "out+2age", "", "out age"},
	} {
		q := ParseQuery(tt.query)
		if got := clauses(q.strict); got != tt.strict {
			t.Errorf("ParseQuery(%q).strict = %q, want %q", tt.query, got, tt.strict)
		}
		if got := clauses(q.excluded); got != tt.excluded {
			t.Errorf("ParseQuery(%q).excluded = %q, want %q", tt.query, got, tt.excluded)
		}
		if got := clauses(q.loose); got != tt.loose {
			t.Errorf("ParseQuery(%q).loose = %q, want %q", tt.query, got, tt.loose)
		}
		if q.Truncated() {
			t.Errorf("ParseQuery(%q).Truncated() = true, want false", tt.query)
		}
		if got, want := q.Empty(), tt.strict == "" && tt.excluded == ""; got != want {
			t.Errorf("ParseQuery(%q).Empty() = %v, want %v", tt.query, got, want)
		}
	}
}

func TestParseQueryBounds(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		clauses     int
		truncated   bool
	}{
		{"as many words as may be", strings.Repeat("a ", MaxQueryClauses), MaxQueryClauses, false},
		{"one word too many", strings.Repeat("a ", MaxQueryClauses+1), MaxQueryClauses, true},
		{"as long as may be", strings.Repeat("가", MaxQueryLength-2*maxQueryTerms), 1, false},
		{"one code point too long", strings.Repeat(" ", MaxQueryLength) + "a", 0, true},
		{"too many terms in a word", strings.Repeat("가", 2*maxQueryTerms+2), 0, true},
		{"excluded words count too", strings.Repeat("-a ", MaxQueryClauses+1), 0, true},
	} {
		q := ParseQuery(tt.query)
		if len(q.strict) != tt.clauses || q.Truncated() != tt.truncated {
			t.Errorf("%s: %d clauses, truncated %v, want %d, %v", tt.name, len(q.strict), q.Truncated(), tt.clauses, tt.truncated)
		}
		if n := len(q.strict) + len(q.excluded); n > MaxQueryClauses {
			t.Errorf("%s: %d clauses, want at most %d", tt.name, n, MaxQueryClauses)
		}
	}
}

// FuzzParseQuery checks that every query is read, within the bounds, and that
// what is asked for is terms that the chain of analysis gives.
func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{
		`outage "leap second" -test title:x -org:"a b"`, `"`, `-"`, "title:", "::", `-title:"x`, "재시도 폭풍", "DynamoDB의", "a:b:c", "－“x”",
		"\xff\"\xfe", "title:\u200b", "-\u0301", strings.Repeat("a-", 300), "id:-a", `""""`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := ParseQuery(s)
		terms := 0
		for _, list := range [][]Clause{q.strict, q.excluded, q.loose} {
			for _, c := range list {
				terms += len(c.terms)
				if len(c.terms) == 0 || c.terms[0].at != 0 || c.size < len(c.terms) {
					t.Fatalf("ParseQuery(%q) has the clause %v", s, c)
				}
				for i, term := range c.terms {
					if term.term == "" || !utf8.ValidString(term.term) || i > 0 && term.at <= c.terms[i-1].at {
						t.Fatalf("ParseQuery(%q) has the clause %v", s, c)
					}
				}
			}
		}
		if len(q.strict)+len(q.excluded) > MaxQueryClauses || terms > 2*maxQueryTerms+len(q.loose) {
			t.Fatalf("ParseQuery(%q) has %d clauses, %d terms", s, len(q.strict)+len(q.excluded), terms)
		}
		if q.Empty() && !q.Truncated() && tokensOf(strings.ToValidUTF8(s, " ")) != "" {
			t.Fatalf("ParseQuery(%q) is empty, want the words %q", s, tokensOf(s))
		}
	})
}
