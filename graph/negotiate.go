package graph

import (
	"mime"
	"strconv"
	"strings"
)

// The media types of answers.
const (
	typeGraphQL = "application/graphql-response+json"
	typeJSON    = "application/json"
)

// negotiate picks the media type of the answer after an Accept header (RFC
// 9110, section 12.5.1): the one with the highest weight; application/json
// where the header leaves the choice to the server, as older clients need it;
// "" where neither is acceptable.
func negotiate(accept string) string {
	if strings.TrimSpace(accept) == "" {
		return typeJSON
	}
	var graphQL, json weightOf
	for part := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(s, 64); err != nil {
				continue
			}
		}
		switch mediaType {
		case "*/*":
			graphQL.set(1, q)
			json.set(1, q)
		case "application/*":
			graphQL.set(2, q)
			json.set(2, q)
		case typeGraphQL:
			graphQL.set(exact, q)
		case typeJSON:
			json.set(exact, q)
		}
	}
	switch {
	case graphQL.q <= 0 && json.q <= 0:
		return ""
	case graphQL.q > json.q, graphQL.q == json.q && graphQL.specificity == exact:
		return typeGraphQL
	}
	return typeJSON
}

// exact is the specificity of a range that is a media type.
const exact = 3

// weightOf is the weight of a media type by the most specific range that takes it.
type weightOf struct {
	specificity int
	q           float64
}

func (w *weightOf) set(specificity int, q float64) {
	if specificity > w.specificity {
		w.specificity, w.q = specificity, q
	}
}
