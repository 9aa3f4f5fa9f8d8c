package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// cacheSpace is room for all answers of a test.
const cacheSpace = 8 << 20

// title gives the title that the records of these tests have at a revision.
func title(language string, revision uint64) string { return fmt.Sprintf("%s %d", language, revision) }

// revised is a record whose title tells the revision that it is written with.
func revised(revision uint64) []byte {
	return []byte(fmt.Sprintf(`{"id":"T-1","org":"One","title":{"en":%q,"ko":%q}}`, title("en", revision), title("ko", revision)))
}

// TestCacheIsExact writes, and asks a handler with a cache and one without for
// the same in random order: the answers are equal, byte by byte and header by
// header, and some of them come from the cache.
func TestCacheIsExact(t *testing.T) {
	in, log := ingesterOf(t, testConcepts(t), testRecords(t)...)
	var hits, misses int
	count := func(_ context.Context, o Observation) {
		switch o.Cache {
		case cacheHit:
			hits++
		case cacheMiss:
			misses++
		}
	}
	cached := NewHandler(Config{Ingester: in, ResponseCacheBytes: cacheSpace, Observe: count})
	plain := NewHandler(Config{Ingester: in})
	r := rand.New(rand.NewPCG(5, 8))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	tag := ""
	var ask func(h http.Handler, match string) *httptest.ResponseRecorder
	for n := range 4000 {
		if r.IntN(40) == 0 {
			put(t, log, []byte(fmt.Sprintf(`{"id":"T-00%d","title":{"en":"%d","ko":"%d 번"},"components":["c%d"]}`, 1+r.IntN(4), n, n, r.IntN(3))))
		}
		if n == 0 || r.IntN(3) == 0 { // else again
			ask = anyRequest(one)
		}
		match := one("", "", tag, "*")
		got, want := ask(cached, match), ask(plain, match)
		if got.Code != want.Code || !cmp.Equal(got.Header(), want.Header()) || !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
			t.Fatalf("request %d, If-None-Match %q:\ncached %d %v %s\nplain  %d %v %s", n, match,
				got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
		}
		if e := got.Header().Get("ETag"); e != "" {
			tag = e
		}
	}
	if hits < 400 || misses < 400 {
		t.Errorf("%d hits and %d misses, want many of both", hits, misses)
	}
}

// anyRequest makes a request of parts that one picks.
func anyRequest(one func(of ...string) string) func(h http.Handler, match string) *httptest.ResponseRecorder {
	query := one(
		`query A($id: String!) { service { revision } incident(caseId: $id) { title { text language available } components { slug } } }`,
		`query A($id: String!) { incident(caseId: $id) { related(first: -1) { totalCount } } }`,
		`query A($id: String!) { incident(caseId: $id) { nope } }`,
		`query A($id: String!) { incident(caseId: $id) { similar(first: 2) { edges { score node { caseId } } } } } query B { incidents { totalCount } }`,
	)
	method, operation := one("POST", "GET", "HEAD"), one("A", "A", "B")
	variables := one(`{"id":"T-001"}`, `{"id":"T-002"}`, `{ "id" : "T-001" }`, `{}`, `[]`)
	headers := []string{
		requestIDHeader, "r-1",
		"Content-Type", typeJSON,
		"Accept", one(typeJSON, typeGraphQL, "application/*"),
		"Accept-Language", one("", "ko", "en", "ko, en;q=0.5"),
		costHeader, one("", "1"),
	}
	target, body := getURL("query", query, "operationName", operation, "variables", variables), ""
	if method == "POST" {
		target, body = "/graphql", fmt.Sprintf(`{"query":%q,"operationName":%q,"variables":%s}`, query, operation, variables)
	}
	return func(h http.Handler, match string) *httptest.ResponseRecorder {
		return exchange(h, method, target, body, append(headers, "If-None-Match", match)...)
	}
}

// TestCacheUnderWrites asks while another writes: no answer is of a state older
// than the newest one that was acknowledged before the request, and each is of
// one state, in the language and of the media type asked for.
func TestCacheUnderWrites(t *testing.T) {
	in, log := ingesterOf(t, nil, revised(1))
	var hits atomic.Int64
	h := NewHandler(Config{Ingester: in, ResponseCacheBytes: cacheSpace, Observe: func(_ context.Context, o Observation) {
		if o.Cache == cacheHit {
			hits.Add(1)
		}
	}})
	var acknowledged atomic.Uint64
	acknowledged.Store(1)
	var all sync.WaitGroup
	done := make(chan struct{})
	for reader := range 4 {
		language, accept := []string{"en", "ko"}[reader%2], []string{typeJSON, typeGraphQL}[reader/2]
		all.Go(func() {
			newest := uint64(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				oldest := max(acknowledged.Load(), newest)
				w := post(t, h, `{ service { revision } incident(caseId: "T-1") { title { text language } } }`, nil, "Accept", accept, "Accept-Language", language)
				a := decodeAnswer(t, w)
				newest = uint64(at(t, a.Data, "service", "revision").(float64))
				if newest < oldest {
					t.Errorf("an answer is of revision %d, after %d was acknowledged", newest, oldest)
				}
				if got, want := at(t, a.Data, "incident", "title", "text"), title(language, newest); got != want {
					t.Errorf("title = %v in %s at revision %d, want %q", got, language, newest, want)
				}
				if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, accept+";") {
					t.Errorf("Content-Type = %q, want %q", got, accept)
				}
			}
		})
	}
	for revision := uint64(2); revision <= 200; revision++ {
		put(t, log, revised(revision))
		acknowledged.Store(revision)
		time.Sleep(time.Millisecond) // for some answers to be asked for again
	}
	close(done)
	all.Wait()
	if hits.Load() == 0 {
		t.Error("no answer came from the cache")
	}
}

