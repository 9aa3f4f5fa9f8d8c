package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRequestLog sends requests with secrets in them and reads the log.
func TestRequestLog(t *testing.T) {
	p := startServer(t)
	const query = `query Secretive($id: String!) { incident(caseId: $id) { caseId } service { version } }`
	send := func(method, target, body string) {
		t.Helper()
		r, err := http.NewRequest(method, p.url+target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Request-Id", "request-"+method)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("X-Request-Id"); got != "request-"+method {
			t.Errorf("%s %s is answered with the request id %q", method, target, got)
		}
	}
	body, err := json.Marshal(map[string]any{"query": query, "variables": map[string]string{"id": "SECRET-1"}})
	if err != nil {
		t.Fatal(err)
	}
	send("POST", "/graphql", string(body))
	send("GET", "/graphql?query="+url.QueryEscape(`{ incidents(first: 1000) { totalCount } }`)+"&variables="+url.QueryEscape(`{"x":"SECRET-2"}`), "")
	send("PUT", "/graphql", `{"query":"SECRET-3"}`)
	send("HEAD", "/healthz", "")
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}

	log := p.stderr.String()
	if strings.Contains(log, "SECRET") {
		t.Errorf("the log tells secrets:\n%s", log)
	}
	lines := make(map[string]map[string]any)
	for line := range strings.Lines(log) {
		var attributes map[string]any
		if err := json.Unmarshal([]byte(line), &attributes); err != nil {
			t.Fatalf("a line of the log is no JSON: %s", line)
		}
		if attributes["msg"] == "request" {
			lines[attributes["request_id"].(string)] = attributes
		}
	}
	if len(lines) != 3 {
		t.Fatalf("the log has %d lines of requests, want 3 (the probe is at level debug):\n%s", len(lines), log)
	}
	post, get, put := lines["request-POST"], lines["request-GET"], lines["request-PUT"]
	for _, tt := range []struct {
		line      map[string]any
		attribute string
		want      any
	}{
		{post, "level", "INFO"}, {post, "method", "POST"}, {post, "path", "/graphql"}, {post, "status", 200.0},
		{post, "operation", "query Secretive"}, {post, "codes", nil}, {post, "cache", "miss"},
		{get, "status", 200.0}, {get, "operation", "query"}, {get, "codes", "LIMIT_EXCEEDED"},
		{put, "status", 405.0}, {put, "codes", "METHOD_NOT_ALLOWED"}, {put, "operation", ""},
	} {
		if got := tt.line[tt.attribute]; got != tt.want {
			t.Errorf("%s is logged with %s %v, want %v", tt.line["request_id"], tt.attribute, got, tt.want)
		}
	}
	if hash, ok := post["hash"].(string); !ok || len(hash) != 64 || post["cost"].(float64) <= 0 || post["bytes"].(float64) <= 0 || post["duration_ms"].(float64) <= 0 {
		t.Errorf("the line of the POST lacks something: %v", post)
	}
}

func TestLogFormat(t *testing.T) {
	for format, want := range map[string]string{"auto": `^{"time":`, "json": `^{"time":`, "text": `^time=`} {
		p := startServer(t, "--log-format", format, "--log-level", "debug")
		get(t, p.url+"/healthz")
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		if log := p.stderr.String(); !regexp.MustCompile(want).MatchString(log) || !strings.Contains(log, "/healthz") {
			t.Errorf("--log-format %s logs\n%s, want %s and the probe", format, log, want)
		}
	}
}

// metric reads one value of /metrics, -1 where it is missing.
func metric(t testing.TB, base, name string) float64 {
	t.Helper()
	_, _, page := get(t, base+"/metrics")
	for line := range strings.Lines(page) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatalf("/metrics: %s: %v", line, err)
			}
			return v
		}
	}
	return -1
}

