package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"incidentgraph/internal/ingest"
	"incidentgraph/internal/store/boltstore"
)

// controlProtocol is the version of what a command and a server say to each
// other. Both are the same program, but perhaps not of the same release.
const controlProtocol = 1

// Bounds of one connection to the socket.
const (
	controlHello   = 10 * time.Second // for the first frame
	controlGoodbye = 5 * time.Second  // for the command to take the result
	progressEvery  = 100 * time.Millisecond
)

// The commands that a server does for another process.
const (
	controlImport = "import"
	controlExport = "export"
	controlCheck  = "check"
	controlBackup = "backup"
)

// controlRequest is the first frame of a connection.
type controlRequest struct {
	Protocol int            `json:"protocol"`
	Command  string         `json:"command"`
	Import   *importRequest `json:"import,omitempty"`
}

// importRequest says what an import does and what it will be sent: the bytes
// of all sources, in order, each ended by a frameNext.
type importRequest struct {
	DryRun  bool           `json:"dryRun,omitempty"`
	OnError string         `json:"onError"`
	Sources []sourceHeader `json:"sources"`
}

// sourceHeader is an ingest.Source without its reader.
type sourceHeader struct {
	Name  string `json:"name"`
	Size  int64  `json:"size,omitempty"`
	Found bool   `json:"found,omitempty"`
}

// inputEnd tells that a source ended, or why it could not be read to its end.
type inputEnd struct {
	Error string `json:"error,omitempty"`
}

// controlResult ends a connection.
type controlResult struct {
	Error  string         `json:"error,omitempty"`
	Report *ingest.Report `json:"report,omitempty"` // of an import
}

// control does the work of commands that find the store open in this process.
// Whoever can connect to its socket may do to the store what the file's owner
// may; the socket's mode lets in nobody else.
type control struct {
	store *boltstore.Store
	log   *slog.Logger
	// imported may be nil; it is called after each import.
	imported func(ingest.Report, error)

	listener *socketListener
	ready    chan struct{}    // closed when ingester is set
	ingester *ingest.Ingester // read it after ready
	stopped  chan struct{}    // closed by stop
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// newControl opens the socket beside a store that is open. Commands wait until
// serve gives them the ingester.
func newControl(s *boltstore.Store, log *slog.Logger) (*control, error) {
	listener, err := listenBeside(s.Path())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &control{store: s, log: log, listener: listener, ready: make(chan struct{}), stopped: make(chan struct{}), cancel: cancel}
	c.running.Go(func() { c.accept(ctx) })
	return c, nil
}

// serve lets the commands begin.
func (c *control) serve(in *ingest.Ingester) {
	c.ingester = in
	close(c.ready)
}

// stop takes no more commands, waits for those that have begun until ctx ends,
// and breaks them off then. The socket's file is gone after it.
func (c *control) stop(ctx context.Context) error {
	close(c.stopped)
	err := c.listener.Close()
	stopWaiting := context.AfterFunc(ctx, c.cancel)
	defer stopWaiting()
	c.running.Wait()
	c.cancel()
	return err
}

func (c *control) accept(ctx context.Context) {
	for {
		conn, err := c.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, perhaps: others will be closed
			c.log.Error("socket", "error", err)
			select {
			case <-time.After(time.Second):
				continue
			case <-ctx.Done():
				return
			}
		}
		c.running.Go(func() { c.handle(ctx, conn) })
	}
}

// handle does one command. Its context ends when the other side goes away.
func (c *control) handle(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &frameWriter{w: conn}
	request, err := readRequest(conn)
	if err != nil {
		_ = out.writeJSON(frameResult, controlResult{Error: err.Error()}) // it may have gone
		return
	}
	in := newInput(ctx)
	var pump sync.WaitGroup
	pump.Go(func() {
		defer cancel()
		in.pump(conn)
	})
	// A command that takes no output must not hold up a stop.
	freed := make(chan struct{})
	keep := context.AfterFunc(ctx, func() {
		_ = conn.SetWriteDeadline(time.Now())
		close(freed)
	})

	began := time.Now()
	result := c.do(ctx, request, in, out)
	if !keep() {
		<-freed
	}
	c.logCommand(request, result, time.Since(began))
	_ = conn.SetDeadline(time.Now().Add(controlGoodbye))
	if err := out.writeJSON(frameResult, result); err == nil {
		in.discard()
		pump.Wait() // until the other side has hung up: what it has not read could be lost
	}
	_ = conn.Close()
	pump.Wait()
}

func (c *control) logCommand(request controlRequest, result controlResult, took time.Duration) {
	attributes := []any{"command", request.Command, "duration_ms", milliseconds(took)}
	if r := result.Report; r != nil {
		attributes = append(attributes, "read", r.Read, "created", r.Created, "updated", r.Updated, "unchanged", r.Unchanged, "rejected", r.Rejected)
	}
	if result.Error != "" {
		attributes = append(attributes, "error", result.Error)
	}
	c.log.Info("command", attributes...)
}

