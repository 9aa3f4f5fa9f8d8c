package incident

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// full has every member that the model knows, and some that it does not.
const full = `{
  "id": "IL-0001", "org": "Example Büro", "date": "2015-09-20", "date_kind": "incident",
  "title": {"en": "A \"title\"", "ko": "제목", "x": 1, "EN": "again"},
  "summary": "plain", "symptoms_text": {"pt-br": "texto"}, "trigger": null,
  "detection": {"en": null, "ko": ""}, "lessons": {"en": "one\ntwo \ud83d\ude00"},
  "impact": {"scope": "wide", "users": {"en": "all"}, "region": {"ko": "서울", "en": "Seoul"}, "score": 1.50},
  "severity": "major", "root_cause": "Config change",
  "contributing": ["retry-storm", "Nobody looked.", "retry-storm", ""],
  "components": [], "symptoms": null, "domain": "database",
  "timeline": {"detected_after": "Never", "resolved_after": "4h 51m", "closed_after": "2d"},
  "remediation": [{"text": {"en": "paused"}}, "restarted", {"owner": "ops"}],
  "action_items": [{"text": "do", "due": "2016-01-01"}, {"text": null}],
  "sources": [{"url": "https://example.com/a", "kind": "postmortem", "archived": "gone"}, "ftp://example.com/b",
    {"url": "see the news"}, "vcdb", {"kind": "talk"}],
  "review": {"written_by": "me", "reviewed_by": "you", "reviewed_at": "2026-11-14T12:00:00+09:00", "note": [1, {}]},
  "docs": [{"a": 1.0}, null, "x"], "url": "mailto:x@example.com",
  "updated_at": "2026-11-14T12:33:53.681461Z",
  "related": ["IL-2", "IL-3", "IL-2"], "recurrence_of": "IL-0",
  "unheard": {"of": [1e400, -0]}
}`

