// Package ulimit ends the program where a limit of the process is too low to run
// with. It does so while packages are initialized, as some of those open files
// then, and the Go runtime dies with a stack trace where it gets none. It imports
// little, so that it comes before them.
package ulimit
