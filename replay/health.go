package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// readiness lists the changes of the node's Ready condition, each once though
// several lines tell of it.
func readiness(s *found) []ReadyChange {
	var out []ReadyChange
	for _, l := range s.node {
		if k := len(out); k > 0 && out[k-1].Ready == l.ready {
			if out[k-1].Reason == "" || len(l.reason) > 0 && out[k-1].Reason == "NodeNotReady" {
				out[k-1].Reason = l.reason
			}
			continue
		}
		out = append(out, ReadyChange{At: l.at, Ready: l.ready, Reason: l.reason, Evidence: Evidence{Record: l.rec()}})
	}
	return out
}

func (l *nodeLine) rec() parse.Record {
	if l.ev != nil {
		return l.ev
	}
	return l.obj
}

// Claim says that something held over a stretch of time, by which kind of proof
// and which records.
type Claim struct {
	Span
	State    HealthState
	Proof    string // one of the Proof constants of health
	Evidence []Evidence
}

// Proofs of the health of PLEG.
const (
	// ProofListing: a relist began, and its list returned. From then on the
	// last relist seen is that one, until a threshold after its start.
	ProofListing = "listing"
	// ProofPace: the interval histogram shows that no relist of a stretch began
	// late.
	ProofPace = "relist-interval"
	// ProofGauge: kubelet_pleg_last_seen_seconds.
	ProofGauge = "last-seen-gauge"
	// ProofSilence: a log that is shown to be complete reports nothing, and the
	// sync loop that would was not blocked.
	ProofSilence = "complete-log"
	// ProofReport: lines that state how old the last relist is, or that none
	// has succeeded.
	ProofReport = "report"
	// ProofDown: lines that call the container runtime down.
	ProofDown = "runtime-status"
)

// health merges what is claimed about the health of PLEG into one sequence of
// spans over the window. What nothing proves is unknown. Where claims differ, the
// reports of the kubelet itself count.
func health(n *Node, s *found, w *witness) ([]HealthSpan, []Claim) {
	if n.Window.Start == 0 {
		return nil, nil
	}
	h := healthClaims{n: n, s: s, w: w}
	h.listings()
	h.metrics()
	for i := range s.runs {
		h.silence(i)
	}
	h.outages()
	h.nevers()
	h.episodes()
	p := &painter{}
	for _, c := range h.out {
		p.paint(c.From, c.To, c.State, c.Proof)
	}
	return p.spans(n.Window), h.out
}

// healthClaims gathers claims; a later one covers earlier ones.
type healthClaims struct {
	n   *Node
	s   *found
	w   *witness
	out []Claim
}

func (h *healthClaims) add(from, to int64, st HealthState, proof string, ev ...Evidence) {
	if to > from {
		h.out = append(h.out, Claim{Span{From: from, To: to}, st, proof, ev})
	}
}

// listings claims health by relists of which start and list are dated. A
// process that ended relists no more.
func (h *healthClaims) listings() {
	limit := int64(h.n.Kubelet.Threshold)
	for i := range h.n.Relists {
		r := &h.n.Relists[i]
		if r.Listed == nil || !*r.Listed {
			continue
		}
		seen := r.ListEnd
		if !seen.Known() {
			seen = r.End
		}
		if !seen.Known() {
			continue
		}
		to := r.Start.At - int64(r.Start.Slack) + limit
		if r.Run >= 0 && r.Run+1 < len(h.s.runs) {
			to = min(to, h.s.runs[r.Run].Last)
		}
		h.add(seen.At+int64(seen.Slack), to, Healthy, ProofListing, r.Evidence...)
	}
}

// metrics claims health by snapshots.
func (h *healthClaims) metrics() {
	limit := int64(h.n.Kubelet.Threshold)
	for i := range h.n.Proofs {
		switch p := &h.n.Proofs[i]; p.Kind {
		case ProofPaced:
			h.pace(p, limit)
		case ProofStart:
			if h.n.Kubelet.PLEG != "evented" {
				h.add(p.From, p.Start.At-int64(p.Start.Slack)+limit, Healthy, ProofGauge, p.Evidence...)
			}
		}
	}
}

