package graph

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"incidentgraph/graph/direct"
	"incidentgraph/graph/generated"
	"incidentgraph/graph/view"
)

// documents parses and validates documents, and keeps the valid ones.
type documents struct {
	coercion
	rules *rules.Rules
	// trusted are valid documents by their text that are kept in any case.
	trusted map[string]*document
	valid   *lru[string, *document]
}

// document is one that is valid.
type document struct {
	*ast.QueryDocument
	hash string // SHA-256 of its text, in hexadecimal
	// plans are those of its queries whose plan is the same for all variables.
	plans map[*ast.OperationDefinition]*direct.Plan
	// costs are those of its operations whose cost is.
	costs map[*ast.OperationDefinition]int
}

func (d *documents) newDocument(text string, doc *ast.QueryDocument) *document {
	made := &document{doc, hashOf(text), make(map[*ast.OperationDefinition]*direct.Plan), make(map[*ast.OperationDefinition]int)}
	for _, op := range doc.Operations {
		if op.Operation == ast.Query && direct.Fixed(doc, op) {
			made.plans[op] = direct.NewPlan(doc, op, generated.Query, nil)
		}
		if variables, ok := pricelessVariables(d.schema, op); ok {
			made.costs[op] = costOf(op, variables, d.limits)
		}
	}
	return made
}

// hashOf names a document as persisted queries do.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// cost gives the cost of one of the document's operations.
func (d *document) cost(op *ast.OperationDefinition, variables map[string]any, l *view.Limits) int {
	if cost, ok := d.costs[op]; ok {
		return cost
	}
	return costOf(op, variables, l)
}

// plan gives the plan of one of the document's operations; nil where gqlgen's
// executor has to run it.
func (d *document) plan(op *ast.OperationDefinition, variables map[string]any) *direct.Plan {
	if p, ok := d.plans[op]; ok || op.Operation != ast.Query {
		return p
	}
	return direct.NewPlan(d.QueryDocument, op, generated.Query, variables)
}

// The cache of documents is bounded by an estimate of its memory: a parsed
// document with its plans takes up to some hundred bytes for each byte of its
// text.
const (
	parsedBytes    = 300
	documentMemory = 64 << 20
)

// maxErrors is how many errors of one document are told.
const maxErrors = 20

func newDocuments(c coercion) *documents {
	r := rules.NewDefaultRules()
	r.AddRule(scalarLiterals.Name, scalarLiterals.RuleFunc)
	return &documents{coercion: c, rules: r, valid: newLRU[string, *document](documentMemory)}
}

// get gives a document that is known to be valid.
func (d *documents) get(text string) (*document, bool) {
	if doc := d.trusted[text]; doc != nil {
		return doc, true
	}
	return d.valid.get(text)
}

// parse parses a document that is not known to be valid.
func (d *documents) parse(text string) (*ast.QueryDocument, *gqlerror.Error) {
	if n := len(text); n > d.limits.MaxDocumentBytes {
		return nil, asRequestError(&view.LimitError{Limit: "maxDocumentBytes", Max: d.limits.MaxDocumentBytes, Value: n})
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, d.limits.MaxTokens)
	if err != nil {
		if strings.Contains(err.Error(), "exceeded token limit") {
			return nil, asRequestError(&view.LimitError{Limit: "maxTokens", Max: d.limits.MaxTokens, Value: -1})
		}
		e := gqlerror.WrapIfUnwrapped(err)
		e.Message, e.Extensions = cutMessage(e.Message), withPath(codeParseFailed, nil)
		return nil, e
	}
	if len(doc.Operations) == 0 {
		return nil, requestError(codeValidationFailed, "the document has no operation")
	}
	return doc, nil
}

// validate checks a parsed document, and keeps it if it is valid.
func (d *documents) validate(text string, parsed *ast.QueryDocument) (*document, gqlerror.List) {
	doc, errs := d.check(text, parsed)
	if errs == nil {
		d.valid.add(text, doc, len(text)*parsedBytes)
	}
	return doc, errs
}

// check checks a parsed document, its size first.
func (d *documents) check(text string, parsed *ast.QueryDocument) (*document, gqlerror.List) {
	if err := checkShape(parsed, d.limits); err != nil {
		return nil, gqlerror.List{asRequestError(err)}
	}
	var size inputSize
	if err := size.document(parsed); err != nil {
		return nil, gqlerror.List{asRequestError(err)}
	}
	errs := validator.ValidateWithRules(d.schema, parsed, d.rules)
	for _, e := range errs {
		e.Message, e.Extensions = cutMessage(e.Message), withPath(codeValidationFailed, nil)
	}
	if more := len(errs) - maxErrors; more > 0 {
		errs = append(errs[:maxErrors], requestError(codeValidationFailed, "and %d more errors", more))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if err := d.checkLiterals(parsed); err != nil {
		return nil, gqlerror.List{asRequestError(err)}
	}
	return d.newDocument(text, parsed), nil
}

// lru keeps values by name up to a total size, and drops what was not asked
// for longest. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	max int

	mu     sync.Mutex // guards what follows
	size   int
	recent *list.List // of *entry[K, V], the latest first
	byName map[K]*list.Element
}

type entry[K comparable, V any] struct {
	name  K
	value V
	size  int
}

func newLRU[K comparable, V any](maxSize int) *lru[K, V] {
	return &lru[K, V]{max: maxSize, recent: list.New(), byName: make(map[K]*list.Element)}
}

func (l *lru[K, V]) get(name K) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byName[name]; e != nil {
		l.recent.MoveToFront(e)
		return e.Value.(*entry[K, V]).value, true
	}
	var none V
	return none, false
}

// add keeps a value, unless it alone is too large.
func (l *lru[K, V]) add(name K, value V, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName[name] != nil || size > l.max {
		return
	}
	l.byName[name] = l.recent.PushFront(&entry[K, V]{name, value, size})
	l.size += size
	for l.size > l.max {
		last := l.recent.Remove(l.recent.Back()).(*entry[K, V])
		delete(l.byName, last.name)
		l.size -= last.size
	}
}

// clear drops all.
func (l *lru[K, V]) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.size = 0
	l.recent.Init()
	clear(l.byName)
}
