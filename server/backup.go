package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v3"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

func backupCommand() *cli.Command {
	return &cli.Command{
		Name:  "backup",
		Usage: "copy a store, also while a server has it open",
		Description: "Copies the store as it is at one revision, while readers and writers go on, checks\n" +
			"the copy, and only then gives it its name. A backup is itself a store: any command\n" +
			"takes it as --db.",
		Flags: []cli.Flag{
			dbFlag(dbExisting),
			outputFlag("write the copy to `FILE`, in the place of what is there"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			path, err := required(cmd, "db")
			if err != nil {
				return err
			}
			output, err := required(cmd, "output")
			if err != nil {
				return err
			}
			return backup(ctx, path, output, cmd.Root().Writer)
		},
	}
}

func backup(ctx context.Context, path, output string, out io.Writer) error {
	if err := notSame(path, output); err != nil {
		return err
	}
	if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: a backup goes to a regular file", output)
	}
	draft, err := writeDraft(output, privateMode, func(w io.Writer) error {
		return withStore(ctx, path, boltstore.Options{ReadOnly: true},
			func(s *boltstore.Store) error {
				_, err := s.Backup(ctx, w)
				return err
			},
			func(server *remote) error { return server.run(ctx, controlBackup, w) })
	})
	if err != nil {
		return err
	}
	about, err := soundStore(ctx, draft)
	if err != nil {
		return errors.Join(fmt.Errorf("the copy: %w", err), os.Remove(draft))
	}
	if err := replace(draft, output); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s\n", output, about)
	return err
}

func restoreCommand() *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "make a store of a backup",
		ArgsUsage: "BACKUP",
		Description: "Checks the backup, copies it beside --db, checks the copy, and only then gives it\n" +
			"its name. A store that is there already stays as it is, unless --replace is given\n" +
			"and nothing has it open.",
		Flags: []cli.Flag{
			dbFlag("bbolt `FILE` to make of the backup"),
			boolFlag("replace", "put the backup in the place of the store that is there"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			path, err := required(cmd, "db")
			if err != nil {
				return err
			}
			if cmd.Args().Len() != 1 {
				return usagef(cmd, "%d arguments, want one: the BACKUP", cmd.Args().Len())
			}
			return restore(ctx, cmd.Args().First(), path, cmd.Bool("replace"), cmd.Root().Writer)
		},
	}
}

func restore(ctx context.Context, from, path string, over bool, out io.Writer) (err error) {
	if err := notSame(from, path); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil && !over {
		return fmt.Errorf("%s: %w; --replace puts the backup in its place", path, fs.ErrExist)
	}
	unlock, err := lockForReplacing(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := soundStore(ctx, from); err != nil {
		return err
	}
	draft, err := writeDraft(path, privateMode, func(w io.Writer) error {
		s, err := boltstore.Open(from, boltstore.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		_, err = s.Backup(ctx, w)
		return errors.Join(err, s.Close())
	})
	if err != nil {
		return err
	}
	about, err := soundStore(ctx, draft)
	if err != nil {
		return errors.Join(fmt.Errorf("the copy: %w", err), os.Remove(draft))
	}
	if over {
		err = replace(draft, path)
	} else {
		err = publish(draft, path)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s\n", path, about)
	return err
}

// lockForReplacing keeps others from opening the store at path until unlock is
// called. A store that is damaged, or of another format, is one that nobody
// can open; what is no store at all is not replaced.
func lockForReplacing(path string) (unlock func() error, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	s, err := boltstore.Open(path, boltstore.Options{})
	switch {
	case err == nil:
		return s.Close, nil
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, boltstore.ErrFormat):
		return func() error { return nil }, nil
	}
	return nil, err
}

// soundStore checks a store file and says what it holds. It must not be open
// for writing.
func soundStore(ctx context.Context, path string) (about string, err error) {
	faults, err := boltstore.Check(ctx, path, boltstore.Options{})
	if err != nil {
		return "", err
	}
	if len(faults) > 0 {
		return "", fmt.Errorf("%d faults, the first: %w", len(faults), &boltstore.CorruptError{Path: path, Finding: faults[0]})
	}
	s, err := boltstore.Open(path, boltstore.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d incidents at revision %d, %d bytes, checked", snap.Len(), snap.Position().Sequence, info.Size()), nil
}
