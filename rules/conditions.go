package rules

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// Condition is a named test in Go for what signature, fact and metric clauses cannot
// express: joins over time, the phase of a hang, arithmetic on relists.
type Condition struct {
	Name string
	Doc  string
	Args []Arg
	// Symptom marks conditions about what failed; they prove nothing about why.
	Symptom bool
	Look    func(*subject, map[string]string) outcome // evaluates the condition
}

// conditions lists every condition, in the order of "rules list".
var conditions = []Condition{
	{"breach", "PLEG was unhealthy: there is an episode", nil, true, evalBreach},
	{"phase", "the episode hangs in this step of the relist; of=node leaves out the relist of one pod on demand, of=hang lists that got an answer at once and never timed out: they were refused, or too large to be taken", args("step", argSteps, "of", argText), true, evalPhase},
	{"pleg-alone", "PLEG is unhealthy while the runtime's Status call still answers", nil, true, evalPlegAlone},
	{"status-too", "the runtime's Status call fails in the same stall", nil, true, evalStatusToo},
	{"status-only", "the runtime's Status call fails while lists work and PLEG is healthy", nil, true, evalStatusOnly},
	{"age", "the age of the last relist passed this limit, a duration or a multiple of the RPC timeout such as 2T", args("over", argSpan), true, evalAge},
	{"sawtooth", "relist starts lie kT+1 s apart, 2kT+1 s up to 1.31: k pods time out in each relist", nil, true, evalSawtooth},
	{"rpc", "CRI calls failed: calls, code and scope are comma-separated or regular expressions; without a code, inspections that the relist says failed are calls of ContainerStatus; with stored, stored errors of inspections keep it open whether any did; with starting, only those of a kubelet that has not listed pods since its start; with on, only on these runtimes; with except, not those whose error matches it", args("calls", argCalls, "code", argPattern, "except", argPattern, "scope", argScopes, "min", argCount, "stored", argText, "starting", argText, "on", argOn), true, evalRPC},
	{"stored-error", "no status call that timed out was recognized, but pod workers get the stored error of one in place of a status", nil, true, evalStoredError},
	{"same-object", "status calls fail again and again for one container or sandbox", nil, true, evalSameObject},
	{"many-objects", "status calls fail for many different objects", nil, true, evalManyObjects},
	{"cadence", "spacing of the skip lines: steady at 5 s, or slow", args("is", argCadence), true, evalCadence},
	{"silence", "every log source is silent for about as long as the age says", nil, true, evalSilence},
	{"journal-lag", "lines reached the journal late", args("over", argDuration), false, evalLag},
	{"churn", "pods changed around the stall, at least so many", args("pods", argCount), false, evalChurn},
	{"outage", "list calls were refused for a stretch of this length", args("over", argDuration, "under", argDuration), true, evalOutage},
	{"startup", "'never successful' shows only in the first moments of a kubelet process", nil, true, evalStartup},
	{"status-pending", "the first status check of one kubelet process has not completed for so long", args("over", argDuration), true, evalStatusPending},
	{"never-persists", "no relist succeeds long after the kubelet started", nil, true, evalNeverPersists},
	{"kubelet", "the kubelet's version lies in this range", args("within", argVersions), true, evalKubelet},
	{"kernel", "the kernel's release lies in this range", args("within", argVersions, "match", argPattern), false, evalKernel},
	{"runtime", "the container runtime is of this kind", args("is", argRuntime), true, evalRuntime},
	{"evented", "the kubelet runs with the evented PLEG", nil, true, evalEvented},
	{"healthy", "the input covers a stretch in which PLEG was healthy throughout", nil, true, evalHealthy},
	{"short-lived", "the runtime's log shows containers that lived and died between two relists", nil, true, evalShortLived},
	{"clock-100ns", "ages count in steps of 100 ns, as on Windows", nil, false, evalCoarseClock},
	{"clock-jump", "the wall clock stepped", args("over", argDuration), false, evalClockJump},
	{"hung-many", "tasks of several programs hang in the kernel", args("min", argCount), false, evalHungMany},
	{"lockups-at-once", "soft lockups on several CPUs in the same moment", nil, false, evalLockups},
	{"followed-by", "a line is followed by another one within a few lines of the same file, as in a stack dump", args("first", argSig, "then", argSig, "lines", argCount), false, evalFollowedBy},
	{"exited-pile", "exited containers outnumber running ones", nil, false, evalPile("exited", "containers.exited", "containers.running", 300, 300, 0)},
	{"shim-pile", "far more shims than containers", nil, false, evalPile("shims", "process.shim.count", "containers.running", 500, 0, 20)},
	{"shim-stays", "containerd's start tries to remove a leftover shim, and the shim does not go", nil, false, evalShimStays},
	{"serial-calls", "the status calls of a relist of 10 s or more, times their mean in the metrics, make up for most of it", nil, false, evalSerialCalls},
	{"slow-lists", "the means of the list calls in the metrics make up for most of a relist of 10 s or more", nil, true, evalSlowLists},
	{"hung-first", "list calls timed out until they were refused; nothing worked in between", nil, true, evalTurn(true)},
	{"refused-first", "list calls were refused until they timed out; nothing worked in between", nil, true, evalTurn(false)},
	{"both-slow", "calls to the API server are late as well, and none to the runtime timed out", nil, false, evalBothSlow},
	{"hung-calls", "by the metrics, calls failed and took as long as their deadline", args("operations", argOperations), true, evalHungCalls},
	{"network-calls", "under dockershim, every call that hangs needs a pod's network, and more than one of them does", nil, false, evalNetworkCalls},
	{"silent-shim", "several calls of containerd for the state of one shim, 10 s and more apart, go unanswered, and hardly any other shim is late", nil, false, evalSilentShim},
	{"many-shims", "several different shims do not answer containerd for long", nil, true, evalManyShims},
	{"crashed", "the kubelet ended itself with a panic, an error of the Go runtime or a fatal line, and did not go on writing", nil, false, evalCrashed},
	{"started-later", "the sync loop of the kubelet worked after the last start that was given up", nil, true, evalStartedLater},
	{"runtime-restarted", "systemd started the runtime's unit after it had ended, a second time, or after the kubelet that still runs had listed pods", nil, true, evalRestarted},
	{"unready", "an object of the node was NotReady for a stated reason that matches", args("why", argPattern), false, evalUnready},
	{"unit-down", "systemd says that the unit of the runtime that this node runs is failed or inactive", nil, false, evalUnitDown},
	{"stop-of-stopped", "the runtime calls a container not running, and a stop of the same one still runs into its deadline afterwards", nil, false, evalStopOfStopped},
	{"waited-for", "a process as old as the wait of the goroutine that keeps a lock is the one that it waits for; what is a pattern of its wait, of the facts of such processes", args("what", argPattern, "of", argText), false, evalWaitedFor},
	{"lock-chain", "what a task waits for in the kernel, and who holds it, as the kernel says or as its stacks prove; patterns of the waiter's name and of the lock", args("waiter", argPattern, "lock", argPattern), false, evalLockChain},
	{"mount-waited-for", "a task in uninterruptible sleep names a network mount in its command line", nil, false, evalMountWaitedFor},
	// Runnable tasks, not load: tasks in uninterruptible sleep raise the load without using
	// a processor.
	{"runnable", "the run queue is far longer than the processors", nil, false, evalPile("runnable", "procs.running", "cpu.count", 32, 3, 0)},
}

