//go:build !linux

package main

import "errors"

var errNoMount = errors.New("only on Linux")

func mount(string, string, string) error { return errNoMount }

func remountReadOnly(string) error { return errNoMount }

func unmount(string) error { return errNoMount }
