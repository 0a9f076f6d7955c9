package assign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestObjectsOfSeveral checks that events and pods of several nodes are each node's own, and that those of other
// nodes are not given to the log of a kubelet beside them.
func TestObjectsOfSeveral(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []string // "kind node"
		logged  bool     // beside the log of a kubelet that names no node
		want    string   // nodes with their number of objects
	}{
		{"events about one node", []string{"node-event n1", "node-event n1"}, false, "unknown 2"},
		{"events about several", []string{"node-event n1", "node-event n2", "node-event n1"}, false, "n1 2, n2 1"},
		{"events of pods on several", []string{"pod-event n1", "pod-event n2"}, false, "n1 1, n2 1"},
		{"beside a log, of one", []string{"node-event n1", "pod-event n1"}, true, "unknown 2"},
		{"beside a log, about several", []string{"node-event n1", "node-event n2"}, true, "n1 1, n2 1, unknown 0"},
		{"beside a log, pods of several", []string{"Pod n1", "Pod n2"}, true, "unknown 0"},
		{"beside a log, pods of several and one node", []string{"Pod n1", "Pod n2", "node-event n1"}, true, "unknown 2"},
	} {
		f, log := &parse.File{Path: "events.json", Role: parse.RoleObjects}, &parse.File{Path: "kubelet.log"}
		b := &parse.Bundle{Files: []*parse.File{f}}
		for _, o := range c.objects {
			kind, node, _ := strings.Cut(o, " ")
			fields := map[string][]parse.Field{
				"node-event": {{Name: "involved_kind", Value: "Node"}, {Name: "involved_name", Value: node}},
				"pod-event":  {{Name: "involved_kind", Value: "Pod"}, {Name: "involved_name", Value: "web-0"}, {Name: "host", Value: node}},
				"Pod":        {{Name: "node", Value: node}},
			}[kind]
			if kind != facts.ObjectPod {
				kind = facts.ObjectEvent
			}
			b.Objects = append(b.Objects, &parse.Object{Pos: parse.Pos{File: f, Line: 1}, Kind: kind, Name: "x", Fields: fields})
		}
		if c.logged {
			kind := &parse.EventKind{File: log, Sigs: &parse.SigSet{}, Origin: &parse.Origin{Source: parse.SrcKubelet, PID: 4242}, Headed: true}
			b.Files = append(b.Files, log)
			b.Coverage = []*parse.Coverage{{File: log, Origin: kind.Origin}}
			b.Events = []*parse.Event{parse.NewEvent(kind, parse.PlainText("x"), parse.Event{Line: 1, Stamp: parse.Stamp{At: 1e9, Basis: parse.Stated}})}
		}
		if text := splitOf(b, 0, func(n *host.Records) string { return fmt.Sprintf("%s %d", n.Name, len(n.Objects)) }); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
