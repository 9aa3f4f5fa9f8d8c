package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// startServer serves the page as the service does and returns its address,
// with a slash at the end.
func startServer(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/graphiql/", http.StripPrefix("/graphiql", GraphiQL()))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/graphiql/"
}

// answer is a response that was read to its end. The body is as it was sent.
type answer struct {
	code   int
	header http.Header
	length int64 // as announced, -1 if it was not
	body   []byte
}

// do sends one request with exactly these headers, pairs of name and value.
func do(t *testing.T, method, url string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(header, 2) {
		request.Header.Add(pair[0], pair[1])
	}
	// The default transport would ask for gzip and undo it behind our back.
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return answer{response.StatusCode, response.Header, response.ContentLength, body}
}

// paths lists every path that the page serves, below its prefix.
func paths(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, strings.TrimPrefix(name, "dist/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPage(t *testing.T) {
	base := startServer(t)
	page := do(t, "GET", base)
	if page.code != http.StatusOK {
		t.Fatalf("GET / = %d, want 200", page.code)
	}
	if !strings.Contains(string(page.body), "<title>incidentgraph</title>") {
		t.Errorf("GET / = %q, want the title incidentgraph", page.body)
	}
	if index := do(t, "GET", base+"index.html"); !bytes.Equal(index.body, page.body) {
		t.Errorf("GET /index.html = %q, want the page", index.body)
	}
	head := do(t, "HEAD", base)
	if head.code != http.StatusOK || len(head.body) != 0 || head.length != int64(len(page.body)) {
		t.Errorf("HEAD / = %d with %d of %d bytes, want 200 with none of %d",
			head.code, len(head.body), head.length, len(page.body))
	}
}

// A page asked for at its prefix without the slash would resolve its relative
// addresses one level too high.
func TestPrefixWithoutSlash(t *testing.T) {
	base := startServer(t)
	response := do(t, "GET", strings.TrimSuffix(base, "/"))
	if code, to := response.code, response.header.Get("Location"); code/100 != 3 || to != "/graphiql/" {
		t.Errorf("GET without slash = %d to %q, want a redirect to /graphiql/", code, to)
	}
}

func TestHeaders(t *testing.T) {
	base := startServer(t)
	for _, name := range append(paths(t), "", "nothing/here") {
		response := do(t, "GET", base+name)
		csp := response.header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "worker-src 'self'", "connect-src 'self'",
			"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		} {
			if !slices.Contains(strings.Split(csp, "; "), want) {
				t.Errorf("%q: Content-Security-Policy = %q, want %s in it", name, csp, want)
			}
		}
		if strings.Contains(csp, "://") || strings.Contains(csp, "*") || strings.Contains(csp, "unsafe-eval") {
			t.Errorf("%q: Content-Security-Policy = %q, want no other host and no eval", name, csp)
		}
		for key, want := range map[string]string{
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "same-origin",
		} {
			if got := response.header.Get(key); got != want {
				t.Errorf("%q: %s = %q, want %q", name, key, got, want)
			}
		}
	}
}

func TestContentTypes(t *testing.T) {
	base := startServer(t)
	for _, name := range paths(t) {
		want, ok := contentTypes[path.Ext(name)]
		if !ok {
			t.Errorf("%s: no content type for %s", name, path.Ext(name))
		}
		response := do(t, "HEAD", base+name)
		if got := response.header.Get("Content-Type"); got != want {
			t.Errorf("%s: Content-Type = %q, want %q", name, got, want)
		}
	}
}

