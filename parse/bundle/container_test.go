package bundle

import (
	"strings"
	"testing"
)

func TestContainerOf(t *testing.T) {
	for path, want := range map[string]string{
		"var/log/pods/logging_fluentd-abc_0f1e2d3c/fluentd/0.log":                                    "fluentd",
		"pods/logging_fluentd-abc_0f1e2d3c/fluentd/12.log.20260304-101112":                           "fluentd",
		"var/log/containers/web-0_shop_app-" + strings.Repeat("0a", 32) + ".log":                     "app",
		"must-gather/namespaces/shop/pods/web-0/side-car/side-car/logs/current.log":                  "side-car",
		"namespaces/kube-system/pods/kcm/kube-controller-manager/kube-controller-manager/logs/x.log": "kube-controller-manager",
		"var/log/pods/kube-system_kubelet-n1_0f1e2d3c/kubelet/0.log":                                 "", // a kubelet in a container
		"var/log/pods/k3d_server_0f1e2d3c/k3s/0.log":                                                 "",
		"var/log/containers/web-0_shop_app.log":                                                      "",
		"0.log":                                                                                      "",
		"var/log/pods/README":                                                                        "",
	} {
		if got := containerOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
