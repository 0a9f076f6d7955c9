package advice

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
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
	needs := slices.Concat(OfNode(n), OfBundle(b), []Need{Kubelet()})
	for _, runtime := range []string{"docker 20.10", "cri-o 1.30"} {
		n.Kubelet.Runtime = runtime
		needs = append(needs, OfNode(n)...)
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
