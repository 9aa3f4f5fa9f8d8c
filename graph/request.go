package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"incidentgraph/graph/view"
)

// failure is the answer to a request that is no GraphQL request.
type failure struct {
	status int
	err    *gqlerror.Error
	header [2]string // one more header, none if empty
}

func fail(status int, code, format string, args ...any) *failure {
	return &failure{status: status, err: requestError(code, format, args...)}
}

func tooLarge(limits *view.Limits, n int64) *failure {
	err := &view.LimitError{Limit: "maxBodyBytes", Max: limits.MaxBodyBytes, Value: int(n)}
	return &failure{status: http.StatusRequestEntityTooLarge, err: asRequestError(err)}
}

// readGet takes a request from the query string. Empty parameters count as
// absent.
func readGet(r *http.Request, limits *view.Limits) (*graphql.RawParams, *failure) {
	if n := len(r.URL.RawQuery); n > limits.MaxBodyBytes {
		return nil, tooLarge(limits, int64(n))
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !utf8.ValidString(values.Get("query")) {
		return nil, fail(http.StatusBadRequest, codeBadRequest, "the query string is malformed")
	}
	params := &graphql.RawParams{Query: values.Get("query"), OperationName: values.Get("operationName")}
	for name, to := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
		if text := values.Get(name); text != "" {
			if err := decodeObject([]byte(text), to); err != nil {
				return nil, fail(http.StatusBadRequest, codeBadRequest, "%s is not a JSON object", name)
			}
		}
	}
	return params, nil
}

// readPost takes a request from a JSON body, which must arrive in time.
func readPost(w http.ResponseWriter, r *http.Request, limits *view.Limits) (*graphql.RawParams, *failure) {
	if !isJSON(r.Header) {
		f := fail(http.StatusUnsupportedMediaType, codeUnsupportedMedia, "send the request as application/json in UTF-8")
		f.header = [2]string{"Accept-Post", typeJSON}
		return nil, f
	}
	if r.ContentLength > int64(limits.MaxBodyBytes) {
		return nil, tooLarge(limits, r.ContentLength)
	}
	body, f := readBody(w, r, limits)
	if f != nil {
		return nil, f
	}
	params, err := decodeRequest(body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, codeBadRequest, "the body is not a GraphQL request: %s", err)
	}
	return params, nil
}

// isJSON tells whether a body is application/json in UTF-8 and not compressed.
// It is also what keeps other sites' pages from sending requests through a
// browser without being asked about it first (CORS).
func isJSON(h http.Header) bool {
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || mediaType != typeJSON {
		return false
	}
	charset, encoding := params["charset"], h.Get("Content-Encoding")
	return (charset == "" || strings.EqualFold(charset, "utf-8")) && (encoding == "" || encoding == "identity")
}

func readBody(w http.ResponseWriter, r *http.Request, limits *view.Limits) ([]byte, *failure) {
	// Only this read's deadline is set and cleared, for streams on the same
	// connection have none. Not every ResponseWriter has deadlines.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(limits.Timeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limits.MaxBodyBytes)))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge(limits, -1)
	case err != nil:
		f := fail(http.StatusRequestTimeout, codeRequestTimeout, "the body did not arrive in time")
		f.header = [2]string{"Connection", "close"}
		return nil, f
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

// decodeRequest reads the members of a request; it ignores those that it does
// not know. Its errors never show any of the body.
func decodeRequest(body []byte) (*graphql.RawParams, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("it is not UTF-8")
	}
	var members map[string]json.RawMessage
	if err := decodeObject(body, &members); err != nil {
		return nil, errors.New("it is not one JSON object")
	}
	params := &graphql.RawParams{}
	for name, to := range map[string]*string{"query": &params.Query, "operationName": &params.OperationName} {
		if raw, ok := members[name]; ok && json.Unmarshal(raw, to) != nil {
			return nil, fmt.Errorf("%s must be a string", name)
		}
	}
	for name, to := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
		if raw, ok := members[name]; ok && !bytes.Equal(raw, []byte("null")) && decodeObject(raw, to) != nil {
			return nil, fmt.Errorf("%s must be an object", name)
		}
	}
	return params, nil
}

// decodeObject decodes one JSON object and nothing after it. Numbers stay as
// they are written.
func decodeObject(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) == 0 || b[0] != '{' {
		return errors.New("not an object")
	}
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("trailing data")
	}
	return nil
}
