package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/ingest"
	"incidentgraph/internal/library"
	"incidentgraph/internal/store/boltstore"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:  "export",
		Usage: "write all case records as JSON Lines",
		Description: "Writes one record a line in the order of case ids, member for member as it came\n" +
			"in. Without --db it writes the embedded starter library. Where a server has the\n" +
			"store open, the records come from there.",
		Flags: []cli.Flag{
			dbFlag(dbExisting),
			outputFlag("write to `FILE` instead of standard output"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			path, output := cmd.String("db"), cmd.String("output")
			if path != "" && output != "" {
				if err := notSame(path, output); err != nil {
					return err
				}
			}
			return writeOutput(output, cmd.Root().Writer, func(w io.Writer) error { return export(ctx, path, w) })
		},
	}
}

// export writes the records of a store, or of the starter library where path
// is "".
func export(ctx context.Context, path string, w io.Writer) error {
	if path == "" {
		lines, err := library.JSONLines()
		if err != nil {
			return err
		}
		_, err = w.Write(lines)
		return err
	}
	return withStore(ctx, path, boltstore.Options{ReadOnly: true},
		func(s *boltstore.Store) error { return ingest.Export(ctx, s, w) },
		func(server *remote) error { return server.run(ctx, controlExport, w) })
}
