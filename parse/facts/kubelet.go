package facts

import (
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/internal/nodes"
)

// setting maps a field of KubeletConfiguration and the corresponding flag to a fact
// key.
type setting struct {
	config, flag, key string
	duration          bool
}

var settings = []setting{
	{"runtimeRequestTimeout", "runtime-request-timeout", KeyRPCTimeout, true},
	{"nodeStatusUpdateFrequency", "node-status-update-frequency", KeyStatusFreq, true},
	{"maxPods", "max-pods", KeyMaxPods, false},
	{"logging.verbosity", "v", KeyVerbosity, false},
	{"featureGates.EventedPLEG", "", KeyEvented, false},
	{"cgroupDriver", "cgroup-driver", KeyCgroupDriver, false},
	{"containerRuntimeEndpoint", "container-runtime-endpoint", KeyEndpoint, false},
	{"podPidsLimit", "pod-max-pids", KeyPodPids, false},
	{"kubeReserved", "kube-reserved", KeyKubeReserved, false},
	{"systemReserved", "system-reserved", KeySysReserved, false},
}

// state adds a fact for a setting; from is "flag", "file" or "configz".
func (s *scan) state(t setting, v, from string) {
	n := math.NaN()
	switch {
	case t.duration:
		n = seconds(v)
	case t.key == KeyEvented:
		n = boolean(v)
	default:
		if x, ok := number(v); ok {
			n = x
		}
	}
	s.add(t.key, v, n, attr("from", from))
}

// kubeletFlags adds facts for the flags on a kubelet's command line.
func (s *scan) kubeletFlags(args []string) {
	for i, a := range args {
		name, ok := strings.CutPrefix(a, "--")
		if !ok {
			if name, ok = strings.CutPrefix(a, "-v="); ok {
				name = "v=" + name
			} else {
				continue
			}
		}
		name, v, has := strings.Cut(name, "=")
		if !has {
			v = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				v = args[i+1]
			}
		}
		s.kubeletFlag(name, v)
	}
}

// isKubeletCmdline recognizes a file that holds just the command line of a kubelet,
// NUL-separated as in /proc/PID/cmdline or with blanks.
func isKubeletCmdline(_, head string) bool {
	args := words(firstLine(head))
	if len(args) < 2 || !strings.HasPrefix(args[1], "-") && args[1] != "kubelet" {
		return false
	}
	return isKubelet(args[0])
}

// isKubelet reports whether a program, with or without its directory, is a kubelet.
func isKubelet(program string) bool {
	name := program[strings.LastIndexByte(program, '/')+1:]
	return name == "kubelet" || name == "hyperkube" || name == "kubenswrapper"
}

func (s *scan) kubeletCmdline() {
	if s.advance() {
		s.kubeletFlags(words(s.line))
	}
}

// words splits a command line at white space and NUL bytes.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == 0 || r == '\t' })
}

func (s *scan) kubeletFlag(name, v string) {
	if name == "feature-gates" {
		for _, g := range strings.Split(v, ",") {
			if on, ok := strings.CutPrefix(g, "EventedPLEG="); ok {
				s.state(setting{key: KeyEvented}, on, "flag")
			}
		}
	}
	for _, t := range settings {
		if t.flag == name {
			s.state(t, v, "flag")
			return
		}
	}
	s.add(KeyKubeletFlag, v, scalar(v), attr("name", name))
}

// scalar returns a value as a number, in seconds if it is a duration, NaN if it is
// neither.
func scalar(v string) float64 {
	if n, ok := number(v); ok {
		return n
	}
	return seconds(v)
}

// maxConfig is the maximum size of a kubelet configuration, in bytes.
const maxConfig = 1 << 20

// kubeletConfig reads a KubeletConfiguration in YAML or JSON, alone, from a
// response of /configz, or from a ConfigMap.
func (s *scan) kubeletConfig() {
	if len(s.data) > maxConfig {
		s.warn("kubelet configuration is too large and is left out")
		return
	}
	var doc yaml.Node
	if err := nodes.Unmarshal(s.data, &doc); err != nil {
		s.warn("kubelet configuration cannot be read: " + err.Error())
		return
	}
	from := "file"
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	if v := child(root, "kubeletconfig"); v != nil {
		root, from = v, "configz"
	}
	s.configNode(root, "", from, 0)
}

// child returns the value of a mapping under a name, nil if there is none.
func child(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func (s *scan) configNode(n *yaml.Node, path, from string, depth int) {
	if n.Kind != yaml.MappingNode || depth > 8 {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := path+n.Content[i].Value, n.Content[i+1]
		s.toLine(v.Line)
		if v.Kind == yaml.MappingNode {
			if t, ok := settingOf(name); ok {
				s.state(t, flat(v), from)
				continue
			}
			s.configNode(v, name+".", from, depth+1)
			continue
		}
		if v.Kind != yaml.ScalarNode {
			continue
		}
		if t, ok := settingOf(name); ok {
			s.state(t, v.Value, from)
			continue
		}
		s.add(KeyKubeletConfig, v.Value, scalar(v.Value), attr("name", name), attr("from", from))
	}
}

func settingOf(name string) (setting, bool) {
	for _, t := range settings {
		if t.config == name {
			return t, true
		}
	}
	return setting{}, false
}

// flat formats a mapping as "name=value,name=value".
func flat(n *yaml.Node) string {
	var out []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value+"="+n.Content[i+1].Value)
	}
	return strings.Join(out, ",")
}
