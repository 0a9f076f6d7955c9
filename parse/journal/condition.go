package journal

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// conditionRow reads a condition as kubectl describe node prints it: "Ready
// False Sat, 28 Sep 2019 15:05:43 +0000 Sat, … KubeletNotReady …". The clock
// is that of the heartbeat, of a status that the kubelet did not post that of the
// transition. Up to 1.8 kubectl put tabs between the columns.
func conditionRow(b []byte) (parse.Clock, bool) {
	kind, rest := cell(b)
	if !camel(kind) {
		return parse.Clock{}, false
	}
	status, rest := cell(rest)
	switch string(status) {
	case "True", "False", "Unknown":
	default:
		return parse.Clock{}, false
	}
	c, n := rfc1123(rest)
	if n == 0 {
		return parse.Clock{}, false
	}
	rest = bytes.TrimLeft(rest[n:], " \t")
	turned, n := rfc1123(rest)
	if n == 0 && len(rest) < len(time.RFC1123Z) && string(status) != "Unknown" {
		return c, true // a terminal broke the row here
	}
	if string(status) == "Unknown" {
		c = turned // who says so is the controller, from the transition on
	}
	return c, n > 0
}

// cell takes the first word of a row, and the blanks and tabs behind it.
func cell(b []byte) (w, rest []byte) {
	i := bytes.IndexAny(b, " \t")
	if i < 0 {
		return b, nil
	}
	return b[:i], bytes.TrimLeft(b[i:], " \t")
}
