package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/store/boltstore"
)

// version is set for a release by -ldflags "-X main.version=1.2.3"; otherwise
// the module version that the Go tool recorded counts.
var version = ""

// programVersion gives the version and the commit that the program was built from.
func programVersion() (v, commit string) {
	v, commit = version, "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return orDefault(v, "devel"), commit
	}
	if v == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value
		}
	}
	return orDefault(v, "devel"), commit
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print version, commit, Go version and store format",
		Action: func(_ context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			v, commit := programVersion()
			_, err := fmt.Fprintf(cmd.Root().Writer, "incidentgraph %s\ncommit %s\n%s\nstore format %d\n", v, commit, runtime.Version(), boltstore.FormatVersion)
			return err
		},
	}
}