// pace claims health from the first start of a relist in a step between two
// snapshots until the age of the last one could pass the limit. Relists are at least
// a period apart, but for those that a broken stream of the evented PLEG forces.
func (h *healthClaims) pace(p *MetricProof, limit int64) {
	if int64(p.SumMax+p.SumMin) > limit {
		return
	}
	last := p.From
	if h.n.Kubelet.PLEG != "evented" {
		last += int64(p.Count-1) * int64(h.n.Kubelet.Period)
	}
	// A snapshot that had to wait is later than its stamp, by no more than what
	// the intervals leave of the step.
	from := max(p.From+int64(p.SumMin+genericPeriod+timerLate), p.To-int64(p.Sum)+int64(p.SumMax))
	h.add(from, last-int64(p.SumMax)+limit, Healthy, ProofPace, p.Evidence...)
}

// silence claims health where the log of a run would tell of the opposite.
func (h *healthClaims) silence(run int) {
	r := &h.s.runs[run]
	if !h.w.trusts(run) || r.First == 0 {
		return
	}
	from, to := r.First, r.Last-int64(tailMargin)
	if run+1 < len(h.s.runs) {
		to = r.Last
	}
	doubts := h.doubts(run, from, r.Last)
	for _, d := range doubts {
		if d.From > from {
			h.add(from, min(d.From, to), Healthy, ProofSilence)
		}
		from = max(from, d.To)
	}
	h.add(from, to, Healthy, ProofSilence)
}

// doubts are the stretches of a run in which a log without reports proves
// nothing: holes; a sync loop that is blocked by its housekeeping; lists that fail
// or hang; a node that is not ready for a reason that may be PLEG; the start, until
// something shows that a relist listed pods.
func (h *healthClaims) doubts(run int, first, last int64) []Span {
	var out []Span
	add := func(from, to int64) {
		if to > from && to > first && from < last {
			out = append(out, Span{From: from, To: to})
		}
	}
	for _, x := range h.w.holes {
		add(x.From, x.To)
	}
	for i := range h.s.stalls {
		if x := &h.s.stalls[i]; x.run == run {
			add(x.from-int64(turnMax), x.to)
		}
	}
	h.failing(run, add)
	h.unready(run, add)
	add(first, h.begun(run))
	slices.SortFunc(out, func(a, b Span) int { return cmp.Or(cmp64(a.From, b.From), cmp64(a.To, b.To)) })
	return joinSpans(out)
}

// failing adds the time from the start of a list that failed until something
// shows that one succeeded, or until the next one would have failed too.
func (h *healthClaims) failing(run int, add func(from, to int64)) {
	for i := range h.n.Relists {
		if r := &h.n.Relists[i]; r.Run == run && r.Outcome == OutcomeListFailed && r.End.Known() {
			add(r.Start.At-int64(r.Start.Slack), h.listsAgain(run, r.End.At, int64(r.End.At-r.Start.At)+int64(r.Start.Slack)))
		}
	}
	timeout := int64(h.n.Kubelet.RPCTimeout)
	r := &h.s.runs[run]
	k, _ := slices.BinarySearchFunc(h.n.Failures, r.First, func(f Failure, t int64) int { return cmp64(f.End, t) })
	for ; k < len(h.n.Failures) && h.n.Failures[k].End-timeout <= r.Last; k++ {
		f := &h.n.Failures[k]
		if f.Code == "DeadlineExceeded" && f.Scope != "pod" && (f.Call == "ListPodSandbox" || f.Call == "ListContainers") {
			add(f.End-timeout, h.listsAgain(run, f.End, timeout))
		}
	}
}

// listsAgain is the first moment after a list failed at which one is shown to have
// succeeded: by pod events, by lines that a relist writes after its list, by the end of
// an episode, by a relist that is dated; else when another one that took as long
// would have failed.
func (h *healthClaims) listsAgain(run int, failed, took int64) int64 {
	at := failed + took + 3*int64(time.Second)
	for _, t := range h.s.turns[h.s.turnFrom(failed+2*int64(turnMax)):] {
		if h.s.turnAt(t) >= at {
			break
		}
		if h.s.turnRun(t) == run && h.s.turnKinds(t)&kEvent != 0 {
			at = h.s.turnAt(t)
			break
		}
	}
	i, _ := slices.BinarySearchFunc(h.s.marks, failed+1, func(m mark, t int64) int { return cmp64(m.at, t) })
	for ; i < len(h.s.marks) && h.s.marks[i].at < at; i++ {
		if m := &h.s.marks[i]; m.run == run && m.kind&(kInside|kRetrieved) != 0 {
			at = m.at
		}
	}
	for i := range h.n.Episodes {
		if r := h.n.Episodes[i].Recovered; r.Known() && r.At > failed {
			at = min(at, r.At)
		}
	}
	return at
}

