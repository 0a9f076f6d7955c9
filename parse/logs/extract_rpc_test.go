package logs

import "testing"

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
		{"ListContainers", "state:{}", "", ""}, // CONTAINER_CREATED is that enum's zero
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
