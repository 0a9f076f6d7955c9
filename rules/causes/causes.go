// Package causes holds the built-in cause definitions, one YAML file each.
// README.md beside it says how to add one; package rules reads them.
package causes

import "embed"

// Files are the definitions, named ID.yaml.
//
//go:embed *.yaml
var Files embed.FS

// Packed is what package nodes makes of Files, so that they need not be scanned
// at each start. After a change of a file "go generate ./..." makes it anew.
//
//go:generate go run ../../internal/cmd/packnodes .
//go:embed packed.bin
var Packed string
