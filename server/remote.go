package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"incidentgraph/internal/ingest"
)

// remote is the server that has a store open, as a command sees it. It does
// one command.
type remote struct {
	conn net.Conn
	out  *frameWriter
}

func dialRemote(db string) (*remote, error) {
	conn, err := dialBeside(db)
	if err != nil {
		return nil, err
	}
	return &remote{conn: conn, out: &frameWriter{w: conn}}, nil
}

// Close hangs up.
func (r *remote) Close() error { return r.conn.Close() }

// takers take the server's frames by their kind.
type takers map[frameKind]func(payload []byte) error

// output takes what the command prints.
func (t takers) output(w io.Writer) takers {
	t[frameOutput] = func(payload []byte) error {
		_, err := w.Write(payload)
		return err
	}
	return t
}

// do sends a request, then what send sends, and takes frames up to the result.
func (r *remote) do(ctx context.Context, request controlRequest, send func() error, take takers) (controlResult, error) {
	hangUp := context.AfterFunc(ctx, func() { _ = r.conn.Close() })
	defer hangUp()
	request.Protocol = controlProtocol
	sending := r.out.writeJSON(frameRequest, request)
	if send != nil {
		go func() { _ = send() }()
	}
	result, err := r.receive(take)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil && sending != nil:
		err = sending
	case err == nil && result.Error != "":
		err = errors.New(result.Error)
	}
	return result, err
}

// receive takes frames up to the result.
func (r *remote) receive(take takers) (controlResult, error) {
	in := bufio.NewReaderSize(r.conn, 64<<10)
	var buf []byte
	for {
		kind, payload, err := readFrame(in, buf)
		if err != nil {
			return controlResult{}, fmt.Errorf("the server that has the store open went away: %w", noEOF(err))
		}
		buf = payload
		if kind == frameResult {
			var result controlResult
			return result, json.Unmarshal(payload, &result)
		}
		f := take[kind]
		if f == nil {
			return controlResult{}, fmt.Errorf("unexpected frame %q from the server", kind)
		}
		if err := f(payload); err != nil {
			return controlResult{}, err
		}
	}
}

// run does a command whose output is all that it gives.
func (r *remote) run(ctx context.Context, command string, w io.Writer) error {
	_, err := r.do(ctx, controlRequest{Command: command}, nil, takers{}.output(w))
	return err
}

// importRecords lets the server import what the sources hold.
func (r *remote) importRecords(ctx context.Context, sources []ingest.Source, o importOptions) (ingest.Report, error) {
	request := &importRequest{DryRun: o.dryRun, OnError: o.onError, Sources: make([]sourceHeader, len(sources))}
	for i, s := range sources {
		request.Sources[i] = sourceHeader{Name: s.Name, Size: s.Size, Found: s.Found}
	}
	take := takers{
		frameReject:     jsonTaker(o.onReject),
		frameProgress:   jsonTaker(o.onProgress),
		frameFolderFile: func(payload []byte) error { o.onPassedOver(string(payload)); return nil },
	}
	send := func() error { return r.sendSources(sources) }
	result, err := r.do(ctx, controlRequest{Command: controlImport, Import: request}, send, take)
	if result.Report == nil {
		return ingest.Report{}, err
	}
	return *result.Report, err
}

func jsonTaker[T any](take func(T)) func(payload []byte) error {
	return func(payload []byte) error {
		var v T
		if err := json.Unmarshal(payload, &v); err != nil {
			return err
		}
		take(v)
		return nil
	}
}

// sendSources sends the bytes of all sources.
func (r *remote) sendSources(sources []ingest.Source) error {
	buf := make([]byte, 256<<10)
	for _, s := range sources {
		end := inputEnd{}
		for end.Error == "" {
			n, err := s.Reader.Read(buf)
			if n > 0 {
				if err := r.out.write(frameInput, buf[:n]); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				end.Error = err.Error()
			}
		}
		if closer, ok := s.Reader.(io.Closer); ok {
			if err := closer.Close(); err != nil && end.Error == "" {
				end.Error = err.Error()
			}
		}
		if err := r.out.writeJSON(frameNext, end); err != nil {
			return err
		}
	}
	return nil
}
