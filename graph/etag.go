package graph

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// entityTag names the answer to a GET. A position never changes what it holds,
// so equal keys mean equal answers, made or not. The tag is weak because what
// stands between may compress the answer.
func (k key) entityTag() string {
	return `W/"` + base64.RawURLEncoding.EncodeToString(k[:16]) + `"`
}

// revalidate is the Cache-Control of answers that may be kept: a write can
// change them at any moment, so they are asked about each time, which costs no
// more than the way here and back.
const revalidate = "no-cache"

func setTag(w http.ResponseWriter, k key) {
	w.Header().Set("ETag", k.entityTag())
	w.Header().Set("Cache-Control", revalidate)
}

// clientHas tells whether a request names the answer as one that it has.
func clientHas(r *http.Request, k key) bool {
	given := listHeader(r.Header, "If-None-Match")
	return given != "" && matches(given, k.entityTag())
}

func notModified(w http.ResponseWriter, k key) {
	setTag(w, k)
	w.WriteHeader(http.StatusNotModified)
}

// matches tells whether an If-None-Match header names the tag (RFC 9110,
// section 13.1.2, weak comparison). "*" names none: whether there is any answer
// is known only when it has been made.
func matches(ifNoneMatch, tag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimSpace(candidate)
		if strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
