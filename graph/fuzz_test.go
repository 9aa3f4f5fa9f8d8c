package graph

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	h := testHandler(f, Config{})
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
