package main

import (
	"context"
	"fmt"

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
		Flags: []cli.Flag{dbFlag(dbExisting)},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			path, err := required(cmd, "db")
			if err != nil {
				return err
			}
			c, err := boltstore.Compact(ctx, path, "")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.Root().Writer, "%d bytes before, %d after, %d superseded versions dropped\n", c.Before, c.After, c.Dropped)
			return err
		},
	}
}
