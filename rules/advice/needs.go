// Package advice says what to collect next, and fills in the commands of the
// causes: the tool of the collector that made the bundle, the runtime of the
// node, the time of the incident.
package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// Need is something that the input lacks, what it would settle, and the command
// that collects it.
type Need struct {
	Node               string // "" where it is of no single node
	ID                 string // of an input of the rules, or else what a cause lacks; "" for a bundle as a whole
	What, Why, Command string
}

// Kubelet is what is needed where no node was found.
func Kubelet() Need {
	return Need{"", "kubelet-log", "the log of a kubelet", "without it nothing can be said about PLEG",
		"journalctl -u kubelet -o short-precise --utc --no-pager > kubelet.log"}
}

// holding is what a node's records hold.
type holding struct {
	*replay.Node
	keys       map[string]bool // fact keys
	dumps      map[string]bool // programs with a goroutine dump
	wchan      bool
	conditions bool   // a node object with its conditions
	name       string // of the node, for commands
	runtime    string // unit of the runtime
	verbosity  int
	layout     string // of the bundle that holds the node
	during     string // flags of journalctl for the time of the incident, "" unknown
}

func holdingOf(n *replay.Node, run Commands) *holding {
	h := &holding{Node: n, keys: map[string]bool{}, dumps: map[string]bool{}, name: shell(n.Name), verbosity: -1}
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
	h.layout, h.runtime = layoutOf(n), runtimeOf(n)
	if !run.from.IsZero() {
		h.during = run.span() + " "
	}
	return h
}

// runtimeOf is the runtime of a node, containerd where none is known.
func runtimeOf(n *replay.Node) string {
	for _, s := range []string{"cri-o", "docker"} {
		if strings.HasPrefix(strings.ToLower(n.Kubelet.Runtime), s) {
			return s
		}
	}
	return "containerd"
}

// layoutOf is the layout of the bundle that the node's records come from.
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

// journal is the command that collects the log of a unit, with the tool that
// the collector of the bundle leads one to have at hand.
func (h *holding) journal(unit, file string) string {
	switch h.layout {
	case "must-gather", "openshift-ci", "insights", "node-logs":
		return "oc adm node-logs " + h.name + " -u " + unit + " > " + file
	case "talos-support":
		if unit != "kubelet" {
			unit = "cri"
		}
		return "talosctl -n " + h.name + " logs " + unit + " > " + file
	case "kind-export":
		return "docker exec " + h.name + " journalctl -u " + unit + " -o short-precise --utc " + h.during + "--no-pager > " + file
	}
	return "journalctl -u " + unit + " -o short-precise --utc " + h.during + "--no-pager > " + file
}

// shell quotes a name for a command line.
func shell(name string) string {
	if name == "" || name == "unknown" {
		return "NODE"
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-._", c)) {
			return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
	}
	return name
}

// unit is the runtime's systemd unit.
func (h *holding) unit() string {
	if h.runtime == "cri-o" {
		return "crio"
	}
	return h.runtime
}

// daemon is the runtime's process.
func (h *holding) daemon() string {
	switch h.runtime {
	case "cri-o":
		return "crio"
	case "docker":
		return "dockerd"
	}
	return h.runtime
}

func (h *holding) proxy(path string) string {
	return fmt.Sprintf("kubectl get --raw '/api/v1/nodes/%s/proxy/%s'", strings.Trim(h.name, "'"), path)
}

