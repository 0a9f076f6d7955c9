package advice

import (
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
