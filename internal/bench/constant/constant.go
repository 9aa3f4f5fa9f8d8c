// Package constant is a gqlgen server whose answers are ready: its resolvers
// return Go values made beforehand, and everything below them is a plain
// struct field. It does what any server built with gqlgen must do, and nothing
// else, so it is the ceiling for those that also have to find their answers.
//
// Its schema is the part of schema.graphqls that the workloads ask for, in the
// same shape. generated.go and model.go are made by gqlgen, with `go generate
// ./internal/bench/constant`.
package constant

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:generate go tool gqlgen generate --config gqlgen.yml

// Answer is the answer to one operation with certain variables.
type Answer struct {
	Operation string            // name
	Variables map[string]string // at most two
	JSON      []byte            // the whole response
}

// NewHandler makes a server that knows these answers.
func NewHandler(answers []Answer) (http.Handler, error) {
	r := &resolver{data: make(map[key]*data, len(answers))}
	for _, a := range answers {
		var response struct{ Data data }
		if err := json.Unmarshal(a.JSON, &response); err != nil {
			return nil, fmt.Errorf("answer of %s: %w", a.Operation, err)
		}
		r.data[keyOf(a)] = &response.Data
	}
	e := executor.New(NewExecutableSchema(Config{Resolvers: r}))
	e.SetQueryCache(&documents{})
	return &server{e}, nil
}

// server answers as gqlgen's own transport for POST does, which is left out
// only because it brings modules along that nothing here needs.
type server struct{ *executor.Executor }

// ServeHTTP answers one operation.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := graphql.StartOperationTrace(r.Context())
	params := &graphql.RawParams{Headers: r.Header}
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(params); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	oc, errs := s.CreateOperationContext(ctx, params)
	if errs != nil {
		http.Error(w, errs.Error(), http.StatusUnprocessableEntity)
		return
	}
	next, ctx := s.DispatchOperation(ctx, oc)
	body, err := json.Marshal(next(ctx))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error is the client's
}

// documents keeps every parsed document: there are as many as workloads.
type documents struct{ parsed sync.Map }

// Get finds a parsed document.
func (d *documents) Get(_ context.Context, text string) (*ast.QueryDocument, bool) {
	doc, ok := d.parsed.Load(text)
	if !ok {
		return nil, false
	}
	return doc.(*ast.QueryDocument), true
}

// Add keeps a parsed document.
func (d *documents) Add(_ context.Context, text string, doc *ast.QueryDocument) {
	d.parsed.Store(text, doc)
}

// data is what the root fields of one answer return.
type data struct {
	Incident  *Incident
	Incidents *IncidentConnection
}

// key is an operation's name and arguments.
type key struct{ operation, a, b string }

func keyOf(a Answer) key {
	k := key{operation: a.Operation, a: a.Variables["caseId"]}
	for _, pair := range [][2]string{{"factor", "component"}, {"rootCause", "since"}, {"text", ""}} {
		if v, ok := a.Variables[pair[0]]; ok {
			k.a, k.b = v, a.Variables[pair[1]]
		}
	}
	return k
}

type resolver struct{ data map[key]*data }

// Query gives the resolver of the root fields.
func (r *resolver) Query() QueryResolver { return r }

// Incident gives the incident of an answer.
func (r *resolver) Incident(ctx context.Context, caseID string) (*Incident, error) {
	return r.find(key{operation(ctx), caseID, ""}).Incident, nil
}

// Incidents gives the list of an answer.
func (r *resolver) Incidents(ctx context.Context, where *IncidentFilter, _ *int) (*IncidentConnection, error) {
	k := key{operation: operation(ctx)}
	switch {
	case where == nil:
	case where.Text != nil:
		k.a = *where.Text
	case where.ContributingFactors != nil && where.Components != nil:
		k.a, k.b = one(where.ContributingFactors.All), one(where.Components.All)
	case where.RootCause != nil && where.Date != nil && where.Date.Gte != nil:
		k.a, k.b = one(where.RootCause.Any), *where.Date.Gte
	}
	return r.find(k).Incidents, nil
}

// find gives the data of an answer, none where there is no such answer.
func (r *resolver) find(k key) *data {
	if d := r.data[k]; d != nil {
		return d
	}
	return new(data)
}

func operation(ctx context.Context) string {
	return graphql.GetOperationContext(ctx).Operation.Name
}

func one(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return list[0]
}
