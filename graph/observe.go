package graph

import (
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// What Observation.Cache says.
const (
	cacheHit  = "hit"
	cacheMiss = "miss"
)

// Observation is what the logs and metrics of a server may know of a request:
// no variables, and no text of a document.
type Observation struct {
	// Kind is query or mutation and Name the operation's name; both are "" for
	// a request that names no operation of a document that can be read. The
	// client chooses the name.
	Kind, Name string
	// Hash is the SHA-256 of the document in hexadecimal, as of persisted
	// queries; "" where there is no document.
	Hash string
	// Cost is that of an operation within the limits, 0 of others.
	Cost int
	// Cache is "hit" where the answer came from the response cache, "miss"
	// where it was looked for there and was made, "" where it was not looked
	// for.
	Cache string
	// Codes are the codes of the answer's errors, in its order. They come from
	// a fixed list.
	Codes []string
}

// operation takes what is known of an operation before it runs.
func (o *Observation) operation(oc *graphql.OperationContext) {
	p := preparedOf(oc)
	o.Hash, o.Cost = p.hash, p.cost
	if o.Hash == "" && oc.RawQuery != "" {
		o.Hash = hashOf(oc.RawQuery)
	}
	if oc.Operation != nil {
		o.Kind, o.Name = string(oc.Operation.Operation), oc.Operation.Name
	}
}

func (o *Observation) errors(errs ...*gqlerror.Error) {
	for _, err := range errs {
		code, _ := err.Extensions["code"].(string)
		o.Codes = append(o.Codes, code)
	}
}

// refuse sends a failure.
func (o *Observation) refuse(w http.ResponseWriter, mediaType string, f *failure) {
	o.errors(f.err)
	writeFailure(w, mediaType, f)
}
