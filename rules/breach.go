package rules

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// BreachRule is a rule about thresholds that a node may breach. Its thresholds are the
// Limits with its ID.
type BreachRule struct {
	ID          string // stable, in kebab-case
	Title       string
	Severity    Severity
	Doc         string // meaning and impact, for the runbook page
	Remediation []string
	References  []string
	eval        func(*view, *BreachRule) []Breach // nil if only metrics can breach it
}

// BreachRules returns every breach rule, in the order of "rules list". Callers must not
// modify the slice.
func BreachRules() []BreachRule { return breachRules }

// LookupBreach returns the rule with the given ID, or nil.
func LookupBreach(id string) *BreachRule {
	for i := range breachRules {
		if breachRules[i].ID == id {
			return &breachRules[i]
		}
	}
	return nil
}

var breachRules = []BreachRule{
	{"relist-threshold-exceeded", "PLEG was unhealthy", Critical,
		"The last relist whose list calls succeeded began longer ago than the kubelet allows (3 minutes, 10 with the evented PLEG). The kubelet sets the node NotReady and stops syncing pods until a relist gets its list again.",
		[]string{"Read the ranked causes of the episode; the stuck step decides where to look.", "Take goroutine dumps of the kubelet and the runtime before restarting either."},
		[]string{"https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/pleg/generic.go"}, breakEpisodes},
	{"relist-never-succeeded", "no relist succeeded since the kubelet started", Critical,
		"The kubelet started and could not list pods even once for longer than a start takes. The node stays NotReady.",
		[]string{"Check that the container runtime runs and answers: crictl ps, systemctl status."},
		[]string{"https://github.com/kubernetes/kubernetes/issues/84978"}, breakNever},
	{"relist-list-failed", "relists failed to list pods", Warning,
		"GetPods (ListPodSandbox and ListContainers for the whole node) returned an error, so the relist ended without moving its time on. Three minutes of this make the node NotReady.",
		[]string{"The error code tells what to do: DeadlineExceeded, the runtime hangs; Unavailable, it is down; ResourceExhausted, the list is too large."},
		[]string{"https://github.com/kubernetes/kubernetes/pull/45496"}, breakCounted(parse.SigListFail)},
	{"slow-relist", "a relist took long", Warning,
		"A relist took as long as the threshold or longer, by default 10 s, the last finite bucket of the kubelet's own histogram: pod events of that time came late by as much. It becomes critical at the health threshold.",
		[]string{"Compare the relist's list and inspection time; many changed pods or slow calls are the usual reasons."},
		[]string{"https://github.com/kubernetes/kubernetes/issues/93886"}, breakSlow},
	{"pleg-events-discarded", "pod lifecycle events were discarded", Warning,
		"The event channel of 1000 was full and the kubelet threw events away. The pod record is already updated, so they never come again: pods wait for their periodic sync.",
		[]string{"Find why the sync loop did not drain the channel; a kubelet restart re-reads everything."},
		[]string{"https://github.com/kubernetes/kubernetes/pull/72709"}, breakCounted(parse.SigDiscard)},
	{"runtime-down", "the runtime's status check failed", Warning,
		"The kubelet's Status call, made every 5 s, has not succeeded for 30 s: \"container runtime is down\". The node is NotReady for this reason alone, whatever PLEG says.",
		[]string{"crictl info against crictl ps tells a blocked Status call from a dead runtime."},
		[]string{"https://github.com/containerd/containerd/issues/4666"}, breakRuntimeDown},
	{"sync-loop-stalled", "the kubelet's sync loop was blocked", Warning,
		"Housekeeping runs inside the sync loop every 2 s and calls the runtime; it took longer than the threshold, and nothing else was synced meanwhile, and health lines came late.",
		[]string{"Look for failed runtime calls of the same length, or for a dead mount below the kubelet's directory."},
		[]string{"https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_pods.go"}, breakHousekeeping},
	{"journal-lag", "log lines arrived late", Warning,
		"Lines reached the journal long after the kubelet wrote them: journald or the disk under it was blocked. It is evidence of a stall of the whole node, and makes envelope times useless for the order of events.",
		[]string{"Check disk pressure and journald's own messages for that time."},
		[]string{"https://github.com/k3s-io/k3s/issues/2370"}, breakLag},
	{"kubelet-restarted", "the kubelet restarted", Info,
		"The log holds more than one kubelet process. Every start re-reports all containers as events and cannot say how old the last relist is.",
		[]string{"Find what restarts it: systemd watchdog, an operator, a crash."},
		nil, breakRestarts},
	{"relist-interval-long", "two relists began far apart, and none of them took long", Warning,
		"The metrics show a pause between the starts of two relists that no relist filled, and within which nothing could be scraped: the kubelet's process itself did not run. A paused virtual machine or a starved CPU does that; the runtime is not to blame. Metrics only; the pause is a lower bound.",
		[]string{"Look for a snapshot, a live migration or CPU pressure of the host at that time."},
		[]string{"https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/pleg/generic.go"}, nil},
	{"runtime-operation-slow", "calls of one runtime operation took long", Warning,
		"The kubelet's own histogram of runtime calls shows calls of one operation that took longer on average than its threshold (by default 1 s for calls that only read, 10 s for calls that change a container and 30 s for setting up or stopping a sandbox), or single ones over it and over 10 s. A call is counted when it ends. The value is the mean of the slow calls, at least. Single calls that are fewer than one an hour since the snapshot before, or since a start of unknown time, are told and are no warning.",
		[]string{"The operation says where to look: list calls, the size of the node and locks in the runtime; status calls, one pod; create and start, disk and runc.", "Compare with the status operation: if that is quick, the runtime as a whole is alive."},
		[]string{"https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kuberuntime/instrumented_services.go"}, nil},
	{"runtime-operation-errors", "calls of one runtime operation failed", Warning,
		"A larger share of the calls of one runtime operation between two snapshots of the metrics ended with an error than the threshold allows. Failed probes (exec_sync) do not count. It is a warning while at least as many calls fail an hour as must fail at all; a share since a start long ago, or of unknown time, and failures to pull images or to clean up, which the kubelet tries again, are told and are none.",
		[]string{"The kubelet's log names the object and the error of each call."},
		[]string{"https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kuberuntime/instrumented_services.go"}, nil},
	{"metrics-gap", "the kubelet's metrics have a gap over the trouble", Info,
		"Snapshots of /metrics came regularly, but none over an unhealthy stretch or a relist that took long. /metrics asks the runtime for statistics and hangs with it, so the gap is itself a symptom, and alerts on these series saw nothing. The counters jump across it.",
		[]string{"Alert on the absence of the series, or on the age that the kubelet's log states."},
		[]string{"https://github.com/kubernetes/kubernetes/issues/87108"}, nil},
	{"node-not-ready", "the node was NotReady", Critical,
		"The Ready condition of the node was not True. After 5 minutes pods are evicted unless they tolerate it.",
		[]string{"The reason in the condition says who reported it: KubeletNotReady with PLEG, the runtime or the network."},
		nil, breakNotReady},
}

