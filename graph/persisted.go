package graph

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// persisted holds the documents of automatic persisted queries (Apollo's
// protocol): a client sends the hash of a document, and the document itself
// only where the server does not know the hash.
type persisted struct{ known *lru[string, string] }

// What a request carries for them in its extensions.
const (
	persistedQueryName    = "persistedQuery"
	persistedQueryVersion = "1"
)

// persistedMemory bounds the texts and their hashes.
const persistedMemory = 8 << 20

func newPersisted() *persisted { return &persisted{newLRU[string, string](persistedMemory)} }

// resolve puts the document into a request that names one by its hash. It
// gives the hash under which to keep the request's document once it has
// proved valid, "" for none.
func (p *persisted) resolve(params *graphql.RawParams) (hash string, err *gqlerror.Error) {
	extension, ok := params.Extensions[persistedQueryName]
	if !ok || extension == nil {
		if params.Query == "" {
			return "", requestError(codeBadRequest, "the request has no query")
		}
		return "", nil
	}
	fields, _ := extension.(map[string]any)
	version, _ := fields["version"].(json.Number)
	hash, ok = fields["sha256Hash"].(string)
	switch {
	case !ok || len(hash) != 2*sha256.Size:
		return "", requestError(codeBadRequest, "extensions.persistedQuery must have a version and a sha256Hash")
	case version.String() != persistedQueryVersion:
		return "", requestError(codeBadRequest, "extensions.persistedQuery.version must be 1")
	case params.Query == "":
		if params.Query, ok = p.known.get(hash); !ok {
			// The message, too, is what clients look for.
			return "", requestError(codePersistedNotFound, "PersistedQueryNotFound")
		}
		return "", nil
	}
	if hashOf(params.Query) != hash {
		return "", requestError(codePersistedMismatch, "the hash is not that of the query")
	}
	return hash, nil
}

func (p *persisted) keep(hash, text string) {
	if hash != "" {
		p.known.add(hash, text, len(text)+len(hash))
	}
}
