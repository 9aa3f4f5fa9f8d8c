package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

func flagsCommand() *cli.Command {
	return &cli.Command{
		Name:        "flags",
		Usage:       "print a table of all flags and environment variables",
		Description: "Prints one Markdown table of the flags of all commands, with the environment\nvariables that stand for them. A flag that is given wins over its variable.",
		Action: func(_ context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			return writeFlagTable(cmd.Root().Writer, cmd.Root())
		},
	}
}

// otherVariables are the environment variables that stand for no flag.
var otherVariables = [][2]string{
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "address of an OpenTelemetry collector (OTLP over HTTP) to send traces to; " +
		"without it none are made. The other `OTEL_…` variables of the OpenTelemetry SDK hold, too"},
}

// flagRow is one line of the table. Commands whose flag means the same share it.
type flagRow struct {
	flag, variable, value, usage string
	commands                     []string
}

// writeFlagTable writes the flags of all commands as a Markdown table.
func writeFlagTable(w io.Writer, root *cli.Command) error {
	var rows []flagRow
	for _, c := range root.Commands {
		for _, f := range c.Flags {
			row, ok := newFlagRow(f)
			if !ok {
				continue
			}
			same := func(r flagRow) bool {
				return r.flag == row.flag && r.usage == row.usage && r.value == row.value
			}
			if i := slices.IndexFunc(rows, same); i >= 0 {
				rows[i].commands = append(rows[i].commands, c.Name)
				continue
			}
			row.commands = []string{c.Name}
			rows = append(rows, row)
		}
	}
	var b strings.Builder
	b.WriteString("| flag | variable | default | of | does |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", r.flag, r.variable, r.value, strings.Join(r.commands, ", "), r.usage)
	}
	for _, v := range otherVariables {
		fmt.Fprintf(&b, "| | `%s` | | %s | %s |\n", v[0], defaultCommand, v[1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// newFlagRow describes a flag; false where it is the parser's own.
func newFlagRow(f cli.Flag) (flagRow, bool) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok || len(d.GetEnvVars()) == 0 {
		return flagRow{}, false
	}
	names := make([]string, len(f.Names()))
	for i, n := range f.Names() {
		names[i] = "`" + dashed(n) + "`"
	}
	row := flagRow{
		flag:     strings.Join(names, " "),
		variable: d.GetEnvVars()[0],
		usage:    strings.ReplaceAll(d.GetUsage(), "|", `\|`),
	}
	if v := strings.Trim(d.GetValue(), `"`); v != "" && v != "[]" && v != "false" {
		row.value = "`" + v + "`"
	}
	return row, true
}
