package graph

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// message is a request as it came, before it is decoded: equal messages ask
// for the same.
type message struct {
	post                                                    bool
	body                                                    []byte // of a POST
	query, documentID, operationName, variables, extensions string // of others
}

// decode takes the request out of its message.
func (m *message) decode() (*graphql.RawParams, *failure) {
	if m.post {
		params, err := decodeRequest(m.body)
		if err != nil {
			return nil, fail(http.StatusBadRequest, codeBadRequest, "the body is not a GraphQL request: %s", err)
		}
		return params, nil
	}
	params := &graphql.RawParams{Query: m.query, OperationName: m.operationName}
	for _, member := range []struct {
		name, text string
		to         *map[string]any
	}{{"variables", m.variables, &params.Variables}, {"extensions", m.extensions, &params.Extensions}} {
		if member.text != "" && decodeObject([]byte(member.text), member.to) != nil {
			return nil, fail(http.StatusBadRequest, codeBadRequest, "%s is not a JSON object", member.name)
		}
	}
	withDocumentID(params, m.documentID)
	return params, nil
}

// readGet takes a message from the query string. Empty parameters count as
// absent.
func readGet(r *http.Request, limits *view.Limits) (*message, *failure) {
	if n := len(r.URL.RawQuery); n > limits.MaxBodyBytes {
		return nil, tooLarge(limits, int64(n))
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !utf8.ValidString(values.Get("query")) {
		return nil, fail(http.StatusBadRequest, codeBadRequest, "the query string is malformed")
	}
	return &message{
		query:         values.Get("query"),
		documentID:    values.Get(documentIDName),
		operationName: values.Get("operationName"),
		variables:     values.Get("variables"),
		extensions:    values.Get("extensions"),
	}, nil
}

// readPost takes a message from a body, which must arrive in time.
func readPost(w http.ResponseWriter, r *http.Request, limits *view.Limits) (*message, *failure) {
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
	return &message{post: true, body: body}, nil
}

// isJSON tells whether a body is application/json in UTF-8 and not compressed.
// It is also what keeps other sites' pages from sending requests through a
// browser without being asked about it first (CORS).
func isJSON(h http.Header) bool {
	contentType, encoding := h.Get("Content-Type"), listHeader(h, "Content-Encoding")
	if len(h.Values("Content-Type")) > 1 {
		return false // others may go by another one of them
	}
	if contentType == typeJSON && encoding == "" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != typeJSON {
		return false
	}
	charset := params["charset"]
	return (charset == "" || strings.EqualFold(charset, "utf-8")) && (encoding == "" || encoding == "identity")
}

func readBody(w http.ResponseWriter, r *http.Request, limits *view.Limits) ([]byte, *failure) {
	// Only this read's deadline is set and cleared, for streams on the same
	// connection have none. Not every ResponseWriter has deadlines.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(limits.Timeout))
	const usual = 4 << 10 // what a header alone makes room for
	var body bytes.Buffer
	body.Grow(int(max(0, min(r.ContentLength, usual))) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, int64(limits.MaxBodyBytes)))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, tooLarge(limits, -1)
		}
		f := fail(http.StatusRequestTimeout, codeRequestTimeout, "the body did not arrive in time")
		naming(f.err.Extensions, "timeoutMs", limits.TimeoutMs())
		f.header = [2]string{"Connection", "close"}
		return nil, f
	}
	_ = control.SetReadDeadline(time.Time{})
	return body.Bytes(), nil
}

// members are those of a request; others are ignored.
type members struct {
	Query         string         `json:"query"`
	DocumentID    string         `json:"documentId"`
	OperationName string         `json:"operationName"`
	Variables     jsontext.Value `json:"variables"`
	Extensions    jsontext.Value `json:"extensions"`
}

// decodeRequest reads the members of a request. Names must be spelled as they
// are, and come once; text is UTF-8. Its errors never show any of the body.
func decodeRequest(body []byte) (*graphql.RawParams, error) {
	var m members
	if err := json.Unmarshal(body, &m); err != nil {
		wrong := new(json.SemanticError)
		if errors.As(err, &wrong) && wrong.JSONPointer != "" {
			return nil, fmt.Errorf("%s must be a string", wrong.JSONPointer.LastToken())
		}
		return nil, errors.New("it is not one JSON object in UTF-8 that names each member once")
	}
	if jsontext.Value(body).Kind() != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	params := &graphql.RawParams{Query: m.Query, OperationName: m.OperationName}
	if decodeObject(m.Variables, &params.Variables) != nil {
		return nil, errors.New("variables must be an object")
	}
	if decodeObject(m.Extensions, &params.Extensions) != nil {
		return nil, errors.New("extensions must be an object")
	}
	withDocumentID(params, m.DocumentID)
	return params, nil
}

// exactNumbers keeps numbers as they are written.
var exactNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, value *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported // as any other value
	}
	number, err := d.ReadValue()
	*value = stdjson.Number(number)
	return err
}))

// decodeObject decodes one JSON object and nothing after it; null and nothing
// at all are no object.
func decodeObject(b []byte, to *map[string]any) error {
	if len(b) == 0 {
		return nil
	}
	return json.Unmarshal(b, to, exactNumbers)
}
