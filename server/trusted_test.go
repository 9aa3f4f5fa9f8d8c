package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const countManifest = `{"count":"query Count { incidents { totalCount } }"}`

// refusal gives the code of the first error of an answer.
func refusal(t *testing.T, a graphQLAnswer) string {
	t.Helper()
	var errs []struct{ Extensions struct{ Code string } }
	if a.errors == nil {
		return ""
	}
	if err := json.Unmarshal(a.errors, &errs); err != nil || len(errs) == 0 {
		t.Fatalf("the answer %s: %v", a.raw, err)
	}
	return errs[0].Extensions.Code
}

// TestOnlyTrusted asks a server that runs trusted documents alone.
func TestOnlyTrusted(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "documents.json"), countManifest)
	p := startServer(t, "--trusted-documents", file, "--only-trusted")
	byID := p.url + "/graphql?documentId=count"
	resp, err := http.Get(byID)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), `{"data":{"incidents":{"totalCount":`) {
		t.Errorf("GET %s = %d %s (%v), want the count", byID, resp.StatusCode, body, err)
	}
	again, err := http.NewRequest(http.MethodGet, byID, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Header.Set("If-None-Match", resp.Header.Get("ETag"))
	if resp, err = http.DefaultClient.Do(again); err != nil || resp.StatusCode != http.StatusNotModified {
		t.Errorf("GET %s with the tag = %v (%v), want 304", byID, resp, err)
	}
	resp.Body.Close()

	for _, query := range []string{`{ service { version } }`, `{ __schema { queryType { name } } }`} {
		a, err := ask(http.DefaultClient, p.url, query)
		if err != nil || a.status != http.StatusForbidden || refusal(t, a) != "UNTRUSTED_DOCUMENT" {
			t.Errorf("%s = %d %s (%v), want 403 and UNTRUSTED_DOCUMENT", query, a.status, a.raw, err)
		}
	}
	if status, _, page := get(t, p.url+"/graphiql/"); status != http.StatusOK || !strings.Contains(page, "<html") {
		t.Errorf("GET /graphiql/ = %d, want the page", status)
	}
	if got := metric(t, p.url, `incidentgraph_graphql_errors_total{code="UNTRUSTED_DOCUMENT"}`); got != 2 {
		t.Errorf("%v errors with the code UNTRUSTED_DOCUMENT are counted, want 2", got)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	log := p.stderr.String()
	if strings.Count(log, `"operation":"query Count"`) != 2 || !strings.Contains(log, `"trusted_documents":1,"only_trusted":true`) {
		t.Errorf("the log does not tell of the document, or not of two requests for it:\n%s", log)
	}
}

// TestTrustedDocuments: other documents run beside the trusted ones unless
// that is switched off; the variables of the environment stand for the flags.
func TestTrustedDocuments(t *testing.T) {
	t.Setenv("INCIDENTGRAPH_TRUSTED_DOCUMENTS", writeFile(t, filepath.Join(t.TempDir(), "documents.json"), countManifest))
	for only, want := range map[string]int{"": http.StatusOK, "true": http.StatusForbidden} {
		t.Setenv("INCIDENTGRAPH_ONLY_TRUSTED", only)
		p := startServer(t)
		if a, err := ask(http.DefaultClient, p.url, `{ service { version } }`); err != nil || a.status != want {
			t.Errorf("with INCIDENTGRAPH_ONLY_TRUSTED=%s another document gives %d %s (%v), want %d", only, a.status, a.raw, err, want)
		}
		if status, _, body := get(t, p.url+"/graphql?documentId=count"); status != http.StatusOK {
			t.Errorf("with INCIDENTGRAPH_ONLY_TRUSTED=%s the trusted document gives %d %s", only, status, body)
		}
	}
}

// TestReadmeTrusted sends the request of the README to a server with the
// README's manifest.
func TestReadmeTrusted(t *testing.T) {
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### Trusted documents\n")
	section, _, _ = strings.Cut(section, "\n## ")
	manifest := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section)
	request := regexp.MustCompile(`curl -g 'http://127\.0\.0\.1:8080(/graphql\?)(.*?)'`).FindStringSubmatch(section)
	if manifest == nil || request == nil || !strings.Contains(section, "--trusted-documents documents.json --only-trusted") {
		t.Fatalf("README.md has no manifest or no request for it:\n%s", section)
	}
	file := writeFile(t, filepath.Join(t.TempDir(), "documents.json"), manifest[1])
	p := startServer(t, "--trusted-documents", file, "--only-trusted")
	values, err := url.ParseQuery(request[2])
	if err != nil {
		t.Fatal(err)
	}
	status, _, body := get(t, p.url+request[1]+values.Encode())
	if status != http.StatusOK || strings.Contains(body, "errors") || strings.Contains(body, "null") {
		t.Errorf("%s gives %d %s", request[0], status, body)
	}
}
