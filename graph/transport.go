package graph

import (
	"bytes"
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
	salt     key      // of questions
	answers  *answers // nil without response cache
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
	mediaType := negotiate(listHeader(r.Header, "Accept"))
	if mediaType == "" {
		seen.refuse(w, typeJSON, fail(http.StatusNotAcceptable, codeNotAcceptable, "answers are %s or %s", typeGraphQL, typeJSON))
		return
	}
	m, f := t.read(w, r)
	if f != nil {
		seen.refuse(w, mediaType, f)
		return
	}
	if m == nil { // OPTIONS
		h.Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	q := t.questionOf(r, m, mediaType)
	k, cached := t.newest(r.Context(), &q)
	if a := t.answers.get(k); a != nil && cached {
		repeat(w, r, &q, a, &seen)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.settings.Limits.Timeout)
	defer cancel()
	var making *making
	if cached {
		var a *reply
		if a, making = t.answers.begin(ctx, k); a != nil {
			repeat(w, r, &q, a, &seen)
			return
		}
		defer making.end(nil, 0) // whatever happens
		seen.Cache = cacheMiss
	}
	params, f := m.decode()
	if f != nil {
		seen.refuse(w, mediaType, f)
		return
	}
	params.Headers = r.Header
	t.run(w, r.WithContext(ctx), exec, params, &q, making, &seen)
}

// newest gives the key of the answer to a question in the newest state, false
// where the cache is not to be asked.
func (t *httpTransport) newest(ctx context.Context, q *question) (key, bool) {
	if t.answers == nil {
		return key{}, false
	}
	position, err := t.ingester.Head(ctx)
	return q.at(position), err == nil // who makes the answer meets the error again
}

// repeat gives an answer that was made before.
func repeat(w http.ResponseWriter, r *http.Request, q *question, a *reply, seen *Observation) {
	*seen = a.seen
	seen.Cache = cacheHit
	if !q.post && clientHas(r, a.key) {
		notModified(w, a.key)
		return
	}
	deliver(w, q, a.key, a.body)
}

// deliver sends the body of an answer without errors, which the client of a
// GET may keep.
func deliver(w http.ResponseWriter, q *question, k key, body []byte) {
	if !q.post {
		setTag(w, k)
	}
	write(w, q.mediaType, http.StatusOK, body)
}

// read takes a message by its method; it gives nothing at all for OPTIONS.
func (t *httpTransport) read(w http.ResponseWriter, r *http.Request) (m *message, f *failure) {
	switch r.Method {
	case http.MethodOptions:
		return nil, nil
	case http.MethodGet, http.MethodHead:
		m, f = readGet(r, &t.settings.Limits)
	case http.MethodPost:
		m, f = readPost(w, r, &t.settings.Limits)
	default:
		f = fail(http.StatusMethodNotAllowed, codeMethod, "use GET or POST")
		f.header = [2]string{"Allow", allowed}
	}
	return m, f
}

// run runs the operation that a request asks for, and answers.
func (t *httpTransport) run(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams, q *question, making *making, seen *Observation) {
	mediaType := q.mediaType
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
		naming(f.err.Extensions, "maxConcurrent", t.settings.Limits.MaxConcurrent)
		f.header = [2]string{"Retry-After", "1"}
		seen.refuse(w, mediaType, f)
		return
	}
	response, state := t.execute(r, exec, oc, q)
	if response == nil {
		notModified(w, q.at(state))
		return
	}
	seen.errors(response.Errors...)
	if len(response.Errors) > 0 {
		making.end(nil, 0) // now: the client may take its time
	}
	if response.Data == nil {
		writeErrors(w, mediaType, statusOf(response.Errors, mediaType, t.draft), response.Errors...)
		return
	}
	body := appendBody(borrow(), response)
	recycle(response.Data)
	defer recycle(body)
	if len(response.Errors) > 0 {
		status := http.StatusOK
		if t.draft {
			status = statusPartial
		}
		write(w, mediaType, status, body)
		return
	}
	var k key
	if making != nil || !q.post {
		k = q.at(state)
	}
	if making != nil && oc.Operation.Operation == ast.Query {
		making.end(&reply{k, bytes.Clone(body), *seen}, state.Sequence)
	}
	deliver(w, q, k, body)
}

// statusPartial is the 2026 draft's status of an answer with data and errors.
const statusPartial = 294

// execute runs an operation on a view of the newest state. When the answer is
// made it closes the view and gives the operation's token back: a client that
// is slow to take the answer holds nothing. It also gives the position of the
// state, and no answer where a GET says that its client has it.
func (t *httpTransport) execute(r *http.Request, exec graphql.GraphExecutor, oc *graphql.OperationContext, q *question) (response *graphql.Response, at ingest.Position) {
	defer func() { <-t.running }()
	ctx := r.Context()
	state, err := t.ingester.View(ctx)
	if err != nil {
		return &graphql.Response{Errors: gqlerror.List{t.present.show(ctx, err)}}, at
	}
	defer state.Close()
	at = state.Position()
	if !q.post && clientHas(r, q.at(at)) {
		return nil, at
	}
	ctx = view.With(ctx, view.Begin(ctx, state, listHeader(r.Header, "Accept-Language"), t.settings))
	next, ctx := exec.DispatchOperation(ctx, oc)
	response = next(ctx)
	if response == nil { // its time was over before it began
		return &graphql.Response{Errors: gqlerror.List{t.present.show(ctx, context.Cause(ctx))}}, at
	}
	if q.withCost {
		if response.Extensions == nil {
			response.Extensions = make(map[string]any, 1)
		}
		response.Extensions["cost"] = preparedOf(oc).cost
	}
	return response, at
}
