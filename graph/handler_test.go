package graph

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"incidentgraph/graph/view"
)

// exchange sends one request.
func exchange(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func getURL(params ...string) string {
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	return "/graphql?" + values.Encode()
}

// TestRequests holds what is between a request and an operation: what comes in
// by which method and type, and what goes out with which status.
func TestRequests(t *testing.T) {
	h := testHandler(t, Config{Limits: Limits{MaxBodyBytes: 2000, MaxDocumentBytes: 1000}})
	const jsonBody, accept = "application/json", "application/graphql-response+json"
	typename := `{"query":"{ __typename }"}`
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		code                       string // "" for an answer with data
		header                     [2]string
	}{
		{"POST", "POST", "/", typename, []string{"Content-Type", jsonBody}, 200, "", [2]string{"Content-Type", "application/json; charset=utf-8"}},
		{"POST, new type", "POST", "/", typename, []string{"Content-Type", jsonBody, "Accept", accept}, 200, "", [2]string{"Content-Type", "application/graphql-response+json; charset=utf-8"}},
		{"charset", "POST", "/", typename, []string{"Content-Type", "application/json; charset=UTF-8"}, 200, "", [2]string{}},
		{"other charset", "POST", "/", typename, []string{"Content-Type", "application/json; charset=latin1"}, 415, codeUnsupportedMedia, [2]string{"Accept-Post", jsonBody}},
		{"compressed", "POST", "/", typename, []string{"Content-Type", jsonBody, "Content-Encoding", "gzip"}, 415, codeUnsupportedMedia, [2]string{}},
		{"no type", "POST", "/", typename, nil, 415, codeUnsupportedMedia, [2]string{}},
		{"a form", "POST", "/", "query={__typename}", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, codeUnsupportedMedia, [2]string{}},
		{"not acceptable", "POST", "/", typename, []string{"Content-Type", jsonBody, "Accept", "image/png"}, 406, codeNotAcceptable, [2]string{}},
		{"unknown member", "POST", "/", `{"query":"{ __typename }","QUERY":"{","x":1}`, []string{"Content-Type", jsonBody}, 200, "", [2]string{}},
		{"nulls", "POST", "/", `{"query":"{ __typename }","operationName":null,"variables":null,"extensions":null}`, []string{"Content-Type", jsonBody}, 200, "", [2]string{}},
		{"array", "POST", "/", `[` + typename + `]`, []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"null", "POST", "/", `null`, []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"nothing", "POST", "/", ``, []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"trailing", "POST", "/", typename + "x", []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"not UTF-8", "POST", "/", "{\"query\":\"{ __typename } #\xff\"}", []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"no query", "POST", "/", `{"variables":{}}`, []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"query a number", "POST", "/", `{"query":5}`, []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"variables an array", "POST", "/", `{"query":"{ __typename }","variables":[]}`, []string{"Content-Type", jsonBody}, 400, codeBadRequest, [2]string{}},
		{"variables too deep", "POST", "/", `{"query":"{ __typename }","variables":` + strings.Repeat(`{"a":`, 500), []string{"Content-Type", jsonBody}, 413, codeLimit, [2]string{}},
		{"body too long", "POST", "/", typename + strings.Repeat(" ", 3000), []string{"Content-Type", jsonBody}, 413, codeLimit, [2]string{}},
		{"document too long", "POST", "/", `{"query":"{ __typename }` + strings.Repeat(" ", 1100) + `"}`, []string{"Content-Type", jsonBody, "Accept", accept}, 400, codeLimit, [2]string{}},
		{"syntax", "POST", "/", `{"query":"{"}`, []string{"Content-Type", jsonBody, "Accept", accept}, 400, codeParseFailed, [2]string{}},
		{"syntax, old type", "POST", "/", `{"query":"{"}`, []string{"Content-Type", jsonBody}, 200, codeParseFailed, [2]string{}},
		{"not valid", "POST", "/", `{"query":"{ nope }"}`, []string{"Content-Type", jsonBody, "Accept", accept}, 400, codeValidationFailed, [2]string{}},
		{"not valid, old type", "POST", "/", `{"query":"{ nope }"}`, []string{"Content-Type", jsonBody}, 200, codeValidationFailed, [2]string{}},
		{"no operation", "POST", "/", `{"query":"fragment F on Query { __typename }"}`, []string{"Content-Type", jsonBody, "Accept", accept}, 400, codeValidationFailed, [2]string{}},
		{"which operation", "POST", "/", `{"query":"query A { __typename } query B { __typename }"}`, []string{"Content-Type", jsonBody, "Accept", accept}, 400, codeValidationFailed, [2]string{}},
		{"no such operation", "POST", "/", `{"query":"query A { __typename }","operationName":"B"}`, []string{"Content-Type", jsonBody, "Accept", accept}, 400, codeValidationFailed, [2]string{}},
		{"this operation", "POST", "/", `{"query":"query A { __typename } query B { nodes(ids: []) { id } }","operationName":"B"}`, []string{"Content-Type", jsonBody}, 200, "", [2]string{}},
		{"mutation", "POST", "/", `{"query":"mutation { __typename }"}`, []string{"Content-Type", jsonBody}, 400, codeUnsupported, [2]string{}},
		{"@defer", "POST", "/", `{"query":"{ ... @defer { __typename } }"}`, []string{"Content-Type", jsonBody}, 200, codeValidationFailed, [2]string{}},
		{"GET", "GET", getURL("query", "query ($a: Boolean!) { __typename @include(if: $a) }", "variables", `{"a":true}`, "operationName", "", "extensions", ""), "", nil, 200, "", [2]string{"Cache-Control", "no-cache"}},
		{"HEAD", "HEAD", getURL("query", "{ __typename }"), "", nil, 200, "", [2]string{}},
		{"GET, nothing", "GET", "/", "", nil, 400, codeBadRequest, [2]string{}},
		{"GET, bad variables", "GET", getURL("query", "{ __typename }", "variables", "[1]"), "", nil, 400, codeBadRequest, [2]string{}},
		{"GET, bad query string", "GET", "/?query=%zz", "", nil, 400, codeBadRequest, [2]string{}},
		{"GET, not UTF-8", "GET", "/?query=%ff", "", nil, 400, codeBadRequest, [2]string{}},
		{"GET, too long", "GET", getURL("query", "{ __typename }"+strings.Repeat(" ", 3000)), "", nil, 413, codeLimit, [2]string{}},
		{"GET, mutation", "GET", getURL("query", "mutation { __typename }"), "", nil, 405, codeMethod, [2]string{"Allow", "POST"}},
		{"DELETE", "DELETE", "/", "", nil, 405, codeMethod, [2]string{"Allow", allowed}},
		{"WebSocket", "GET", "/", "", []string{"Upgrade", "websocket"}, 400, codeBadRequest, [2]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := exchange(h, c.method, c.target, c.body, c.headers...)
			a := decodeAnswer(t, w)
			if w.Code != c.status || a.code() != c.code {
				t.Errorf("answer = %d, code %q, want %d, %q; %s", w.Code, a.code(), c.status, c.code, w.Body)
			}
			if c.header[0] != "" && w.Header().Get(c.header[0]) != c.header[1] {
				t.Errorf("%s = %q, want %q", c.header[0], w.Header().Get(c.header[0]), c.header[1])
			}
			if c.code != "" && strings.Contains(w.Body.String(), `"data"`) {
				t.Errorf("a request error has data: %s", w.Body)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	w := exchange(testHandler(t, Config{}), "OPTIONS", "/", "", "Origin", "https://evil.example")
	if w.Code != http.StatusNoContent || w.Header().Get("Allow") != allowed || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("OPTIONS = %d, Allow %q, want %d, %q and no CORS", w.Code, w.Header().Get("Allow"), http.StatusNoContent, allowed)
	}
}

func TestDraftStatus(t *testing.T) {
	h := testHandler(t, Config{DraftStatus: true})
	for _, c := range []struct {
		query string
		want  int
	}{
		{"{", http.StatusBadRequest},
		{"{ nope }", http.StatusUnprocessableEntity},
		{`{ incident(caseId: "T-001") { id related(first: -1) { totalCount } } }`, statusPartial},
		{"{ __typename }", http.StatusOK},
	} {
		for _, accept := range []string{typeJSON, typeGraphQL} {
			if w := post(t, h, c.query, nil, "Accept", accept); w.Code != c.want {
				t.Errorf("%s as %s: status = %d, want %d", c.query, accept, w.Code, c.want)
			}
		}
	}
}

func TestEntityTags(t *testing.T) {
	in, log := ingesterOf(t, testConcepts(t), testRecords(t)...)
	h := NewHandler(Config{Ingester: in})
	query := getURL("query", "query ($id: String!) { incident(caseId: $id) { title { text } } }", "variables", `{"id":"T-001"}`)
	first := exchange(h, "GET", query, "")
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("ETag = %q, want a weak one", tag)
	}
	for _, c := range []struct {
		name   string
		status int
		target string
		header []string
	}{
		{"the same", 304, query, nil},
		{"spelled otherwise", 304, strings.Replace(query, "%3A", ":", 1), nil},
		{"other variables", 200, strings.Replace(query, "T-001", "T-002", 1), nil},
		{"other languages", 200, query, []string{"Accept-Language", "ko"}},
		{"other type", 200, query, []string{"Accept", typeGraphQL}},
		{"with the cost", 200, query, []string{costHeader, "1"}},
		{"among others", 304, query, []string{"If-None-Match", `"x", ` + strings.TrimPrefix(tag, "W/")}},
		{"any", 200, query, []string{"If-None-Match", "*"}},
		{"another", 200, query, []string{"If-None-Match", `"x"`}},
	} {
		w := exchange(h, "GET", c.target, "", append([]string{"If-None-Match", tag}, c.header...)...)
		if w.Code != c.status {
			t.Errorf("%s: status = %d, want %d", c.name, w.Code, c.status)
		}
		if c.status == 304 && (w.Body.Len() > 0 || w.Header().Get("ETag") != tag || w.Header().Get("Cache-Control") != "no-cache") {
			t.Errorf("%s: 304 with body %q and headers %v", c.name, w.Body, w.Header())
		}
	}
	put(t, log, []byte(`{"id":"T-099"}`))
	if w := exchange(h, "GET", query, "", "If-None-Match", tag); w.Code != 200 || w.Header().Get("ETag") == tag {
		t.Errorf("after a change: status = %d, tag the same %t, want 200 and another", w.Code, w.Header().Get("ETag") == tag)
	}
	failing := exchange(h, "GET", getURL("query", `{ incidents(first: -1) { totalCount } }`), "")
	if failing.Header().Get("ETag") != "" || failing.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("an answer with errors has ETag %q, Cache-Control %q, want none, no-store", failing.Header().Get("ETag"), failing.Header().Get("Cache-Control"))
	}
}

