//go:build unix && !aix && !solaris

package boltstore

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock that bbolt takes, so that the file can be read with
// care before bbolt maps it. bbolt then takes it once more through the same
// open file, which changes nothing.
func tryLock(file *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.EINTR):
			continue
		}
		return err == nil, err
	}
}

// unlock gives the lock back although a memory map still holds the file.
func unlock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
}
