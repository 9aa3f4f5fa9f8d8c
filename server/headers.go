package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// withSecurityHeaders sets what every answer says to browsers. Handlers of
// pages put a policy of their own in the place of this one, which lets an
// answer load nothing and be shown nowhere.
func withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}

// anyOrigin among the origins of CORS lets in every page.
const anyOrigin = "*"

// cors lets the pages of some origins read answers, through browsers (Fetch
// standard, CORS protocol). Pages of others may send what any page may, but
// the browser keeps the answer from them.
type cors struct {
	origins []string
	next    http.Handler
}

// What pages of other origins may do and see beyond the safelists of CORS.
const (
	corsMethods = "GET, HEAD, POST"
	corsHeaders = "Content-Type, GraphQL-Cost, If-None-Match, X-Request-Id"
	corsExposed = "ETag, Retry-After, X-Request-Id"
	corsMaxAge  = time.Hour
)

// ServeHTTP implements http.Handler.
func (c *cors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if len(c.origins) > 0 {
		h.Add("Vary", "Origin")
	}
	origin := r.Header.Get("Origin")
	if origin == "" || !c.allows(origin) {
		c.next.ServeHTTP(w, r)
		return
	}
	if slices.Contains(c.origins, anyOrigin) {
		origin = anyOrigin
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", corsExposed)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		c.next.ServeHTTP(w, r)
		return
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", strconv.Itoa(int(corsMaxAge.Seconds())))
	w.WriteHeader(http.StatusNoContent)
}

func (c *cors) allows(origin string) bool {
	return slices.Contains(c.origins, anyOrigin) || slices.Contains(c.origins, origin)
}

// validOrigins checks the values of --cors-origin: each as browsers send it.
func validOrigins(origins []string) error {
	for _, o := range origins {
		if o == anyOrigin {
			continue
		}
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o || o != strings.ToLower(o) || strings.Contains(o, "*") {
			return fmt.Errorf("%q is no origin, want scheme://host[:port] in lower case, or *", o)
		}
	}
	return nil
}

// hosts refuses requests to names that are not the server's. A page of
// another site can have its own name lead to this machine after it was loaded
// (DNS rebinding); its browser then takes the server for that site, and would
// let the page read from a server that only this machine can reach. Addresses
// are always right: a page cannot have them lead elsewhere.
type hosts struct {
	names []string // nil: all
	next  http.Handler
}

// ServeHTTP implements http.Handler.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := hostname(r.Host)
	// Without a name it is no browser.
	if h.names != nil && name != "" && !slices.Contains(h.names, name) && net.ParseIP(name) == nil && !isLocalhost(name) {
		http.Error(w, "this server does not go by the name in the request's Host header; --allowed-host tells it more names", http.StatusMisdirectedRequest)
		return
	}
	h.next.ServeHTTP(w, r)
}

// hostNames gives the names that a server at an address goes by, nil for all.
// Names
// that are given are the only ones beside localhost; where none is given, a
// server that only this machine can reach goes by no other.
func hostNames(given []string, address net.Addr) []string {
	if len(given) > 0 {
		return given
	}
	if ip := net.ParseIP(hostname(address.String())); ip != nil && ip.IsLoopback() {
		return []string{}
	}
	return nil
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(hostport, "[]"), "."))
}

func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// validHosts checks the values of --allowed-host.
func validHosts(names []string) error {
	for _, n := range names {
		if n == "" || n != hostname(n) {
			return errors.New("want host names in lower case, without port")
		}
	}
	return nil
}