func TestPersistedQueries(t *testing.T) {
	h := testHandler(t, Config{})
	const query = `{ service { incidentCount } }`
	sum := sha256.Sum256([]byte(query))
	hash := hex.EncodeToString(sum[:])
	for _, c := range []struct {
		name, query, extension, code string
	}{
		{"not known", "", `{"version":1,"sha256Hash":"` + hash + `"}`, codePersistedNotFound},
		{"another document", `{ __typename }`, `{"version":1,"sha256Hash":"` + hash + `"}`, codePersistedMismatch},
		{"not valid", `{ nope }`, `{"version":1,"sha256Hash":"` + hashOf("{ nope }") + `"}`, codeValidationFailed},
		{"not valid was not kept", "", `{"version":1,"sha256Hash":"` + hashOf("{ nope }") + `"}`, codePersistedNotFound},
		{"sent along", query, `{"version":1,"sha256Hash":"` + hash + `"}`, ""},
		{"known", "", `{"version":1,"sha256Hash":"` + hash + `"}`, ""},
		{"without a hash", `{ service { revision } }`, `null`, ""},
		{"sent along, when it is known to be valid", `{ service { revision } }`, `{"version":1,"sha256Hash":"` + hashOf(`{ service { revision } }`) + `"}`, ""},
		{"known after that", "", `{"version":1,"sha256Hash":"` + hashOf(`{ service { revision } }`) + `"}`, ""},
		{"another version", "", `{"version":2,"sha256Hash":"` + hash + `"}`, codeBadRequest},
		{"another shape", "", `{"version":"x","sha256Hash":[1]}`, codeBadRequest},
		{"no object", query, `5`, codeBadRequest},
	} {
		body := fmt.Sprintf(`{"query":%q,"extensions":{"persistedQuery":%s}}`, c.query, c.extension)
		a := decodeAnswer(t, exchange(h, "POST", "/", body, "Content-Type", typeJSON))
		if a.code() != c.code {
			t.Errorf("%s: code = %q, want %q", c.name, a.code(), c.code)
		}
	}
	byGet := exchange(h, "GET", getURL("extensions", `{"persistedQuery":{"version":1,"sha256Hash":"`+hash+`"}}`), "")
	if a := decodeAnswer(t, byGet); at(t, a.Data, "service", "incidentCount") != 12.0 {
		t.Errorf("by GET: %s, want 12 incidents", byGet.Body)
	}
}

