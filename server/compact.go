package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/store/boltstore"
)

func compactCommand() *cli.Command {
	return &cli.Command{
		Name:  "compact",
		Usage: "rewrite a store into a smaller file",
		Description: "Writes a new file without the free pages and without the superseded versions of\n" +
			"records, checks it, and puts it in place of the old one. No server may have the\n" +
			"store open.",
		Flags:  []cli.Flag{dbFlag(dbExisting)},
		Action: onStore(compact),
	}
}

func compact(ctx context.Context, path string, out io.Writer) error {
	c, err := boltstore.Compact(ctx, path, "")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d bytes before, %d after, %d superseded versions dropped\n", c.Before, c.After, c.Dropped)
	return err
}
