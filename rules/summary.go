package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// States of a node in a report.
const (
	statusUnhealthy = "unhealthy"
	statusDegraded  = "degraded"
	StatusHealthy   = "healthy"
	statusUnknown   = "unknown"
)

// status returns the state of the node as shown by the input.
func status(v *view, r *Result) string {
	if len(v.n.Episodes) > 0 {
		return statusUnhealthy
	}
	_, well := v.n.WellThroughout()
	if b := unhealthyUnreported(r); b != nil && (v.wholeAge(b) == nil || !well) || v.cutReport() || fullChannel(v) != "" {
		return statusUnhealthy
	}
	worst := 0
	for _, b := range r.Breaches {
		worst = max(worst, b.Severity.Rank())
	}
	if worst >= Warning.Rank() || slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Level != Possible }) {
		return statusDegraded
	}
	if well && unhealthyWithoutAge(v) == "" && fullChannel(v) == "" && v.heldBack() == "" {
		return StatusHealthy
	}
	return statusUnknown
}

// unhealthyUnreported returns the worst breach of the health threshold, or nil. Without an
// episode such a breach is proven by metrics or relists alone.
func unhealthyUnreported(r *Result) *Breach {
	var worst *Breach
	for i := range r.Breaches {
		if b := &r.Breaches[i]; b.Rule == "relist-threshold-exceeded" && (worst == nil || b.Value > worst.Value) {
			worst = b
		}
	}
	return worst
}

// wholeAge returns the proof of such a breach if it comes from what a process counted since
// its start, which does not date the breach; otherwise nil.
func (v *view) wholeAge(b *Breach) *replay.MetricProof {
	for i := range v.n.Proofs {
		if p := &v.n.Proofs[i]; p.Kind == replay.ProofAge && p.Whole && p.To == b.End && p.From == b.Start {
			return p
		}
	}
	return nil
}

// boundsOf describes from when to when a process counted, as far as known.
func boundsOf(p *replay.MetricProof) string {
	out := ""
	if p.From != 0 {
		out = " since the kubelet started at " + clock(p.From)
	}
	if datedWell(p) {
		out += ", until " + clock(p.To)
	}
	return out
}

// datedWell reports whether the time of a snapshot is known, not just a lower bound of it.
func datedWell(p *replay.MetricProof) bool {
	return len(p.Evidence) > 0 && p.Evidence[0].When().Basis > parse.LowerBound
}

// summary returns one sentence for a ticket: how long the node was NotReady and the stated
// reason, what PLEG did, the stuck step, what failed, the best cause, restarts.
func summary(v *view, r *Result) string {
	name := v.n.Name
	if name == "" || name == "unknown" {
		name = "the node"
	}
	if len(v.n.Episodes) == 0 {
		return name + ": " + sentence(append(absence(v, r), quietSummary(v, r)), v, r)
	}
	worst := WorstEpisode(v.n.Episodes)
	e := &v.n.Episodes[worst]
	less := v.n.RecoveredSlack(worst) + e.Stepped // how much shorter it may have been
	var b strings.Builder
	if e.Never {
		b.WriteString("no relist has succeeded since the kubelet started")
		if e.FirstReport != 0 {
			b.WriteString(", first seen " + clock(e.FirstReport))
			if e.Recovered.Known() {
				b.WriteString(", for " + parse.OrLess(time.Duration(e.Recovered.At-e.FirstReport), less))
			}
		}
	} else {
		b.WriteString("PLEG unhealthy")
		if e.Breach != 0 {
			b.WriteString(" from " + clock(e.Breach))
		}
		earlier := v.n.Earlier(e) != 0
		if earlier {
			b.WriteString(" at the latest")
		}
		switch took := time.Duration(e.Recovered.At - e.Breach); {
		case e.Breach != 0 && e.Recovered.Known() && earlier:
			b.WriteString(", for at least " + parse.Least(max(took-less, 0)) + again(e, v, r))
		case e.Breach != 0 && e.Recovered.Known():
			b.WriteString(" for " + parse.OrLess(took, less) + again(e, v, r))
		default:
			b.WriteString(", " + Unrecovered(e.LastReport, v.n.Window.End, e != &v.n.Episodes[len(v.n.Episodes)-1]) + ", last relist at least " + parse.Least(v.peakOf(e)) + " old")
		}
	}
	if n := len(v.n.Episodes); n > 1 {
		b.WriteString(" (the worst of " + strconv.Itoa(n) + " episodes")
		if last := &v.n.Episodes[n-1]; last != e && !last.Recovered.Known() {
			b.WriteString(", the last of them " + Unrecovered(last.LastReport, v.n.Window.End, false))
		}
		b.WriteString(")")
	}
	b.WriteString(stepWords(e) + failing(v, e) + "; " + verdict(r, e.ID) + ".")
	return name + ": " + sentence([]string{r.UnreadyIn(e).words(), b.String(), away(v, r)}, v, r)
}

