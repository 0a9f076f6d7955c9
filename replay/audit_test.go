package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

var auditFile = &parse.File{Path: "log"}

// lineAt is an event of one signature with given fields, so many seconds after
// the start of the test's time.
func lineAt(sec float64, src parse.Source, sig string, fields ...string) *parse.Event {
	var fs []parse.Field
	for i := 0; i+1 < len(fields); i += 2 {
		fs = append(fs, parse.Field{Name: fields[i], Value: fields[i+1]})
	}
	return parse.NewEvent(&parse.EventKind{File: auditFile, Origin: &parse.Origin{Source: src},
		Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: sig, Extract: func(_ string, dst []parse.Field) []parse.Field { return append(dst, fs...) }}}}}, parse.PlainText(fmt.Sprint(sig, " ", fields)), parse.Event{Line: uint32(sec*10) + 1, Stamp: parse.Stamp{At: sinceStart(sec), Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}})
}

const auditStart = int64(1767323045e9) // 2026-01-02T03:04:05Z

func sinceStart(sec float64) int64 { return auditStart + int64(sec*1e9) }

func lifeLine(sec float64, op, id string, more ...string) *parse.Event {
	return lineAt(sec, parse.SrcContainerd, parse.SigCtrLife, append([]string{"op", op, "kind", "container", "id", id,
		"pod_ns", "ns", "pod_name", "web", "pod_uid", "u"}, more...)...)
}

func plegLine(sec float64, kind, id string) *parse.Event {
	return lineAt(sec, parse.SrcKubelet, parse.SigEvent, "pod_ns", "ns", "pod_name", "web", "pod_uid", "u", "type", kind, "data", id)
}

// auditNode builds a node whose kubelet relists every second for a minute and
// reports events of another container at both ends, so that the log is known
// to show such lines throughout.
func auditNode(events ...*parse.Event) *Node {
	events = append(events, plegLine(0.5, "ContainerStarted", "edge"), plegLine(59, "ContainerDied", "edge"))
	slices.SortStableFunc(events, func(a, b *parse.Event) int { return int(a.At - b.At) })
	n := &Node{Records: Records{Events: events}, Runs: []Run{{First: sinceStart(-100), Last: sinceStart(200)}}}
	n.Kubelet.Period = time.Second
	yes := true
	for s := range 60 {
		start := sinceStart(float64(s))
		n.Relists = append(n.Relists, Relist{Start: Instant{At: start}, ListEnd: Instant{At: start + 1e7}, End: Instant{At: start + 2e7}, Listed: &yes, Outcome: OutcomeOK})
	}
	n.Audit = audited(n)
	return n
}

// audited reads the lines of a node and audits them.
func audited(n *Node) Audit {
	v := host.Look(&n.Records)
	s := scan(n, v)
	n.Observed = s.observed.List()
	n.History, n.Requests = host.ReadHistory(&n.Records, v)
	return beginAudit(n, s).finish()
}

// verdicts prints the audit without the edges.
func verdicts(n *Node) string {
	var out []string
	for _, e := range n.Audit.Events.All() {
		if e.Data != "edge" {
			out = append(out, fmt.Sprintf("%s %s %s", strings.TrimPrefix(e.Type, "Container"), e.Data, e.Status))
		}
	}
	for _, s := range n.Audit.ShortLived {
		out = append(out, "short-lived "+s.ID)
	}
	return strings.Join(out, ", ")
}

