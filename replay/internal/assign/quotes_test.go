package assign

import (
	"fmt"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestQuotes checks that lines in which other programs repeat what a kubelet writes are left out beside the lines of
// the node's kubelet, and that nothing else is.
func TestQuotes(t *testing.T) {
	kubelet := parse.Origin{Source: parse.SrcKubelet, PID: 4242, Ident: "kubelet"}
	of := func(id string, from ...parse.Source) *parse.Sig {
		return &parse.Sig{ID: id, Sources: from, Extract: func(msg string, dst []parse.Field) []parse.Field { return dst }}
	}
	list, age, event := of(parse.SigListFail, parse.SrcKubelet), of(parse.SigAge), of(parse.SigNodeEvent)
	for _, c := range []struct {
		name   string
		own    parse.Origin
		by     parse.Origin
		sig    *parse.Sig
		caller string
		text   string
		headed bool
		kept   bool
		other  bool // in another file, with a time
	}{
		{"a log shipper", kubelet, parse.Origin{Source: parse.SrcSystem, Ident: "vector"}, list, "", "x", false, false, false},
		{"an alert", kubelet, parse.Origin{Source: parse.SrcSystem, Ident: "alertbot"}, age, "", "x", false, false, false},
		{"the runtime", kubelet, parse.Origin{Source: parse.SrcDockerd, Ident: "dockerd"}, age, "", "x", true, false, false},
		{"a program without a name", kubelet, parse.Origin{}, age, "", "x", true, false, false},
		{"a line without any writer", kubelet, parse.Origin{}, age, "", "x", false, true, false},
		{"a line without any writer in another log", kubelet, parse.Origin{}, age, "", "x", false, false, true},
		{"a row of events", kubelet, parse.Origin{Source: parse.SrcKubeEvents}, age, "", "x", false, true, false},
		{"a condition of the node", kubelet, parse.Origin{Ident: parse.IdentAbout}, age, "", "x", true, true, false},
		{"the same program", parse.Origin{Source: parse.SrcKubelet, PID: 4242, Ident: "k3s"}, parse.Origin{Source: parse.SrcSystem, Ident: "k3s"}, list, "", "x", false, true, false},
		{"what was once part of the kubelet", kubelet, parse.Origin{Source: parse.SrcSystem, Ident: "cri-dockerd"}, list, "", "x", false, true, false},
		{"a message that the runtime writes, too", kubelet, parse.Origin{Source: parse.SrcDockerd, Ident: "dockerd"}, of("x", parse.SrcKubelet, parse.SrcDockerd), "", "x", true, true, false},
		{"the node controller", kubelet, parse.Origin{Source: parse.SrcSystem, Ident: "kube-controller-manager"}, event, "controller_utils.go:130", "x", true, true, false},
		{"an event as it is", kubelet, parse.Origin{Source: parse.SrcSystem, Ident: "eventrouter"}, event, "", "Node n1 status is now: NodeNotReady", false, true, false},
		{"an event in a command", kubelet, parse.Origin{Source: parse.SrcSystem, Ident: "sudo"}, event, "", "COMMAND=grep Recording", false, false, false},
		{"no kubelet beside it", parse.Origin{Source: parse.SrcContainerd}, parse.Origin{Source: parse.SrcSystem, Ident: "node-agent"}, age, "", "x", false, true, false},
	} {
		f := &parse.File{Path: "messages"}
		b := &parse.Bundle{Files: []*parse.File{f}, Coverage: []*parse.Coverage{{File: f, Origin: &c.own}, {File: f, Origin: &c.by}}}
		in := f
		if c.other {
			in = &parse.File{Path: "other"}
			b.Files, b.Coverage[1].File = append(b.Files, in), in
		}
		for i, k := range []*parse.EventKind{
			{File: f, Sigs: &parse.SigSet{Sigs: []*parse.Sig{age}}, Origin: &c.own, Headed: true},
			{File: in, Sigs: &parse.SigSet{Sigs: []*parse.Sig{c.sig}}, Origin: &c.by, Headed: c.headed, Caller: c.caller},
		} {
			b.Events = append(b.Events, parse.NewEvent(k, parse.PlainText(c.text), parse.Event{Line: uint32(i + 1), Stamp: parse.Stamp{At: int64(i+1) * 1e9, Basis: parse.Stated}}))
		}
		want := "1 and 1"
		if c.kept {
			want = "2 and 0"
		}
		if text := splitOf(b, 0, func(n *host.Records) string { return fmt.Sprint(len(n.Events), " and ", len(b.Warnings)) }); text != want {
			t.Errorf("%s: lines and notes are %s, want %s", c.name, text, want)
		}
	}
}
