package graph

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
)

// limitOf gives the limit that the first error names.
func (a answer) limit() string {
	if len(a.Errors) == 0 {
		return ""
	}
	limit, _ := a.Errors[0].Extensions["limit"].(string)
	return limit
}

// TestInputLimits asks with values that are too large, in variables and in
// documents: no operation with them runs.
func TestInputLimits(t *testing.T) {
	h := testHandler(t, Config{Limits: Limits{MaxCost: 1 << 30, MaxTokens: 20_000}})
	repeat := func(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	nested := func(n int, member string) string {
		return strings.Repeat(`{"`+member+`":`, n) + `{}` + strings.Repeat("}", n)
	}
	const where = `query ($v: IncidentFilter) { incidents(where: $v, first: 1) { totalCount } }`
	for _, c := range []struct {
		name, query, value string
		limit              string // "" for an answer with data
	}{
		{"filters 16 deep", where, nested(15, "not"), ""},
		{"filters 17 deep", where, nested(16, "not"), "maxFilterDepth"},
		{"filters 17 deep in lists", where, strings.Repeat(`{"and":[`, 16) + `{}` + strings.Repeat("]}", 16), "maxFilterDepth"},
		{"filters 17 deep in single elements", where, nested(16, "or"), "maxFilterDepth"},
		{"far too deep", where, nested(9000, "not"), "maxInputDepth"},
		{"lists far too deep", where, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "maxInputDepth"},
		{"filters in all", where, `{"and":[` + repeat(1000, "{}") + `]}`, ""},
		{"too many filters", where, `{"and":[` + repeat(1001, "{}") + `]}`, "maxListLength"},
		{"too many in all", where, `{"and":[` + repeat(6, `{"and":[`+repeat(900, "{}")+`]}`) + `]}`, "maxInputElements"},
		{"too many case ids", where, `{"caseId":{"in":[` + repeat(1001, `"a"`) + `]}}`, "maxListLength"},
		{"too many terms", where, `{"components":{"any":[` + repeat(1001, `"a"`) + `]}}`, "maxListLength"},
		{"languages", `query ($v: [Language!]) { incidents { nodes { title(languages: $v) { text } } } }`, `[` + repeat(16, `"ko"`) + `]`, ""},
		{"too many languages", `query ($v: [Language!]) { incidents { nodes { title(languages: $v) { text } } } }`, `[` + repeat(17, `"ko"`) + `]`, "maxListLength"},
		{"too many orders", `query ($v: [IncidentOrder!]) { incidents(orderBy: $v) { totalCount } }`, `[` + repeat(9, `{"field":"DATE"}`) + `]`, "maxListLength"},
		{"too many weights", `query ($v: [VocabularyWeight!]) { incident(caseId: "T-001") { similar(by: $v) { totalCount } } }`, `[` + repeat(7, `{"vocabulary":"DOMAIN"}`) + `]`, "maxListLength"},
		{"too many vocabularies", `query ($v: [Vocabulary!]!) { incidents { facets(vocabularies: $v) { without } } }`, `[` + repeat(7, `"DOMAIN"`) + `]`, "maxListLength"},
		{"too many ids", `query ($v: [ID!]!) { nodes(ids: $v) { id } }`, `[` + repeat(501, `"a"`) + `]`, "maxNodes"},

		{"literal filters 16 deep", `{ incidents(where: ` + literal(nested(15, "not")) + `) { totalCount } }`, "0", ""},
		{"literal filters 17 deep", `{ incidents(where: ` + literal(nested(16, "not")) + `) { totalCount } }`, "0", "maxFilterDepth"},
		{"literal far too deep", `{ incidents(where: ` + literal(nested(900, "not")) + `) { totalCount } }`, "0", "maxInputDepth"},
		{"literal languages", `{ incidents { nodes { title(languages: [` + repeat(17, `"ko"`) + `]) { text } } } }`, "0", "maxListLength"},
		{"default languages", `query ($l: [Language!] = [` + repeat(17, `"ko"`) + `]) { incidents { nodes { title(languages: $l) { text } } } }`, "0", "maxListLength"},
		{"in a fragment", `{ incidents { nodes { ...F } } } fragment F on Incident { title(languages: [` + repeat(17, `"ko"`) + `]) { text } }`, "0", "maxListLength"},
		{"too many literals", `{ ` + strings.Repeat(`incidents(where: {caseId: {in: [`+repeat(900, `"a"`)+`]}}) { totalCount } `, 6) + `}`, "0", "maxInputElements"},
	} {
		body := fmt.Sprintf(`{"query":%q,"variables":{"v":%s}}`, c.query, c.value)
		start := time.Now()
		w := exchange(h, "POST", "/", body, "Content-Type", typeJSON)
		a := decodeAnswer(t, w)
		if a.limit() != c.limit || c.limit == "" && a.code() != "" || c.limit != "" && a.Data != nil {
			t.Errorf("%s = %.300s, want the limit %q", c.name, w.Body, c.limit)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
	}
}

// literal spells JSON as GraphQL does.
func literal(json string) string { return strings.ReplaceAll(json, `"`, ``) }

// TestAnswerLimits asks for little that gives much.
func TestAnswerLimits(t *testing.T) {
	long := strings.Repeat("long ", 20_000)
	var terms, links strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&terms, `,"c%d"`, i)
		fmt.Fprintf(&links, `,"L-%d"`, i)
	}
	in, _ := ingesterOf(t, nil,
		[]byte(`{"id":"A","summary":{"en":"`+long+`"},"related":["B"`+links.String()+`],"odd":"`+long+`"}`),
		[]byte(`{"id":"B","components":["c"`+terms.String()+`]}`))
	const small, large = 1 << 20, 8 << 20
	many := func(n int, field string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%d: %s ", i, field)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, query string
		bytes       int
		limit       string
	}{
		{"ten texts", `{ incident(caseId: "A") { ` + many(10, "summary { text }") + `} }`, small, ""},
		{"eleven texts", `{ incident(caseId: "A") { ` + many(11, "summary { text }") + `} }`, small, "maxResponseBytes"},
		{"a text eleven times", `{ incident(caseId: "A") { summary { ` + many(11, `translation(language: "en")`) + `} } }`, small, "maxResponseBytes"},
		{"from several roots", many(11, `incident(caseId: "A") { summary { text } }`), small, "maxResponseBytes"},
		{"raw members", `{ incident(caseId: "A") { ` + many(11, "unknownMembers") + `} }`, small, "maxResponseBytes"},
		{"two lists", `{ incident(caseId: "B") { ` + many(2, "components { __typename }") + `} }`, small, "maxResponseBytes"},
		{"three lists", `{ incident(caseId: "B") { ` + many(3, "components { __typename }") + `} }`, large, "maxElements"},
		{"unresolved links", `{ incident(caseId: "A") { ` + many(3, "unresolvedLinks { kind }") + `} }`, large, "maxElements"},
	} {
		if !strings.HasPrefix(c.query, "{") {
			c.query = "{ " + c.query + "}"
		}
		h := NewHandler(Config{Ingester: in, Limits: Limits{MaxResponseBytes: c.bytes, MaxCost: 1 << 20}})
		w := post(t, h, c.query, nil)
		a := decodeAnswer(t, w)
		if a.limit() != c.limit || c.limit == "" && a.code() != "" || c.limit != "" && (a.Data != nil || w.Body.Len() > 1000) {
			t.Errorf("%s: answer of %d bytes, limit %q, want %q; %.300s", c.name, w.Body.Len(), a.limit(), c.limit, w.Body)
		}
	}
}

