package model

import (
	"fmt"
	"testing"
)

// TestTold: pods come before operations, which count the pods' seconds again, and upper bounds are
// shown beside known shares.
func TestTold(t *testing.T) {
	list, status := Share{What: "list_containers", Seconds: 1}, Share{What: "podsandbox_status", Seconds: 120}
	most := Share{What: "podsandbox_status", Seconds: 108, AtMost: true}
	pods := []Share{{What: "prod/api-0", Seconds: 60}, {What: "prod/api-1", Seconds: 60}}
	for _, c := range []struct {
		in   Blame
		want string
	}{
		{Blame{Total: 240, ByPod: pods, ByOperation: []Share{status, most}}, "prod/api-0 prod/api-1 ≤podsandbox_status"},
		{Blame{Total: 240, ByPod: pods, ByOperation: []Share{status}}, "prod/api-0 prod/api-1"},
		{Blame{Total: 240, ByOperation: []Share{status, list}}, "podsandbox_status"},
		{Blame{Total: 240}, ""},
	} {
		got := ""
		for i, x := range c.in.Told() {
			got += fmt.Sprint(map[bool]string{true: " "}[i > 0], map[bool]string{true: "≤"}[x.AtMost], x.What)
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
