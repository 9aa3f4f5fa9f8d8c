package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/pprof"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"incidentgraph/graph"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/library"
	"incidentgraph/internal/web"
)

// site is everything that the server answers to. Until show gives it a graph,
// it answers /graphql with 503.
type site struct {
	observer *observer
	graph    atomic.Pointer[shown]
	stopping atomic.Bool
}

// shown is a graph that is ready to be asked.
type shown struct {
	ingester *ingest.Ingester
	handler  http.Handler
}

// show makes the site ready.
func (s *site) show(cfg graph.Config) {
	cfg.Observe = s.observer.operation
	s.graph.Store(&shown{cfg.Ingester, graph.NewHandler(cfg)})
}

// public gives the handler of the public address. Metrics are on it where
// there is no address for them alone.
func (s *site) public(origins, names []string, withMetrics bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		page := url.URL{Path: "/graphiql/", RawQuery: r.URL.RawQuery} // which may hold what it is to show
		http.Redirect(w, r, page.String(), http.StatusFound)
	})
	mux.Handle("/graphiql/", http.StripPrefix("/graphiql", web.GraphiQL()))
	mux.Handle("/graphql", &cors{origins, http.HandlerFunc(s.serveGraph)})
	mux.Handle("GET /library.jsonl", &cors{origins, serveLibrary()})
	s.addProbes(mux)
	if withMetrics {
		mux.Handle("GET /metrics", s.observer.metrics.handler())
	}
	return s.observer.wrap(withSecurityHeaders(withoutBodies(&hosts{names, mux})))
}

// admin gives the handler of the address for operators.
func (s *site) admin(names []string) http.Handler {
	mux := http.NewServeMux()
	s.addProbes(mux)
	mux.Handle("GET /metrics", s.observer.metrics.handler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return withSecurityHeaders(withoutBodies(&hosts{names, mux}))
}

// addProbes adds what load balancers ask: whether the program runs, and
// whether it should be sent requests.
func (s *site) addProbes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if reason := s.notReady(r.Context()); reason != "" {
			answer(w, http.StatusServiceUnavailable, reason)
			return
		}
		answer(w, http.StatusOK, "ready")
	})
}

// notReady tells why the site should be sent no requests, "" where it should.
func (s *site) notReady(ctx context.Context) string {
	if s.stopping.Load() {
		return "stopping"
	}
	g := s.graph.Load()
	if g == nil {
		return "loading"
	}
	// A view is one of the newest state, which the index has caught up with.
	view, err := g.ingester.View(ctx)
	if err != nil {
		s.observer.log.Error("not ready", "error", err)
		return "the store cannot be read"
	}
	view.Close()
	return ""
}

func (s *site) serveGraph(w http.ResponseWriter, r *http.Request) {
	if g := s.graph.Load(); g != nil {
		g.handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"errors":[{"message":"the graph is being loaded, try again soon","extensions":{"code":"LOADING"}}]}`)
}

// bodyTimeout bounds how long a body may take that nobody reads.
const bodyTimeout = 5 * time.Second

// withoutBodies bounds the time for bodies that a request should not have:
// net/http reads some of what a handler leaves before it takes the
// connection's next request. The graph handler sets its own deadline.
func withoutBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// serveLibrary gives a handler of the starter library with its licence. The
// lines are made once, when they are first asked for.
func serveLibrary() http.Handler {
	lines := sync.OnceValues(library.JSONLines)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := lines()
		if err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/jsonl; charset=utf-8")
		h.Set("Link", "<"+library.LicenseURL+`>; rel="license"`)
		h.Set("Content-Disposition", `attachment; filename="library.jsonl"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}
