package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the answers and the table of flags in README.md")

const readmePath = "../README.md"

// fence finds a GraphQL block and the answer that follows it, if any.
var fence = regexp.MustCompile("(?s)```graphql\n(.*?)```\n(?:\n```json\n(.*?)```\n)?")

// TestReadme runs every query of the README on the starter library and
// compares the answers that it prints.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	server := startServer(t)
	blocks := fence.FindAllSubmatchIndex(text, -1)
	if len(blocks) < 3 {
		t.Fatalf("README.md has %d GraphQL blocks, want at least 3", len(blocks))
	}
	var out bytes.Buffer
	at := 0
	for _, b := range blocks {
		query := string(text[b[2]:b[3]])
		answer := indented(t, server.url, query)
		if b[4] < 0 {
			continue
		}
		if got := string(text[b[4]:b[5]]); got != answer && !*update {
			t.Errorf("the answer to\n%sis\n%swant (in README.md)\n%s", query, answer, got)
		}
		out.Write(text[at:b[4]])
		out.WriteString(answer)
		at = b[5]
	}
	out.Write(text[at:])
	if *update {
		if err := os.WriteFile(readmePath, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// indented runs a query that must succeed and gives its answer, indented.
func indented(t *testing.T, url, query string) string {
	t.Helper()
	a, err := ask(http.DefaultClient, url, query)
	if err != nil || a.errors != nil || a.status != http.StatusOK {
		t.Fatalf("the query\n%sgives %d: %s (%v)", query, a.status, a.raw, err)
	}
	d := json.NewDecoder(bytes.NewReader(a.raw))
	d.UseNumber()
	lines, err := layOut(d)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n") + "\n"
}

// layOut gives the next JSON value as lines: what fits on one line stands on
// one, anything else is spread out.
func layOut(d *json.Decoder) ([]string, error) {
	const width = 110
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	opening, ok := token.(json.Delim)
	if !ok {
		b, err := json.Marshal(token)
		return []string{string(b)}, err
	}
	closing := map[json.Delim]string{'{': "}", '[': "]"}[opening]
	var parts [][]string
	for d.More() {
		name := ""
		if opening == '{' {
			token, err := d.Token()
			if err != nil {
				return nil, err
			}
			name = strconv.Quote(token.(string)) + ": "
		}
		part, err := layOut(d)
		if err != nil {
			return nil, err
		}
		part[0] = name + part[0]
		parts = append(parts, part)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var flat []string
	for _, p := range parts {
		if len(p) > 1 {
			flat = nil
			break
		}
		flat = append(flat, p[0])
	}
	if one := opening.String() + strings.Join(flat, ", ") + closing; len(flat) == len(parts) && utf8.RuneCountInString(one) <= width {
		return []string{one}, nil
	}
	lines := []string{opening.String()}
	for i, p := range parts {
		if i < len(parts)-1 {
			p[len(p)-1] += ","
		}
		for _, l := range p {
			lines = append(lines, "  "+l)
		}
	}
	return append(lines, closing), nil
}

// TestReadmeCodes compares the codes of errors that the README explains with
// those that the program's sources define.
func TestReadmeCodes(t *testing.T) {
	var defined []string
	for path, code := range map[string]string{
		"../graph/errors.go": `(?m)^\tcode\w+ += "([A-Z_]+)"$`,
		"site.go":            `"code":"([A-Z_]+)"`,
	} {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(code).FindAllSubmatch(source, -1)
		if len(found) == 0 {
			t.Fatalf("%s defines no codes", path)
		}
		for _, f := range found {
			defined = append(defined, string(f[1]))
		}
	}
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- codes -->\n")
	table, _, _ = strings.Cut(table, "<!-- /codes -->")
	var explained []string
	for row := range strings.Lines(table) {
		column := strings.Split(row, "|")[1]
		for _, f := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(column, -1) {
			explained = append(explained, f[1])
		}
	}
	slices.Sort(defined)
	slices.Sort(explained)
	if diff := cmp.Diff(defined, explained); diff != "" {
		t.Errorf("codes in the README (-defined +explained):\n%s", diff)
	}
}

// TestReadmeFlags compares the table of flags in the README with the one that
// the program prints.
func TestReadmeFlags(t *testing.T) {
	const begin, end = "<!-- flags -->\n", "<!-- /flags -->"
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md has no %q with %q after it", begin, end)
	}
	want := mustRun(t, "flags")
	if table == want {
		return
	}
	if *update {
		if err := os.WriteFile(readmePath, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table of flags is another than `incidentgraph flags` prints (go test ./server -run ReadmeFlags -update):\n%s", cmp.Diff(want, table))
}
