package logs

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// addTool notes that a process is crictl.
func (d *Decoder) addTool(pid int) {
	if d.tools == nil {
		d.tools = map[int]bool{}
	}
	d.tools[pid] = true
}

// vote determines who wrote the lines that name no writer: from the bundle layout,
// or else from what such lines in head look like.
func (d *Decoder) vote(head []byte) {
	d.klog, d.logrus, d.plain, d.callers, d.tools = parse.SrcKubelet, parse.SrcUnknown, parse.SrcUnknown, map[int]bool{}, nil
	src := d.opt.Source
	if src == parse.SrcUnknown {
		src = roleSource(d.file.Role)
	}
	if src == parse.SrcUnknown {
		d.count(head)
		return
	}
	d.plain = src
	if src != parse.SrcKernel {
		d.klog, d.logrus = src, src
	}
	d.above = d.klog
	if d.file.Role == parse.RoleRuntimeLog {
		d.count(head)
	}
}

func roleSource(r parse.Role) parse.Source {
	switch r {
	case parse.RoleKubeletLog:
		return parse.SrcKubelet
	case parse.RoleKernelLog:
		return parse.SrcKernel
	}
	return parse.SrcUnknown
}

// count determines it from the bare lines in head.
func (d *Decoder) count(head []byte) {
	p := journal.NewParser(d.framing)
	defer p.Release()
	var e journal.Entry
	sections, above := false, false // above: klog lines stand above the first section
	klogs, kubelet, other, logrus, client, tool, called, pid := 0, 0, 0, 0, 0, false, false, 0
	var more []int // processes that do not only call the runtime
	votes := make([]int, len(logrusHints))
	for len(head) > 0 {
		n := d.framing.Next(head, true)
		p.Parse(bytes.TrimRight(head[:n], "\n"), &e)
		head = head[n:]
		c := classify(&e)
		sections, above = sections || e.Form == journal.Section, above || !sections && c == klogText
		if _, ok := sourceOf(e.Who, c); ok {
			if relays(e.Who.Ident) && hint(kubeletCallers, e.Header.Caller) {
				d.callers[e.Header.PID] = true
			}
			continue
		}
		call := c == klogText && hint(clientCallers, e.Header.Caller)
		switch c {
		case klogText:
			klogs++
			if pid = e.Header.PID; call {
				client++
			} else if !slices.Contains(more, pid) {
				more = append(more, pid)
			}
			if hint(kubeletCallers, e.Header.Caller) {
				kubelet++
				d.callers[e.Header.PID] = true
			} else if hint(otherCallers, e.Header.Caller) || hint(kubeadmPhases, bytes.TrimLeft(e.Msg, `"`)) {
				other++
			}
		case logrusText:
			logrus++
			if called && bytes.Contains(e.Msg, fatal) {
				tool = true
				d.addTool(pid)
			}
			for i := range logrusHints {
				if containsOne(e.Msg, logrusHints[i].words) {
					votes[i]++
				}
			}
		default:
			if hint(toolStarts, bytes.TrimLeft(e.Msg, " \t")) {
				tool = true
				if called {
					d.addTool(pid)
				}
			}
		}
		called = call
	}
	maps.DeleteFunc(d.tools, func(pid int, _ bool) bool { return slices.Contains(more, pid) })
	// crictl uses the same CRI client as the kubelet, but its calls have deadlines
	// of their own (kubernetes-sigs/cri-tools, --timeout 2s).
	if tool && client > 0 && klogs == client {
		d.klog, d.plain, d.above = parse.SrcFacts, parse.SrcFacts, parse.SrcFacts
		return
	}
	// A few klog lines in a runtime's log come from CNI plugins.
	if other > kubelet || kubelet == 0 && logrus > 4*klogs {
		d.klog = parse.SrcSystem
	}
	if d.above = d.plain; above {
		d.above = d.klog
	}
	d.assumed = d.klog == parse.SrcKubelet && d.opt.Source == parse.SrcUnknown && d.file.Role != parse.RoleKubeletLog && sectionSource(d.file.Path) != parse.SrcKubelet
	best := 0
	for i, v := range votes {
		if v > best {
			best, d.logrus = v, logrusHints[i].source
		}
		// dockerd starts its own containerd, which writes to the same log and
		// writes more than dockerd does.
		if logrusHints[i].source == parse.SrcDockerd && v > 0 {
			best, d.logrus = logrus+1, parse.SrcDockerd
		}
	}
}

