package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Source is one input.
type Source struct {
	Name   string
	Size   int64 // bytes as they come from Reader; 0 unknown
	Reader io.Reader
	// Found tells that the source was met in a folder: it need not hold
	// records at all.
	Found bool
	// waits tells that Reader may wait for ever, as a terminal does.
	waits bool
}

// StandardInput is the path that stands for standard input.
const StandardInput = "-"

// Open gives the sources that paths name: files, folders, or - for standard
// input. A folder stands for all regular files in it and in its folders, in
// the order of their names; files and folders whose name begins with a dot are
// passed over. Files are opened when they are read first and closed at their
// end; whether they can be read shows only then.
func Open(paths []string, stdin io.Reader) ([]Source, error) {
	var sources []Source
	used := false
	for _, path := range paths {
		if path == StandardInput {
			if used {
				return nil, errors.New("standard input is named twice")
			}
			used = true
			sources = append(sources, Source{Name: "standard input", Reader: stdin, waits: true})
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			sources = append(sources, fileSource(path, info))
			continue
		}
		files, err := walk(path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, files...)
	}
	return sources, nil
}

func fileSource(path string, info fs.FileInfo) Source {
	s := Source{Name: path, Reader: &lazyFile{path: path}}
	if info.Mode().IsRegular() {
		s.Size = info.Size()
	} else {
		s.waits = true
	}
	return s
}

// walk gives the regular files of a folder.
func walk(root string) ([]Source, error) {
	var sources []Source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s := fileSource(path, info)
		s.Found = true
		sources = append(sources, s)
		return nil
	})
	return sources, err
}

// lazyFile opens its file at the first Read and closes it at the end.
type lazyFile struct {
	path string
	file *os.File
	err  error // once it is closed
}

// Read implements io.Reader.
func (f *lazyFile) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.file == nil {
		if f.file, f.err = os.Open(f.path); f.err != nil {
			return 0, f.err
		}
	}
	n, err := f.file.Read(p)
	if err != nil {
		f.err = err
		_ = f.file.Close() // it was only read
	}
	return n, err
}

// Close implements io.Closer. The file cannot be read again.
func (f *lazyFile) Close() error {
	if f.err != nil {
		return nil //nolint:nilerr // it is closed already, or was never open
	}
	f.err = fs.ErrClosed
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// interruptible reads from a reader that may wait for ever, and gives up
// waiting when ctx ends. Reads wait in goroutines of their own; the last one
// stays behind until the reader gives something.
type interruptible struct {
	ctx    context.Context // it bounds Read, which has no parameter for it
	reader io.Reader
	buffer []byte
	ready  chan readResult
}

type readResult struct {
	n   int
	err error
}

func newInterruptible(ctx context.Context, r io.Reader) *interruptible {
	return &interruptible{ctx: ctx, reader: r, buffer: make([]byte, 64<<10), ready: make(chan readResult, 1)}
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	buffer := r.buffer[:min(len(p), len(r.buffer))]
	go func() {
		n, err := r.reader.Read(buffer)
		r.ready <- readResult{n, err}
	}()
	select {
	case got := <-r.ready:
		return copy(p, buffer[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// counter counts the bytes that pass, and keeps the error that ended them.
type counter struct {
	reader io.Reader
	count  func(n int)
	err    error // never io.EOF
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.count(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = fmt.Errorf("read: %w", err)
	}
	return n, err
}
