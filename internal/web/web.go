// Package web holds the pages that the service shows to people: GraphiQL, where
// queries are written, completed, checked and run against the API.
//
// Everything is in the binary and nothing is loaded from another host. The page
// is built from the sources in graphiql into dist, which is committed:
//
//	cd internal/web/graphiql && npm ci && npm run build
//
// The build is reproducible: the same sources and package-lock.json give the
// same bytes. Rebuild after a change to graphiql, and commit both.
//
// The queries a first visit opens, one tab each, are in examples.json: a list
// of {"name", "query", "variables"}, read by the page when it loads, so changing
// them needs no build. The operation's own name is what its tab shows; variables
// is an object and may be missing. An address that ends in
// ?query=…&variables=… opens its operation in a tab of its own, and does not
// run it.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed all:dist examples.json
var embedded embed.FS

// policy lets the page load only what came with it and talk only to its own
// origin, WebSocket included. Monaco, the editor, writes style attributes and
// carries small images in its style sheets.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; " +
	"style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// contentTypes is the whole list on purpose: what the mime package answers
// depends on the machine's own tables, and with nosniff a wrong one is fatal.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".md":   "text/plain; charset=utf-8", // browsers download text/markdown
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
}

// GraphiQL returns a handler that serves the page at "" and "/", and what the
// page loads below it. It expects its prefix to be stripped, and the page
// addresses everything relatively, so the prefix must end in a slash and the
// API be its neighbour: a page at /graphiql/ sends its queries to /graphql.
//
//	mux.Handle("/graphiql/", http.StripPrefix("/graphiql", web.GraphiQL()))
//
// Only GET and HEAD are answered. Files are compressed the first time a client
// that accepts gzip asks for them; the copies together stay below 2 MB.
func GraphiQL() http.Handler {
	all := make(site)
	err := fs.WalkDir(embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		all[strings.TrimPrefix(name, "dist/")] = newFile(name)
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
}

// site maps the path below the prefix, without a leading slash, to its file.
type site map[string]*file

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")

	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	f, ok := s[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	f.ServeHTTP(w, r)
}

// file is one embedded file. Its digest and its compressed copy are made when
// they are first needed, once, and kept.
type file struct {
	name         string // in embedded
	contentType  string
	cacheControl string
	digest       func() string // hexadecimal
	compressed   func() []byte // nil if gzip makes it no smaller
}

func newFile(name string) *file {
	f := &file{name: name, contentType: contentTypes[path.Ext(name)], cacheControl: "no-cache"}
	if f.contentType == "" {
		f.contentType = "application/octet-stream"
	}
	// The build puts a hash of the content into the name of every asset.
	if strings.HasPrefix(name, "dist/assets/") {
		f.cacheControl = "public, max-age=31536000, immutable"
	}
	f.digest = sync.OnceValue(func() string {
		sum := sha256.New()
		f.copyTo(sum)
		return fmt.Sprintf("%x", sum.Sum(nil)[:16])
	})
	f.compressed = sync.OnceValue(func() []byte {
		var buf bytes.Buffer
		zw := gzip.NewWriter(&buf)
		size := f.copyTo(zw)
		if err := zw.Close(); err != nil {
			panic(err) // memory to memory
		}
		if int64(buf.Len()) >= size {
			return nil
		}
		return bytes.Clone(buf.Bytes()) // without the room left to grow
	})
	return f
}

func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", f.cacheControl)
	h.Add("Vary", "Accept-Encoding")

	var content io.ReadSeeker
	if zipped := f.compressedFor(r); zipped != nil {
		content = bytes.NewReader(zipped)
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", `"`+f.digest()+`-gzip"`)
	} else {
		content = f.open()
		h.Set("ETag", `"`+f.digest()+`"`)
	}
	// ServeContent does conditional requests, ranges and HEAD. Embedded files
	// have no time of their own, so the ETag is the only validator.
	http.ServeContent(w, r, f.name, time.Time{}, content)
}

// compressedFor returns the compressed copy if there is one and r accepts it.
func (f *file) compressedFor(r *http.Request) []byte {
	if !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return nil
	}
	return f.compressed()
}

// open returns the content where it lies in the program, uncopied. There is
// nothing to close.
func (f *file) open() io.ReadSeeker {
	content, err := embedded.Open(f.name)
	if err != nil {
		panic(err) // the name came from walking the same files
	}
	return content.(io.ReadSeeker)
}

func (f *file) copyTo(w io.Writer) int64 {
	n, err := io.Copy(w, f.open())
	if err != nil {
		panic(err) // memory to memory
	}
	return n
}

// acceptsGzip reports whether the values of Accept-Encoding allow gzip (RFC
// 9110, section 12.5.3). A weight that cannot be read counts as a refusal:
// plain content suits everyone.
func acceptsGzip(values []string) bool {
	rest := false // what "*" says of the codings not named
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, weighted := strings.Cut(coding, ";")
		allowed := true
		if weighted {
			key, value, _ := strings.Cut(weight, "=")
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			allowed = strings.EqualFold(strings.TrimSpace(key), "q") && err == nil && q > 0
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return allowed
		case "*":
			rest = allowed
		}
	}
	return rest
}