// kubeletCallers are prefixes of source files that only the kubelet has under that
// name; otherCallers are those of other Kubernetes programs.
var (
	kubeletCallers = [][]byte{[]byte("kubelet"), []byte("pod_workers.go"), []byte("generic.go"), []byte("kuberuntime_"),
		[]byte("remote_"), []byte("status_manager.go"), []byte("setters.go"), []byte("eviction_manager.go"),
		[]byte("container_manager_linux.go"), []byte("volume_manager.go"), []byte("prober"), []byte("cni.go"),
		[]byte("docker_"), []byte("desired_state_of_world_populator.go"), []byte("operation_generator.go"), []byte("pod_container_manager_linux.go")}
	otherCallers = [][]byte{[]byte("proxier.go"), []byte("garbagecollector.go"), []byte("node_lifecycle_controller.go"), []byte("controller_utils.go"),
		[]byte("leaderelection.go"), []byte("controllermanager.go"), []byte("storage_"), []byte("rest.go"), []byte("httplog.go"),
		[]byte("graph_builder.go"), []byte("schedul"), []byte("replica_set.go"), []byte("resource_quota"), []byte("apiserver"),
		[]byte("trace.go"), []byte("wrap.go"), []byte("timeout.go:"), []byte("finisher.go"), []byte("secure_serving.go"), []byte("autoregister_controller.go"), []byte("node_authorizer.go"), []byte("authentication.go"),
		[]byte("proxy"), []byte("conntrack.go"), []byte("iptables.go"), []byte("roundrobin.go"),
		[]byte("nodeserver"), []byte("controllerserver"), []byte("identityserver"), []byte("node_register.go"), []byte("cephcmds.go"),
		[]byte("health_checker.go"), []byte("log_monitor.go"), []byte("custom_plugin_monitor.go"), []byte("plugin.go:")}
)

// kubeadmPhases are the beginnings of what kubeadm logs: the phase, in brackets (cmd/kubeadm/app/phases).
var kubeadmPhases = [][]byte{[]byte("[patchnode]"), []byte("[kubelet-"), []byte("[preflight"), []byte("[init"), []byte("[join"), []byte("[certs"), []byte("[kubeconfig]"),
	[]byte("[control-plane"), []byte("[wait-control-plane"), []byte("[etcd]"), []byte("[upload-c"), []byte("[mark-control-plane"), []byte("[markmaster]"),
	[]byte("[bootstrap"), []byte("[addons"), []byte("[discovery]"), []byte("[upgrade"), []byte("[reset"), []byte("[apiclient]"), []byte("[api"), []byte("[check-etcd]")}

// clientCallers are source files of the CRI client. Since 1.31 all its errors come
// from one (k8s.io/cri-client/pkg/internal/log.go).
var clientCallers = [][]byte{[]byte("remote_"), []byte("log.go:32")}

// toolStarts are prefixes of the lines that crictl writes to a terminal. Elsewhere it ends with
// a line of the level fatal, right after that of the call that failed.
var toolStarts = [][]byte{[]byte("FATA["), []byte("ERRO["), []byte("WARN["), []byte("DEBU[")}

var fatal = []byte("level=fatal ")

func hint(prefixes [][]byte, caller []byte) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(caller, p) {
			return true
		}
	}
	return false
}