func TestDecode(t *testing.T) {
	got, err := Decode([]byte(full))
	if err != nil {
		t.Fatalf("Decode(full) = %v", err)
	}
	want := &Incident{
		ID: "IL-0001", Org: "Example Büro", OrgSlug: "example-büro", Date: date(2015, 9, 20), DateKind: "incident",
		Title:        Text{{"en", `A "title"`}, {"ko", "제목"}},
		Summary:      Text{{"und", "plain"}},
		SymptomsText: Text{{"pt-BR", "texto"}},
		Lessons:      Text{{"en", "one\ntwo 😀"}},
		ImpactScope:  Text{{"und", "wide"}}, ImpactUsers: Text{{"en", "all"}}, ImpactRegion: "Seoul", HasImpact: true,
		Severity: Value{"major", "major"}, RootCause: Value{"Config change", "config-change"},
		Contributing:  []Value{{"retry-storm", "retry-storm"}, {"Nobody looked.", "nobody-looked"}, {"retry-storm", "retry-storm"}},
		Components:    []Value{},
		Domains:       []Value{{"database", "database"}},
		DetectedAfter: Duration{Text: "Never"},
		ResolvedAfter: Duration{Text: "4h 51m", Seconds: 17460, Known: true},
		Remediation:   []Text{{{"en", "paused"}}, {{"und", "restarted"}}},
		ActionItems:   []Text{{{"und", "do"}}},
		Sources:       []Source{{URL: "https://example.com/a", Kind: "postmortem"}, {URL: "ftp://example.com/b"}},
		Review:        Review{WrittenBy: "me", ReviewedBy: "you", ReviewedAt: time.Date(2026, 11, 14, 3, 0, 0, 0, time.UTC)},
		Docs:          []json.RawMessage{[]byte(`{"a":1.0}`), []byte("null"), []byte(`"x"`)},
		UpdatedAt:     time.Date(2026, 11, 14, 12, 33, 53, 681461000, time.UTC),
		Related:       []string{"IL-2", "IL-3"}, RecurrenceOf: "IL-0",
		Unknown: []byte(`{"title":{"x":1,"EN":"again"},"impact":{"region":{"ko":"서울"},"score":1.50},` +
			`"timeline":{"closed_after":"2d"},"remediation":[null,null,{"owner":"ops"}],` +
			`"action_items":[{"due":"2016-01-01"},null],` +
			`"sources":[{"archived":"gone"},null,{"url":"see the news"},"vcdb",{"kind":"talk"}],` +
			`"review":{"note":[1,{}]},"url":"mailto:x@example.com","unheard":{"of":[1e400,-0]}}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode(full) differs (-want +got):\n%s", diff)
	}
}

func date(y, m, d uint32) Date { return Date(y<<16 | m<<8 | d) }

func TestDecodeLeast(t *testing.T) {
	names := []string{"org", "org_slug", "date", "date_kind", "title", "summary", "symptoms_text", "trigger",
		"detection", "lessons", "impact", "severity", "root_cause", "contributing", "components", "symptoms",
		"domain", "timeline", "remediation", "action_items", "sources", "review", "docs", "url", "updated_at",
		"related", "recurrence_of"}
	nulls := `{"id":"a"`
	for _, n := range names {
		nulls += fmt.Sprintf(",%q:null", n)
	}
	for _, raw := range []string{`{"id":"a"}`, nulls + "}", " \r\n\t{ \"id\" : \"a\" } \n"} {
		got, err := Decode([]byte(raw))
		if err != nil {
			t.Errorf("Decode(%s) = %v", raw, err)
			continue
		}
		if diff := cmp.Diff(&Incident{ID: "a"}, got); diff != "" {
			t.Errorf("Decode(%s) differs (-want +got):\n%s", raw, diff)
		}
	}
}

func TestDecodeOrgSlug(t *testing.T) {
	for raw, want := range map[string]string{
		`{"id":"a","org":"Travis CI"}`:                        "travis-ci",
		`{"id":"a","org":"Internal Revenue Service "}`:        "internal-revenue-service",
		`{"id":"a","org":"Société","org_slug":"societe"}`:     "societe",
		`{"id":"a","org_slug":"Travis_CI"}`:                   "travis-ci",
		`{"id":"a","org_slug":"","org":"X"}`:                  "x",
		`{"id":"a","org":""}`:                                 "",
		`{"id":"a","org":"ＡＷＳ","org_slug":null,"title":null}`: "aws",
	} {
		got, err := Decode([]byte(raw))
		if err != nil || got.OrgSlug != want {
			t.Errorf("Decode(%s).OrgSlug = %q, %v, want %q", raw, got.OrgSlug, err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		raw    string
		code   Code
		caseID string
		path   string
		offset int
	}{
		{``, NotJSON, "", "", 0},
		{`{"id":"a"`, NotJSON, "a", "", 9},
		{`{"id":"a",}`, NotJSON, "a", "", 10},
		{`{"id":"a"} {}`, NotJSON, "a", "", 11},
		{`{"id":"a","x":[1,2,tru]}`, NotJSON, "a", "x[2]", 19},
		{`{"id":"a","x":01}`, NotJSON, "a", "", 15},
		{`{"id":"a","x":"` + "\n" + `"}`, NotJSON, "a", "x", 15},
		{`{"id":"a","x":"\q"}`, NotJSON, "a", "x", 16},
		{`{"id":"a","x":1.}`, NotJSON, "a", "x", 16},
		{`{"id":"a","x":-}`, NotJSON, "a", "x", 15},
		{`{"id":"a","x":1e+}`, NotJSON, "a", "x", 17},
		{`{"x":{"y" 1},"id":"a"}`, NotJSON, "", "x", 10},
		{"\ufeff{\"id\":\"a\"}", NotJSON, "", "", 0},
		{`null`, NotAnObject, "", "", 0},
		{`[{"id":"a"}]`, NotAnObject, "", "", 0},
		{`"id"`, NotAnObject, "", "", 0},
		{"{\"id\":\"a\",\"x\":\"\xff\"}", InvalidUTF8, "a", "x", 15},
		{"{\"id\":\"a\",\"x\":\"12345678\xed\xa0\x80\"}", InvalidUTF8, "a", "x", 23},
		{"{\"id\":\"a\"\xff}", InvalidUTF8, "a", "", 9},
		{`{"id":"a","x":"\ud800"}`, InvalidUTF8, "a", "x", 15},
		{`{"id":"a","x":"\udc00\ud800"}`, InvalidUTF8, "a", "x", 15},
		{`{"id":"a","x":"\ud800\u0041"}`, InvalidUTF8, "a", "x", 15},
		{`{"id":"a","id":"b"}`, DuplicateMember, "a", "id", 10},
		{`{"id":"a","x":[0,{"k":1,"\u006b":2}]}`, DuplicateMember, "a", "x[1].k", 24},
		{`{"id":"a","x":{` + manyMembers(40) + `,"m3":0}}`, DuplicateMember, "a", "x.m3", 15 + len(manyMembers(40)) + 1},
		{`{"id":"a","x":` + deep(64) + `}`, TooDeep, "a", "x" + strings.Repeat("[0]", 63), 14 + 63},
		{`{"id":"a","x":"` + strings.Repeat("x", MaxRecordBytes) + `"}`, TooLarge, "", "", -1},
		{`{}`, MissingID, "", "id", -1},
		{`{"id":null}`, MissingID, "", "id", -1},
		{`{"id":7}`, WrongType, "", "id", 6},
		{`{"id":""}`, InvalidValue, "", "id", 6},
		{`{"id":"a b"}`, InvalidValue, "", "id", 6},
		{`{"id":"é"}`, InvalidValue, "", "id", 6},
		{`{"id":"` + strings.Repeat("x", 129) + `"}`, InvalidValue, "", "id", 6},
		{`{"org":1,"id":"a"}`, WrongType, "a", "org", 7},
		{`{"id":"a","org_slug":[]}`, WrongType, "a", "org_slug", 21},
		{`{"id":"a","date":2015}`, WrongType, "a", "date", 17},
		{`{"id":"a","date":"2018-02-29"}`, InvalidValue, "a", "date", 17},
		{`{"id":"a","date":""}`, InvalidValue, "a", "date", 17},
		{`{"id":"a","title":["x"]}`, WrongType, "a", "title", 18},
		{`{"id":"a","title":{"en":{}}}`, WrongType, "a", "title.en", 24},
		{`{"id":"a","impact":"x"}`, WrongType, "a", "impact", 19},
		{`{"id":"a","impact":{"users":5}}`, WrongType, "a", "impact.users", 28},
		{`{"id":"a","timeline":{"resolved_after":5}}`, WrongType, "a", "timeline.resolved_after", 39},
		{`{"id":"a","timeline":{"resolved_after":"-5m"}}`, InvalidValue, "a", "timeline.resolved_after", 39},
		{`{"id":"a","components":"x"}`, WrongType, "a", "components", 23},
		{`{"id":"a","components":["x",null]}`, WrongType, "a", "components[1]", 28},
		{`{"id":"a","domain":{}}`, WrongType, "a", "domain", 19},
		{`{"id":"a","severity":3}`, WrongType, "a", "severity", 21},
		{`{"id":"a","remediation":[{"text":"x"},3]}`, WrongType, "a", "remediation[1]", 38},
		{`{"id":"a","remediation":[{"text":[]}]}`, WrongType, "a", "remediation[0].text", 33},
		{`{"id":"a","sources":[{"url":1}]}`, WrongType, "a", "sources[0].url", 28},
		{`{"id":"a","sources":[null]}`, WrongType, "a", "sources[0]", 21},
		{`{"id":"a","review":{"reviewed_at":"yesterday"}}`, InvalidValue, "a", "review.reviewed_at", 34},
		{`{"id":"a","updated_at":"2026-11-14 12:00:00Z"}`, InvalidValue, "a", "updated_at", 23},
		{`{"id":"a","updated_at":"2026-11-14T1:00:00Z"}`, InvalidValue, "a", "updated_at", 23},
		{`{"id":"a","docs":{}}`, WrongType, "a", "docs", 17},
		{`{"id":"a","related":["b c"]}`, InvalidValue, "a", "related[0]", 21},
		{`{"id":"a","related":["b",1]}`, WrongType, "a", "related[1]", 25},
		{`{"id":"a","recurrence_of":""}`, InvalidValue, "a", "recurrence_of", 26},
		{`{"related":["b","a"],"id":"a"}`, SelfLink, "a", "related[1]", 16},
		{`{"recurrence_of":"\u0061","id":"a"}`, SelfLink, "a", "recurrence_of", 17},
	} {
		_, err := Decode([]byte(tt.raw))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Decode(%.60s) = %v, want an *Error", tt.raw, err)
			continue
		}
		got := fmt.Sprint(e.Code, " ", e.CaseID, " ", PathString(e.Path), " ", e.Offset)
		if want := fmt.Sprint(tt.code, " ", tt.caseID, " ", tt.path, " ", tt.offset); got != want {
			t.Errorf("Decode(%.60s) = %s (%v), want %s", tt.raw, got, e, want)
		}
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"m%d":0`, i)
	}
	return b.String()
}

func TestDecodeTakes(t *testing.T) {
	for _, raw := range []string{
		`{"id":"` + strings.Repeat("x", 128) + `"}`,
		`{"id":"A._:-9","x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`,
		`{"id":"a","x":{` + manyMembers(100) + `}}`,
		`{"id":"a","x":[-0.0e-0,1E+5,10.25,true,false,null,"\u0000\/\b\f\n\r\t\\\"","\ud83d\ude00"]}`,
		`{"id":"a","updated_at":"2026-11-14t12:00:00.5z"}`,
		`{"id":"a","related":["b"],"recurrence_of":"b"}`,
	} {
		if _, err := Decode([]byte(raw)); err != nil {
			t.Errorf("Decode(%s) = %v, want nil", raw, err)
		}
	}
}

// TestDecodeKeepsNothing checks that the incident survives its input.
func TestDecodeKeepsNothing(t *testing.T) {
	raw := []byte(full)
	got, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] = 'x'
	}
	want, err := Decode([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode changes with its input (-want +got):\n%s", diff)
	}
}

func TestErrorString(t *testing.T) {
	e := &Error{Path: []any{"remediation", 2, "text"}, Reason: "must be a string"}
	if got, want := e.Error(), "remediation[2].text: must be a string"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if got, want := (&Error{Reason: "x"}).Error(), "x"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"id":"a","x":{` + manyMembers(40) + `}}`))
	for _, raw := range []string{``, `[]`, `{"id":"a","id":"b"}`, `{"id":"a","title":"\ud800"}`, "{\"id\":\"a\",\"\xff\":0}",
		`{"id":"a","sources":["http://a/ä"],"url":"https://a"}`, `{"id":"a","title":{"de-CH-1996":"x"}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		inc, err := Decode(raw)
		if err != nil {
			checkRefusal(t, raw, err)
			return
		}
		if !json.Valid(raw) || !utf8.Valid(raw) || hasDuplicates(raw) {
			t.Fatalf("Decode(%q) = nil, want an error", raw)
		}
		compact := Compact(raw)
		again, err := Decode(compact)
		if err != nil {
			t.Fatalf("Decode(Compact(%q)) = %v", raw, err)
		}
		if diff := cmp.Diff(inc, again); diff != "" {
			t.Fatalf("Decode(Compact(%q)) differs (-want +got):\n%s", raw, diff)
		}
		if !Equal(raw, compact) {
			t.Fatalf("Equal(%q, %q) = false, want true", raw, compact)
		}
		checkAgainstJSON(t, raw, inc)
	})
}