// breaches evaluates every rule and returns the breaches by start time.
func breaches(v *view, p *Pack) []Breach {
	v.pack = p
	var out []Breach
	for i := range breachRules {
		if eval := breachRules[i].eval; eval != nil {
			out = append(out, eval(v, &breachRules[i])...)
		}
	}
	out = v.fold(append(out, metricBreaches(v, out)...))
	sort.SliceStable(out, func(i, j int) bool { return out[i].Start < out[j].Start })
	return out
}

// breach returns a Breach of the rule with at most keepMax pieces of evidence. A start
// before 1970, computed back from a line without a time, becomes 0.
func (v *view) breach(r *BreachRule, from, to int64, value float64, es []replay.Evidence) Breach {
	if len(es) > keepMax {
		es = append(append([]replay.Evidence{}, es[:keepMax-1]...), es[len(es)-1])
	}
	l := v.limitOf(r)
	return Breach{Rule: r.ID, Severity: r.Severity, Start: max(from, 0), End: to, Value: value, Threshold: l.Value, Unit: l.Unit, Evidence: es}
}

// limitOf returns the limit of a rule. A rule with one limit per subject gets only a unit.
func (v *view) limitOf(r *BreachRule) Limit {
	if l, ok := v.pack.limit(r.ID); ok {
		return l
	}
	return Limit{Unit: unitSeconds}
}

