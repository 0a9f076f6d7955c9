package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestLimitsOfRules tests that each breach rule has a limit with a source, and that each
// limit has a rule and appears on its page.
func TestLimitsOfRules(t *testing.T) {
	var p *Pack
	for _, r := range BreachRules() {
		if len(p.LimitsOf(r.ID)) == 0 {
			t.Errorf("%s has no limit", r.ID)
		}
	}
	for _, l := range p.Limits() {
		if LookupBreach(l.Rule()) == nil || l.Source == "" || l.Unit == "" || l.Set != "" || l.Value < l.Least {
			t.Errorf("limit %+v", l)
		}
		page, ok := p.Page(l.Name, 200)
		if want := l.Name + " = " + l.String(); !ok || !strings.Contains(page, want) {
			t.Errorf("the page of %s does not say %q", l.Name, want)
		}
	}
}

func TestParseLimit(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"slow-relist", "5s", "5s"},
		{"slow-relist", "2.5", "2.5s"},
		{"slow-relist", "2m", "2m"},
		{"relist-threshold-exceeded", "1h30m", "1h30m"},
		{"runtime-operation-errors", "25%", "25%"},
		{"runtime-operation-errors", "12.5", "12.5%"},
		{"runtime-operation-errors", "101%", `"101%" is not a percentage such as 25%`},
		{"runtime-operation-errors.calls", "7", "7 calls"},
		{"kubelet-restarted", "2.5", `"2.5" is not a number of restarts`},
		{"kubelet-restarted", "0", "any is below 1 restart, the least that the evidence for kubelet-restarted can be held against"},
		{"node-not-ready", "NaN", `"NaN" is not a duration such as 90s or 2m`},
		{"node-not-ready", "-5s", `"-5s" is not a duration such as 90s or 2m`},
		{"runtime-down", "5s", "5s is below 30s, the least that the evidence for runtime-down can be held against"},
		{"slow-relists", "5s", `unknown threshold "slow-relists"`},
	} {
		l, err := ParseLimit(tt.name, tt.text, "--threshold")
		got := l.String()
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s=%s: %s, want %s", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestReadLimits(t *testing.T) {
	held, probs := Read("mine.yaml", []byte("thresholds:\n  slow-relist: 5s\n  runtime-operation-slow.status: 20s\n"))
	if len(probs) > 0 || len(held.Defs) > 0 || fmt.Sprint(held.Limits[0].String(), " ", held.Limits[1].Set) != "5s mine.yaml:3" {
		t.Fatalf("%v %v", held, probs)
	}
	_, probs = Read("mine.yaml", []byte("thresholds:\n  slow-relst: 5s\n  slow-relist: soon\n  slow-relist: 3s\nid: x\n"))
	var got []string
	for _, p := range probs {
		got = append(got, p.String())
	}
	want := `mine.yaml:2: unknown threshold "slow-relst" (did you mean "slow-relist"?)
mine.yaml:3: threshold slow-relist: "soon" is not a duration such as 90s or 2m
mine.yaml:4: threshold "slow-relist" given twice
mine.yaml:5: unknown field "id" in a document of thresholds`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// broken returns a node that breaches every rule.
func broken() *replay.Node {
	at := func(sec int) int64 { return base + int64(sec)*second }
	ev := func(sec int) []replay.Evidence {
		return []replay.Evidence{{Record: line(sec, parse.SrcKubelet, parse.SigStarting)}}
	}
	var rows []string
	for _, l := range limits {
		if op, ok := strings.CutPrefix(l.Name, "runtime-operation-slow."); ok && l.Name != limitSlowTotal {
			o := "kubelet_runtime_operations_duration_seconds"
			rows = append(rows, o+"_count|"+op+" 1 1 6", o+"_sum|"+op+" 0.1 0.1 400")
		}
	}
	n := metricNode(snapshots(parse.Stated, []int{0, 15, 90}, append(rows, "kubelet_runtime_operations_errors_total|run_podsandbox 0 0 4", "kubelet_pleg_discard_events 0 0 4")...))
	for _, sec := range []int{0, 10, 20, 30, 40} {
		n.Events = append(n.Events, line(sec+5000, parse.SrcKubelet, parse.SigStatusDown), line(sec, parse.SrcKubelet, parse.SigNever), line(sec+600, parse.SrcKubelet, parse.SigListFail))
	}
	n.Events = append(n.Events, line(900, parse.SrcKubelet, parse.SigHousekeeping, parse.Field{Name: "actual", Value: "20s"}))
	sortEvents(n.Events)
	n.Lags = []replay.LogLag{{At: at(5), Lag: 12e9, Evidence: ev(5)[0]}}
	n.Runs = []replay.Run{{}, {Evidence: ev(1)}, {Evidence: ev(2)}, {Evidence: ev(3)}}
	n.Ready = []replay.ReadyChange{{At: at(0), Evidence: ev(0)[0]}, {At: at(60), Ready: true, Evidence: ev(60)[0]}}
	n.Relists = []replay.Relist{{Start: replay.Instant{At: at(-30)}, End: replay.Instant{At: at(-10)}, Evidence: ev(0), Basis: []string{"age"}}}
	n.Proofs = append(n.Proofs, replay.MetricProof{Kind: replay.ProofFrozen, From: at(200), To: at(300), Sum: 40e9, Evidence: ev(300)},
		replay.MetricProof{Kind: replay.ProofGap, From: at(-60), To: at(50), Evidence: ev(0)})
	return n
}

// TestLimitsCount tests that every limit takes effect: a value above everything that the
// node shows removes the breach or lowers its severity.
func TestLimitsCount(t *testing.T) {
	show := func(p *Pack) string {
		var out []string
		for _, b := range breaches(newView(broken()), p) {
			out = append(out, fmt.Sprintf("%s %s %s", b.Name(), b.Severity, b.Unit))
		}
		return strings.Join(out, "\n")
	}
	before := show(nil)
	for _, r := range BreachRules() {
		if r.ID != limitHealth && !strings.Contains(before, r.ID) {
			t.Errorf("the node does not break %s", r.ID)
		}
	}
	for _, l := range limits {
		if l.Name == limitHealth {
			continue // applied when the history is built: TestHealthThresholdOfPack
		}
		text := "99999"
		if l.Unit == unitPercent {
			text = "100"
		}
		set, err := ParseLimit(l.Name, text, "test")
		if err != nil {
			t.Fatal(err)
		}
		p := &Pack{}
		p.SetLimits(set)
		if show(p) == before {
			t.Errorf("%s = %s changes nothing", l.Name, text)
		}
	}
}
