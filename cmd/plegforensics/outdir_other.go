//go:build !linux && !darwin

package main

import "os"

// lock does nothing: file locks are not supported here.
func lock(*os.File, bool) error { return nil }
