package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"incidentgraph/graph/view"
	"incidentgraph/internal/ingest"
)

// costHeader asks for extensions.cost, with the value 1.
const costHeader = "GraphQL-Cost"

// allowed are the methods of the endpoint.
const allowed = "GET, HEAD, POST, OPTIONS"

// httpTransport serves GraphQL over HTTP: queries by GET and POST.
type httpTransport struct {
	ingester *ingest.Ingester
	settings *view.Settings
	present  presenter
	draft    bool
	running  chan struct{} // holds a token for each operation under way
	observe  func(context.Context, Observation)
}

// Supports tells whether the request is this transport's.
func (t *httpTransport) Supports(r *http.Request) bool { return r.Header.Get("Upgrade") == "" }

// Do answers a request.
func (t *httpTransport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	var seen Observation
	if t.observe != nil {
		defer func() { t.observe(r.Context(), seen) }()
	}
	h := w.Header()
	h.Add("Vary", "Accept, Accept-Language, "+costHeader)
	h.Set("Cache-Control", "no-store")
	mediaType := negotiate(r.Header.Get("Accept"))
	if mediaType == "" {
		seen.refuse(w, typeJSON, fail(http.StatusNotAcceptable, codeNotAcceptable, "answers are %s or %s", typeGraphQL, typeJSON))
		return
	}
	params, f := t.read(w, r)
	if f != nil {
		seen.refuse(w, mediaType, f)
		return
	}
	if params == nil { // OPTIONS
		h.Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.settings.Limits.Timeout)
	defer cancel()
	t.run(w, r.WithContext(ctx), exec, params, mediaType, &seen)
}

// read takes the request apart by its method; it gives nothing at all for
// OPTIONS.
func (t *httpTransport) read(w http.ResponseWriter, r *http.Request) (params *graphql.RawParams, f *failure) {
	switch r.Method {
	case http.MethodOptions:
		return nil, nil
	case http.MethodGet, http.MethodHead:
		params, f = readGet(r, &t.settings.Limits)
	case http.MethodPost:
		params, f = readPost(w, r, &t.settings.Limits)
	default:
		f = fail(http.StatusMethodNotAllowed, codeMethod, "use GET or POST")
		f.header = [2]string{"Allow", allowed}
	}
	if params != nil {
		params.Headers = r.Header
	}
	return params, f
}

// run runs the operation that a request asks for, and answers.
func (t *httpTransport) run(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams, mediaType string, seen *Observation) {
	oc, errs := exec.CreateOperationContext(r.Context(), params)
	seen.operation(oc)
	if r.Method != http.MethodPost && oc.Operation != nil && oc.Operation.Operation == ast.Mutation {
		f := fail(http.StatusMethodNotAllowed, codeMethod, "a mutation needs POST")
		f.header = [2]string{"Allow", http.MethodPost}
		seen.refuse(w, mediaType, f)
		return
	}
	if errs != nil {
		seen.errors(errs...)
		writeErrors(w, mediaType, statusOf(errs, mediaType, t.draft), errs...)
		return
	}
	select {
	case t.running <- struct{}{}:
	default:
		f := fail(http.StatusServiceUnavailable, codeOverloaded, "too many operations are running, try again")
		f.header = [2]string{"Retry-After", "1"}
		seen.refuse(w, mediaType, f)
		return
	}
	response, tag := t.execute(r, exec, oc, mediaType)
	if response != nil {
		seen.errors(response.Errors...)
	}
	switch {
	case response == nil:
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", revalidate)
		w.WriteHeader(http.StatusNotModified)
		return
	case tag != "" && len(response.Errors) == 0:
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", revalidate)
	}
	if response.Data == nil {
		writeErrors(w, mediaType, statusOf(response.Errors, mediaType, t.draft), response.Errors...)
		return
	}
	status := http.StatusOK
	if t.draft && len(response.Errors) > 0 {
		status = statusPartial
	}
	writeResponse(w, mediaType, status, response)
}

// revalidate is the Cache-Control of answers that may be kept: a write can
// change them at any moment, so they are asked about each time, which costs no
// more than the way here and back.
const revalidate = "no-cache"

// statusPartial is the 2026 draft's status of an answer with data and errors.
const statusPartial = 294

// execute runs an operation on a view of the newest state. When the answer is
// made it closes the view and gives the operation's token back: a client that
// is slow to take the answer holds nothing. For a GET it also gives the
// answer's entity tag, and no answer where the request names that tag.
func (t *httpTransport) execute(r *http.Request, exec graphql.GraphExecutor, oc *graphql.OperationContext, mediaType string) (response *graphql.Response, tag string) {
	defer func() { <-t.running }()
	ctx := r.Context()
	state, err := t.ingester.View(ctx)
	if err != nil {
		return &graphql.Response{Errors: gqlerror.List{t.present.present(ctx, err)}}, ""
	}
	defer state.Close()
	if r.Method != http.MethodPost {
		tag = entityTag(state, t.settings, r, oc, mediaType)
		if matches(r.Header.Get("If-None-Match"), tag) {
			return nil, tag
		}
	}
	ctx = view.With(ctx, view.Begin(ctx, state, r.Header.Get("Accept-Language"), t.settings))
	next, ctx := exec.DispatchOperation(ctx, oc)
	response = next(ctx)
	if response == nil { // its time was over before it began
		return &graphql.Response{Errors: gqlerror.List{t.present.present(ctx, context.Cause(ctx))}}, ""
	}
	response.Errors = ordered(response.Errors)
	if r.Header.Get(costHeader) == "1" {
		if response.Extensions == nil {
			response.Extensions = make(map[string]any, 1)
		}
		response.Extensions[costName] = cost(oc)
	}
	return response, tag
}