// unready adds the time in which the node was not ready and nothing says that
// PLEG was not the reason. The condition follows PLEG by up to conditionLate.
func (h *healthClaims) unready(run int, add func(from, to int64)) {
	for i := range h.n.Ready {
		c := &h.n.Ready[i]
		if c.Ready || c.Record == nil || othersOnly(c.Record) {
			continue
		}
		to := h.s.runs[run].Last
		if i+1 < len(h.n.Ready) {
			to = h.n.Ready[i+1].At
		}
		add(c.At-int64(conditionLate), to)
	}
}

// conditionLate is how long after a breach the node's condition may follow: it is
// computed every 10 s, up to 4 % later since 1.23.
const conditionLate = 10400 * time.Millisecond

// othersOnly reports whether a line that calls the node not ready states its
// reasons, and PLEG is none of them.
func othersOnly(r parse.Record) bool {
	msg := ""
	switch x := r.(type) {
	case *parse.Event:
		msg = x.Field("message")
	case *parse.Object:
		msg = host.FieldOf(x.Fields, "message")
	}
	return msg != "" && !contains(msg, "PLEG") && !contains(msg, "status check may not have completed")
}

// begun is the first moment of a run at which a relist is known to have listed
// pods: by a line that only follows one, or by work of a healthy sync loop.
// A log that begins later than its process needs no such line.
func (h *healthClaims) begun(run int) int64 {
	r := &h.s.runs[run]
	if r.loop == 0 && !slices.ContainsFunc(h.s.nevers, func(t saying) bool { return t.run == run }) {
		return r.First
	}
	from := max(r.First, r.loop)
	for _, t := range h.s.nevers {
		if t.run == run {
			from = max(from, t.at)
		}
	}
	for _, t := range h.s.turns[h.s.turnFrom(from):] {
		if h.s.turnRun(t) == run && h.s.turnKinds(t)&kEvent != 0 {
			return h.s.turnAt(t)
		}
	}
	// Without any pod there is no event; the loop would go on to skip.
	if h.w.whole(from, from+int64(2*backoffMax)) {
		return from + int64(2*backoffMax)
	}
	return r.Last
}

// nevers claims that no relist had succeeded from the start of a run to the last
// line that says so.
func (h *healthClaims) nevers() {
	last := map[int]*saying{}
	for i := range h.s.nevers {
		if t := &h.s.nevers[i]; t.run >= 0 && (last[t.run] == nil || t.at > last[t.run].at) {
			last[t.run] = t
		}
	}
	for run := range h.s.runs {
		if t := last[run]; t != nil {
			h.add(h.s.runs[run].First, t.at, NeverRelisted, ProofReport, Evidence{Record: t.ev})
		}
	}
}

// outages claims the stretches in which the kubelet called the runtime down; the
// loop says so every five seconds at most.
func (h *healthClaims) outages() {
	for i := 0; i < len(h.s.down); {
		j := i
		for j+1 < len(h.s.down) && h.s.down[j+1].at-h.s.down[j].at <= int64(2*backoffMax) {
			j++
		}
		h.add(h.s.down[i].at, h.s.down[j].at+1, RuntimeDown, ProofDown, Evidence{Record: h.s.down[i].ev}, Evidence{Record: h.s.down[j].ev})
		i = j + 1
	}
}

// episodes claims each episode from its breach to the last moment of which it is
// certain; from then to the proof of recovery nothing is known.
func (h *healthClaims) episodes() {
	for i := range h.n.Episodes {
		e := &h.n.Episodes[i]
		if e.Breach == 0 {
			continue
		}
		st, sure := Unhealthy, max(e.LastReport, e.Breach)
		if e.Never {
			st = NeverRelisted
		}
		to := h.n.Window.End
		if e.Recovered.Known() {
			sure = max(sure, e.Recovered.At-int64(e.Recovered.Slack))
			to = max(e.Recovered.At, sure)
		} else if e.Run >= 0 && e.Run+1 < len(h.s.runs) {
			to = max(sure, h.s.runs[e.Run+1].First)
		}
		h.add(sure, to, HealthUnknown, "", e.Evidence...)
		h.add(e.Breach, sure, st, ProofReport, e.Evidence...)
	}
}

