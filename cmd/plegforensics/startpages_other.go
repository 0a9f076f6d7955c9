//go:build !linux

package main

// dropProgramPages does nothing: other systems do not say which pages are unmodified.
func dropProgramPages() {}
