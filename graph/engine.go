package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"incidentgraph/graph/lean"
	"incidentgraph/graph/view"
)

// engine is gqlgen's executor with the way to an operation replaced, so that
// every step is bounded before the next one begins: document size, tokens,
// shape, validation, variables, cost. It serves all transports. Of the hooks
// that gqlgen's executor has, those around operations and responses work here;
// around fields there is the budget of the operation alone.
type engine struct {
	*executor.Executor
	coercion  coercion
	limits    *view.Limits
	documents *documents
	persisted *persisted
}

func newEngine(schema graphql.ExecutableSchema, limits *view.Limits, p presenter) *engine {
	e := &engine{
		Executor:  executor.New(schema),
		coercion:  coercion{schema.Schema(), limits},
		limits:    limits,
		documents: newDocuments(coercion{schema.Schema(), limits}),
		persisted: newPersisted(),
	}
	e.SetErrorPresenter(p.present)
	e.SetRecoverFunc(recovered)
	return e
}

// costName is the cost among the statistics of an operation.
const costName = "cost"

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
	hash, failed := e.persisted.resolve(params)
	if failed != nil {
		return oc, gqlerror.List{failed}
	}
	oc.RawQuery = params.Query
	doc, valid := e.documents.valid.get(params.Query)
	if !valid {
		if doc, failed = e.documents.parse(params.Query); failed != nil {
			return oc, gqlerror.List{failed}
		}
	}
	oc.Doc = doc
	if oc.Operation, failed = e.operation(doc, params.OperationName); failed != nil {
		return oc, gqlerror.List{failed}
	}
	if !valid {
		if errs := e.documents.validate(params.Query, doc); errs != nil {
			return oc, errs
		}
		e.persisted.keep(hash, params.Query)
	}
	var err error
	if oc.Variables, err = e.coercion.variables(oc.Operation, params.Variables); err != nil {
		return oc, gqlerror.List{asRequestError(err)}
	}
	cost := costOf(oc.Operation, oc.Variables, e.limits)
	if cost > e.limits.MaxCost {
		return oc, gqlerror.List{asRequestError(e.tooDear(oc, cost))}
	}
	oc.Stats.SetExtension(costName, cost)
	return oc, nil
}

// DispatchOperation makes an operation ready to run, within a budget. One that
// uses it up has no data, however much is made by then.
func (e *engine) DispatchOperation(ctx context.Context, oc *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	budget, ctx := lean.NewBudget(ctx,
		view.MaxElements, &view.LimitError{Limit: "maxElements", Max: view.MaxElements, Value: -1},
		e.limits.MaxResponseBytes, &view.LimitError{Limit: "maxResponseBytes", Max: e.limits.MaxResponseBytes, Value: -1},
		maxFieldErrors)
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

// cost gives the cost of an operation that may run.
func cost(oc *graphql.OperationContext) int {
	n, _ := oc.Stats.GetExtension(costName).(int)
	return n
}
