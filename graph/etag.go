package graph

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"incidentgraph/graph/view"
	"incidentgraph/internal/ingest"
)

// entityTag names the answer to a GET: a hash of the position of the state
// that it shows and of all in the request that it depends on. A position never
// changes what it holds, so equal tags mean equal answers, made or not. The
// tag is weak because what stands between may compress the answer.
func entityTag(state *ingest.View, settings *view.Settings, r *http.Request, oc *graphql.OperationContext, mediaType string) string {
	variables, err := json.Marshal(oc.Variables) // by rising names
	if err != nil {
		return ""
	}
	position := state.Position()
	h := sha256.New()
	for _, part := range []string{
		fmt.Sprintf("%x %d %x", position.Lineage, position.Sequence, position.Digest),
		fmt.Sprintf("%+v", *settings),
		mediaType,
		r.Header.Get("Accept-Language"),
		r.Header.Get(costHeader),
		oc.OperationName,
		string(variables),
		oc.RawQuery,
	} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16]) + `"`
}

// matches tells whether an If-None-Match header names the tag (RFC 9110,
// section 13.1.2, weak comparison).
func matches(ifNoneMatch, tag string) bool {
	if tag == "" {
		return false
	}
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
