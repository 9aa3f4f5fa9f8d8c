package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"incidentgraph/graph"
)

// TestServeLibrary starts the program as a newcomer does.
func TestServeLibrary(t *testing.T) {
	dir := t.TempDir()
	p, err := startProcess(dir, "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.waitForAddress(); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("explorer  %s/\ngraphql   %s/graphql\n", p.url, p.url); p.stdout.String() != want {
		t.Errorf("the server prints %q, want %q", p.stdout.String(), want)
	}
	var data struct {
		Service struct{ IncidentCount int }
	}
	mustAsk(t, p.url, `{ service { incidentCount } }`, &data)
	status, header, lines := get(t, p.url+"/library.jsonl")
	if status != http.StatusOK || !strings.Contains(header.Get("Link"), "creativecommons.org") {
		t.Errorf("GET /library.jsonl = %d with Link %q, want 200 and the licence", status, header.Get("Link"))
	}
	if got := strings.Count(lines, "\n"); got != data.Service.IncidentCount || got == 0 {
		t.Errorf("/library.jsonl has %d records, the graph %d incidents", got, data.Service.IncidentCount)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("the server has written %v (%v)", files, err)
	}
}

// TestRoutes asks for everything that a server has, with and without an
// address for operators.
func TestRoutes(t *testing.T) {
	alone := startServer(t)
	apart := startServer(t, "--admin-addr", "127.0.0.1:0")
	if apart.admin == "" {
		t.Fatal("the server does not say where its admin address is")
	}
	for _, tt := range []struct {
		url  string
		want int
		text string
	}{
		{alone.url + "/", http.StatusOK, "<html"}, // after the redirection
		{alone.url + "/graphiql/", http.StatusOK, "<html"},
		{alone.url + "/healthz", http.StatusOK, "ok"},
		{alone.url + "/readyz", http.StatusOK, "ready"},
		{alone.url + "/metrics", http.StatusOK, "incidentgraph_store_revision 1"},
		{alone.url + "/debug/pprof/", http.StatusNotFound, ""},
		{alone.url + "/nowhere", http.StatusNotFound, ""},
		{apart.url + "/metrics", http.StatusNotFound, ""},
		{apart.url + "/debug/pprof/", http.StatusNotFound, ""},
		{apart.url + "/readyz", http.StatusOK, "ready"},
		{apart.admin + "/metrics", http.StatusOK, "incidentgraph_store_revision 1"},
		{apart.admin + "/debug/pprof/goroutine?debug=1", http.StatusOK, "goroutine profile"},
		{apart.admin + "/healthz", http.StatusOK, "ok"},
		{apart.admin + "/readyz", http.StatusOK, "ready"},
		{apart.admin + "/graphql", http.StatusNotFound, ""},
	} {
		status, header, body := get(t, tt.url)
		if status != tt.want || !strings.Contains(body, tt.text) {
			t.Errorf("GET %s = %d %.200q, want %d with %q", tt.url, status, body, tt.want, tt.text)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options":     "nosniff",
			"X-Frame-Options":            "DENY",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("GET %s has %s %q, want %q", tt.url, name, got, want)
			}
		}
		if policy := header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("GET %s has the Content-Security-Policy %q", tt.url, policy)
		}
	}
}

// slowRequest is a request whose body has not come yet. The server has begun
// to read it.
type slowRequest struct {
	conn   net.Conn
	reader *bufio.Reader
	body   string
}

func newSlowRequest(t *testing.T, url, query string) *slowRequest {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	if err != nil {
		t.Fatal(err)
	}
	r := &slowRequest{conn, bufio.NewReader(conn), string(body)}
	line, err := r.reader.ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		t.Fatalf("the server answers %q (%v), want that it goes on", line, err)
	}
	if _, err := r.reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return r
}

