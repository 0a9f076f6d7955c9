package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// Eval judges one node: crossed thresholds, probable causes, look-alikes, and a
// one-sentence summary for a ticket. It depends only on the node and the pack and is
// deterministic.
func Eval(n *replay.Node, p *Pack) Result {
	a := audit.Of(n)
	return EvalAtOnce(n, &a, p, nil)
}

// EvalAtOnce is Eval for a node with its audit a, which is nil if the node was not audited.
// parallel runs tasks that share no mutable state, possibly concurrently, and returns when
// all are done. If it is nil, the work runs serially.
func EvalAtOnce(n *replay.Node, a *audit.Result, p *Pack, parallel func(tasks ...func())) Result {
	v := newView(n)
	v.audit = a
	causes, alikes := rank(v, p, parallel)
	res := Result{Breaches: breaches(v, p), Unjudged: v.unjudged(p, causes, alikes), Unready: unready(v)}
	for _, x := range causes {
		res.Causes = append(res.Causes, x.cause())
	}
	res.Status = status(v, &res)
	promoted := -1
	for _, x := range alikes {
		if res.Status == StatusHealthy || !x.def.deniesTrouble() {
			if promoted < 0 && !x.tooEarly() {
				promoted = len(res.LookAlikes)
			}
			res.LookAlikes = append(res.LookAlikes, x.cause())
		}
	}
	// A node without a cause and without an episode still gets an answer: the best
	// look-alike takes the place of the cause, never above possible, since there is nothing
	// to explain.
	if len(res.Causes) == 0 && len(n.Episodes) == 0 && promoted >= 0 {
		c := res.LookAlikes[promoted]
		c.Level, c.Confidence = Possible, min(c.Confidence, possibleMost)
		res.Causes = append(res.Causes, c)
	}
	res.Undecided = v.undecided(res.Breaches)
	res.Summary = summary(v, &res)
	res.Crossed, res.Warnings = v.crossed(res.Breaches), v.tooMany(res.Breaches)
	if len(res.Causes) > 0 && res.Causes[0].Kind == KindLookAlike {
		res.LookAlikes = slices.Delete(res.LookAlikes, promoted, promoted+1) // already reported as the cause
	}
	return res
}

// deniesTrouble reports whether the definition says that PLEG was healthy. That holds only
// for a node with status healthy: other evidence (a slow relist, an interval without
// evidence) overrules it.
func (d *Def) deniesTrouble() bool {
	return slices.ContainsFunc(d.For, func(c *Clause) bool { return c.Core && c.Cond == "healthy" })
}

// tooEarly reports whether a look-alike is a start of the kubelet and something failed
// more than a minute after it, which a start does not explain.
func (x *scored) tooEarly() bool {
	i := slices.IndexFunc(x.found, func(o outcome) bool { return o.clause.Cond == "startup" })
	return i >= 0 && slices.ContainsFunc(x.sub.incidents(), func(failed replay.Span) bool {
		began := int64(0) // of the last start before the failure
		for _, r := range x.found[i].records {
			if at := r.When().At; at <= failed.From {
				began = max(began, at)
			}
		}
		return began != 0 && failed.From-began > minute
	})
}

// vars returns the facts about the subject that sentences may use.
func (s *subject) vars() map[string]string {
	v := map[string]string{"node": s.n.Name, "deadline": parse.Short(time.Duration(s.t))}
	if s.n.Kubelet.TimeoutKnown {
		v["timeout"] = v["deadline"]
	} else {
		v["deadline"] += " (if the default holds)"
	}
	if s.rt != "" {
		v["runtime"] = s.rt
	}
	if srv := s.serverBack(); srv != "" {
		v["back"] = srv
	}
	if version, _ := s.version(); version != "" {
		v["kubelet"] = version
	}
	switch s.deadlines() {
	case 1:
		v["once"] = "once"
	case 2:
		v["twice"] = "a second time"
	}
	if s.ep == nil {
		if n := len(s.spans); n > 0 && (s.aliveBetween(s.spans[n-1].To, s.n.Window.End) || s.workedBetween(s.spans[n-1].To, s.n.Window.End)) {
			v["over"] = "The runtime answers again"
		}
		return v
	}
	if s.n.Episodes[len(s.n.Episodes)-1].Recovered.Known() && endsWell(s.n) {
		v["over"] = "PLEG was healthy again"
	}
	if s.ep.OnDemand {
		v["demand"] = "on demand"
	}
	if s.ep.LastStart.Known() {
		v["start"] = clock(s.ep.LastStart.At)
	}
	if s.ep.Breach != 0 {
		v["breach"] = clock(s.ep.Breach)
	}
	if s.ep.PeakAge > 0 {
		v["age"] = parse.Least(s.ep.PeakAge)
	}
	if s.ep.Recovered.Known() {
		v["recovered"] = clock(s.ep.Recovered.At)
	}
	if s.ep.Threshold > 0 {
		v["threshold"] = parse.Short(s.ep.Threshold)
	}
	if s.ep.StuckStep != "" && s.ep.StuckStep != replay.StepUnknown {
		v["step"] = string(s.ep.StuckStep)
	}
	return v
}

