package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"incidentgraph/graph"
)

// requestIDHeader names a request in the logs of all that it passes through.
// A client or proxy may choose the id; see requestID.
const requestIDHeader = "X-Request-Id"

// observer logs, counts and traces requests.
type observer struct {
	log     *slog.Logger
	metrics *metrics
	tracer  trace.Tracer
}

// observed is what is known of one request at its end.
type observed struct {
	response *responseWriter
	graphql  *graph.Observation // nil where it reached no GraphQL
	route    string             // pattern that it matched, "" if none
	took     time.Duration
}

type observedKey struct{}

// operation is the graph handler's way to tell what it was asked.
func (o *observer) operation(ctx context.Context, seen graph.Observation) {
	if request, ok := ctx.Value(observedKey{}).(*observed); ok {
		request.graphql = &seen
	}
	o.metrics.operation(seen)
}

// wrap observes the requests to a handler, which routes them with a ServeMux.
func (o *observer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		id := requestID(r.Header.Get(requestIDHeader))
		r.Header.Set(requestIDHeader, id) // for the graph handler
		w.Header().Set(requestIDHeader, id)
		seen := &observed{response: &responseWriter{ResponseWriter: w}}
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := o.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
		r = r.WithContext(context.WithValue(ctx, observedKey{}, seen))
		o.metrics.inFlight.Inc()
		defer func() {
			o.metrics.inFlight.Dec()
			p := recover()
			if p != nil {
				o.failed(r, seen, id, p)
			}
			seen.took, seen.route = time.Since(began), r.Pattern
			o.metrics.request(r.Method, seen)
			o.logRequest(r, seen, id, span.SpanContext())
			endSpan(span, r, seen)
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
				panic(p)
			}
		}()
		next.ServeHTTP(seen.response, r)
	})
}

// failed answers a request whose handler has panicked.
func (o *observer) failed(r *http.Request, seen *observed, id string, p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
		return
	}
	o.log.ErrorContext(r.Context(), "internal error", "request_id", id, "error", fmt.Sprintf("panic: %v", p), "stack", string(debug.Stack()))
	if seen.response.status == 0 {
		http.Error(seen.response, "internal error, request "+id, http.StatusInternalServerError)
	}
}

// maxLogged bounds what clients can write into one attribute of the log.
const maxLogged = 200

// logRequest writes one line. The query string may hold variables, so only
// the path is told. Probes and scrapes are told at level debug.
func (o *observer) logRequest(r *http.Request, seen *observed, id string, span trace.SpanContext) {
	level := slog.LevelInfo
	if quiet(r.URL.Path) && seen.response.statusCode() < http.StatusInternalServerError {
		level = slog.LevelDebug
	}
	attributes := make([]slog.Attr, 0, 12)
	attributes = append(attributes,
		slog.String("request_id", id),
		slog.String("method", cut(r.Method)),
		slog.String("path", cut(r.URL.Path)),
		slog.Int("status", seen.response.statusCode()),
		slog.Float64("duration_ms", milliseconds(seen.took)),
		slog.Int64("bytes", seen.response.bytes),
	)
	if q := seen.graphql; q != nil {
		attributes = append(attributes,
			slog.String("operation", cut(strings.TrimSpace(q.Kind+" "+q.Name))),
			slog.String("hash", q.Hash),
			slog.Int("cost", q.Cost),
		)
		if q.Cache != "" {
			attributes = append(attributes, slog.String("cache", q.Cache))
		}
		if len(q.Codes) > 0 {
			attributes = append(attributes, slog.String("codes", cut(strings.Join(q.Codes, " "))))
		}
	}
	if span.HasTraceID() {
		attributes = append(attributes, slog.String("trace_id", span.TraceID().String()))
	}
	o.log.LogAttrs(r.Context(), level, "request", attributes...)
}

func quiet(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

func cut(s string) string {
	if len(s) > maxLogged {
		return strings.ToValidUTF8(s[:maxLogged], "") + "…"
	}
	return s
}

// endSpan names the span by what was asked, as the semantic conventions of
// OpenTelemetry for HTTP and GraphQL servers have it.
func endSpan(span trace.Span, r *http.Request, seen *observed) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	status := seen.response.statusCode()
	if seen.route != "" {
		span.SetName(seen.route)
	}
	span.SetAttributes(
		attribute.String("http.request.method", cut(r.Method)),
		attribute.String("http.route", route(seen.route)),
		attribute.String("url.path", cut(r.URL.Path)),
		attribute.Int("http.response.status_code", status),
		attribute.Int64("http.response.body.size", seen.response.bytes),
	)
	if q := seen.graphql; q != nil && q.Kind != "" {
		span.SetName(cut(strings.TrimSpace(q.Kind + " " + q.Name)))
		span.SetAttributes(
			attribute.String("graphql.operation.type", q.Kind),
			attribute.String("graphql.operation.name", cut(q.Name)),
			attribute.String("graphql.document.sha256", q.Hash),
			attribute.Int("graphql.cost", q.Cost),
			attribute.StringSlice("graphql.error.codes", q.Codes),
		)
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}

// requestID gives the id that a request came with, or a new one where that is
// none that is fit for logs.
func requestID(given string) string {
	const maxID = 128
	if given == "" || len(given) > maxID || strings.Trim(given, "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return rand.Text()
	}
	return given
}

// responseWriter takes note of the status and counts the bytes of a body.
type responseWriter struct {
	http.ResponseWriter
	status int // 0 before the header is written
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	if w.status < http.StatusOK { // informational ones come before
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.status < http.StatusOK {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach what is below.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *responseWriter) statusCode() int {
	if w.status == 0 {
		return http.StatusOK // what net/http makes of a handler that writes nothing
	}
	return w.status
}
