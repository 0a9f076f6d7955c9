// Package signatures holds the data files of the known log messages, one an
// area. Package logs documents their format and compiles them.
package signatures

import "embed"

// Files holds all files, at its root.
//
//go:embed *.yaml
var Files embed.FS
