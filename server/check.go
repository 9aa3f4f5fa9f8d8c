package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/library"
	"incidentgraph/internal/store/boltstore"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "check a store from end to end",
		Description: "Runs bbolt's own check and the store's, decodes every record, compares a rebuilt\n" +
			"index with the stored state, and lists recurrence cycles and links to cases that\n" +
			"are not stored. Such links are no fault; anything else is, and gives status 1.\n" +
			"Nothing is written. Where a server has the store open, the server checks it.",
		Flags:  []cli.Flag{dbFlag(dbExisting)},
		Action: onStore(check),
	}
}

func check(ctx context.Context, path string, out io.Writer) error {
	c, err := library.Concepts()
	if err != nil {
		return err
	}
	err = withStore(ctx, path, boltstore.Options{ReadOnly: true},
		func(s *boltstore.Store) error { return checkStore(ctx, s, c, out) },
		func(server *remote) error { return server.run(ctx, controlCheck, out) })
	if corrupt := (*boltstore.CorruptError)(nil); errors.As(err, &corrupt) {
		// It can't be opened, and that error names only the first fault.
		faults, ferr := boltstore.Check(ctx, path, boltstore.Options{})
		if len(faults) > 0 {
			return reportFaults(out, faults)
		}
		return errors.Join(err, ferr)
	}
	return err
}

// checkStore checks an open store and writes what it finds. The error tells
// that something is wrong.
func checkStore(ctx context.Context, s *boltstore.Store, c *incident.Concepts, out io.Writer) error {
	faults, err := s.Check(ctx)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return reportFaults(out, faults)
	}
	report, err := ingest.Check(ctx, s, c)
	if err != nil {
		return err
	}
	for _, f := range report.Faults {
		fmt.Fprintf(out, "fault: %s\n", f)
	}
	for _, l := range report.Dangling {
		fmt.Fprintf(out, "dangling link: %s\n", l)
	}
	fmt.Fprintf(out, "%d incidents at revision %d, %d dangling links, %d faults\n", report.Incidents, report.Revision, len(report.Dangling), len(report.Faults))
	if len(report.Faults) > 0 {
		return fmt.Errorf("%d faults in the data", len(report.Faults))
	}
	return nil
}

func reportFaults(out io.Writer, faults []boltstore.Finding) error {
	for _, f := range faults {
		fmt.Fprintf(out, "fault: %v\n", f)
	}
	return fmt.Errorf("%d faults in the file; nothing was changed", len(faults))
}
