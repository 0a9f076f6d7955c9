// Package signatures holds the data files of the known log messages, one an
// area. Package logs documents their format and compiles them.
package signatures

import "embed"

// Files holds all files, at its root.
//
//go:embed *.yaml
var Files embed.FS

// Quiet holds lines of the kinds that make up most of a log and mean nothing
// here, so that the search for the others can tell what is common. A kind that
// is missing costs time and nothing else.
//
//go:embed quiet.txt
var Quiet string

// Packed is what package nodes makes of Files, so that they need not be scanned
// at each start. After a change of a file "go generate ./..." makes it anew.
//
//go:generate go run ../../../internal/cmd/packnodes .
//go:embed packed.bin
var Packed string
