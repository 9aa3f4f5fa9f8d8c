package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/urfave/cli/v3"
)

// envName names the environment variable that stands for a flag: the flag's
// name in upper case behind INCIDENTGRAPH_.
func envName(flag string) string {
	return "INCIDENTGRAPH_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func env(flag string) cli.ValueSourceChain { return cli.EnvVars(envName(flag)) }

func stringFlag(name, value, usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Value: value, Usage: usage, Sources: env(name), Local: true}
}

func boolFlag(name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, Sources: env(name), Local: true}
}

// listFlag may be given several times, or once with commas.
func listFlag(name, usage string) *cli.StringSliceFlag {
	return &cli.StringSliceFlag{Name: name, Usage: usage + " (may be repeated)", Sources: env(name), Local: true}
}

// choiceFlag takes one of some words, the first where it is not given.
func choiceFlag(name, usage string, choices ...string) *cli.StringFlag {
	f := stringFlag(name, choices[0], usage)
	f.Validator = func(s string) error {
		for _, c := range choices {
			if s == c {
				return nil
			}
		}
		return fmt.Errorf("want %s", strings.Join(choices, " or "))
	}
	return f
}

// What --db means to commands that make a store, and to those that don't.
const (
	dbCreated  = "bbolt `FILE` that is the store, created where it is missing"
	dbExisting = "bbolt `FILE` that is the store"
)

// dbFlag names the store's file.
func dbFlag(usage string) *cli.StringFlag { return stringFlag("db", "", usage) }

// outputFlag names the file that a command writes.
func outputFlag(usage string) *cli.StringFlag {
	f := stringFlag("output", "", usage)
	f.Aliases = []string{"o"}
	return f
}

// required gives the value of a flag that the command cannot do without.
func required(cmd *cli.Command, flag string) (string, error) {
	value := cmd.String(flag)
	if value == "" {
		return "", usagef(cmd, "%s FILE is missing", dashed(flag))
	}
	return value, nil
}

// onStore makes the action of a command that takes a store and nothing else.
func onStore(do func(ctx context.Context, db string, out io.Writer) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		if err := noArguments(cmd); err != nil {
			return err
		}
		path, err := required(cmd, "db")
		if err != nil {
			return err
		}
		return do(ctx, path, cmd.Root().Writer)
	}
}

// vocabularyFlags say which vocabulary the index is made with.
func vocabularyFlags() []cli.Flag {
	return []cli.Flag{
		listFlag("vocabulary", "`FILE` with terms to add to the vocabulary; its entries win over those already there"),
		boolFlag("no-default-vocabulary", "start from an empty vocabulary instead of the embedded one"),
	}
}

// dashed writes a flag as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// didYouMean gives a hint at the name closest to what was typed, "" where none
// is close.
func didYouMean(typed string, names []string) string {
	const close = 3 // edits, of Levenshtein (1966)
	best, distance := "", close+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(typed, n); d < distance && 2*d < len(n) {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}
