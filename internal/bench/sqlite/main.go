// Command sqlite answers the workloads of internal/bench from SQLite, as a
// program would that needs nothing but these answers: tables, indexes and
// statements made for them, behind a plain net/http handler.
//
// It is meant to be hard to beat. Incidents are numbered in the order of
// lists, so that the latest ones are found without sorting; postings hold what
// ranking needs; names, counts and weights are worked out when the file is
// made, which therefore takes no later change. Statements are prepared, and
// where one statement can write the whole answer as JSON it does. The files
// are mapped, the cache is large, and the journal is a write-ahead log.
//
//	sqlite load CORPUS DB    makes DB from a file of JSON Lines and prints what it took
//	sqlite serve DB          prints its address and serves until its input ends
//
// It is a module of its own: it needs cgo, and nothing else here does. Build it
// with the tag sqlite_fts5.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 3 && args[0] == "load":
		l, err := load(ctx, args[1], args[2])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(l)
	case len(args) == 2 && args[0] == "serve":
		return serve(ctx, args[1])
	}
	return errors.New("want load CORPUS DB or serve DB")
}

// serve tells where it listens and how long opening took, and serves until
// standard input ends.
func serve(ctx context.Context, path string) error {
	began := time.Now()
	s, err := open(ctx, path)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("GET /stats", serveStats)
	took := time.Since(began)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	ready := struct {
		Address string        `json:"address"`
		Open    time.Duration `json:"open"`
	}{listener.Addr().String(), took}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return s.db.Close()
}