// ConditionNames returns the names of all conditions.
func ConditionNames() []string {
	return namesOf(conditions, func(c Condition) string { return c.Name })
}

func conditionByName(name string) *Condition {
	for i := range conditions {
		if conditions[i].Name == name {
			return &conditions[i]
		}
	}
	return nil
}

func notThere() outcome   { return outcome{state: NotThere} }
func cannotLook() outcome { return outcome{state: CannotLook} }

// found is the outcome with the given evidence, of which it keeps the first keepMax-1
// records and the last.
func found(es ...replay.Evidence) outcome {
	if len(es) > keepMax {
		es = append(append([]replay.Evidence{}, es[:keepMax-1]...), es[len(es)-1])
	}
	return outcome{state: Found, factor: 1, records: append([]replay.Evidence{}, es...), count: len(es)}
}

// by sets the source that the outcome counts toward.
func (o outcome) by(source string) outcome {
	o.source = source
	return o
}

// telling sets the variables that sentences may use.
func (o outcome) telling(vars map[string]string) outcome {
	o.vars = vars
	return o
}

// missed is the outcome of a search of the kubelet's log that found nothing: absence counts
// only if the log covers the stall.
func (s *subject) missed() outcome {
	if s.logCoversStall() {
		return notThere()
	}
	return cannotLook()
}

func events(note string, es ...*parse.Event) []replay.Evidence {
	out := make([]replay.Evidence, 0, len(es))
	for _, e := range es {
		out = append(out, replay.Evidence{Record: e, Note: note})
	}
	return out
}

func duration(s string) (int64, bool) {
	d, err := time.ParseDuration(s)
	return int64(d), err == nil
}

func evalBreach(s *subject, _ map[string]string) outcome {
	if s.ep != nil {
		return found(s.reports(2)...)
	}
	for i := range s.n.Episodes {
		if e := &s.n.Episodes[i]; len(e.Evidence) > 0 {
			return found(e.Evidence[0])
		}
	}
	return notThere()
}

