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

// TestJournalCommands: the runtime log is requested with the tool that goes with the collector of
// the bundle.
func TestJournalCommands(t *testing.T) {
	for layout, want := range map[string]string{
		"must-gather":   "oc adm node-logs n1 -u crio > runtime.log",
		"talos-support": "talosctl -n n1 logs cri > runtime.log",
		"kind-export":   "docker exec n1 journalctl -u crio -o short-precise --utc --no-pager > runtime.log",
		"sosreport":     "journalctl -u crio -o short-precise --utc --no-pager > runtime.log",
	} {
		n := new(replay.Node)
		n.Name, n.Kubelet.Runtime = "n1", "cri-o 1.30"
		n.Coverage = []*parse.Coverage{{File: &parse.File{Layout: layout}, Origin: new(parse.Origin)}}
		if got := command(n, "runtime-log"); got != want {
			t.Errorf("%s: %s, want %s", layout, got, want)
		}
	}
}

// command returns the command that collects an input of a node, "" if that is not needed.
func command(n *replay.Node, id string) string {
	for _, x := range OfNode(n, nil, CommandsFor(n, nil)) {
		if x.ID == id {
			return x.Command
		}
	}
	return ""
}

// TestNothingGuessed: a command contains no time if nothing dates the incident, no runtime if
// nothing states it, and the time that its sentence mentions.
func TestNothingGuessed(t *testing.T) {
	n := new(replay.Node)
	n.Name, n.Have = "unknown", map[parse.Source]bool{parse.SrcKubelet: true}
	n.Episodes = []replay.Episode{{ID: 1}} // as proven by an undated line
	pack, _ := rules.Builtin()
	for _, d := range pack.Causes {
		run := CommandsFor(n, nil)
		for _, x := range OfNode(n, &rules.Result{Causes: []rules.Cause{{ID: d.ID, Missing: d.Missing}}}, run) {
			if strings.Contains(x.Command, "--since -") || strings.Contains(x.Command, "--since=") || strings.Contains(x.Command, "TIME") || strings.Contains(x.Command, "19") {
				t.Errorf("%s: a time that nothing dates: %s", d.ID, x.Command)
			}
			if c := x.Command; strings.Contains(c, "-u containerd") && !strings.Contains(c, "-u crio") && d.ID != "cni-lock-status-hang" {
				t.Errorf("%s: a runtime that nothing states: %s", d.ID, c)
			}
		}
	}
	if got, want := command(n, "runtime-stacks"), "kill -USR1 $(pidof containerd crio dockerd); sleep 5; { journalctl -u containerd -u crio -u docker --since '1min ago' --no-pager; cat /tmp/crio-goroutine-stacks-*.log /var/run/docker/goroutine-stacks-*.log; } > stacks.log"; got != want {
		t.Error(got)
	}
	for runtime, want := range map[string]string{
		"containerd 1.7.2": "kill -USR1 $(pidof containerd); sleep 5; journalctl -u containerd --since '1min ago' --no-pager > stacks.log",
		"cri-o 1.28.1":     "kill -USR1 $(pidof crio); sleep 5; cat /tmp/crio-goroutine-stacks-*.log > stacks.log",
		"docker 20.10.7":   "kill -USR1 $(pidof dockerd); sleep 5; cat /var/run/docker/goroutine-stacks-*.log > stacks.log",
	} {
		n.Kubelet.Runtime = runtime
		if got := command(n, "runtime-stacks"); got != want {
			t.Errorf("%s: %s", runtime, got)
		}
	}
	n.Kubelet.Runtime = ""

	if got := command(n, "metrics"); !strings.HasPrefix(got, "kubectl get nodes; read -r node; for i in 1 2; do ") || !strings.HasSuffix(got, "; sleep 60; done") {
		t.Errorf("two snapshots, a minute apart: %s", got)
	}

	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC).UnixNano()
	n.Window = replay.Window{Start: at, End: at + int64(time.Hour), Lines: replay.Span{From: at, To: at + int64(time.Hour)}}
	n.Episodes[0] = replay.Episode{ID: 1, LastStart: replay.Instant{At: at}, Breach: at + int64(3*time.Minute), LastReport: at + int64(time.Hour)}
	const want = "journalctl -u kubelet -o short-precise --utc --since '2026-03-04 09:50:00 UTC' --until '2026-03-04 11:05:00 UTC' --no-pager > kubelet-before.log"
	if got := command(n, "kubelet-log-before"); got != want {
		t.Error(got)
	}
}

// TestNeedsAreCommands: every need is collected by a program; instructions are in a comment after
// it.
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

// TestAskedOnce: what both the cause and the node lack is listed once, with one ID and text and the
// command for the incident; what the cause lacks comes first.
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

// TestUndatedNeeds: if no line has a time, no command contains one.
func TestUndatedNeeds(t *testing.T) {
	n := new(replay.Node)
	n.Have = map[parse.Source]bool{parse.SrcKubelet: true}
	n.Episodes = []replay.Episode{{Reports: 1}}
	pack, _ := rules.Builtin()
	for _, d := range pack.Causes {
		for _, x := range OfNode(n, &rules.Result{Causes: []rules.Cause{{ID: d.ID, Missing: d.Missing}}}, CommandsFor(n, nil)) {
			if x.ID == "kubelet-log-before" && strings.Contains(x.Command, "--until") {
				t.Errorf("%s: %s", d.ID, x.Command)
			}
		}
	}
}

// TestFill: commands contain what the input states, and nothing of a hostile name.
func TestFill(t *testing.T) {
	n := new(replay.Node)
	n.Kubelet.Runtime = "cri-o 1.30"
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC).UnixNano()
	n.Window = replay.Window{Start: at, End: at + int64(time.Hour)}
	for name, want := range map[string]string{
		"unknown":   `kubectl get nodes; read -r node; kubectl get --raw "/api/v1/nodes/$node/proxy/metrics"`,
		"n1":        "kubectl get --raw '/api/v1/nodes/n1/proxy/metrics'",
		"$(reboot)": `kubectl get nodes; read -r node; kubectl get --raw "/api/v1/nodes/$node/proxy/metrics"`,
	} {
		n.Name = name
		if got := CommandsFor(n, nil).Fill(proxy("metrics")); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	const want = "journalctl -u crio --since '2026-03-04 09:50:00 UTC' --until '2026-03-04 11:05:00 UTC' --no-pager"
	if got := CommandsFor(n, nil).Fill("journalctl -u containerd -u crio -u docker --since -1h --no-pager"); got != want {
		t.Error(got)
	}
	n.Kubelet.Runtime = "docker 20.10"
	for s, want := range map[string]string{
		"ps -p $(crictl inspect --output go-template --template '{{.info.pid}}' f00)": "ps -p $(docker inspect -f '{{.State.Pid}}' f00)",
		"time crictl ps; systemctl show kubelet containerd crio docker -p TasksMax":   "time docker ps; systemctl show kubelet docker -p TasksMax",
	} {
		if got := CommandsFor(n, nil).Fill(s); got != want {
			t.Error(got)
		}
	}
}