// logrusHints lists strings that distinguish the logrus lines of one runtime from
// those of the others.
var logrusHints = []struct {
	source parse.Source
	words  [][]byte
}{
	{parse.SrcCRIO, [][]byte{[]byte("name=/runtime.v1"), []byte("crio"), []byte("CRI-O"), []byte("conmon"), []byte("Ran pod sandbox"), []byte("with infra container")}},
	{parse.SrcDockerd, [][]byte{[]byte("Handler for "), []byte("module=libcontainerd"), []byte("API listen on"), []byte("ignoring event"), []byte("libnetwork"), []byte("Docker daemon"), []byte("docker-containerd")}},
	{parse.SrcContainerd, [][]byte{[]byte("starting containerd"), []byte("loading plugin"), []byte("RunPodSandbox for"), []byte("PodSandbox"), []byte("CreateContainer within"), []byte("StopContainer for"), []byte("TaskExit"), []byte("exit event"), []byte("runtime=io.containerd"), []byte("namespace=k8s.io"), []byte("containerd-shim"), []byte("shim disconnected"), []byte("shim reaped"), []byte("dead shim")}},
}

func containsOne(b []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.Contains(b, w) {
			return true
		}
	}
	return false
}

// anyComponent lists messages that each component of Kubernetes writes when it starts.
var anyComponent = []string{parse.SigVersion, parse.SigGates}

// ofKubelet reports whether a line with these signatures shows that the kubelet wrote it.
func ofKubelet(sigs *parse.SigSet) bool {
	return slices.ContainsFunc(sigs.Sigs, func(g *parse.Sig) bool {
		own := slices.Contains(g.Sources, parse.SrcKubelet) && !slices.Contains(anyComponent, g.ID)
		return own || strings.HasPrefix(g.ID, "pleg.") && g.ID != parse.SigQuoted // text alone may quote it
	})
}

// misplaced reports whether a line says what the kubelet says about PLEG or its node, from a source file that is none
// of the kubelet's: its program quotes a kubelet.
func misplaced(e *parse.Event) bool {
	file := e.Caller[strings.LastIndexByte(e.Caller, '/')+1:]
	return file != "" && !e.Is(parse.SigSkip) && !hint(kubeletCallers, []byte(file)) && !strings.HasPrefix(file, "evented.go") &&
		slices.ContainsFunc(e.Sigs.Sigs, func(g *parse.Sig) bool { return strings.HasPrefix(g.ID, "pleg.") || g.ID == parse.SigNotReady })
}

// sharedLease reports whether a line is of the library that renews leases (k8s.io/component-helpers), which the
// API server has, too, and does not say that the lease is a node's.
func sharedLease(e *parse.Event) bool {
	file := e.Caller[strings.LastIndexByte(e.Caller, '/')+1:]
	return e.Is(parse.SigAPI) && strings.HasPrefix(file, "controller.go") && !strings.Contains(e.Message(), "node lease") && !strings.Contains(e.Message(), "kube-node-lease")
}

// disown assigns klog lines that name no writer, or only who relays them, to an unknown
// program where nothing in any line of the process is of the kubelet: drivers, controllers
// and plugins of networks write klog, too.
func (m *Merger) disown() {
	own := map[*parse.Origin]bool{}
	for _, c := range m.part.Coverage {
		o := c.Origin
		bare := m.d.assumed && !m.d.framing.Sections && o.Ident == "" && o.Unit == ""
		if o.Source == parse.SrcKubelet && (bare || relays(o.Ident)) && !m.d.callers[o.PID] {
			own[o] = false
		}
	}
	if len(own) == 0 {
		return
	}
	for _, e := range m.part.Events {
		if owned, asked := own[e.Origin]; asked && !owned && !misplaced(e) {
			own[e.Origin] = ofKubelet(e.Sigs) && !sharedLease(e) && !hint(kubeadmPhases, []byte(strings.TrimLeft(e.Message(), `"`))) && (!e.Sigs.Has(parse.SigAPI) || !relays(e.Origin.Ident) ||
				hint(kubeletCallers, []byte(e.Caller)) || strings.Contains(e.Message(), "k8s.io/kubernetes/pkg/kubelet/"))
		}
	}
	for o, owned := range own {
		if !owned {
			o.Source = parse.SrcSystem
		}
	}
	// What they say of the API server is said of their own calls.
	m.part.Events = slices.DeleteFunc(m.part.Events, func(e *parse.Event) bool {
		owned, asked := own[e.Origin]
		return asked && !owned && e.Is(parse.SigAPI)
	})
}
