package boltstore

import (
	"context"
	"io"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// Backup writes a copy of the whole file, as it is at one position, and gives
// that position. What is written is a store, with the free pages and
// superseded records that the file has (Compact leaves them out). Appends go
// on meanwhile, but the pages that they free are not used again before it is
// done.
func (s *Store) Backup(ctx context.Context, w io.Writer) (store.Position, error) {
	if err := s.enter(ctx); err != nil {
		return store.Position{}, err
	}
	defer s.leave()
	var state fileState
	at, out := &Finding{}, &backupWriter{ctx: ctx, w: w}
	err := s.view(at, func(tx *bolt.Tx) error {
		var err error
		if state, err = s.state(tx, at); err != nil {
			return err
		}
		*at = Finding{}
		// bbolt copies through the file that the store holds, not through its
		// path, which a compaction could have given to another file.
		_, err = tx.WriteTo(out)
		return err
	})
	if out.err != nil {
		err = out.err // bbolt's tells it in words only
	}
	return state.head, err
}

// backupWriter writes until its context ends, and keeps the error that ended
// it.
type backupWriter struct {
	ctx context.Context //nolint:containedctx // it bounds Write, which has no parameter for it
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (b *backupWriter) Write(p []byte) (n int, err error) {
	if b.err = b.ctx.Err(); b.err == nil {
		n, b.err = b.w.Write(p)
	}
	return n, b.err
}
