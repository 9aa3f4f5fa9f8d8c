package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"

	"incidentgraph/graph/view"
	"incidentgraph/internal/incident"
	"incidentgraph/internal/ingest"
)

// question is all that the answer to a request depends on, beside the state of
// the store. Whatever else of a request a resolver comes to read has to be added
// here. It is taken from the request's bytes as they came, which costs next to
// nothing: requests that say the same in other bytes are different questions.
type question struct {
	mediaType string // of the answer
	post      bool
	withCost  bool
	text      []byte // all of it, each part behind its length
}

// everyone is whose eyes an answer is for. Roles, once there are any, take its
// place, so that none sees what another may.
const everyone = ""

// questionOf makes the question that a request asks.
func (t *httpTransport) questionOf(r *http.Request, m *message, mediaType string) question {
	q := question{mediaType: mediaType, post: m.post, withCost: r.Header.Get(costHeader) == "1"}
	if t.answers == nil && q.post {
		return q // nobody will ask for its key
	}
	flags := [2]byte{}
	if q.post {
		flags[0] = 1
	}
	if q.withCost {
		flags[1] = 1
	}
	language := listHeader(r.Header, "Accept-Language")
	const room = 256 // for the flags, the lengths and, later, the position
	q.text = make([]byte, 0, len(t.salt)+len(mediaType)+len(language)+len(m.body)+
		len(m.query)+len(m.documentID)+len(m.operationName)+len(m.variables)+len(m.extensions)+room)
	q.text = append(q.text, t.salt[:]...)
	q.text = append(q.text, flags[:]...)
	for _, part := range [...]string{mediaType, language, everyone, m.query, m.documentID, m.operationName, m.variables, m.extensions} {
		q.text = binary.BigEndian.AppendUint32(q.text, uint32(len(part)))
		q.text = append(q.text, part...)
	}
	q.text = append(q.text, m.body...) // the last part needs no length before it
	return q
}

// saltOf sums up what answers depend on that is the same for all requests to
// one server, and may be another after a restart.
func saltOf(s *view.Settings, concepts *incident.Concepts, trusted *TrustedDocuments, onlyTrusted bool) key {
	list, err := json.Marshal(concepts.All())
	if err != nil {
		panic(err) // strings and numbers
	}
	return sha256.Sum256(fmt.Appendf(list, "%q %+v %x %t", s.Version, s.Limits, trusted.manifest, onlyTrusted))
}

// key names the answer to a question in one state of the store.
type key [sha256.Size]byte

// at gives the key of the answer in the state at a position.
func (q *question) at(p ingest.Position) key {
	text := append(q.text[:len(q.text):len(q.text)], p.Lineage[:]...) //nolint:gocritic // a copy of its own
	text = binary.BigEndian.AppendUint64(text, p.Sequence)
	return sha256.Sum256(append(text, p.Digest[:]...))
}
