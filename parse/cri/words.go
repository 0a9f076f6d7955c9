package cri

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// stateWords maps printed states to the states of parse.Container.
var stateWords = map[string]string{
	"container_created": "created", "container_running": "running", "container_exited": "exited", "container_unknown": "unknown",
	"sandbox_ready": "ready", "sandbox_notready": "notready",
	"created": "created", "running": "running", "exited": "exited", "unknown": "unknown",
	"ready": "ready", "notready": "notready",
	"up": "running", "paused": "running", "restarting": "exited", "dead": "exited", "removal": "exited", "removing": "exited",
	"configured": "created", "initialized": "created", "stopped": "exited", "stopping": "running",
}

// stateWord parses a state: a CRI name, or docker's "Up 3 hours (Paused)" and
// "Exited (137) 2 days ago". It returns "" for an unknown word, and the exit code
// if stated.
func stateWord(text string) (string, *int) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	state := stateWords[strings.ToLower(word)]
	if state != "exited" || !strings.HasPrefix(rest, "(") {
		return state, nil
	}
	digits, _, ok := strings.Cut(rest[1:], ")")
	if n, err := strconv.Atoi(digits); ok && err == nil {
		return state, &n
	}
	return state, nil
}

// stamp parses a JSON time: RFC 3339, docker's "2021-03-04 05:06:07 +0000 UTC",
// seconds as a number, or nanoseconds as a number or string. It returns Unix
// nanoseconds, 0 for invalid times and the zero times of the tools.
func stamp(raw json.RawMessage) int64 {
	var s string
	if len(raw) == 0 {
		return 0
	}
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		switch {
		case n > 1e17:
			return n
		case n > 1e8 && n <= parse.LastSecond:
			return n * 1e9
		}
		return 0
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999 -0700"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return t.UnixNano()
		}
	}
	return 0
}

func firstStamp(raws ...json.RawMessage) int64 {
	for _, r := range raws {
		if at := stamp(r); at != 0 {
			return at
		}
	}
	return 0
}