// TestCacheGolden asks for every golden case twice: what the cache gives is
// what is made without it.
func TestCacheGolden(t *testing.T) {
	plain, cached := testHandler(t, Config{}), testHandler(t, Config{ResponseCacheBytes: cacheSpace})
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		query, variables := "", map[string]any(nil)
		for _, f := range archive.Files {
			switch f.Name {
			case "query":
				query = string(f.Data)
			case "variables":
				if err := json.Unmarshal(f.Data, &variables); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := post(t, plain, query, variables, requestIDHeader, "golden")
		for range 2 {
			got := post(t, cached, query, variables, requestIDHeader, "golden")
			if got.Code != want.Code || got.Body.String() != want.Body.String() {
				t.Errorf("%s: cached %d %s, want %d %s", file, got.Code, got.Body, want.Code, want.Body)
			}
		}
	}
}

// TestCacheObserved tells what is a hit, and that it is observed like the
// answer that was made.
func TestCacheObserved(t *testing.T) {
	var seen Observation
	h := testHandler(t, Config{ResponseCacheBytes: cacheSpace, Observe: func(_ context.Context, o Observation) { seen = o }})
	observed := func(method, target, body string, headers ...string) Observation {
		seen = Observation{}
		exchange(h, method, target, body, append(headers, "Content-Type", typeJSON)...)
		return seen
	}
	const named = `{"query":"query Q { service { version } }"}`
	made := observed("POST", "/", named)
	again := observed("POST", "/", named)
	if made.Cache != cacheMiss || made.Name != "Q" || made.Cost == 0 || made.Hash == "" {
		t.Errorf("the first request is observed as %+v", made)
	}
	made.Cache = cacheHit
	if !cmp.Equal(made, again) {
		t.Errorf("the second request is observed as %+v, want %+v", again, made)
	}

	sum := hashOf("{ service { revision } }")
	persisted := `{"persistedQuery":{"version":1,"sha256Hash":"` + sum + `"}}`
	observed("GET", getURL("query", "{ service { revision } }", "extensions", persisted), "")
	get := getURL("query", "{ service { version } }")
	tag := exchange(h, "GET", get, "").Header().Get("ETag")
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		first, second              string
	}{
		{"GET after GET", "GET", get, "", nil, cacheHit, cacheHit},
		{"HEAD after GET", "HEAD", get, "", nil, cacheHit, cacheHit},
		{"not modified", "GET", get, "", []string{"If-None-Match", tag}, cacheHit, cacheHit},
		{"spelled otherwise", "POST", "/", named + " ", nil, cacheMiss, cacheHit},
		{"with the cost", "POST", "/", named, []string{costHeader, "1"}, cacheMiss, cacheHit},
		{"other language", "POST", "/", named, []string{"Accept-Language", "ko"}, cacheMiss, cacheHit},
		{"other type", "POST", "/", named, []string{"Accept", typeGraphQL}, cacheMiss, cacheHit},
		{"same type by default", "POST", "/", named, []string{"Accept", "*/*"}, cacheHit, cacheHit},
		{"by its hash", "GET", getURL("extensions", persisted), "", nil, cacheMiss, cacheHit},
		{"errors in the document", "POST", "/", `{"query":"{ nope }"}`, nil, cacheMiss, cacheMiss},
		{"errors in a field", "POST", "/", `{"query":"{ incidents(first: -1) { totalCount } }"}`, nil, cacheMiss, cacheMiss},
		{"no request", "POST", "/", `[]`, nil, cacheMiss, cacheMiss},
		{"not acceptable", "POST", "/", named, []string{"Accept", "image/png"}, "", ""},
		{"no document, whatever the client has", "GET", getURL("query", "{ nope }"), "", []string{"If-None-Match", "*"}, cacheMiss, cacheMiss},
	} {
		for i, want := range []string{c.first, c.second} {
			if got := observed(c.method, c.target, c.body, c.headers...).Cache; got != want {
				t.Errorf("%s, request %d: cache = %q, want %q", c.name, i+1, got, want)
			}
		}
	}
}

