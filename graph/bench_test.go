package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"incidentgraph/internal/fixture"
)

// nestedQuery goes from a case to what it has in common with others.
const nestedQuery = `query ($id: String!) {
  incident(caseId: $id) {
    caseId date title { text language }
    org { slug name }
    components { slug label { text } incidents(first: 5) { totalCount nodes { caseId date title { text } } } }
    contributingFactors { slug label { text } incidents(first: 5) { totalCount nodes { caseId date title { text } } } }
    related { totalCount nodes { caseId date title { text } org { name } } }
    recurrenceOf { caseId date title { text } }
  }
}`

// BenchmarkNested compares the handler with itself leaving everything to gqlgen's
// executor: the difference is what package direct saves. For gqlgen with ready
// values see internal/bench.
//
//	go test ./graph -run '^$' -bench Nested -benchmem
func BenchmarkNested(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		if n > 1_000 && testing.Short() {
			continue
		}
		var records [][]byte
		for r := range fixture.Records(1, n, fixture.Lite) {
			records = append(records, r)
		}
		in, _ := ingesterOf(b, nil, records...)
		body := nestedBody(b, n)
		b.Run(fmt.Sprintf("%dk/graph", n/1000), func(b *testing.B) {
			run(b, NewHandler(Config{Ingester: in}), body)
		})
		b.Run(fmt.Sprintf("%dk/executor", n/1000), func(b *testing.B) {
			h := NewHandler(Config{Ingester: in}).(*handler)
			h.engine.plain = true
			run(b, h, body)
		})
	}
}

// BenchmarkList lists a page of 100 with what lists show.
//
//	go test ./graph -run '^$' -bench List -benchmem
func BenchmarkList(b *testing.B) {
	var records [][]byte
	for r := range fixture.Records(1, 1000, fixture.Lite) {
		records = append(records, r)
	}
	in, _ := ingesterOf(b, nil, records...)
	body, err := json.Marshal(map[string]any{"query": `{ incidents(first: 100) {
		totalCount pageInfo { hasNextPage endCursor }
		edges { cursor node { caseId date title { text language } org { slug name } components { slug label { text } } } }
	} }`})
	if err != nil {
		b.Fatal(err)
	}
	run(b, NewHandler(Config{Ingester: in}), body)
}

// nestedBody asks for a case that has some of everything.
func nestedBody(b *testing.B, n int) []byte {
	b.Helper()
	incidents := fixture.Incidents(1, n)
	here := make(map[string]bool, n)
	for _, i := range incidents {
		here[i.ID] = true
	}
	for _, i := range incidents {
		related := 0
		for _, id := range i.Related {
			if here[id] {
				related++
			}
		}
		if here[i.RecurrenceOf] && related >= 2 && len(i.Contributing) >= 4 && len(i.Components) >= 2 {
			body, err := json.Marshal(map[string]any{"query": nestedQuery, "variables": map[string]any{"id": i.ID}})
			if err != nil {
				b.Fatal(err)
			}
			return body
		}
	}
	b.Fatal("no such case")
	return nil
}

func run(b *testing.B, h http.Handler, body []byte) {
	size := len(serve(b, h, body))
	b.ReportAllocs()
	for b.Loop() {
		serve(b, h, body)
	}
	b.ReportMetric(float64(size), "answer-bytes")
}

func serve(b *testing.B, h http.Handler, body []byte) []byte {
	r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", typeJSON)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK || bytes.HasPrefix(w.Body.Bytes(), []byte(`{"errors"`)) {
		b.Fatalf("answer %d %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}