// reports returns up to n of the first lines that report the episode.
func (s *subject) reports(n int) []replay.Evidence {
	return s.ep.Evidence[:min(n, len(s.ep.Evidence))]
}

func evalPhase(s *subject, args map[string]string) outcome {
	if s.ep == nil || s.ep.StuckStep == "" || s.ep.StuckStep == replay.StepUnknown {
		return cannotLook()
	}
	if !slices.Contains(strings.Fields(args["step"]), string(s.ep.StuckStep)) || s.ep.OnDemand && args["of"] == "node" || args["of"] == "hang" && s.onlyAnswered() {
		return notThere()
	}
	return found(s.reports(2)...).telling(map[string]string{"step": string(s.ep.StuckStep), "basis": s.ep.StepBasis})
}

// inWindow returns the events of a signature in the subject's window, including undated
// ones. For a node it returns all.
func (s *subject) inWindow(id string) []*parse.Event {
	all := s.sig(id)
	if s.ep == nil {
		return all
	}
	all, exact := s.reach(all, 0, true)
	if exact {
		return all
	}
	var out []*parse.Event
	for _, e := range all {
		if e.Basis == parse.NoTime || e.At >= s.from && e.At <= s.to {
			out = append(out, e)
		}
	}
	return out
}

// eachInWindow iterates over what inWindow returns, without building a list for a signature
// that many lines have.
func (s *subject) eachInWindow(id string) iter.Seq[*parse.Event] {
	if !s.bulk(id) || s.ep != nil && !s.oneClock {
		return slices.Values(s.inWindow(id))
	}
	es := s.lines.Events
	from, to := 0, len(es)
	if s.ep != nil {
		from = sort.Search(len(es), func(i int) bool { return es[i].At >= s.from })
		to = sort.Search(len(es), func(i int) bool { return es[i].At > s.to })
	}
	return s.among(id, from, to)
}

func evalPlegAlone(s *subject, _ map[string]string) outcome {
	if s.ep == nil || s.ep.Never {
		return notThere()
	}
	if len(s.inStall(parse.SigStatusDown))+len(s.inStall(parse.SigStatusWait)) > 0 || s.n.SaysDown(s.stall()) {
		return notThere()
	}
	return found(s.reports(1)...)
}

// stall returns the period from the last good relist to the last report.
func (s *subject) stall() replay.Span {
	return replay.Span{From: s.from + lookBack, To: max(s.ep.LastReport, s.ep.Breach)}
}

// inStall returns the events of a signature during the stall.
func (s *subject) inStall(id string) (out []*parse.Event) {
	at := s.stall()
	for _, e := range s.inWindow(id) {
		if e.At >= at.From && e.At <= at.To {
			out = append(out, e)
		}
	}
	return out
}

func evalStatusToo(s *subject, _ map[string]string) outcome {
	if s.ep == nil {
		return cannotLook()
	}
	es := append(s.inStall(parse.SigStatusDown), s.inStall(parse.SigSanity)...)
	if len(es) == 0 {
		return notThere()
	}
	return found(events("", es...)...)
}

func evalStatusOnly(s *subject, _ map[string]string) outcome {
	if len(s.n.Episodes) > 0 || len(s.listFailures()) > 0 || len(s.sig(parse.SigAge))+len(s.sig(parse.SigCut)) > 0 {
		return notThere()
	}
	// Right after a kubelet start the first Status call is still pending.
	if len(s.sig(parse.SigStarting))+len(s.sig(parse.SigNever))+len(s.sig(parse.SigStatusWait)) > 0 {
		return notThere()
	}
	down := append(slices.DeleteFunc(slices.Clone(s.sig(parse.SigStatusDown)), s.atStart), s.statusTimeouts()...)
	if len(down) == 0 || slices.ContainsFunc(down, func(e *parse.Event) bool { return strings.Contains(e.Message(), "PLEG is not healthy") }) {
		return notThere()
	}
	sortEvents(down)
	return found(events("", down...)...)
}

// statusTimeouts returns the lines about hung Status calls of the runtime.
func (s *subject) statusTimeouts() (out []*parse.Event) {
	for _, f := range s.within(s.failures.fails) {
		if f.Call == "Status" && timedOut.MatchString(f.Err()) {
			for _, ev := range f.Evidence() {
				if e, ok := ev.Record.(*parse.Event); ok {
					out = append(out, e)
				}
			}
		}
	}
	for _, e := range s.sig(parse.SigSanity) {
		if timedOut.MatchString(e.Quote()) {
			out = append(out, e)
		}
	}
	return out
}

