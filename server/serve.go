package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/net/netutil"

	"incidentgraph/graph"
	"incidentgraph/internal/headroom"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/store/boltstore"
)

// Bounds of one connection; the graph handler has its own for one operation.
const (
	readHeaderTimeout = 10 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "serve the graph (the default command)",
		Description: "Serves GraphQL at /graphql and an explorer page at /. Without --db it serves the\n" +
			"embedded starter library from memory and writes no file. SIGINT or SIGTERM ends\n" +
			"it after the requests in flight are answered.",
		Flags: serveFlags(),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			if cmd.Bool("only-trusted") && cmd.String("trusted-documents") == "" {
				return usagef(cmd, "--only-trusted needs --trusted-documents FILE: without it nothing could be asked")
			}
			return serve(ctx, cmd)
		},
	}
}

func serveFlags() []cli.Flag {
	addr := stringFlag("addr", "127.0.0.1:8080", "`ADDRESS` to listen on")
	admin := stringFlag("admin-addr", "", "`ADDRESS` for /metrics and /debug/pprof; without it /metrics is on --addr and /debug/pprof nowhere")
	origins := listFlag("cors-origin", "`ORIGIN` whose pages may read answers, such as https://example.org, or * for all")
	origins.Validator = validOrigins
	names := listFlag("allowed-host", "`NAME` that the server is reached by; without it any, or only localhost if --addr is of this machine alone")
	names.Validator = validHosts
	connections := intFlag("max-connections", 4096, "how many connections may be open at a time; more wait")
	draft := boolFlag("draft-status", "give the status codes of the 2026 draft of GraphQL over HTTP, not those that clients know")
	grace := durationFlag("shutdown-timeout", 15*time.Second, "how long requests in flight may take after SIGINT or SIGTERM")
	addr.Category, admin.Category, origins.Category = categoryNetwork, categoryNetwork, categoryNetwork
	names.Category, connections.Category, grace.Category = categoryNetwork, categoryNetwork, categoryNetwork
	draft.Category = categoryNetwork

	format := choiceFlag("log-format", "`FORMAT` of the log: text, json, or auto, which is text on a terminal and json elsewhere", logAuto, logText, logJSON)
	level := choiceFlag("log-level", "`LEVEL` from which on to log: debug (probes and scrapes, too), info, warn or error", "info", "debug", "warn", "error")
	format.Category, level.Category = categoryReports, categoryReports

	trusted := stringFlag("trusted-documents", "", "manifest `FILE` of documents that requests may name by their ids: a JSON object from ids to documents, or Apollo's persisted query manifest")
	only := boolFlag("only-trusted", "refuse every other document than those of --trusted-documents")
	trusted.Category, only.Category = categoryTrust, categoryTrust

	flags := append([]cli.Flag{dbFlag(dbCreated)}, vocabularyFlags()...)
	flags = append(flags, addr, admin, origins, names, connections, grace, draft, responseCacheFlag(), trusted, only, format, level)
	return append(flags, limitsFlags()...)
}

// server is what a running server consists of, in the order in which it is
// made; stop ends it in the other order.
type server struct {
	log         *slog.Logger
	stopTracing func(context.Context) error
	trusted     *graph.TrustedDocuments // nil without manifest
	site        *site
	store       *boltstore.Store // nil where the starter library is served
	control     *control         // nil without store, or where it can't be
	ingester    *ingest.Ingester // nil until it is loaded
	http        []*http.Server
	failed      chan error // of listeners
	addresses   string     // for people
}

func serve(ctx context.Context, cmd *cli.Command) error {
	defer headroom.Keep(headroom.Server)()
	s, err := newServer(ctx, cmd)
	if err != nil {
		return err
	}
	err = s.start(ctx, cmd)
	if err == nil {
		select {
		case err = <-s.failed:
		case <-ctx.Done():
			s.log.Info("stopping")
		}
	} else if ctx.Err() != nil {
		err = nil // told to stop while it was loading
	}
	return errors.Join(err, s.stop(ctx, cmd.Duration("shutdown-timeout")))
}

func newServer(ctx context.Context, cmd *cli.Command) (*server, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cmd.String("log-level"))); err != nil {
		return nil, err
	}
	log := newLogger(cmd.Root().ErrWriter, cmd.String("log-format"), level)
	trusted, err := trustedDocuments(cmd)
	if err != nil {
		return nil, err
	}
	version, commit := programVersion()
	tracer, stopTracing, err := newTracer(ctx, version, log)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return &server{
		log:         log,
		stopTracing: stopTracing,
		trusted:     trusted,
		site:        &site{observer: &observer{log: log, metrics: newMetrics(version, commit), tracer: tracer}},
		failed:      make(chan error, 2),
	}, nil
}

// trustedDocuments reads the manifest that the flags name, nil for none.
func trustedDocuments(cmd *cli.Command) (trusted *graph.TrustedDocuments, err error) {
	path := cmd.String("trusted-documents")
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trusted documents: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if trusted, err = graph.ReadManifest(f, limitsOf(cmd)); err != nil {
		return nil, fmt.Errorf("trusted documents %s: %w", path, err)
	}
	return trusted, nil
}