func TestNotFound(t *testing.T) {
	base := startServer(t)
	for _, name := range []string{
		"nothing", "assets", "assets/", "assets/nothing.js", "dist/index.html", "index.html/", "web.go",
		"%2e%2e/web.go", "assets/..%2findex.html", "examples.json%00", "graphiql/package.json",
	} {
		response := do(t, "GET", base+name)
		if response.code != http.StatusNotFound {
			t.Errorf("GET /%s = %d, want 404", name, response.code)
		}
		if got := response.header.Get("Cache-Control"); got != "" {
			t.Errorf("GET /%s: Cache-Control = %q, want none", name, got)
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	base := startServer(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		for _, name := range []string{"", "examples.json"} {
			response := do(t, method, base+name)
			if code, allow := response.code, response.header.Get("Allow"); code != http.StatusMethodNotAllowed || allow != "GET, HEAD" {
				t.Errorf("%s /%s = %d, Allow %q, want 405, Allow %q", method, name, code, allow, "GET, HEAD")
			}
		}
	}
}

func TestCompression(t *testing.T) {
	base := startServer(t)
	var sent int
	for _, name := range paths(t) {
		plain := do(t, "GET", base+name)
		want := plain.body
		if got := plain.header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s: Content-Encoding = %q, want none without Accept-Encoding", name, got)
		}
		zipped := do(t, "GET", base+name, "Accept-Encoding", "gzip, deflate, br, zstd")
		body := zipped.body
		sent += len(body)
		if zipped.header.Get("Content-Encoding") == "gzip" {
			if len(body) >= len(want) {
				t.Errorf("%s: gzip sends %d bytes, want fewer than %d", name, len(body), len(want))
			}
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if body, err = io.ReadAll(reader); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if zipped.header.Get("ETag") == plain.header.Get("ETag") {
				t.Errorf("%s: ETag = %s for both codings, want two", name, plain.header.Get("ETag"))
			}
		} else if len(want) > 1000 {
			t.Errorf("%s: %d bytes are sent uncompressed", name, len(want))
		}
		if !bytes.Equal(body, want) {
			t.Errorf("%s: the codings hold different bytes", name)
		}
		for _, response := range []answer{plain, zipped} {
			if got := response.header.Get("Vary"); got != "Accept-Encoding" {
				t.Errorf("%s: Vary = %q, want Accept-Encoding", name, got)
			}
		}
	}
	if limit := 2 << 20; sent > limit {
		t.Errorf("all files compressed take %d bytes, want at most %d", sent, limit)
	}
}

func TestCaching(t *testing.T) {
	base := startServer(t)
	hashed := regexp.MustCompile(`^assets/.+-[\w-]{8}\.\w+$`)
	for _, name := range paths(t) {
		want := "no-cache"
		if strings.HasPrefix(name, "assets/") {
			want = "public, max-age=31536000, immutable"
			if !hashed.MatchString(name) {
				t.Errorf("%s is kept for ever by clients but has no hash in its name", name)
			}
		}
		for _, coding := range []string{"identity", "gzip"} {
			first := do(t, "GET", base+name, "Accept-Encoding", coding)
			if got := first.header.Get("Cache-Control"); got != want {
				t.Errorf("%s: Cache-Control = %q, want %q", name, got, want)
			}
			again := do(t, "GET", base+name, "Accept-Encoding", coding, "If-None-Match", first.header.Get("ETag"))
			if again.code != http.StatusNotModified || len(again.body) != 0 {
				t.Errorf("%s, %s, with its ETag = %d, %d bytes, want 304, 0 bytes", name, coding, again.code, len(again.body))
			}
		}
		other := do(t, "GET", base+name, "If-None-Match", `"other"`)
		if other.code != http.StatusOK {
			t.Errorf("%s with another ETag = %d, want 200", name, other.code)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZip"}, true},
		{[]string{"x-gzip"}, true},
		{[]string{"br, gzip;q=0.5"}, true},
		{[]string{"br", "gzip"}, true},
		{[]string{"gzip ; Q = 0.001"}, true},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip;q=0.000, *"}, false},
		{[]string{"*, gzip;q=0"}, false},
		{[]string{"*"}, true},
		{[]string{"*;q=0"}, false},
		{[]string{"identity, br"}, false},
		{[]string{"gzipped"}, false},
		{[]string{"gzip;q=much"}, false},
		{[]string{"gzip;level=9"}, false},
	} {
		if got := acceptsGzip(test.values); got != test.want {
			t.Errorf("acceptsGzip(%q) = %t, want %t", test.values, got, test.want)
		}
	}
}

// What one file of the bundle names of another must be there: by address in the
// page and the styles, by file name with its hash in the scripts.
func TestReferences(t *testing.T) {
	base := startServer(t)
	all := paths(t)
	page := do(t, "GET", base).body
	references := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllSubmatch(page, -1)
	if len(references) < 3 {
		t.Fatalf("the page refers to %d files, want a script, a style sheet and an icon at least", len(references))
	}
	for _, match := range references {
		name, relative := strings.CutPrefix(string(match[1]), "./")
		if !relative {
			t.Errorf("the page refers to %s, want an address that starts with ./", match[1])
		}
		if response := do(t, "HEAD", base+name); response.code != http.StatusOK {
			t.Errorf("HEAD %s = %d, want 200", name, response.code)
		}
	}

	asset := regexp.MustCompile(`[\w.]+(?:-\w+)*-[\w-]{8}\.(?:js|css|ttf|svg)\b`)
	used := map[string]bool{}
	for _, name := range all {
		if ext := path.Ext(name); ext != ".js" && ext != ".css" && ext != ".html" {
			continue
		}
		body := do(t, "GET", base+name).body
		for _, found := range asset.FindAll(body, -1) {
			used["assets/"+string(found)] = true
			if !slices.Contains(all, "assets/"+string(found)) {
				t.Errorf("%s names %s, which is not there", name, found)
			}
		}
	}
	for _, name := range all {
		if strings.HasPrefix(name, "assets/") && !used[name] {
			t.Errorf("%s is named by no other file", name)
		}
	}
}

func TestNoSourceMaps(t *testing.T) {
	base := startServer(t)
	for _, name := range paths(t) {
		body := do(t, "GET", base+name).body
		if path.Ext(name) == ".map" || bytes.Contains(body, []byte("\n//# sourceMappingURL=")) {
			t.Errorf("%s is or names a source map", name)
		}
	}
}

func TestExamples(t *testing.T) {
	base := startServer(t)
	body := do(t, "GET", base+"examples.json").body
	var examples []struct {
		Name      string         `json:"name"`
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&examples); err != nil {
		t.Fatal(err)
	}
	if len(examples) == 0 {
		t.Error("there are no examples")
	}
	seen := map[string]bool{}
	for _, example := range examples {
		if seen[example.Name] {
			t.Errorf("two examples are named %q", example.Name)
		}
		seen[example.Name] = true
		// The tab shows the name of the operation: the two must agree.
		named := regexp.MustCompile(`\b(?:query|mutation|subscription) ` + regexp.QuoteMeta(example.Name) + `\b`)
		if example.Name == "" || !named.MatchString(example.Query) {
			t.Errorf("example %q: no operation of that name in %q", example.Name, example.Query)
		}
	}
}
