package graph

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// writeTimeout is how long a client may take to take an answer.
const writeTimeout = 30 * time.Second

// write sends a body of JSON. A slow client is dropped in time; the deadline
// is cleared again, for the connection may serve other handlers next.
func write(w http.ResponseWriter, mediaType string, status int, parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	h := w.Header()
	h.Set("Content-Type", mediaType+"; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(n))
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
	w.WriteHeader(status)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return // the client has gone
		}
	}
	_ = control.Flush()
	_ = control.SetWriteDeadline(time.Time{})
}

// writeErrors sends the errors of a request that did not run: an answer
// without data.
func writeErrors(w http.ResponseWriter, mediaType string, status int, errs ...*gqlerror.Error) {
	write(w, mediaType, status, []byte(`{"errors":`), encode(errs), []byte(`}`))
}

func writeFailure(w http.ResponseWriter, mediaType string, f *failure) {
	if f.header[0] != "" {
		w.Header().Set(f.header[0], f.header[1])
	}
	writeErrors(w, mediaType, f.status, f.err)
}

// appendBody appends the body of the answer of an operation that ran.
func appendBody(b []byte, r *graphql.Response) []byte {
	b = append(b, '{')
	if len(r.Errors) > 0 {
		b = append(b, `"errors":`...)
		b = append(append(b, encode(r.Errors)...), ',')
	}
	b = append(b, `"data":`...)
	b = append(b, r.Data...)
	if len(r.Extensions) > 0 {
		b = append(b, `,"extensions":`...)
		b = append(b, encode(r.Extensions)...)
	}
	return append(b, '}')
}

// encode writes what was made here, which JSON can always say.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(`[{"message":"` + internalMessage + `","extensions":{"code":"` + codeInternal + `"}}]`)
	}
	return b
}

// statusOf gives the status of the answer to a request that did not run. The
// audits of GraphQL over HTTP want 200 under application/json for errors in
// the document or its variables; its 2026 draft wants 4xx there, too, and 422
// for what parses but is not valid.
func statusOf(errs gqlerror.List, mediaType string, draft bool) int {
	code, _ := errs[0].Extensions["code"].(string)
	switch code {
	case codeBadRequest, codeUnsupported, codeUnknownDocument:
		return http.StatusBadRequest
	case codeUntrustedDocument: // not 400, after which Apollo's clients send the document
		return http.StatusForbidden
	case codeInternal:
		return http.StatusInternalServerError
	case codeTimeout, codeOverloaded:
		return http.StatusServiceUnavailable
	case codeParseFailed:
		if draft {
			return http.StatusBadRequest
		}
	}
	switch {
	case draft:
		return http.StatusUnprocessableEntity
	case mediaType == typeJSON:
		return http.StatusOK
	}
	return http.StatusBadRequest
}
