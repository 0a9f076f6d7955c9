package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

// TestWrap: every line fits, nothing is lost, and long words break after punctuation.
func TestWrap(t *testing.T) {
	for s, want := range map[string]string{
		"a  table stays":                         "a  table stays",
		"one two three four five six":            "one two three four\nfive six",
		"runtime-hang-single-container is it":    "runtime-hang-single-\ncontainer is it",
		"/var/log/pods/a-very-long-name/web.log": "/var/log/pods/a-\nvery-long-name/web.\nlog",
		strings.Repeat("x", 45):                  strings.Repeat("x", 20) + "\n" + strings.Repeat("x", 20) + "\nxxxxx",
		strings.Repeat("節", 12):                  strings.Repeat("節", 10) + "\n節節",
		"":                                       "",
	} {
		if got := wrap(s, 20); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", s, got, want)
		}
	}
	if got := wrap("節", 1); strings.TrimSpace(got) != "節" {
		t.Errorf("a character wider than the line: %q", got)
	}
}

// TestTableFits: a table fits each width, breaks words last, and names the columns left out.
func TestTableFits(t *testing.T) {
	g := &Section{Columns: []string{"node", "what", "where", "more"}}
	g.Row("ip-10-0-12-34.ec2.internal", "The container runtime is unresponsive or slow", "kubelet.log", strings.Repeat("z", 40))
	for width := 40; width < 140; width++ {
		var b bytes.Buffer
		p := newPrinter(&b, Options{Width: width})
		p.render(g)
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if breadth(line) > width {
				t.Errorf("at %d columns: %s", width, line)
			}
		}
		if !strings.Contains(b.String(), "ip-10-0-12-34.ec2.internal") && (width == 70 || width >= 90) {
			t.Errorf("at %d columns the name is broken\n%s", width, b.String())
		}
		if told := strings.Contains(b.String(), "also:"); told == strings.Contains(b.String(), "zzz") {
			t.Errorf("at %d columns:\n%s", width, b.String())
		}
	}
}

// TestNoLineIsTooWide: at every width, no line is wider than the terminal, except commands and
// quoted lines, which are never cut, and no two rows of a table are equal.
func TestNoLineIsTooWide(t *testing.T) {
	a := fixture("ip-10-0-112-134.eu-central-1.compute.internal", 60)
	a.Inputs[0].Path = "/" + strings.Repeat("a-long-folder/", 12) + "sosreport.tar.xz"
	n := &a.Nodes[0]
	var seen []replay.PodEvent
	for i := range 9 { // three containers of a pod start at the same time, three times over
		seen = append(seen, replay.PodEvent{At: n.Window.Start + int64(i/3)*1e9, Pod: "kube-system/aws-load-balancer-controller-7f9d8c6b5-x2x7k", Type: "ContainerStarted", Data: fmt.Sprintf("%x%063x", i, i), Status: "observed"})
	}
	n.Audit.Events = replay.ListOf(seen...)
	for _, width := range []int{80, 100, 140} {
		for name, write := range map[string]func(io.Writer, *model.Report, Options) error{"text": writeText, "events": writeEventsText, "timeline": writeTimelineText} {
			var b strings.Builder
			if err := write(&b, fill(a), Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(b.String()) {
				if l = strings.TrimRight(l, "\n"); breadth(l) > width && !strings.Contains(l, "$ ") {
					t.Errorf("%s at %d columns: %q", name, width, l)
				}
				if name == "events" && strings.Contains(l, "observed") && strings.Contains(l, "Started") && strings.Contains(l, "×3") == (width != 80) {
					t.Errorf("at %d columns: %q", width, l)
				}
			}
		}
	}
	var b strings.Builder
	p := newPrinter(&b, Options{Width: 80})
	p.inputs(fill(a))
	p.heading(strings.Repeat("long words ", 20))
	p.status(strings.Repeat("long-name-", 20), "healthy")
	p.Flush()
	for l := range strings.Lines(b.String()) {
		if breadth(strings.TrimRight(l, "\n")) > 80 {
			t.Errorf("%q", l)
		}
	}
}

// TestLocalTimes: the local time, with its zone, follows each UTC time in the verdict; it includes
// the day if that differs.
func TestLocalTimes(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for in, want := range map[string]string{
		"from 2026-11-20 23:34:19 UTC to 23:36:12; x":         "from 2026-11-20 23:34:19 UTC (2026-11-21 00:34:19 CET) to 23:36:12 (2026-11-21 00:36:12 CET); x",
		"2026-11-20 22:34:19 to 2026-11-21 00:36:12 UTC, 1h":  "2026-11-20 22:34:19 (23:34:19 CET) to 2026-11-21 00:36:12 UTC (01:36:12 CET), 1h",
		"the relist of 2026-11-20 22:34:19.123 UTC":           "the relist of 2026-11-20 22:34:19.123 UTC (23:34:19 CET)",
		"at 2026-02-30 99:99:99 UTC, and 2026-11-20 22:34:19": "at 2026-02-30 99:99:99 UTC, and 2026-11-20 22:34:19",
	} {
		if got := (times{zone: berlin}).prose(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := (times{}).prose(in); got != in {
			t.Errorf("without a zone: %q", got)
		}
	}
	a := fixture("worker-3", 1)
	a.Nodes[0].Summary = "worker-3: PLEG unhealthy from 2026-03-01 12:04:40 UTC to 12:05:42."
	for name, want := range map[string]string{"text": "from 2026-03-01 12:04:40 UTC (13:04:40 CET), recovered by 12:05:42 (13:05:42 CET)", "ticket": "12:04:40 UTC (13:04:40 CET) to 12:05:42 (13:05:42 CET)", "markdown": "12:04:40 UTC (13:04:40 CET) to 12:05:42 (13:05:42 CET)"} {
		var b strings.Builder
		if err := Lookup(Formats, name).Write(&b, fill(a), Options{Width: 140, Zone: berlin}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}