// checkRefusal compares an error with what encoding/json finds.
func checkRefusal(t *testing.T, raw []byte, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Decode(%q) = %T, want *Error", raw, err)
	}
	valid := json.Valid(raw)
	switch e.Code {
	case NotJSON:
		if valid {
			t.Fatalf("Decode(%q) = %v, but it is JSON", raw, e)
		}
	case InvalidUTF8, DuplicateMember, TooDeep, TooLarge: // found before the end is seen
	default:
		if !valid || !utf8.Valid(raw) || hasDuplicates(raw) {
			t.Fatalf("Decode(%q) = %v, but it is not valid JSON", raw, e)
		}
	}
	if e.Code == DuplicateMember && valid && !hasDuplicates(raw) {
		t.Fatalf("Decode(%q) = %v, but all names are distinct", raw, e)
	}
	if e.Offset < -1 || e.Offset > len(raw) {
		t.Fatalf("Decode(%q) = offset %d of %d", raw, e.Offset, len(raw))
	}
}

// hasDuplicates tells whether an object of valid JSON has a name twice.
func hasDuplicates(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	var seen []map[string]bool // one an open container, nil for lists
	name := false
	for {
		t, err := d.Token()
		if err != nil {
			return false
		}
		inObject := len(seen) > 0 && seen[len(seen)-1] != nil
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{':
				seen, name = append(seen, map[string]bool{}), true
				continue
			case '[':
				seen = append(seen, nil)
				continue
			}
			seen = seen[:len(seen)-1]
			name = true
			continue
		case string:
			if inObject && name {
				if seen[len(seen)-1][t] {
					return true
				}
				seen[len(seen)-1][t] = true
				name = false
				continue
			}
		}
		name = true
	}
}

