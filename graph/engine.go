package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"incidentgraph/graph/direct"
	"incidentgraph/graph/generated"
	"incidentgraph/graph/view"
)

// engine is gqlgen's executor with the way to an operation replaced, so that
// every step is bounded before the next one begins: document size, tokens,
// shape, validation, variables, cost. It serves all transports. Queries are run
// by package direct; gqlgen's executor runs what that leaves to it. There, of
// the executor's hooks, those around operations and responses work; around
// fields there is the budget of the operation alone.
type engine struct {
	*executor.Executor
	schema      graphql.ExecutableSchema
	plain       bool // all operations go through the executor; for tests
	coercion    coercion
	limits      *view.Limits
	tooMany     error // elements of lists
	tooLarge    error // of an answer
	documents   *documents
	persisted   *persisted
	trusted     *TrustedDocuments
	onlyTrusted bool
}

func newEngine(schema graphql.ExecutableSchema, limits *view.Limits, p presenter, trusted *TrustedDocuments, onlyTrusted bool) *engine {
	e := &engine{
		Executor:    executor.New(schema),
		schema:      schema,
		coercion:    coercion{schema.Schema(), limits},
		limits:      limits,
		tooMany:     &view.LimitError{Limit: "maxElements", Max: view.MaxElements, Value: -1},
		tooLarge:    &view.LimitError{Limit: "maxResponseBytes", Max: limits.MaxResponseBytes, Value: -1},
		documents:   newDocuments(coercion{schema.Schema(), limits}),
		persisted:   newPersisted(),
		trusted:     trusted,
		onlyTrusted: onlyTrusted,
	}
	e.documents.trusted = trusted.parsed
	e.SetErrorPresenter(p.present)
	e.SetRecoverFunc(recovered)
	return e
}

// prepared is what is known of an operation that may run.
type prepared struct {
	hash string // of the document
	cost int
	plan *direct.Plan // nil where gqlgen's executor has to run it
}

// preparedName is what prepared goes by among the statistics of an operation.
const preparedName = "prepared"

// preparedOf gives what is known of an operation; the zero value of one that
// may not run.
func preparedOf(oc *graphql.OperationContext) prepared {
	if p, ok := oc.Stats.GetExtension(preparedName).(*prepared); ok {
		return *p
	}
	return prepared{}
}

// CreateOperationContext makes an operation of a request, or says why that
// cannot be. The operation's kind is set as soon as it is known, whatever
// happens then.
func (e *engine) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	oc := &graphql.OperationContext{
		OperationName:          params.OperationName,
		Extensions:             params.Extensions,
		Headers:                params.Headers,
		RecoverFunc:            recovered,
		ResolverMiddleware:     func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) },
	}
	hash, failed := e.resolve(params)
	oc.RawQuery = params.Query
	if failed != nil {
		return oc, gqlerror.List{failed}
	}
	doc, valid := e.documents.get(params.Query)
	if valid {
		oc.Doc = doc.QueryDocument
	} else if oc.Doc, failed = e.documents.parse(params.Query); failed != nil {
		return oc, gqlerror.List{failed}
	}
	if oc.Operation, failed = e.operation(oc.Doc, params.OperationName); failed != nil {
		return oc, gqlerror.List{failed}
	}
	if !valid {
		var errs gqlerror.List
		if doc, errs = e.documents.validate(params.Query, oc.Doc); errs != nil {
			return oc, errs
		}
	}
	e.persisted.keep(hash, params.Query)
	var err error
	if oc.Variables, err = e.coercion.variables(oc.Operation, params.Variables); err != nil {
		return oc, gqlerror.List{asRequestError(err)}
	}
	cost := doc.cost(oc.Operation, oc.Variables, e.limits)
	if cost > e.limits.MaxCost {
		return oc, gqlerror.List{asRequestError(e.tooDear(oc, cost))}
	}
	oc.Stats.SetExtension(preparedName, &prepared{doc.hash, cost, doc.plan(oc.Operation, oc.Variables)})
	return oc, nil
}

