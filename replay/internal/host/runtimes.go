package host

import (
	"regexp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// runtimeWords match what only one runtime's containers and errors are called: an ID with its runtime as scheme or
// type (pkg/kubelet/container, ContainerID), and words of errors that reach the kubelet's lines and events from
// containerd (internal/cri/server), from the dockershim and cri-dockerd, or from CRI-O (server); also the cgroups that systemd
// makes for containers, which the kernel's lines of OOM kills name.
var runtimeWords = []struct {
	kind, sig string
	words     *regexp.Regexp
}{
	{"containerd", parse.SigOnContainerd, regexp.MustCompile(`\bcontainerd://[0-9a-f]{12,}|\bType"?:"?containerd"?[, ]"?ID"?:|ailed to (?:setup|destroy) network for sandbox \\*"|failed to create containerd (?:task|container)\b|\bcri-containerd-[0-9a-f]{12,}\.scope`)},
	{"docker", parse.SigOnDocker, regexp.MustCompile(`\bdocker://[0-9a-f]{12,}|\bType"?:"?docker"?[, ]"?ID"?:|failed to set up sandbox container \\*"|failed to (?:create a sandbox|start sandbox container) for pod \\*"|` +
		`rpc error: code = \w+ desc = .*(?:[nN]etworkPlugin \S+ failed |Error response from daemon: )|is different from docker cgroup driver`)},
	{"cri-o", parse.SigOnCRIO, regexp.MustCompile(`\bcri-o://[0-9a-f]{12,}|\bType"?:"?cri-o"?[, ]"?ID"?:|failed to create pod network sandbox k8s_|\bcrio-[0-9a-f]{12,}\.scope`)},
}

// RuntimesNamed returns the runtimes whose containers and errors lines of the kubelet, events, the kernel and kubectl
// name.
func RuntimesNamed(lines []*parse.Event) (kinds []string) {
	for _, r := range runtimeWords {
		if slices.ContainsFunc(lines, func(e *parse.Event) bool {
			return e.Is(r.sig) || (e.From() == parse.SrcKubelet || e.From() == parse.SrcKubeEvents || e.From() == parse.SrcKernel) && r.words.MatchString(e.Quote())
		}) {
			kinds = append(kinds, r.kind)
		}
	}
	return kinds
}
