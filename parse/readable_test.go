package parse

import (
	"strings"
	"testing"
)

// TestReadable checks that JSON in a line becomes words and that anything else is
// unchanged.
func TestReadable(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for s, want := range map[string]string{
		"plain {not JSON} text": "plain {not JSON} text",
		`"Node became not ready" node="n1" condition={"type":"Ready","reason":"KubeletNotReady","message":"PLEG is not healthy"}`: `"Node became not ready" node="n1" condition=PLEG is not healthy`,
		`{"ts":1.5,"caller":"generic.go:1","msg":"Unable to retrieve pods","v":2,"pod":{"name":"a"},"err":"it hangs"}`:            `Unable to retrieve pods: it hangs, pod name a`,
		`event={"ID":"u","Type":"ContainerStarted","Data":"` + id + `"} end`:                                                      `event=ID u, Type ContainerStarted, Data 0123456789ab end`,
		`cut {"a":"b`: `cut {"a":"b`,
		`ory","message":"enough"},{"type":"Ready","message":"down"}],"b":[{"c":1}]`: `ory","message":"enough"},{"type":"Ready","message":"down"}],"b":[{"c":1}]`,
		strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50):                 strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50),
	} {
		if got := Readable(s); got != want {
			t.Errorf("%s:\n%s, want\n%s", s, got, want)
		}
	}
}
