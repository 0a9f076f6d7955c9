package logs

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFilterScope(t *testing.T) {
	const pod = "0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111"
	tests := []struct{ call, filter, scope, uid string }{
		{"ListPodSandbox", "nil", "all", ""},
		{"ListPodSandbox", filterCut, "unknown", ""},
		{"ListPodSandbox", "label", "unknown", ""},
		{"ListPodSandbox", `label_selector:{key:"io.kubern`, "unknown", ""},
		{"ListContainers", "&ContainerFilter{Id:,State:nil,PodSand", "unknown", ""},
		{"ListPodSandbox", "<nil>", "all", ""},
		{"ListPodSandbox", "", "all", ""},
		{"ListPodSandbox", "{}", "all", ""},
		{"ListPodSandbox", "null", "all", ""},
		{"ListPodSandbox", "&PodSandboxFilter{Id:,State:nil,LabelSelector:map[string]string{},}", "all", ""},
		{"ListContainers", "&ContainerFilter{Id:,State:nil,PodSandboxId:,LabelSelector:map[string]string{},}", "all", ""},
		{"ListPodSandbox", "&PodSandboxFilter{Id:,State:&PodSandboxStateValue{State:SANDBOX_READY,},LabelSelector:map[string]string{},}", "ready", ""},
		{"ListPodSandbox", "&PodSandboxFilter{Id:,State:&PodSandboxStateValue{State:SANDBOX_NOTREADY,},LabelSelector:map[string]string{},}", "", ""},
		{"ListPodSandbox", "state:{}", "ready", ""},
		{"ListPodSandbox", "state:{state:SANDBOX_NOTREADY}", "", ""},
		{"ListPodSandbox", `{"state":{}}`, "ready", ""},
		{"ListContainers", "state:{}", "", ""}, // CONTAINER_CREATED is the enum's zero value
		{"ListContainers", "state:{state:CONTAINER_RUNNING}", "running", ""},
		{"ListContainers", `{"state":{"state":1}}`, "running", ""},
		{"ListContainers", "&ContainerFilter{Id:,State:&ContainerStateValue{State:CONTAINER_RUNNING,},PodSandboxId:,LabelSelector:map[string]string{},}", "running", ""},
		{"ListContainers", "&ContainerFilter{Id:,State:nil,PodSandboxId:5a11cafe,LabelSelector:map[string]string{},}", "", ""},
		{"ListContainers", `pod_sandbox_id:"5a11cafe"`, "", ""},
		{"ListContainers", `id:"c0ffee"`, "", ""},
		{"ListPodSandbox", "&PodSandboxFilter{Id:,State:nil,LabelSelector:map[string]string{io.kubernetes.pod.uid: " + pod + ",},}", "pod", pod},
		{"ListPodSandbox", `label_selector:{key:"io.kubernetes.pod.uid"  value:"` + pod + `"}`, "pod", pod},
		{"ListPodSandbox", `label_selector:{key:"io.kubernetes.pod.uid" value:"` + pod + `"}`, "pod", pod},
		{"ListPodSandbox", `{"label_selector":{"io.kubernetes.pod.uid":"` + pod + `"}}`, "pod", pod},
		{"ListPodSandbox", "&PodSandboxFilter{Id:,State:nil,LabelSelector:map[string]string{app: web,},}", "", ""},
	}
	for _, tt := range tests {
		if scope, uid := filterScope(tt.call, tt.filter); scope != tt.scope || uid != tt.uid {
			t.Errorf("%s %q: scope %q uid %q, want %q %q", tt.call, tt.filter, scope, uid, tt.scope, tt.uid)
		}
	}
}

func TestErrorCode(t *testing.T) {
	for err, want := range map[string]string{
		"":                          "",
		"boom":                      "",
		"context deadline exceeded": "DeadlineExceeded",
		"operation timeout: context deadline exceeded":                                                         "DeadlineExceeded",
		"rpc error: code = 4 desc = context deadline exceeded":                                                 "DeadlineExceeded",
		"rpc error: code = 14 desc = grpc: the connection is unavailable":                                      "Unavailable",
		"rpc error: code = 2 desc = x":                                                                         "Unknown",
		"rpc error: code = 99 desc = x":                                                                        "99",
		"rpc error: code = 100 desc = x":                                                                       "",
		"rpc error: code = Deadline desc = context deadline exceeded":                                          "DeadlineExceeded",
		"rpc error: code = Unknown desc = operation timeout: context deadline exceeded":                        "DeadlineExceeded",
		"rpc error: code = Unknown desc = failed to teardown pod network: context deadline exceeded":           "Unknown",
		"rpc error: code = Unavailable desc = transport is closing":                                            "Unavailable",
		"rpc error: code = Unknown desc = Cannot connect to the Docker daemon at unix:///var/run/docker.sock.": "Unavailable",
		"dial unix /run/containerd/containerd.sock: connect: no such file or directory":                        "Unavailable",
		"rpc error: code = NotFound desc = an error occurred when try to find container \"c0ffee\": not found": "NotFound",
	} {
		if got := errorCode(err); got != want {
			t.Errorf("%q: code %q, want %q", err, got, want)
		}
	}
}

