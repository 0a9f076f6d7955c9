package health

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Claim says that a state held over an interval, with the kind of proof and its records.
type Claim struct {
	host.Span
	State    State
	Proof    string // one of the Proof constants
	Evidence []host.Evidence
}

// Kinds of proof for the health of PLEG.
const (
	// ProofListing: a relist began and its list call returned. From then until a threshold after its start, it
	// is the last relist seen.
	ProofListing = "listing"
	// ProofPace: the relist-interval histogram shows that no relist in an interval began late.
	ProofPace = "relist-interval"
	// ProofGauge: the kubelet_pleg_last_seen_seconds metric.
	ProofGauge = "last-seen-gauge"
	// ProofSilence: a log shown to be complete reports nothing, and the sync loop that would have reported was
	// not blocked.
	ProofSilence = "complete-log"
	// ProofReport: lines that state how old the last relist is, or that none has succeeded.
	ProofReport = "report"
	// ProofSerial: relists dated by lines run serially and leave no room for one that listed pods.
	ProofSerial = "serial-relists"
	// ProofDown: lines that report the container runtime down.
	ProofDown = "runtime-status"
	// ProofChannel: lines that report the event channel of the evented PLEG full. They say nothing about relists.
	ProofChannel = "event-channel"
)

// Of merges all claims about the health of PLEG into one sequence of spans over the window. Time that no claim
// covers is unknown. If claims conflict, the kubelet's own reports take precedence.
func Of(n *relist.Known, past *relist.Account) ([]Span, []Claim) {
	if n.Window.Start == 0 {
		return nil, nil
	}
	h := claims{n: n, past: past, s: n.Log, w: n.Witness, gone: snapshots.Replacements(n.Proofs)}
	h.over = h.overdue()
	h.ill = h.ailing()
	for i := range h.s.Runs {
		h.silence(i)
	}
	h.listings(false)
	h.unproven()
	h.listings(true)
	h.metrics()
	h.out = append(h.out, h.over...)
	h.first()
	h.well()
	for _, b := range h.s.Backs { // what proves health at a moment may be a line of the other one of that name
		h.add(b.Twice.From, b.Twice.To, Unknown, "")
	}
	h.said(h.s.Down, 2*kubelet.BackoffMax, 0, RuntimeDown, ProofDown) // the loop reports it at least every 5 s
	h.nevers()
	h.said(h.s.Full, kubelet.BackoffMax+kubelet.BackoffLate, 1, Unhealthy, ProofChannel)
	h.said(h.s.Cuts, kubelet.BackoffMax+kubelet.BackoffLate, 1, Unhealthy, ProofReport)
	h.episodes()
	h.below()
	over := n.Window
	for _, c := range h.out {
		if c.State == Unhealthy {
			over.Start = min(over.Start, c.From) // an age also covers time before the log
		}
	}
	return spans(h.out, over), h.out
}

// claims collects claims; a later claim overrides earlier ones.
type claims struct {
	n    *relist.Known
	past *relist.Account
	s    *kubelet.Log
	w    *kubelet.Witness
	over []Claim // unhealthiness proven by relists; see overdue
	ill  []host.Span
	gone snapshots.Replaced
	out  []Claim
}

func (h *claims) add(from, to int64, st State, proof string, ev ...host.Evidence) {
	if len(ev) > 0 {
		from, to = h.s.Shown(ev[0].Record, from, to)
	}
	if to > from {
		h.out = append(h.out, Claim{host.Span{From: from, To: to}, st, proof, ev})
	}
}

// listings claims health from relists whose start and list end are dated: those dated by lines, which recovery
// uses too, or if measured is set, those measured by the metrics. A process that has ended relists no more.
func (h *claims) listings(measured bool) {
	for i := range h.past.Relists {
		r := &h.past.Relists[i]
		seen := r.Returned()
		if r.HasListed() && seen.Known() && (slices.Contains(r.Basis, relist.BasisMetrics) && !r.Own()) == measured {
			to := h.until(seen.At, h.n.Fresh(r.Run, r.Start.Earliest()))
			if !measured {
				to = h.sole(r.Run, seen.At, to)
			}
			h.add(seen.Latest(), to, Healthy, ProofListing, r.Evidence...)
		}
	}
}

// until cuts a claim about the process that ran at the moment at. If its log or the metrics show that another
// process followed, it may have ended right after its last line or snapshot.
func (h *claims) until(at, to int64) int64 {
	if i := h.s.RunAt(at); i >= 0 && i+1 < len(h.s.Runs) {
		to = min(to, max(at, h.s.Runs[i].Last))
	} else if i < 0 && len(h.s.Runs) > 0 && h.s.Runs[0].Start.At-int64(h.s.Runs[0].Start.Slack) > at {
		to = min(to, at)
	}
	return h.gone.Until(at, to)
}