// painter keeps disjoint spans; later paint covers earlier.
type painter struct{ layers []HealthSpan }

func (p *painter) paint(from, to int64, st HealthState, proof string) {
	if to > from {
		p.layers = append(p.layers, HealthSpan{Span{From: from, To: to}, st, proof})
	}
}

// spans flattens the layers in one sweep; what no layer covers is unknown.
func (p *painter) spans(w Window) []HealthSpan {
	type edge struct {
		at    int64
		layer int
		open  bool
	}
	var edges []edge
	for i, l := range p.layers {
		from, to := max(l.From, w.Start), min(l.To, w.End)
		if to > from {
			edges = append(edges, edge{from, i, true}, edge{to, i, false})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp64(a.at, b.at) })
	var out []HealthSpan
	add := func(from, to int64, st HealthState, proof string) {
		if k := len(out); k > 0 && out[k-1].State == st && out[k-1].To == from {
			out[k-1].To = to
		} else if to > from {
			out = append(out, HealthSpan{Span{From: from, To: to}, st, proof})
		}
	}
	top := &stack{}
	at := w.Start
	for _, e := range edges {
		if e.at > at {
			st, proof := HealthUnknown, ""
			if k := top.top(); k >= 0 {
				st, proof = p.layers[k].State, p.layers[k].Proof
			}
			add(at, e.at, st, proof)
			at = e.at
		}
		top.set(e.layer, e.open)
	}
	if w.End > at {
		add(at, w.End, HealthUnknown, "")
	}
	return out
}

// stack tells the highest open layer; closing is lazy, so that a sweep over n
// layers costs O(n log n).
type stack struct {
	heap []int
	open map[int]bool
}

func (s *stack) set(layer int, open bool) {
	if s.open == nil {
		s.open = map[int]bool{}
	}
	if !open {
		delete(s.open, layer)
		return
	}
	s.open[layer] = true
	i, _ := slices.BinarySearch(s.heap, layer)
	s.heap = slices.Insert(s.heap, i, layer)
}

func (s *stack) top() int {
	for len(s.heap) > 0 {
		k := s.heap[len(s.heap)-1]
		if s.open[k] {
			return k
		}
		s.heap = s.heap[:len(s.heap)-1]
	}
	return -1
}

// gapMin is the shortest silence of the kubelet that the report lists; an idle
// kubelet at verbosity 2 writes at least once in some minutes.
const gapMin = 2 * time.Minute

// gaps lists where the log says nothing: silences of the kubelet with the
// marker that explains them, lost lines, cut files.
func gaps(n *Node) []LogGap {
	var out []LogGap
	var reasons []*parse.Marker
	for _, m := range n.Markers {
		if why := gapWhy(m.Kind); why != "" && why != "rate-limit" && m.Basis != parse.NoTime {
			reasons = append(reasons, m)
		}
	}
	slices.SortStableFunc(reasons, func(a, b *parse.Marker) int { return cmp64(a.At, b.At) })
	for _, s := range silences(n) {
		g := LogGap{Span: Span{From: s.Last.At, To: s.Next.At}, Why: "silence", Evidence: []Evidence{{Record: s.last}, {Record: s.next}}}
		for len(reasons) > 0 && reasons[0].At < s.Last.At {
			reasons = reasons[1:]
		}
		if len(reasons) > 0 && reasons[0].At <= s.Next.At {
			g.Why, g.Evidence = gapWhy(reasons[0].Kind), append(g.Evidence, Evidence{Record: reasons[0]})
		}
		out = append(out, g)
	}
	for _, m := range n.Markers {
		if m.Basis != parse.NoTime && (m.Kind == parse.MarkSuppressed || m.Kind == parse.MarkTruncated || m.Kind == parse.MarkNull) {
			out = append(out, LogGap{Span: Span{From: m.At, To: m.At}, Why: gapWhy(m.Kind), Evidence: []Evidence{{Record: m}}})
		}
	}
	slices.SortStableFunc(out, func(a, b LogGap) int { return cmp64(a.From, b.From) })
	return out
}

func gapWhy(k parse.MarkerKind) string {
	switch k {
	case parse.MarkReboot:
		return "reboot"
	case parse.MarkSuppressed:
		return "rate-limit"
	case parse.MarkRotated:
		return "rotation"
	case parse.MarkTruncated, parse.MarkNull:
		return "truncated"
	}
	return ""
}

