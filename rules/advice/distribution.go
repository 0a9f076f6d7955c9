package advice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay"
)

// distribution describes a system that has its own names for kubelet and containerd, or its own
// ways to collect what they write. Paths are the defaults in its documentation.
type distribution struct {
	units    map[string]string // units of the kubelet and of the runtimes; several if the input does not say which
	logs     map[string]string // log files of what does not log to the journal, or "docker logs NAME" of a container
	commands *strings.Replacer // replaces other programs and files
	foreign  bool              // systemd does not run there: all logs are files
	runtime  string            // its runtime unless the input states another, "" if it has no default

	// If only is not nil, no other commands exist on its nodes. collect then holds those that
	// collect an input, "" if none is certain to work.
	only    *regexp.Regexp
	collect map[string]string
}

// rancher returns k3s or RKE2, whose kubelet and containerd run in one unit. Without a name it is
// one of the two.
func rancher(name, unit string) distribution {
	data := "/var/lib/rancher/" + name
	if name == "" {
		data += "*"
	}
	d := distribution{units: map[string]string{"kubelet": unit, "containerd": unit}, runtime: "containerd",
		logs: map[string]string{"containerd": data + "/agent/containerd/containerd.log"}}
	crictl, version, config, networks := "k3s crictl ", name+" --version", "/etc/rancher/"+name+"/config.yaml", data+"/agent/etc/cni/net.d"
	switch name {
	case "rke2":
		networks = cniNetworks
		d.logs["kubelet"] = data + "/agent/logs/kubelet.log"
		crictl = data + "/bin/crictl --config " + data + "/agent/etc/crictl.yaml "
	case "":
		crictl, version, config = "crictl --runtime-endpoint unix:///run/k3s/containerd/containerd.sock ", "kubectl get nodes -o wide", "/etc/rancher/*/config.yaml"
	}
	d.commands = strings.NewReplacer(cniNetworks, networks, "crictl ", crictl, "kubelet --version", version,
		"logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet", "kubelet-arg: v=5 in "+config+" and a restart of "+strings.ReplaceAll(unit, " ", " or "))
	return d
}

const (
	k3sUnits  = "k3s k3s-agent"
	rke2Units = "rke2-server rke2-agent"

	cniNetworks = "/etc/cni/net.d" // where other distributions keep the configurations of networks
)

// microk8s returns MicroK8s, whose kubelet and containerd have a unit each; since 1.21 the kubelet
// is part of kubelite.
func microk8s(unit string) distribution {
	return distribution{units: map[string]string{"kubelet": unit, "containerd": "snap.microk8s.daemon-containerd", "docker": "snap.microk8s.daemon-docker"}, runtime: "containerd",
		commands: strings.NewReplacer(cniNetworks, "/var/snap/microk8s/current/args/cni-network", "crictl ", "crictl --runtime-endpoint unix:///var/snap/microk8s/common/run/containerd.sock ", "kubelet --version", "microk8s version",
			"logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet", "--v=5 in /var/snap/microk8s/current/args/kubelet and a restart of "+strings.ReplaceAll(unit, " ", " or "))}
}

// k0s returns k0s, which passes on what kubelet and containerd write in its own unit.
func k0s(unit string) distribution {
	return distribution{units: map[string]string{"kubelet": unit, "containerd": unit}, runtime: "containerd",
		commands: strings.NewReplacer("crictl ", "crictl --runtime-endpoint unix:///run/k0s/containerd.sock ", "kubelet --version", "k0s version",
			"logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet", "--kubelet-extra-args=--v=5 in the command of k0s and a restart of "+strings.ReplaceAll(unit, " ", " or "))}
}

const k0sUnits = "k0scontroller k0sworker"

// rke returns RKE 1, whose kubelet is a container of docker.
func rke() distribution {
	return distribution{logs: map[string]string{"kubelet": "docker logs kubelet"}, runtime: "docker", commands: strings.NewReplacer(
		"systemctl show -p NRestarts kubelet", "docker inspect -f '{{.RestartCount}}' kubelet", "kubelet --version", "docker exec kubelet kubelet --version",
		"logging.verbosity: 5 in /var/lib/kubelet/config.yaml and a restart of the kubelet", "services.kubelet.extra_args: {v: 5} in cluster.yml and rke up")}
}

