package snapshots

import (
	"testing"
)

func TestOperationType(t *testing.T) {
	for call, want := range map[string]string{"ListPodSandbox": "list_podsandbox", "PodSandboxStatus": "podsandbox_status", "ContainerStatus": "container_status",
		"RunPodSandbox": "run_podsandbox", "ListContainers": "list_containers", "Status": "status", "ExecSync": "exec_sync"} {
		if got := OperationType(call); got != want {
			t.Errorf("%s is %s, want %s", call, got, want)
		}
	}
}
