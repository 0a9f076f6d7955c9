// Package advice says what to collect next, and fills in the commands of causes for the collector
// of the bundle, the runtime of the node and the time of the incident.
package advice

import (
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// Need is something missing from the input, what it would settle, and the command that collects it.
type Need struct {
	Node               string // "" if it concerns no single node
	ID                 string // input ID of the rules, else what a cause lacks; "" for a bundle as a whole
	What, Why, Command string
}

// Kubelet returns the need if no node was found.
func Kubelet() Need {
	return Need{"", "kubelet-log", "the log of a kubelet", "without it nothing can be said about PLEG",
		"journalctl -u kubelet -o short-precise --utc --no-pager > kubelet.log"}
}

// holding summarizes what the records of a node contain.
type holding struct {
	*replay.Node
	keys       map[string]bool // fact keys
	dumps      map[string]bool // programs with a goroutine dump
	wchan      bool
	conditions bool // a Node object with conditions
	verbosity  int
	layout     string // of the bundle with the node
}

func holdingOf(n *replay.Node) *holding {
	h := &holding{Node: n, keys: map[string]bool{}, dumps: map[string]bool{}, verbosity: -1, layout: layoutOf(n)}
	for _, f := range n.Facts {
		h.keys[f.Key] = true
		if f.Key == facts.KeyGoroutines {
			h.dumps[f.Attr("program")] = true
		}
		h.wchan = h.wchan || f.Attr("wchan") != ""
	}
	for _, o := range n.Objects {
		h.conditions = h.conditions || o.Kind == facts.ObjectCondition
	}
	for _, c := range n.Coverage {
		if c.Origin.Source == parse.SrcKubelet {
			h.verbosity = max(h.verbosity, c.MaxV)
		}
	}
	return h
}

// layoutOf returns the layout of the bundle that the node's records come from.
func layoutOf(n *replay.Node) string {
	for _, c := range n.Coverage {
		if c.File.Layout != "" {
			return c.File.Layout
		}
	}
	for _, f := range n.Facts {
		if f.File != nil && f.File.Layout != "" {
			return f.File.Layout
		}
	}
	for _, o := range n.Objects {
		if o.File.Layout != "" {
			return o.File.Layout
		}
	}
	return ""
}

// openshift reports whether the bundle was made by a collector of OpenShift.
func (h *holding) openshift() bool {
	return slices.Contains([]string{"must-gather", "openshift-ci", "insights", "node-logs"}, h.layout)
}

// journal returns the command that collects the log of some units, using the tool that goes with
// the collector of the bundle.
func (h *holding) journal(units, file string) string {
	switch {
	case h.openshift():
		return "oc adm node-logs NODE" + units + " > " + file
	case h.layout == "kind-export":
		return "docker exec NODE " + journalctl(units) + " > " + file
	}
	return journalctl(units) + " > " + file
}

// Parts of commands as Fill expects them, with all alternatives.
const (
	kubelet  = " -u kubelet"
	runtimes = " -u containerd -u crio -u docker"
	during   = " --since 'TIME'"
)

func journalctl(of string) string {
	return "journalctl" + of + " -o short-precise --utc" + during + " --no-pager"
}

// runtimeStacks returns the command for a goroutine dump of the runtime: containerd writes it to its log, the others to
// a file (CRI-O 1.9, dockerd 1.13).
func (h *holding) runtimeStacks() string {
	const crio, docker = "/tmp/crio-goroutine-stacks-*.log", "/var/run/docker/goroutine-stacks-*.log"
	logged := "journalctl" + runtimes + " --since '1min ago' --no-pager"
	switch _, daemon := runtimeOf(h.Kubelet.Runtime); daemon {
	case "containerd":
		return "kill -USR1 $(pidof containerd); sleep 5; " + logged + " > stacks.log"
	case "crio":
		return "kill -USR1 $(pidof crio); sleep 5; cat " + crio + " > stacks.log"
	case "dockerd":
		return "kill -USR1 $(pidof dockerd); sleep 5; cat " + docker + " > stacks.log"
	}
	return "kill -USR1 $(pidof containerd crio dockerd); sleep 5; { " + logged + "; cat " + crio + " " + docker + "; } > stacks.log"
}

func (h *holding) ps() string { return "ps -eLo pid,ppid,tid,stat,wchan:32,lstart,args > ps.txt" }

func proxy(path string) string {
	return "kubectl get --raw '/api/v1/nodes/NODE/proxy/" + path + "'"
}

// wants lists every need with its condition and a command for Fill, the most useful first.
var wants = []struct {
	lacks func(*holding) bool
	id    string // input ID of the rules
	run   func(*holding) string
}{
	{func(h *holding) bool { return !h.Have[parse.SrcKubelet] }, "kubelet-log",
		func(h *holding) string { return h.journal(kubelet, "kubelet.log") }},
	{(*holding).late, "kubelet-log-before",
		func(h *holding) string { return h.journal(kubelet, "kubelet-before.log") }},
	{func(h *holding) bool {
		return !h.Have[parse.SrcContainerd] && !h.Have[parse.SrcCRIO] && !h.Have[parse.SrcDockerd]
	},
		"runtime-log",
		func(h *holding) string { return h.journal(runtimes, "runtime.log") }},
	{func(h *holding) bool {
		return len(h.Episodes) > 0 && !h.dumps["containerd"] && !h.dumps["crio"] && !h.dumps["dockerd"] && !h.keys[facts.KeyStopped]
	},
		"runtime-stacks", (*holding).runtimeStacks},
	{func(h *holding) bool { return len(h.Episodes) > 0 && !h.dumps["kubelet"] },
		"kubelet-stacks",
		func(h *holding) string { return proxy("debug/pprof/goroutine?debug=2") + " > kubelet-goroutines.txt" }},
	{func(h *holding) bool { return !h.Have[parse.SrcKernel] }, "kernel-log",
		(*holding).kernelLog},
	{func(h *holding) bool { return !h.keys[facts.KeyProcesses] }, "processes", (*holding).ps},
	{func(h *holding) bool { return h.keys[facts.KeyProcesses] && !h.wchan }, "wait-channels", (*holding).ps},
	{func(h *holding) bool { return h.keys[facts.KeyDState] && !h.keys[facts.KeyKernelStack] }, "kernel-stacks",
		func(h *holding) string {
			return `for t in $(ps -eLo tid=,stat= | awk '$2 ~ /^D/ {print $1}'); do echo "== $t"; cat /proc/$t/stack; done > stacks.txt`
		}},
	{func(h *holding) bool { return len(h.Scrapes) < 2 }, "metrics",
		func(h *holding) string {
			return "for i in 1 2; do " + proxy("metrics") + " > metrics-$(date -u +%FT%TZ).txt; sleep 60; done"
		}},
	{func(h *holding) bool { return len(h.Containers) == 0 }, "containers",
		func(h *holding) string {
			if kind, _ := runtimeOf(h.Kubelet.Runtime); kind == "docker" {
				return "timeout 60 docker ps -a --no-trunc --format '{{json .}}' > ps.json"
			}
			return "timeout 60 crictl ps -a -o json > ps.json; timeout 60 crictl pods -o json > pods.json"
		}},
	{func(h *holding) bool { return h.verbosity < 4 && h.Have[parse.SrcKubelet] }, "kubelet-log-verbose",
		func(h *holding) string {
			now := strings.Replace(h.journal(kubelet, "kubelet-v5.log"), during, "", 1)
			return now + "  # after logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet"
		}},
	{func(h *holding) bool { return !h.keys[facts.KeyRPCTimeout] && !h.keys[facts.KeyMaxPods] }, "kubelet-config",
		func(h *holding) string { return proxy("configz") + " > configz.json" }},
	{func(h *holding) bool { return !h.keys["psi.io.some.avg60"] }, "pressure",
		func(h *holding) string { return "head -v /proc/pressure/* > pressure.txt" }},
	{func(h *holding) bool { return !h.keys[facts.KeyMounts] && !h.keys[facts.KeyNetworkMount] }, "mounts",
		func(h *holding) string { return "cat /proc/mounts > mounts; timeout 10 df -h > df.txt" }},
	{func(h *holding) bool { return !h.conditions }, "node-object",
		func(h *holding) string {
			return "kubectl get node NODE -o yaml > node.yaml; kubectl get events -A -o json > events.json"
		}},
}

// kernelLog returns the command that collects the kernel log.
func (h *holding) kernelLog() string {
	switch {
	case h.openshift():
		return "oc debug node/NODE -- chroot /host " + journalctl(" -k") + " > kernel.log"
	}
	return journalctl(" -k") + " > kernel.log"
}

// late reports whether the kubelet log begins less than ten minutes before the first breach.
func (h *holding) late() bool {
	return h.Have[parse.SrcKubelet] && len(h.Episodes) > 0 && h.Episodes[0].Breach != 0 && h.Window.Lines.From != 0 &&
		h.Episodes[0].Breach-h.Window.Lines.From < int64(10*time.Minute)
}

// OfNode lists what the records of a node lack, without duplicates: first what would settle the
// leading cause of a node that is not healthy, then the rest, most useful first. res may be nil.
func OfNode(n *replay.Node, res *rules.Result, run Commands) []Need {
	h := holdingOf(n)
	var out []Need
	add := func(id, what, why, command string) {
		if !(h.Kubelet.OS == "windows" && ofLinux[id]) && !slices.ContainsFunc(out, func(x Need) bool { return x.ID == id }) {
			out = append(out, Need{n.Name, id, what, why, run.Fill(command)})
		}
	}
	if res != nil && len(res.Causes) > 0 && res.Status != rules.StatusHealthy {
		c := &res.Causes[0]
		for i := range c.Missing {
			m := &c.Missing[i]
			if in := rules.LookupInput(m.ID()); in != nil {
				add(in.ID, in.What, in.Why, h.collect(in.ID, m.Run, &run.distribution))
			} else {
				add(m.ID(), m.Text, "it would settle whether it is "+c.ID, m.Run)
			}
		}
	}
	for _, w := range wants {
		if w.lacks(h) {
			in := rules.LookupInput(w.id)
			add(in.ID, in.What, in.Why, h.collect(w.id, "", &run.distribution))
		}
	}
	return out
}

// collect returns the command that collects an input; other if there is no general one.
func (h *holding) collect(id, other string, on *distribution) string {
	if command, own := on.collect[id]; own {
		if _, to, ok := strings.Cut(command, "' > "); ok && h.openshift() && strings.HasPrefix(command, queried) {
			return "oc adm node-logs NODE --path=kubelet/kubelet.log > " + strings.Replace(to, gated, "", 1)
		}
		return command
	}
	for _, w := range wants {
		if w.id == id {
			return w.run(h)
		}
	}
	return other
}

// OfBundle lists what a bundle as a whole lacks: an assumed time zone or year, what the collector
// could not get, what the journal lost.
func OfBundle(b *parse.Bundle) []Need {
	return slices.Concat(clockNeeds(b), killedNeeds(b), markerNeeds(b))
}

func clockNeeds(b *parse.Bundle) []Need {
	var out []Need
	zone, year := false, false
	for _, e := range b.Events {
		zone = zone || e.Basis == parse.ZoneGuessed
		year = year || e.Basis == parse.YearGuessed
	}
	if zone {
		out = append(out, Need{"", "", "the time zone of the node", "stamps without a zone are taken as UTC", "timedatectl  # or give --tz ZONE"})
	}
	if year {
		out = append(out, Need{"", "", "the year", "stamps without a year are dated by the file's modification time", "date -u  # or give --year YEAR"})
	}
	return out
}

func killedNeeds(b *parse.Bundle) []Need {
	var out []Need
	seen := map[string]bool{}
	for _, f := range b.Facts {
		cmd := f.Attr("command")
		if f.Key != facts.KeyKilled || cmd == "" || seen[cmd] || strings.HasPrefix(cmd, "plugin ") {
			continue
		}
		seen[cmd] = true
		node := ""
		if f.File != nil {
			node = f.File.Node
		}
		out = append(out, Need{node, "", "the output of " + cmd, "the collector had to kill it, which is itself a symptom", "timeout 600 " + cmd})
	}
	return out
}

func markerNeeds(b *parse.Bundle) []Need {
	var out []Need
	has := func(k parse.MarkerKind) bool {
		return slices.ContainsFunc(b.Markers, func(m *parse.Marker) bool { return m.Kind == k })
	}
	if has(parse.MarkSuppressed) {
		out = append(out, Need{"", "", "log lines that the rate limit dropped", "they cannot be had any more; lift the limit before the next time",
			"systemctl restart systemd-journald  # after RateLimitIntervalSec=0 in /etc/systemd/journald.conf"})
	}
	if has(parse.MarkNull) {
		out = append(out, Need{"", "", "messages that the JSON export left out", "journalctl replaces fields over 4096 bytes by null unless told not to", "journalctl -a -o json"})
	}
	return out
}
