package main

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"incidentgraph/graph"
)

// newTestSite makes a site without a graph; what it logs is in the output.
func newTestSite() (*site, *output) {
	log := new(output)
	return &site{observer: &observer{
		log:     slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		metrics: newMetrics("test", "none"),
		tracer:  noop.NewTracerProvider().Tracer(""),
	}}, log
}

// showLibrary gives a site the starter library to show.
func showLibrary(t *testing.T, s *site) {
	t.Helper()
	in, err := openLibrary(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.show(graph.Config{Ingester: in, Logger: s.observer.log})
}

// do sends a request to a handler; header holds names and values by turns.
func do(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const someQuery = `{"query":"{ service { version } }"}`

func TestReady(t *testing.T) {
	s, _ := newTestSite()
	h := s.public(nil, nil, true)
	check := func(when string, healthz, readyz, graphql int) {
		t.Helper()
		if got := do(h, "GET", "/healthz", "").Code; got != healthz {
			t.Errorf("%s: GET /healthz = %d, want %d", when, got, healthz)
		}
		if got := do(h, "GET", "/readyz", "").Code; got != readyz {
			t.Errorf("%s: GET /readyz = %d, want %d", when, got, readyz)
		}
		w := do(h, "POST", "/graphql", someQuery, "Content-Type", "application/json")
		if w.Code != graphql || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: POST /graphql = %d %s, want %d", when, w.Code, w.Body, graphql)
		}
		if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: POST /graphql does not say when to come again", when)
		}
	}
	check("before it is loaded", 200, 503, 503)
	showLibrary(t, s)
	check("loaded", 200, 200, 200)
	s.stopping.Store(true)
	check("stopping", 200, 503, 200)
}

// TestRoot: the page at / keeps what the address says to show.
func TestRoot(t *testing.T) {
	s, _ := newTestSite()
	h := s.public(nil, nil, true)
	for target, want := range map[string]string{
		"/":                          "/graphiql/",
		"/?query=%7Ba%7D&x=//b.test": "/graphiql/?query=%7Ba%7D&x=//b.test",
	} {
		if w := do(h, "GET", target, ""); w.Code != http.StatusFound || w.Header().Get("Location") != want {
			t.Errorf("GET %s = %d to %q, want %d to %q", target, w.Code, w.Header().Get("Location"), http.StatusFound, want)
		}
	}
}

func TestCORS(t *testing.T) {
	const friend, stranger = "https://friend.example", "https://stranger.example"
	s, _ := newTestSite()
	showLibrary(t, s)
	list := s.public([]string{friend, "http://localhost:3000"}, nil, true)
	for _, tt := range []struct {
		name    string
		handler http.Handler
		origin  string
		want    string
	}{
		{"none allowed", s.public(nil, nil, true), friend, ""},
		{"a list", list, friend, friend},
		{"a list", list, "http://localhost:3000", "http://localhost:3000"},
		{"a list", list, stranger, ""},
		{"a list", list, "https://friend.example.stranger.example", ""},
		{"a list", list, "http://friend.example", ""},
		{"a list", list, "null", ""},
		{"all", s.public([]string{"*"}, nil, true), stranger, "*"},
	} {
		w := do(tt.handler, "POST", "/graphql", someQuery, "Content-Type", "application/json", "Origin", tt.origin)
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != tt.want || w.Code != 200 {
			t.Errorf("%s: POST from %s = %d, allowed %q, want 200, %q", tt.name, tt.origin, w.Code, got, tt.want)
		}
		if w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: POST from %s allows credentials", tt.name, tt.origin)
		}
		w = do(tt.handler, "OPTIONS", "/graphql", "", "Origin", tt.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
		h := w.Header()
		if got := h.Get("Access-Control-Allow-Origin"); got != tt.want {
			t.Errorf("%s: preflight from %s allows %q, want %q", tt.name, tt.origin, got, tt.want)
		}
		allowed := strings.Contains(h.Get("Access-Control-Allow-Headers"), "Content-Type") && strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST")
		if allowed != (tt.want != "") {
			t.Errorf("%s: preflight from %s allows %q %q", tt.name, tt.origin, h.Get("Access-Control-Allow-Methods"), h.Get("Access-Control-Allow-Headers"))
		}
	}
	if w := do(list, "GET", "/graphql?query={service{version}}", ""); !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Origin") {
		t.Errorf("Vary is %q, want Origin among them", w.Header().Values("Vary"))
	}
}

