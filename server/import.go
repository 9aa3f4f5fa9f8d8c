package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/ingest"
	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// What a bad record does to an import.
const (
	onErrorStop = "stop"
	onErrorSkip = "skip"
)

func importCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "read case records into a store",
		ArgsUsage: "PATH…",
		Description: "Reads a JSON object, a JSON array or JSON Lines, each also gzip- or\n" +
			"zstd-compressed, a folder of them, or - for standard input; what a file is, is\n" +
			"seen from its content. A record whose id is stored already replaces it where it\n" +
			"differs. With --on-error stop a run with any bad record stores nothing. Where a\n" +
			"server has the store open, the server does the work, and shows the new records.",
		Flags: []cli.Flag{
			dbFlag(dbCreated),
			boolFlag("dry-run", "check everything and count, but store nothing"),
			choiceFlag("on-error", "`WHAT` a bad record does: stop stores nothing, skip stores the others", onErrorStop, onErrorSkip),
			stringFlag("rejects", "", "write the bad records to `FILE` as JSON Lines"),
		},
		Action: runImport,
	}
}

// importOptions are the options of an import, whoever does it.
type importOptions struct {
	dryRun       bool
	onError      string
	onReject     func(rejectLine)
	onPassedOver func(file string)
	onProgress   func(ingest.Progress)
}

// ingest gives the options as the ingester takes them.
func (o importOptions) ingest() ingest.Options {
	options := ingest.Options{
		DryRun:       o.dryRun,
		Actor:        "import",
		OnReject:     func(r ingest.Reject) { o.onReject(newRejectLine(r)) },
		OnPassedOver: o.onPassedOver,
		OnProgress:   o.onProgress,
	}
	if o.onError == onErrorSkip {
		options.OnError = ingest.Skip
	}
	return options
}

func runImport(ctx context.Context, cmd *cli.Command) (err error) {
	path, err := required(cmd, "db")
	if err != nil {
		return err
	}
	if !cmd.Args().Present() {
		return usagef(cmd, "no PATH given (use - for standard input)")
	}
	sources, err := ingest.Open(cmd.Args().Slice(), cmd.Root().Reader)
	if err != nil {
		return err
	}
	rejected := cmd.String("rejects")
	inputs := []string{path}
	for _, s := range sources { // the files of folders, too
		inputs = append(inputs, s.Name)
	}
	for _, p := range inputs {
		if sameFile(p, rejected) {
			return usagef(cmd, "--rejects would overwrite %s", p)
		}
	}
	stderr := cmd.Root().ErrWriter
	bar := newProgress(stderr, isTerminal(stderr))
	rejects, err := newRejects(rejected, bar)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rejects.Close()) }()
	o := importOptions{
		dryRun:       cmd.Bool("dry-run"),
		onError:      cmd.String("on-error"),
		onReject:     rejects.add,
		onPassedOver: func(file string) { fmt.Fprintf(bar, "%s: passed over, it holds no JSON\n", file) },
		onProgress:   bar.set,
	}
	report, err := importInto(ctx, path, sources, o)
	bar.done()
	if err == nil || report.Read > 0 {
		fmt.Fprintf(cmd.Root().Writer, "read %d, created %d, updated %d, unchanged %d, rejected %d%s\n",
			report.Read, report.Created, report.Updated, report.Unchanged, report.Rejected, stored(o, report))
	}
	if err == nil && report.Rejected > 0 {
		err = fmt.Errorf("%d bad records", report.Rejected)
	}
	return err
}

// importInto imports into the store at path, wherever it is open.
func importInto(ctx context.Context, path string, sources []ingest.Source, o importOptions) (report ingest.Report, err error) {
	if _, serr := os.Stat(path); o.dryRun && errors.Is(serr, fs.ErrNotExist) {
		return importHere(ctx, store.NewMemory(), sources, o)
	}
	err = withStore(ctx, path, boltstore.Options{},
		func(s *boltstore.Store) error {
			report, err = importHere(ctx, s, sources, o)
			return err
		},
		func(server *remote) error {
			report, err = server.importRecords(ctx, sources, o)
			return err
		})
	return report, err
}

func importHere(ctx context.Context, log store.Log, sources []ingest.Source, o importOptions) (ingest.Report, error) {
	// What an import does depends on no vocabulary.
	in, err := ingest.New(ctx, log, nil, nil)
	if err != nil {
		return ingest.Report{}, err
	}
	return in.Import(ctx, sources, o.ingest())
}

// stored says where a run stored nothing.
func stored(o importOptions, r ingest.Report) string {
	switch {
	case o.dryRun:
		return " (dry run: nothing stored)"
	case o.onError == onErrorStop && r.Rejected > 0:
		return " (nothing stored)"
	}
	return ""
}
