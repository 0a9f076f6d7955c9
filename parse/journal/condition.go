package journal

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// conditionRow reads a condition as kubectl describe node prints it:
// "Ready False Sat, 28 Sep 2019 15:05:43 +0000 Sat, … KubeletNotReady …". The clock
// is that of the heartbeat or, for a status that the kubelet did not post, that of
// the transition. Up to 1.8, kubectl put tabs between the columns.
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
		return c, true // a terminal wrapped the row here
	}
	if string(status) == "Unknown" {
		c = turned // written by the controller, valid from the transition on
	}
	return c, n > 0
}

// cell splits off the first word of a row and the blanks and tabs after it.
func cell(b []byte) (w, rest []byte) {
	i := bytes.IndexAny(b, " \t")
	if i < 0 {
		return b, nil
	}
	return b[:i], bytes.TrimLeft(b[i:], " \t")
}
