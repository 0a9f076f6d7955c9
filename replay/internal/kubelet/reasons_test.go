package kubelet

import "testing"

// TestOthersOnly: only a complete list of reasons of a kubelet that asks PLEG shows that PLEG is healthy.
func TestOthersOnly(t *testing.T) {
	for reasons, want := range map[string]bool{
		"container runtime is down":                                      true,
		"[container runtime is down]":                                    true,
		"[container runtime is down, PLEG is not healthy: pleg was last": false,
		"[container runtime is down PLEG is not healthy]":                false,
		"[container runtime is down":                                     false,
		"[network state unknown container runtime is down]":              false, // before 1.6
		"[Failed to start cAdvisor, container runtime is down]":          false,
	} {
		if got := othersOnly(reasons); got != want {
			t.Errorf("%s: %v", reasons, got)
		}
	}
}