// silence is a stretch in which no file holds a line of the kubelet.
type silence struct {
	parse.Gap
	last, next markLine
}

// silences intersects the silences of all files that hold kubelet lines.
func silences(n *Node) []silence {
	type piece struct {
		from, to int64
		a, b     markLine
	}
	var cover []piece // stretches in which somebody wrote, from the gaps between
	for _, c := range n.Coverage {
		if c.Origin.Source != parse.SrcKubelet || c.FirstLine.Basis == parse.NoTime || c.LastLine.Basis == parse.NoTime {
			continue
		}
		first, last := c.FirstLine, c.LastLine
		if first.At > last.At {
			first, last = last, first
		}
		from := first
		gs := slices.Clone(c.Gaps)
		for i := range gs {
			if gs[i].Last.At > gs[i].Next.At {
				gs[i].Last, gs[i].Next = gs[i].Next, gs[i].Last
			}
		}
		slices.SortStableFunc(gs, func(a, b parse.Gap) int { return cmp64(a.Last.At, b.Last.At) })
		for _, g := range gs {
			if g.Next.At-g.Last.At >= int64(gapMin) {
				cover = append(cover, piece{from.At, g.Last.At, markLine{from}, markLine{g.Last}})
				from = g.Next
			}
		}
		cover = append(cover, piece{from.At, last.At, markLine{from}, markLine{last}})
	}
	slices.SortStableFunc(cover, func(a, b piece) int { return cmp64(a.from, b.from) })
	var out []silence
	for i := 1; i < len(cover); i++ {
		if cover[i].to < cover[i-1].to { // nested: keep the later end in front
			cover[i].to, cover[i].b = cover[i-1].to, cover[i-1].b
		}
		if cover[i].from-cover[i-1].to >= int64(gapMin) {
			out = append(out, silence{parse.Gap{Last: cover[i-1].b.Mark, Next: cover[i].a.Mark}, cover[i-1].b, cover[i].a})
		}
	}
	return out
}

// markLine makes a mark a record.
type markLine struct{ parse.Mark }

func (m markLine) Where() parse.Pos   { return m.Pos }
func (m markLine) When() parse.Stamp  { return m.Stamp }
func (m markLine) From() parse.Source { return parse.SrcKubelet }
func (m markLine) Quote() string      { return m.Text.String() }

// WellThroughout returns the stretch that the kubelet's log and metrics cover when
// PLEG is proven healthy all through it, and false when anything else is: unhealthy,
// or not known. The first minute of a process, in which PLEG starts, and the moments
// after the last line from which a report could be missing, do not count.
func (n *Node) WellThroughout() (Span, bool) {
	var out Span
	for _, h := range n.Health {
		switch {
		case h.State == Healthy:
			if out.From == 0 {
				out.From = h.From
			}
			out.To = h.To
		case n.starting(h):
		case h.State == HealthUnknown && n.outside(h):
		default:
			return Span{}, false
		}
	}
	return out, out.To > out.From
}

// starting reports whether a span belongs to the start of a kubelet process.
func (n *Node) starting(h HealthSpan) bool {
	if h.State != NeverRelisted && h.State != HealthUnknown {
		return false
	}
	return slices.ContainsFunc(n.Runs, func(r Run) bool {
		return r.loop != 0 && h.To <= r.First+int64(startUp) && (h.From >= r.First || h.From >= r.First-int64(startUp) && r.First != n.Runs[0].First)
	})
}

// outside reports whether a span lies before or after all lines of the kubelet, give
// or take the time to its first relist, or is nothing but the margin after which a
// missing report would prove something.
func (n *Node) outside(h HealthSpan) bool {
	if len(n.Runs) == 0 {
		return false
	}
	last := n.Runs[len(n.Runs)-1].Last
	return h.To <= n.Runs[0].First+2*int64(turnMax) || h.From >= last || h.From == last-int64(tailMargin)
}

// SaysDown reports whether a condition of the node, as an object of the API states it
// at any time, calls the container runtime down.
func (n *Node) SaysDown() bool {
	return slices.ContainsFunc(n.Objects, func(o *parse.Object) bool {
		return contains(host.FieldOf(o.Fields, "message"), "container runtime is down")
	})
}
