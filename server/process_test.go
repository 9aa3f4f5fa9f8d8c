package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is the program, running.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr output
	done           chan struct{} // closed when it has ended
	err            error         // of Wait; read it after done
	url, admin     string        // of a server
}

// output collects what a process writes.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// startProcess starts the program in a folder.
func startProcess(dir string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(programName, args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// patience bounds all waiting in the tests.
const patience = 30 * time.Second

// eventually waits for a condition.
func eventually(what string, holds func() bool) error {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v in vain for %s", patience, what)
		}
	}
	return nil
}

var printedAddress = regexp.MustCompile(`(?m)^graphql +(http://\S+)/graphql$`)
var printedAdmin = regexp.MustCompile(`(?m)^metrics +(http://\S+)/metrics$`)

// waitForAddress waits until a server has printed where it is.
func (p *process) waitForAddress() error {
	err := eventually("the address of the server", func() bool {
		m := printedAddress.FindStringSubmatch(p.stdout.String())
		if m != nil {
			p.url = m[1]
		}
		return m != nil || p.ended()
	})
	if err == nil && p.url == "" {
		err = fmt.Errorf("the server has ended: %w\n%s", p.err, p.stderr.String())
	}
	if m := printedAdmin.FindStringSubmatch(p.stdout.String()); m != nil {
		p.admin = m[1]
	}
	return err
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits for the end and gives the exit status, -1 after a signal.
func (p *process) wait() (int, error) {
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
		return -1, fmt.Errorf("it did not end in %v", patience)
	}
	if exit := (*exec.ExitError)(nil); p.err != nil && !errors.As(p.err, &exit) {
		return -1, p.err
	}
	return p.cmd.ProcessState.ExitCode(), nil
}

// stop ends a server as a system does, and wants it to end well.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	status, err := p.wait()
	if err == nil && status != exitOK {
		err = fmt.Errorf("status %d\n%s", status, p.stderr.String())
	}
	return err
}

// startServer starts a server on a free port; the test stops it.
func startServer(t testing.TB, args ...string) *process {
	t.Helper()
	p, err := startProcess("", append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ended() {
			return
		}
		if err := p.stop(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	if err := p.waitForAddress(); err != nil {
		t.Fatal(err)
	}
	return p
}

// result is what a finished command leaves.
type runResult struct {
	status         int
	stdout, stderr string
}

// runCommand runs the program to its end.
func runCommand(t testing.TB, stdin io.Reader, args ...string) runResult {
	t.Helper()
	cmd := exec.Command(programName, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %q: %v", programName, args, err)
	}
	return runResult{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRun runs the program, which must end well, and gives what it printed.
func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	r := runCommand(t, nil, args...)
	if r.status != exitOK {
		t.Fatalf("%s %s: status %d\n%s%s", programName, strings.Join(args, " "), r.status, r.stdout, r.stderr)
	}
	return r.stdout
}

// answer is what a server answers to a GraphQL request.
type graphQLAnswer struct {
	status int
	header http.Header
	raw    []byte
	data   json.RawMessage
	errors json.RawMessage
}

// ask sends a query.
func ask(client *http.Client, url, query string) (graphQLAnswer, error) {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return graphQLAnswer{}, err
	}
	resp, err := client.Post(url+"/graphql", "application/json", bytes.NewReader(body))
	if err != nil {
		return graphQLAnswer{}, err
	}
	defer resp.Body.Close()
	a := graphQLAnswer{status: resp.StatusCode, header: resp.Header}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		return a, err
	}
	var members struct{ Data, Errors json.RawMessage }
	err = json.Unmarshal(a.raw, &members)
	a.data, a.errors = members.Data, members.Errors
	return a, err
}

// mustAsk sends a query that must succeed, and reads its data.
func mustAsk(t testing.TB, url, query string, data any) {
	t.Helper()
	a, err := ask(http.DefaultClient, url, query)
	if err != nil || a.status != http.StatusOK || a.errors != nil {
		t.Fatalf("the query %s gives %d %s (%v)", query, a.status, a.raw, err)
	}
	if err := json.Unmarshal(a.data, data); err != nil {
		t.Fatal(err)
	}
}

// get fetches a page.
func get(t testing.TB, url string) (int, http.Header, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// writeFile writes a file for a test.
func writeFile(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
