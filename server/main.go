package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"
)

// Exit statuses of the program.
const (
	exitOK     = 0
	exitFailed = 1 // the data or the run failed
	exitUsage  = 2 // the program was called wrongly
)

// programName is how the program calls itself, whatever its file is called.
const programName = "incidentgraph"

// defaultCommand is what the program does without a command.
const defaultCommand = "serve"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments; it gives the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := twoDashes(args)
	if err == nil {
		err = newRoot(stdin, stdout, stderr).Run(ctx, withCommand(args))
	}
	var failed *runError
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &failed):
		command := programName
		if usage := (*usageError)(nil); errors.As(err, &usage) {
			command = usage.command
		}
		fmt.Fprintf(stderr, "%s: %v\nRun '%s -h' for help.\n", programName, err, command)
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", programName)
	default:
		fmt.Fprintf(stderr, "%s: %v\n", programName, err)
	}
	return exitFailed
}

// twoDashes refuses -db for --db: the library takes both, but then -o and what
// it is followed by could mean two things.
func twoDashes(args []string) error {
	for _, a := range args[min(1, len(args)):] {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && len(name) > 1 {
			return &usageError{programName, fmt.Errorf("unknown flag %s: flags of more than one letter take two dashes", a)}
		}
	}
	return nil
}

// withCommand puts the default command before flags that come without one.
func withCommand(args []string) []string {
	switch {
	case len(args) < 2:
		return []string{programName, defaultCommand}
	case args[1] == "--version": // what many programs have
		return []string{programName, "version"}
	case strings.HasPrefix(args[1], "-") && args[1] != "-h" && args[1] != "--help":
		return slices.Insert(slices.Clone(args), 1, defaultCommand)
	}
	return args
}

// newRoot builds the command tree.
func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:      programName,
		Usage:     "a GraphQL API over incident case records",
		UsageText: programName + " [command] [options]",
		Description: "Without a command, " + programName + " serves: the embedded starter library, or the store\n" +
			"that --db names. No file is written without --db. Each flag of a command can be set\n" +
			"by an environment variable, too; '" + programName + " flags' lists them all.",
		Reader:          stdin,
		Writer:          stdout,
		ErrWriter:       stderr,
		HideHelpCommand: true,
		HideVersion:     true,
		Commands: []*cli.Command{
			serveCommand(),
			importCommand(),
			exportCommand(),
			checkCommand(),
			compactCommand(),
			backupCommand(),
			restoreCommand(),
			schemaCommand(),
			flagsCommand(),
			versionCommand(),
		},
		Action:         unknownCommand,
		OnUsageError:   wrongFlag,
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run decides the status
	}
	for _, c := range root.Commands {
		c.HideHelpCommand = true
		c.OnUsageError = wrongFlag
		c.Action = begun(c.Action)
	}
	return root
}

// begun marks what goes wrong in a command that was called rightly.
func begun(action cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		err := action(ctx, cmd)
		if usage := (*usageError)(nil); err == nil || errors.As(err, &usage) {
			return err
		}
		return &runError{err}
	}
}

// runError is an error of a command that was called rightly. All other errors
// lie in how the program was called.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }

func (e *runError) Unwrap() error { return e.err }

// usageError is an error that lies in how a command was called.
type usageError struct {
	command string // as it is typed
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usagef(cmd *cli.Command, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if cmd.Name != programName {
		err = fmt.Errorf("%s: %w", cmd.Name, err)
	}
	return &usageError{command: cmd.FullName(), err: err}
}

// unknownCommand is the action of a first argument that is no command.
func unknownCommand(_ context.Context, cmd *cli.Command) error {
	names := make([]string, 0, len(cmd.Commands))
	for _, c := range cmd.Commands {
		names = append(names, c.Name)
	}
	name := cmd.Args().First()
	return usagef(cmd, "unknown command %q%s", name, didYouMean(name, names))
}

// wrongFlag words the parser's errors.
func wrongFlag(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return usagef(cmd, "%s", strings.Replace(err.Error(), "for flag -", "for flag --", 1))
	}
	var names []string
	for _, f := range cmd.Flags {
		for _, n := range f.Names() {
			names = append(names, dashed(n))
		}
	}
	return usagef(cmd, "unknown flag %s%s", dashed(name), didYouMean(dashed(name), names))
}

// noArguments refuses arguments of a command that takes none.
func noArguments(cmd *cli.Command) error {
	if cmd.Args().Present() {
		return usagef(cmd, "unexpected argument %q", cmd.Args().First())
	}
	return nil
}
