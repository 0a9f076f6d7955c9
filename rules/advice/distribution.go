package advice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// distribution describes a Kubernetes distribution that has its own names for kubelet and
// containerd. Paths are the defaults in its documentation.
type distribution struct {
	units    map[string]string // units of the kubelet and of containerd; several if the input does not say which
	logs     map[string]string // log files of what does not log to the journal
	commands *strings.Replacer // replaces other programs and files
	runtime  string            // its only runtime, "" if it supports several
}

// rancher returns k3s or RKE2, whose kubelet and containerd run in one unit.
func rancher(name, unit string) distribution {
	data := "/var/lib/rancher/" + name
	d := distribution{units: map[string]string{"kubelet": unit, "containerd": unit}, logs: map[string]string{"containerd": data + "/agent/containerd/containerd.log"}}
	crictl := "k3s crictl "
	if name == "rke2" {
		d.runtime = "containerd"
		d.logs["kubelet"] = data + "/agent/logs/kubelet.log"
		crictl = data + "/bin/crictl --config " + data + "/agent/etc/crictl.yaml "
	}
	d.commands = strings.NewReplacer("crictl ", crictl, "kubelet --version", name+" --version",
		"logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet", "kubelet-arg: v=5 in /etc/rancher/"+name+"/config.yaml and a restart of "+strings.ReplaceAll(unit, " ", " or "))
	return d
}

// microk8s returns MicroK8s, whose kubelet and containerd have a unit each; since 1.21 the kubelet
// is part of kubelite.
func microk8s(unit string) distribution {
	d := distribution{units: map[string]string{"kubelet": unit, "containerd": "snap.microk8s.daemon-containerd"},
		commands: strings.NewReplacer("crictl ", "crictl --runtime-endpoint unix:///var/snap/microk8s/common/run/containerd.sock ", "kubelet --version", "microk8s version",
			"logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet", "--v=5 in /var/snap/microk8s/current/args/kubelet and a restart of "+unit)}
	if strings.HasSuffix(unit, "kubelite") {
		d.runtime = "containerd"
	}
	return d
}

// ownUnit matches units that run only a kubelet.
var ownUnit = regexp.MustCompile(`^(?:snap\.[\w-]+\.(?:daemon-)?kubelet|origin-node|atomic-openshift-node)$`)

// distributionOf determines the distribution of a node by the units that logged its kubelet's lines
// and by the kubelet's version. It returns the zero distribution if these do not reveal one.
func distributionOf(n *replay.Node) distribution {
	for _, c := range n.Coverage {
		unit, ident := strings.TrimSuffix(c.Origin.Unit, ".service"), c.Origin.Ident
		switch {
		case unit == "k3s", unit == "k3s-agent":
			return rancher("k3s", unit)
		case unit == "rke2-server", unit == "rke2-agent":
			return rancher("rke2", unit)
		case c.Origin.Source != parse.SrcKubelet:
		case ident == "k3s-agent":
			return rancher("k3s", ident)
		case ident == "k3s", ident == "k3s-server":
			return rancher("k3s", "k3s k3s-agent")
		case strings.HasPrefix(unit, "snap.microk8s.daemon-kubel"):
			return microk8s(unit)
		case strings.HasPrefix(ident, "microk8s.daemon-kubel"):
			return microk8s("snap." + ident)
		case ident == "kubelite":
			return microk8s("snap.microk8s.daemon-kubelite")
		case ownUnit.MatchString(unit):
			return distribution{units: map[string]string{"kubelet": unit}}
		case ownUnit.MatchString(ident):
			return distribution{units: map[string]string{"kubelet": ident}}
		}
	}
	switch version := n.Kubelet.Version; {
	case strings.Contains(version, "+k3s"):
		return rancher("k3s", "k3s k3s-agent")
	case strings.Contains(version, "+rke2"):
		return rancher("rke2", "rke2-server rke2-agent")
	}
	return distribution{}
}

var (
	unitLog   = regexp.MustCompile(`journalctl -u (kubelet|containerd)\b([^;|>#]*)`)
	unitState = regexp.MustCompile(`\bsystemctl (show|status)((?: (?:kubelet|containerd))+)\b`)
)

// fill replaces names in a command by those of the distribution.
func (d *distribution) fill(s string) string {
	s = unitLog.ReplaceAllStringFunc(s, func(command string) string {
		m := unitLog.FindStringSubmatch(command)
		switch unit := d.units[m[1]]; {
		case strings.Contains(m[2], " -u "): // the runtime is unknown
		case d.logs[m[1]] != "":
			return "cat " + d.logs[m[1]] + " "
		case unit != "":
			return "journalctl -u " + strings.ReplaceAll(unit, " ", " -u ") + m[2]
		}
		return command
	})
	s = unitState.ReplaceAllStringFunc(s, func(command string) string {
		m := unitState.FindStringSubmatch(command)
		var units []string
		for _, name := range strings.Fields(m[2]) {
			if d.units[name] != "" {
				name = d.units[name]
			}
			if !slices.Contains(units, name) {
				units = append(units, name)
			}
		}
		return "systemctl " + m[1] + " " + strings.Join(units, " ")
	})
	if d.commands != nil {
		s = d.commands.Replace(s)
	}
	return s
}
