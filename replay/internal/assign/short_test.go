package assign

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// splitOf says how a bundle is split into nodes, of which at most most are kept if that is not 0: what of says of each,
// sorted.
func splitOf(b *parse.Bundle, most int, of func(n *host.Records) string) string {
	nodes, _ := Split(b, most, nil)
	var out []string
	for _, n := range nodes {
		out = append(out, of(n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func nameOnly(n *host.Records) string { return n.Name }

// TestShortNames checks that a short host name is joined to the one full name that begins with it, unless both
// kubelets ran at the same time.
func TestShortNames(t *testing.T) {
	const minute = int64(60e9)
	for _, c := range []struct {
		name  string
		hosts []string
		pids  []int
		want  string
	}{
		{"short and full", []string{"n1", "n1.a.example"}, []int{11, 11}, "n1"},
		{"a log without process IDs", []string{"n1", "n1.a.example"}, []int{11, 0}, "n1"},
		{"beside each other", []string{"n1", "n1.a.example"}, []int{11, 22}, "n1, n1.a.example"},
		{"short for two", []string{"n1", "n1.a.example", "n1.b.example"}, []int{11, 11, 11}, "n1, n1.a.example, n1.b.example"},
		{"two full ones", []string{"n1.a.example", "n1.b.example"}, []int{11, 22}, "n1.a.example, n1.b.example"},
	} {
		b := &parse.Bundle{}
		for i, h := range c.hosts {
			f := &parse.File{Path: h}
			kind := &parse.EventKind{File: f, Sigs: &parse.SigSet{}, Origin: &parse.Origin{Source: parse.SrcKubelet, Host: h, PID: c.pids[i]}, Headed: true}
			b.Files = append(b.Files, f)
			b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: kind.Origin})
			for m := range int64(5) {
				b.Events = append(b.Events, parse.NewEvent(kind, parse.PlainText("x"), parse.Event{Line: uint32(m + 1), Stamp: parse.Stamp{At: (m + 1) * minute, Basis: parse.Stated}}))
			}
		}
		if text := splitOf(b, 0, nameOnly); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestOtherHost checks that the log of another program belongs to the kubelet's node unless its host is another one
// than that of the kubelet's log.
func TestOtherHost(t *testing.T) {
	for _, c := range []struct{ name, kubelet, other, want string }{
		{"the same", "n1", "n1.example.com", "n1"},
		{"a log of the kubelet without hosts", "", "n1", "n1"},
		{"not yet named", "n1", "localhost", "n1"},
		{"another", "n1", "n2", "n1, n2"},
	} {
		b := &parse.Bundle{}
		for i, o := range []*parse.Origin{{Source: parse.SrcKubelet, Host: c.kubelet, PID: 11}, {Source: parse.SrcContainerd, Host: c.other, PID: 22}} {
			f := &parse.File{Path: string(rune('a' + i))}
			kind := &parse.EventKind{File: f, Sigs: &parse.SigSet{}, Origin: o, Headed: true}
			b.Files = append(b.Files, f)
			b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: o})
			b.Events = append(b.Events, parse.NewEvent(kind, parse.PlainText("x"), parse.Event{Line: 1, Stamp: parse.Stamp{At: 1e9, Basis: parse.Stated}}))
		}
		if text := splitOf(b, 0, nameOnly); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
