// Package hostile generates inputs that would harm a careless reader: archives with names and links
// that point elsewhere, bombs, false sizes, damage of every kind, and very many of something. It is
// for tests; the program is not linked with it. Time grows with the size of an input, so those of many
// lines have at most some 300 MB.
//
// Most archives also contain a readable log, so that a test can check that it survives.
package hostile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Case is one input.
type Case struct {
	Name  string // file name, unique
	Build func(w io.Writer) error
	// Lines is the minimum number of lines of the readable log that must be found.
	Lines int
	// Quiet says that nothing is really wrong, so no warning is required.
	Quiet bool
	// Large says that building or reading it takes seconds.
	Large bool
}

// large are parts of the names of archives that take seconds.
var large = []string{"bomb-", "members-", "600MiB"}

// LogLines is the number of lines of the readable log.
const LogLines = 500

// Log returns the readable log: a kubelet's journal with a PLEG breach.
func Log() []byte {
	var b bytes.Buffer
	for i := range LogLines {
		fmt.Fprintf(&b, "Mar 13 15:%02d:%02d.%06d node-1 kubelet[812]: ", 10+i/60, i%60, 1000+i)
		fmt.Fprintf(&b, "I0313 15:%02d:%02d.%06d     812 ", 10+i/60, i%60, 500+i)
		if i%50 == 49 {
			fmt.Fprintf(&b, "kubelet.go:1823] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m%d.5s ago; threshold is 3m0s]\n", i%60)
			continue
		}
		fmt.Fprintf(&b, "reconciler.go:%d] \"operationExecutor.VerifyControllerAttachedVolume started\" volume=%d\n", 200+i%7, i)
	}
	return b.Bytes()
}

// All returns all inputs in a fixed order.
func All() []Case { return slices.Concat(Cases(), Many(), Lines()) }

// Cases returns the malformed archives in a fixed order.
func Cases() []Case {
	var out []Case
	for _, group := range []func() []Case{tarCases, bombCases, zipCases, damageCases, nestCases, truncationCases} {
		out = append(out, group()...)
	}
	for i := range out {
		out[i].Large = slices.ContainsFunc(large, func(s string) bool { return strings.Contains(out[i].Name, s) })
	}
	return out
}

// fixed returns a case with the bytes of build.
func fixed(name string, lines int, build func() []byte) Case {
	return Case{Name: name, Lines: lines, Build: func(w io.Writer) error {
		_, err := w.Write(build())
		return err
	}}
}
