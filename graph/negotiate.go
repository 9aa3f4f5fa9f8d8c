package graph

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of answers.
const (
	typeGraphQL = "application/graphql-response+json"
	typeJSON    = "application/json"
)

// maxListHeader bounds the bytes of a header that are read.
const maxListHeader = 8 << 10

// listHeader gives a header that is a list; lines with the same name are one
// (RFC 9110, section 5.3). Elements beyond the bound are left out.
func listHeader(h http.Header, name string) string {
	lines := h.Values(name)
	if len(lines) == 0 {
		return ""
	}
	list := lines[0]
	if len(lines) > 1 {
		list = strings.Join(lines, ", ")
	}
	if len(list) > maxListHeader {
		list = list[:maxListHeader]
		list = list[:max(0, strings.LastIndexByte(list, ','))]
	}
	return list
}

// negotiate picks the media type of the answer after an Accept header (RFC
// 9110, section 12.5.1): the one with the highest weight; application/json
// where the header leaves the choice to the server, as older clients need it;
// "" where neither is acceptable.
func negotiate(accept string) string {
	switch strings.TrimSpace(accept) {
	case "", "*/*", typeJSON:
		return typeJSON
	case typeGraphQL:
		return typeGraphQL
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