// serverBack returns a server of files that the kernel called unresponsive and that answered later, "" if there is none
// or another one did not. An error that a handle is stale is such an answer, too; it names no server, so it counts only
// where one alone was silent.
func (s *subject) serverBack() (back string) {
	silent := map[string]*parse.Event{} // the last such line of each server
	for _, e := range s.sig("k.nfs") {
		if srv := e.Field("srv"); silent[srv] == nil || writtenAfter(e, silent[srv]) {
			silent[srv] = e
		}
	}
	for srv, last := range silent {
		later := func(e *parse.Event) bool {
			return writtenAfter(e, last) && (e.Field("srv") == srv || len(silent) == 1 && e.Is("storage.stale") && staleNFS.MatchString(e.Message()))
		}
		if !slices.ContainsFunc([]string{"k.nfsok", "k.nfschanged", "storage.stale"}, func(id string) bool { return slices.ContainsFunc(s.sig(id), later) }) {
			return ""
		}
		back = max(back, srv)
	}
	return back
}

var staleNFS = pattern.Lazy(`(?i)nfs.*stale file handle|stale nfs file handle`)

// writtenAfter reports whether a line was written after another one: by its place in one file, or else by its time.
func writtenAfter(e, f *parse.Event) bool {
	if p, q := e.Where(), f.Where(); p.File == q.File {
		return p.Line > q.Line
	}
	return e.At != 0 && f.At != 0 && e.At > f.At
}

func clock(at int64) string { return time.Unix(0, at).UTC().Format("2006-01-02 15:04:05 UTC") }

// clocks formats a period, with to 0 if unknown. The end omits the day and zone if they are
// those of the start.
func clocks(from, to int64) string {
	if to == 0 {
		return clock(from)
	}
	const day = len("2006-01-02 ")
	a, b := clock(from), clock(to)
	if a[:day] == b[:day] {
		b = b[day : len(b)-len(" UTC")]
	}
	return a + " to " + b
}

// cause converts a judgement to its exported form.
func (x *scored) cause() Cause {
	vars := x.sub.vars()
	c := Cause{
		ID: x.def.ID, Kind: x.def.Kind, Title: x.title(), Level: x.level, Confidence: round2(min(x.conf, mostConfident)), Episodes: x.episodes,
		For: evidence(x.found, vars), Against: evidence(x.contra, vars),
		Explanation: x.explanation(vars), Path: x.path(vars),
		Remediation: x.filled(x.def.Remediation, vars), References: x.def.References,
	}
	c.Missing, c.Commands = x.asks(vars)
	c.Objects = x.sub.objectsOf(c.For)
	return c
}

// title returns what the cause is called: as its definition says, or, where each clause that was found shows less than
// that, as the weightiest of them says.
func (x *scored) title() string {
	title := x.def.Title
	for i := range x.found {
		switch t := x.found[i].clause.Title; {
		case t == "":
			return x.def.Title
		case i == 0:
			title = t
		}
	}
	return title
}

// objectsOf returns the servers and registries that evidence names, with the first time
// each was seen.
func (v *view) objectsOf(es []replay.Evidence) (out []Object) {
	for _, e := range es {
		at := e.When().At
		for _, f := range v.fieldsOf(e.Record) {
			kind, name := outsideOf(f)
			i := slices.IndexFunc(out, func(x Object) bool { return x.Kind == kind && x.Name == name })
			switch {
			case name == "":
			case i < 0:
				out = append(out, Object{kind, name, at})
			case at != 0 && at < out[i].At:
				out[i].At = at
			}
		}
	}
	return out
}

// outsideOf returns the object outside the node that a field names; name is "" if there is
// none.
func outsideOf(f parse.Field) (kind, name string) {
	switch f.Name {
	case "server", "srv":
		return "server", f.Value
	case "image":
		if host, _, ok := strings.Cut(f.Value, "/"); ok && strings.ContainsAny(host, ".:") {
			return "registry", host
		}
	}
	return "", ""
}

// mostConfident is the highest confidence reported: a log is never the whole story.
const mostConfident = 0.97

func round2(f float64) float64 { return float64(int(f*100+0.5)) / 100 }

// orElse prefixes a sentence that is used only if the one before it was omitted.
const orElse = "or: "