// finish sends the body and gives the answer.
func (r *slowRequest) finish() (status int, body string, err error) {
	if _, err := io.WriteString(r.conn, r.body); err != nil {
		return 0, "", err
	}
	resp, err := http.ReadResponse(r.reader, nil)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// TestStopAnswers stops a server while a request is under way: that one is
// answered, others find nobody, and the program ends well.
func TestStopAnswers(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		db := filepath.Join(t.TempDir(), "case.db")
		p := startServer(t, "--db", db)
		r := newSlowRequest(t, p.url, `{ service { incidentCount } }`)
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		err := eventually("the server to listen no more", func() bool {
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err == nil {
				conn.Close()
			}
			return err != nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if status, body, err := r.finish(); status != http.StatusOK || !strings.Contains(body, `"incidentCount":0`) {
			t.Errorf("%v: the request under way is answered with %d %q (%v), want 200", signal, status, body, err)
		}
		if status, err := p.wait(); status != exitOK {
			t.Errorf("%v: status %d (%v), want %d\n%s", signal, status, err, exitOK, p.stderr.String())
		}
		if _, err := os.Stat(db + ".sock"); err == nil {
			t.Errorf("%v: the socket is left behind", signal)
		}
		mustRun(t, "check", "--db", db)
	}
}

// TestStopBreaksOff: a request that does not end keeps no server from ending.
func TestStopBreaksOff(t *testing.T) {
	p := startServer(t, "--db", filepath.Join(t.TempDir(), "case.db"), "--shutdown-timeout", "100ms")
	newSlowRequest(t, p.url, `{ service { incidentCount } }`)
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status, err := p.wait(); status != exitFailed || !strings.Contains(p.stderr.String(), "broken off after 100ms") {
		t.Errorf("status %d (%v), want %d and the reason\n%s", status, err, exitFailed, p.stderr.String())
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the stop took %v", took)
	}
}

// TestLimits sets each limit by its flag, then by its variable, and asks the
// server for it.
func TestLimits(t *testing.T) {
	limits := reflect.TypeFor[graph.Limits]()
	want := make(map[string]int)
	var args, variables, fields []string
	for i := range limits.NumField() {
		name := limits.Field(i).Name
		flag, field, value := kebab(name), strings.ToLower(name[:1])+name[1:], 1000+i
		text := fmt.Sprint(value)
		if name == "Timeout" {
			field, text = "timeoutMs", text+"ms"
		}
		want[field] = value
		fields = append(fields, field)
		args = append(args, "--"+flag, text)
		variables = append(variables, envName(flag)+"="+text)
	}
	query := "{ service { limits { " + strings.Join(fields, " ") + " } } }"

	byFlag := startServer(t, args...)
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	byVariable := startServer(t)
	for how, p := range map[string]*process{"flags": byFlag, "variables": byVariable} {
		var data struct {
			Service struct{ Limits map[string]int }
		}
		mustAsk(t, p.url, query, &data)
		if got := data.Service.Limits; !reflect.DeepEqual(got, want) {
			t.Errorf("limits set by %s are %v, want %v", how, got, want)
		}
	}
}

// kebab writes a Go name as a flag is written.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func TestDraftStatus(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want int
	}{{nil, http.StatusOK}, {[]string{"--draft-status"}, http.StatusUnprocessableEntity}} {
		p := startServer(t, tt.args...)
		if a, err := ask(http.DefaultClient, p.url, `{ nothing }`); err != nil || a.status != tt.want {
			t.Errorf("serve %q answers a document that is not valid with %d (%v), want %d", tt.args, a.status, err, tt.want)
		}
	}
}

// TestConnections: connections beyond the limit wait, and get their turn.
func TestConnections(t *testing.T) {
	p := startServer(t, "--max-connections", "1")
	http.DefaultClient.CloseIdleConnections()
	first := newSlowRequest(t, p.url, `{ service { version } }`)
	answered := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		_, err := ask(client, p.url, `{ service { version } }`)
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("a second connection is answered (%v) while there is room for one", err)
	case <-time.After(100 * time.Millisecond):
	}
	if status, _, err := first.finish(); status != http.StatusOK {
		t.Errorf("the first is answered with %d (%v), want 200", status, err)
	}
	first.conn.Close()
	if err := <-answered; err != nil {
		t.Errorf("the second is not answered: %v", err)
	}
}