// overdue claims unhealthiness that no line need report: from a threshold after the start of the last relist
// that can have listed pods until that relist ended, or until the last of the failed ones directly after it
// ended. A run of failures makes one claim.
func (h *claims) overdue() (out []Claim) {
	since, goes, first := int64(0), false, 0 // goes: whether the last claim continues; first: how many records it began with
	var evidence []host.Evidence             // evidence of the last claim
	for i := range h.past.Relists {
		r := &h.past.Relists[i]
		follows := i > 0 && r.Follows(&h.past.Relists[i-1])
		if !r.FailedToList() || !follows {
			since, goes = r.Start.Latest(), false
		}
		well, from := h.n.Limit(r.Run, since)
		to := r.End.Earliest()
		if h.n.Kubelet.PLEG == kubelet.PLEGUnknown && to > well {
			if follows {
				from = well // relists one period apart show that the generic PLEG is in use
			} else if fell := h.fell(since); fell != 0 {
				from = min(from, max(well, fell))
			}
		}
		switch {
		case !r.Start.Known() || to <= from:
		case !goes:
			goes, first, evidence = true, len(r.Evidence), slices.Clone(r.Evidence)
			out = append(out, Claim{host.Span{From: from, To: to}, Unhealthy, ProofSerial, evidence})
		default:
			c := &out[len(out)-1]
			evidence = append(evidence[:first], r.Evidence...)
			c.From, c.To, c.Evidence = min(c.From, from), max(c.To, to), evidence
		}
	}
	return out
}

// fell returns when the counters first show that generic PLEG relists in the process that ran at the moment at: in one
// step more relists ended than evented PLEG begins. It returns 0 if they never do.
func (h *claims) fell(at int64) int64 {
	for i := range h.n.Proofs {
		p := &h.n.Proofs[i]
		to := max(p.To, at)
		if p.Kind == snapshots.ProofCount && generator.Quick(p.Count, time.Duration(p.To-p.From)) && h.gone.Until(min(p.From, at), to) == to {
			return snapshots.By(p.To)
		}
	}
	return 0
}

// ailing returns the intervals in which relists or the last-seen gauge prove PLEG unhealthy, sorted by start. A
// relist that outlasted the threshold somewhere within its bounds proves it only for a part of its interval.
func (h *claims) ailing() (out []host.Span) {
	for i := range h.over {
		out = append(out, h.over[i].Span)
	}
	for i := range h.past.Relists {
		r := &h.past.Relists[i]
		if from := h.n.Fresh(r.Run, r.Start.Earliest()); r.Start.Earliest()+int64(r.Took-r.TookSlack) > from && r.Start.Known() {
			out = append(out, host.Span{From: from, To: r.Start.Latest() + int64(r.Took+r.TookSlack)})
		}
	}
	for i := range h.n.Proofs {
		if p := &h.n.Proofs[i]; p.Kind == snapshots.ProofStart {
			if x := h.aged(p); x.To > x.From {
				out = append(out, x)
			}
		}
	}
	slices.SortFunc(out, func(a, b host.Span) int { return cmp.Compare(a.From, b.From) })
	return out
}

// metrics claims health, and unhealthiness, from metrics snapshots.
func (h *claims) metrics() {
	for i := range h.n.Proofs {
		p := &h.n.Proofs[i]
		well := h.n.Well(p)
		switch p.Kind {
		case snapshots.ProofStart:
			h.add(well.From, h.until(p.From, well.To), Healthy, ProofGauge, p.Evidence...)
			ill := h.aged(p)
			h.add(ill.From, ill.To, Unhealthy, ProofGauge, p.Evidence...)
		case snapshots.ProofPaced:
			h.add(well.From, h.until(p.To, well.To), Healthy, ProofPace, p.Evidence...)
		}
	}
}

// aged returns the interval in which the last-seen gauge proves PLEG unhealthy, empty if it does not: from a threshold
// after the start that it states until the kubelet last judged its health. Under evented PLEG each health check sets
// the gauge, so it shows no relist.
func (h *claims) aged(p *snapshots.Proof) host.Span {
	ill := h.n.Fresh(h.s.RunAt(p.From), p.Start.Latest())
	if h.n.Kubelet.EventedSends() || h.unjudged(p.Start.Latest(), ill, p.To) {
		return host.Span{}
	}
	return host.Span{From: ill, To: p.To - int64(conditionLate)}
}

// unjudged reports whether, after the relist that began at the moment start, several more ended without a failed
// list call by the end of a step between two snapshots, which lies within (from, to]. The gauge value is then stale,
// not the relist. Those that may have ended by start, one a period, show nothing.
func (h *claims) unjudged(start, from, to int64) bool {
	period := int64(cmp.Or(h.n.Kubelet.Period, kubelet.GenericPeriod))
	return slices.ContainsFunc(h.n.Proofs, func(p snapshots.Proof) bool {
		return p.Kind == snapshots.ProofCount && int64(p.Count) >= 3+max(start-p.From, 0)/period && p.To > from && p.To <= to && !slices.ContainsFunc(h.n.Calls, func(s snapshots.CallStep) bool {
			return s.From < p.To && p.To <= s.To && s.Errors > 0 && (s.Operation == "list_podsandbox" || s.Operation == "list_containers")
		})
	})
}