// sentence joins the nonempty parts, with restarts of the kubelet last.
func sentence(parts []string, v *view, r *Result) string {
	if i := slices.IndexFunc(r.Breaches, func(b Breach) bool { return b.Rule == "kubelet-restarted" }); i >= 0 {
		least := ""
		if slices.ContainsFunc(r.Breaches[i].Evidence, func(e replay.Evidence) bool { _, counted := e.Record.(*parse.Sample); return counted }) {
			least = "at least " // several restarts may fall between two snapshots
		}
		n, times := int(r.Breaches[i].Value), "once"
		for _, line := range v.scheduledRestarts() {
			if count, err := strconv.Atoi(line.Field("n")); err == nil && count > n {
				least = "at least " // systemd counted those before the log, too
			}
		}
		if n != 1 {
			times = strconv.Itoa(n) + " times"
		}
		what := "the kubelet restarted "
		if !slices.ContainsFunc(r.Breaches[i].Evidence, func(e replay.Evidence) bool { x, line := e.Record.(*parse.Event); return !line || !x.Is("sys.restart") }) {
			what = "systemd scheduled a restart of the kubelet " // which need not have begun: a program before it may have failed
		}
		parts = append(parts, what+least+times)
	}
	for i := range parts {
		parts[i] = strings.TrimSuffix(parts[i], ".")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ") + "."
}

// WorstEpisode returns the index of the worst episode, by the larger of how far the age of
// the last relist exceeded the threshold and how long the episode provably lasted. It
// returns 0 if there are no episodes.
func WorstEpisode(es []replay.Episode) int {
	w := 0
	for i := range es {
		if lengthOf(&es[i]) > lengthOf(&es[w]) {
			w = i
		}
	}
	return w
}

func lengthOf(e *replay.Episode) int64 {
	from := e.Breach
	if e.Never || from == 0 {
		from = e.FirstReport
	}
	return max(int64(e.PeakAge-e.Threshold), max(e.LastReport, e.Recovered.Earliest())-from)
}

// again says that PLEG was unhealthy once more after an episode without a report, and until
// when if that is proven. It returns "" if it was not.
func again(e *replay.Episode, v *view, r *Result) string {
	for i := range r.Breaches {
		b := &r.Breaches[i]
		if b.Rule != "relist-threshold-exceeded" || b.Start <= e.Breach || e.Recovered.Known() && b.Start < e.Recovered.Earliest() {
			continue
		}
		if slices.ContainsFunc(v.n.Episodes, func(x replay.Episode) bool { return x.Breach == b.Start }) {
			return "" // reported as the next episode
		}
		words := ", unhealthy again from " + time.Unix(0, b.Start).UTC().Format("15:04:05")
		if b.End != 0 {
			words += " to " + time.Unix(0, b.End).UTC().Format("15:04:05") + " at the latest"
		}
		return words + " without a report"
	}
	return ""
}

// peakOf returns the minimum peak age of the last relist in an episode.
func (v *view) peakOf(e *replay.Episode) time.Duration {
	return v.peaks[slices.IndexFunc(v.n.Episodes, func(x replay.Episode) bool { return x.ID == e.ID })]
}

// lastWords is more than a kubelet that skips its turns is silent: after a longer silence at the end of a log it may
// have recovered.
const lastWords = 10 * second

// Unrecovered words the missing recovery of an episode. last is the time of its last
// report, 0 if it has none, end the end of the log; others says that further episodes
// follow.
func Unrecovered(last, end int64, others bool) string {
	if last == 0 {
		return "whether it recovered is not known"
	}
	if others || end-last > lastWords {
		return "recovery not seen"
	}
	return "not recovered by the end of the log"
}

func stepWords(e *replay.Episode) string {
	switch e.StuckStep {
	case replay.StepList:
		return ", stuck listing pods"
	case replay.StepInspect:
		if e.OnDemand {
			return ", stuck in the relist of one pod on demand"
		}
		return ", stuck inspecting changed pods"
	case replay.StepDeliver:
		return ", stuck delivering events"
	}
	return ""
}

// failing names the call that failed in the episode and its object: the pods that could not
// be inspected, or else the first object.
func failing(v *view, e *replay.Episode) string {
	s := episodeSubject(v, e)
	if by, order := s.statusFailures(); len(order) > 0 && e.StuckStep != replay.StepList {
		f, more := by[order[0]][0], ""
		if n := len(order) - 1; n > 0 {
			more = " and " + strconv.Itoa(n) + " more"
		}
		return ", " + f.Call + of(f.Failure) + more + withCode(f.Failure)
	}
	for _, f := range v.fails {
		if s.covers(f.End()) && f.Call != "" && f.End() >= s.from+lookBack && ofStep(f, e.StuckStep) {
			return ", " + f.Call + of(f.Failure) + withCode(f.Failure)
		}
	}
	return ""
}

// of names the object of a call, or returns "" for the whole node.
func of(f *replay.Failure) string {
	if f.Pod != "" {
		return " of pod " + f.Pod
	} else if id := f.ObjectID(); id != "" {
		return " of " + id[:min(12, len(id))]
	}
	return ""
}

func withCode(f *replay.Failure) string {
	if f.Code == "" {
		return ""
	}
	return " failing with " + f.Code
}

// ofStep reports whether a failed call belongs to the stuck step.
func ofStep(f failure, step replay.Step) bool {
	switch step {
	case replay.StepList:
		return isList(f.Failure)
	case replay.StepInspect:
		return isStatus(f)
	}
	return isList(f.Failure) || isStatus(f)
}

// verdict names the best cause of an episode and its level.
func verdict(r *Result, episode int) string {
	for _, c := range r.Causes {
		if !slices.Contains(c.Episodes, episode) {
			continue
		}
		name := lowerFirst(c.Title) + " (" + c.ID + ")"
		switch {
		case c.Level == Possible:
			return "cause unknown; " + c.ID + " is possible" + toTell(&c)
		case c.Kind == KindSymptom:
			return name + "; why is not known" + toTell(&c)
		case c.Level == Confirmed:
			return "cause, confirmed: " + name
		}
		return "most likely cause: " + name
	}
	return "cause unknown"
}

// toTell names the first input that would settle a cause.
func toTell(c *Cause) string {
	if len(c.Missing) == 0 {
		return ""
	}
	return ": collect " + lowerFirst(c.Missing[0].Text)
}

// lowerFirst lowers the first letter of a sentence, unless the first word is a name such as
// NFS or CRI-O.
func lowerFirst(s string) string {
	if len(s) < 2 || s[1] != ' ' && (s[1] < 'a' || s[1] > 'z') {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// quietSummary returns the sentence for a node without an episode.
func quietSummary(v *view, r *Result) string {
	best, maybe := "", ""
	if len(r.Causes) > 0 {
		switch c := r.Causes[0]; {
		case c.Kind == KindLookAlike && away(v, r) != "": // already stated
		case c.Kind == KindLookAlike && r.LookAlikes[0].Level != Possible:
			best = lowerFirst(c.Title) + " (" + c.ID + ")"
		case c.Level == Possible:
			maybe = "; cause unknown, " + c.ID + " is possible"
		default:
			best = lowerFirst(c.Title) + " (" + c.ID + ", " + string(c.Level) + ")"
		}
	}
	if b := unhealthyUnreported(r); b != nil {
		return v.unreported(b, best, maybe)
	}
	if said := cmp.Or(unhealthyWithoutAge(v), fullChannel(v)); said != "" && r.Status != StatusHealthy {
		return said
	}
	span, well := v.n.WellThroughout()
	within, only := "PLEG stayed within its threshold from ", "PLEG is known to be within its threshold only from "
	when := clocks(span.From, span.To)
	if span.To-span.From < second {
		within, when = "PLEG was within its threshold at ", clock(span.From)
		only = within
	}
	within, only = within+when+provenBy(v.n), only+when+provenBy(v.n)
	unseen := strings.TrimSuffix("; "+v.unseen(r), "; ")
	if r.Status == StatusHealthy {
		return within + untold(v.n) + unseen
	}
	found := best
	if s := slowest(v.n); s != "" {
		found = strings.TrimSuffix(s+", "+best, ", ")
	}
	if found == "" && len(r.Breaches) > 0 {
		if b := &r.Breaches[0]; b.Rule != "node-not-ready" && b.Rule != "kubelet-restarted" {
			found = LookupBreach(b.Rule).Title + " (" + b.Rule + ")"
		}
	}
	found = cmp.Or(found, v.heldBack(), v.dropped())
	if !well && span.From == 0 {
		found = cmp.Or(found, strings.TrimPrefix(unseen, "; "))
	}
	switch {
	case found == "" && !well && span.From != 0: // a single metrics snapshot, or a log that covers only part of the window
		return only + cmp.Or(untold(v.n), "; nothing tells of the time before or after") + unseen + maybe
	case found == "" && len(absence(v, r)) > 0:
		return "whether PLEG passed its threshold cannot be decided from this input" + maybe
	case found == "" && len(v.sig(parse.SigQuoted)) > 0:
		return "the input quotes a report that PLEG is not healthy; nothing shows that it is this node's own" + maybe + ". Collect the kubelet log of the node"
	case found == "":
		r.Silent = true
		return "not enough evidence to tell" + maybe + ". Collect the kubelet log starting 10 minutes before the incident"
	case well:
		return within + unseen + ". Found: " + found + maybe
	}
	return found + maybe + "; whether PLEG passed its threshold cannot be decided from this input"
}

// unreported returns the sentence for an unhealthy PLEG that no line reports, with what was
// found.
func (v *view) unreported(b *Breach, found, maybe string) string {
	age := time.Duration(b.Value * float64(time.Second))
	if _, ok := b.Evidence[0].Record.(*parse.Event); ok {
		return "PLEG unhealthy from " + clock(b.Start) + " at the latest, though no line was recognized that says so: its relists leave no room for one that listed pods, the last such was at least " + parse.Least(age) + " old" + strings.TrimSuffix("; found: "+found, "; found: ") + maybe
	}
	if p := v.wholeAge(b); p != nil {
		return "PLEG was unhealthy some time" + boundsOf(p) + " by the metrics: a relist began at least " + parse.Least(p.SumMin) + " after the last one that had listed pods; the kubelet's log would tell when" + maybe
	}
	latest := " at the latest," // only its age bounds when it began
	if slices.ContainsFunc(v.n.Health, func(h replay.HealthSpan) bool {
		return h.State == replay.Unhealthy && h.From <= b.Start && b.Start <= h.To
	}) {
		latest = ""
	}
	return "PLEG unhealthy from " + clock(b.Start) + latest + " by the metrics, last relist at least " + parse.Least(age) + " old; the kubelet's log of that time would tell why"
}

// untold states for how much of the window the health of PLEG is unknown, or "" if less
// than a minute.
func untold(n *replay.Node) string {
	sum := int64(0)
	for _, h := range n.Health {
		if h.State == replay.HealthUnknown {
			sum += h.To - h.From
		}
	}
	if sum < minute {
		return ""
	}
	return "; nothing tells of " + parse.Short(time.Duration(sum)) + " of the " + parse.Short(time.Duration(n.Window.End-n.Window.Start)) + " that the input covers"
}

// endsWell reports whether PLEG was healthy in the last state that the input proves.
func endsWell(n *replay.Node) bool {
	for _, h := range slices.Backward(n.Health) {
		if h.State != replay.HealthUnknown {
			return h.State == replay.Healthy
		}
	}
	return false
}

// mostSkipGap exceeds the longest sleep of the sync loop between two iterations while it is
// held back (kubelet syncLoop doubles 100 ms up to 5 s).
const mostSkipGap = 6 * second

// heldBack describes a kubelet whose first relist or runtime status check is still pending
// at the end of the input. It returns "" if the kubelet has just started or went on.
func (v *view) heldBack() string {
	es, said := v.sig(parse.SigNever), "no relist has succeeded since the kubelet started"
	if len(es) == 0 {
		es, said = v.sig(parse.SigStatusWait), "the kubelet skips pod synchronization, as its first status check of the runtime may not have completed"
	}
	if len(es) == 0 {
		return ""
	}
	e := es[len(es)-1]
	if v.n.Window.Lines.To-e.At > mostSkipGap || v.started(e.At) || v.starting(e.At) && !e.Is(parse.SigNever) || v.inspected(e.At) {
		return ""
	}
	if e.At != 0 {
		said += ", last at " + clock(e.At)
	}
	return said
}

// inspected reports whether a relist inspected a pod after the moment, which it does after its list.
func (v *view) inspected(after int64) bool {
	return slices.ContainsFunc(v.sig(parse.SigWriteStatus), func(e *parse.Event) bool { return e.At >= after })
}

// dropped describes relists of single pods that the kubelet did not even queue, or returns
// "" if there are none.
func (v *view) dropped() string {
	d := v.n.OnDemand.Dropped
	if len(d) == 0 {
		return ""
	}
	said := "the kubelet dropped " + parse.Plural(len(d), "request") + " for relists of single pods, since 200 waited"
	if at := d[0].When(); at.Basis != parse.NoTime {
		said += ", first at " + clock(at.At)
	}
	return said
}

// healthProofs gives the wording for each kind of proof that PLEG was healthy.
var healthProofs = []struct{ proof, words string }{
	{replay.ProofListing, "relisting that listed pods"},
	{replay.ProofPace, "the histogram of relist intervals"},
	{replay.ProofGauge, "kubelet_pleg_last_seen_seconds"},
	{replay.ProofSilence, "a complete kubelet log that never calls it unhealthy"},
}

// provenBy names what proves that PLEG was healthy in the window.
func provenBy(n *replay.Node) string {
	var words []string
	for _, p := range healthProofs {
		if slices.ContainsFunc(n.Claims, func(c replay.Claim) bool {
			return c.Proof == p.proof && c.State == replay.Healthy && slices.ContainsFunc(n.Health, func(h replay.HealthSpan) bool {
				return h.State == replay.Healthy && c.From < h.To && h.From < c.To
			})
		}) {
			words = append(words, p.words)
			if p.proof == replay.ProofSilence && n.Kubelet.ThresholdSet {
				words[len(words)-1] = "a complete kubelet log in which no reported age reaches it"
			}
			if p.proof == replay.ProofSilence && n.Kubelet.CallTimeout() == 0 { // a longer call may hang unseen at the end of the log
				words[len(words)-1] += ", if calls time out after " + parse.Short(n.Kubelet.RPCTimeout) + " as they do by default"
			}
		}
	}
	switch k := len(words) - 1; {
	case k < 0:
		return ""
	case k == 0:
		return ", proven by " + words[0]
	default:
		return ", proven by " + strings.Join(words[:k], ", ") + " and " + words[k]
	}
}

// awayCauses are the look-alikes that make a node NotReady on their own.
var awayCauses = []string{"api-server-unreachable", "kubelet-stopped-posting", "network-not-ready", "node-shutdown"}

// absence says why a node without an episode was NotReady, as far as the input states it:
// the reason of the condition, and heartbeats that did not arrive.
func absence(v *view, r *Result) (out []string) {
	said := longest(r.Unready, func(u *Unready) bool { return !v.starting(u.From) }).words()
	if node := nodeSubject(v); said == "" && node.unreadyUnsaid() {
		said = "the node became NotReady, and why is not known"
		if node.readyAfter() {
			said = "the node became NotReady and then Ready again, and why is not known"
		}
	}
	if said == "" {
		said = listed(v.n)
	}
	return slices.DeleteFunc([]string{said, away(v, r)}, func(s string) bool { return s == "" })
}

// listed says that every table of nodes shows the node NotReady, or "". Such a table
// has no time.
func listed(n *replay.Node) string {
	not := false
	for _, o := range n.Objects {
		switch status := o.Field("listed"); {
		case strings.HasPrefix(status, "NotReady"):
			not = true
		case status != "":
			return ""
		}
	}
	if !not {
		return ""
	}
	return "a table of nodes lists it as NotReady, without time or reason"
}

// away names what kept the heartbeats from the API server, or returns "" if nothing likely
// did. It adds when, if the input goes on for more than a minute after the last line about
// it.
func away(v *view, r *Result) string {
	for i := range r.LookAlikes {
		c := &r.LookAlikes[i]
		if slices.Contains(awayCauses, c.ID) && c.Level != Possible {
			said := lowerFirst(c.Title) + " (" + c.ID + ")"
			switch from, to := datedBy(c.For); {
			case from == 0 || v.n.Window.End-to <= minute:
			case clock(from) == clock(to):
				said += ", by lines of " + clock(from)
			default:
				said += ", by lines from " + clocks(from, to)
			}
			return said
		}
	}
	return ""
}

// datedBy returns the times of the first and last record, or 0 if any has no time.
func datedBy(es []replay.Evidence) (first, last int64) {
	for _, e := range es {
		w := e.When()
		if w.Basis == parse.NoTime {
			return 0, 0
		}
		if first == 0 || w.At < first {
			first = w.At
		}
		last = max(last, w.At)
	}
	return first, last
}

// slowest describes the longest relist of ten seconds or more, from lines or from bounds by
// metrics snapshots, or returns "" if there is none.
func slowest(n *replay.Node) string {
	best, from, at, dated, words := time.Duration(0), time.Duration(0), int64(0), true, ""
	for i := range n.Relists {
		r := &n.Relists[i]
		if d, ok := r.Duration(); ok && d >= replay.LongRelist && d > best {
			best, from, at, words = d, d-r.Slack(), r.Start.At, parse.About(d, r.Slack())+" at "+clock(r.Start.At)
			if r.Start.Slack >= time.Second {
				words += " ±" + parse.Slack(r.Start.Slack, time.Second)
			}
		}
	}
	for i := range n.Proofs {
		p := &n.Proofs[i]
		if p.Kind != replay.ProofLong || p.Count < 1 {
			continue
		}
		// The longest of several takes at least their mean, and at most what is left after
		// the shortest possible others.
		lo := p.SumMin / time.Duration(p.Count)
		hi := p.SumMax - time.Duration(p.Count-1)*replay.LongRelist
		if lo > best {
			best, from, at, words = hi, lo, p.To, ""
			dated = datedWell(p)
		}
	}
	switch {
	case best == 0:
		return ""
	case words != "":
		return "a relist of " + words
	case !dated:
		return "a relist took between " + parse.Short(from) + " and " + parse.Short(best) + ", nothing dates it"
	}
	return "a relist took between " + parse.Short(from) + " and " + parse.Short(best) + " before " + clock(at)
}

// cutReport reports whether a line was cut off within the words that only a report of an
// old relist has: "pleg was last seen active …".
func (v *view) cutReport() bool {
	return slices.ContainsFunc(v.sig(parse.SigSkip), func(e *parse.Event) bool {
		reason := e.Field("reason")
		return strings.Contains(reason, "pleg was") && !strings.Contains(reason, " ago")
	})
}

// fullChannel describes reports of the evented PLEG, which becomes unhealthy only by a full channel. The sync loop,
// which would drain it, skips its turns then.
func fullChannel(v *view) string {
	all := v.sig(parse.SigFull)
	if len(all) == 0 {
		return ""
	}
	when := ""
	if first, last := all[0].At, all[len(all)-1].At; first != 0 {
		when = " from " + clocks(first, last)
	}
	return "the evented PLEG is unhealthy" + when + ": its event channel is full, as " + parse.Plural(len(all), "line") + " report; no age of the last relist was recognized"
}

// unhealthyWithoutAge describes reports without a readable age of the last relist, cut off
// before it or shown together with another age, for instance by a pager window or a unit's
// status. Everything else would follow from the age. Reports during a start do not count.
func unhealthyWithoutAge(v *view) string {
	var first, last int64
	n := 0
	for _, e := range v.sig(parse.SigCut) {
		if strings.Contains(e.Quote(), "may not have completed") {
			continue
		}
		if n++; n == 1 {
			first = e.At
		}
		last = e.At
	}
	lines, when, it, own := strconv.Itoa(n)+" lines report", " from "+clocks(first, last), "them", "lines tell"
	if n == 1 {
		lines, when, it, own = "a line reports", " at "+clock(first), "it", "line tells"
	}
	if first == 0 { // undated
		when = ""
	}
	if n == 0 {
		return ""
	}
	return lines + when + " that PLEG is not healthy, but the age of the last relist cannot be read from " + it + "; the kubelet's own " + own + " since when."
}