func TestRequestIDs(t *testing.T) {
	h := testHandler(t, Config{})
	for _, c := range []struct {
		given string
		kept  bool
	}{{"abc-1.2~3", true}, {"", false}, {"a b", false}, {"a\"b", false}, {strings.Repeat("a", 129), false}} {
		got := exchange(h, "GET", getURL("query", "{ __typename }"), "", requestIDHeader, c.given).Header().Get(requestIDHeader)
		if (got == c.given) != c.kept || got == "" {
			t.Errorf("request id for %q = %q, want it kept: %t", c.given, got, c.kept)
		}
	}
}

// TestFailures shows that clients learn nothing of errors that are not theirs,
// and the log everything.
func TestFailures(t *testing.T) {
	var lines bytes.Buffer
	in, log := ingesterOf(t, nil, []byte(`{"id":"a"}`))
	h := NewHandler(Config{Ingester: in, Logger: slog.New(slog.NewJSONHandler(&lines, nil))})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	w := post(t, h, "query Q { __typename }", nil, requestIDHeader, "r-1")
	a := decodeAnswer(t, w)
	if w.Code != http.StatusInternalServerError || a.code() != codeInternal || a.Errors[0].Message != internalMessage || a.Errors[0].Extensions["requestId"] != "r-1" {
		t.Errorf("answer = %d %s, want an internal error with the request id", w.Code, w.Body)
	}
	var line map[string]any
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
		t.Fatalf("log %q: %v", &lines, err)
	}
	if line["request_id"] != "r-1" || !strings.Contains(fmt.Sprint(line["error"]), "store is closed") {
		t.Errorf("log = %v, want the request id and the store's error", line)
	}
}

