package rules

import (
	"fmt"
	"strings"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/rules/causes"
)

// builtinDir is the directory of the built-in definitions.
const builtinDir = "rules/causes/"

// Builtin returns the built-in causes. A mistake in one of their files is a programming
// error that the tests catch; the problems are returned so that "rules check" shows them
// too.
func Builtin() (*Pack, []Problem) {
	p := &Pack{}
	files, err := nodes.Load(causes.Files, causes.Packed)
	if err != nil {
		return p, []Problem{{Place{"rules/causes", 1}, err.Error(), ""}}
	}
	var all []*Def
	var probs []Problem
	for _, f := range files {
		name := f.Name
		f.Name = builtinDir + name
		held, bad := read(f, true)
		defs := held.Defs
		for _, d := range defs {
			if d.ID+".yaml" != name {
				bad = append(bad, Problem{d.Place, fmt.Sprintf("cause %q does not match the file's name %s", d.ID, strings.TrimSuffix(name, ".yaml")), ""})
			}
		}
		all = append(all, defs...)
		probs = append(probs, bad...)
	}
	p.Add(all...)
	return p, probs
}
