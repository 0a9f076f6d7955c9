//go:build linux || darwin

package main

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file, exclusively or shared. It returns errBusy if another process holds the lock,
// and nil if the file system does not support locks.
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
