package rules

import (
	"io/fs"
	"strings"

	"github.com/plegforensics/plegforensics/rules/causes"
)

// Builtin returns the pack of causes that the program ships. A mistake in one
// of its files is a programmer's mistake; the tests find it, and the problems
// are returned so that "rules check" shows them too.
func Builtin() (*Pack, []Problem) {
	p := &Pack{}
	var probs []Problem
	files, _ := fs.ReadDir(causes.Files, ".") // sorted by name
	for _, f := range files {
		data, err := causes.Files.ReadFile(f.Name())
		if err != nil {
			probs = append(probs, Problem{Place{f.Name(), 1}, err.Error(), ""})
			continue
		}
		defs, bad := Read("rules/causes/"+f.Name(), data)
		for _, d := range defs {
			if d.ID+".yaml" != f.Name() {
				bad = append(bad, Problem{d.Place, sprintf("cause %q does not match the file's name %s", d.ID, strings.TrimSuffix(f.Name(), ".yaml")), ""})
			}
		}
		p.Add(defs...)
		probs = append(probs, bad...)
	}
	return p, probs
}
