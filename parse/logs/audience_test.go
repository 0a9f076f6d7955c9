package logs

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// everySource lists all sources that a line may have, and an unknown one.
var everySource = []parse.Source{parse.SrcUnknown, parse.SrcKubelet, parse.SrcCRIO, parse.SrcContainerd, parse.SrcDockerd, parse.SrcPodman,
	parse.SrcKernel, parse.SrcSystemd, parse.SrcCNI, parse.SrcSystem, parse.SrcKubeEvents, parse.SrcMetrics, parse.SrcFacts, parse.SrcStack, "new"}

// TestAudienceLiterals places each literal at each position of a line from each
// source. It must be found where its signature admits the source and nowhere else,
// whatever surrounds the message.
func TestAudienceLiterals(t *testing.T) {
	set := builtin(t)
	bit := func(picked []uint64, i int32) bool { return picked[i>>6]>>(i&63)&1 != 0 }
	for _, src := range everySource {
		f := set.filterOf(src)
		for i, e := range set.entries {
			for _, text := range e.Literals {
				want := e.admits(src)
				for before := range filterStep {
					for _, after := range []int{0, 1, filterStep, filterBlock} {
						room := []byte(strings.Repeat("~", before) + text + strings.Repeat("~", after) + text + strings.Repeat("~", filterBlock))
						msg := room[:before+len(text)+after]
						for _, msg := range [][]byte{msg, msg[:len(msg):len(msg)]} {
							picked := make([]uint64, set.words)
							f.pick(msg, picked)
							if bit(picked, int32(i)) != want {
								t.Fatalf("%s: %q of line %d: picked %v, want %v, %d bytes before, %d after", src, text, e.Line, !want, want, before, after)
							}
						}
						if cut := room[before+1:][:len(text)-1]; string(cut) == text[1:] && f.finds(cut) && !hasLiteral(set, src, cut) {
							t.Fatalf("%s: found in %q", src, cut)
						}
					}
				}
			}
		}
	}
}

// hasLiteral is MatchAny, implemented literal by literal.
func hasLiteral(set *Set, src parse.Source, msg []byte) bool {
	for _, e := range set.entries {
		for _, l := range e.Literals {
			if e.admits(src) && contains(msg, l, e.Fold) {
				return true
			}
		}
	}
	return false
}

// TestAudience checks the filter of each source against a search for each literal,
// on mixes of samples in one buffer.
func TestAudience(t *testing.T) {
	set := builtin(t)
	m := newMixer(set, 23)
	for range 150 {
		lines := [][]byte{[]byte(m.mix()), []byte(m.mix()), []byte(m.mix())}
		for _, msg := range sideBySide(lines) {
			for _, src := range everySource {
				if got, want := set.MatchAny(src, msg), hasLiteral(set, src, msg); got != want {
					t.Fatalf("%q: found %v, want %v: %s", src, got, want, msg)
				}
			}
		}
	}
}
