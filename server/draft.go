package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Modes of files that the program makes, before the umask.
const (
	privateMode fs.FileMode = 0o600 // what is as private as the store
	publicMode  fs.FileMode = 0o666
)

// writeOutput calls write with the file at path, or with stdout where no path
// is given. A file appears under its name only when it is whole; what is no
// regular file, such as a pipe, is written to as it is.
func writeOutput(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "" {
		b := bufio.NewWriterSize(stdout, 1<<16)
		return errors.Join(write(b), b.Flush())
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		b := bufio.NewWriterSize(f, 1<<16)
		return errors.Join(write(b), b.Flush(), f.Close())
	}
	draft, err := writeDraft(path, publicMode, write)
	if err != nil {
		return err
	}
	return replace(draft, path)
}

// writeDraft calls write with a new file beside path and makes it durable. It
// gives the file's name; the caller renames or removes it.
func writeDraft(path string, mode fs.FileMode, write func(io.Writer) error) (draft string, err error) {
	draft = path + ".new-" + rand.Text()[:8]
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(write(b), b.Flush(), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(draft))
	}
	return draft, nil
}

// replace gives a draft its name, in the place of what has it now.
func replace(draft, path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.Rename(draft, path); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	return syncFolder(filepath.Dir(path))
}

// publish gives a draft its name, which must be free.
func publish(draft, path string) error {
	// Rename would not look whether something is there; a link does.
	err := os.Link(draft, path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		if _, serr := os.Lstat(path); errors.Is(serr, fs.ErrNotExist) {
			return replace(draft, path)
		}
	}
	if err := errors.Join(err, os.Remove(draft)); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // can't, and needs not
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// notSame refuses an output that would replace the store itself.
func notSame(db, output string) error {
	if _, err := os.Stat(db); err != nil {
		return err
	}
	if sameFile(db, output) {
		return fmt.Errorf("%s: the output is the store itself", output)
	}
	return nil
}

// sameFile tells whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
