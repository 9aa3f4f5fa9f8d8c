package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"incidentgraph/internal/fixture"
)

// hostileBodies are requests that would cost a server without limits its time
// or memory.
func hostileBodies() map[string]string {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	query := func(text string) string { return fmt.Sprintf(`{"query":%q}`, text) }
	doubling := repeat(60, "fragment F%[1]d on IncidentConnection { ...F%[1]dx ...F%[1]dx } ")
	for i := range 60 {
		doubling = strings.ReplaceAll(doubling, fmt.Sprintf("F%dx", i), fmt.Sprintf("F%d", i+1))
	}
	return map[string]string{
		"no JSON, long":         strings.Repeat("x", 10<<20),
		"a long document":       query("{ __typename } #" + strings.Repeat("x", 10<<20)),
		"deep selections":       query(strings.Repeat("{ a ", 20_000) + strings.Repeat("}", 20_000)),
		"around and around":     query("{ incidents { nodes { " + strings.Repeat("related { nodes { ", 9) + "id" + strings.Repeat(" } }", 9) + " } } }"),
		"a deep value":          query(`{ __type(name: ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `) { name } }`),
		"deep variables":        `{"query":"{ __typename }","variables":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`,
		"aliases":               query("{ " + repeat(1000, "a%d: incidents { totalCount } ") + "}"),
		"the same field":        query("{ " + strings.Repeat("incidents { totalCount } ", 1500) + "}"),
		"fragments that double": query("{ incidents { ...F0 } } " + doubling + "fragment F60 on IncidentConnection { totalCount }"),
		"fragments in a circle": query("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"),
		"introspection":         query("{ " + repeat(200, "a%d: __schema { types { name fields { name type { name } } } } ") + "}"),
		"a large page":          query("{ incidents(first: 1000000) { nodes { id } } }"),
		"dear pages":            query("{ incidents(first: 100) { nodes { similar(first: 100) { nodes: edges { node { similar(first: 100) { totalCount } } } } } } }"),
		"many ids":              `{"query":"query ($i: [ID!]!) { nodes(ids: $i) { id } }","variables":{"i":[` + strings.TrimSuffix(repeat(10_000, `"x%d",`), ",") + `]}}`,
		"unknown fields":        query("{ " + repeat(5000, "nope%d ") + "}"),
		"directives":            query("{ __typename " + strings.Repeat("@skip(if: false) ", 1000) + "}"),
		"variables":             query("query Q(" + repeat(5000, "$v%d: Int ") + ") { __typename }"),
		"operations":            query(repeat(1000, "query Q%d { __typename } ")),
		"a batch":               "[" + strings.TrimSuffix(strings.Repeat(`{"query":"{ __typename }"},`, 100), ",") + "]",
		"a hash of no hash":     `{"extensions":{"persistedQuery":{"version":"x","sha256Hash":[1]}}}`,
	}
}

// hang opens connections that send a part of a request and then nothing.
func hang(t *testing.T, url string, n int) (stop func()) {
	t.Helper()
	conns := make([]net.Conn, n)
	for i := range conns {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
		part := "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"query\":\""
		if i%2 == 0 {
			part = part[:40]
		}
		if _, err := io.WriteString(conn, part); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

// TestHostile attacks a server from several sides at a time. Each attack gets
// a short answer soon that is no failure of the server; afterwards the server
// takes no more than a fifth more memory than before, and answers as before.
func TestHostile(t *testing.T) {
	const attackers, budget = 4, 10 * time.Second // on a machine that does much else
	dir := t.TempDir()
	db := filepath.Join(dir, "case.db")
	if _, err := importFile(db, writeRecords(t, filepath.Join(dir, "records.jsonl"), 1, 10_000, fixture.Lite)); err != nil {
		t.Fatal(err)
	}
	// The making of the text index leaves much behind for a while: a first
	// server makes it.
	p := startServer(t, "--db", db)
	if err := eventually("the text index", func() bool {
		a, err := ask(http.DefaultClient, p.url, `{ search(query: "failure") { totalCount } }`)
		return err == nil && a.errors == nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p = startServer(t, "--db", db, "--admin-addr", "127.0.0.1:0", "--log-level", "error")
	answers := make(map[string][]byte)
	asked := func(check func(query string, raw []byte)) {
		t.Helper()
		for _, query := range otherQueries() {
			a, err := ask(http.DefaultClient, p.url, query)
			if err != nil || a.status != http.StatusOK || a.errors != nil {
				t.Fatalf("%s = %d %.200s (%v)", query, a.status, a.raw, err)
			}
			check(query, a.raw)
		}
	}
	asked(func(query string, raw []byte) { answers[query] = raw })
	resident := func() float64 { return metric(t, p.admin, "process_resident_memory_bytes") }
	usageOf(t, p) // which takes some itself
	before, residentBefore := usageOf(t, p), resident()

	var running sync.WaitGroup
	release := hang(t, p.url, 100)
	for range attackers {
		running.Go(func() {
			client := newClient(1)
			defer client.CloseIdleConnections()
			for range rounds(4, 40) {
				for name, body := range hostileBodies() {
					began := time.Now()
					resp, err := client.Post(p.url+"/graphql", "application/json", strings.NewReader(body))
					if err != nil { // the answer to a body that is too long may come before it is sent
						if len(body) < 1<<20 {
							t.Errorf("%s: %v", name, err)
						}
						continue
					}
					answer, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if took := time.Since(began); err != nil || resp.StatusCode >= 500 || len(answer) > 1<<20 || took > budget {
						t.Errorf("%s = %d %.100s (%d bytes in %v, %v)", name, resp.StatusCode, answer, len(answer), took, err)
					}
				}
			}
		})
	}
	running.Wait()
	release()
	http.DefaultClient.CloseIdleConnections()

	var after usage
	var residentAfter float64
	if err := eventually("the memory to come back", func() bool {
		after, residentAfter = usageOf(t, p), resident()
		// Short tests run under the race detector, which gives nothing back.
		return after.goroutines <= before.goroutines+5 && after.heap <= 1.2*before.heap && (testing.Short() || residentAfter <= 1.2*residentBefore)
	}); err != nil {
		t.Errorf("%v: %+v and %.0f bytes resident before, %+v and %.0f after", err, before, residentBefore, after, residentAfter)
	}
	asked(func(query string, raw []byte) {
		if !bytes.Equal(raw, answers[query]) {
			t.Errorf("%s is answered with %.200s after the attacks, %.200s before", query, raw, answers[query])
		}
	})
	t.Logf("%+v and %.0f bytes resident before, %+v and %.0f after", before, residentBefore, after, residentAfter)
}
