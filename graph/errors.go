package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"incidentgraph/graph/direct"
	"incidentgraph/graph/scalar"
	"incidentgraph/graph/view"
	"incidentgraph/internal/index"
	"incidentgraph/internal/ingest"
)

// The codes of errors, as extensions.code. They are part of the contract.
const (
	codeParseFailed       = "GRAPHQL_PARSE_FAILED"
	codeValidationFailed  = "GRAPHQL_VALIDATION_FAILED"
	codeBadRequest        = "BAD_REQUEST"
	codeBadInput          = "BAD_USER_INPUT"
	codeUnknownTerm       = "UNKNOWN_TERM"
	codeUnknownCase       = "UNKNOWN_CASE"
	codeLimit             = "LIMIT_EXCEEDED"
	codeTimeout           = "TIMEOUT"
	codeOverloaded        = "OVERLOADED"
	codeNoSearch          = "SEARCH_UNAVAILABLE"
	codeInternal          = "INTERNAL"
	codeUnsupported       = "OPERATION_NOT_SUPPORTED"
	codePersistedNotFound = "PERSISTED_QUERY_NOT_FOUND"
	codePersistedMismatch = "PERSISTED_QUERY_MISMATCH"
	codeUnknownDocument   = "UNKNOWN_DOCUMENT"
	codeUntrustedDocument = "UNTRUSTED_DOCUMENT"
	codeMethod            = "METHOD_NOT_ALLOWED"
	codeNotAcceptable     = "NOT_ACCEPTABLE"
	codeUnsupportedMedia  = "UNSUPPORTED_MEDIA_TYPE"
	codeRequestTimeout    = "REQUEST_TIMEOUT"
)

// internalMessage is all that a client learns of an error that is not its own.
const internalMessage = "internal error"

// classify is the one table from errors to what a client sees: the message,
// and the extensions with the code. It gives false for an error that clients
// must not see.
func classify(err error) (message string, extensions map[string]any, ok bool) {
	var (
		input    *view.InputError
		limit    *view.LimitError
		term     *index.UnknownTermError
		caseID   *index.UnknownCaseError
		value    *scalar.Error
		coercion *coercionError
		behind   *ingest.TextBehindError
	)
	switch {
	case errors.As(err, &term):
		e := withPath(codeUnknownTerm, term.Path)
		e["suggestions"] = term.Close
		return term.Error(), e, true
	case errors.As(err, &caseID):
		return caseID.Error(), withPath(codeUnknownCase, caseID.Path), true
	case errors.As(err, &limit):
		e := withPath(codeLimit, limit.Path)
		e["limit"], e["max"] = limit.Limit, limit.Max
		if limit.Value >= 0 {
			e["value"] = limit.Value
		}
		if limit.Field != "" {
			e["field"] = cutMessage(limit.Field)
		}
		return limit.Error(), e, true
	case errors.As(err, &input):
		return input.Error(), withPath(codeBadInput, input.Path), true
	case errors.As(err, &coercion):
		return coercion.Error(), withPath(codeBadInput, coercion.path), true
	case errors.As(err, &value):
		return value.Error(), withPath(codeBadInput, nil), true
	case errors.As(err, &behind), errors.Is(err, ingest.ErrNoText):
		return err.Error(), withPath(codeNoSearch, nil), true
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "the operation took too long", withPath(codeTimeout, nil), true
	}
	return "", nil, false
}

// withPath makes extensions of a code and, where there is one, the path to the
// argument that an error is about.
func withPath(code string, path []any) map[string]any {
	e := map[string]any{"code": code}
	if path != nil {
		e["path"] = path
	}
	return e
}

// requestError makes the error of a request that does not run.
func requestError(code, format string, args ...any) *gqlerror.Error {
	return &gqlerror.Error{Message: cutMessage(fmt.Sprintf(format, args...)), Extensions: withPath(code, nil)}
}

// asRequestError makes one of an error that classify knows.
func asRequestError(err error) *gqlerror.Error {
	message, extensions, _ := classify(err)
	return &gqlerror.Error{Message: cutMessage(message), Extensions: extensions}
}

// What errors repeat of a request is bounded, in code points.
const (
	maxMessage = 300
	maxEcho    = 60 // of one value
)

func cutMessage(s string) string { return fmt.Sprintf("%.*s", maxMessage, s) }

func shortened(s string) string { return fmt.Sprintf("%.*s", maxEcho, s) }

// naming adds to extensions the limit that is behind an error, as in
// service.limits.
func naming(extensions map[string]any, limit string, most int) {
	extensions["limit"], extensions["max"] = limit, most
}

// presenter shows errors to clients and logs those that they must not see.
type presenter struct {
	log    *slog.Logger
	limits *view.Limits
}

// present is gqlgen's ErrorPresenterFunc. It makes nothing of an error when
// the operation has had enough of them.
func (p presenter) present(ctx context.Context, err error) *gqlerror.Error {
	if !direct.BudgetOf(ctx).TakeError() {
		return nil
	}
	return p.show(ctx, err)
}

func (p presenter) show(ctx context.Context, err error) *gqlerror.Error {
	shown := &gqlerror.Error{}
	var located *gqlerror.Error
	if errors.As(err, &located) {
		if located.Extensions["code"] != nil {
			return located // a request error, made here
		}
		shown.Path, shown.Locations = located.Path, located.Locations
	}
	message, extensions, ok := classify(err)
	if ok {
		if extensions["code"] == codeTimeout {
			naming(extensions, "timeoutMs", p.limits.TimeoutMs())
		}
		shown.Message, shown.Extensions = cutMessage(message), extensions
		return shown
	}
	id := requestID(ctx)
	attributes := []any{"request_id", id, "path", shown.Path.String(), "error", err}
	if graphql.HasOperationContext(ctx) {
		attributes = append(attributes, "operation", graphql.GetOperationContext(ctx).OperationName)
	}
	var crash *panicError
	if errors.As(err, &crash) {
		attributes = append(attributes, "stack", string(crash.stack))
	}
	p.log.ErrorContext(ctx, internalMessage, attributes...)
	shown.Message = internalMessage
	shown.Extensions = withPath(codeInternal, nil)
	shown.Extensions["requestId"] = id
	return shown
}

// maxFieldErrors is how many errors of one answer are told.
const maxFieldErrors = 20

// ordered puts the errors of an answer in the order of the document, then of
// the path, for fields run at the same time and fail in any order. It says
// where there were more of them.
func ordered(errs gqlerror.List, more bool) gqlerror.List {
	slices.SortStableFunc(errs, func(a, b *gqlerror.Error) int {
		c := slices.CompareFunc(a.Locations, b.Locations, func(a, b gqlerror.Location) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		if c == 0 {
			c = slices.CompareFunc(a.Path, b.Path, compareSteps)
		}
		return c
	})
	if more {
		errs = append(errs, requestError(codeLimit, "and more errors"))
	}
	return errs
}

func compareSteps(a, b ast.PathElement) int {
	if i, ok := a.(ast.PathIndex); ok {
		if j, ok := b.(ast.PathIndex); ok {
			return cmp.Compare(i, j)
		}
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// panicError is a recovered panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// recovered is gqlgen's RecoverFunc.
func recovered(_ context.Context, p any) error { return &panicError{p, debug.Stack()} }
