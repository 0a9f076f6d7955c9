package assign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// unknownNode is the name of a node that no record names.
const unknownNode = "unknown"

// unit is the smallest set of records that is assigned as a whole: the lines of one
// host in one file.
type unit struct {
	file     *parse.File
	host     string            // from the log's framing, "" if none
	pid      int               // set for one of several kubelets in the file; 0: all other lines
	names    map[string]int    // node names in its lines, with counts
	itself   []string          // those of the names that a kubelet states, in its log or its metrics
	several  bool              // its kubelet names no node, and lines of others in between name more than one
	override string            // --hostname-override
	system   string            // the host's own name; weaker evidence, as it may differ from the node's name
	object   string            // the only node described by a file without kubelet lines
	pids     map[int]host.Span // kubelet processes, and when each wrote
	all      host.Span         // time span of all lines
	kubelet  bool              // has kubelet lines
	own      bool              // has lines other than those that others wrote about the node
	up       *unit             // union-find parent
}

func (u *unit) root() *unit {
	for u.up != nil {
		if u.up.up != nil {
			u.up = u.up.up
		}
		u = u.up
	}
	return u
}

func join(a, b *unit) {
	if a, b = a.root(), b.root(); a != b {
		b.up = a
	}
}

func (u *unit) saw(o *parse.Origin, when host.Span) {
	u.all.Join(when)
	if o.Source == parse.SrcKubelet {
		u.kubelet = true
		if o.PID != 0 {
			p := u.pids[o.PID]
			p.Join(when)
			u.pids[o.PID] = p
		}
	}
}

// about reports whether the unit holds only what others wrote about the node.
func (u *unit) about() bool { return u.host != "" && !u.own }

// renamed reports whether two hosts of one file are the same machine.
func renamed(a, b *unit) bool {
	switch {
	case a.host == "" || b.host == "":
		return false
	case host.SameHost(a.host, b.host):
		return true
	case a.about() || b.about() || a.all.Meets(b.all):
		return false
	case generic(a.host) || generic(b.host):
		return true
	}
	for pid := range a.pids {
		if _, ok := b.pids[pid]; ok && pid > 1 {
			return true
		}
	}
	return false
}

// generic reports whether a host name is one that a machine has before it learns its
// own.
func generic(name string) bool {
	switch first, _, _ := strings.Cut(name, "."); first {
	case "localhost", "(none)", "bogon", "linux", "debian", "ubuntu", "archiso":
		return true
	}
	return false
}

func isIP(name string) bool {
	return strings.Trim(name, "0123456789.") == ""
}

// claims returns every name by which the unit calls its node. A unit that holds only
// what others wrote about a node claims just that node.
func (u *unit) claims() []string {
	if u.about() {
		return []string{u.host}
	}
	out := []string{u.file.Node, u.override, u.object, u.stated()}
	if !generic(u.host) {
		out = slices.Insert(out, 1, u.host)
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

// stated returns the most frequent node name in the unit's lines, "" if there is none.
func (u *unit) stated() string {
	best := ""
	for name, n := range u.names {
		if best == "" || n > u.names[best] || n == u.names[best] && name < best {
			best = name
		}
	}
	return best
}

func (u *unit) named() bool { return len(u.claims()) > 0 }

func (u *unit) ofKubelet() bool { return u.kubelet }

// mentions reports whether the unit names nodes only in lines that no kubelet wrote,
// such as those of a node controller or of an alert: these can be about any node.
func (u *unit) mentions() bool {
	return u.about() || !u.kubelet && len(u.names) > 0 && len(u.itself) == 0 && (u.host == "" || generic(u.host)) && u.file.Node == "" && u.object == ""
}

// namesNode reports whether the unit names the node that its file is from.
func (u *unit) namesNode() bool { return u.named() && !u.mentions() }

// nodes returns the names of nodes, not hosts, that the unit states.
func (u *unit) nodes() []string {
	out := slices.AppendSeq([]string{u.override, u.object, u.file.Node}, maps.Keys(u.names))
	return slices.DeleteFunc(out, func(name string) bool { return name == "" || generic(name) })
}

// nameOf picks the name of a node, in this order: the name in its lines, if the kubelet
// states it or it can be that of the kubelet's host, the layout, the hostname-override
// flag, the host, the system's name, a generic host name.
func nameOf(units []*unit) string {
	sum := &unit{names: map[string]int{}}
	var layout, override, hostname, system, weak string
	own := "" // a host whose lines are a kubelet's
	var itself []string
	for _, u := range units {
		for name, n := range u.names {
			sum.names[name] += n
		}
		layout = cmp.Or(layout, u.file.Node)
		override = cmp.Or(override, u.override)
		system = cmp.Or(system, u.system)
		if generic(u.host) {
			weak = cmp.Or(weak, u.host)
		} else {
			hostname = cmp.Or(hostname, u.host)
			if u.kubelet {
				own = cmp.Or(own, u.host)
			}
		}
		itself = append(itself, u.itself...)
	}
	stated := sum.stated()
	if own != "" && !slices.Contains(itself, stated) && !isIP(stated) && !host.SameHost(own, stated) {
		stated = "" // only others say so, such as a row of events, that may be of any node
	}
	if generic(stated) {
		stated, weak = "", cmp.Or(weak, stated)
	}
	return cmp.Or(stated, layout, override, hostname, system, weak, unknownNode)
}
