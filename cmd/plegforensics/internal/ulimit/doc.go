// Package ulimit exits the program if a resource limit of the process is too low to run with. It
// does so during package initialization, because some packages open files then, and the Go runtime
// crashes with a stack trace if it cannot. It imports little, so that it is initialized before
// them.
package ulimit
