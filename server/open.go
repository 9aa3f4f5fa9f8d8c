package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/library"
	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// concepts reads the vocabulary that the flags ask for.
func concepts(cmd *cli.Command) (*incident.Concepts, error) {
	var all *incident.Concepts
	if !cmd.Bool("no-default-vocabulary") {
		var err error
		if all, err = library.Concepts(); err != nil {
			return nil, err
		}
	}
	for _, path := range cmd.StringSlice("vocabulary") {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		more, err := incident.DecodeConcepts(b)
		if err != nil {
			return nil, fmt.Errorf("vocabulary %s: %w", path, err)
		}
		if all, err = incident.Merge(all, more); err != nil {
			return nil, fmt.Errorf("vocabulary %s: %w", path, err)
		}
	}
	return all, nil
}

// openLibrary gives an ingester over a store in memory that holds the starter
// library.
func openLibrary(ctx context.Context, c *incident.Concepts, options ...ingest.Option) (*ingest.Ingester, error) {
	in, err := ingest.New(ctx, store.NewMemory(), c, nil, options...)
	if err != nil {
		return nil, err
	}
	lines, err := library.JSONLines()
	if err != nil {
		return nil, err
	}
	source := ingest.Source{Name: "library", Size: int64(len(lines)), Reader: bytes.NewReader(lines)}
	report, err := in.Import(ctx, []ingest.Source{source}, ingest.Options{Actor: "library"})
	if err == nil && report.Rejected > 0 {
		err = fmt.Errorf("%d bad records", report.Rejected)
	}
	if err != nil {
		return nil, fmt.Errorf("starter library: %w", err)
	}
	return in, nil
}

// How long a command waits for a store that another process has open without
// serving it: until that process is done, or has begun to serve.
const (
	lockPatience = 2 * time.Second
	lockPause    = 50 * time.Millisecond
)

// openOrReach opens the store at path or, where a running server has it open,
// connects to that server: one of store and server is nil.
func openOrReach(ctx context.Context, path string, o boltstore.Options) (*boltstore.Store, *remote, error) {
	for deadline := time.Now().Add(lockPatience); ; {
		s, err := boltstore.Open(path, o)
		if !errors.Is(err, boltstore.ErrLocked) {
			return s, nil, err
		}
		server, rerr := dialRemote(path)
		if rerr == nil {
			return nil, server, nil
		}
		if time.Now().After(deadline) {
			if !errors.Is(rerr, fs.ErrNotExist) && !errors.Is(rerr, syscall.ECONNREFUSED) {
				err = fmt.Errorf("%w; asking that process to do it: %w", err, rerr)
			}
			return nil, nil, err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// withStore runs one of two functions: the first with the store at path, or
// the second with the server that has it open.
func withStore(ctx context.Context, path string, o boltstore.Options, here func(*boltstore.Store) error, there func(*remote) error) error {
	s, server, err := openOrReach(ctx, path, o)
	if err != nil {
		return err
	}
	if server != nil {
		defer func() { _ = server.Close() }() // after the result nothing is left to lose
		return there(server)
	}
	return errors.Join(here(s), s.Close())
}
