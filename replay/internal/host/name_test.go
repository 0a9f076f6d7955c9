package host

import "testing"

func TestObjectName(t *testing.T) {
	for in, want := range map[string]string{`{"name":"worker-28"}`: "worker-28", "worker-28": "worker-28", "": "", `{"name":"`: "", "<node-name>": "", "$NODE": "", "[": ""} {
		if got := objectName(in); got != want {
			t.Errorf("objectName(%q) = %q, want %q", in, got, want)
		}
	}
}
