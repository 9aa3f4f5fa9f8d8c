package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var records = flag.Int("records", 10_000, "size of the corpus of the benchmarks")

// TestMain lets the test binary do the tasks of the program that it tests.
func TestMain(m *testing.M) {
	runGivenTask()
	os.Exit(m.Run())
}

// newOurs imports a corpus and gives our handlers.
func newOurs(t testing.TB, c corpus) *http.ServeMux {
	t.Helper()
	dir := t.TempDir()
	if _, err := c.write(filepath.Join(dir, "corpus.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t.Context(), loading{Corpus: filepath.Join(dir, "corpus.jsonl"), Store: filepath.Join(dir, ours)}); err != nil {
		t.Fatal(err)
	}
	mux, closeStore, err := openOurs(t.Context(), filepath.Join(dir, ours))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeStore(); err != nil {
			t.Errorf("close = %v", err)
		}
	})
	return mux
}

func requestsOf(t testing.TB, o *oracle, w *workload, n int) []request {
	t.Helper()
	list, err := w.requests(o, 1, n)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// listen serves a handler and gives its address.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestAnswersAgree asks each contestant a few requests of each workload: ours
// against the oracle, the others against ours.
func TestAnswersAgree(t *testing.T) {
	c := corpus{name: "200", n: minRecords, seed: 1}
	o := newOracle(c)
	var list []request
	for _, w := range workloads {
		list = append(list, requestsOf(t, o, &w, 5)...)
	}
	address := listen(t, newOurs(t, c))
	answers, err := verify(t.Context(), address, ours, uncached, list)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is kept, too
		if _, err := verify(t.Context(), address, ours, repeated, list); err != nil {
			t.Fatal(err)
		}
	}
	for i := range list {
		list[i].Answer = answers[i]
	}
	fixed, err := newConstant(list)
	if err != nil {
		t.Fatal(err)
	}
	for contestant, h := range map[string]http.Handler{bare: newBare(list), constants: fixed} {
		if _, err := verify(t.Context(), listen(t, h), contestant, uncached, list); err != nil {
			t.Error(err)
		}
	}
	t.Run("sqlite", func(t *testing.T) { testSQLite(t, c, list) })
}

