package rules

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// evalRPC finds failed CRI calls. Their absence counts only if the kubelet's log covers the
// relist that hung.
func evalRPC(s *subject, args map[string]string) outcome {
	if on := args["on"]; on != "" && (s.rt == "" || !slices.Contains(strings.Fields(on), s.rt)) {
		return cannotLook()
	}
	from, to := s.reachOf(s.fails)
	hits := s.failures.of(args, from, to)
	if except := args["except"]; except != "" {
		p := pattern.Lazy(except)
		hits = those(hits, func(i int) bool { return !p.Match(hits[i].AppendErr(nil)) }, nil)
	}
	if args["starting"] != "" {
		hits = s.ofStarting(hits)
	}
	least := 1
	if n, err := strconv.Atoi(args["min"]); err == nil {
		least = n
	}
	if len(hits) < least {
		if args["code"] == "" && strings.Contains(args["calls"], "ContainerStatus") {
			if es := append(s.inWindow(parse.SigReinspect), s.inWindow(parse.SigIgnore)...); len(es) > 0 { // PLEG's own lines after a failed status call
				return found(events("", es...)...)
			}
		}
		if args["stored"] != "" && len(s.storedErrors()) > 0 {
			return cannotLook()
		}
		if !s.keepsErrors {
			return cannotLook()
		}
		return s.missed()
	}
	return foundFailures(hits)
}

// ofStarting returns the failures logged by a kubelet that had not yet listed pods since
// its start, or that failed to start.
func (s *subject) ofStarting(fs []failure) (out []failure) {
	began := map[int]int64{} // by process
	_, long := s.nevers()
	for _, es := range append(long, s.inWindow("kube.startfail")) {
		for _, e := range es {
			if at, known := began[e.Origin.PID]; !known || e.At < at {
				began[e.Origin.PID] = e.At
			}
		}
	}
	for _, f := range fs {
		lines := f.Evidence()
		if len(lines) == 0 {
			continue
		}
		if e, ok := lines[0].Record.(*parse.Event); ok {
			if at, known := began[e.Origin.PID]; known && (e.Origin.PID != 0 || f.End() >= at) {
				out = append(out, f)
			}
		}
	}
	return out
}

// evalStoredError finds what a log that begins too late still shows of failed inspections.
// If the log shows the calls themselves, it adds nothing.
func evalStoredError(s *subject, _ map[string]string) outcome {
	if _, order := s.statusFailures(); len(order) > 0 {
		return notThere()
	}
	es := s.storedErrors()
	if len(es) == 0 {
		return notThere()
	}
	o := found(events("", es...)...)
	o.count = len(es)
	for _, e := range es {
		if name := e.Field("pod_name"); name != "" {
			o.vars = map[string]string{"pod": e.Field("pod_ns") + "/" + name}
			break
		}
	}
	return o
}

// storedErrors returns the lines of pod workers that got, instead of a status, the timeout
// error of the relist's last inspection of the pod. An error of the sync itself is
// excluded: it begins with what failed, not with the error.
func (s *subject) storedErrors() (out []*parse.Event) {
	for _, e := range s.inWindow("kube.syncerr") {
		if s.texts.pass(mayBeStored, e) && bareTimeout().MatchString(e.Field("err")) {
			out = append(out, e)
		}
	}
	for _, e := range s.inWindow("kube.statuserr") {
		if timedOut.MatchString(e.Field("err")) {
			out = append(out, e)
		}
	}
	sortEvents(out)
	return out
}

// mayBeStored excludes by their text most of the lines that bareTimeout does not match, and errors of an action of
// the sync, in whose words another signature may find a bare timeout.
// Crash loops produce thousands of them, whose fields then need not be parsed.
var mayBeStored = &Clause{Sigs: []string{"kube.syncerr"}, Text: pattern.Lazy(`code = DeadlineExceeded |code = 4 |operation timeout: `),
	Unless: pattern.Lazy(`failed to \\*"`)}

