package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"incidentgraph/graph"
	"incidentgraph/internal/bench/constant"
	"incidentgraph/internal/headroom"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/search"
	"incidentgraph/internal/store/boltstore"
)

// serving is what a server process is told.
type serving struct {
	Contestant string `json:"contestant"`
	Store      string `json:"store"`    // file of ours
	Requests   string `json:"requests"` // file of those that have ready answers
}

// ready is what a server process says once it answers.
type ready struct {
	Address string        `json:"address"`
	Open    time.Duration `json:"open"` // from the start to that it could answer
}

// serve makes a contestant's handler and serves it until standard input ends.
func serve(ctx context.Context, job serving) (err error) {
	began := time.Now()
	mux, closeStore, err := muxOf(ctx, job)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	took := time.Since(began)
	mux.HandleFunc("GET /stats", serveStats)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := json.NewEncoder(os.Stdout).Encode(ready{listener.Addr().String(), took}); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// The contestants.
const (
	ours      = "ours"
	bare      = "bare"
	constants = "constant"
	sqlite    = "sqlite"
)

// The paths that requests go to. Only ours has another one where answers are
// kept; SQLite has one for each workload.
const (
	plainPath  = "/graphql"
	cachedPath = "/cached"
)

// muxOf gives a contestant's handlers.
func muxOf(ctx context.Context, job serving) (mux *http.ServeMux, closeStore func() error, err error) {
	if job.Contestant == ours {
		return openOurs(ctx, job.Store)
	}
	var list []request
	if err := readJSON(job.Requests, &list); err != nil {
		return nil, nil, err
	}
	var h http.Handler
	switch job.Contestant {
	case bare:
		h = newBare(list)
	case constants:
		h, err = newConstant(list)
	default:
		err = fmt.Errorf("there is no contestant %q", job.Contestant)
	}
	mux = http.NewServeMux()
	mux.Handle(plainPath, h)
	return mux, func() error { return nil }, err
}

// openOurs gives the GraphQL handlers over a store's file: without a response
// cache and with one.
func openOurs(ctx context.Context, path string) (mux *http.ServeMux, closeStore func() error, err error) {
	rest := headroom.Keep(headroom.Server)
	in, closeFiles, err := openStore(ctx, path)
	if err != nil {
		rest()
		return nil, nil, err
	}
	mux = http.NewServeMux()
	mux.Handle(plainPath, graph.NewHandler(graph.Config{Ingester: in}))
	mux.Handle(cachedPath, graph.NewHandler(graph.Config{Ingester: in, ResponseCacheBytes: graph.DefaultResponseCacheBytes}))
	return mux, func() error {
		rest()
		return closeFiles()
	}, nil
}

// textFolder gives the folder of the text index beside a store's file.
func textFolder(path string) string { return path + ".search" }

// openStore gives an ingester over a store's file and its text index.
func openStore(ctx context.Context, path string) (in *ingest.Ingester, closeStore func() error, err error) {
	log, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		return nil, nil, err
	}
	text, err := search.Open(textFolder(path), nil)
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	if in, err = ingest.New(ctx, log, nil, nil, ingest.WithText(text)); err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return in, func() error { return errors.Join(in.Close(), log.Close()) }, nil
}

// newConstant gives the gqlgen server that has the answers ready.
func newConstant(list []request) (http.Handler, error) {
	answers := make([]constant.Answer, len(list))
	for i, r := range list {
		answers[i] = constant.Answer{Operation: r.Workload, Variables: r.Variables, JSON: r.Answer}
	}
	return constant.NewHandler(answers)
}

// newBare gives a handler that knows the bytes of each answer by those of the
// request.
func newBare(list []request) http.Handler {
	answers := make(map[string][]byte, len(list))
	for _, r := range list {
		answers[string(r.Body)] = r.Answer
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, ok := answers[string(body)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer) // an error is the client's
	})
}

// loading is what a process is told that fills a store.
type loading struct {
	Corpus string `json:"corpus"`
	Store  string `json:"store"`
}

// loaded tells what it took.
type loaded struct {
	Took      time.Duration `json:"took"`
	Text      time.Duration `json:"text"` // of that, the text index alone
	PeakBytes int64         `json:"peakBytes"`
}

// load imports a corpus into a new store, the text index included.
func load(ctx context.Context, job loading) (l loaded, err error) {
	began := time.Now()
	in, closeStore, err := openStore(ctx, job.Store)
	if err != nil {
		return l, err
	}
	defer func() {
		err = errors.Join(err, closeStore())
		l.Took, l.PeakBytes = time.Since(began), peakMemory()
	}()
	sources, err := ingest.Open([]string{job.Corpus}, bytes.NewReader(nil))
	if err != nil {
		return l, err
	}
	report, err := in.Import(ctx, sources, ingest.Options{Actor: "bench"})
	if err != nil {
		return l, err
	}
	if report.Created != report.Read {
		return l, fmt.Errorf("of %d records %d were stored", report.Read, report.Created)
	}
	stored := time.Now()
	err = awaitText(ctx, in)
	l.Text = time.Since(stored)
	return l, err
}

// awaitText waits until the text index has everything.
func awaitText(ctx context.Context, in *ingest.Ingester) error {
	v, err := in.View(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	for {
		_, err := v.MatchText(ctx, "everything")
		if behind := new(ingest.TextBehindError); !errors.As(err, &behind) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
