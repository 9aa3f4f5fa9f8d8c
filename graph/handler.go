// Package graph is the GraphQL layer: operations become calls on index,
// analysis, search and ingest.
//
// A request passes, in this order: the media type of its answer (negotiate),
// its message (request), the response cache (question, cache), the document
// where the request only names one (trusted, persisted), the engine's checks,
// each bounding the work of the next one (document, shape, input, coerce, cost),
// a view of the newest state (transport), package direct or, where that gives
// up, gqlgen's executor, and the answer (response). The view is closed before
// the answer goes out, so a slow client holds nothing.
//
// The sub-packages: view holds the Go types of the schema, scalar those of
// its scalars; generated and model are made from schema.graphqls and gqlgen.yml
// by gqlgen and by a plugin of package direct's, with `go generate ./graph`.
//
// What comes later has its places: transports for subscriptions beside the
// one for GET and POST.
package graph

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/formatter"

	"incidentgraph/graph/generated"
	"incidentgraph/graph/view"
	"incidentgraph/internal/ingest"
)

// Limits bound what a request may ask for.
type Limits = view.Limits

// DefaultLimits suit a server on the open internet.
func DefaultLimits() Limits { return view.DefaultLimits() }

// Config is what a handler needs.
type Config struct {
	// Ingester gives the views that operations see.
	Ingester *ingest.Ingester
	// Limits that are not positive are the default ones: none can be
	// switched off.
	Limits Limits
	// Logger gets the errors that clients must not see; nil drops them.
	Logger *slog.Logger
	// Version is that of the program, for service.version.
	Version string
	// ResponseCacheBytes bounds the memory that the response cache takes; 0,
	// or less, is no cache. DefaultResponseCacheBytes suits a server.
	ResponseCacheBytes int
	// TrustedDocuments may be nil; requests can name them by their ids.
	TrustedDocuments *TrustedDocuments
	// OnlyTrusted refuses every request for another document.
	OnlyTrusted bool
	// DraftStatus gives the status codes of the 2026 draft of GraphQL over
	// HTTP instead of those that today's audits ask for; see statusOf.
	DraftStatus bool
	// Observe is called once for each request, after its answer, with the
	// request's context; nil is not called.
	Observe func(context.Context, Observation)
}

// DefaultResponseCacheBytes holds some ten thousand answers of a few KB each.
const DefaultResponseCacheBytes = 64 << 20

// handler serves GraphQL over HTTP.
type handler struct {
	engine     *engine
	presenter  presenter
	transports []graphql.Transport
}

// NewHandler makes the handler of the GraphQL endpoint.
func NewHandler(cfg Config) http.Handler {
	settings := &view.Settings{Version: cfg.Version, Limits: withDefaults(cfg.Limits), Concepts: cfg.Ingester.Concepts()}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	trusted := cfg.TrustedDocuments
	if trusted == nil {
		trusted = &TrustedDocuments{}
	}
	h := &handler{presenter: presenter{log, &settings.Limits}}
	h.engine = newEngine(executableSchema(), &settings.Limits, h.presenter, trusted, cfg.OnlyTrusted)
	h.transports = []graphql.Transport{&httpTransport{
		ingester: cfg.Ingester,
		settings: settings,
		salt:     saltOf(settings, cfg.Ingester.Concepts(), trusted, cfg.OnlyTrusted),
		answers:  newAnswers(cfg.ResponseCacheBytes),
		present:  h.presenter,
		draft:    cfg.DraftStatus,
		running:  make(chan struct{}, settings.Limits.MaxConcurrent),
		observe:  cfg.Observe,
	}}
	return h
}

// executableSchema gives the schema without @defer, which gqlgen declares and
// no transport here speaks: over plain HTTP it would lose data.
func executableSchema() graphql.ExecutableSchema {
	config := generated.Config{Resolvers: &Resolver{}}
	schema := *generated.NewExecutableSchema(config).Schema()
	schema.Directives = maps.Clone(schema.Directives)
	delete(schema.Directives, "defer")
	config.Schema = &schema
	return generated.NewExecutableSchema(config)
}

// WriteSchema writes the schema as SDL, descriptions included.
func WriteSchema(w io.Writer) error {
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(executableSchema().Schema())
	_, err := w.Write(b.Bytes())
	return err
}

// withDefaults puts the default in for every limit that is not positive.
func withDefaults(l Limits) Limits {
	d := DefaultLimits()
	for _, limit := range []struct {
		value    *int
		standard int
	}{
		{&l.MaxDepth, d.MaxDepth},
		{&l.MaxCost, d.MaxCost},
		{&l.MaxPageSize, d.MaxPageSize},
		{&l.MaxHops, d.MaxHops},
		{&l.MaxNodes, d.MaxNodes},
		{&l.MaxAliases, d.MaxAliases},
		{&l.MaxBodyBytes, d.MaxBodyBytes},
		{&l.MaxDocumentBytes, d.MaxDocumentBytes},
		{&l.MaxTokens, d.MaxTokens},
		{&l.MaxFields, d.MaxFields},
		{&l.MaxRootFields, d.MaxRootFields},
		{&l.MaxConcurrent, d.MaxConcurrent},
		{&l.MaxResponseBytes, d.MaxResponseBytes},
	} {
		if *limit.value <= 0 {
			*limit.value = limit.standard
		}
	}
	if l.Timeout <= 0 {
		l.Timeout = d.Timeout
	}
	return l
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := withRequestID(r.Context(), r.Header.Get(requestIDHeader))
	w.Header().Set(requestIDHeader, requestID(ctx))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
				panic(p)
			}
			err := h.presenter.present(ctx, recovered(ctx, p))
			writeErrors(w, typeJSON, http.StatusInternalServerError, err)
		}
	}()
	r = r.WithContext(ctx)
	for _, t := range h.transports {
		if t.Supports(r) {
			t.Do(w, r, h.engine)
			return
		}
	}
	f := fail(http.StatusBadRequest, codeBadRequest, "this server has no such transport")
	writeErrors(w, typeJSON, f.status, f.err)
}

// requestIDHeader names a request in the logs of all that it passes through.
const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// withRequestID gives a context with the id that a request came with, a new
// one where it has none that is fit for logs.
func withRequestID(ctx context.Context, given string) context.Context {
	if !isRequestID(given) {
		given = rand.Text()
	}
	return context.WithValue(ctx, requestIDKey{}, given)
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

func isRequestID(s string) bool {
	const maxRequestID = 128
	return s != "" && len(s) <= maxRequestID && strings.Trim(s, "-._~0123456789"+
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}
