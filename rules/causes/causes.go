// Package causes holds the built-in cause definitions, one YAML file each.
// README.md beside it says how to add one; package rules reads them.
package causes

import "embed"

// Files are the definitions, named ID.yaml.
//
//go:embed *.yaml
var Files embed.FS
