package graph

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"incidentgraph/internal/fixture"
)

// BenchmarkRepeated asks for the same through HTTP with keep-alive: of net/http
// alone with the answer at hand, of the response cache, and without it.
//
//	go test ./graph -run '^$' -bench Repeated -benchmem
func BenchmarkRepeated(b *testing.B) {
	const n = 1000
	var records [][]byte
	for r := range fixture.Records(1, n, fixture.Lite) {
		records = append(records, r)
	}
	in, _ := ingesterOf(b, nil, records...)
	body := nestedBody(b, n)
	answer := bytes.Clone(serve(b, NewHandler(Config{Ingester: in}), body))
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{
		{"bare", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", typeJSON)
			_, _ = w.Write(answer)
		})},
		{"cached", NewHandler(Config{Ingester: in, ResponseCacheBytes: DefaultResponseCacheBytes})},
		{"made", NewHandler(Config{Ingester: in})},
	} {
		b.Run(c.name, func(b *testing.B) { overHTTP(b, c.handler, body, answer) })
	}
}

// overHTTP posts a body to a handler, several at a time, and checks what comes
// back.
func overHTTP(b *testing.B, h http.Handler, body, want []byte) {
	server := httptest.NewServer(h)
	defer server.Close()
	const clients = 4 // times GOMAXPROCS
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	defer client.CloseIdleConnections()
	b.SetParallelism(clients)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := client.Post(server.URL, typeJSON, bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			got, err := io.ReadAll(r.Body)
			if r.Body.Close() != nil || err != nil || !bytes.Equal(got, want) {
				b.Errorf("answer %d of %d bytes, %v", r.StatusCode, len(got), err)
				return
			}
		}
	})
}

// BenchmarkHit takes an answer from the response cache, without HTTP.
func BenchmarkHit(b *testing.B) {
	var records [][]byte
	for r := range fixture.Records(1, 1000, fixture.Lite) {
		records = append(records, r)
	}
	in, _ := ingesterOf(b, nil, records...)
	run(b, NewHandler(Config{Ingester: in, ResponseCacheBytes: DefaultResponseCacheBytes}), nestedBody(b, 1000))
}
