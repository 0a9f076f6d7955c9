package nodes

import (
	"testing"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

func TestObjectName(t *testing.T) {
	for in, want := range map[string]string{`{"name":"worker-28"}`: "worker-28", "worker-28": "worker-28", "": "", `{"name":"`: "", "<node-name>": "", "$NODE": "", "[": ""} {
		if got := host.ObjectName(in); got != want {
			t.Errorf("host.ObjectName(%q) = %q, want %q", in, got, want)
		}
	}
}