// TestEchoes checks that errors repeat little of what a request holds.
func TestEchoes(t *testing.T) {
	h := testHandler(t, Config{})
	long := strings.Repeat("ö", 20_000)
	var fields strings.Builder
	for i := range 40 {
		fmt.Fprintf(&fields, "a%d: incidents(where: $w) { totalCount } ", i)
	}
	const where = `query ($w: IncidentFilter) { incidents(where: $w) { totalCount } }`
	for _, c := range []struct {
		name, query string
		variables   map[string]any
	}{
		{"term", where, map[string]any{"w": map[string]any{"components": map[string]any{"any": []string{long}}}}},
		{"case", where, map[string]any{"w": map[string]any{"sharesTermsWith": map[string]any{"caseId": long}}}},
		{"member", where, map[string]any{"w": map[string]any{long: 1}}},
		{"term, often", `query ($w: IncidentFilter) { ` + fields.String() + ` }`, map[string]any{"w": map[string]any{"components": map[string]any{"any": []string{long}}}}},
		{"field", `{ ` + strings.Repeat("n", 20_000) + ` }`, nil},
		{"variable", `query ($` + strings.Repeat("n", 20_000) + `: Int!) { incidents(first: $` + strings.Repeat("n", 20_000) + `) { totalCount } }`, nil},
		{"enum", `{ terms(vocabulary: ` + strings.Repeat("N", 20_000) + `) { totalCount } }`, nil},
		{"syntax", `{ a(` + long + `) }`, nil},
		{"string", `{ incidents(first: "` + long + `") { totalCount } }`, nil},
	} {
		w := post(t, h, c.query, c.variables)
		a := decodeAnswer(t, w)
		if a.code() == "" || a.code() == codeInternal {
			t.Errorf("%s: code = %q, want an error of the request", c.name, a.code())
		}
		if w.Body.Len() > 30_000 || len(a.Errors) > maxFieldErrors+1 {
			t.Errorf("%s: %d errors in %d bytes", c.name, len(a.Errors), w.Body.Len())
		}
		for _, e := range a.Errors {
			if n := utf8.RuneCountInString(e.Message); n > maxMessage {
				t.Errorf("%s: a message of %d code points, want at most %d", c.name, n, maxMessage)
			}
		}
	}
}

