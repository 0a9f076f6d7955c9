package advice

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// TestJournalCommands wants the log of the runtime asked for with the tool of
// the collector that made the bundle.
func TestJournalCommands(t *testing.T) {
	for layout, want := range map[string]string{
		"must-gather":   "oc adm node-logs n1 -u crio > crio.log",
		"talos-support": "talosctl -n n1 logs cri > crio.log",
		"kind-export":   "docker exec n1 journalctl -u crio -o short-precise --utc --no-pager > crio.log",
		"sosreport":     "journalctl -u crio -o short-precise --utc --no-pager > crio.log",
	} {
		n := new(replay.Node)
		n.Coverage = []*parse.Coverage{{File: &parse.File{Layout: layout}}}
		h := holding{layout: layoutOf(n), name: "n1"}
		if got := h.journal("crio", "crio.log"); got != want {
			t.Errorf("%s: %s, want %s", layout, got, want)
		}
	}
}

// TestNeedsAreCommands wants what is asked for collected by programs: an
// instruction stands in a comment behind one.
func TestNeedsAreCommands(t *testing.T) {
	programs := []string{"awk", "cat", "date", "docker", "for", "head", "journalctl", "kill", "kubectl", "ps", "systemctl", "timedatectl", "timeout"}
	n := new(replay.Node)
	n.Have = map[parse.Source]bool{parse.SrcKubelet: true}
	b := &parse.Bundle{Events: []*parse.Event{{Stamp: parse.Stamp{Basis: parse.ZoneGuessed}}, {Stamp: parse.Stamp{Basis: parse.YearGuessed}}},
		Markers: []*parse.Marker{{Kind: parse.MarkSuppressed}, {Kind: parse.MarkNull}}}
	needs := slices.Concat(OfNode(n, nil, Commands{}), OfBundle(b), []Need{Kubelet()})
	for _, runtime := range []string{"docker 20.10", "cri-o 1.30"} {
		n.Kubelet.Runtime = runtime
		needs = append(needs, OfNode(n, nil, Commands{})...)
	}
	if len(needs) < 20 {
		t.Errorf("%d needs of a node that lacks nearly all", len(needs))
	}
	for _, x := range needs {
		if word, _, _ := strings.Cut(x.Command, " "); !slices.Contains(programs, word) {
			t.Errorf("%s: %q begins with no program", x.What, x.Command)
		}
	}
}

// TestAskedOnce: what the cause and the node both lack is listed once, under one id, in
// one text, with the command for the incident; what the cause asks for comes first.
func TestAskedOnce(t *testing.T) {
	pack, problems := rules.Builtin()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	n := new(replay.Node)
	n.Name, n.Have = "n1", map[parse.Source]bool{parse.SrcKubelet: true}
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC).UnixNano()
	n.Window = replay.Window{Start: at, End: at + int64(time.Hour)}
	for _, d := range pack.Causes {
		needs := OfNode(n, &rules.Result{Causes: []rules.Cause{{ID: d.ID, Missing: d.Missing}}}, CommandsFor(n, nil))
		seen := map[string]bool{}
		for i, x := range needs {
			if x.ID == "" || seen[x.ID] || seen[x.What] {
				t.Errorf("%s: %s (%s) is asked for twice", d.ID, x.What, x.ID)
			}
			seen[x.ID], seen[x.What] = true, true
			if i < len(d.Missing) && x.Command == "" {
				t.Errorf("%s: nothing collects %s", d.ID, x.What)
			}
			if strings.Contains(x.Command, "NODE") || strings.Contains(x.Command, "--since -1h") || strings.Contains(x.Command, "TIME") {
				t.Errorf("%s: left open: %s", d.ID, x.Command)
			}
		}
	}
}

// TestFill: what the input tells stands in a command, and nothing of a hostile name.
func TestFill(t *testing.T) {
	n := new(replay.Node)
	n.Kubelet.Runtime = "cri-o 1.30"
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC).UnixNano()
	n.Window = replay.Window{Start: at, End: at + int64(time.Hour)}
	for name, want := range map[string]string{
		"unknown":   "kubectl get --raw /api/v1/nodes/NODE/proxy/metrics",
		"n1":        "kubectl get --raw /api/v1/nodes/n1/proxy/metrics",
		"$(reboot)": "kubectl get --raw /api/v1/nodes/NODE/proxy/metrics",
	} {
		n.Name = name
		if got := CommandsFor(n, nil).Fill("kubectl get --raw /api/v1/nodes/NODE/proxy/metrics"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	const want = "journalctl -u crio --since '2026-03-04 09:50:00 UTC' --until '2026-03-04 11:05:00 UTC' --no-pager"
	if got := CommandsFor(n, nil).Fill("journalctl -u containerd -u crio -u docker --since -1h --no-pager"); got != want {
		t.Error(got)
	}
}