func TestPanics(t *testing.T) {
	var lines bytes.Buffer
	in, _ := ingesterOf(t, nil)
	h := NewHandler(Config{Ingester: in, Logger: slog.New(slog.NewJSONHandler(&lines, nil))}).(*handler)

	// In a field.
	aroundFields(h, func(context.Context, graphql.Resolver) (any, error) { panic("secret 1") })
	inField := post(t, h, "{ service { version } }", nil)
	// In the transport.
	h.transports = []graphql.Transport{panicking{}}
	inTransport := post(t, h, "{ __typename }", nil)

	for i, w := range []*httptest.ResponseRecorder{inField, inTransport} {
		if a := decodeAnswer(t, w); a.code() != codeInternal || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("answer %d = %d %s, want an internal error", i, w.Code, w.Body)
		}
	}
	for _, want := range []string{"secret 1", "secret 2", `"stack":"goroutine`} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &lines)
		}
	}
}

// aroundFields runs something around the fields of every operation.
func aroundFields(h *handler, do graphql.FieldMiddleware) {
	h.engine.plain = true
	h.engine.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		graphql.GetOperationContext(ctx).ResolverMiddleware = do
		return next(ctx)
	})
}

type panicking struct{}

func (panicking) Supports(*http.Request) bool { return true }
func (panicking) Do(http.ResponseWriter, *http.Request, graphql.GraphExecutor) {
	panic("secret 2")
}