// checkAgainstJSON compares strings of the model, and Equal, with what
// encoding/json reads.
func checkAgainstJSON(t *testing.T, raw []byte, inc *Incident) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"id": inc.ID, "org": inc.Org, "date_kind": inc.DateKind,
		"root_cause": inc.RootCause.Text, "date": inc.Date.String(), "recurrence_of": inc.RecurrenceOf} {
		if want, _ := m[name].(string); got != want {
			t.Fatalf("Decode(%q) %s = %q, want %q", raw, name, got, want)
		}
	}
	if title, ok := m["title"].(map[string]any); ok {
		for _, l := range inc.Title {
			found := false
			for tag, text := range title {
				found = found || strings.EqualFold(tag, l.Language) && text == l.Text
			}
			if !found {
				t.Fatalf("Decode(%q).Title has %q, which is not in %v", raw, l, title)
			}
		}
	}
	if inc.Unknown != nil {
		var unknown map[string]json.RawMessage
		if err := json.Unmarshal(inc.Unknown, &unknown); err != nil || len(unknown) == 0 {
			t.Fatalf("Decode(%q).Unknown = %s, %v, want an object with members", raw, inc.Unknown, err)
		}
	}
	// Members in another order, other escapes.
	marshalled, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if !Equal(raw, marshalled) || !Equal(marshalled, raw) {
		t.Fatalf("Equal(%q, %q) = false, want true", raw, marshalled)
	}
}