func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "case.db")
	p := startServer(t, "--db", db)
	if got := metric(t, p.url, "incidentgraph_last_import_timestamp_seconds"); got != 0 {
		t.Errorf("the last import was at %v before there was one", got)
	}
	mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(dir, "a.jsonl"), `{"id":"A-1"}`+"\n"+`{"id":"A-2"}`))
	began := time.Now()
	mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(dir, "b.jsonl"), `{"id":"A-2"}`+"\n"+`{"id":"A-3"}`))
	ended := time.Now()
	for range 3 {
		if _, err := ask(http.DefaultClient, p.url, `{ incidents { totalCount } }`); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{`{ nothing }`, `{`, `{ incidents(first: 1000) { totalCount } }`} {
		if _, err := ask(http.DefaultClient, p.url, bad); err != nil {
			t.Fatal(err)
		}
	}
	get(t, p.url+"/nowhere/at/all")
	for name, want := range map[string]float64{
		`incidentgraph_http_requests_total{method="POST",route="/graphql",status="200"}`: 6,
		`incidentgraph_http_requests_total{method="GET",route="none",status="404"}`:      1,
		`incidentgraph_http_request_duration_seconds_count{route="/graphql"}`:            6,
		`incidentgraph_graphql_errors_total{code="GRAPHQL_VALIDATION_FAILED"}`:           1,
		`incidentgraph_graphql_errors_total{code="GRAPHQL_PARSE_FAILED"}`:                1,
		`incidentgraph_graphql_errors_total{code="LIMIT_EXCEEDED"}`:                      1,
		`incidentgraph_response_cache_total{result="miss"}`:                              4, // the bad ones, too
		`incidentgraph_response_cache_total{result="hit"}`:                               2,
		`incidentgraph_http_requests_in_flight`:                                          1, // the scrape
		`incidentgraph_store_revision`:                                                   2,
		`incidentgraph_incidents`:                                                        3,
		`incidentgraph_imports_total{result="ok"}`:                                       2,
		`incidentgraph_imported_records_total{outcome="created"}`:                        3,
		`incidentgraph_imported_records_total{outcome="unchanged"}`:                      1,
	} {
		if got := metric(t, p.url, name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"incidentgraph_last_import_timestamp_seconds", "incidentgraph_store_file_bytes", "incidentgraph_index_bytes",
		`incidentgraph_http_response_bytes_total{route="/graphql"}`, "incidentgraph_graphql_cost_sum", "go_goroutines", "process_open_fds"} {
		if got := metric(t, p.url, name); got <= 0 {
			t.Errorf("%s = %v, want more than 0", name, got)
		}
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p = startServer(t, "--db", db) // knows of the last import from the store
	lastImport := metric(t, p.url, "incidentgraph_last_import_timestamp_seconds")
	if at := time.UnixMicro(int64(lastImport * 1e6)); at.Before(began) || at.After(ended) {
		t.Errorf("after a restart the last import was at %v, want %v to %v", at, began, ended)
	}
}

// collector is an OpenTelemetry collector that keeps what it is sent.
type collector struct {
	mu   sync.Mutex
	sent bytes.Buffer // guarded by mu
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/v1/traces" {
		_, _ = io.Copy(&c.sent, body)
	}
}

func TestTracing(t *testing.T) {
	c := new(collector)
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_SERVICE_NAME", "graph-under-test")
	p := startServer(t)
	r, err := http.NewRequest(http.MethodPost, p.url+"/graphql", strings.NewReader(`{"query":"query Traced($x: String! = \"SECRET-1\") { incident(caseId: $x) { caseId } }"}`))
	if err != nil {
		t.Fatal(err)
	}
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	r.Header.Set("Traceparent", "00-"+traceID+"-00f067aa0ba902b7-01")
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := p.stop(); err != nil { // sends what is left
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent.String()
	id := []byte{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36}
	for _, want := range []string{"query Traced", "graph-under-test", "http.response.status_code", "graphql.document.sha256", string(id)} {
		if !strings.Contains(sent, want) {
			t.Errorf("the collector was not sent %q", want)
		}
	}
	if strings.Contains(sent, "SECRET") {
		t.Error("the collector was sent a value of the document")
	}
	if !strings.Contains(p.stderr.String(), `"trace_id":"`+traceID+`"`) {
		t.Errorf("the log does not tell the trace:\n%s", p.stderr.String())
	}
}

func TestRequestIDs(t *testing.T) {
	for _, bad := range []string{"", "a b", "a\nb", strings.Repeat("x", 129), `"`, "é"} {
		if got := requestID(bad); got == bad || len(got) < 20 {
			t.Errorf("requestID(%q) = %q, want a new one", bad, got)
		}
	}
	for _, good := range []string{"a", "4bf92f35-77b3.4da6_a3~CE", strings.Repeat("x", 128)} {
		if got := requestID(good); got != good {
			t.Errorf("requestID(%q) = %q, want the same", good, got)
		}
	}
}

func TestLabels(t *testing.T) {
	got := []string{route(""), route("GET /readyz"), route("/graphql"), knownMethod("GET"), knownMethod("MADEUP"), statusLabel(200), statusLabel(294), statusLabel(999)}
	want := []string{"none", "/readyz", "/graphql", "GET", "other", "200", "294", "other"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