func TestAudit(t *testing.T) {
	run := func(id string, from, to float64) []*parse.Event {
		return []*parse.Event{lifeLine(from-0.1, "created", id), lifeLine(from, "started", id), lifeLine(to, "exited", id, "exit_code", "137")}
	}
	join := func(lists ...[]*parse.Event) (out []*parse.Event) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		events []*parse.Event
		want   string
	}{
		{"all is well", join(run("c", 10.2, 20.3), []*parse.Event{plegLine(11.1, "ContainerStarted", "c"), plegLine(21.1, "ContainerDied", "c")}),
			"Started c matched, Died c matched"},
		{"a death nobody reports", join(run("c", 10.2, 20.3), []*parse.Event{plegLine(11.1, "ContainerStarted", "c")}),
			"Started c matched, Died c missing"},
		{"a late start", join(run("c", 10.2, 40.3), []*parse.Event{plegLine(25, "ContainerStarted", "c"), plegLine(41.1, "ContainerDied", "c")}),
			"Started c late, Died c matched"},
		{"a death before its time", join(run("c", 10.2, 40.3), []*parse.Event{plegLine(11.1, "ContainerStarted", "c"), plegLine(15, "ContainerDied", "c")}),
			"Started c matched, Died c unexpected"},
		{"between two relists", join(run("c", 10.2, 10.6), []*parse.Event{plegLine(11.1, "ContainerDied", "c")}),
			"Died c matched, short-lived c"},
		{"gone before any relist", join(run("c", 10.2, 10.4), []*parse.Event{lifeLine(10.5, "removed", "c")}), "short-lived c"},
		{"a discard explains nothing by itself", join(run("c", 10.2, 20.3), []*parse.Event{plegLine(11.1, "ContainerStarted", "c"),
			lineAt(21, parse.SrcKubelet, parse.SigDiscard), plegLine(21.2, "ContainerDied", "c")}),
			"Started c matched,   discarded, Died c matched"},
		{"a pod that the kubelet removed", join(run("c", 10.2, 20.3), []*parse.Event{plegLine(11.1, "ContainerStarted", "c"),
			lineAt(19, parse.SrcKubelet, parse.SigSync, "op", "DELETE", "source", "api", "pods", "ns/web")}),
			"Started c matched"},
	} {
		if got := verdicts(auditNode(c.events...)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestAuditNeedsHistory holds that without a log of the runtime nothing is
// judged, whatever the kubelet says about itself.
func TestAuditNeedsHistory(t *testing.T) {
	n := auditNode(plegLine(11, "ContainerStarted", "c"),
		lineAt(20, parse.SrcKubelet, parse.SigTransition, "pod_uid", "u", "id", "c", "old", "running", "new", "exited"))
	if got := verdicts(n); got != "Started c observed" || n.Audit.Audited {
		t.Errorf("got %s, audited %v", got, n.Audit.Audited)
	}
}

// TestAuditDoubt holds that an uncertain schedule, a failing inspection,
// unhealthy times and gaps make nobody guilty.
func TestAuditDoubt(t *testing.T) {
	events := func() []*parse.Event {
		return []*parse.Event{lifeLine(10, "started", "c"), plegLine(11.1, "ContainerStarted", "c"), lifeLine(20.3, "exited", "c")}
	}
	for name, spoil := range map[string]func(*Node){
		"nothing":         func(*Node) {},
		"no relist dated": func(n *Node) { n.Relists = nil },
		"unhealthy": func(n *Node) {
			n.Health = []HealthSpan{{Span{From: sinceStart(22), To: sinceStart(25)}, Unhealthy, ""}}
		},
		"gap":               func(n *Node) { n.Gaps = []LogGap{{Span: Span{From: sinceStart(22), To: sinceStart(25)}}} },
		"failed inspection": func(n *Node) { n.Failures = []Failure{{End: sinceStart(21.5), Details: &FailureDetails{PodUID: "u"}}} },
		"restart":           func(n *Node) { n.Runs[0].Last = sinceStart(22) },
	} {
		n := auditNode(events()...)
		spoil(n)
		s := scan(n, host.Look(&n.Records))
		if n.Relists == nil { // the edges alone prove listings too: take their causes away
			n.Observed = s.observed.List().Without(func(e PodEvent) bool { return e.At == sinceStart(0.5) })
		}
		got := beginAudit(n, s).finish().Missing
		if want := map[bool]int{true: 1}[name == "nothing"]; got != want {
			t.Errorf("%s: %d missing, want %d", name, got, want)
		}
	}
}

func TestHistory(t *testing.T) {
	n := auditNode(
		lineAt(1, parse.SrcContainerd, parse.SigCtrLife, "op", "start-begin", "kind", "sandbox", "pod_ns", "ns", "pod_name", "web", "pod_uid", "u"),
		lineAt(1.5, parse.SrcContainerd, parse.SigCtrLife, "op", "started", "kind", "sandbox", "id", "sb", "pod_ns", "ns", "pod_name", "web", "pod_uid", "u"),
		lineAt(2, parse.SrcContainerd, parse.SigCtrLife, "op", "create-begin", "kind", "container", "sandbox", "sb", "name", "app"),
		lineAt(2.25, parse.SrcContainerd, parse.SigCtrLife, "op", "created", "kind", "container", "id", "c", "sandbox", "sb", "name", "app"),
		lineAt(3, parse.SrcContainerd, parse.SigCtrLife, "op", "start-begin", "kind", "container", "id", "c", "req", "r-1"),
		lineAt(3.5, parse.SrcContainerd, parse.SigCtrLife, "op", "started", "kind", "container", "id", "c", "req", "r-1"),
		lineAt(9, parse.SrcContainerd, parse.SigCtrLife, "op", "exited", "id", "c", "exit_code", "137", "exited_at", "2026-01-02T03:04:13.5Z"),
		lineAt(9.5, parse.SrcKubelet, parse.SigFinished, "pod_uid", "u", "id", "c", "exit_code", "137"),
		lineAt(10, parse.SrcContainerd, parse.SigCtrLife, "op", "remove-begin", "kind", "container", "id", "c"),
		lineAt(10.5, parse.SrcContainerd, parse.SigCtrLife, "op", "remove-failed", "kind", "container", "id", "c", "err", "busy"),
		lineAt(11, parse.SrcContainerd, parse.SigCtrLife, "op", "removed", "kind", "container", "id", "c"),
	)
	var got []string
	for _, x := range n.History.All() {
		s := fmt.Sprintf("%.2f %s %s %s/%s", float64(x.At.At-auditStart)/1e9, x.ID, x.State, x.Namespace, x.PodName)
		if x.ExitCode != nil {
			s += fmt.Sprintf(" %d", *x.ExitCode)
		}
		got = append(got, s)
	}
	want := "1.50 sb running ns/web; 2.25 c created ns/web; 3.50 c running ns/web; 8.50 c exited ns/web 137; 11.00 c removed ns/web"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("transitions\n got %s\nwant %s", s, want)
	}
	got = nil
	for _, r := range n.Requests.All() {
		d, ok := r.Latency()
		got = append(got, fmt.Sprintf("%s %s %v %v %s", r.Op, r.ID, d, ok, r.Err))
	}
	want = "start sb 500ms true ; create c 250ms true ; start c 500ms true ; remove c 500ms true busy; remove c 0s false "
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("requests\n got %s\nwant %s", s, want)
	}
}
