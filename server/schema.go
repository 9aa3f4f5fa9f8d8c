package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"incidentgraph/graph"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the GraphQL schema (SDL)",
		Action: func(_ context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			return graph.WriteSchema(cmd.Root().Writer)
		},
	}
}
