package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

var auditFile = &parse.File{Path: "log"}

// lineAt returns an event of one signature with the given fields, sec seconds after
// auditStart.
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

// auditNode builds a node whose kubelet relists every second for a minute. It reports
// events of another container, "edge", at both ends, so the log is known to show such
// lines throughout.
func auditNode(events ...*parse.Event) *tested {
	events = append(events, plegLine(0.5, "ContainerStarted", "edge"), plegLine(59, "ContainerDied", "edge"))
	slices.SortStableFunc(events, func(a, b *parse.Event) int { return int(a.At - b.At) })
	n := &tested{Node: &replay.Node{Records: replay.Records{Events: events}, Runs: []replay.Run{{First: sinceStart(-100), Last: sinceStart(200)}}}}
	n.Kubelet.Period = time.Second
	yes := true
	for s := range 60 {
		start := sinceStart(float64(s))
		n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: start}, ListEnd: replay.Instant{At: start + 1e7}, End: replay.Instant{At: start + 2e7}, Listed: &yes, Outcome: replay.OutcomeOK})
	}
	n.read()
	return n
}

// tested is a node with its audit.
type tested struct {
	*replay.Node
	Audit Result
}

// read reads the lines of a node and audits them.
func (n *tested) read() {
	v := host.Look(&n.Records)
	events := host.NewEventTable(n.Events, n.Interned, 0)
	v.Each(host.KindEvent, func(i int, e *parse.Event, _ host.Kinds) { events.See(e, int32(i)) })
	n.Observed = host.Packed(events)
	n.History, n.Requests = host.ReadHistory(&n.Records, v)
	n.Audit = Of(n.Node)
}

// verdicts formats the audit without the events of "edge".
func verdicts(n *tested) string {
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
		{"a death before its time", []*parse.Event{lifeLine(10.1, "created", "c"), lifeLine(10.2, "started", "c"), lifeLine(40.4, "exited", "c", "exited_at", time.Unix(0, sinceStart(40.3)).UTC().Format(time.RFC3339Nano)),
			plegLine(11.1, "ContainerStarted", "c"), plegLine(15, "ContainerDied", "c")},
			"Started c matched, Died c unexpected"},
		{"a death of which a line tells later", join(run("c", 10.2, 40.3), []*parse.Event{plegLine(11.1, "ContainerStarted", "c"), plegLine(15, "ContainerDied", "c")}),
			"Started c matched, Died c matched"},
		{"a death before the removal", []*parse.Event{lifeLine(10.1, "created", "c"), lifeLine(10.2, "started", "c"), lifeLine(40.3, "removed", "c"),
			plegLine(11.1, "ContainerStarted", "c"), plegLine(15, "ContainerDied", "c")},
			"Started c matched, Died c matched"},
		{"a start before the creation", []*parse.Event{lifeLine(20.1, "created", "c"), lifeLine(20.2, "started", "c"), plegLine(11.1, "ContainerStarted", "c")},
			"Started c unexpected"},
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

// TestAuditNeedsHistory checks that nothing is judged without a log of the runtime,
// whatever the kubelet logs about itself.
func TestAuditNeedsHistory(t *testing.T) {
	n := auditNode(plegLine(11, "ContainerStarted", "c"),
		lineAt(20, parse.SrcKubelet, parse.SigTransition, "pod_uid", "u", "id", "c", "old", "running", "new", "exited"))
	if got := verdicts(n); got != "Started c observed" || n.Audit.Audited {
		t.Errorf("got %s, audited %v", got, n.Audit.Audited)
	}
}

// TestAuditDoubt checks that no event is reported missing if the schedule is uncertain,
// an inspection failed, PLEG was unhealthy, the log has a gap, or the kubelet restarted.
func TestAuditDoubt(t *testing.T) {
	events := func() []*parse.Event {
		return []*parse.Event{lifeLine(10, "started", "c"), plegLine(11.1, "ContainerStarted", "c"), lifeLine(20.3, "exited", "c")}
	}
	for name, spoil := range map[string]func(*replay.Node){
		"nothing":         func(*replay.Node) {},
		"no relist dated": func(n *replay.Node) { n.Relists = nil },
		"unhealthy": func(n *replay.Node) {
			n.Health = []replay.HealthSpan{{Span: replay.Span{From: sinceStart(22), To: sinceStart(25)}, State: replay.Unhealthy}}
		},
		"gap": func(n *replay.Node) {
			n.Gaps = []replay.LogGap{{Span: replay.Span{From: sinceStart(22), To: sinceStart(25)}}}
		},
		"failed inspection": func(n *replay.Node) {
			n.Failures = []replay.Failure{{End: sinceStart(21.5), Details: &replay.FailureDetails{PodUID: "u"}}}
		},
		"restart": func(n *replay.Node) { n.Runs[0].Last = sinceStart(22) },
	} {
		n := auditNode(events()...)
		spoil(n.Node)
		if n.Relists == nil { // the edges alone prove listings too, so remove their events
			n.Observed = n.Observed.Without(func(e replay.PodEvent) bool { return e.At == sinceStart(0.5) })
		}
		got := Of(n.Node).Missing
		if want := map[bool]int{true: 1}[name == "nothing"]; got != want {
			t.Errorf("%s: %d missing, want %d", name, got, want)
		}
	}
}