// start listens before it loads, so that probes are answered while a large
// store is read, and locks the store before it listens, so that a second
// server on one store says who has it.
func (s *server) start(ctx context.Context, cmd *cli.Command) error {
	began := time.Now()
	if path := cmd.String("db"); path != "" {
		if err := s.open(path); err != nil {
			return err
		}
	}
	if err := s.listen(ctx, cmd); err != nil {
		return err
	}
	in, err := s.load(ctx, cmd)
	if err != nil {
		return err
	}
	view, err := in.View(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	attributes := []any{"incidents", view.Index().Len(), "revision", view.Index().Revision()}
	if s.trusted != nil {
		attributes = append(attributes, "trusted_documents", s.trusted.Len(), "only_trusted", cmd.Bool("only-trusted"))
	}
	s.log.Info("loaded", append(attributes, "duration_ms", milliseconds(time.Since(began)))...)
	_, err = io.WriteString(cmd.Root().Writer, s.addresses)
	return err
}

// open opens the store and the socket beside it.
func (s *server) open(path string) (err error) {
	if s.store, err = boltstore.Open(path, boltstore.Options{}); err != nil {
		return err
	}
	if s.control, err = newControl(s.store, s.log); err != nil {
		s.log.Warn("no socket beside the store: import, export, check and backup cannot work while the server runs", "error", err)
		return nil
	}
	s.control.imported = s.site.observer.metrics.importDone
	return nil
}

// listen begins to answer.
func (s *server) listen(ctx context.Context, cmd *cli.Command) error {
	admin, given := cmd.String("admin-addr"), cmd.StringSlice("allowed-host")
	if admin != "" {
		listener, err := listen(ctx, admin)
		if err != nil {
			return err
		}
		// Without writeTimeout: a profile takes as long as it was asked to.
		s.answer(listener, &http.Server{Handler: s.site.admin(hostNames(given, listener.Addr())), ReadHeaderTimeout: readHeaderTimeout})
		s.addresses = fmt.Sprintf("metrics   http://%s/metrics\n", dialable(listener.Addr()))
	}
	listener, err := listen(ctx, cmd.String("addr"))
	if err != nil {
		return err
	}
	handler := s.site.public(cmd.StringSlice("cors-origin"), hostNames(given, listener.Addr()), admin == "")
	s.answer(netutil.LimitListener(listener, cmd.Int("max-connections")), &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, WriteTimeout: writeTimeout})
	base := "http://" + dialable(listener.Addr())
	s.addresses = fmt.Sprintf("explorer  %s/\ngraphql   %s/graphql\n", base, base) + s.addresses
	return nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", address)
}

// dialable makes an address that a person can go to of one that is listened on.
func dialable(address net.Addr) string {
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return address.String()
}

// answer begins to answer on a listener.
func (s *server) answer(listener net.Listener, h *http.Server) {
	h.IdleTimeout = idleTimeout
	h.MaxHeaderBytes = maxHeaderBytes
	h.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)
	s.http = append(s.http, h)
	go func() {
		if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
}

// load makes the graph and shows it.
func (s *server) load(ctx context.Context, cmd *cli.Command) (*ingest.Ingester, error) {
	c, err := concepts(cmd)
	if err != nil {
		return nil, err
	}
	text, err := s.openText(c)
	if err != nil {
		return nil, err
	}
	file := ""
	var in *ingest.Ingester
	if s.store == nil {
		in, err = openLibrary(ctx, c, text)
	} else {
		file = s.store.Path()
		in, err = ingest.New(ctx, s.store, c, s.logLoading(), text)
	}
	if err != nil {
		return nil, err
	}
	s.ingester = in
	if s.store != nil {
		stored, err := lastStored(ctx, in, s.store)
		if err != nil {
			return nil, err
		}
		s.site.observer.metrics.storedAt(stored)
	}
	version, _ := programVersion()
	s.site.show(graph.Config{Ingester: in, Limits: limitsOf(cmd), Logger: s.log, Version: version, DraftStatus: cmd.Bool("draft-status"),
		ResponseCacheBytes: cmd.Int("response-cache"), TrustedDocuments: s.trusted, OnlyTrusted: cmd.Bool("only-trusted")})
	s.site.observer.metrics.watch(in, file)
	if s.control != nil {
		s.control.serve(in)
	}
	return in, nil
}

// logLoading tells now and then how far the loading of a large store is.
func (s *server) logLoading() func(done, total int) {
	last := time.Now()
	return func(done, total int) {
		if time.Since(last) >= progressInterval {
			last = time.Now()
			s.log.Info("loading", "incidents", done, "of", total)
		}
	}
}

// stop ends the server: no new requests, those in flight until the time is
// over, then the store.
func (s *server) stop(ctx context.Context, grace time.Duration) error {
	s.site.stopping.Store(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	var err error
	for _, h := range s.http {
		if serr := h.Shutdown(ctx); serr != nil {
			err = errors.Join(err, fmt.Errorf("requests were broken off after %v: %w", grace, serr), h.Close())
		}
	}
	if s.control != nil {
		err = errors.Join(err, s.control.stop(ctx))
	}
	if s.ingester != nil {
		err = errors.Join(err, s.ingester.Close())
	}
	if s.store != nil {
		err = errors.Join(err, closeIdle(s.store))
	}
	const patience = 5 * time.Second // for the collector of traces
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if terr := s.stopTracing(ctx); terr != nil {
		s.log.Warn("tracing", "error", terr)
	}
	return err
}

// closeIdle closes a store as soon as the operations that were broken off have
// let go of it.
func closeIdle(s *boltstore.Store) error {
	const patience, pause = 2 * time.Second, 20 * time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		if err := s.Close(); !errors.Is(err, boltstore.ErrBusy) || time.Now().After(deadline) {
			return err
		}
	}
}