// withoutSystemd returns a system on which systemd does not run, with the paths of the log of a
// service, in which NAME stands for it.
func withoutSystemd(paths string) distribution {
	d := distribution{foreign: true, logs: map[string]string{}}
	for _, name := range []string{"kubelet", "containerd", "crio", "docker"} {
		d.logs[name] = strings.ReplaceAll(paths, "NAME", name)
	}
	return d
}

// talos returns Talos, whose nodes have neither a shell nor a journal.
func talos() distribution {
	return distribution{runtime: "containerd", only: regexp.MustCompile(`^(?:kubectl |talosctl |for i in )`), collect: map[string]string{
		"kubelet-log":         "talosctl -n NODE logs kubelet > kubelet.log",
		"kubelet-log-before":  "talosctl -n NODE logs kubelet > kubelet-before.log",
		"kubelet-log-verbose": "talosctl -n NODE logs kubelet > kubelet-v5.log  # after machine.kubelet.extraArgs: {v: 5} in the machine's configuration",
		"runtime-log":         "talosctl -n NODE logs cri > runtime.log",
		"kernel-log":          "talosctl -n NODE dmesg > dmesg.log",
		"processes":           "talosctl -n NODE processes > processes.txt",
		"mounts":              "talosctl -n NODE read /proc/mounts > mounts",
	}}
}

// ownUnit matches units that run only a kubelet.
var ownUnit = regexp.MustCompile(`^(?:snap\.[\w-]+\.(?:daemon-)?kubelet|origin-node|atomic-openshift-node)$`)

// distributionOf determines the distribution of a node: by the units that wrote its lines, by the
// kubelet's version, or by paths and names that occur only there. It returns the zero distribution
// if these do not reveal one.
func distributionOf(n *replay.Node) distribution {
	switch {
	case n.Kubelet.OS == "windows":
		return windows(n.Kubelet.Runtime)
	case layoutOf(n) == "talos-support":
		return talos()
	}
	for _, c := range n.Coverage {
		unit, ident := strings.TrimSuffix(c.Origin.Unit, ".service"), c.Origin.Ident
		switch {
		case unit == "k3s", unit == "k3s-agent":
			return rancher("k3s", unit)
		case unit == "rke2-server", unit == "rke2-agent":
			return rancher("rke2", unit)
		case ident == "k3s-agent":
			return rancher("k3s", ident)
		case ident == "k3s", ident == "k3s-server":
			return rancher("k3s", k3sUnits)
		case unit == "k0scontroller", unit == "k0sworker":
			return k0s(unit)
		case ident == "k0s", strings.HasPrefix(ident, "k0s/"):
			return k0s(k0sUnits)
		case ident == "rke2":
			return rancher("rke2", rke2Units)
		case strings.HasPrefix(unit, "snap.microk8s.daemon-kubel"):
			return microk8s(unit)
		case strings.HasPrefix(ident, "microk8s.daemon-kubel"):
			return microk8s("snap." + ident)
		case ident == "edgecore", unit == "edgecore": // of KubeEdge
			return distribution{units: map[string]string{"kubelet": "edgecore"}}
		case ident == "kubenswrapper": // of OpenShift
			return distribution{commands: strings.NewReplacer(cniNetworks, "/etc/kubernetes/cni/net.d"), runtime: "cri-o"}
		case c.Origin.Source != parse.SrcKubelet:
		case ident == "kubelite":
			return microk8s("snap.microk8s.daemon-kubelite")
		case ownUnit.MatchString(unit):
			return distribution{units: map[string]string{"kubelet": unit}}
		case ownUnit.MatchString(ident):
			return distribution{units: map[string]string{"kubelet": ident}}
		}
	}
	named := map[*parse.SigSet]bool{}
	for i := range n.Index().Groups {
		named[n.Index().Groups[i].Sigs] = true
	}
	d := byNames(named, n.Kubelet.Version, n.Facts)
	journal := func(c *parse.Coverage) bool { return c.Origin.Unit != "" || c.File.Role == parse.RoleJournal }
	if d.foreign && (n.Have[parse.SrcSystemd] || slices.ContainsFunc(n.Coverage, journal)) {
		return distribution{} // said by a program in a container
	}
	return d
}

