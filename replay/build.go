package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/assign"
	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/health"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Options override what the records say about the kubelet. The zero value overrides nothing.
type Options struct {
	Given

	// MostNodes limits how many nodes are rebuilt; 0 means all. The nodes with the most picked lines are kept,
	// and LeftOut is called with the number of the others. It must be set if MostNodes is.
	MostNodes int
	LeftOut   func(nodes int)

	// Parallel runs tasks that share no written data, possibly concurrently, and returns when all are done. If
	// nil, they run serially.
	Parallel Parallel
}

// Build splits the records of a bundle by node and rebuilds each node: runs of the kubelet, relist ledger,
// episodes, readiness, gaps, failed runtime calls. Nodes are sorted by name. Lists that are too long to be kept
// whole add a warning to b. Build is deterministic, and linear in the number of records apart from sorting. A
// host's files without kubelet lines still yield a node.
func Build(b *parse.Bundle, opt Options) []*Node {
	var all []*Node
	records, more := assign.Split(b, opt.MostNodes, opt.Parallel)
	if more > 0 && opt.LeftOut != nil {
		opt.LeftOut(more)
	}
	for _, r := range records {
		n := &Node{Records: *r}
		b.Warnings = append(b.Warnings, rebuild(n, opt)...)
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// rebuild derives everything about one node from its records.
func rebuild(n *Node, opt Options) []parse.Warning {
	v := host.Look(&n.Records)
	n.Have, n.Window = sources(n, v), window(n, v)
	var s *kubelet.Log
	opt.Parallel.Run(
		func() { s = kubelet.Read(&n.Records, v) },
		func() { n.History, n.Requests = host.ReadHistory(&n.Records, v) },
	)
	n.Runs = s.Runs
	n.Observed = host.Packed(s.Observed)
	n.Lags = s.Lags
	for _, b := range s.Backs {
		n.backs = append(n.backs, Span{From: min(b.From, b.Twice.From), To: max(b.To, b.Twice.To)})
	}
	back, warned := s.Stepped()
	n.Window.SawStep(back)
	return append(warned, account(n, s, v.Index.Forms, opt)...)
}

// account derives the kubelet's profile and what the kubelet did when: relists, episodes, health, runtime
// calls. It does not touch pod events and history.
func account(n *Node, s *kubelet.Log, forms []*parse.Event, opt Options) []parse.Warning {
	n.Kubelet = kubelet.ProfileOf(s, forms, opt.Given)
	warned := n.Kubelet.Few(parse.Many)
	n.Failures = kubelet.FailuresOf(s.Calls, n.Interned, n.Kubelet.CallTimeout())
	var mixed *snapshots.Mixed
	n.Series, mixed = snapshots.WithoutMixed(n.Series)
	series := snapshots.OfKubelet(n.Series)
	n.Proofs = MetricProofs(series, n.Scrapes)
	n.widen(s)
	n.Calls = CallSteps(series)
	n.OnDemand = OnDemand{podRelists(s.PodRelists, "begins"), podRelists(s.PodLists, "its list failed"),
		podRelists(s.PodDrops, "the request was dropped, too many wait")}
	n.Gaps = s.Gaps()
	known := relist.Known{Log: s, Kubelet: n.Kubelet, Failures: n.Failures, Proofs: n.Proofs, Window: n.Window, Witness: kubelet.NewWitness(s), Calls: n.Calls}
	known.Asked = generator.Of(s, &n.Kubelet, known.Witness, series)
	n.asked = known.Asked
	health.Part(&known)
	n.Proofs, n.Contradictions = known.Uncontradicted()
	known.Proofs = n.Proofs
	a := relist.Of(&known)
	if disputes := health.Dispute(&known, a.Relists); len(disputes) > 0 {
		n.Contradictions, a = append(n.Contradictions, disputes...), relist.Of(&known)
	}
	n.Relists, n.Bounded, n.Ready, n.Episodes = a.Relists, a.Bounded, a.Ready, a.Episodes
	n.tail = s.Tail(n.Kubelet.Hangs())
	n.Health, n.Claims = health.Of(&known, &a)
	n.Contradictions, n.Holes = append(n.Contradictions, a.Contradictions...), known.Witness.Holes
	for i := range n.Episodes {
		n.Window.SawStep(max(n.Episodes[i].Stepped, 0))
	}
	for i := range n.Runs {
		n.Window.SawStep(n.Runs[i].Stepped)
	}
	against := func(what string, equal bool, ev parse.Record, against ...Evidence) {
		n.Contradictions = append(n.Contradictions, Contradiction{What: what, Evidence: []Evidence{{Record: ev}}, Against: against, Equal: equal})
	}
	if own, other := n.Beside[0], n.Beside[1]; own != nil {
		against(fmt.Sprintf("kubelet processes %d and %d wrote into one file at the same time, and are told as two nodes", own.Origin.PID, other.Origin.PID),
			false, kubelet.LineOf(other.FirstLine), Evidence{Record: kubelet.LineOf(own.FirstLine)})
	}
	if m := s.Mixed; m[0] != nil {
		against("lines of kubelets of two nodes stand in one log and cannot be told apart: nothing is claimed that rests on their order", true, m[0], Evidence{Record: m[1]})
	}
	if m := mixed; m != nil {
		against(m.Why+": nothing is claimed that rests on them", true, m.One, Evidence{Record: m.Other})
	}
	for _, x := range s.Refuted {
		against(x.What, false, x.Report, x.Start...)
	}
	n.Ops = snapshots.Operations(series, n.Calls, n.Failures)
	return append(warned, a.Warnings...)
}

func podRelists(all []kubelet.Mark, note string) []Evidence {
	var out []Evidence
	for _, x := range all {
		out = append(out, Evidence{Record: x.Line, Note: "relist of one pod on demand: " + note})
	}
	return out
}

// sources returns which sources the node's records come from.
func sources(n *Node, v *host.Survey) map[parse.Source]bool {
	have := v.Sources
	for _, c := range n.Coverage {
		have[c.Origin.Source] = true
	}
	for _, o := range n.Objects {
		have[o.From()] = true
	}
	if len(n.Series) > 0 || len(n.Scrapes) > 0 {
		have[parse.SrcMetrics] = true
	}
	for _, f := range n.Facts {
		have[f.From()] = true
	}
	delete(have, parse.SrcUnknown)
	return have
}

// widen extends the window to what snapshots, and objects kept by the API server, show about PLEG before the
// first line and after the last.
func (n *Node) widen(s *kubelet.Log) {
	if n.Window.Start == 0 {
		return
	}
	add := func(r parse.Record, from, to int64) {
		if r != nil && r.When().Basis > parse.LowerBound && from > 0 {
			n.Window.Start, n.Window.End = min(n.Window.Start, from), max(n.Window.End, to)
		}
	}
	for i := range n.Proofs {
		if p := &n.Proofs[i]; len(p.Evidence) > 0 {
			from := p.From
			if p.Whole || from == 0 {
				from = p.To // the process may have started long before
			}
			add(p.Evidence[len(p.Evidence)-1].Record, from, p.To)
		}
	}
	for _, a := range s.Ages {
		add(a.Record, a.At, a.At)
	}
	for _, said := range [][]kubelet.Saying{s.Nevers, s.Well, s.Cuts, s.Full} {
		for _, x := range said {
			add(x.Line, x.At, x.At)
		}
	}
	for _, c := range kubelet.Readiness(s) { // the condition may have begun long before
		add(c.Record, n.Window.End, max(c.At, c.Until))
	}
}

// window returns the span from the first to the last dated line, or snapshot if there are no lines, and the
// time zone in which the kubelet logs.
func window(n *Node, v *host.Survey) Window {
	var w Window
	var all Span
	add := func(s parse.Stamp) {
		if s.Basis > parse.LowerBound {
			all.Add(s.At)
		}
	}
	lines := func(events host.Span, kernelBuffer bool) {
		all = events
		for _, c := range n.Coverage {
			if (c.FirstLine.Basis == parse.SinceBoot) == kernelBuffer {
				add(c.FirstLine.Stamp)
				add(c.LastLine.Stamp)
				add(c.Low.Stamp)
				add(c.High.Stamp)
			}
		}
	}
	lines(v.Wall, false)
	if all.From == 0 { // the kernel's buffer goes back to the boot, so it does not bound the kubelet's log
		lines(v.Boot, true)
	}
	w.Lines = all
	if all.From == 0 {
		for _, s := range n.Scrapes {
			add(s.Stamp)
			if s.Since != 0 {
				add(parse.Stamp{At: s.Since, Basis: s.Basis})
			}
		}
		for _, o := range n.Objects {
			if !wellSince(o) {
				add(o.Stamp)
			}
		}
	}
	w.Start, w.End = all.From, all.To
	w.Timezone, w.TimezoneBasis, w.YearBasis = zone(n)
	if w.Lines.From == 0 && w.Start != 0 && strings.HasPrefix(w.TimezoneBasis, "assumed: ") { // no line is dated by it
		w.Timezone, w.TimezoneBasis, w.YearBasis = "", "", ""
	}
	steps(n, v, &w)
	return w
}

// wellSince reports whether an object is a condition of a node that is as it should be: its time is that of the change
// to it, which may be long before anything happened that was looked at.
func wellSince(o *parse.Object) bool {
	if o.Kind != facts.ObjectCondition {
		return false
	}
	well := "False"
	if o.Field("type") == "Ready" {
		well = "True"
	}
	return o.Field("status") == well
}

// steps notes the clock steps within the window that timestamps show or a time daemon reports.
func steps(n *Node, v *host.Survey, w *Window) {
	see := func(at int64, d time.Duration) {
		if at >= w.Start && at <= w.End {
			w.SawStep(d)
		}
	}
	for _, c := range n.Clocks {
		for _, j := range c.Jumps {
			see(j.At.At, time.Duration(j.Step))
		}
	}
	for _, c := range n.Coverage {
		if c.Origin.Source == parse.SrcKubeEvents {
			continue // rows of a table are in no order
		}
		for i := range c.Gaps {
			if g := &c.Gaps[i]; g.Last.Basis > parse.LowerBound && g.Next.Basis > parse.LowerBound && g.Next.At < g.Last.At {
				see(g.Next.At, time.Duration(g.Next.At-g.Last.At))
			}
		}
	}
	for _, e := range v.Index.Forms {
		if sec, err := strconv.ParseFloat(e.Field("sec"), 64); e.Is("clk.step") && err == nil && !strings.Contains(e.Quote(), "wrong by") && // a wrong clock need not be stepped at once
			math.Abs(sec) >= 1 && math.Abs(sec) < 1e9 {
			see(e.At, time.Duration(sec*1e9))
		}
	}
}

// zone returns the time zone of the file with the most kubelet lines: that of the message headers, otherwise of
// the framing.
func zone(n *Node) (name, basis, year string) {
	lines := map[*parse.File]int{}
	for _, c := range n.Coverage {
		if c.FirstLine.Basis == parse.NoTime && c.LastLine.Basis == parse.NoTime {
			continue // nothing of it is dated
		}
		if c.Origin.Source == parse.SrcKubelet {
			lines[c.File] += c.Lines + 1
		}
		lines[c.File]++
	}
	best := -1
	for _, c := range n.Clocks {
		z := c.Header
		if z.Name == "" {
			z = c.Envelope
		}
		if z.Name == "" || z.Name == parse.ZoneSinceBoot {
			continue
		}
		// If one file has no zone, not every timestamp states it.
		if from := lines[c.File]; from > best && (z.Name != "stated" || best < 0) || name == "stated" && z.Name != name && from > 0 {
			best, name, basis, year = from, z.Name, z.Basis, c.YearBasis
		}
	}
	if name == "" {
		for _, f := range n.Facts {
			if f.Key == facts.KeyZone {
				return f.Value, "stated in " + f.Pos.String(), year
			}
		}
	}
	if year == "stated on each line" || year == basis {
		year = ""
	}
	return name, basis, year
}