// explanation joins the sentences of the definition whose variables are all known. A cause
// that is only possible gets the reason for that instead.
func (x *scored) explanation(vars map[string]string) string {
	switch {
	case x.level == Possible && x.limit != "":
		return "Possible only: " + x.limit + "."
	case x.level == Possible:
		return "Possible only: the evidence is weak."
	case x.title() != x.def.Title:
		return ""
	}
	return strings.Join(x.filled(x.def.Explanation, vars), " ")
}

// filled returns the sentences whose variables are all known, filled in. A sentence that
// begins with "or: " is an alternative to the one before it.
func (x *scored) filled(sentences []string, vars map[string]string) (out []string) {
	said := false
	for _, s := range sentences {
		s, alternative := strings.CutPrefix(s, orElse)
		if alternative && said {
			continue
		}
		t := x.fill(s, vars)
		if said = t != ""; said {
			out = append(out, t)
		}
	}
	return out
}

// fill fills a sentence from the subject, or else from the subject and one piece of
// evidence, the weightiest that has the missing variables. It never combines two pieces,
// since two lines do not make one statement. The evidence's own variables win: the age of a
// process is not that of a relist.
func (x *scored) fill(sentence string, vars map[string]string) string {
	if t := fill(sentence, vars); t != "" {
		return t
	}
	for i := range x.found {
		if t := fill(sentence, x.found[i].vars, vars); t != "" {
			return t
		}
	}
	return ""
}

// path lists the steps of the decision.
func (x *scored) path(vars map[string]string) []string {
	out := x.sub.opening(vars)
	for i := range x.found {
		o := &x.found[i]
		say := o.say(vars)
		if say == "" || o.clause.Cond == "breach" {
			continue
		}
		out = append(out, o.clause.Word+": "+say+timingWords(o, x.sub))
	}
	if x.shared != "" {
		out = append(out, "two independent sources name the same "+strings.Replace(x.shared, ":", " ", 1))
	}
	for i := range x.contra {
		o := &x.contra[i]
		if say := o.say(vars); say != "" {
			out = append(out, "against: "+say)
		}
	}
	if x.limit != "" {
		out = append(out, "no more than possible: "+x.limit)
	}
	if x.explained != nil {
		out = append(out, "it is itself explained by "+x.explained.def.ID+", which outranks it")
	}
	return out
}

func (s *subject) opening(vars map[string]string) []string {
	if s.ep == nil {
		return nil
	}
	var out []string
	if t := fill("the last relist that listed pods started at {start}; the threshold of {threshold} was passed at {breach}", vars); t != "" {
		out = append(out, t)
	}
	switch s.ep.StuckStep {
	case replay.StepList:
		out = append(out, withBasis("it hung while listing pods, before any pod was inspected", s.ep.StepBasis))
	case replay.StepInspect:
		what := "while inspecting changed pods"
		if s.ep.OnDemand {
			what = "in the relist of one pod on demand"
		}
		out = append(out, withBasis("listing worked; it hung "+what, s.ep.StepBasis))
	case replay.StepDeliver:
		out = append(out, withBasis("it hung while delivering events", s.ep.StepBasis))
	default:
		out = append(out, "the lines do not tell in which step it hung")
	}
	return out
}

func withBasis(s, basis string) string {
	if basis == "" {
		return s
	}
	return s + " (" + basis + ")"
}

func timingWords(o *outcome, s *subject) string {
	switch {
	case s.ep == nil || o.source == "timeline" || o.source == "version":
		return ""
	case o.late && !o.clause.Any:
		return " (only after the breach: may be a consequence)"
	case o.undated && o.source != "facts" && o.source != "stack":
		return " (its time cannot be compared)"
	}
	return ""
}

// asks returns the missing input that would settle the cause, and the commands to run:
// first those of the cause, then those that collect that input.
func (x *scored) asks(vars map[string]string) (asks []Missing, runs []string) {
	for _, r := range x.def.Run {
		if run := x.fill(r, vars); run != "" && shellMarks(run) == shellMarks(placeholder().ReplaceAllString(r, "")) {
			runs = append(runs, run)
		}
	}
	for _, m := range x.def.Missing {
		if slices.ContainsFunc(m.Lacks, x.sub.has) {
			continue
		}
		if id := cmp.Or(x.fill("{object}", vars), x.fill("{id}", vars)); id != "" && strings.Trim(id, "0123456789abcdef") == "" {
			m.Run = strings.NewReplacer("CONTAINER", id, "SANDBOX", id).Replace(m.Run)
		}
		asks = append(asks, m)
		if m.Run != "" && !slices.Contains(runs, m.Run) {
			runs = append(runs, m.Run)
		}
	}
	return asks, runs
}

// shellMarks counts the characters that are special to a shell or separate words. A value
// from the input must add none to a command.
func shellMarks(s string) (n int) {
	for _, r := range s {
		if strings.ContainsRune(" \t\n;&|$`\"'\\<>()*?[]{}#~!%=", r) {
			n++
		}
	}
	return n
}
