package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const (
	countDocument = `query Count { incidents { totalCount } }`
	titleDocument = `query Title($id: String!) { incident(caseId: $id) { title { text } } }`
)

// trust reads a manifest that must be sound.
func trust(t testing.TB, manifest string) *TrustedDocuments {
	t.Helper()
	docs, err := ReadManifest(strings.NewReader(manifest), Limits{})
	if err != nil {
		t.Fatalf("ReadManifest(%.200s) = %v", manifest, err)
	}
	return docs
}

// manifestOf writes a manifest in the form of Relay.
func manifestOf(t testing.TB, idsAndDocuments ...string) string {
	t.Helper()
	m := make(map[string]string)
	for i := 0; i < len(idsAndDocuments); i += 2 {
		m[idsAndDocuments[i]] = idsAndDocuments[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestManifestForms names the documents of manifests as the tools write them.
func TestManifestForms(t *testing.T) {
	count, title := hashOf(countDocument), hashOf(titleDocument)
	for name, manifest := range map[string]string{
		"Relay, MD5":                          manifestOf(t, "3be4abb81fa595e25eb725b2c6a87508", countDocument, "71f7dc5758652baac68e4a10c50be732", titleDocument),
		"the GraphQL Code Generator, SHA-256": manifestOf(t, count, countDocument, title, titleDocument),
		"the draft":                           manifestOf(t, "sha256:"+count, countDocument, "x-app:title.1", titleDocument),
		"Apollo": fmt.Sprintf(`{
			"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
				{"id": %q, "name": "Count", "type": "query", "body": %q},
				{"id": "two", "body": %q, "clientName": null, "ID": "ignored"}
			]}`, count, countDocument, titleDocument),
	} {
		docs := trust(t, manifest)
		h := testHandler(t, Config{TrustedDocuments: docs, OnlyTrusted: true})
		if docs.Len() != 2 {
			t.Errorf("%s: Len() = %d, want 2", name, docs.Len())
		}
		for id := range docs.texts {
			for how, body := range map[string]string{
				"documentId":     fmt.Sprintf(`{"documentId":%q,"variables":{"id":"T-001"}}`, id),
				"persistedQuery": fmt.Sprintf(`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":%q}},"variables":{"id":"T-001"}}`, id),
			} {
				got := exchange(h, "POST", "/", body, "Content-Type", typeJSON)
				want := post(t, h, docs.texts[id], map[string]any{"id": "T-001"}, "Accept", typeJSON)
				if got.Code != http.StatusOK || got.Body.String() != want.Body.String() {
					t.Errorf("%s: %s %q = %d %s, want 200 %s", name, how, id, got.Code, got.Body, want.Body)
				}
			}
		}
		for _, text := range []string{countDocument, titleDocument} {
			if docs.texts["sha256:"+hashOf(text)] != text {
				t.Errorf("%s: no document has the id sha256:%s", name, hashOf(text))
			}
		}
	}
}

// TestManifestFaults: the errors name the document, the place and the reason.
func TestManifestFaults(t *testing.T) {
	const apollo = `"format":"apollo-persisted-query-manifest"`
	other := hashOf(countDocument)
	for _, c := range []struct {
		name, manifest string
		want           []string
	}{
		{"no JSON", `nothing`, []string{"line 1, column 2", "invalid character"}},
		{"a list", `[]`, []string{"not a JSON object"}},
		{"null", `null`, []string{"not a JSON object"}},
		{"cut off", "{\n\"a\": \"{ __typename }\",\n", []string{"line 3, column 1", "unexpected EOF"}},
		{"cut off in a document", `{"a":"{ __type`, []string{"unexpected EOF", `"a"`}},
		{"trailing", `{} {}`, []string{"line 1, column 4", "after top-level value"}},
		{"not UTF-8", "{\"a\":\"{ __typename } #\xff\"}", []string{"invalid UTF-8", `"a"`}},
		{"half of a surrogate pair", `{"a":"{ __typename } #\ud800"}`, []string{"surrogate", `"a"`}},
		{"an id twice", "{\"a\":\"{ __typename }\",\n\"\\u0061\":\"{ __typename }\"}", []string{"line 2, column 1", "duplicate", `"a"`}},
		{"no text", `{"a":{"text":"{ __typename }"}}`, []string{`"a"`, "must be a string"}},
		{"null for a text", `{"a": null}`, []string{`"a"`, "must be a string"}},
		{"no id", `{"":"{ __typename }"}`, []string{"an id has 1 to 256"}},
		{"id too long", manifestOf(t, strings.Repeat("x", 257), `{ __typename }`), []string{"an id has 1 to 256"}},
		{"id with a space", `{"a b":"{ __typename }"}`, []string{`"a b"`, "visible ASCII"}},
		{"hash of another, with prefix", manifestOf(t, "sha256:"+other, titleDocument), []string{other, "not the SHA-256", hashOf(titleDocument)}},
		{"hash of another", manifestOf(t, other, titleDocument), []string{other, "not the SHA-256"}},
		{"hash in upper case with prefix", manifestOf(t, "sha256:"+strings.ToUpper(other), countDocument), []string{"not the SHA-256"}},
		{"no hash behind the prefix", manifestOf(t, "sha256:abc", countDocument), []string{"not the SHA-256"}},
		{"syntax", manifestOf(t, "q1", "{\n  service {\n"), []string{`"q1"`, "line 3", "Expected"}},
		{"empty", manifestOf(t, "q1", ""), []string{`"q1"`, "no operation"}},
		{"not valid", manifestOf(t, "q1", "{ service {\n nope } }"), []string{`"q1"`, "line 2, column 2", "nope"}},
		{"a mutation", manifestOf(t, "q1", "mutation M { __typename }"), []string{`"q1"`, "mutation"}},
		{"no operation", manifestOf(t, "q1", "fragment F on Query { __typename }"), []string{`"q1"`, "no operation"}},
		{"too deep", manifestOf(t, "q1", "{"+strings.Repeat("a{", 30)+"b"+strings.Repeat("}", 31)), []string{`"q1"`, "maxDepth"}},
		{"too long", manifestOf(t, "q1", "{ __typename }"+strings.Repeat(" ", DefaultLimits().MaxDocumentBytes)), []string{`"q1"`, "maxDocumentBytes"}},
		{"too many tokens", manifestOf(t, "q1", "{"+strings.Repeat(" a", DefaultLimits().MaxTokens)+"}"), []string{`"q1"`, "maxTokens"}},
		{"list too long", manifestOf(t, "q1", "{ nodes(ids: ["+strings.Repeat(`"a" `, 600)+"]) { id } }"), []string{`"q1"`, "maxNodes"}},
		{"several", manifestOf(t, "q1", "{", "q2", countDocument, "q3", "{ nope }"), []string{`"q1"`, "\n", `"q3"`, "nope"}},
		{"Apollo, another version", `{` + apollo + `,"version":2,"operations":[]}`, []string{"the version 1"}},
		{"Apollo, no operations", `{` + apollo + `,"version":1}`, []string{"operations"}},
		{"Apollo, no list", `{` + apollo + `,"version":1,"operations":{}}`, []string{"/operations must be another kind"}},
		{"Apollo, no id", `{` + apollo + `,"version":1,"operations":[{"body":"{ __typename }"}]}`, []string{`""`, "an id has 1 to 256"}},
		{"Apollo, no body", `{` + apollo + `,"version":1,"operations":[{"id":"a","BODY":"{ __typename }"}]}`, []string{`"a"`, "no operation"}},
		{"Apollo, a number", `{` + apollo + `,"version":1,"operations":[{"id":5,"body":"{ __typename }"}]}`, []string{"/operations/0/id must be another kind"}},
		{"Apollo, a member twice", `{` + apollo + `,"version":1,"operations":[{"id":"a","id":"b","body":"{ __typename }"}]}`, []string{"duplicate", `"id"`}},
		{"Apollo, an id twice", `{` + apollo + `,"version":1,"operations":[{"id":"a","body":"{ __typename }"},{"id":"b","body":"{ __typename }"},{"id":"a","body":"{ __typename }"}]}`, []string{`"a" is there twice`}},
		{"Apollo, another name", `{` + apollo + `,"version":1,"operations":[{"id":"a","name":"B","body":"query A { __typename }"}]}`, []string{`"a"`, `"B"`}},
		{"Apollo, another type", `{` + apollo + `,"version":1,"operations":[{"id":"a","name":"A","type":"mutation","body":"query A { __typename }"}]}`, []string{`"a"`, "query", "mutation"}},
		{"too large", manifestOf(t, "q1", strings.Repeat(" ", MaxManifestBytes)), []string{fmt.Sprint(MaxManifestBytes)}},
	} {
		docs, err := ReadManifest(strings.NewReader(c.manifest), Limits{})
		if err == nil {
			t.Errorf("%s: ReadManifest() = %d documents, want an error", c.name, docs.Len())
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: ReadManifest() = %q, want %q in it", c.name, err, want)
			}
		}
	}
	if docs, err := ReadManifest(strings.NewReader(manifestOf(t, strings.ToUpper(other), countDocument)), Limits{}); err != nil {
		t.Errorf("a hash in upper case: %d documents, %v, want no error", docs.Len(), err)
	}
	if _, err := ReadManifest(strings.NewReader(manifestOf(t, "q1", "{ service { version } }")), Limits{MaxDepth: 1}); err == nil {
		t.Error("ReadManifest() takes a document that is deeper than the handler's limit")
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("q%02d", i), "{")
	}
	_, err := ReadManifest(strings.NewReader(manifestOf(t, many...)), Limits{})
	if got := strings.Count(err.Error(), "\n"); got != maxErrors || !strings.HasSuffix(err.Error(), "and 30 more bad documents") {
		t.Errorf("50 bad documents are told in %d lines: %v", got+1, err)
	}
}

// TestTrustedRequests sends requests to a server that has trusted documents,
// and to one that runs no others.
func TestTrustedRequests(t *testing.T) {
	manifest := manifestOf(t, "count", countDocument, "title", titleDocument, "two", `query A { __typename } query B { nodes(ids: []) { id } }`)
	docs := trust(t, manifest)
	also := testHandler(t, Config{TrustedDocuments: docs})
	only := testHandler(t, Config{TrustedDocuments: docs, OnlyTrusted: true})
	none := testHandler(t, Config{OnlyTrusted: true})
	without := testHandler(t, Config{})
	const free, ask = `{ service { version } }`, `"extensions":{"persistedQuery":{"version":1,"sha256Hash":`
	const jsonType, newType = typeJSON, typeGraphQL
	for _, c := range []struct {
		name    string
		handler http.Handler
		body    string // of a POST
		get     []string
		accept  string
		status  int
		code    string
	}{
		{"by id", also, `{"documentId":"count"}`, nil, jsonType, 200, ""},
		{"by id", only, `{"documentId":"count"}`, nil, newType, 200, ""},
		{"by id, GET", only, "", []string{"documentId", "title", "variables", `{"id":"T-001"}`}, jsonType, 200, ""},
		{"by hash", only, `{"documentId":"sha256:` + hashOf(countDocument) + `"}`, nil, jsonType, 200, ""},
		{"by Apollo's protocol", only, `{` + ask + `"` + hashOf(countDocument) + `"}}}`, nil, jsonType, 200, ""},
		{"by Apollo's protocol, GET", only, "", []string{"extensions", `{"persistedQuery":{"version":1,"sha256Hash":"count"}}`}, jsonType, 200, ""},
		{"null and empty are absent", also, `{"documentId":null,"query":"{ __typename }"}`, nil, jsonType, 200, ""},
		{"null and empty are absent, GET", also, "", []string{"documentId", "", "query", free}, jsonType, 200, ""},
		{"its text", only, fmt.Sprintf(`{"query":%q}`, countDocument), nil, jsonType, 200, ""},
		{"its text, registered", only, fmt.Sprintf(`{"query":%q,%s%q}}}`, countDocument, ask, hashOf(countDocument)), nil, jsonType, 200, ""},
		{"another operation", only, `{"documentId":"two","operationName":"B"}`, nil, jsonType, 200, ""},
		{"no operation named", only, `{"documentId":"two"}`, nil, jsonType, 200, codeValidationFailed},
		{"bad variables", only, `{"documentId":"title","variables":{"id":5}}`, nil, jsonType, 200, codeBadInput},
		{"not an id", also, `{"documentId":5}`, nil, jsonType, 400, codeBadRequest},
		{"an unknown id", also, `{"documentId":"nope"}`, nil, jsonType, 400, codeUnknownDocument},
		{"an unknown id", only, `{"documentId":"nope"}`, nil, newType, 400, codeUnknownDocument},
		{"an unknown id, GET", only, "", []string{"documentId", "nope"}, jsonType, 400, codeUnknownDocument},
		{"an unknown id", without, `{"documentId":"count"}`, nil, jsonType, 400, codeUnknownDocument},
		{"an id among the extensions", also, `{"extensions":{"documentId":"count"}}`, nil, jsonType, 400, codeBadRequest},
		{"id and text", also, fmt.Sprintf(`{"documentId":"count","query":%q}`, countDocument), nil, jsonType, 400, codeBadRequest},
		{"id and text, GET", also, "", []string{"documentId", "count", "query", countDocument}, jsonType, 400, codeBadRequest},
		{"id and hash", also, `{"documentId":"count",` + ask + `"count"}}}`, nil, jsonType, 400, codeBadRequest},
		{"other documents", also, fmt.Sprintf(`{"query":%q}`, free), nil, jsonType, 200, ""},
		{"other documents registered", also, fmt.Sprintf(`{"query":%q,%s%q}}}`, free, ask, hashOf(free)), nil, jsonType, 200, ""},
		{"other documents by hash", also, `{` + ask + `"` + hashOf(free) + `"}}}`, nil, jsonType, 200, ""},
		{"another hash", also, `{` + ask + `"` + hashOf("x") + `"}}}`, nil, jsonType, 200, codePersistedNotFound},
		{"another version of the protocol", also, `{"extensions":{"persistedQuery":{"version":2,"sha256Hash":"count"}}}`, nil, jsonType, 400, codeBadRequest},

		{"other documents", only, fmt.Sprintf(`{"query":%q}`, free), nil, jsonType, 403, codeUntrustedDocument},
		{"other documents, GET", only, "", []string{"query", free}, newType, 403, codeUntrustedDocument},
		{"almost the same", only, fmt.Sprintf(`{"query":%q}`, countDocument+" "), nil, jsonType, 403, codeUntrustedDocument},
		{"other documents registered", only, fmt.Sprintf(`{"query":%q,%s%q}}}`, free, ask, hashOf(free)), nil, jsonType, 403, codeUntrustedDocument},
		{"other documents by hash", only, `{` + ask + `"` + hashOf(free) + `"}}}`, nil, jsonType, 403, codeUntrustedDocument},
		{"introspection", only, `{"query":"{ __schema { types { name } } }"}`, nil, jsonType, 403, codeUntrustedDocument},
		{"__typename", only, `{"query":"{ __typename }"}`, nil, jsonType, 403, codeUntrustedDocument},
		{"nothing", only, `{}`, nil, jsonType, 403, codeUntrustedDocument},
		{"no JSON", only, `{`, nil, jsonType, 400, codeBadRequest},
		{"a mutation", only, "", []string{"query", "mutation { __typename }"}, jsonType, 403, codeUntrustedDocument},
		{"other documents, nothing trusted", none, fmt.Sprintf(`{"query":%q}`, free), nil, jsonType, 403, codeUntrustedDocument},
	} {
		method, target := "POST", "/"
		if c.get != nil {
			method, target = "GET", getURL(c.get...)
		}
		for range 2 { // the second finds what the first has left
			w := exchange(c.handler, method, target, c.body, "Content-Type", typeJSON, "Accept", c.accept)
			a := decodeAnswer(t, w)
			if w.Code != c.status || a.code() != c.code {
				t.Errorf("%s: %s %s %s = %d %s, want %d and the code %q", c.name, method, target, c.body, w.Code, w.Body, c.status, c.code)
			}
			if c.code == codeUntrustedDocument && !strings.Contains(a.Errors[0].Message, "documentId") {
				t.Errorf("%s: the message %q does not say what to do", c.name, a.Errors[0].Message)
			}
		}
	}
}

// TestTrustedCost: what variables make of a trusted document is bounded as
// with others.
func TestTrustedCost(t *testing.T) {
	docs := trust(t, manifestOf(t, "page", `query ($n: Int!) { incidents(first: $n) { nodes { related(first: $n) { nodes { id } } } } }`))
	h := testHandler(t, Config{TrustedDocuments: docs, OnlyTrusted: true, Limits: Limits{MaxCost: 1000}})
	for n, want := range map[int]string{2: "", 100: codeLimit} {
		w := exchange(h, "POST", "/", fmt.Sprintf(`{"documentId":"page","variables":{"n":%d}}`, n), "Content-Type", typeJSON)
		if got := decodeAnswer(t, w).code(); got != want {
			t.Errorf("pages of %d give %s, want the code %q", n, w.Body, want)
		}
	}
}

// TestTrustedStays: a trusted document is not parsed again, however many
// others there were since.
func TestTrustedStays(t *testing.T) {
	docs := trust(t, manifestOf(t, "count", countDocument))
	h := testHandler(t, Config{TrustedDocuments: docs}).(*handler)
	before, _ := h.engine.documents.get(countDocument)
	for i := range 2 * documentMemory / parsedBytes / (60 << 10) {
		ask(t, h, fmt.Sprintf("{ __typename } # %d %s", i, strings.Repeat(".", 60<<10)), nil)
	}
	if _, ok := h.engine.documents.valid.get(fmt.Sprintf("{ __typename } # 0 %s", strings.Repeat(".", 60<<10))); ok {
		t.Error("the first of the others is still there: they were too few")
	}
	if after, ok := h.engine.documents.get(countDocument); !ok || after != before || before == nil {
		t.Errorf("the trusted document is %p after %p", after, before)
	}
}

// TestTrustedTags: tags and the response cache tell documents apart, and one
// manifest from another.
func TestTrustedTags(t *testing.T) {
	in, _ := ingesterOf(t, testConcepts(t), testRecords(t)...)
	var seen []Observation
	serve := func(manifest string, only bool) http.Handler {
		return NewHandler(Config{Ingester: in, TrustedDocuments: trust(t, manifest), OnlyTrusted: only, ResponseCacheBytes: cacheSpace,
			Observe: func(_ context.Context, o Observation) { seen = append(seen, o) }})
	}
	manifest := manifestOf(t, "a", countDocument, "b", `query Version { service { version } }`)
	h := serve(manifest, false)
	a, b := getURL("documentId", "a"), getURL("documentId", "b")
	tags := make(map[string]string)
	for _, target := range []string{a, b, a, b} {
		w := exchange(h, "GET", target, "")
		tag := w.Header().Get("ETag")
		if w.Code != 200 || tag == "" || w.Header().Get("Cache-Control") != revalidate || tags[tag] != "" && tags[tag] != target {
			t.Errorf("GET %s = %d with the tag %q, of %q before", target, w.Code, tag, tags[tag])
		}
		tags[tag] = target
	}
	want := []Observation{
		{Kind: "query", Name: "Count", Hash: hashOf(countDocument), Cost: 2, Cache: cacheMiss},
		{Kind: "query", Name: "Version", Hash: hashOf(`query Version { service { version } }`), Cost: 2, Cache: cacheMiss},
		{Kind: "query", Name: "Count", Hash: hashOf(countDocument), Cost: 2, Cache: cacheHit},
		{Kind: "query", Name: "Version", Hash: hashOf(`query Version { service { version } }`), Cost: 2, Cache: cacheHit},
	}
	for i := range seen {
		seen[i].Cost = min(seen[i].Cost, 2) // it has tests of its own
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the requests are observed as (-want +got):\n%s", diff)
	}
	tag := exchange(h, "GET", a, "").Header().Get("ETag")
	for name, c := range map[string]struct {
		handler http.Handler
		want    int
	}{
		"the same":         {h, 304},
		"another handler":  {serve(manifest, false), 304},
		"another manifest": {serve(manifestOf(t, "a", `{ service { version } }`, "b", countDocument), false), 200},
		"no others":        {serve(manifest, true), 200},
	} {
		if w := exchange(c.handler, "GET", a, "", "If-None-Match", tag); w.Code != c.want {
			t.Errorf("%s: GET with the tag = %d, want %d", name, w.Code, c.want)
		}
	}
	// A tag lets nobody in.
	free := getURL("query", `{ service { revision } }`)
	tag = exchange(h, "GET", free, "").Header().Get("ETag")
	if w := exchange(serve(manifest, true), "GET", free, "", "If-None-Match", tag); w.Code != http.StatusForbidden {
		t.Errorf("another document with its tag = %d, want %d", w.Code, http.StatusForbidden)
	}
}

// TestRefusedIsObserved: the log tells by its hash which document was refused.
func TestRefusedIsObserved(t *testing.T) {
	var seen []Observation
	h := testHandler(t, Config{OnlyTrusted: true, Observe: func(_ context.Context, o Observation) { seen = append(seen, o) }})
	post(t, h, countDocument, nil)
	if want := []Observation{{Hash: hashOf(countDocument), Codes: []string{codeUntrustedDocument}}}; !cmp.Equal(want, seen) {
		t.Errorf("observed %+v, want %+v", seen, want)
	}
}

// FuzzReadManifest reads any bytes: what is taken is sound by a reading of its
// own, runs, and is what encoding/json finds in it.
func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"count":"query Count { incidents { totalCount } }"}`))
	f.Add([]byte(`{"sha256:` + hashOf(countDocument) + `":"` + countDocument + `"}`))
	f.Add([]byte(`{"a":"{ __typename }","a":"{ __typename }"}`))
	f.Add([]byte(`{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"1","name":"A","type":"query","body":"query A { __typename }"}]}`))
	f.Add([]byte(`{"format":"x","operations":[]}`))
	f.Add([]byte("{\"a\" : \"{ nope \\ud800 }\"\n}"))
	in, _ := ingesterOf(f, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		docs, err := ReadManifest(strings.NewReader(string(raw)), Limits{})
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Errorf("ReadManifest(%q) = %q", raw, err)
			}
			return
		}
		var whole map[string]any
		if err := json.Unmarshal(raw, &whole); err != nil {
			t.Fatalf("ReadManifest takes %q: %v", raw, err)
		}
		want := make(map[string]string)
		if whole["format"] == apolloFormat {
			for _, o := range whole["operations"].([]any) {
				o := o.(map[string]any)
				want[o["id"].(string)] = o["body"].(string)
			}
		} else {
			for id, text := range whole {
				want[id] = text.(string)
			}
		}
		for _, text := range want {
			want["sha256:"+hashOf(text)] = text
		}
		if diff := cmp.Diff(want, docs.texts); diff != "" {
			t.Errorf("ReadManifest(%q) (-want +got):\n%s", raw, diff)
		}
		h := NewHandler(Config{Ingester: in, TrustedDocuments: docs, OnlyTrusted: true})
		for id := range docs.texts {
			w := exchange(h, "GET", getURL("documentId", id), "")
			switch code := decodeAnswer(t, w).code(); code {
			case codeUnknownDocument, codeUntrustedDocument, codeParseFailed, codeInternal:
				t.Errorf("document %q of %q gives %s", id, raw, w.Body)
			}
		}
	})
}
