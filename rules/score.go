package rules

import (
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Scoring is in log-odds. Within one independent source the best signal counts in full and
// the others a little: a second line of the same log says less than the first line of
// another.
const (
	furtherShare = 0.3 // weight of each further signal of a source
	furtherMost  = 0.5 // limit for all further signals together, as a share of the best
	objectBonus  = 1.5 // two sources name the same container, pod, server or device
	undatedShare = 0.8 // share of a signal of unknown time while there is an episode to explain
	// undatedKernel is the share of undated kernel lines if there is something to explain,
	// a kubelet log or any dated line: a kernel log reaches back to boot.
	undatedKernel = 0.4
	wrongRuntime  = 2.0 // subtracted if the cause needs another runtime
	likelyFrom    = 0.7
	possibleFrom  = 0.07
	possibleMost  = 0.49 // maximum confidence of a cause that is only possible
	confirmFrom   = 0.85
	mostCauses    = 8
	mostEpisodes  = 64 // episodes judged individually; if there are more, the first and last 32, and the worst
)

// scored is a cause with what was found about it for one subject.
type scored struct {
	def       *Def
	sub       *subject
	score     float64
	conf      float64
	level     Level
	found     []outcome // for, best first
	contra    []outcome // against
	against   float64
	unseen    string // why evidence against it could not be looked for; "" if it could
	blind     bool   // failed calls would contradict it, and the log does not show all of them
	shared    string // object that two sources name
	limit     string // why it can be only possible; "" if it can be more
	explained *scored
	episodes  []int
}

// judge scores a cause for a subject. It returns nil if there is no core evidence or a
// version or the OS rules the cause out.
func judge(d *Def, s *subject) *scored {
	if s.ruledOut(d) {
		return nil
	}
	found, core := s.found[:0], false
	for _, c := range d.For {
		o := s.eval(c)
		if o.state == Found && len(o.records) > 0 {
			if s.ep != nil && o.undated {
				o.factor *= undatedShare
			}
			found = append(found, o)
			core = core || c.Core
		}
	}
	s.found = found
	if !core || all(found, func(e *parse.Event) bool { return e.Told }) {
		return nil // may be about another node, or an example
	}
	x := &scored{def: d, sub: s, found: slices.Clone(found)}
	for _, c := range d.Against {
		switch o := s.eval(c); {
		case o.state == Found && len(o.records) > 0:
			x.contra = append(x.contra, o)
		case o.state == CannotLook && c.Absent && c.Cond == "rpc" && slices.ContainsFunc(found, func(o outcome) bool { return o.clause.Cond == "hung-calls" }):
			// the metrics show the calls that the log does not
		case o.state == CannotLook && c.Absent && c.Cond == "rpc" && (s.ep != nil || len(s.storedErrors()) > 0) && s.have[parse.SrcKubelet]:
			x.unseen = "the log does not show whether calls failed meanwhile"
		case o.state == CannotLook && c.Cond == "healthy":
			x.unseen = "nothing shows whether PLEG was healthy throughout"
		case d.Kind != KindLookAlike && c.Cond != "" && conditionByName(c.Cond).Symptom && !s.shown():
			x.blind = true
		}
	}
	x.sum()
	return x
}

// sum computes the score, the limit, the confidence and the level from the outcomes.
func (x *scored) sum() {
	byWeight(x.found)
	byWeight(x.contra)
	spread(x.found)
	spread(x.contra)
	x.score = x.def.Prior + sumBySource(x.found)
	x.against = sumBySource(x.contra)
	if r := x.def.Affects.Runtimes; len(r) > 0 && x.sub.rt != "" && !slices.Contains(r, x.sub.rt) {
		x.against += wrongRuntime
	}
	if x.shared = sharedObject(x.found); x.shared != "" {
		x.score += objectBonus
	}
	x.score -= x.against
	x.conf = banded(1 / (1 + math.Exp(-x.score)))
	if x.limit = x.limits(); x.limit != "" {
		x.conf = min(x.conf, possibleMost)
	}
	if x.sub.ep == nil && x.def.Scope == ScopeBreach || x.blind && !x.proven() {
		x.conf = min(x.conf, confirmFrom-0.01) // merely slow, with PLEG within its threshold; or lines that were cut may contradict it
	}
	x.level = x.levelOf()
}

// banded skips the confidences between possible and likely: a cause that is not likely is
// less likely than not.
func banded(p float64) float64 {
	if p < likelyFrom {
		return p * possibleMost / likelyFrom
	}
	return p
}

// leastOwn is the minimum weight of evidence other than symptoms for a mechanism to be more
// than possible.
const leastOwn = 1.0

// limits says why a cause can be only possible, or returns "" if it can be more. Reasons
// include a mechanism for which there are only symptoms, a required version or runtime that
// the input does not state, and a catalogue entry that too few cases support.
func (x *scored) limits() string {
	d, s := x.def, x.sub
	switch {
	case all(x.found, func(e *parse.Event) bool { return e.Bare }):
		return "neither the time nor the writer of its lines was recognized"
	case d.Kind == KindMechanism && x.own() < leastOwn:
		return "no line was recognized that shows why anything failed"
	case d.Kind == KindSymptom && x.shown() < leastShown:
		return "no line was recognized that shows it directly"
	}
	if r := d.Affects.Runtimes; len(r) > 0 && !slices.Contains(r, s.rt) {
		if s.rt != "" {
			return "it is known of " + strings.Join(r, " and ") + " only, and the node runs " + s.rt
		}
		return "the container runtime of the kubelet was not recognized, and it is known of " + strings.Join(r, " and ") + " only"
	}
	if d.Kind == KindMechanism && d.Scope != ScopeNode && !d.Standing && s.ep == nil && len(s.spans) == 0 && s.n.Observed.Len() > 0 && evalHealthy(s, nil).state == Found {
		return "nothing failed in this input that it could explain"
	}
	if x.proven() {
		return ""
	}
	if x.unseen != "" {
		return x.unseen
	}
	if d.Affects.Kubelet != "" {
		if _, known := s.kubeletIn(d.Affects.Kubelet); !known {
			return "the version of the kubelet was not recognized, and it is known of " + d.Affects.Kubelet + " only"
		}
	}
	if d.Affects.Kernel != "" && s.kernel == nil && !s.anySig("k.version", "k.tainted") {
		return "the version of the kernel was not recognized, and it is known of " + d.Affects.Kernel + " only"
	}
	if d.Kind == KindMechanism && !d.Supported() {
		return "fewer than two independent public incidents and no source support it"
	}
	return ""
}

// all reports whether the core evidence consists only of events that satisfy kind.
func all(found []outcome, kind func(*parse.Event) bool) bool {
	other := func(ev replay.Evidence) bool {
		e, ok := ev.Record.(*parse.Event)
		return !ok || !kind(e)
	}
	return !slices.ContainsFunc(found, func(o outcome) bool { return o.clause.Core && slices.ContainsFunc(o.records, other) })
}

// leastShown is the minimum weight of core evidence that directly shows a symptom.
const leastShown = 1.5

// shown returns the weight of the best core evidence.
func (x *scored) shown() float64 {
	w := 0.0
	for i := range x.found {
		if o := &x.found[i]; o.clause.Core {
			w = max(w, o.clause.Weight)
		}
	}
	return w
}

// own returns the total worth of the evidence that is not a symptom.
func (x *scored) own() float64 {
	w := 0.0
	for i := range x.found {
		if !x.found[i].symptom() {
			w += x.found[i].worth()
		}
	}
	return w
}

// symptom reports whether the outcome shows what failed but not why.
func (o *outcome) symptom() bool {
	if o.clause.Symptom || o.clause.Proof {
		return o.clause.Symptom
	}
	if c := conditionByName(o.clause.Cond); c != nil {
		return c.Symptom
	}
	for _, ev := range o.records {
		e, ok := ev.Record.(*parse.Event)
		if !ok {
			return false
		}
		if !slices.ContainsFunc(e.Sigs.Sigs, func(g *parse.Sig) bool { return g.Symptom && slices.Contains(o.clause.Sigs, g.ID) }) {
			return false
		}
	}
	return len(o.clause.Sigs) > 0
}

func byWeight(os []outcome) {
	sort.SliceStable(os, func(i, j int) bool { return os[i].worth() > os[j].worth() })
}

func (o *outcome) worth() float64 { return o.clause.Weight * o.factor }

// spread lets each outcome whose lines several writers wrote count for one that no other
// outcome counts for, if there is one. It then does not matter whose line came first, and
// the loss of one writer's lines makes nothing surer.
func spread(os []outcome) {
	taken := map[string]bool{}
	for i := range os {
		if len(os[i].writers) < 2 {
			taken[os[i].source] = true
		}
	}
	for i := range os {
		o := &os[i]
		if len(o.writers) < 2 {
			continue
		}
		if free := slices.IndexFunc(o.writers, func(w string) bool { return !taken[w] }); free >= 0 {
			o.source = o.writers[free]
		}
		taken[o.source] = true
	}
}

// sumBySource adds up outcomes, which must be sorted by worth.
func sumBySource(os []outcome) float64 {
	best, more := map[string]float64{}, map[string]float64{}
	var order []string
	for i := range os {
		src, w := os[i].source, os[i].worth()
		if _, ok := best[src]; !ok {
			best[src] = w
			order = append(order, src)
			continue
		}
		more[src] += furtherShare * w
	}
	total := 0.0
	for _, src := range order {
		total += best[src] + min(more[src], furtherMost*best[src])
	}
	return total
}

// sharedObject returns an object that two independent sources name, or "".
func sharedObject(os []outcome) string {
	from := map[string]string{}
	for i := range os {
		for _, obj := range os[i].objects {
			if src, ok := from[obj]; ok && src != os[i].source {
				return obj
			}
			from[obj] = os[i].source
		}
	}
	return ""
}

// levelOf returns the level. Confirmed needs a signal that explains itself, at the right
// time, in a phase that the cause affects, and no evidence of weight against it.
func (x *scored) levelOf() Level {
	switch {
	case x.conf >= confirmFrom && x.against < 1 && x.proven() && x.phaseAgrees():
		return Confirmed
	case x.conf >= likelyFrom:
		return Likely
	}
	return Possible
}

// proven reports whether there is evidence that explains itself, dated and not later than
// the breach. Undated evidence counts if it is a stack dump, or for a node without an
// episode unless its time is outside the kubelet's log.
func (x *scored) proven() bool {
	for i := range x.found {
		o := &x.found[i]
		dated := !o.undated || x.sub.ep == nil && !x.sub.unlogged(o.records[0].Record) || o.source == string(parse.SrcStack)
		if o.clause.Proof && !o.late && dated {
			return true
		}
	}
	return false
}

// unlogged reports whether a record falls after the end of the kubelet's log or into a hole
// in it, where the state of PLEG and the order of events are unknown.
func (s *subject) unlogged(r parse.Record) bool {
	k, at := len(s.n.Runs)-1, r.When().At
	return k >= 0 && r.When().Basis > parse.FileTime && (at > s.n.Runs[k].Last ||
		slices.ContainsFunc(s.n.Holes, func(h replay.Span) bool { return at > h.From && at < h.To }))
}

// phaseAgrees reports whether the cause affects the step that is stuck.
func (x *scored) phaseAgrees() bool {
	if x.sub.ep == nil || x.def.Scope == ScopeNode {
		return true
	}
	return slices.Contains(x.def.Phase, string(x.sub.ep.StuckStep))
}

// ruledOut reports whether a version or the operating system excludes the cause.
func (s *subject) ruledOut(d *Def) bool {
	a := d.Affects
	if a.OS != "" && s.os != "" && a.OS != s.os {
		return true
	}
	if a.Kubelet != "" {
		if in, known := s.kubeletIn(a.Kubelet); known && !in {
			return true
		}
	}
	if a.Kernel != "" && s.kernel != nil {
		if in, ok := inRange(s.kernel.Value, a.Kernel); ok && !in {
			return true
		}
	}
	return false
}

// evidence lists the records of outcomes, each once. The first records of the strongest
// outcomes come first, one of each kind; then the other first records; then the rest.
func evidence(os []outcome, vars map[string]string) []replay.Evidence {
	seen, kinds := map[parse.Pos]bool{}, map[string]bool{}
	var out, more, rest []replay.Evidence
	for i := range os {
		o := &os[i]
		for j, ev := range o.records {
			if seen[ev.Where()] {
				continue
			}
			seen[ev.Where()] = true
			if j == 0 {
				ev.Note = joinNote(o.say(vars), ev.Note)
			}
			switch kind := kindOf(ev.Record); {
			case j > 0:
				rest = append(rest, ev)
			case kinds[kind]:
				more = append(more, ev)
			default:
				kinds[kind] = true
				out = append(out, ev)
			}
		}
	}
	return slices.Concat(out, more, rest)
}

// say returns the clause's sentence, or "" if one of its variables is unknown. For a line
// whose node is not known it adds that condition.
func (o *outcome) say(vars map[string]string) string {
	say := fill(o.clause.Say, o.vars, vars)
	if e, ok := o.records[0].Record.(*parse.Event); ok && e.Bare && say != "" {
		return "if this line is of the node, " + say
	}
	return say
}

// kindOf returns the same key for records that say the same kind of thing: the signature,
// the fact key, or the quote.
func kindOf(r parse.Record) string {
	switch r := r.(type) {
	case *parse.Event:
		for _, g := range r.Sigs.Sigs {
			if r.Is(g.ID) {
				return g.ID
			}
		}
	case *parse.Fact:
		return r.Key
	}
	return r.Quote()
}

// fill replaces each {name} by the variable from the first set that has it. It returns ""
// if one is unknown.
func fill(text string, sets ...map[string]string) string {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			return text
		}
		i += at
		j := strings.IndexByte(text[i:], '}')
		if j < 0 {
			return text
		}
		v := ""
		for _, m := range sets {
			if v = m[text[i+1:i+j]]; v != "" {
				break
			}
		}
		if v == "" {
			return ""
		}
		if d, err := time.ParseDuration(v); err == nil && d != 0 { // in human units
			v = parse.Short(d)
		}
		text = text[:i] + v + text[i+j+1:]
		at = i + len(v)
	}
}
