package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

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
	empty := noteEmpty(sources)
	report, err := importInto(ctx, path, sources, o)
	bar.done()
	if err == nil {
		empty(stderr, report)
	}
	if err == nil || report.Read > 0 {
		fmt.Fprintln(cmd.Root().Writer, summary(o, report))
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

// summary says what a run did, or would have done where it stored nothing.
func summary(o importOptions, r ingest.Report) string {
	would, why := "would have ", ""
	switch {
	case o.dryRun:
		why = " (dry run: nothing stored)"
	case o.onError == onErrorStop && r.Rejected > 0:
		why = " (nothing stored)"
	default:
		would = ""
	}
	return fmt.Sprintf("read %d, %screated %d, updated %d, unchanged %d, rejected %d%s", r.Read, would, r.Created, r.Updated, r.Unchanged, r.Rejected, why)
}

// noteEmpty lets the sources take note of whether anything is in them. What it
// gives warns, after they were read, of those that are empty: a file that an
// export has failed to fill, perhaps.
func noteEmpty(sources []ingest.Source) (warn func(io.Writer, ingest.Report)) {
	readers := make([]*notingReader, len(sources))
	for i := range sources {
		readers[i] = &notingReader{Reader: sources[i].Reader}
		sources[i].Reader = readers[i]
	}
	return func(w io.Writer, r ingest.Report) {
		told := false
		for i, reader := range readers {
			if !reader.filled.Load() {
				fmt.Fprintf(w, "%s: it is empty\n", sources[i].Name)
				told = true
			}
		}
		if r.Read == 0 && !told {
			fmt.Fprintln(w, "no records were found")
		}
	}
}

// notingReader takes note of whether it has read more than white space.
type notingReader struct {
	io.Reader
	filled atomic.Bool // a goroutine that sends to a server may still be at it
}

// Read implements io.Reader.
func (r *notingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if !r.filled.Load() && len(bytes.TrimLeft(p[:n], " \t\r\n")) > 0 {
		r.filled.Store(true)
	}
	return n, err
}

// Close closes what can be closed.
func (r *notingReader) Close() error {
	if c, ok := r.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
