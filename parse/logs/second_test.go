package logs

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestSecondHeader: what a second header dates on a line is not dated by the first; a
// quoted header dates nothing.
func TestSecondHeader(t *testing.T) {
	const (
		event = `I1120 23:40:35.447491    5203 kubelet.go:1933] SyncLoop (PLEG): "web_default(a6d3)", event: &pleg.PodLifecycleEvent{ID:"a6d3", Type:"ContainerStarted", Data:"9283f3703e4e"}`
		skip  = `I1120 23:45:02.178295    5203 kubelet.go:1826] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m0.073585047s ago; threshold is 3m0s`
		host  = "Nov 20 23:40:35 node-1 kubelet[5203]: "
		later = "Nov 20 23:45:02 node-1 kubelet[5203]: "
	)
	other := strings.Replace(skip, "5203", "5204", 1)
	for _, c := range []struct {
		name, in string
		records  int
		left     bool // a warning says what was left out
	}{
		{"a blank", event + " " + skip, 2, false},
		{"no blank", event + skip, 2, false},
		{"three", event + skip + " " + skip, 3, false},
		{"columns", event[:len(event)-8] + "       | " + skip, 2, false},
		{"framed", host + event + later + skip, 2, false},
		{"another process", event + " " + other, 1, true},
		{"framing is lost", host + event + " " + skip, 1, true},
		{"quoted", `E1120 23:40:35.447491    5203 kubelet.go:1] "PLEG is not healthy" output="` + skip + `" pod="default/web"`, 1, false},
		{"quoted, escaped", `E1120 23:40:35.447491    5203 kubelet.go:1] "PLEG is not healthy" err="said \"` + skip + `\"" pod="default/web"`, 1, false},
		{"the value of a panic", `E1120 23:45:02.178301    5203 runtime.go:76] Observed a panic: ` + "F1120 23:45:02.178295    5203 server.go:9] GenericPLEG: x", 0, false},
		{"the value of a panic, framed", later + `E1120 23:45:02.178301    5203 runtime.go:76] Observed a panic: ` + "F1120 23:45:02.178295    5203 server.go:9] GenericPLEG: x", 0, false},
		{"one", event, 1, false},
	} {
		p := decodeString(c.in + "\n")
		at := map[int64]bool{}
		for _, e := range p.Events {
			at[e.Raw().Header.NS] = true
			if strings.Contains(e.Message(), "last seen") && c.records > 1 && !strings.HasPrefix(e.Quote(), "I1120 23:45") && !strings.HasPrefix(e.Quote(), later) {
				t.Errorf("%s: the age stands in %q", c.name, e.Quote())
			}
		}
		if n := len(p.Events); n != c.records || len(at) != min(n, 2) || len(p.Warnings) > 0 != c.left || p.Coverage[0].Lines != 1 {
			t.Errorf("%s: %d records at %d times, %d lines, warnings %v", c.name, n, len(at), p.Coverage[0].Lines, p.Warnings)
		}
	}
}

// TestGluedLines checks that a line cut by a pager ends where the next one of the journal
// begins.
func TestGluedLines(t *testing.T) {
	const (
		first  = "Nov 13 14:54:27 n1 kubelet[25760]: E1113 14:54:27.896232   25760 kubelet.go:1778] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; thresh"
		second = "Nov 13 14:54:28 n1 systemd[1]: kubelet.service: main process exited, code=exited, status=255/n/a"
		third  = "Nov 13 14:54:29 n1 kubelet[25761]: E1113 14:54:29.896232   25761 kubelet.go:1778] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m7.3s ago; threshold is 3m0s]"
	)
	for _, c := range []struct {
		log  string
		want []string
	}{
		{first + second, []string{first, second}},
		{first + second + third, []string{first, second, third}},
		{strings.ReplaceAll(first+second, "Nov ", "11月 "), []string{strings.ReplaceAll(first, "Nov ", "11月 "), strings.ReplaceAll(second, "Nov ", "11月 ")}},
		{first + strings.Replace(second, "n1", "n2", 1), []string{first + strings.Replace(second, "n1", "n2", 1)}},
		{first + ` says "` + second + `"`, []string{first + ` says "` + second + `"`}},
		{first + strings.Replace(second, ":28", ":26", 1), []string{first + strings.Replace(second, ":28", ":26", 1)}}, // it refers to the past
	} {
		for _, head := range []string{"", first + "\n" + first + "\n"} { // a line that is parsed, and one that is like others
			log := head + c.log + "\n"
			d := NewDecoder(&parse.File{Path: "a.log"}, []byte(log), builtin(t), Options{})
			part := d.Finish([]Result{d.Decode(Run{Data: []byte(log), Last: true})})
			n, line := strings.Count(head, "\n"), 1
			line += n
			if len(part.Events) != n+len(c.want) || part.Lines != line {
				t.Errorf("%q: %d events in %d lines", log, len(part.Events), part.Lines)
				continue
			}
			for i, e := range part.Events[n:] {
				if e.Quote() != c.want[i] || int(e.Line) != line {
					t.Errorf("line %d: got %q, want %q", e.Line, e.Quote(), c.want[i])
				}
			}
		}
	}
}
