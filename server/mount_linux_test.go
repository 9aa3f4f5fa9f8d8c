package main

import "syscall"

func mount(kind, dir, options string) error { return syscall.Mount(kind, dir, kind, 0, options) }

func remountReadOnly(dir string) error {
	return syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

func unmount(dir string) error { return syscall.Unmount(dir, 0) }
