package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// TrustedDocuments are the documents of a manifest, which the clients'
// developers make when they build them: parsed, known to be valid, and kept
// for as long as the handler that has them. A request names one by its
// documentId (GraphQL over HTTP, appendix on persisted documents) or, as
// Apollo's clients do, by extensions.persistedQuery.sha256Hash.
//
// The id is the manifest's own or, for every document, "sha256:" and the hash
// of its text in lower-case hexadecimal.
type TrustedDocuments struct {
	texts    map[string]string    // by id
	parsed   map[string]*document // by text
	manifest [sha256.Size]byte    // its hash
}

// Bounds of a manifest.
const (
	// MaxManifestBytes bounds the file. A thousand documents take half a MB,
	// and about 25 times as much in memory.
	MaxManifestBytes = 16 << 20
	maxDocumentID    = 256
)

// sha256Prefix begins an id that is the hash of its document.
const sha256Prefix = "sha256:"

// Apollo's manifests say what they are.
const (
	apolloFormat  = "apollo-persisted-query-manifest"
	apolloVersion = 1
)

// apolloManifest is a manifest in the form of Apollo's tools. Other members
// are ignored.
type apolloManifest struct {
	Version    int             `json:"version"`
	Operations []manifestEntry `json:"operations"`
}

// manifestEntry is a document of a manifest. Apollo's also tell the name and
// type of an operation; "" where they don't.
type manifestEntry struct {
	ID   string `json:"id"`
	Body string `json:"body"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// ReadManifest reads a manifest of trusted documents: a JSON object from ids to
// documents, as Relay and the GraphQL Code Generator write it, or Apollo's
// persisted query manifest. It fails unless every document is valid and within
// the limits, which must be those of the handler. What is wrong with documents
// is told of several at once, one a line.
func ReadManifest(r io.Reader, limits Limits) (*TrustedDocuments, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxManifestBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxManifestBytes {
		return nil, fmt.Errorf("a manifest may have %d bytes", MaxManifestBytes)
	}
	entries, err := decodeManifest(raw)
	if err != nil {
		return nil, err
	}
	limits = withDefaults(limits)
	documents := newDocuments(coercion{executableSchema().Schema(), &limits})
	t := &TrustedDocuments{
		texts:    make(map[string]string, 2*len(entries)),
		parsed:   make(map[string]*document, len(entries)),
		manifest: sha256.Sum256(raw),
	}
	var bad []error
	for _, e := range entries {
		if err := t.add(e, documents); err != nil {
			bad = append(bad, fmt.Errorf("document %.*q: %w", maxDocumentID, e.ID, err))
		}
	}
	if more := len(bad) - maxErrors; more > 0 {
		bad = append(bad[:maxErrors], fmt.Errorf("and %d more bad documents", more))
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	return t, nil
}

// Len gives the number of different documents.
func (t *TrustedDocuments) Len() int { return len(t.parsed) }

// add adds a document after all checks.
func (t *TrustedDocuments) add(e manifestEntry, documents *documents) error {
	hash := hashOf(e.Body)
	if err := checkDocumentID(e.ID, hash); err != nil {
		return err
	}
	doc := t.parsed[e.Body]
	if doc == nil {
		parsed, err := documents.parse(e.Body)
		if err != nil {
			return placed(err)
		}
		var errs gqlerror.List
		if doc, errs = documents.check(e.Body, parsed); errs != nil {
			return placed(errs[0])
		}
	}
	if err := checkOperation(doc, e); err != nil {
		return err
	}
	t.parsed[e.Body] = doc
	t.texts[e.ID] = e.Body
	t.texts[sha256Prefix+hash] = e.Body
	return nil
}

// checkDocumentID refuses ids that clients could not send, and what has the
// form of a document's hash and is another's: the draft wants that of the ids
// with the prefix, Apollo's protocol of those without.
func checkDocumentID(id, hash string) error {
	unfit := func(r rune) bool { return r <= ' ' || r > '~' }
	if id == "" || len(id) > maxDocumentID || strings.ContainsFunc(id, unfit) {
		return fmt.Errorf("an id has 1 to %d visible ASCII characters", maxDocumentID)
	}
	if strings.HasPrefix(id, sha256Prefix) && id != sha256Prefix+hash || isHash(id) && !strings.EqualFold(id, hash) {
		return fmt.Errorf("the id is not the SHA-256 of the document, which is %s", hash)
	}
	return nil
}

// isHash tells whether an id has the form of a SHA-256.
func isHash(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == sha256.Size
}

// checkOperation refuses an entry that tells of an operation that its document
// does not have.
func checkOperation(doc *document, e manifestEntry) error {
	if e.Name == "" && e.Type == "" {
		return nil
	}
	op := doc.Operations.ForName(e.Name)
	switch {
	case op == nil:
		return fmt.Errorf("it has no operation of the name %q", shortened(e.Name))
	case e.Type != "" && e.Type != string(op.Operation):
		return fmt.Errorf("its operation is a %s, not a %q", op.Operation, shortened(e.Type))
	}
	return nil
}

// placed words an error about a document of a manifest.
func placed(err *gqlerror.Error) error {
	if len(err.Locations) == 0 {
		return errors.New(err.Message)
	}
	at := err.Locations[0]
	return fmt.Errorf("line %d, column %d: %s", at.Line, at.Column, err.Message)
}

// decodeManifest reads the documents of a manifest in either form, in the
// order of their ids. No id comes twice.
func decodeManifest(raw []byte) ([]manifestEntry, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, notManifest(raw, err)
	}
	var entries []manifestEntry
	if string(members["format"]) == `"`+apolloFormat+`"` {
		var m apolloManifest
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, notManifest(raw, err)
		}
		if m.Version != apolloVersion || m.Operations == nil {
			return nil, fmt.Errorf("a manifest of Apollo's must have the version %d, and operations", apolloVersion)
		}
		entries = m.Operations
	} else {
		for id, value := range members {
			e := manifestEntry{ID: id}
			if value.Kind() != '"' || json.Unmarshal(value, &e.Body) != nil {
				return nil, fmt.Errorf("document %.*q must be a string", maxDocumentID, id)
			}
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b manifestEntry) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(entries); i++ {
		if id := entries[i].ID; id == entries[i-1].ID {
			return nil, fmt.Errorf("document %.*q is there twice", maxDocumentID, id)
		}
	}
	return entries, nil
}

// notManifest says what is wrong with the JSON of a manifest, and where.
func notManifest(raw []byte, err error) error {
	syntax, wrong := new(jsontext.SyntacticError), new(json.SemanticError)
	switch {
	case errors.As(err, &syntax):
		before := raw[:syntax.ByteOffset]
		line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
		err = fmt.Errorf("line %d, column %d: %w", line, column, syntax.Err)
		if syntax.JSONPointer != "" {
			err = fmt.Errorf("%w (%.*q)", err, maxDocumentID, syntax.JSONPointer.LastToken())
		}
		return err
	case errors.As(err, &wrong) && wrong.JSONPointer != "":
		return fmt.Errorf("%s must be another kind of value", wrong.JSONPointer)
	}
	return errors.New("it is not a JSON object")
}

// documentID is a request's documentId on its way to the engine. It goes
// beside the extensions, as a type that no client's JSON is decoded to.
type documentID string

const documentIDName = "documentId"

// withDocumentID puts a documentId into a request, none where it is empty.
func withDocumentID(params *graphql.RawParams, id string) {
	if id == "" {
		return
	}
	if params.Extensions == nil {
		params.Extensions = make(map[string]any, 1)
	}
	params.Extensions[documentIDName] = documentID(id)
}

// resolve puts the document into a request that names one, trusted or
// persisted. It gives the hash under which to keep the request's own document
// once it has proved valid, "" for none.
func (e *engine) resolve(params *graphql.RawParams) (hash string, err *gqlerror.Error) {
	if id, ok := params.Extensions[documentIDName].(documentID); ok {
		switch {
		case params.Query != "":
			return "", requestError(codeBadRequest, "the request has a documentId and a query: send one of them")
		case params.Extensions[persistedQueryName] != nil:
			return "", requestError(codeBadRequest, "the request has a documentId and extensions.persistedQuery: send one of them")
		}
		if params.Query, ok = e.trusted.texts[string(id)]; !ok {
			return "", requestError(codeUnknownDocument, "the server has no document with this documentId")
		}
		return "", nil
	}
	if text, ok := e.trusted.byPersistedQuery(params); ok {
		params.Query = text
		return "", nil
	}
	if e.onlyTrusted && e.trusted.parsed[params.Query] == nil {
		return "", requestError(codeUntrustedDocument, "this server runs only the documents of its manifest: name one by documentId")
	}
	return e.persisted.resolve(params)
}

// byPersistedQuery gives the text of the trusted document that a request
// without a document names by Apollo's protocol.
func (t *TrustedDocuments) byPersistedQuery(params *graphql.RawParams) (text string, ok bool) {
	extension, _ := params.Extensions[persistedQueryName].(map[string]any)
	version, _ := extension["version"].(stdjson.Number)
	hash, _ := extension["sha256Hash"].(string)
	if params.Query != "" || version.String() != persistedQueryVersion {
		return "", false
	}
	if text, ok = t.texts[hash]; !ok {
		text, ok = t.texts[sha256Prefix+hash]
	}
	return text, ok
}