// names tells whether an answer's first error names the limit behind it.
func names(a answer, limit string, most float64) bool {
	return len(a.Errors) > 0 && a.Errors[0].Extensions["limit"] == limit && a.Errors[0].Extensions["max"] == most
}

// TestSlowBody sends a body that does not end to a real server.
func TestSlowBody(t *testing.T) {
	server := httptest.NewServer(testHandler(t, Config{Limits: Limits{Timeout: 50 * time.Millisecond}}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusRequestTimeout || a.code() != codeRequestTimeout || !names(a, "timeoutMs", 50) {
		t.Errorf("answer = %d %+v, want %d, %s and the limit", resp.StatusCode, a, http.StatusRequestTimeout, codeRequestTimeout)
	}
}

func TestTimeout(t *testing.T) {
	h := testHandler(t, Config{Limits: Limits{Timeout: time.Nanosecond}})
	if a := decodeAnswer(t, post(t, h, "{ incidents { totalCount } }", nil)); !names(a, "timeoutMs", 0) {
		t.Errorf("the error is %+v, want one that names timeoutMs", a.Errors)
	}
	w := post(t, h, "{ incidents { totalCount } }", nil)
	if a := decodeAnswer(t, w); w.Code != http.StatusServiceUnavailable || a.code() != codeTimeout {
		t.Errorf("answer = %d %s, want %d and %s", w.Code, w.Body, http.StatusServiceUnavailable, codeTimeout)
	}
}

// TestTimeoutBetweenFields ends the time of an operation after its first field.
func TestTimeoutBetweenFields(t *testing.T) {
	in, _ := ingesterOf(t, nil, []byte(`{"id":"a"}`))
	v, err := in.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	op := view.Begin(ctx, v, "", &view.Settings{Limits: DefaultLimits()})
	i := op.Incident("a")
	cancel()
	_, err = i.Similar(nil, nil, nil, nil, nil, nil, nil)
	if _, e, ok := classify(err); !ok || e["code"] != codeTimeout {
		t.Errorf("similar after the end = %v, want one with the code %s", err, codeTimeout)
	}
}

func TestOverload(t *testing.T) {
	in, _ := ingesterOf(t, nil)
	h := NewHandler(Config{Ingester: in, Limits: Limits{MaxConcurrent: 1}}).(*handler)
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	aroundFields(h, func(ctx context.Context, next graphql.Resolver) (any, error) {
		once.Do(func() { close(entered); <-leave })
		return next(ctx)
	})
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- exchange(h, "GET", getURL("query", "{ service { version } }"), "") }()
	<-entered
	w := exchange(h, "GET", getURL("query", "{ service { version } }"), "")
	if a := decodeAnswer(t, w); w.Code != http.StatusServiceUnavailable || a.code() != codeOverloaded || w.Header().Get("Retry-After") != "1" {
		t.Errorf("second operation = %d %s, want %d, %s and Retry-After", w.Code, w.Body, http.StatusServiceUnavailable, codeOverloaded)
	} else if !names(a, "maxConcurrent", 1) {
		t.Errorf("second operation = %s, want the limit in it", w.Body)
	}
	close(leave)
	if w := <-done; w.Code != http.StatusOK {
		t.Errorf("first operation = %d, want 200", w.Code)
	}
	if w := exchange(h, "GET", getURL("query", "{ service { version } }"), ""); w.Code != http.StatusOK {
		t.Errorf("operation after that = %d, want 200", w.Code)
	}

	// One that panics outside of its fields holds nothing either.
	h.engine.AroundResponses(func(context.Context, graphql.ResponseHandler) *graphql.Response { panic("x") })
	for range 2 {
		if w := exchange(h, "GET", getURL("query", "{ service { version } }"), ""); w.Code != http.StatusInternalServerError {
			t.Errorf("operation that panics = %d, want %d", w.Code, http.StatusInternalServerError)
		}
	}
}

func TestLimitsHaveDefaults(t *testing.T) {
	got := withDefaults(Limits{MaxDepth: -1, MaxCost: 7})
	want := DefaultLimits()
	want.MaxCost = 7
	if got != want {
		t.Errorf("withDefaults = %+v, want %+v", got, want)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	h := testHandler(t, Config{})
	var b strings.Builder
	for i := range 90 {
		fmt.Fprintf(&b, "a%d: related(first: -1) { totalCount } ", i)
	}
	a := decodeAnswer(t, post(t, h, `{ incidents(last: 12) { nodes { `+b.String()+` } } }`, nil))
	if len(a.Errors) != maxFieldErrors+1 || !strings.HasPrefix(a.Errors[maxFieldErrors].Message, "and ") {
		t.Errorf("%d errors, want %d and one about the rest", len(a.Errors), maxFieldErrors)
	}
	var nope strings.Builder
	for i := range 100 {
		fmt.Fprintf(&nope, "nope%d ", i)
	}
	a = decodeAnswer(t, post(t, h, "{ incident(caseId: \"a\") { "+nope.String()+"} }", nil))
	if len(a.Errors) != maxErrors+1 {
		t.Errorf("%d errors of a document, want %d and one about the rest", len(a.Errors), maxErrors)
	}
}

// TestDescribed checks that the schema is its own manual, and that what gqlgen
// adds and no transport speaks is gone.
func TestDescribed(t *testing.T) {
	schema := executableSchema().Schema()
	if schema.Directives["defer"] != nil {
		t.Error("the schema has @defer")
	}
	missing := func(description string, path ...string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", strings.Join(path, "."))
		}
	}
	for name, def := range schema.Types {
		if strings.HasPrefix(name, "__") || def.BuiltIn {
			continue
		}
		missing(def.Description, name)
		if def.Kind == ast.Scalar && def.Directives.ForName("specifiedBy") == nil {
			t.Errorf("the scalar %s has no @specifiedBy", name)
		}
		for _, v := range def.EnumValues {
			missing(v.Description, name, v.Name)
		}
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			missing(f.Description, name, f.Name)
			for _, a := range f.Arguments {
				missing(a.Description, name, f.Name, a.Name)
			}
		}
	}
}

func TestWriteSchema(t *testing.T) {
	var b strings.Builder
	if err := WriteSchema(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type Incident implements Node {", `scalar PartialDate @specifiedBy(url: "`, "The record's own id, such as `IL-0282`"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the SDL lacks %q", want)
		}
	}
	if strings.Contains(b.String(), "@defer") {
		t.Error("the SDL has @defer")
	}
}

// TestIntrospectionIsBounded asks for what grows with every level.
func TestIntrospectionIsBounded(t *testing.T) {
	h := testHandler(t, Config{})
	deep := "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"
	if a := decodeAnswer(t, post(t, h, deep, nil)); a.code() != codeValidationFailed {
		t.Errorf("deep introspection: code = %q, want %q", a.code(), codeValidationFailed)
	}
}