// byNames determines the distribution by the signatures of lines, by the kubelet's version and by
// the name of the system.
func byNames(lines map[*parse.SigSet]bool, version string, stated []*parse.Fact) distribution {
	named := func(id string) bool {
		for set := range lines {
			if set.Has(id) {
				return true
			}
		}
		return false
	}
	system := func(f *parse.Fact) bool {
		return f.Key == facts.KeyOS && strings.HasPrefix(f.Value, "Talos") || f.Key == facts.KeyKernel && strings.HasSuffix(f.Value, "-talos")
	}
	switch {
	case strings.Contains(version, "+rke2"), named("distribution.rke2"):
		return rancher("rke2", rke2Units)
	case strings.Contains(version, "+k3s"), named("distribution.k3s"):
		return rancher("k3s", k3sUnits)
	case named("distribution.rke"):
		return rke()
	case named("distribution.rancher"):
		return rancher("", k3sUnits+" "+rke2Units)
	case strings.Contains(version, "+k0s"), named("distribution.k0s"):
		return k0s(k0sUnits)
	case named("distribution.microk8s"):
		return microk8s("snap.microk8s.daemon-kubelet snap.microk8s.daemon-kubelite")
	case named("distribution.kubeedge"):
		return distribution{units: map[string]string{"kubelet": "edgecore"}}
	case named("distribution.origin"):
		return distribution{units: map[string]string{"kubelet": "origin-node"}}
	case named("distribution.talos"), slices.ContainsFunc(stated, system):
		return talos()
	case named("distribution.upstart"):
		return withoutSystemd("/var/log/upstart/NAME.log")
	case named("distribution.nosystemd"):
		return withoutSystemd("/var/log/NAME.log /var/log/NAME/*.log")
	}
	return distribution{}
}

var (
	kernelLog = regexp.MustCompile(`journalctl -k\b[^;|>#]*`)
	unitLog   = regexp.MustCompile(`journalctl((?: -u (?:kubelet|containerd|docker|crio))+)\b([^;|>#]*)`)
	unitState = regexp.MustCompile(`\bsystemctl (show|status)((?: (?:kubelet|containerd|docker|crio))+)\b`)
)

// fill replaces names in a command by those of the distribution; it returns "" for a command that
// its nodes do not have.
func (d *distribution) fill(s string) string {
	if strings.Contains(s, "journalctl") {
		s = d.fillLogs(s)
	}
	if strings.Contains(s, "systemctl") {
		s = d.fillStates(s)
	}
	if d.commands != nil {
		s = d.commands.Replace(s)
	}
	if d.foreign {
		if s = kernelLog.ReplaceAllString(s, "dmesg "); strings.Contains(s, "journalctl") || strings.Contains(s, "systemctl") {
			return ""
		}
	}
	if d.only != nil && !d.only.MatchString(s) {
		return ""
	}
	return s
}

// fillLogs replaces the units whose log a command requests.
func (d *distribution) fillLogs(s string) string {
	return unitLog.ReplaceAllStringFunc(s, func(command string) string {
		m := unitLog.FindStringSubmatch(command)
		var files, units []string
		for _, name := range strings.Fields(strings.ReplaceAll(m[1], "-u ", "")) {
			if file := d.logs[name]; file != "" {
				files = append(files, file)
			} else {
				units = append(units, d.unitsOf(name)...)
			}
		}
		units = slices.Compact(units)
		switch journal := "journalctl -u " + strings.Join(units, " -u ") + m[2]; {
		case len(files) == 0:
			return journal
		case strings.HasPrefix(files[0], "docker logs ") && len(units) == 0:
			return "{ " + files[0] + " 2>&1; } "
		case strings.HasPrefix(files[0], "docker logs "):
			return "{ " + files[0] + " 2>&1; " + strings.TrimSpace(journal) + "; } "
		case len(units) == 0:
			return "cat " + strings.Join(files, " ") + " "
		default:
			return "{ " + strings.TrimSpace(journal) + "; cat " + strings.Join(files, " ") + "; } "
		}
	})
}

// fillStates replaces the units whose state a command requests.
func (d *distribution) fillStates(s string) string {
	return unitState.ReplaceAllStringFunc(s, func(command string) string {
		m := unitState.FindStringSubmatch(command)
		var units []string
		for _, name := range strings.Fields(m[2]) {
			units = append(units, d.unitsOf(name)...)
		}
		return "systemctl " + m[1] + " " + strings.Join(slices.Compact(units), " ")
	})
}

// unitsOf returns the units that a program runs in.
func (d *distribution) unitsOf(name string) []string {
	if units := strings.Fields(d.units[name]); len(units) > 0 {
		return units
	}
	return []string{name}
}