// readRequest reads the first frame.
func readRequest(conn net.Conn) (controlRequest, error) {
	var r controlRequest
	_ = conn.SetReadDeadline(time.Now().Add(controlHello))
	kind, payload, err := readFrame(conn, nil)
	if err == nil && kind != frameRequest {
		err = fmt.Errorf("the first frame is %q", kind)
	}
	if err == nil {
		err = json.Unmarshal(payload, &r)
	}
	if err == nil && r.Protocol != controlProtocol {
		err = fmt.Errorf("the server that has the store open is another version of %s (protocol %d, not %d): use its program, or stop it", programName, controlProtocol, r.Protocol)
	}
	if err == nil && r.Command == controlImport && r.Import == nil {
		err = errors.New("the import says nothing")
	}
	_ = conn.SetReadDeadline(time.Time{})
	return r, err
}

// do does a command and gives what to tell the other side.
func (c *control) do(ctx context.Context, request controlRequest, in *input, out *frameWriter) (result controlResult) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("command", "command", request.Command, "error", fmt.Sprintf("panic: %v", p), "stack", string(debug.Stack()))
			result.Error = "internal error of the server"
		}
	}()
	select {
	case <-c.ready:
	case <-c.stopped:
		return controlResult{Error: stopping}
	case <-ctx.Done():
		return controlResult{Error: stopping}
	}
	var err error
	switch request.Command {
	case controlImport:
		var report ingest.Report
		report, err = c.importRecords(ctx, request.Import, in, out)
		result.Report = &report
	case controlExport:
		err = ingest.Export(ctx, c.store, outputFrames{out})
	case controlCheck:
		err = checkStore(ctx, c.store, c.ingester.Concepts(), outputFrames{out})
	case controlBackup:
		_, err = c.store.Backup(ctx, outputFrames{out})
	default:
		err = fmt.Errorf("no such command: %q", request.Command)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		result.Error = stopping
	case err != nil:
		result.Error = err.Error()
	}
	return result
}

// stopping is what a command hears whose server is told to stop.
const stopping = "the server is stopping"

// importRecords runs an import in the server's own ingester, so that readers
// see each change as soon as it is stored, and whole.
func (c *control) importRecords(ctx context.Context, r *importRequest, in *input, out *frameWriter) (ingest.Report, error) {
	o := importOptions{dryRun: r.DryRun, onError: r.OnError}
	// Where one of these can't be told, the other side has gone, and ctx ends.
	o.onReject = func(line rejectLine) { _ = out.writeJSON(frameReject, line) }
	o.onPassedOver = func(file string) { _ = out.write(frameFolderFile, []byte(file)) }
	var last time.Time
	o.onProgress = func(p ingest.Progress) {
		if now := time.Now(); now.Sub(last) >= progressEvery {
			last = now
			_ = out.writeJSON(frameProgress, p)
		}
	}
	sources := make([]ingest.Source, len(r.Sources))
	for i, s := range r.Sources {
		sources[i] = ingest.Source{Name: s.Name, Size: s.Size, Found: s.Found, Reader: in.source(i)}
	}
	report, err := c.ingester.Import(ctx, sources, o.ingest())
	if err == nil && !r.DryRun {
		err = c.ingester.CatchUp(ctx)
	}
	if c.imported != nil && !r.DryRun {
		c.imported(report, err)
	}
	return report, err
}

// input hands the bytes of an import's sources from the connection to the
// ingester.
type input struct {
	ctx    context.Context //nolint:containedctx // it bounds Read, which has no parameter for it
	frames chan inputFrame
	free   chan []byte // buffers for the next frames
	gone   chan struct{}

	// What follows belongs to the reader.
	turn int    // source that the next frames belong to
	buf  []byte // of the frame being read
	rest []byte // what is left of it
	ends []error
}

type inputFrame struct {
	kind    frameKind
	payload []byte
}

func newInput(ctx context.Context) *input {
	return &input{ctx: ctx, frames: make(chan inputFrame), free: make(chan []byte, 4), gone: make(chan struct{})}
}

// pump reads frames until the connection ends.
func (in *input) pump(conn io.Reader) {
	for {
		var buf []byte
		select {
		case buf = <-in.free:
		default:
		}
		kind, payload, err := readFrame(conn, buf)
		if err != nil {
			return
		}
		select {
		case in.frames <- inputFrame{kind, payload}:
		case <-in.gone:
		case <-in.ctx.Done():
			return
		}
	}
}

// discard lets pump throw away what still comes.
func (in *input) discard() { close(in.gone) }

// source gives the reader of the i-th source. Sources are read in order.
func (in *input) source(i int) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		for in.turn < i || in.turn == i && len(in.rest) == 0 {
			if err := in.next(); err != nil {
				return 0, err
			}
		}
		if in.turn > i {
			return 0, in.ends[i]
		}
		n := copy(p, in.rest)
		in.rest = in.rest[n:]
		return n, nil
	})
}

// next takes the next frame.
func (in *input) next() error {
	if in.buf != nil {
		select {
		case in.free <- in.buf:
		default:
		}
		in.buf = nil
	}
	select {
	case f := <-in.frames:
		in.buf, in.rest = f.payload, nil
		switch f.kind {
		case frameInput:
			in.rest = f.payload
			return nil
		case frameNext:
			var end inputEnd
			if err := json.Unmarshal(f.payload, &end); err != nil {
				return err
			}
			err := io.EOF
			if end.Error != "" {
				err = errors.New(end.Error)
			}
			in.ends = append(in.ends, err)
			in.turn++
			return nil
		}
		return fmt.Errorf("unexpected frame %q", f.kind)
	case <-in.ctx.Done():
		return in.ctx.Err()
	}
}

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