// wants is every need and when it holds, the most useful first.
var wants = []struct {
	lacks func(*holding) bool
	id    string // of the rules' inputs
	run   func(*holding) string
}{
	{func(h *holding) bool { return !h.Have[parse.SrcKubelet] }, "kubelet-log",
		func(h *holding) string { return h.journal("kubelet", "kubelet.log") }},
	{(*holding).late, "kubelet-log-before",
		func(h *holding) string {
			at := time.Unix(0, h.Episodes[0].Breach).UTC()
			return fmt.Sprintf("journalctl -u kubelet -o short-precise --utc --no-pager --since '%s UTC' --until '%s UTC' > kubelet-before.log",
				at.Add(-time.Hour).Format(time.DateTime), at.Format(time.DateTime))
		}},
	{func(h *holding) bool {
		return !h.Have[parse.SrcContainerd] && !h.Have[parse.SrcCRIO] && !h.Have[parse.SrcDockerd]
	},
		"runtime-log",
		func(h *holding) string { return h.journal(h.unit(), h.unit()+".log") }},
	{func(h *holding) bool {
		return len(h.Episodes) > 0 && !h.dumps["containerd"] && !h.dumps["crio"] && !h.dumps["dockerd"] && !h.keys[facts.KeyStopped]
	},
		"runtime-stacks",
		func(h *holding) string {
			return "kill -USR1 $(pidof " + h.daemon() + "); journalctl -u " + h.unit() + " --since -1min --no-pager > stacks.log"
		}},
	{func(h *holding) bool { return len(h.Episodes) > 0 && !h.dumps["kubelet"] },
		"kubelet-stacks",
		func(h *holding) string { return h.proxy("debug/pprof/goroutine?debug=2") + " > kubelet-goroutines.txt" }},
	{func(h *holding) bool { return !h.Have[parse.SrcKernel] }, "kernel-log",
		(*holding).kernelLog},
	{func(h *holding) bool { return !h.keys[facts.KeyProcesses] || !h.wchan }, "processes",
		func(h *holding) string { return "ps -eLo pid,ppid,tid,stat,wchan:32,lstart,args > ps.txt" }},
	{func(h *holding) bool { return h.keys[facts.KeyDState] && !h.keys[facts.KeyKernelStack] }, "kernel-stacks",
		func(h *holding) string {
			return `for t in $(ps -eLo tid=,stat= | awk '$2 ~ /^D/ {print $1}'); do echo "== $t"; cat /proc/$t/stack; done > stacks.txt`
		}},
	{func(h *holding) bool { return len(h.Scrapes) < 2 }, "metrics",
		func(h *holding) string { return h.proxy("metrics") + " > metrics-$(date -u +%FT%TZ).txt" }},
	{func(h *holding) bool { return len(h.Containers) == 0 }, "containers",
		func(h *holding) string {
			if h.runtime == "docker" {
				return "timeout 60 docker ps -a --no-trunc --format '{{json .}}' > ps.json"
			}
			return "timeout 60 crictl ps -a -o json > ps.json; timeout 60 crictl pods -o json > pods.json"
		}},
	{func(h *holding) bool { return h.verbosity < 4 && h.Have[parse.SrcKubelet] }, "kubelet-log-verbose",
		func(h *holding) string {
			next := *h
			next.during = "" // not the time of the incident
			return next.journal("kubelet", "kubelet-v5.log") + "  # after logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet"
		}},
	{func(h *holding) bool { return !h.keys[facts.KeyRPCTimeout] && !h.keys[facts.KeyMaxPods] }, "kubelet-config",
		func(h *holding) string { return h.proxy("configz") + " > configz.json" }},
	{func(h *holding) bool { return !h.keys["psi.io.some.avg60"] }, "pressure",
		func(h *holding) string { return "head -v /proc/pressure/* > pressure.txt" }},
	{func(h *holding) bool { return !h.keys[facts.KeyMounts] && !h.keys[facts.KeyNetworkMount] }, "mounts",
		func(h *holding) string { return "cat /proc/mounts > mounts; timeout 10 df -h > df.txt" }},
	{func(h *holding) bool { return !h.conditions }, "node-object",
		func(h *holding) string {
			return "kubectl get node " + h.name + " -o yaml > node.yaml; kubectl get events -A -o json > events.json"
		}},
}

// kernelLog is the command that collects the kernel's log.
func (h *holding) kernelLog() string {
	switch h.layout {
	case "must-gather", "openshift-ci", "insights", "node-logs":
		return "oc debug node/" + h.name + " -- chroot /host journalctl -k -o short-precise --utc " + h.during + "--no-pager > kernel.log"
	case "talos-support":
		return "talosctl -n " + h.name + " dmesg > dmesg.log"
	}
	return "journalctl -k -o short-precise --utc " + h.during + "--no-pager > kernel.log"
}

// late reports whether the kubelet log begins too shortly before the first
// breach.
func (h *holding) late() bool {
	return h.Have[parse.SrcKubelet] && len(h.Episodes) > 0 && h.Episodes[0].Breach != 0 && h.Window.Start != 0 &&
		h.Episodes[0].Breach-h.Window.Start < int64(10*time.Minute)
}

// OfNode lists what the records of a node lack, each thing once: what would settle the
// leading cause of a node that is not well, then the most useful. res may be nil.
func OfNode(n *replay.Node, res *rules.Result, run Commands) []Need {
	h := holdingOf(n, run)
	var out []Need
	add := func(id, what, why, command string) {
		if !slices.ContainsFunc(out, func(x Need) bool { return x.ID == id }) {
			out = append(out, Need{n.Name, id, what, why, command})
		}
	}
	if res != nil && len(res.Causes) > 0 && res.Status != rules.StatusHealthy {
		c := &res.Causes[0]
		for i := range c.Missing {
			m := &c.Missing[i]
			if in, collect := rules.LookupInput(m.ID()), h.collect(m.ID()); in != nil {
				add(in.ID, in.What, in.Why, cmp.Or(collect, run.Fill(m.Run)))
			} else {
				add(m.ID(), m.Text, "it would settle whether it is "+c.ID, run.Fill(m.Run))
			}
		}
	}
	for _, w := range wants {
		if w.lacks(h) {
			in := rules.LookupInput(w.id)
			add(in.ID, in.What, in.Why, w.run(h))
		}
	}
	return out
}

// collect is the command that collects an input, "" for one that is got in another way
// for each cause.
func (h *holding) collect(id string) string {
	for _, w := range wants {
		if w.id == id && (id != "kubelet-log-before" || len(h.Episodes) > 0) {
			return w.run(h)
		}
	}
	return ""
}

// OfBundle lists what a bundle lacks as a whole: zone or year where one was
// assumed, what the collector could not get, what the journal lost.
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