// TestCrossSite: no request that a page may send without asking first runs
// anything that has an effect.
func TestCrossSite(t *testing.T) {
	s, _ := newTestSite()
	showLibrary(t, s)
	h := s.public(nil, nil, true)
	for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		w := do(h, "POST", "/graphql", someQuery, "Content-Type", contentType, "Origin", "https://stranger.example")
		if w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("POST of %q = %d %s, want 415", contentType, w.Code, w.Body)
		}
	}
	if w := do(h, "GET", "/graphql?query=mutation{x}", ""); w.Code < 400 {
		t.Errorf("a mutation by GET = %d %s, want an error", w.Code, w.Body)
	}
}

func TestHosts(t *testing.T) {
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	open := &net.TCPAddr{IP: net.IPv6unspecified, Port: 8080}
	for _, tt := range []struct {
		address net.Addr
		allowed []string
		host    string
		want    int
	}{
		{loopback, nil, "127.0.0.1:8080", 200},
		{loopback, nil, "[::1]:8080", 200},
		{loopback, nil, "localhost:8080", 200},
		{loopback, nil, "LOCALHOST.:8080", 200},
		{loopback, nil, "graph.localhost", 200},
		{loopback, nil, "rebound.example:8080", 421},
		{loopback, nil, "localhost.example", 421},
		{loopback, []string{"graph.example"}, "graph.example", 200},
		{loopback, []string{"graph.example"}, "Graph.example:443", 200},
		{loopback, []string{"graph.example"}, "rebound.example", 421},
		{loopback, nil, "", 200}, // HTTP/1.0
		{open, nil, "anything.example", 200},
		{open, []string{"graph.example"}, "anything.example", 421},
		{open, []string{"graph.example"}, "10.1.2.3:8080", 200},
		{open, []string{"graph.example"}, "localhost", 200},
	} {
		s, _ := newTestSite()
		names := hostNames(tt.allowed, tt.address)
		for name, h := range map[string]http.Handler{"public": s.public(nil, names, true), "admin": s.admin(names)} {
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Host = tt.host
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != tt.want {
				t.Errorf("%s at %v, allowed %q: GET /healthz of %q = %d, want %d", name, tt.address, tt.allowed, tt.host, w.Code, tt.want)
			}
		}
	}
}

func TestValidOrigins(t *testing.T) {
	for origin, want := range map[string]bool{
		"https://example.org":      true,
		"http://localhost:3000":    true,
		"http://[::1]:3000":        true,
		"*":                        true,
		"https://example.org/":     false,
		"https://example.org/path": false,
		"https://Example.org":      false,
		"example.org":              false,
		"https://*.example.org":    false,
		"null":                     false,
		"":                         false,
	} {
		if err := validOrigins([]string{origin}); (err == nil) != want {
			t.Errorf("validOrigins(%q) = %v, want valid %v", origin, err, want)
		}
	}
}

// TestPanic: a handler that panics costs one answer.
func TestPanic(t *testing.T) {
	s, log := newTestSite()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bad", func(http.ResponseWriter, *http.Request) { panic("a secret") })
	w := do(s.observer.wrap(mux), "GET", "/bad", "", "X-Request-Id", "the-one")
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") || !strings.Contains(w.Body.String(), "the-one") {
		t.Errorf("GET /bad = %d %q, want 500 with the request's id alone", w.Code, w.Body)
	}
	for _, want := range []string{"a secret", "site_test.go", `"request_id":"the-one"`, `"status":500`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
}