// limit returns the value of a threshold by name.
func (v *view) limit(name string) float64 {
	l, _ := v.pack.limit(name)
	return l.Value
}

func secs(d time.Duration) float64 { return float64(d) / float64(time.Second) }

func breakEpisodes(v *view, r *BreachRule) (out []Breach) {
	for i := range v.n.Episodes {
		e := &v.n.Episodes[i]
		if e.Never || len(e.Evidence) == 0 {
			continue
		}
		b := v.breach(r, e.Breach, e.Recovered.At, secs(v.peaks[i]), e.Evidence)
		b.Least, b.StartSlack = true, e.LastStart.Slack
		b.EndSlack = v.n.RecoveredSlack(i)
		if e.Threshold > 0 {
			b.Threshold = secs(e.Threshold)
		}
		out = append(out, b)
	}
	return out
}

func breakNever(v *view, r *BreachRule) []Breach {
	_, long := nodeSubject(v).nevers()
	var out []Breach
	for _, es := range long {
		first, last := es[0], es[len(es)-1]
		if last.At-first.At < int64(v.limit(r.ID)*float64(second))-second {
			continue
		}
		end, slack := v.recoveredAfter(last.At)
		b := v.breach(r, first.At, end, secs(time.Duration(last.At-first.At)), events("", first, last))
		b.EndSlack = slack
		out = append(out, b)
	}
	return out
}

// recoveredAfter returns the recovery time of the episode that contains at, and how much
// earlier it may be, or 0 if it is open.
func (v *view) recoveredAfter(at int64) (int64, time.Duration) {
	for i := range v.n.Episodes {
		if e := &v.n.Episodes[i]; e.Recovered.At >= at && e.FirstReport <= at {
			return e.Recovered.At, v.n.RecoveredSlack(i)
		}
	}
	return 0, 0
}

// stretchGap is the longest pause between repeated signals of one breach.
const stretchGap = 5 * minute

// stretches groups n times into runs without a pause longer than gap and returns the index
// range of each.
func stretches(n int, at func(int) int64, gap int64) (out [][2]int) {
	for i := 0; i < n; i++ {
		if k := len(out); k > 0 && at(i)-at(i-1) <= gap {
			out[k-1][1] = i + 1
			continue
		}
		out = append(out, [2]int{i, i + 1})
	}
	return out
}

// breakCounted returns a rule that counts the lines of a signature, one breach per run of
// lines.
func breakCounted(id string) func(*view, *BreachRule) []Breach {
	return func(v *view, r *BreachRule) (out []Breach) {
		runs := slices.DeleteFunc(runsOf(v.sig(id), stretchGap), func(run []*parse.Event) bool { return float64(len(run)) < v.limit(r.ID) })
		runs = fewOf(v, r, runs, func(run *[]*parse.Event) (int64, int64, float64) {
			return (*run)[0].At, (*run)[len(*run)-1].At, float64(len(*run))
		})
		for _, run := range runs {
			out = append(out, v.breach(r, run[0].At, run[len(run)-1].At, float64(len(run)), ends(run)))
		}
		return out
	}
}

