package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"incidentgraph/internal/ingest"
	"incidentgraph/internal/store/boltstore"
)

// FuzzReadFrame reads frames of any bytes: it must give back what was
// written, refuse what is cut off, and take no more memory than bytes came.
func FuzzReadFrame(f *testing.F) {
	var ok bytes.Buffer
	w := &frameWriter{w: &ok}
	_ = w.write(frameInput, []byte("some bytes"))
	_ = w.writeJSON(frameResult, controlResult{Error: "none"})
	f.Add(ok.Bytes())
	f.Add(ok.Bytes()[:8])
	f.Add([]byte("I\xff\xff\xff\xff"))
	f.Add([]byte("I\x01\xff\xff\xff and little more"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		var again bytes.Buffer
		out := &frameWriter{w: &again}
		var buf []byte
		for {
			kind, payload, err := readFrame(r, buf)
			if errors.Is(err, io.EOF) && r.Len() == 0 && again.Len() == len(in) {
				return
			}
			if err != nil {
				break
			}
			if cap(payload) > 2*len(in)+1<<17 {
				t.Fatalf("a frame of %d bytes takes %d", len(payload), cap(payload))
			}
			buf = payload
			if err := out.write(kind, payload); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(in, again.Bytes()) {
			t.Errorf("readFrame(%q) gives frames that are written as %q", in, again.Bytes())
		}
	})
}

// dialTest connects to a server's socket.
func dialTest(t *testing.T, db string) net.Conn {
	t.Helper()
	conn, err := dialBeside(db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestControlRefuses sends what no command sends.
func TestControlRefuses(t *testing.T) {
	db := filepath.Join(t.TempDir(), "case.db")
	p := startServer(t, "--db", db)
	for _, tt := range []struct {
		name    string
		kind    frameKind
		payload string
		want    string
	}{
		{"another version", frameRequest, `{"protocol":99,"command":"export"}`, "another version"},
		{"another command", frameRequest, `{"protocol":1,"command":"shutdown"}`, "no such command"},
		{"an import that says nothing", frameRequest, `{"protocol":1,"command":"import"}`, "says nothing"},
		{"no JSON", frameRequest, `{`, "unexpected end"},
		{"no request", frameInput, `{}`, "first frame"},
	} {
		conn := dialTest(t, db)
		if err := (&frameWriter{w: conn}).write(tt.kind, []byte(tt.payload)); err != nil {
			t.Fatal(err)
		}
		r := &remote{conn: conn}
		result, err := r.receive(takers{})
		if err != nil || !strings.Contains(result.Error, tt.want) {
			t.Errorf("%s is answered with %q (%v), want %q", tt.name, result.Error, err, tt.want)
		}
		conn.Close()
	}
	conn := dialTest(t, db)
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if got := mustRun(t, "export", "--db", db); got != "" {
		t.Errorf("the store holds %q", got)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// TestControlClientGone kills a command while the server works for it:
// nothing is stored, and the server goes on.
func TestControlClientGone(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "case.db")
	p := startServer(t, "--db", db)
	cmd := exec.Command(programName, "import", "--db", db, "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"id":"LOST-1"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := eventually("the import to begin", func() bool { return connections(t, db) > 0 }); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	out := mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(dir, "a.jsonl"), `{"id":"KEPT-1"}`))
	if !strings.HasPrefix(out, "read 1, created 1,") {
		t.Errorf("the next import prints %q", out)
	}
	if got := mustRun(t, "export", "--db", db); got != `{"id":"KEPT-1"}`+"\n" {
		t.Errorf("the store holds %q", got)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// TestControlStop stops a server that works for a command: the command hears
// of it and fails.
func TestControlStop(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "case.db")
	p := startServer(t, "--db", db, "--shutdown-timeout", "200ms")
	cmd := exec.Command(programName, "import", "--db", db, "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr output
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := eventually("the import to begin", func() bool { return connections(t, db) > 0 }); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status, err := p.wait(); status != exitOK {
		t.Errorf("the server: status %d (%v)\n%s", status, err, p.stderr.String())
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(stderr.String(), stopping) {
		t.Errorf("the import ends with %v and says %q, want status %d and %q", err, stderr.String(), exitFailed, stopping)
	}
	if got := mustRun(t, "export", "--db", db); got != "" {
		t.Errorf("the store holds %q", got)
	}
}

// connections counts the connections to a store's socket.
func connections(t *testing.T, db string) int {
	t.Helper()
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		time.Sleep(200 * time.Millisecond) // no such table here
		return 1
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		// The sixth column is the state; 03 is connected.
		if f := strings.Fields(line); len(f) == 8 && f[5] == "03" && strings.HasPrefix(f[7], filepath.Dir(db)) {
			n++
		}
	}
	return n
}

// TestControlReadsOn: an import that has no use for the rest of its input, and
// one that cannot read it, end as they do without a server.
func TestControlReadsOn(t *testing.T) {
	dir := t.TempDir()
	alone, served := filepath.Join(dir, "alone.db"), filepath.Join(dir, "served.db")
	startServer(t, "--db", served)
	large := strings.Repeat("not JSON, and much of it\n", 200_000)
	file := writeFile(t, filepath.Join(dir, "large.txt"), large)
	for _, paths := range [][]string{{file}, {file, file}, {filepath.Join(dir, "large.txt", "below")}, {"/proc/self/mem"}} {
		var got []runResult
		for _, db := range []string{alone, served} {
			got = append(got, runCommand(t, nil, append([]string{"import", "--db", db}, paths...)...))
		}
		if got[0] != got[1] || got[0].status != exitFailed {
			t.Errorf("import %q: alone %+v\nthrough the server %+v", paths, got[0], got[1])
		}
	}
}

// TestControlTogether: several commands at a time each do all of their work.
func TestControlTogether(t *testing.T) {
	const imports, records = 6, 60
	dir := t.TempDir()
	db := filepath.Join(dir, "case.db")
	p := startServer(t, "--db", db)
	var running sync.WaitGroup
	for i := range imports {
		var lines strings.Builder
		for r := range records {
			fmt.Fprintf(&lines, `{"id":"T-%d-%d","recurrence_of":"T-%d-%d"}`+"\n", i, r, (i+1)%imports, r+1)
		}
		file := writeFile(t, filepath.Join(dir, fmt.Sprint(i)), lines.String())
		running.Go(func() {
			if report, err := importFile(db, file); err != nil || report.Created != records {
				t.Errorf("import %d = %+v, %v", i, report, err)
			}
		})
		running.Go(func() {
			if err := check(t.Context(), db, io.Discard); err != nil {
				t.Errorf("check during imports: %v", err)
			}
		})
	}
	running.Wait()
	if got := strings.Count(mustRun(t, "export", "--db", db), "\n"); got != imports*records {
		t.Errorf("the store holds %d records, want %d", got, imports*records)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// TestControlLongPath: a folder may be deeper than a socket's name is long.
func TestControlLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30), strings.Repeat("long", 20))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "case.db")
	p := startServer(t, "--db", db)
	if strings.Contains(p.stderr.String(), "no socket") {
		t.Skip("this system has no way to reach a socket of a long name")
	}
	mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(dir, "a.jsonl"), `{"id":"A-1"}`))
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(db + ".sock"); err == nil {
		t.Error("the socket is left behind")
	}
}

// unreadyControl opens a store and its socket as a server does before it
// loads, and runs a check, which waits.
func unreadyControl(t *testing.T) (store *boltstore.Store, c *control, checked <-chan error) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "case.db")
	site, _ := newTestSite()
	store, err := boltstore.Open(db, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if c, err = newControl(store, site.observer.log); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- check(context.Background(), db, io.Discard) }()
	if err := eventually("the command to wait", func() bool { return connections(t, db) > 0 }); err != nil {
		t.Fatal(err)
	}
	return store, c, done
}

// TestControlWaits: what comes while a store is being loaded waits.
func TestControlWaits(t *testing.T) {
	store, c, done := unreadyControl(t)
	select {
	case err := <-done:
		t.Errorf("check ended (%v) before the store was loaded", err)
	case <-time.After(100 * time.Millisecond):
	}
	in, err := ingest.New(t.Context(), store, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.serve(in)
	if err := <-done; err != nil {
		t.Errorf("check() = %v once the store was loaded", err)
	}
	if err := c.stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestControlNeverReady: a server that cannot load keeps no command waiting.
func TestControlNeverReady(t *testing.T) {
	_, c, done := unreadyControl(t)
	began := time.Now()
	if err := c.stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil || err.Error() != stopping {
		t.Errorf("check() = %v, want %q", err, stopping)
	}
	if took := time.Since(began); took > controlGoodbye {
		t.Errorf("the stop took %v", took)
	}
}