// DispatchOperation makes an operation ready to run, within a budget. One that
// uses it up has no data, however much is made by then.
func (e *engine) DispatchOperation(ctx context.Context, oc *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	if plan := preparedOf(oc).plan; plan != nil && !e.plain {
		return func(ctx context.Context) *graphql.Response {
			if response := e.direct(ctx, oc, plan); response != nil {
				return response
			}
			next, ctx := e.throughExecutor(ctx, oc)
			return next(ctx)
		}, ctx
	}
	return e.throughExecutor(ctx, oc)
}

func (e *engine) budget(ctx context.Context) (*direct.Budget, context.Context) {
	return direct.NewBudget(ctx, view.MaxElements, e.tooMany, e.limits.MaxResponseBytes, e.tooLarge, maxFieldErrors)
}

// direct runs a query by its plan; nil where gqlgen's executor has to.
func (e *engine) direct(ctx context.Context, oc *graphql.OperationContext, plan *direct.Plan) *graphql.Response {
	budget, ctx := e.budget(ctx)
	w := direct.NewWriter(ctx, oc.Variables, budget, borrow())
	data, err := w.Run(func() bool { return generated.WriteQuery(e.schema, oc, w, plan) })
	switch {
	case err != nil:
		return exceeded(err)
	case data == nil:
		return nil
	}
	return &graphql.Response{Data: data}
}

// scratch holds buffers for the data of answers and for their bodies.
var scratch = sync.Pool{New: func() any {
	b := make([]byte, 0, usualScratch)
	return &b
}}

// The sizes of buffers that are worth keeping.
const usualScratch, largestScratch = 16 << 10, 1 << 20

// borrow gives an empty buffer.
func borrow() []byte { return *scratch.Get().(*[]byte) }

// recycle gives back a buffer, which nobody may use any more.
func recycle(b []byte) {
	if usualScratch <= cap(b) && cap(b) <= largestScratch {
		b = b[:0]
		scratch.Put(&b)
	}
}

// exceeded is the response to an operation that has used up its budget.
func exceeded(err error) *graphql.Response {
	return &graphql.Response{Data: []byte("null"), Errors: gqlerror.List{asRequestError(err)}}
}

// throughExecutor has gqlgen's executor run an operation.
func (e *engine) throughExecutor(ctx context.Context, oc *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	budget, ctx := e.budget(ctx)
	oc.ResolverMiddleware = func(ctx context.Context, next graphql.Resolver) (any, error) {
		if err := budget.Err(); err != nil {
			return nil, err
		}
		return next(ctx)
	}
	oc.RootResolverMiddleware = func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		return budget.Bound(next(ctx))
	}
	next, ctx := e.Executor.DispatchOperation(ctx, oc)
	return func(ctx context.Context) *graphql.Response {
		response := next(ctx)
		if response == nil {
			return nil
		}
		if err := budget.Exceeded(); err != nil {
			response.Data, response.Errors = []byte("null"), gqlerror.List{asRequestError(err)}
		}
		response.Errors = ordered(response.Errors, budget.ErrorsLost())
		return response
	}, ctx
}

// operation picks the operation to run.
func (e *engine) operation(doc *ast.QueryDocument, name string) (*ast.OperationDefinition, *gqlerror.Error) {
	op := doc.Operations.ForName(name)
	switch {
	case op == nil && name == "":
		return nil, requestError(codeValidationFailed, "the document has several operations: say which by operationName")
	case op == nil:
		return nil, requestError(codeValidationFailed, "the document has no operation with this name")
	}
	schema := e.coercion.schema
	if op.Operation == ast.Mutation && schema.Mutation == nil || op.Operation == ast.Subscription && schema.Subscription == nil {
		return op, requestError(codeUnsupported, "this server has no %ss", op.Operation)
	}
	return op, nil
}

func (e *engine) tooDear(oc *graphql.OperationContext, cost int) error {
	c := costing{variables: oc.Variables, limits: e.limits}
	return &view.LimitError{Limit: "maxCost", Max: e.limits.MaxCost, Value: counted(cost), Field: c.costliest(oc.Operation)}
}
