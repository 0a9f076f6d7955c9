package assign

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestContradicted checks that objects about the only node of an input are those of the kubelet that names none,
// unless what they say and what its lines say cannot both be of one kubelet.
func TestContradicted(t *testing.T) {
	const zero = int64(1_700_000_000)
	stamp := func(second int) parse.Stamp {
		return parse.Stamp{At: (zero + int64(second)) * 1e9, Basis: parse.Stated}
	}
	sig := func(id string) *parse.SigSet {
		return &parse.SigSet{Sigs: []*parse.Sig{{ID: id, Extract: func(msg string, dst []parse.Field) []parse.Field {
			for _, f := range strings.Split(msg, ",") {
				name, value, _ := strings.Cut(f, "=")
				dst = append(dst, parse.Field{Name: name, Value: value})
			}
			return dst
		}}}}
	}
	node := "Node kubelet_version=v1.28.0,runtime=containerd://1.7.2"
	condition := func(status string, from, beat int, message string) string {
		return fmt.Sprintf("NodeCondition@%d type=Ready,status=%s,heartbeat=%s,message=%s", from, status, time.Unix(zero+int64(beat), 0).UTC().Format(time.RFC3339), message)
	}
	event := func(at int, reason string) string {
		return fmt.Sprintf("Event@%d involved_kind=Node,involved_name=n9,component=kubelet,reason=%s", at, reason)
	}
	sick := parse.SigAge + "@300 age=4m0s,threshold=3m0s" // the relist began at 60
	for _, c := range []struct {
		name    string
		lines   string // "signature@second fields" by ";", besides one of each end of the log
		objects []string
		joined  bool
	}{
		{"nothing is known", "", []string{node}, true},
		{"the same versions", parse.SigVersion + "@0 version=v1.28.0-eks-1;" + parse.SigRuntime + "@0 name=containerd,version=v1.7.2", []string{node}, true},
		{"another version", parse.SigVersion + "@0 version=v1.27.4", []string{node}, false},
		{"one of two versions", parse.SigVersion + "@0 version=v1.27.4;" + parse.SigVersion + "@400 version=v1.28.0", []string{node}, true},
		{"another runtime", parse.SigRuntime + "@0 name=cri-o,version=1.7.2", []string{node}, false},
		{"ready before", sick, []string{node, condition("True", -900, 200, "")}, true},
		{"ready after", sick, []string{node, condition("True", 320, 500, "")}, true},
		{"ready within", sick, []string{node, condition("True", -900, 280, "")}, false},
		{"ready all the time", parse.SigAge + "@360 age=5m0s,threshold=3m0s", []string{node, condition("True", -900, 500, "")}, false},
		{"ready through a short one", parse.SigAge + "@290 age=3m50s,threshold=3m0s", []string{node, condition("True", -900, 500, "")}, true},
		{"became ready within", sick, []string{event(280, "NodeReady")}, false},
		{"became ready after", sick, []string{event(310, "NodeReady")}, true},
		{"the same relist", sick, []string{node, condition("False", 250, 280, "PLEG is not healthy: pleg was last seen active 3m40s ago; threshold is 3m0s")}, true},
		{"another relist", sick, []string{node, condition("False", 250, 280, "PLEG is not healthy: pleg was last seen active 3m20s ago; threshold is 3m0s")}, false},
		{"an older relist", sick, []string{node, condition("False", 250, 280, "PLEG is not healthy: pleg was last seen active 4m0s ago; threshold is 3m0s")}, false},
		{"the sync loop works", parse.SigSync + "@270 x=", []string{node, condition("False", 250, 280, "PLEG is not healthy: pleg was last seen active 3m40s ago; threshold is 3m0s")}, false},
		{"the sync loop works before", parse.SigSync + "@230 x=", []string{node, condition("False", 250, 280, "PLEG is not healthy: pleg was last seen active 3m40s ago; threshold is 3m0s")}, true},
		{"started since the relist", parse.SigVersion + "@100 version=v1.28.0", []string{node, condition("False", 250, 280, "PLEG is not healthy: pleg was last seen active 3m40s ago; threshold is 3m0s")}, false},
		{"started while the process ran", "", []string{event(250, "Starting")}, false},
		{"started before", "", []string{event(-250, "Starting")}, true},
	} {
		log, f := &parse.File{Path: "kubelet.log", Role: parse.RoleKubeletLog}, &parse.File{Path: "objects.json", Role: parse.RoleObjects}
		b := &parse.Bundle{Files: []*parse.File{log, f}}
		origin := &parse.Origin{Source: parse.SrcKubelet, PID: 4242}
		add := func(at int, id, text string) {
			kind := &parse.EventKind{File: log, Sigs: sig(id), Origin: origin, Headed: true}
			b.Events = append(b.Events, parse.NewEvent(kind, parse.PlainText(text), parse.Event{Line: uint32(len(b.Events) + 1), Stamp: stamp(at)}))
		}
		row := func(text string) (kind string, at int, rest string) {
			head, rest, _ := strings.Cut(text, " ")
			kind, second, _ := strings.Cut(head, "@")
			fmt.Sscan(second, &at)
			return kind, at, rest
		}
		add(0, "first", "")
		for _, l := range strings.Split(c.lines, ";") {
			if id, at, text := row(l); id != "" {
				add(at, id, text)
			}
		}
		add(600, "last", "")
		b.Coverage = []*parse.Coverage{{File: log, Origin: origin}}
		for _, o := range c.objects {
			kind, at, text := row(o)
			x := &parse.Object{Pos: parse.Pos{File: f, Line: 1}, Kind: kind, Name: "n9", Fields: sig("").Sigs[0].Extract(text, nil)}
			if kind != facts.ObjectNode {
				x.Stamp = stamp(at)
			}
			b.Objects = append(b.Objects, x)
		}
		nodes, _ := Split(b, 0, nil)
		joined := slices.ContainsFunc(nodes, func(n *host.Records) bool { return len(n.Events) > 0 && len(n.Objects) > 0 })
		if want := map[bool]int{true: 1, false: 2}[c.joined]; joined != c.joined || len(nodes) != want {
			t.Errorf("%s: %d nodes, joined %v", c.name, len(nodes), joined)
		}
	}
}