// TestCacheMakesOnce asks for the same many times at once, and counts how often
// it is made; then again with the one who makes it failing.
func TestCacheMakesOnce(t *testing.T) {
	const requests = 8
	for _, c := range []struct {
		name         string
		fail         bool
		made, failed int // how many
	}{{"success", false, 1, 0}, {"failure", true, requests, 1}} {
		synctest.Test(t, func(t *testing.T) {
			in, _ := ingesterOf(t, nil, revised(1))
			h := NewHandler(Config{Ingester: in, ResponseCacheBytes: cacheSpace}).(*handler)
			h.engine.plain = true // so that what is around operations is
			var made, failed atomic.Int64
			leave := make(chan struct{})
			h.engine.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
				if made.Add(1) == 1 {
					<-leave
					if c.fail {
						panic("x")
					}
				}
				return next(ctx)
			})
			for range requests {
				go func() {
					if exchange(h, "GET", getURL("query", "{ service { revision } }"), "").Code != http.StatusOK {
						failed.Add(1)
					}
				}()
			}
			synctest.Wait() // until one makes it and all others wait
			close(leave)
			synctest.Wait()
			if made.Load() != int64(c.made) || failed.Load() != int64(c.failed) {
				t.Errorf("%s: made %d times, failed %d times, want %d, %d", c.name, made.Load(), failed.Load(), c.made, c.failed)
			}
			if n := len(h.transports[0].(*httpTransport).answers.underway); n != 0 {
				t.Errorf("%s: %d answers are still being made", c.name, n)
			}
		})
	}
}

// TestCacheWaitEnds waits for an answer for no longer than there is time.
func TestCacheWaitEnds(t *testing.T) {
	c := newAnswers(cacheSpace)
	_, m := c.begin(t.Context(), key{1})
	if m == nil {
		t.Fatal("begin = nil, want the making")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, other := c.begin(ctx, key{1}); a != nil || other != nil {
		t.Errorf("begin after the end of the time = %v, %v, want nothing", a, other)
	}
	m.end(nil, 0)
	m.end(&reply{key: key{1}}, 0) // too late
	if a := c.get(key{1}); a != nil {
		t.Errorf("get = %v, want nothing", a)
	}
	if _, m = c.begin(t.Context(), key{1}); m == nil {
		t.Error("begin after the end = nil, want the making")
	}
}

// TestCacheIsBounded keeps many answers, large ones and those of old states.
func TestCacheIsBounded(t *testing.T) {
	const space = 100_000
	c := newAnswers(space)
	keep := func(n byte, revision uint64, size int) {
		_, m := c.begin(t.Context(), key{n})
		m.end(&reply{key: key{n}, body: make([]byte, size)}, revision)
	}
	for n := range byte(200) {
		keep(n, 3, 1000+int(n))
		if c.kept.size > space {
			t.Fatalf("after %d answers the cache has %d bytes, want at most %d", n+1, c.kept.size, space)
		}
	}
	if c.get(key{199}) == nil || c.get(key{0}) != nil {
		t.Error("the cache does not hold the last answers")
	}
	keep(200, 3, space/largest)
	if c.get(key{200}) != nil || c.get(key{199}) == nil {
		t.Error("a large answer is kept")
	}
	keep(201, 2, 10)
	if c.get(key{201}) != nil || c.get(key{199}) == nil {
		t.Error("an answer of an old state is kept")
	}
	keep(202, 4, 10)
	if c.get(key{202}) == nil || c.get(key{199}) != nil || c.kept.size > 1000 {
		t.Error("answers of old states are kept")
	}
	if newAnswers(0) != nil || newAnswers(-1) != nil {
		t.Error("there is a cache without space")
	}
}

// TestQuestionsDiffer shifts bytes from one part of a question to the next:
// each is another question.
func TestQuestionsDiffer(t *testing.T) {
	transport := &httpTransport{answers: newAnswers(1 << 20)}
	seen := make(map[string]string)
	for _, c := range []struct {
		name     string
		language string
		m        message
	}{
		{"query", "", message{query: "a"}},
		{"operation name", "", message{operationName: "a"}},
		{"variables", "", message{variables: "a"}},
		{"extensions", "", message{extensions: "a"}},
		{"language", "a", message{}},
		{"body", "", message{post: true, body: []byte("a")}},
		{"empty body", "", message{post: true}},
		{"nothing", "", message{}},
		{"split", "", message{query: "a", operationName: "b"}},
		{"joined", "", message{query: "ab"}},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", c.language)
		q := transport.questionOf(r, &c.m, typeJSON)
		if other, ok := seen[string(q.text)]; ok {
			t.Errorf("%s and %s are one question", c.name, other)
		}
		seen[string(q.text)] = c.name
	}
}