var bareTimeout = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:rpc error: code = (?:DeadlineExceeded|4) |(?:rpc error: code = (?:Unknown|2) desc = )?operation timeout: )`)
})

// logCoversStall reports whether the kubelet's log runs without a hole from the start of
// the last good relist to the breach; an excerpt never does. For a node without an episode
// it reports whether the log covers the times when something else failed.
func (s *subject) logCoversStall() bool {
	if s.ep == nil { // no failure, no stall
		return s.have[parse.SrcKubelet] && len(s.spans) > 0 && !slices.ContainsFunc(s.spans, func(x replay.Span) bool {
			return !s.logged(x.From) || !s.logged(x.To)
		})
	}
	start := s.ep.LastStart.At
	if start == 0 || s.sparse() {
		return false
	}
	return s.logged(start) && !s.holed(start, s.ep.Breach)
}

// shown reports whether the kubelet's log shows every call that failed in the episode, or
// in the incident of a node without one: it is known to be complete, covers the stall, and
// has no hole longer than a minute until PLEG recovered or the process ended.
func (s *subject) shown() bool {
	e := s.ep
	holed := func(from, to int64) bool {
		return slices.ContainsFunc(s.n.Holes, func(h replay.Span) bool { return h.From < to && h.To > from && h.To-h.From > minute })
	}
	if e == nil { // if the start of a hung call is unknown, others may have hung before the log begins
		return s.logCoversStall() && !slices.ContainsFunc(s.fails, func(f failure) bool { return hung(f) && !f.Start.Known() }) &&
			!slices.ContainsFunc(s.spans, func(x replay.Span) bool { return holed(x.From, x.To) || !s.aliveAfter(x.To) })
	}
	end := e.Recovered.At
	if end == 0 && e.Run >= 0 && e.Run+1 < len(s.n.Runs) {
		end = s.n.Runs[e.Run].Last
	}
	from := e.LastStart.At
	if e.Never {
		from = e.Breach
	}
	return from != 0 && end != 0 && e.Whole && s.logged(from) && !holed(from, end)
}

// logged reports whether a time lies within a run of the kubelet's log, give or take 30 s.
func (s *subject) logged(at int64) bool {
	return slices.ContainsFunc(s.n.Runs, func(r replay.Run) bool { return r.First <= at+30*second && at <= r.Last+30*second })
}

// holed reports whether the kubelet's log has a hole in the given period.
func (v *view) holed(from, to int64) bool {
	return slices.ContainsFunc(v.n.Holes, func(h replay.Span) bool { return h.From < to && h.To > from })
}

func foundFailures(fs []failure) outcome {
	var es []replay.Evidence
	for _, f := range fs {
		if lines := f.Evidence(); len(lines) > 0 {
			es = append(es[:min(len(es), keepMax-1)], lines[0])
		}
	}
	o := found(es...)
	o.count, o.source = len(fs), string(parse.SrcKubelet)
	o.vars = failureVars(fs[0].Failure)
	for _, f := range fs {
		if len(o.objects) == mostObjects {
			break
		}
		for _, x := range failureObjects(f) {
			if !slices.Contains(o.objects, x) && len(o.objects) < mostObjects {
				o.objects = append(o.objects, x)
			}
		}
	}
	return o
}

// mostObjects is the maximum number of objects that an outcome names.
const mostObjects = 64

func failureVars(f *replay.Failure) map[string]string {
	v := map[string]string{"call": f.Call, "code": f.Code}
	if id := f.ObjectID(); id != "" {
		v["object"] = id[:min(12, len(id))]
	}
	if f.Pod != "" {
		v["pod"] = f.Pod
	}
	return v
}

func failureObjects(f failure) (out []string) {
	if id := f.ObjectID(); len(id) >= 12 {
		out = append(out, "id:"+id[:12])
	}
	if uid := f.PodUID(); uid != "" {
		out = append(out, "uid:"+uid)
	}
	if _, name, ok := strings.Cut(f.Pod, "/"); ok {
		out = append(out, "pod:"+name)
	}
	return out
}

// statusCalls are the calls that a relist makes for each pod it inspects.
var statusCalls = []string{"PodSandboxStatus", "ContainerStatus", "getPodContainerStatuses", "GetPodStatus"}

// statusFailures returns the failed status calls of the window by the object that they name
// (pod UID, else pod name, else object ID), and the objects by falling number of failures.
func (s *subject) statusFailures() (by map[string][]failure, order []string) {
	if s.byObject != nil {
		return s.byObject, s.objects
	}
	by = map[string][]failure{}
	defer func() { s.byObject, s.objects = by, order }()
	for _, f := range s.within(s.status) {
		key := cmp.Or(f.PodUID(), f.Pod, f.ObjectID())
		if key == "" {
			continue
		}
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], f)
	}
	// If some name a pod, those that name only an ID most probably belong to one of these
	// pods.
	ofPod := func(k string) bool { return by[k][0].Pod != "" || by[k][0].PodUID() != "" }
	if slices.ContainsFunc(order, ofPod) {
		order = slices.DeleteFunc(order, func(k string) bool { return !ofPod(k) })
	}
	sort.SliceStable(order, func(i, j int) bool { return len(by[order[i]]) > len(by[order[j]]) })
	return by, order
}

func isStatus(f failure) bool {
	ofPod := f.Scope == "pod" && (f.Call == "ListPodSandbox" || f.Call == "ListContainers")
	return (ofPod || slices.Contains(statusCalls, f.Call)) && hung(f)
}

// hung reports whether a call failed because no answer came back. "Container not found" is
// an answer. A line cut off before its reason counts as hung.
func hung(f failure) bool {
	switch f.Code {
	case "DeadlineExceeded", "Canceled":
		return true
	case "", "Unknown":
		err := f.Err()
		return err == "" || timedOut.MatchString(err)
	}
	return false
}

var timedOut = pattern.Lazy(`(?i)deadline|time-?out|timed out`)

func evalSameObject(s *subject, _ map[string]string) outcome {
	by, order := s.statusFailures()
	if len(order) == 0 {
		return s.missed()
	}
	if len(order) > 4 {
		return notThere()
	}
	o := foundFailures(by[order[0]])
	if !slices.ContainsFunc(order, func(k string) bool {
		return slices.ContainsFunc(by[k], func(f failure) bool { return f.Code != "" || f.Err() != "" })
	}) {
		o.factor = silentShare // each line was cut off before its reason
	}
	if o.vars["again"] = "of one object fails"; o.count > 1 {
		o.vars["again"] = "of the same object fails again and again"
	}
	if len(order) > 1 {
		var names []string
		for _, k := range order {
			names = append(names, cmp.Or(by[k][0].Pod, k))
		}
		o.vars["again"] = "fails for " + strconv.Itoa(len(order)) + " objects: " + strings.Join(names, ", ")
	}
	return o
}

func evalManyObjects(s *subject, _ map[string]string) outcome {
	by, order := s.statusFailures()
	if len(order) <= 4 {
		return notThere()
	}
	var fs []failure
	for _, k := range order {
		fs = append(fs, by[k][0])
	}
	o := foundFailures(fs)
	o.vars = map[string]string{"objects": strconv.Itoa(len(order))}
	return o
}

// outageGap is the longest pause between refused calls of one outage. The longest pause of
// the gRPC client between two dials, seen in captures, is a minute.
const outageGap = 75 * second

func evalOutage(s *subject, args map[string]string) outcome {
	lists := s.listFailures()
	isDown := false
	down := those(lists, func(i int) bool {
		if i == 0 || lists[i].Failure != lists[i-1].Failure || lists[i].err != lists[i-1].err { // a million may say the same
			isDown = gone(lists[i])
		}
		return isDown
	}, nil)
	if len(down) == 0 {
		return s.missed()
	}
	first, last, _ := longestRow(down, s.aliveBetween)
	span := down[last].End() - down[first].End()
	if over, ok := duration(args["over"]); ok && span < over {
		return notThere()
	}
	if under, ok := duration(args["under"]); ok && (span >= under || s.firstAlive(down[last].End())-s.lastAlive(down[first].End()) >= under || !s.aliveAfter(down[last].End())) {
		return notThere()
	}
	o := foundFailures(down[first : last+1])
	// What only silence or counters show refines the wording but decides nothing: a log
	// that is cut may lack the lines in between.
	first, last, times := longestRow(down, func(from, to int64) bool { return s.aliveBetween(from, to) || s.workedBetween(from, to) })
	if o.vars["outage"] = parse.Short(time.Duration(down[last].End() - down[first].End())); times > 1 {
		o.vars["outage"] += " (the longest of at least " + strconv.Itoa(times) + " times)"
	}
	return o
}

// turn returns the first list calls that timed out before lists were refused, or that were
// refused before lists timed out. late says that they timed out. The next call failed the
// other way, and nothing worked in between.
func (s *subject) turn() (before []failure, late bool) {
	for _, f := range s.listFailures() {
		timedOut := hung(f)
		if !timedOut && !gone(f) || f.Code == "" && f.Err() == "" { // an answer, or cut off before its reason
			continue
		}
		began := f.End()
		if timedOut {
			began -= s.t
		}
		if k := len(before) - 1; k >= 0 && (began-before[k].End() > outageGap || s.aliveBetween(before[k].End(), f.End())) {
			before = nil
		}
		if len(before) > 0 && timedOut != late {
			return before, late
		}
		before, late = append(before, f), timedOut
	}
	return nil, false
}

// evalTurn finds which came first if lists both timed out and were refused in a row: a hung
// runtime refuses calls once it is restarted, and one that was down may hang while it
// starts.
func evalTurn(timedOut bool) func(*subject, map[string]string) outcome {
	return func(s *subject, _ map[string]string) outcome {
		if before, late := s.turn(); len(before) > 0 && late == timedOut {
			return foundFailures(before)
		}
		return s.missed()
	}
}

// longestRow returns the indices of the first and last failure of the longest sequence, by
// time, during which nothing worked, and the minimum number of separate outages. A pause
// alone ends a sequence, but does not show that anything worked in it.
func longestRow(fs []failure, alive func(from, to int64) bool) (first, last, times int) {
	from := 0
	for i := range fs {
		switch {
		case i == 0:
			times = 1
		case alive(fs[i-1].End(), fs[i].End()):
			from, times = i, times+1
		case fs[i].End()-fs[i-1].End() > outageGap:
			from = i
		}
		if fs[i].End()-fs[from].End() > fs[last].End()-fs[first].End() {
			first, last = from, i
		}
	}
	return first, last, times
}

// onlyAnswered reports whether list calls were answered at once, by a refusal or with a
// message that is too large, and none timed out.
func (s *subject) onlyAnswered() bool {
	lists := s.listFailures()
	return slices.ContainsFunc(lists, func(f failure) bool { return gone(f) || f.Code == "ResourceExhausted" }) &&
		!slices.ContainsFunc(lists, func(f failure) bool { return hung(f) })
}

// gone reports whether a call failed at once because no server is listening.
func gone(f failure) bool { return f.Code == "Unavailable" || refused(f.Err()) }

func refused(err string) bool {
	return slices.ContainsFunc([]string{"connection refused", "no such file or directory", "EOF", "connection reset", "Cannot connect to the Docker daemon", "cannot connect to Docker endpoint", "transport is closing"},
		func(words string) bool { return strings.Contains(err, words) })
}

// works returns the first and the last proof, strictly between two times, that a relist
// worked: the start of a successful relist, or a pod event. Both are 0 if there is none.
func (s *subject) works(from, to int64) (first, last int64) {
	add := func(at int64) {
		if first == 0 || at < first {
			first = at
		}
		last = max(last, at)
	}
	rs, ev := s.n.Relists, s.n.Observed
	i := sort.Search(len(rs), func(i int) bool { return rs[i].Start.At > from })
	k := sort.Search(len(rs), func(i int) bool { return rs[i].Start.At >= to })
	for ; i < k && rs[i].Outcome != replay.OutcomeOK; i++ {
	}
	for ; i < k && rs[k-1].Outcome != replay.OutcomeOK; k-- {
	}
	if i < k {
		add(rs[i].Start.At)
		add(rs[k-1].Start.At)
	}
	i = sort.Search(ev.Len(), func(i int) bool { return ev.Item(i).At > from })
	if k = sort.Search(ev.Len(), func(i int) bool { return ev.Item(i).At >= to }); i < k {
		add(ev.Item(i).At)
		add(ev.Item(k - 1).At)
	}
	return first, last
}

// aliveBetween reports whether a relist or a pod event proves a working relist between two
// times.
func (s *subject) aliveBetween(from, to int64) bool {
	first, _ := s.works(from, to)
	return first != 0
}

// workedBetween reports whether one of the intervals s.worked lies between two times.
func (s *subject) workedBetween(from, to int64) bool {
	i := sort.Search(len(s.worked), func(i int) bool { return s.worked[i].From >= from })
	return i < len(s.worked) && s.worked[i].To <= to
}

// worked returns intervals in each of which a relist listed pods, as proven by something
// other than its own lines: two metrics snapshots, or silence in a complete log, which
// would otherwise report a failure every second. They are sorted by start; the end of each
// is the earliest of all that start no earlier.
func worked(n *replay.Node) (out []replay.Span) {
	for i := range n.Claims {
		if c := &n.Claims[i]; c.State == replay.Healthy && c.Proof == replay.ProofSilence && c.To-c.From > 3*second {
			out = append(out, replay.Span{From: c.From, To: c.To - second}) // a list may be refused before the next relist succeeds
		}
	}
	for i := range n.Proofs {
		// The last of the relists began so late that an earlier successful one also lies in
		// the interval.
		if p := &n.Proofs[i]; p.Kind == replay.ProofPaced && time.Duration(p.Count-1)*time.Second > p.SumMax {
			out = append(out, replay.Span{From: p.From, To: p.To})
		}
	}
	slices.SortFunc(out, func(a, b replay.Span) int { return cmp.Compare(a.From, b.From) })
	for i := len(out) - 2; i >= 0; i-- {
		out[i].To = min(out[i].To, out[i+1].To)
	}
	return out
}

// lastAlive returns until when the runtime worked before calls were refused from at on: at
// itself if more than a minute of log without complaints or holes precedes it, otherwise
// the last relist or pod event. A log that begins during an outage does not show its
// length.
func (s *subject) lastAlive(at int64) int64 {
	if s.n.Window.Lines.From < at-outageGap && !s.holed(at-outageGap, at) {
		return at
	}
	_, last := s.works(0, at)
	return last
}

// firstAlive returns from when the runtime worked after calls were refused up to at: at
// itself if a minute of log without holes follows, otherwise the first relist or pod event,
// otherwise the last line.
func (s *subject) firstAlive(at int64) int64 {
	if !s.holed(at, at+outageGap) {
		return at
	}
	first, _ := s.works(at, math.MaxInt64)
	return cmp.Or(first, s.n.Window.Lines.To)
}

// aliveAfter reports whether anything proves a working relist after a time: a relist or pod
// event, or more than a minute of kubelet log without complaints about the runtime.
func (s *subject) aliveAfter(at int64) bool {
	return s.aliveBetween(at, math.MaxInt64) || s.n.Window.Lines.To-at > outageGap && !s.deniedAfter(at)
}

// deniedAfter reports whether the kubelet still reports after a time that the runtime or
// PLEG does not work.
func (s *subject) deniedAfter(at int64) bool {
	return slices.ContainsFunc([]string{"rt.down", "pleg.age"}, func(id string) bool {
		es := s.sig(id)
		return len(es) > 0 && es[len(es)-1].At > at
	})
}
