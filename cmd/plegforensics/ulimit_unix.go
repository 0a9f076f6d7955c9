//go:build linux || darwin

package main

import (
	"fmt"
	"syscall"
)

// What the Go runtime needs of a process. It reserves addresses far ahead of the
// memory it uses, and dies with a stack trace where it gets none.
const (
	leastFiles     = 16
	leastAddresses = 2560 << 20
)

// tooLittle says which limit of the process (ulimit) is too low to run with, nil
// if none is.
func tooLittle() error {
	var n syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &n) == nil && n.Cur < leastFiles {
		return &exitError{exitNothing, fmt.Sprintf("the limit of open files (ulimit -n) is %d", n.Cur), fmt.Sprintf("at least %d are needed", leastFiles)}
	}
	if syscall.Getrlimit(syscall.RLIMIT_AS, &n) == nil && n.Cur < leastAddresses {
		return &exitError{exitNothing, fmt.Sprintf("the limit of addresses (ulimit -v) is %d MiB", n.Cur>>20),
			fmt.Sprintf("at least %d MiB are needed, of which little is used; a cgroup bounds what is used", leastAddresses>>20)}
	}
	return nil
}
