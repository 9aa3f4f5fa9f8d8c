package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// socketPath names the socket of the server that has a store open.
func socketPath(db string) (string, error) {
	// Whatever link the store is reached by, the socket is beside the file.
	db, err := filepath.EvalSymlinks(db)
	if err != nil {
		return "", err
	}
	return db + ".sock", nil
}

// socketListener listens on a socket beside a store.
type socketListener struct {
	net.Listener
	path string
}

// listenBeside makes the socket of a store that this process has locked. So
// one that is there was left behind by a process that was killed, and is
// replaced.
func listenBeside(db string) (*socketListener, error) {
	path, err := socketPath(db)
	if err != nil {
		return nil, err
	}
	// A socket is made with the mode that the umask leaves. In a folder of our
	// own nobody can connect before it has the right one.
	folder, err := os.MkdirTemp(filepath.Dir(path), ".incidentgraph-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // empty by then
	draft := filepath.Join(folder, "s")
	var listener *net.UnixListener
	err = withShortPath(draft, func(short string) (err error) {
		listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // it knows another name
	if err := errors.Join(os.Chmod(draft, privateMode), os.Rename(draft, path)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &socketListener{listener, path}, nil
}

// Close removes the socket. The store must still be locked: without the lock
// it could be another process's socket.
func (l *socketListener) Close() error {
	return errors.Join(os.Remove(l.path), l.Listener.Close())
}

// dialBeside connects to the server that has a store open.
func dialBeside(db string) (conn net.Conn, err error) {
	path, err := socketPath(db)
	if err != nil {
		return nil, err
	}
	err = withShortPath(path, func(short string) (err error) {
		conn, err = net.Dial("unix", short) //nolint:noctx // a local socket answers at once or not at all
		return err
	})
	return conn, err
}

// maxSocketPath is the longest name that a socket can be given everywhere.
const maxSocketPath = 100

// withShortPath calls f with a path that is short enough for a socket and
// leads to the same place.
func withShortPath(path string, f func(short string) error) error {
	if len(path) <= maxSocketPath || runtime.GOOS != "linux" {
		return f(path)
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // only looked at
	return f(filepath.Join("/proc/self/fd", strconv.Itoa(int(folder.Fd())), filepath.Base(path)))
}
