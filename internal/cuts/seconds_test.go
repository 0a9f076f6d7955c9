package cuts

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// inSeconds writes the lines of a klog file as syslog does that keeps neither their header nor their microseconds.
func inSeconds(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		t := lineTime(line)
		i := strings.Index(line, "] ")
		if t == 0 || i < 0 || !klogHeader.MatchString(line) {
			continue
		}
		b.WriteString(time.Unix(0, t).UTC().Format("Jan _2 15:04:05") + " node-1 kubelet[" + strings.Fields(line)[2] + "]: " + line[i+2:])
	}
	return b.String()
}

var klogHeader = regexp.MustCompile(`^[IWEF]\d{4} `)

// TestWholeSeconds: of logs whose stamps are whole seconds, all bounds include the second.
func TestWholeSeconds(t *testing.T) {
	for _, s := range captureSources(t) {
		text := inSeconds(s.files["kubelet.log"])
		if s.truth == nil || text == "" {
			continue
		}
		files := map[string]string{"messages": text}
		for _, f := range s.truth.falsehoods(s.claims(t, files)) {
			t.Errorf("%s: %v", s.name, f)
			if *cutsKept != "" {
				put(t, *cutsKept+"/"+s.name, files)
			}
		}
	}
}
