package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"incidentgraph/internal/incident"
)

// split gives all elements as "line raw", or "line !reason"; the last is the
// error where there is one.
func split(r io.Reader) []string {
	s, err := newSplitter(r)
	defer s.close()
	var got []string
	for err == nil {
		var e element
		if e, err = s.next(); err == nil {
			if e.err != nil {
				got = append(got, fmt.Sprintf("%d !%s", e.line, e.err.Code))
			} else {
				got = append(got, fmt.Sprintf("%d %s", e.line, e.raw))
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		got = append(got, err.Error())
	}
	return got
}

func TestSplitter(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"blank", " \n\r\n\t", nil},
		{"one", `{"id":"a"}`, []string{`1 {"id":"a"}`}},
		{"one with space around", "\n\n {\"id\":\"a\"} \n\n", []string{`3 {"id":"a"}`}},
		{"pretty", "\n{\n  \"id\": \"}{\"\n}\n", []string{"2 {\n  \"id\": \"}{\"\n}"}},
		{"pretty with object in a list", "{\"x\":[\n{\"y\":1},\n{\"y\":2}]}", []string{"1 {\"x\":[\n{\"y\":1},\n{\"y\":2}]}"}},
		{"pretty with object on the next line", "{\"x\":\n{\"y\":1}}", []string{"1 {\"x\":\n{\"y\":1}}"}},
		{"several pretty", "{\n\"id\":1\n}\n{\n\"id\":2}", []string{"1 {\n\"id\":1\n}", "4 {\n\"id\":2}"}},
		{"pretty, then something", "{\n}\nx\n{}", []string{"1 {\n}", "3 !NOT_JSON"}},
		{"pretty without end", "{\n\"a\":[1,\n", []string{"1 {\n\"a\":[1,\n"}},
		{"lines", "{\"a\":1}\n{\"a\":2}\n", []string{`1 {"a":1}`, `2 {"a":2}`}},
		{"lines with CRLF, blanks and a mark", "\ufeff{}\r\n\r\n \t{\"b\":\"}\"} \r\n\n[]\n", []string{`1 {}`, `3 {"b":"}"}`, `5 []`}},
		{"lines, first broken", "{\"a\":[1,\n{\"a\":2}\n", []string{"1 {\"a\":[1,\n{\"a\":2}\n"}},
		{"lines, first cut off", "{\"a\":\"x\n{\"a\":2}\n{}", []string{`1 {"a":"x`, `2 {"a":2}`, `3 {}`}},
		{"lines, first cut off behind a member", "{\"a\":1,\n{\"a\":2}\n", []string{`1 {"a":1,`, `2 {"a":2}`}},
		{"lines, first is no JSON", "# comment\n{\"a\":2}\n", []string{`1 # comment`, `2 {"a":2}`}},
		{"lines, others broken", "{}\nx\n{\n{}", []string{`1 {}`, `2 x`, `3 {`, `4 {}`}},
		{"one, cut off", `{"a":`, []string{`1 {"a":`}},
		{"list", "[{\"a\":1},\n {\"a\":\n2} ,\n\n{}]\n", []string{`1 {"a":1}`, "2 {\"a\":\n2}", `5 {}`}},
		{"list of anything", `[1,"a,]",[2,[3]], null,true]`, []string{`1 1`, `1 "a,]"`, `1 [2,[3]]`, `1 null`, `1 true`}},
		{"empty list", "[ \n]", nil},
		{"list without end", "[{},\n", []string{`1 {}`, `2 !NOT_JSON`}},
		{"list without comma", "[{}\n{}]", []string{`1 {}`, `2 !NOT_JSON`}},
		{"list with a comma too many", "[{},\n]", []string{`1 {}`, `2 !NOT_JSON`}},
		{"list with nothing between commas", "[{},,{}]", []string{`1 {}`, `1 !NOT_JSON`}},
		{"list with something behind", "[{}]\n\n[]", []string{`1 {}`, `3 !NOT_JSON`}},
		{"list with an element cut off", "[{},\n{\"a", []string{`1 {}`, `2 {"a`}},
		{"text", "Dear all,\nplease", []string{errNoRecords.Error()}},
		{"UTF-16", "\xff\xfe{\x00}\x00\n{\x00", []string{errNoRecords.Error() + " in UTF-8; the text begins with a UTF-16 byte order mark, save it as UTF-8"}},
		{"UTF-16, the other way", "\xfe\xff\x00{", []string{errNoRecords.Error() + " in UTF-8; the text begins with a UTF-16 byte order mark, save it as UTF-8"}},
		{"string", `"a"`, []string{errNoRecords.Error()}},
		{"escapes", `[{"a":"\\"},{"b":"\"]"}]`, []string{`1 {"a":"\\"}`, `1 {"b":"\"]"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole":  strings.NewReader(tt.in),
				"bytes":  iotest.OneByteReader(strings.NewReader(tt.in)),
				"gzip":   bytes.NewReader(gzipped(t, tt.in)),
				"zstd":   bytes.NewReader(zstdOf(t, tt.in)),
				"2 gzip": bytes.NewReader(append(gzipped(t, tt.in[:len(tt.in)/2]), gzipped(t, tt.in[len(tt.in)/2:])...)),
			} {
				if diff := cmp.Diff(tt.want, split(r)); diff != "" {
					t.Errorf("%s: split(%q) differs (-want +got):\n%s", name, tt.in, diff)
				}
			}
		})
	}
}

func TestSplitterCompressedTwice(t *testing.T) {
	want := []string{errNoRecords.Error() + "; the data is compressed more than once, decompress it first"}
	once := gzipped(t, "{}\n{}")
	for name, in := range map[string][]byte{
		"gzip in gzip":                 gzipped(t, string(once)),
		"gzip in zstd":                 zstdOf(t, string(once)),
		"zstd in gzip":                 gzipped(t, string(zstdOf(t, "{}"))),
		"gzip in gzip, with a {":       gzipped(t, string(once)+"\n{"),
		"gzip in gzip, nothing inside": gzipped(t, string(gzipped(t, ""))),
	} {
		if got := split(bytes.NewReader(in)); !cmp.Equal(got, want) {
			t.Errorf("%s: split = %q, want %q", name, got, want)
		}
	}
}

func gzipped(t testing.TB, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdOf(t testing.TB, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSplitterTooLarge(t *testing.T) {
	const n = incident.MaxRecordBytes
	large := `{"a":"` + strings.Repeat("x\\\"{", n/4) + `"}`
	fits := `{"a":"` + strings.Repeat("x", n-8) + `"}`
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"lines", "{}\n" + large + "\n{\"b\":1}\n", []string{"1 {}", "2 !TOO_LARGE", `3 {"b":1}`}},
		{"first line", large + "\n{\"b\":1}\n", []string{"1 !TOO_LARGE", `2 {"b":1}`}},
		{"last line", "{}\n" + large, []string{"1 {}", "2 !TOO_LARGE"}},
		{"list", "[{},\n" + large + ",\n{\"b\":1}]", []string{"1 {}", "2 !TOO_LARGE", `3 {"b":1}`}},
		{"pretty", "{\n}\n" + large + "\n{\"b\":1}", []string{"1 {\n}", "3 !TOO_LARGE", `4 {"b":1}`}},
		{"word", "[" + strings.Repeat("1", n+1) + ",2]", []string{"1 !TOO_LARGE", "1 2"}},
		{"fits", "[" + fits + "]", []string{"1 " + fits}},
		{"fits in a line", fits + "\n{}", []string{"1 " + fits, "2 {}"}},
	} {
		if diff := cmp.Diff(tt.want, split(strings.NewReader(tt.in))); diff != "" {
			t.Errorf("%s: split differs (-want +got):\n%.300s", tt.name, diff)
		}
	}
}

// TestSplitterTooLargeID checks which records that are too large show their id.
func TestSplitterTooLargeID(t *testing.T) {
	fill := strings.Repeat("x", incident.MaxRecordBytes)
	first := `{"id":"L-1","summary":"` + fill + `"}`
	for _, tt := range []struct{ name, in, want string }{
		{"first", first, "L-1"},
		{"second", `{"n":{"id":"L-2"},"id" : "L\u002d1","summary":["` + fill + `"]}`, "L-1"},
		{"in a list", "[{}," + first + ",{}]", "L-1"},
		{"on several lines", "{\n}" + first + "\n{}", "L-1"},
		{"not at the top", `{"n":{"id":"L-2"},"summary":"` + fill + `"}`, ""},
		{"behind", `{"summary":"` + fill + `","id":"L-1"}`, ""},
		{"far behind", `{"n":"` + strings.Repeat("x", idWithin) + `","id":"L-1","summary":"` + fill + `"}`, ""},
		{"across the bound", `{"n":"` + strings.Repeat("x", idWithin-14) + `","id":"L-1","summary":"` + fill + `"}`, ""},
		{"no valid id", `{"id":"L 1","summary":"` + fill + `"}`, ""},
		{"no object", `["` + fill + `"]`, ""},
		{"no object in a list", `[["id","L-1","` + fill + `"]]`, ""},
		{"white space", `{"id":"L-1"` + strings.Repeat(" ", incident.MaxRecordBytes) + `}`, "L-1"},
		{"something behind", `{"id":"L-1"}` + strings.Repeat("\t", incident.MaxRecordBytes) + `{}`, "L-1"},
		{"after another", first + "\n" + `{"summary":"` + fill + `"}`, "L-1 "},
	} {
		if got := strings.Join(largeIDs(strings.NewReader(tt.in)), " "); got != tt.want {
			t.Errorf("%s: ids of records that are too large = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// largeIDs gives the case ids of the elements that are too large.
func largeIDs(r io.Reader) (ids []string) {
	s, err := newSplitter(r)
	defer s.close()
	for err == nil {
		var e element
		if e, err = s.next(); err == nil && e.err != nil && e.err.Code == incident.TooLarge {
			ids = append(ids, e.err.CaseID)
		}
	}
	return ids
}

// repeated gives n times b.
type repeated struct {
	b byte
	n int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), r.n)]
	for i := range p {
		p[i] = r.b
	}
	r.n -= len(p)
	return len(p), nil
}

// TestSplitterBounded reads much of what never ends a record.
func TestSplitterBounded(t *testing.T) {
	const n = 32 << 20
	for _, tt := range []struct {
		head string
		fill byte
	}{{`{"a":"`, 'x'}, {"[", '['}, {"[{}, ", '1'}, {"{\n", '{'}, {"{\n\"", 'x'}, {"[\"", '\\'}} {
		s, err := newSplitter(io.MultiReader(strings.NewReader(tt.head), &repeated{tt.fill, n}))
		for err == nil {
			_, err = s.next()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("split(%q and %q…) = %v, want the end", tt.head, tt.fill, err)
		}
		if c := cap(s.buf) + cap(s.shape.open); c > 3*incident.MaxRecordBytes {
			t.Errorf("split(%q and %q…) holds %d bytes", tt.head, tt.fill, c)
		}
	}
}

func TestSplitterReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, in := range []string{"", "{", "{}\n{", "[{},", "[1", "{\n\"a\":", "[{"} {
		got := split(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)))
		if len(got) == 0 || got[len(got)-1] != broken.Error() {
			t.Errorf("split(%q, then an error) = %q, want the error last", in, got)
		}
	}
	whole := gzipped(t, `[{"a":1},{"a":2}]`)
	if got := split(bytes.NewReader(whole[:len(whole)-4])); len(got) == 0 || got[len(got)-1] != io.ErrUnexpectedEOF.Error() {
		t.Errorf("split(gzip cut off) = %q, want an error last", got)
	}
	whole[len(whole)-6] ^= 1
	if got := split(bytes.NewReader(whole)); len(got) == 0 || got[len(got)-1] != gzip.ErrChecksum.Error() {
		t.Errorf("split(gzip with another checksum) = %q, want %q last", got, gzip.ErrChecksum)
	}
}

