// Package signatures holds the data files of the known log messages, one file per
// area. Package logs documents their format and compiles them.
package signatures

import "embed"

// Files holds all signature files, at its root.
//
//go:embed *.yaml
var Files embed.FS

// Quiet holds lines of the kinds that make up most of a log and mean nothing here.
// They tell the literal filter which substrings are common. A missing kind costs
// only time.
//
//go:embed quiet.txt
var Quiet string

// Packed is the parsed form of Files, written by internal/nodes, so that they need
// not be scanned at each start. After changing a file, regenerate it with
// "go generate ./...".
//
//go:generate go run ../../../internal/cmd/packnodes .
//go:embed packed.bin
var Packed string
