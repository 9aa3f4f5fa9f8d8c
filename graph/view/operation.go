package view

import (
	"context"
	"fmt"
	"time"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
	"incidentgraph/internal/ingest"
)

// Settings are what all operations of a server share.
type Settings struct {
	// Version is that of the program.
	Version string
	Limits  Limits
	// Concepts is the vocabulary that drafts are searched for; nil for none.
	Concepts *incident.Concepts
}

// Operation is what one GraphQL operation sees: one state of the store, and
// what its reader wants. It is safe for concurrent use.
type Operation struct {
	// ctx ends with the operation. It is kept here because the fields' methods
	// take none; see the package comment.
	ctx       context.Context
	records   *ingest.View
	index     *index.Snapshot
	languages Languages
	refused   Languages
	settings  *Settings
}

// Begin makes an operation on a view, which must stay open until its answer
// is made. acceptLanguage is the request's header, "" if it has none.
func Begin(ctx context.Context, v *ingest.View, acceptLanguage string, s *Settings) *Operation {
	wanted, refused := ParseAcceptLanguage(acceptLanguage)
	return &Operation{
		ctx:       ctx,
		records:   v,
		index:     v.Index(),
		languages: wanted,
		refused:   refused,
		settings:  s,
	}
}

type contextKey struct{}

// With gives a context that carries the operation.
func With(ctx context.Context, o *Operation) context.Context {
	return context.WithValue(ctx, contextKey{}, o)
}

// From gives the operation that the context carries, nil where it carries none.
func From(ctx context.Context) *Operation {
	o, _ := ctx.Value(contextKey{}).(*Operation)
	return o
}

// alive gives an error once the operation's time is over, for fields that
// work on whole sets.
func (o *Operation) alive() error { return o.ctx.Err() }

// record reads the whole record of an incident that the index has.
func (o *Operation) record(caseID string) (*incident.Incident, error) {
	rec, err := o.records.Incident(caseID)
	if err == nil && rec == nil {
		err = fmt.Errorf("the index has %s, the store has not", caseID)
	}
	return rec, err
}

// Service is what this server is and has.
type Service struct{ op *Operation }

// Service answers Query.service.
func (o *Operation) Service() *Service { return &Service{o} }

// Version is that of the program.
func (s *Service) Version() string { return s.op.settings.Version }

// Revision is the store's sequence number.
func (s *Service) Revision() int { return int(s.op.index.Revision()) }

// IncidentCount counts the incidents.
func (s *Service) IncidentCount() int { return s.op.index.Len() }

// Languages are those of the titles.
func (s *Service) Languages() []string { return s.op.index.Languages() }

// Limits are those of this server.
func (s *Service) Limits() *Limits { return &s.op.settings.Limits }

// Limits bound what a request may ask for. Each must be positive.
type Limits struct {
	MaxDepth         int
	MaxCost          int
	MaxPageSize      int
	MaxHops          int
	MaxNodes         int
	MaxAliases       int
	MaxBodyBytes     int
	MaxDocumentBytes int
	MaxTokens        int
	MaxFields        int
	MaxRootFields    int
	MaxConcurrent    int
	MaxResponseBytes int
	Timeout          time.Duration
}

// TimeoutMs is the timeout in milliseconds.
func (l *Limits) TimeoutMs() int { return int(l.Timeout / time.Millisecond) }

// DefaultLimits suit a server on the open internet.
func DefaultLimits() Limits {
	return Limits{
		MaxDepth:         20,
		MaxCost:          20_000,
		MaxPageSize:      100,
		MaxHops:          6,
		MaxNodes:         500,
		MaxAliases:       100,
		MaxBodyBytes:     256 << 10,
		MaxDocumentBytes: 64 << 10,
		MaxTokens:        2000,
		MaxFields:        500,
		MaxRootFields:    50,
		MaxConcurrent:    256,
		MaxResponseBytes: 8 << 20,
		Timeout:          10 * time.Second,
	}
}
