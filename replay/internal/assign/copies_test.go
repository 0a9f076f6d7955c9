package assign

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestTwoForms checks that a log under its host's name and one of which nearly all lines are the same, under the
// node's name, are of one node, and clones of a machine are not.
func TestTwoForms(t *testing.T) {
	const minute = int64(60e9)
	for _, c := range []struct {
		name   string
		hosts  [2]string
		node   string // that the kubelet of the second log names
		pids   [2]int
		copies int // lines of the first log, of 40, that only the second keeps
		third  bool
		want   string
	}{
		{"the same lines", [2]string{"h1", ""}, "n1", [2]int{11, 11}, 40, false, "n1"},
		{"nearly the same", [2]string{"h1", ""}, "n1", [2]int{11, 11}, 39, false, "n1"},
		{"half of them", [2]string{"h1", ""}, "n1", [2]int{11, 11}, 20, false, "h1, n1"},
		{"two hosts", [2]string{"h1", "h2"}, "n1", [2]int{11, 11}, 40, false, "h1, n1"},
		{"processes beside each other", [2]string{"h1", ""}, "n1", [2]int{11, 12}, 39, false, "h1, n1"},
		{"held by a third log", [2]string{"h1", ""}, "n1", [2]int{11, 11}, 40, true, "h1, h3, n1"},
	} {
		b := &parse.Bundle{Copies: map[*parse.File]int{}}
		sigs := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNodeEvent, Extract: func(msg string, dst []parse.Field) []parse.Field {
			return append(dst, parse.Field{Name: "node", Value: msg})
		}}}}
		add := func(path, host, node string, pid, kept int) parse.Writer {
			w := parse.Writer{File: &parse.File{Path: path, Role: parse.RoleKubeletLog}, Origin: &parse.Origin{Source: parse.SrcKubelet, Host: host, PID: pid}}
			kind := &parse.EventKind{File: w.File, Sigs: sigs, Origin: w.Origin, Headed: true}
			at := func(i int) parse.Stamp { return parse.Stamp{At: int64(i+1) * minute, Basis: parse.Stated} }
			b.Files = append(b.Files, w.File)
			b.Coverage = append(b.Coverage, &parse.Coverage{File: w.File, Origin: w.Origin, FirstLine: parse.Mark{Stamp: at(0)}, LastLine: parse.Mark{Stamp: at(39)}})
			for i := range kept {
				b.Events = append(b.Events, parse.NewEvent(kind, parse.PlainText(node), parse.Event{Line: uint32(i + 1), Stamp: at(i)}))
			}
			return w
		}
		first := add("messages", c.hosts[0], "", c.pids[0], 40-c.copies)
		second := add("kubelet.log", c.hosts[1], c.node, c.pids[1], 40)
		b.Copies[first.File] = c.copies
		b.Same = []parse.SameLines{{From: first, Of: second}}
		if c.third {
			b.Same = append(b.Same, parse.SameLines{From: add("third", "h3", "", 11, 1), Of: second})
		}
		if text := splitOf(b, 0, nameOnly); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