// runsOf splits events into runs without a pause longer than gap.
func runsOf(es []*parse.Event, gap int64) [][]*parse.Event {
	last := func(i int) bool { return i+1 == len(es) || es[i+1].At-es[i].At > gap }
	n := 0
	for i := range es {
		if last(i) {
			n++
		}
	}
	out, from := make([][]*parse.Event, 0, n), 0
	for i := range es {
		if last(i) {
			out, from = append(out, es[from:i+1]), i+1
		}
	}
	return out
}

// ends returns the first and the last line of a run.
func ends(run []*parse.Event) []replay.Evidence {
	if len(run) == 1 {
		return events("", run[0])
	}
	return events("", run[0], run[len(run)-1])
}

func breakSlow(v *view, r *BreachRule) (out []Breach) {
	for i := range v.n.Relists {
		l := &v.n.Relists[i]
		d, ok := l.Duration()
		if !ok || secs(d) < v.limit(r.ID) || len(l.Evidence) == 0 || l.Outcome == replay.OutcomeListFailed || byMetrics(l) {
			continue
		}
		b := v.breach(r, l.Start.At, l.End.At, secs(d), l.Evidence)
		b.Slack, b.StartSlack, b.EndSlack = secs(l.Slack()), l.Start.Slack, l.End.Slack
		out = append(out, b)
	}
	return out
}

// byMetrics reports whether a relist is proven by metrics alone. Such relists are judged
// separately.
func byMetrics(l *replay.Relist) bool {
	return len(l.Basis) == 1 && l.Basis[0] == replay.BasisMetrics
}

func breakRuntimeDown(v *view, r *BreachRule) (out []Breach) {
	for _, run := range runsOf(v.sig(parse.SigStatusDown), minute) {
		first, last := run[0].At, run[len(run)-1].At
		// The check has already failed for 30 s at the first line, except right after a
		// kubelet start.
		if last-first < 30*second && (v.starting(first) || v.mayStart(run[0])) {
			continue
		}
		if d := secs(time.Duration(last - first + 30*second)); d >= v.limit(r.ID) {
			out = append(out, v.breach(r, first-30*second, last, d, ends(run)))
		}
	}
	return out
}

// starting reports whether a kubelet started within the minute before at, by dated starts
// or by lines of a start.
func (v *view) starting(at int64) bool {
	if v.started(at) {
		return true
	}
	for _, id := range []string{parse.SigStarting, parse.SigNever} {
		for _, e := range v.sig(id) {
			if d := at - e.At; d >= -second && d < minute {
				return true
			}
		}
	}
	return false
}

// started reports whether a dated start of a kubelet lies within the minute before at.
func (v *view) started(at int64) bool {
	return slices.ContainsFunc(v.n.Runs, func(r replay.Run) bool {
		return r.Start.Known() && at >= r.Start.At-second && at < r.Start.At+minute
	})
}

// mayStart reports whether a line may be among the first of a kubelet up to 1.13, which
// reports the runtime down until its first check is done.
func (v *view) mayStart(e *parse.Event) bool {
	if in, known := nodeSubject(v).kubeletIn("<1.14"); known && !in {
		return false
	}
	i := slices.IndexFunc(v.n.Runs, func(r replay.Run) bool {
		return r.First <= e.At && e.At <= r.Last && (r.PID == 0 || r.PID == e.Origin.PID)
	})
	return i < 0 || e.At-v.n.Runs[i].First < minute && !v.n.Runs[i].Start.Known()
}

func breakHousekeeping(v *view, r *BreachRule) (out []Breach) {
	type turn struct {
		e    *parse.Event
		took int64
	}
	var long []turn
	for _, e := range v.sig(parse.SigHousekeeping) {
		if d, ok := duration(e.Field("actual")); ok && float64(d)/float64(second) >= v.limit(r.ID) {
			long = append(long, turn{e, d})
		}
	}
	for _, x := range fewOf(v, r, long, func(x *turn) (int64, int64, float64) { return x.e.At - x.took, x.e.At, secs(time.Duration(x.took)) }) {
		out = append(out, v.breach(r, x.e.At-x.took, x.e.At, secs(time.Duration(x.took)), events("", x.e)))
	}
	return out
}

