package logs

import (
	"bytes"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// class is what the form of a message tells about its writer.
type class uint8

const (
	plainText  class = iota
	klogText         // klog, text or JSON
	criText          // klog written by cri-containerd ≤ 1.0
	logrusText       // logrus, text or JSON
	kubeRow          // row of kubectl's table of events or conditions
)

// criCaller is the prefix of the callers in cri-containerd's klog lines.
var criCaller = []byte("instrumented_service.go:")

// classify returns the class of an entry.
func classify(e *journal.Entry) class {
	switch e.Header.Kind {
	case journal.Klog, journal.KlogBare:
		if bytes.HasPrefix(e.Header.Caller, criCaller) {
			return criText
		}
		return klogText
	case journal.KlogJSON:
		return klogText
	case journal.Logrus, journal.JSONLog:
		return logrusText
	}
	if e.Form == journal.EventRow || e.Form == journal.Condition {
		return kubeRow
	}
	return plainText
}

// identSources maps prefixes of syslog identifiers and units to writers. The first
// match wins.
var identSources = []struct {
	prefix string
	source parse.Source
}{
	{"kubelet", parse.SrcKubelet}, // also kubelet-wrapper, kubelet.service, kubelet.sh
	{"kubenswrapper", parse.SrcKubelet},
	{"hyperkube", parse.SrcKubelet},
	{"origin-node", parse.SrcKubelet},
	{"atomic-openshift-node", parse.SrcKubelet},
	{"openshift", parse.SrcKubelet},
	{"microk8s.daemon-kubel", parse.SrcKubelet},
	{"snap.microk8s.daemon-kubel", parse.SrcKubelet},
	{"snap.kubelet", parse.SrcKubelet},
	{"snap.k8s.kubelet", parse.SrcKubelet},
	{"kubelite", parse.SrcKubelet},
	{"localkube", parse.SrcKubelet}, // minikube up to 0.25
	{"crio", parse.SrcCRIO},
	{"cri-o", parse.SrcCRIO},
	{"containerd", parse.SrcContainerd}, // and its shims
	{"cri-containerd", parse.SrcContainerd},
	{"docker-containerd", parse.SrcContainerd},
	{"snap.microk8s.daemon-containerd", parse.SrcContainerd},
	{"microk8s.daemon-containerd", parse.SrcContainerd},
	{"dockerd", parse.SrcDockerd},
	{"podman", parse.SrcPodman},
	{"kernel", parse.SrcKernel},
	{"kern", parse.SrcKernel},
	{"calico", parse.SrcCNI},
	{"cilium", parse.SrcCNI},
	{"flannel", parse.SrcCNI},
	{"multus", parse.SrcCNI},
	{"weave", parse.SrcCNI},
	{"antrea", parse.SrcCNI},
	{"aws-node", parse.SrcCNI},
	{"azure-vnet", parse.SrcCNI},
	{"kube-router", parse.SrcCNI},
	{"whereabouts", parse.SrcCNI},
	{"ovn", parse.SrcCNI},
	{"ovs", parse.SrcCNI},
	{"cni", parse.SrcCNI},
}

// mixed lists programs that run a kubelet among other components, and wrappers
// whose name does not say what they run. The form of the message decides.
var mixed = map[string]bool{"k3s": true, "k3s-agent": true, "k3s-server": true, "rke2": true,
	"rke2-agent": true, "rke2-server": true, "docker": true, "docker-current": true, "env": true,
	"unknown": true, "none": true, "-": true, "bash": true, "sh": true, "sudo": true, "rkt": true,
	"logger": true, "journal": true, "systemd-run": true, "microshift": true, "kubesolo": true, "edgecore": true}

// sourceOf returns the writer of a line of class c, from identifier and unit. ok is
// false if neither determines it.
func sourceOf(w *journal.Who, c class) (src parse.Source, ok bool) {
	if c == kubeRow {
		return parse.SrcKubeEvents, true
	}
	if c == criText {
		return parse.SrcContainerd, true
	}
	ident := baseIdent(w.Ident)
	if c == klogText && relays(w.Ident) {
		return parse.SrcKubelet, true // if disown leaves it so
	}
	if ident == "systemd" {
		return parse.SrcSystemd, true
	}
	if src := prefixSource(ident); src != parse.SrcUnknown {
		return src, true
	}
	if ident == "" || mixed[ident] || strings.HasSuffix(ident, ".sh") && !strings.HasPrefix(ident, "kube-") {
		if src := prefixSource(baseIdent(w.Unit)); src != parse.SrcUnknown {
			return src, true
		}
		return mixedSource(ident, c)
	}
	return parse.SrcSystem, true
}

// relays reports whether klog lines of a writer are those of other processes: docker, which
// writes none itself, passes on what containers write under its own name and PID, as the daemon if
// they have its journald driver, and k0s what its components write. Each is then a process of
// its own, by the PID in the header.
func relays(ident string) bool {
	name := baseIdent(ident)
	return strings.HasPrefix(name, "docker") || name == "k0s"
}

// mixedSource determines the writer by the form of the message.
func mixedSource(ident string, c class) (parse.Source, bool) {
	switch {
	case ident == "":
		return parse.SrcUnknown, false
	case c == klogText:
		return parse.SrcKubelet, true
	case c == logrusText && strings.HasPrefix(ident, "docker"):
		return parse.SrcDockerd, true
	case c == logrusText && (ident == "env" || ident == "bash" || ident == "sh"):
		return parse.SrcUnknown, false
	}
	return parse.SrcSystem, true
}

// baseIdent strips the directory and the ".service" suffix of an identifier.
func baseIdent(s string) string {
	return strings.TrimSuffix(s[strings.LastIndexByte(s, '/')+1:], ".service")
}

// MayBeKubelet reports whether a container of this name is, or may contain, a kubelet. Programs that approve its
// certificates or read its metrics begin with its name; those that run it, as a hollow node does, end with it.
func MayBeKubelet(name string) bool {
	name = strings.ToLower(name)
	return mixed[name] || strings.HasSuffix(name, "kubelet") || strings.HasPrefix(name, "hyperkube") ||
		prefixSource(name) == parse.SrcKubelet && !strings.HasPrefix(name, "kubelet-")
}

func prefixSource(s string) parse.Source {
	if s == "" {
		return parse.SrcUnknown
	}
	for _, r := range identSources {
		if strings.HasPrefix(s, r.prefix) {
			return r.source
		}
	}
	return parse.SrcUnknown
}

// sectionSource returns the writer of bare lines in a section such as "kubelet",
// "kube-apiserver [2bbd…]" or "/var/log/kubelet.log". It is SrcSystem if the name
// is not that of a known writer, and SrcUnknown if it is empty.
func sectionSource(name string) parse.Source {
	name = strings.ToLower(name[strings.LastIndexAny(name, "/!")+1:]) // a member of an archive is behind a "!"
	switch {
	case name == "":
		return parse.SrcUnknown
	case strings.HasPrefix(name, "docker"):
		return parse.SrcDockerd
	case name == "dmesg" || strings.HasPrefix(name, "kern"):
		return parse.SrcKernel
	}
	if src := prefixSource(name); src != parse.SrcUnknown {
		return src
	}
	return parse.SrcSystem
}