// conditionLate is how long after a breach the node condition may follow: it is computed every 10 s, up to 4 %
// later since 1.23.
const conditionLate = 10400 * time.Millisecond

// nevers claims that no relist had succeeded from the start of a run to the last line that says so.
func (h *claims) nevers() {
	lines := map[int][]kubelet.Saying{}
	for _, t := range h.s.Nevers {
		lines[t.Run] = append(lines[t.Run], t)
	}
	for run := range h.s.Runs {
		from := h.s.Runs[run].First
		if !h.s.Runs[run].Start.Known() && len(h.s.Backs) > 0 {
			from = 0 // by a clock that was set back, its first line may be a later one
		}
		for _, x := range pause.Nevers(h.s, lines[run], from) {
			if _, last := x.Ends(); x.Long() || last.At-x.From <= int64(pause.StartUp) {
				h.add(x.From, last.At, NeverRelisted, ProofReport, host.Evidence{Record: last.Line})
			}
		}
	}
}

// said claims a state from the first to the last of consecutive lines of a run that are at most pause apart.
// instant, in ns, extends the claim past the last line.
func (h *claims) said(all []kubelet.Saying, pause time.Duration, instant int64, st State, proof string) {
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1].Run == all[i].Run && all[j+1].At-all[j].At <= int64(pause) {
			j++
		}
		h.add(all[i].At, all[j].At+instant, st, proof, host.Evidence{Record: all[i].Line}, host.Evidence{Record: all[j].Line})
		i = j + 1
	}
}

// well claims health at the moments at which a line reports PLEG healthy.
func (h *claims) well() {
	for _, t := range h.s.Well {
		h.add(t.At, t.At+1, Healthy, ProofReport, host.Evidence{Record: t.Line})
	}
}

// below claims health from ages below the threshold, which lines state only if an option has set a higher one than
// the kubelet's.
func (h *claims) below() {
	if !h.n.Kubelet.ThresholdSet {
		return
	}
	for i := range h.s.Ages {
		if a := &h.s.Ages[i]; a.At != 0 && a.Exact() && a.Age < h.n.Kubelet.Threshold {
			h.add(a.At, h.sole(a.Run, a.At, h.until(a.At, a.At+int64(h.n.Kubelet.Threshold-a.Age))), Healthy, ProofReport, host.Evidence{Record: a.Record})
		}
	}
}

// first claims health from the first moment at which a process is known to have been healthy. The relist that
// made it so began after the sync loop did, so the claim ends a threshold after the loop's start.
func (h *claims) first() {
	for i := range h.s.Runs {
		r := &h.s.Runs[i]
		if r.Loop == 0 {
			continue
		}
		if at := h.workFrom(i); at != 0 {
			h.add(at, h.sole(i, at, min(h.n.Fresh(i, r.Loop-int64(relist.SameMoment)), r.Last)), Healthy, ProofListing, r.Evidence...)
		}
	}
}

// certain returns until when an episode is certain: its last report, or the earliest end that the proof of
// recovery allows.
func certain(e *relist.Episode) int64 {
	return max(e.LastReport, e.Breach, e.Recovered.Earliest())
}

// unproven revokes what silence and lines claim between the certain end of an episode and its recovery. Claims
// from metrics are added later and stay.
func (h *claims) unproven() {
	for i := range h.past.Episodes {
		e := &h.past.Episodes[i]
		if e.Breach == 0 {
			continue
		}
		sure, to := certain(e), cmp.Or(relist.Over(h.past.Episodes, i), h.n.Window.End)
		if e.Recovered.Known() {
			to = max(e.Recovered.At, sure)
		} else if e.Run >= 0 && e.Run+1 < len(h.s.Runs) {
			to = max(sure, h.s.Runs[e.Run+1].First)
		}
		h.add(sure, to, Unknown, "", e.Evidence...)
	}
}

// episodes claims each episode from its breach to its certain end.
func (h *claims) episodes() {
	for i := range h.past.Episodes {
		e := &h.past.Episodes[i]
		if e.Breach == 0 {
			continue
		}
		st := Unhealthy
		if e.Never {
			st = NeverRelisted
		}
		from := e.Breach
		if e.LastStart.Slack >= 10*time.Millisecond { // the lines are stamped in whole seconds
			from += int64(e.LastStart.Slack)
		}
		h.add(from, certain(e), st, ProofReport, e.Evidence...)
	}
}
