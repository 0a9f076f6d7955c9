//go:build linux || darwin

package main

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of a file, for this process alone or shared. It gives
// errBusy where another process holds it, and nil where the file system knows no
// locks.
func lock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return errBusy
	}
	return nil
}