// testSQLite takes part where the module has been downloaded before, for it
// needs cgo and half a minute to build at first.
func testSQLite(t *testing.T, c corpus, list []request) {
	if testing.Short() {
		t.Skip("it may have to be built")
	}
	ctx := t.Context()
	dir := t.TempDir()
	program, err := buildSQLite(ctx, dir, "GOPROXY=off")
	if err != nil {
		t.Skipf("cannot be built: %v", err)
	}
	if _, err := c.write(filepath.Join(dir, "corpus.jsonl")); err != nil {
		t.Fatal(err)
	}
	var l loaded
	if err := runProcess(ctx, &l, program, "load", filepath.Join(dir, "corpus.jsonl"), filepath.Join(dir, "db")); err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(ctx, program, "serve", filepath.Join(dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify(t.Context(), p.Address, sqlite, uncached, list); err != nil {
		t.Error(err)
	}
	if err := p.stop(); err != nil {
		t.Errorf("stop = %v", err)
	}
}

// TestMeasureCorpus runs the whole suite in small.
func TestMeasureCorpus(t *testing.T) {
	const isLinux = runtime.GOOS == "linux" // which tells what a process needs
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &settings{
		workloads: workloads[:1], modes: []string{uncached, repeated}, concurrency: []int{2},
		duration: 40 * time.Millisecond, runs: 3, requests: 20, seed: 1, self: self, note: t.Logf,
	}
	rows, feet, err := s.measureCorpus(t.Context(), corpus{name: "200", n: minRecords, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || len(feet) != 1 {
		t.Fatalf("measureCorpus gives %d and %d rows, want 2 and 1", len(rows), len(feet))
	}
	for i, want := range []struct {
		mode        string
		requests    int
		contestants []string
	}{
		{uncached, 20, []string{ours, bare, constants}},
		{repeated, repeatedRequests, []string{ours, bare}},
	} {
		r := rows[i]
		if r.mode != want.mode || r.requests != want.requests || len(r.of) != len(want.contestants) || r.bytes < 1000 || r.ratio[ours] != 1 {
			t.Errorf("row %d is %+v, want %+v", i, r, want)
		}
		for _, contestant := range want.contestants {
			f := r.of[contestant]
			if f == nil || f.perSecond < 1 || f.p50 <= 0 || f.p99 < f.p50 || f.allocs < 1 || isLinux && f.cpu <= 0 {
				t.Errorf("%s, %s: %+v, want positive figures", r.mode, contestant, f)
			}
		}
	}
	f := feet[0]
	if f.contestant != ours || f.load.Took <= 0 || f.file < 100_000 || f.source < 100_000 || f.open <= 0 || f.live <= 0 ||
		isLinux && (f.load.PeakBytes <= 0 || f.peak < f.live) {
		t.Errorf("footprint is %+v, want positive figures", f)
	}
	var b strings.Builder
	if err := requestTable(rows).write(&b, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("the table has %d lines, want 4:\n%s", len(lines), b.String())
	}
	for _, line := range lines {
		if got, want := strings.Count(line, "|"), strings.Count(lines[0], "|"); got != want {
			t.Errorf("%q has %d bars, want %d", line, got, want)
		}
	}
}

func TestMedianOf(t *testing.T) {
	got := medianOf([]figure{
		{perSecond: 3, p50: 10, p99: 50, cpu: 2, allocs: 7, bytes: 1},
		{perSecond: 1, p50: 30, p99: 40, cpu: 3, allocs: 9, bytes: 2},
		{perSecond: 2, p50: 20, p99: 60, cpu: 1, allocs: 8, bytes: 3},
	})
	if want := (figure{perSecond: 2, p50: 20, p99: 50, cpu: 2, allocs: 8, bytes: 2}); *got != want {
		t.Errorf("medianOf = %+v, want %+v", *got, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{thousands(999.4), "999"},
		{thousands(1000), "1,000"},
		{thousands(1234567), "1,234,567"},
		{rate(0.44), "0.4"},
		{rate(1234.5), "1,234"},
		{ratio(0.954), "0.95×"},
		{ratio(12.6), "13×"},
		{ratio(1500), "1,500×"},
		{micros(1500 * time.Microsecond), "1,500"},
		{seconds(2300 * time.Millisecond), "2.30 s"},
		{size(512), "0.5 KB"},
		{size(1_900_000), "1.9 MB"},
		{size(2_345_000_000), "2,345 MB"},
	} {
		if tt.got != tt.want {
			t.Errorf("number is shown as %q, want %q", tt.got, tt.want)
		}
	}
}

func TestRequestsAreSeeded(t *testing.T) {
	o := newOracle(corpus{n: minRecords, seed: 1})
	for _, w := range workloads {
		a, b := requestsOf(t, o, &w, 20), requestsOf(t, o, &w, 20)
		bodies := make(map[string]bool)
		for i := range a {
			if !bytes.Equal(a[i].Body, b[i].Body) {
				t.Errorf("%s: request %d differs from one time to the next", w.name, i)
			}
			bodies[string(a[i].Body)] = true
		}
		if len(bodies) != len(a) {
			t.Errorf("%s: of %d requests %d differ, want all", w.name, len(a), len(bodies))
		}
	}
}

func TestSameJSON(t *testing.T) {
	const want = `{"a":[1,{"b":"x"},null],"c":0.5}`
	for _, tt := range []struct {
		got  string
		same bool
	}{
		{`{"c":0.5000000000001,"a":[1,{"b":"x"},null]}`, true},
		{`{"c":0.50001,"a":[1,{"b":"x"},null]}`, false},
		{`{"c":0.5,"a":[1,{"b":"y"},null]}`, false},
		{`{"c":0.5,"a":[1,null,{"b":"x"}]}`, false},
		{`{"c":0.5,"a":[1,{"b":"x"}]}`, false},
		{`{"c":0.5,"a":[1,{"b":"x"},null],"d":1}`, false},
		{`{"c":"0.5","a":[1,{"b":"x"},null]}`, false},
		{`{"c":0.5,"a":[1,{"b":"x"},0]}`, false},
		{`{"d":0.5,"a":[1,{"b":"x"},null]}`, false},
		{`{"c":0.5`, false},
	} {
		if err := sameJSON([]byte(want), []byte(tt.got)); (err == nil) != tt.same {
			t.Errorf("sameJSON(%s, %s) = %v, want the same: %t", want, tt.got, err, tt.same)
		}
	}
}

func TestParseCorpus(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		full bool
	}{
		{"200", 200, false},
		{"1k", 1000, false},
		{"10k-full", 10_000, true},
		{"1m", 1_000_000, false},
		{"0k", 0, false},
		{"199", 0, false},
		{"100m", 0, false},
		{"full", 0, false},
		{"-1k", 0, false},
	} {
		c, err := parseCorpus(tt.s, 1)
		if c.n != tt.n || (c.size != 0) != tt.full || (err == nil) != (tt.n > 0) {
			t.Errorf("parseCorpus(%q) = %d records of size %d, %v, want %d, full: %t", tt.s, c.n, c.size, err, tt.n, tt.full)
		}
	}
}

// TestFire checks that a client counts what it asked for and tells answers
// that are not the ones expected.
func TestFire(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		length  int
		want    string // of the error
	}{
		{"length", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "12345") }, 5, ""},
		{"chunks", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "12")
			w.(http.Flusher).Flush()
			fmt.Fprint(w, "345")
		}, 5, ""},
		{"other length", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1234") }, 5, "has 4 bytes, not 5"},
		{"failure", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "1234", http.StatusTeapot) }, 5, "418"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := make(chan struct{}, 1<<20)
			address := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				tt.handler(w, r)
			}))
			r := request{Workload: "W1", Body: json.RawMessage(`{}`)}
			f, err := fire(
				t.Context(),
				firing{Address: address, Concurrency: 2, Warmup: 5 * time.Millisecond, Duration: 50 * time.Millisecond},
				[]target{{r.wire(bare, uncached), tt.length}})
			switch {
			case tt.want != "":
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("fire = %v, want an error with %q", err, tt.want)
				}
			case err != nil:
				t.Errorf("fire = %v", err)
			case f.All != len(asked) || f.Requests == 0 || f.Requests > f.All || f.P50 > f.P99 || f.Elapsed < 25*time.Millisecond:
				t.Errorf("fire = %+v, want %d requests altogether", f, len(asked))
			}
		})
	}
}

// BenchmarkServe measures our handler, without and with its cache, and the
// constants' without a network between: go test ./internal/bench -bench Serve -records 100000.
func BenchmarkServe(b *testing.B) {
	c := corpus{n: *records, seed: 1}
	o := newOracle(c)
	us := newOurs(b, c)
	for _, w := range workloads {
		list := requestsOf(b, o, &w, 256)
		fixed, err := newConstant(list)
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range []struct {
			name, path string
			handler    http.Handler
			requests   []request
		}{
			{ours, plainPath, us, list},
			{"cached", cachedPath, us, first(list, repeatedRequests)},
			{constants, plainPath, fixed, list},
		} {
			b.Run(w.name+"/"+x.name, func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					r := httptest.NewRequest(http.MethodPost, x.path, bytes.NewReader(x.requests[i%len(x.requests)].Body))
					r.Header.Set("Content-Type", "application/json")
					answer := httptest.NewRecorder()
					x.handler.ServeHTTP(answer, r)
					if answer.Code != http.StatusOK {
						b.Fatalf("status %d: %s", answer.Code, answer.Body)
					}
					i++
				}
			})
		}
	}
}
