package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/search"
	"incidentgraph/internal/store"
)

// ingesterOf makes an ingester over a store in memory that holds the records.
func ingesterOf(t testing.TB, concepts *incident.Concepts, records ...[]byte) (*ingest.Ingester, *store.Memory) {
	t.Helper()
	log := store.NewMemory()
	put(t, log, records...)
	in, err := ingest.New(context.Background(), log, concepts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return in, log
}

// searchable is ingesterOf with a text index.
func searchable(t testing.TB, concepts *incident.Concepts, records ...[]byte) (*ingest.Ingester, *store.Memory) {
	t.Helper()
	log := store.NewMemory()
	put(t, log, records...)
	text, err := search.OpenMemory(concepts)
	if err != nil {
		t.Fatal(err)
	}
	in, err := ingest.New(context.Background(), log, concepts, nil, ingest.WithText(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return in, log
}

// put stores records in one change.
func put(t testing.TB, log *store.Memory, records ...[]byte) {
	t.Helper()
	if len(records) == 0 {
		return
	}
	ctx := context.Background()
	head, err := log.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := store.Change{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), RequestID: fmt.Sprintf("test-%d", head.Sequence)}
	for _, r := range records {
		inc, err := incident.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		c.Ops = append(c.Ops, store.Op{Kind: store.Put, ID: inc.ID, Record: incident.Compact(r)})
	}
	if _, err := log.Append(ctx, head, c); err != nil {
		t.Fatal(err)
	}
}

// testRecords reads the hand-made records.
func testRecords(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/records/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records: %v", err)
	}
	var records [][]byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, b)
	}
	return records
}

func testConcepts(t testing.TB) *incident.Concepts {
	t.Helper()
	b, err := os.ReadFile("testdata/vocabulary.json")
	if err != nil {
		t.Fatal(err)
	}
	concepts, err := incident.DecodeConcepts(b)
	if err != nil {
		t.Fatal(err)
	}
	return concepts
}

// testHandler serves the hand-made records.
func testHandler(t testing.TB, cfg Config) http.Handler {
	t.Helper()
	cfg.Ingester, _ = searchable(t, testConcepts(t), testRecords(t)...)
	cfg.Version = "test"
	return NewHandler(cfg)
}

// post sends an operation through the handler.
func post(t testing.TB, h http.Handler, query string, variables map[string]any, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", typeGraphQL)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer is a decoded response.
type answer struct {
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
	Data       map[string]any
	Extensions map[string]any
}

// code gives the code of the first error, "" where there is none.
func (a answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	code, _ := a.Errors[0].Extensions["code"].(string)
	return code
}

func decodeAnswer(t testing.TB, w *httptest.ResponseRecorder) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("answer %d %.300s: %v", w.Code, w.Body, err)
	}
	return a
}

// ask sends an operation that must succeed, and gives its data.
func ask(t testing.TB, h http.Handler, query string, variables map[string]any) map[string]any {
	t.Helper()
	a := decodeAnswer(t, post(t, h, query, variables))
	if len(a.Errors) > 0 {
		t.Fatalf("%s %v: %+v", query, variables, a.Errors)
	}
	return a.Data
}

// at follows names and list indexes into decoded JSON.
func at(t testing.TB, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v: %v has no member %q", path, v, p)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				t.Fatalf("%v: %v has no element %d", path, v, p)
			}
			v = l[p]
		}
	}
	return v
}
