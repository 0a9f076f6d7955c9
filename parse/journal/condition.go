package journal

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// conditionRow reads a condition as kubectl describe node prints it: "Ready
// False Sat, 28 Sep 2019 15:05:43 +0000 Sat, … KubeletNotReady …". The clock
// is that of the heartbeat.
func conditionRow(b []byte) (parse.Clock, bool) {
	kind, rest, _ := word(b)
	if !camel(kind) {
		return parse.Clock{}, false
	}
	status, rest, _ := word(rest)
	switch string(status) {
	case "True", "False", "Unknown":
	default:
		return parse.Clock{}, false
	}
	c, n := rfc1123(rest)
	if n == 0 {
		return parse.Clock{}, false
	}
	_, n = rfc1123(bytes.TrimLeft(rest[n:], " "))
	return c, n > 0
}