// largeRecord gives a record of about size bytes like those of the library:
// texts in two languages make most of it.
func largeRecord(size int) []byte {
	const english = "At 2:19am a brief network disruption sent many storage servers to the metadata service at once. "
	const korean = "부하가 걸린 메타데이터 서비스는 장애와 관계없는 서버들의 정기 갱신에도 늦게 답했다. "
	n := (size - 3000) / 2
	en, ko := strings.Repeat(english, n/len(english)+1), strings.Repeat(korean, n/len(korean)+1)
	text := func(part int) string {
		cut := func(s string) string {
			for at := len(s) * part / 10; ; at++ {
				if utf8.RuneStart(s[at]) {
					return s[at : at+len(s)/10/3*3]
				}
			}
		}
		b, _ := json.Marshal(map[string]string{"en": cut(en), "ko": strings.ToValidUTF8(cut(ko), "")})
		return string(b)
	}
	return []byte(`{"id":"IL-0282","org":"Amazon Web Services","date":"2015-09-20","docs":[],"title":` + text(0) +
		`,"domain":["database","aws"],"impact":{"scope":"The error rate rose","users":"all","region":"US-East"},` +
		`"review":{"written_by":"x","reviewed_at":null,"reviewed_by":null},"lessons":` + text(1) +
		`,"related":["IL-0001","IL-0002"],"sources":[{"url":"https://example.com/message/5467D2/","kind":"official-status",` +
		`"archived":"https://web.example.org/web/20261030034754/https://example.com/message/5467D2/"}],"summary":` + text(2) +
		`,"trigger":` + text(3) + `,"severity":"unknown","symptoms":["high-error-rate","database-overloaded"],` +
		`"timeline":{"detected_after":null,"resolved_after":"4h 51m"},"date_kind":"incident","detection":` + text(4) +
		`,"components":["database"],"root_cause":"capacity","remediation":[{"text":` + text(5) + `},{"text":` + text(6) +
		`}],"action_items":[{"text":` + text(7) + `},{"text":` + text(8) + `}],"contributing":["no-capacity-planning",` +
		`"monitoring-blind-spot","retry-storm"],"recurrence_of":null,"symptoms_text":` + text(8) +
		`,"updated_at":"2026-11-14T12:33:53.681461Z","url":"https://example.com/cases/IL-0282","org_slug":"amazon-web-services"}`)
}

func BenchmarkDecode(b *testing.B) {
	raw := largeRecord(20 << 10)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	raw := largeRecord(20 << 10)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		Compact(raw)
	}
}

func BenchmarkEqual(b *testing.B) {
	raw := largeRecord(20 << 10)
	other := append([]byte(" "), raw...)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if !Equal(raw, other) {
			b.Fatal("Equal = false, want true")
		}
	}
}

// A text in very many languages is read in time that grows with their number,
// not with its square, and keeps the first of two spellings of one tag.
func TestDecodeManyLanguages(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"id":"L-1","title":{`)
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&b, `"q%c%c-x-%d":"t",`, 'a'+i%26, 'a'+i/26%26, i)
	}
	b.WriteString(`"EN":"first","en":"second"}}`)
	inc, err := Decode([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(inc.Title); got != n+1 {
		t.Fatalf("the title has %d versions, want %d", got, n+1)
	}
	if got, want := inc.Title[n], (LanguageText{Language: "en", Text: "first"}); got != want {
		t.Errorf("the last version is %v, want %v", got, want)
	}
	if got, want := string(inc.Unknown), `{"title":{"en":"second"}}`; got != want {
		t.Errorf("Unknown = %s, want %s", got, want)
	}
}

func TestPathString(t *testing.T) {
	for _, c := range []struct {
		path []any
		want string
	}{
		{nil, ""},
		{[]any{"remediation", 2, "text"}, "remediation[2].text"},
		{[]any{"a", "\x1b[31mred\a"}, `a."\x1b[31mred\a"`},
		{[]any{"이름", "b c"}, "이름.b c"},
		{[]any{strings.Repeat("x", 100)}, strings.Repeat("x", 80) + "…"},
	} {
		if got := PathString(c.path); got != c.want {
			t.Errorf("PathString(%q) = %q, want %q", c.path, got, c.want)
		}
	}
}
