package trial

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

// TestLessIsNoSurer tests that no cause of a test case becomes likely when a fact, a line
// or all lines of a signature are removed.
func TestLessIsNoSurer(t *testing.T) {
	pack, _ := rules.Builtin()
	set := logs.Builtin()
	conf := func(c *rules.TestCase) map[string]float64 {
		out := map[string]float64{}
		for _, x := range Eval(c, pack, set) {
			if x.Kind != rules.KindLookAlike {
				out[x.ID] = x.Confidence
			}
		}
		return out
	}
	// Stack lines mean the same without the preceding line that names their task.
	headless := map[string]string{
		"storage-block-hang: the journal of a device that is replicated over the network": "kernel-fs-hang",
		"kubelet-start-failed: a later start succeeds":                                    "kubelet-start-failed", // a log that ends before it has a kubelet that does not run
	}
	tried := 0
	for _, d := range pack.Causes {
		for i := range d.Tests {
			c := &d.Tests[i]
			whole, name := conf(c), d.ID+": "+c.Name
			for what, part := range parts(c, set) {
				tried++
				for id, p := range conf(part) {
					if p >= .5 && whole[id] < .5 && headless[name] != id {
						t.Errorf("%s, without %s: %s %.2f, whole %.2f", name, what, id, p, whole[id])
					}
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d parts", tried)
	}
}

// parts returns reduced test cases: without one fact, one line, or the lines of one
// signature.
func parts(c *rules.TestCase, set *logs.Set) map[string]*rules.TestCase {
	out := map[string]*rules.TestCase{}
	for k, f := range c.Facts {
		part := *c
		part.Facts = slices.Delete(slices.Clone(c.Facts), k, k+1)
		out[fmt.Sprintf("fact %s %s", f.Key, f.Value)] = &part
	}
	without := func(gone func(file string, line int) bool) *rules.TestCase {
		part := *c
		part.Files = nil
		for _, f := range c.Files {
			text, n := "", 0
			for l := range strings.Lines(f.Text) {
				if n++; !gone(f.Name, n) {
					text += l
				}
			}
			if text != "" {
				part.Files = append(part.Files, rules.TestFile{Name: f.Name, Text: text})
			}
		}
		return &part
	}
	for _, f := range c.Files {
		for n := range strings.Count(f.Text, "\n") {
			out[fmt.Sprintf("line %d of %s", n+1, f.Name)] = without(func(file string, line int) bool { return file == f.Name && line == n+1 })
		}
	}
	of := map[string][]parse.Pos{} // by signature
	for _, e := range Bundle(c, set).Events {
		for _, g := range e.Sigs.Sigs {
			of[g.ID] = append(of[g.ID], e.Where())
		}
	}
	for id, at := range of {
		out["all "+id] = without(func(file string, line int) bool {
			return slices.ContainsFunc(at, func(p parse.Pos) bool { return p.File.Path == file && int(p.Line) == line })
		})
	}
	return out
}
