package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestEvidenceLeads tests that the first records say different things, one per kind, each
// with the sentence of its clause; further records of a kind follow.
func TestEvidenceLeads(t *testing.T) {
	of := func(say string, es ...*parse.Event) outcome {
		return outcome{clause: &Clause{Say: say}, records: events("", es...)}
	}
	a, b := func(sec int) *parse.Event { return line(sec, parse.SrcKubelet, "a") }, func(sec int) *parse.Event { return line(sec, parse.SrcKubelet, "b") }
	var got []string
	for _, e := range evidence([]outcome{of("list", a(1), a(2), a(3)), of("list again", a(4)), of("pods", b(5), b(6))}, nil) {
		got = append(got, strings.TrimSpace(e.Note+" "+e.Record.Quote()))
	}
	want := []string{"list a at 1", "pods b at 5", "list again a at 4", "a at 2", "a at 3", "b at 6"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOneChoice tests that the headline and the cause name the same object, one of the
// worst episode.
func TestOneChoice(t *testing.T) {
	at := func(sec int64, pod string) *replay.Failure {
		e := line(int(sec), parse.SrcKubelet, "rpc.sbstatus")
		return &replay.Failure{Call: "PodSandboxStatus", Code: "DeadlineExceeded", Scope: "pod", Pod: pod, End: e.At, Evidence: []replay.Evidence{{Record: e}}}
	}
	n := node()
	n.Episodes[0].StuckStep = replay.StepInspect
	second := n.Episodes[0]
	second.ID, second.LastStart.At = 2, base+1000*1e9
	second.Breach, second.FirstReport, second.LastReport = base+1180*1e9, base+1185*1e9, base+1300*1e9
	n.Episodes = append(n.Episodes, second)
	for _, f := range []*replay.Failure{at(120, "ns/first"), at(1120, "ns/other"), at(1180, "ns/worst"), at(1240, "ns/worst")} {
		n.Failures = append(n.Failures, *f)
	}
	pack, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	res := Eval(n, pack)
	i := slices.IndexFunc(res.Causes, func(c Cause) bool { return c.ID == "runtime-hang-single-container" })
	if i < 0 {
		t.Fatal("no such cause")
	}
	if c := res.Causes[i]; !strings.Contains(c.Explanation+c.For[0].Note, "ns/worst") || strings.Contains(c.Explanation, "ns/first") {
		t.Errorf("the cause names another pod: %s %s", c.Explanation, c.For[0].Note)
	}
	if !strings.Contains(res.Summary, "of pod ns/worst and 1 more failing") {
		t.Errorf("the headline names another pod: %s", res.Summary)
	}
}

// TestCommandTakesWords tests that a value from the input is a single word of a command, or
// the command is omitted.
func TestCommandTakesWords(t *testing.T) {
	for pid, want := range map[string]string{"101": "kill -CONT 101", "1; reboot": "", "$(reboot)": "", "": ""} {
		x := &scored{def: &Def{Run: []string{"kill -CONT {stopped_pid}"}}, sub: &subject{view: newView(node())}}
		x.found = []outcome{{clause: &Clause{}, vars: map[string]string{"stopped_pid": pid}}}
		if _, runs := x.asks(nil); strings.Join(runs, "|") != want {
			t.Errorf("%q: %q", pid, runs)
		}
	}
}

// TestFillSpans tests that durations in sentences are in human units, whatever their form
// in the line.
func TestFillSpans(t *testing.T) {
	for v, want := range map[string]string{"4m42.491725443s": "took 4m42s.", "12": "took 12.", "web-0": "took web-0."} {
		if got := fill("took {x}.", map[string]string{"x": v}); got != want {
			t.Errorf("%s: %s", v, got)
		}
	}
}
