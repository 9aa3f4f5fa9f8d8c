package graph

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// FuzzPost sends any bytes as a request: the answer is JSON with errors or
// data, and never a failure of the server.
func FuzzPost(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		request := make(map[string]any)
		for _, section := range txtar.Parse(b).Files {
			switch section.Name {
			case "query":
				request["query"] = string(section.Data)
			case "variables":
				request["variables"] = json.RawMessage(section.Data)
			}
		}
		body, err := json.Marshal(request)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	f.Add(`{"query":"{ __schema { types { name fields { name type { name ofType { name } } } } } }"}`)
	f.Add(`{"query":"query A($a: [IncidentOrder!]) { incidents(orderBy: $a) { nodes { id } } } query B { __typename }","operationName":"A","variables":{"a":{"field":"DATE"}}}`)
	f.Add(`{"query":"{ ...F } fragment F on Query { ...F service { version } }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}`)
	f.Add(`{"documentId":"count","variables":{"a":1}}`)
	f.Add(`{"documentId":"count","query":"{ __typename }"}`)
	h := testHandler(f, Config{TrustedDocuments: trust(f, manifestOf(f, "count", countDocument))})
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", typeJSON)
		w := httptest.NewRecorder()
		start := time.Now()
		h.ServeHTTP(w, r)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("the answer took %v", took)
		}
		var got struct {
			Errors []map[string]any
			Data   json.RawMessage
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("answer %d %s: %v", w.Code, w.Body, err)
		}
		if len(got.Errors) == 0 && got.Data == nil || w.Code >= 500 {
			t.Errorf("answer %d %s, want data or the client's errors", w.Code, w.Body)
		}
		for _, e := range got.Errors {
			if code, _ := e["extensions"].(map[string]any)["code"].(string); code == "" || code == codeInternal {
				t.Errorf("error %v, want a code of the client's errors", e)
			}
		}
	})
}

// FuzzDecodeRequest compares with encoding/json, which takes more: names in
// any case and several times, and what is not UTF-8.
func FuzzDecodeRequest(f *testing.F) {
	for _, body := range []string{
		`{"query":"{ a }"}`, ` {"query":"\u00e9\n\"","operationName":null,"variables":null,"extensions":{}} `, `{}`, `null`, `[]`, `"a"`, ``, `{"query":"a"}x`,
		`{"variables":{"a":1.50,"b":[1e400,{"c":null}],"d":"x"},"other":[1,{"a":"b"}]}`, `{"query":1}`, `{"variables":[]}`, `{"query":"a","query":"b"}`,
		`{"Query":"a"}`, "{\"query\":\"\xff\"}", `{"extensions":{"persistedQuery":{"version":1}}}`,
		`{"documentId":"a"}`, `{"documentId":"sha256:0","extensions":{"documentId":"b","c":1}}`, `{"documentId":null}`, `{"documentId":1}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := decodeRequest(body)
		if err != nil {
			if message := err.Error(); len(message) > 200 {
				t.Errorf("error of %d bytes", len(message))
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil || members == nil {
			t.Fatalf("decodeRequest(%q) takes what encoding/json does not: %v", body, err)
		}
		want, id := &graphql.RawParams{}, ""
		for name, to := range map[string]any{
			"query": &want.Query, "documentId": &id, "operationName": &want.OperationName, "variables": &want.Variables, "extensions": &want.Extensions,
		} {
			if raw, ok := members[name]; ok {
				d := json.NewDecoder(bytes.NewReader(raw))
				d.UseNumber()
				if err := d.Decode(to); err != nil {
					t.Fatalf("%s of %q: %v", name, body, err)
				}
			}
		}
		if id != "" {
			if want.Extensions == nil {
				want.Extensions = make(map[string]any)
			}
			want.Extensions["documentId"] = documentID(id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("decodeRequest(%q) (-want +got):\n%s", body, diff)
		}
	})
}

func TestDecodeRequestRefuses(t *testing.T) {
	for body, want := range map[string]string{
		``:                            "one JSON object",
		`{"query":"a"} {}`:            "one JSON object",
		`{"query":"a","query":"b"}`:   "each member once",
		"{\"query\":\"\xff\"}":        "UTF-8",
		`{"variables":{"a":1,"a":2}}`: "each member once",
		`null`:                        "not a JSON object",
		`[]`:                          "JSON object",
		`{"query":1}`:                 "query must be a string",
		`{"operationName":{}}`:        "operationName must be a string",
		`{"documentId":5}`:            "documentId must be a string",
		`{"variables":[]}`:            "variables must be an object",
		`{"extensions":"a"}`:          "extensions must be an object",
	} {
		if _, err := decodeRequest([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("decodeRequest(%q) = %v, want an error with %q", body, err, want)
		}
	}
}