func TestWeights(t *testing.T) {
	h := testHandler(t, Config{})
	for _, c := range []struct{ weight, code string }{
		{"0", ""}, {"1000000", ""}, {"1e-300", ""},
		{"1000000.5", codeBadInput}, {"1e308", codeBadInput}, {"-1", codeBadInput},
	} {
		for _, measure := range []string{"WEIGHTED_JACCARD", "COSINE", "JACCARD", "OVERLAP"} {
			a := decodeAnswer(t, post(t, h, `{ incident(caseId: "T-001") { similar(measure: `+measure+`, by: [{vocabulary: DOMAIN, weight: `+c.weight+`}, {vocabulary: SYMPTOM, weight: `+c.weight+`}]) { edges { score explanation { shared { weight share } } } } } }`, nil))
			if a.code() != c.code {
				t.Errorf("weight %s, %s: code = %q, want %q", c.weight, measure, a.code(), c.code)
			}
		}
	}
}

// TestRepeatedHeaders sends headers in several lines.
func TestRepeatedHeaders(t *testing.T) {
	h := testHandler(t, Config{})
	send := func(method, target, body string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	query := getURL("query", `{ incident(caseId: "T-001") { title { language } } }`)
	tag := send("GET", query, "").Header().Get("ETag")
	failing := getURL("query", `{ incidents(first: -1) { totalCount } }`)
	typename := `{"query":"{ __typename }"}`
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
	}{
		{"Accept", "GET", query, "", []string{"Accept", "image/png", "Accept", typeJSON}, 200},
		{"If-None-Match", "GET", query, "", []string{"If-None-Match", `"x"`, "If-None-Match", tag}, 304},
		{"If-None-Match any", "GET", query, "", []string{"If-None-Match", "*"}, 200},
		{"If-None-Match any, failing", "GET", failing, "", []string{"If-None-Match", "*"}, 200},
		{"Content-Type", "POST", "/", typename, []string{"Content-Type", typeJSON, "Content-Type", "text/plain"}, 415},
		{"Content-Type twice", "POST", "/", typename, []string{"Content-Type", typeJSON, "Content-Type", typeJSON}, 415},
		{"Content-Encoding", "POST", "/", typename, []string{"Content-Type", typeJSON, "Content-Encoding", "identity", "Content-Encoding", "gzip"}, 415},
	} {
		if w := send(c.method, c.target, c.body, c.headers...); w.Code != c.status {
			t.Errorf("%s: status = %d, want %d; %s", c.name, w.Code, c.status, w.Body)
		}
	}
	one := send("GET", query, "", "Accept-Language", "fr, ko").Body.String()
	if two := send("GET", query, "", "Accept-Language", "fr", "Accept-Language", "ko").Body.String(); two != one || !strings.Contains(one, `"ko"`) {
		t.Errorf("Accept-Language in two lines gives %s, in one %s, want both in ko", two, one)
	}
}

// TestTimeoutWithinFields ends the time of an operation in the middle of its
// fields: none begins after that.
func TestTimeoutWithinFields(t *testing.T) {
	h := testHandler(t, Config{}).(*handler)
	h.engine.plain = true
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const last = 20
	begun := 0
	h.engine.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		oc := graphql.GetOperationContext(ctx)
		within := oc.ResolverMiddleware
		oc.ResolverMiddleware = func(ctx context.Context, next graphql.Resolver) (any, error) {
			return within(ctx, func(ctx context.Context) (any, error) {
				if begun++; begun == last {
					cancel()
				}
				return next(ctx)
			})
		}
		return next(ctx)
	})
	var titles strings.Builder
	for i := range 10 {
		fmt.Fprintf(&titles, "t%d: title(languages: [\"ko\"]) { text } ", i)
	}
	body := fmt.Sprintf(`{"query":"{ incidents { nodes { %s} } }"}`, strings.ReplaceAll(titles.String(), `"`, `\"`))
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)).WithContext(ctx)
	r.Header.Set("Content-Type", typeJSON)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if a := decodeAnswer(t, w); a.code() != codeTimeout || begun != last {
		t.Errorf("%d fields began, want %d; answer %.300s, want the code %s", begun, last, w.Body, codeTimeout)
	}
}
