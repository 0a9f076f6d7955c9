package host

import (
	"testing"
)

func TestObjectName(t *testing.T) {
	for in, want := range map[string]string{`{"name":"worker-28"}`: "worker-28", "worker-28": "worker-28", "": "", `{"name":"`: "", "<node-name>": "", "$NODE": "", "[": "", "XXX": "", "xx-xxx.xxx": "", "x": "x", "nxx": "nxx"} {
		if got := ObjectName(in); got != want {
			t.Errorf("ObjectName(%q) = %q, want %q", in, got, want)
		}
	}
}
