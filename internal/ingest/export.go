package ingest

import (
	"context"
	"io"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/store"
)

// Export writes all records as JSON Lines in the order of their case ids, each
// with the members that came in, in their order.
func Export(ctx context.Context, log store.Log, w io.Writer) error {
	snap, err := log.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	var line []byte
	for rec, err := range snap.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		line = append(incident.AppendCompact(line[:0], rec.Bytes), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