// FuzzSplitter compares with what encoding/json and a plain cut at line ends
// find, where the input is clearly one or the other.
func FuzzSplitter(f *testing.F) {
	for _, s := range []string{"", "[{},\n{\"a\":[1]}]", "{\"a\":1}\n{\"a\":2}\r\n", "{\n\"a\":\"\\\"\"}\n{}", "x\n{}", "\ufeff[]", "[1,2,", "{\"a\":[\n{}]}"} {
		f.Add([]byte(s))
	}
	f.Add(gzipped(f, "[{}]"))
	f.Add(zstdOf(f, "{}\n{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got := split(bytes.NewReader(in))
		if again := split(iotest.HalfReader(bytes.NewReader(in))); !cmp.Equal(got, again) {
			t.Fatalf("split(%q) = %q, read in halves %q", in, got, again)
		}
		if want, ok := plainSplit(in); ok && !cmp.Equal(want, got) {
			t.Errorf("split(%q) = %q, want %q", in, got, want)
		}
	})
}

// plainSplit splits a list, or lines of objects.
func plainSplit(in []byte) (want []string, ok bool) {
	in = bytes.TrimPrefix(in, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimLeft(in, " \t\r\n"), []byte("[")) && json.Valid(in) {
		d := json.NewDecoder(bytes.NewReader(in))
		_, _ = d.Token()
		for d.More() {
			var raw json.RawMessage
			if d.Decode(&raw) != nil {
				return nil, false
			}
			start := int(d.InputOffset()) - len(raw)
			want = append(want, fmt.Sprintf("%d %s", 1+bytes.Count(in[:start], []byte("\n")), raw))
		}
		return want, true
	}
	for i, l := range bytes.Split(in, []byte("\n")) {
		l = bytes.Trim(l, " \t\r")
		if len(l) == 0 {
			continue
		}
		if l[0] != '{' || !json.Valid(l) {
			return nil, false
		}
		want = append(want, fmt.Sprintf("%d %s", i+1, l))
	}
	return want, true
}

func BenchmarkSplitter(b *testing.B) {
	record := `{"id":"IL-0001","summary":{"en":"` + strings.Repeat("some text with a \\\"quote\\\" in it ", 600) + `"}}`
	for name, in := range map[string]string{
		"lines": strings.Repeat(record+"\n", 50),
		"list":  "[" + strings.Repeat(record+",", 49) + record + "]",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				s, err := newSplitter(strings.NewReader(in))
				for err == nil {
					_, err = s.next()
				}
			}
		})
	}
}
