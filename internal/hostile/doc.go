// Package hostile builds inputs that a careless reader would regret: archives with names
// and links that lead elsewhere, bombs, lying sizes, damage of every kind, and very many
// of something. It is a test tool; nothing of it is linked into the program.
//
// Most archives also hold a member with a readable log, so that a test can ask
// for what must survive.
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
	// Lines is how many lines of the readable log must be found at least.
	Lines int
	// Quiet says that nothing is wrong as such: no warning is asked for.
	Quiet bool
	// Large says that building or reading it takes seconds.
	Large bool
}

// large are parts of the names of archives that take seconds.
var large = []string{"bomb-", "members-", "600MiB"}

// LogLines is the number of lines of the readable log.
const LogLines = 500

// Log is the readable log: a kubelet's journal with a breach of PLEG in it.
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

// Cases returns the archives that are bent, in a fixed order.
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

// fixed is a case whose bytes are at hand.
func fixed(name string, lines int, build func() []byte) Case {
	return Case{Name: name, Lines: lines, Build: func(w io.Writer) error {
		_, err := w.Write(build())
		return err
	}}
}