func breakLag(v *view, r *BreachRule) []Breach {
	lags := v.n.Lags
	var out []Breach
	for _, s := range stretches(len(lags), func(i int) int64 { return lags[i].At }, stretchGap) {
		run := lags[s[0]:s[1]]
		worst := 0
		for i := range run {
			if run[i].Lag > run[worst].Lag {
				worst = i
			}
		}
		if secs(run[worst].Lag) < v.limit(r.ID) || run[worst].Record == nil {
			continue
		}
		out = append(out, v.breach(r, run[0].At, run[len(run)-1].At+int64(run[len(run)-1].Lag), secs(run[worst].Lag), []replay.Evidence{run[worst].Evidence}))
	}
	return out
}

func breakRestarts(v *view, r *BreachRule) []Breach {
	var es []replay.Evidence
	runs := v.n.Runs
	for i := 1; i < len(runs); i++ {
		if len(runs[i].Evidence) > 0 {
			es = append(es, runs[i].Evidence[0])
		}
	}
	if len(es) == 0 {
		es = events("", v.scheduledRestarts()...)
	}
	if len(es) == 0 {
		return nil
	}
	return v.restarted(r, es[0].When().At, es[len(es)-1].When().At, es)
}

// scheduledRestarts returns the lines in which systemd reports a scheduled restart of the
// kubelet, or supervisord or a snap a start after a stop. The stop and the start that follow a
// scheduled restart are that restart.
func (v *view) scheduledRestarts() (out []*parse.Event) {
	es := slices.Concat(v.sig("sys.restart"), v.sig("sys.runtime"))
	sortEvents(es)
	ended, scheduled := false, false
	for _, e := range es {
		switch {
		case e.Is("sys.restart"):
			if kubeletUnit().MatchString(e.Field("unit")) && strings.HasPrefix(e.Field("what"), "Scheduled") {
				out, scheduled = append(out, e), true
			}
		case e.Field("what") == "kubelet" || e.Field("what") == "" && kubeletUnit().MatchString(e.Field("unit")):
			if e.Field("op") == "Started" {
				if ended && !scheduled {
					out = append(out, e)
				}
				scheduled = false
			}
			ended = e.Field("op") == "Stopped"
		}
	}
	return out
}

// restarted returns a breach that counts one restart per piece of evidence, or nil below
// the limit.
func (v *view) restarted(r *BreachRule, from, to int64, es []replay.Evidence) []Breach {
	n := float64(len(es))
	if n < v.limit(r.ID) {
		return nil
	}
	b := v.breach(r, from, to, n, es)
	if n >= v.limit(limitRestartWarn) {
		b.Severity = Warning
	}
	return []Breach{b}
}

func breakNotReady(v *view, r *BreachRule) (out []Breach) {
	changes := v.n.Ready
	for i := 0; i < len(changes); i++ {
		c := changes[i]
		if c.Ready || c.Record == nil {
			continue
		}
		end, until, es := int64(0), c.Until, []replay.Evidence{c.Evidence}
		for i+1 < len(changes) && !changes[i+1].Ready {
			i++
			until = max(until, changes[i].Until)
		}
		if i+1 < len(changes) {
			end = changes[i+1].At
			if changes[i+1].Record != nil {
				es = append(es, changes[i+1].Evidence)
			}
		}
		// A period without an end lasted at least until the last statement of it.
		if secs(time.Duration(max(end, until)-c.At)) < v.limit(r.ID) {
			continue
		}
		if end != 0 {
			until = end
		}
		b := v.breach(r, c.At, end, secs(time.Duration(until-c.At)), es)
		if v.starting(c.At) {
			b.Severity = Info
		}
		out = append(out, b)
	}
	return out
}
