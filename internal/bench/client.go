package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"sync"
	"time"
)

// firing is what a client process is told.
type firing struct {
	Address     string        `json:"address"`
	Targets     string        `json:"targets"` // file
	Concurrency int           `json:"concurrency"`
	Warmup      time.Duration `json:"warmup"`
	Duration    time.Duration `json:"duration"`
}

// target is one request as it goes over the wire, and how long the body of
// its answer is.
type target struct {
	Raw    []byte `json:"raw"`
	Length int    `json:"length"`
}

// fired is what a client measured.
type fired struct {
	Requests int           `json:"requests"` // without those of the warm-up
	All      int           `json:"all"`      // with them
	Elapsed  time.Duration `json:"elapsed"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
}

// fire sends the targets over and over on so many connections, each waiting
// for its answer before it sends the next one. It uses no HTTP client: the
// less it needs itself, the more the servers have.
func fire(ctx context.Context, job firing, targets []target) (fired, error) {
	began := time.Now()
	from, until := began.Add(job.Warmup), began.Add(job.Warmup+job.Duration)
	results := make([]connectionResult, job.Concurrency)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			// Each begins elsewhere, so that they ask for different things.
			results[i] = fireOne(ctx, job.Address, targets, i*len(targets)/job.Concurrency, from, until)
		})
	}
	wg.Wait()
	var f fired
	var latencies []time.Duration
	for _, r := range results {
		if r.err != nil {
			return f, r.err
		}
		latencies = append(latencies, r.latencies...)
		f.All += r.all
		f.Elapsed = max(f.Elapsed, r.last.Sub(from))
	}
	slices.Sort(latencies)
	f.Requests = len(latencies)
	f.P50, f.P99 = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	return f, nil
}

type connectionResult struct {
	latencies []time.Duration
	all       int
	last      time.Time // when the last answer was there
	err       error
}

func fireOne(ctx context.Context, address string, targets []target, next int, from, until time.Time) (r connectionResult) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		r.err = err
		return r
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReaderSize(c, 64<<10)
	for r.last = from; ; next++ {
		began := time.Now()
		if !began.Before(until) && len(r.latencies) > 0 { // once, however long it takes
			return r
		}
		t := &targets[next%len(targets)]
		if _, r.err = c.Write(t.Raw); r.err != nil {
			return r
		}
		if r.err = readAnswer(in, t.Length); r.err != nil {
			return r
		}
		r.all++
		if !began.Before(from) {
			r.last = time.Now()
			r.latencies = append(r.latencies, r.last.Sub(began))
		}
	}
}

// readAnswer reads an answer over HTTP/1.1, which must be a success of the
// given length.
func readAnswer(in *bufio.Reader, length int) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("the answer is %q", bytes.TrimSpace(line))
	}
	n, chunked := -1, false
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		if len(name) == 0 {
			break
		}
		switch string(name) {
		case "Content-Length":
			if n, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		case "Transfer-Encoding":
			chunked = string(value) == "chunked"
		}
	}
	switch {
	case chunked:
		n, err = readChunks(in)
	case n >= 0:
		_, err = in.Discard(n)
	default:
		err = errors.New("the answer has no length")
	}
	if err == nil && n != length {
		err = fmt.Errorf("the answer has %d bytes, not %d as before", n, length)
	}
	return err
}

// readChunks reads a chunked body to its end and gives its length.
func readChunks(in *bufio.Reader) (int, error) {
	n, err := io.Copy(io.Discard, httputil.NewChunkedReader(in))
	if err != nil {
		return 0, err
	}
	_, err = in.Discard(len("\r\n")) // there are no trailers
	return int(n), err
}