// TestRemoteEqualsPattern compares the parsing of a call with the equivalent pattern.
func TestRemoteEqualsPattern(t *testing.T) {
	re := regexp.MustCompile(`(?s)^(?:Get )?([A-Z]\w+)(?: (container|cmd|in sandbox|with filter))?(?: (.*?))? (?:from (?:runtime|image) service|recv) failed(?:: (.*))?$`)
	r := rand.New(rand.NewPCG(11, 12))
	read := 0
	for range 50_000 {
		msg := damage(r, []string{
			`ListPodSandbox with filter nil from runtime service failed: rpc error: it failed: x`,
			`ExecSync cmd c0ffee01 '/bin/true' from runtime service failed: x`,
			`CreateContainer in sandbox "5a11cafe" from runtime service failed`,
			`Get ImageStatus "a b" from image service failed: x failed: y`,
			`StreamPodSandboxes recv failed`,
			`Status from runtime service failed failed`,
		}[r.IntN(6)])
		if strings.HasPrefix(msg, "Get ") && !re.MatchString(msg[len("Get "):]) {
			continue // "Get" as the name of a call
		}
		call, what, object, err, ok := remoteCall(msg)
		got, want := []string{call, what, object, err}, re.FindStringSubmatch(msg)
		if ok != (want != nil) || ok && !slices.Equal(got, want[1:]) {
			t.Fatalf("%q: %q %v, want %q", msg, got, ok, want)
		}
		if ok {
			read++
		}
	}
	if read < 5000 {
		t.Errorf("only %d were read", read)
	}
}

func TestSplitPod(t *testing.T) {
	for in, want := range map[string][3]string{
		"web-0_default(0d1c)":                    {"default", "web-0", "0d1c"},
		`"web-0_default(0d1c)"`:                  {"default", "web-0", "0d1c"},
		"default/web-0":                          {"default", "web-0", ""},
		"web-0_default":                          {"default", "web-0", ""},
		"web-0":                                  {"", "web-0", ""},
		`{"name":"web-0","namespace":"default"}`: {"default", "web-0", ""},
		"0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111":   {"", "", "0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111"},
		"ffa931a35117f067a6d330575536b993":       {"", "", "ffa931a35117f067a6d330575536b993"},
		"":                                       {"", "", ""},
		"{broken":                                {"", "", ""},
		"no pod (at all)":                        {"", "", ""},
	} {
		ns, name, uid := splitPod(in)
		if got := [3]string{ns, name, uid}; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestRefusal checks which errors say that a runtime socket refuses connections.
func TestRefusal(t *testing.T) {
	for text, want := range map[string][2]string{
		`dial unix /run/containerd/containerd.sock: connect: connection refused`:                   {"/run/containerd/containerd.sock", "connection refused"},
		`desc = "dial unix /var/run/crio/crio.sock: connect: no such file or directory"`:           {"/var/run/crio/crio.sock", "no such file or directory"},
		`dial unix \"/run/cri-o.sock\": connect: connection refused`:                               {`\"/run/cri-o.sock\`, "connection refused"},
		`dial unix /run/mydocker.sock: connect: connection refused`:                                {},
		`dial unix /run/csi.sock: connect: connection refused, /run/docker.sock`:                   {},
		`dial unix /run/docker.sock: connect: permission denied`:                                   {},
		`dial tcp docker:1: connect: connection refused`:                                           {},
		`unix /a: connect: connection refused; unix /run/docker.sock: connect: connection refused`: {"/run/docker.sock", "connection refused"},
	} {
		if socket, err := refusal(text); socket != want[0] || err != want[1] {
			t.Errorf("%s: %q %q", text, socket, err)
		}
	}
}

// TestFindAge compares findAge with the equivalent regular expression.
func TestFindAge(t *testing.T) {
	re := regexp.MustCompile(`pleg was last seen active ([0-9][0-9a-zµ. ]*?) ago(?:; threshold is ([0-9][0-9a-z.]*[a-z]))?`)
	parts := []string{"pleg was last seen active ", "3m1.5s", "3m 1.5s", " ago", "; threshold is ", "3m0s", "3", ".", "µ", " ", "x", "-", "2562047h47m16.854775807s", "ago"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := ""
		for range 1 + r.IntN(9) {
			text += parts[r.IntN(len(parts))]
		}
		want := re.FindStringSubmatchIndex(text)
		got, ok := findAge(text)
		if ok != (want != nil) || ok && (got.age != text[want[2]:want[3]] || got.before != text[:want[0]] || got.behind != text[want[1]:] ||
			got.threshold != re.FindStringSubmatch(text)[2]) {
			t.Fatalf("%q: %+v, want %v", text, got, want)
		}
	}
}