// listFailures returns the failed calls in the window that list all pods.
func (s *subject) listFailures() []failure { return s.within(s.lists) }

func isList(f *replay.Failure) bool {
	switch f.Call {
	case "ListPodSandbox", "ListContainers", "GetPods":
		return f.Scope != "pod" && f.Scope != "unknown"
	}
	return false
}

// covers reports whether a time falls into the subject's window.
func (s *subject) covers(at int64) bool {
	return s.ep == nil || at >= s.from && at <= s.to
}

func evalAge(s *subject, args map[string]string) outcome {
	if s.ep == nil || s.ep.Never {
		return cannotLook()
	}
	limit, ok := s.span(args["over"])
	if !ok {
		return cannotLook()
	}
	if int64(s.ep.PeakAge) < limit {
		return notThere()
	}
	return found(s.ep.Peak).telling(map[string]string{"age": parse.Least(s.ep.PeakAge)})
}

// span parses a duration or a multiple of the CRI request timeout ("2T"), in ns. A multiple
// is not usable (ok is false) if the timeout is only assumed.
func (s *subject) span(text string) (int64, bool) {
	if k, ok := strings.CutSuffix(text, "T"); ok {
		f, err := strconv.ParseFloat(k, 64)
		return int64(f * float64(s.t)), err == nil && s.n.Kubelet.TimeoutKnown
	}
	return duration(text)
}

// How far a gap may lie from a multiple of T plus 1 s, due to scheduling and the healthy
// inspections of the same relist. If T is only assumed, the gap must also confirm it, so
// the tolerance is small: one in a hundred lies that close by chance.
const (
	sawtoothSlack = 5 * second
	assumedSlack  = second
)

// version returns the version of the kubelet that ran during the episode, "" if nothing
// states one. known is false if several versions ran and nothing tells which ran then.
func (s *subject) version() (version string, known bool) {
	version = s.n.Kubelet.Version
	same := func(r replay.Run) bool { return r.Version == version }
	other := func(r replay.Run) bool { return r.Version != "" && r.Version != version }
	if !slices.ContainsFunc(s.n.Runs, same) || !slices.ContainsFunc(s.n.Runs, other) { // not from the log, or the only one
		return version, true
	}
	if s.ep != nil && s.ep.Run >= 0 && s.ep.Run < len(s.n.Runs) {
		version = s.n.Runs[s.ep.Run].Version
		return version, version != ""
	}
	return "", false
}

// deadlines returns how many timeouts a stuck pod costs each relist of the episode's kubelet
// after the first, or 0 if its version is not known precisely enough.
func (s *subject) deadlines() int {
	version, known := s.version()
	if !known {
		return 0
	}
	k := &s.n.Kubelet
	return pleg.Deadlines(cmp.Or(version, k.VersionMin), cmp.Or(version, k.VersionMax))
}

func evalSawtooth(s *subject, _ map[string]string) outcome {
	if s.ep == nil {
		return cannotLook()
	}
	starts := s.startsNear()
	if len(starts) < 2 {
		return cannotLook()
	}
	each := 2 * s.t // cost of a stuck pod per relist
	if s.deadlines() == 1 {
		each = s.t
	}
	slack := int64(sawtoothSlack)
	if !s.n.Kubelet.TimeoutKnown {
		slack = assumedSlack
	}
	for i := 1; i < len(starts); i++ {
		gap := starts[i] - starts[i-1] - second
		k := (gap + each/2) / each
		if off := gap - k*each; k >= 1 && k <= 8 && off >= -slack && off <= slack {
			return found(s.reports(2)...).telling(map[string]string{"gap": parse.Short(time.Duration(starts[i] - starts[i-1])), "deadlines": strconv.FormatInt(k*each/s.t, 10)})
		}
	}
	if !s.n.Kubelet.TimeoutKnown {
		return cannotLook()
	}
	return notThere()
}

// startsNear returns the relist starts proven by lines of this kubelet process, from half
// an hour before the last good relist to 20 minutes after the window, oldest first.
func (s *subject) startsNear() (out []int64) {
	for i := range s.n.Episodes {
		e := &s.n.Episodes[i]
		if e.Run != s.ep.Run || e.LastStart.At < s.from-20*minute || e.LastStart.At > s.to+20*minute {
			continue
		}
		for _, l := range append([]replay.Instant{e.LastStart}, e.LastStarts...) {
			if l.Known() {
				out = append(out, l.At)
			}
		}
	}
	slices.Sort(out)
	uniq := out[:0]
	for _, x := range out {
		if len(uniq) == 0 || x-uniq[len(uniq)-1] > second {
			uniq = append(uniq, x)
		}
	}
	return uniq
}
