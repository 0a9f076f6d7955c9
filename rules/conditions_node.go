package rules

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// profile quotes a record that describes the kubelet, or else the first record of the
// episode or node: versions and kinds are often known only from the log format.
func (s *subject) profile(note string) []replay.Evidence {
	for _, e := range s.n.Kubelet.Evidence {
		if e.Record != nil {
			return []replay.Evidence{{Record: e.Record, Note: note}}
		}
	}
	if s.ep != nil && len(s.ep.Evidence) > 0 {
		return []replay.Evidence{{Record: s.ep.Evidence[0].Record, Note: note}}
	}
	for _, e := range s.n.Events {
		return []replay.Evidence{{Record: e, Note: note}}
	}
	return nil
}

func evalKubelet(s *subject, args map[string]string) outcome {
	in, known := s.kubeletIn(args["within"])
	if !known {
		return cannotLook()
	}
	if !in {
		return notThere()
	}
	version := s.n.Kubelet.VersionText()
	return found(s.profile("kubelet " + version)...).by("version").telling(map[string]string{"kubelet": version})
}

// kubeletIn reports whether the kubelet's version lies in a range. known is false if the
// version is not known precisely enough to tell.
func (s *subject) kubeletIn(within string) (in, known bool) {
	k := s.n.Kubelet
	if k.Version != "" {
		return inRange(k.Version, within)
	}
	alts, ok := parseRange(within)
	if !ok {
		return false, false
	}
	lo, hi := parseVersion(k.VersionMin), parseVersion(k.VersionMax)
	out := 0
	for _, all := range alts {
		switch in, known := between(lo, hi, all); {
		case known && in:
			return true, true
		case known:
			out++
		}
	}
	return false, out == len(alts)
}

// between reports whether every version from lo to hi satisfies the bounds. known is false
// if only some may; in=false, known=true means that none does. A nil lo or hi is unbounded.
func between(lo, hi version, all []bound) (in, known bool) {
	in = true
	for _, b := range all {
		hardest, easiest := lo, hi // for ">=": if the oldest satisfies it all do; if the newest does not, none does
		if b.op[0] == '<' {
			hardest, easiest = hi, lo
		}
		one := []bound{b}
		if b.op[0] != '=' && easiest != nil && !holds(easiest, one) {
			return false, true
		}
		if hardest == nil || !holds(hardest, one) || b.op[0] == '=' && (easiest == nil || !holds(easiest, one)) {
			in = false
		}
	}
	return in, in
}

func evalKernel(s *subject, args map[string]string) outcome {
	if s.kernel == nil {
		return s.kernelInLog(args)
	}
	if !kernelMatches(s.kernel.Value, args) {
		return notThere()
	}
	return found(replay.Evidence{Record: s.kernel}).by("version").telling(map[string]string{"kernel": s.kernel.Value})
}

// kernelInLog reads the kernel release from kernel messages.
func (s *subject) kernelInLog(args map[string]string) outcome {
	for _, id := range []string{"k.version", "k.tainted"} {
		es := s.sig(id)
		if len(es) == 0 {
			continue
		}
		v := es[0].Field("version")
		if !kernelMatches(v, args) {
			return notThere()
		}
		return found(events("", es[0])...).by("version").telling(map[string]string{"kernel": v})
	}
	return cannotLook()
}

func kernelMatches(v string, args map[string]string) bool {
	if w := args["within"]; w != "" {
		if in, ok := inRange(v, w); !ok || !in {
			return false
		}
	}
	re, err := regexp.Compile(args["match"])
	return err == nil && re.MatchString(v)
}

func evalRuntime(s *subject, args map[string]string) outcome {
	if s.rt == "" {
		return cannotLook()
	}
	if s.rt != args["is"] {
		return notThere()
	}
	return found(s.profile("container runtime: " + s.rt)...).by("version")
}

func evalEvented(s *subject, _ map[string]string) outcome {
	es := s.sig(parse.SigEvented)
	switch pleg := s.n.Kubelet.PLEG; {
	case pleg == "evented" && len(es) == 0:
		return found(s.profile("the evented PLEG is on")...)
	case pleg == "evented":
		return found(events("", es[0])...)
	case len(es) > 0:
		return found(events("", es...)...)
	case pleg == "generic":
		return notThere()
	}
	return cannotLook()
}

// evalHealthy finds that PLEG was healthy throughout the time that the input covers, by log
// lines or metrics. A failed list or a report without a time contradicts it.
func evalHealthy(s *subject, _ map[string]string) outcome {
	n := s.n
	_, long := s.nevers()
	span, well := n.WellThroughout()
	if len(n.Episodes) > 0 || len(long) > 0 || len(s.listFailures()) > 0 || s.anySig(parse.SigAge, parse.SigListFail, parse.SigStatusDown) || !well && s.anySig("kube.startfail") ||
		slices.ContainsFunc(n.Health, func(h replay.HealthSpan) bool { return h.State == replay.Unhealthy || h.State == replay.RuntimeDown }) {
		return notThere()
	}
	if !well || s.unreadyUnsaid() {
		return cannotLook()
	}
	if first, last, n := s.ends(parse.SigEvent); n > 0 {
		o := found(events("", first, last)...)
		o.count = n
		o.vars = map[string]string{"events": strconv.Itoa(n)}
		return o
	}
	if es := measured(n); len(es) > 0 && span.To-span.From >= int64(n.Kubelet.Threshold) {
		return found(es...)
	}
	if len(n.Events) == 0 || !s.have[parse.SrcKubelet] || s.anySig(parse.SigNever, parse.SigCut) { // only a start, or no evidence about PLEG
		return cannotLook()
	}
	o := found(events("first and last known line; none reports PLEG", n.Events[0], n.Events[len(n.Events)-1])...)
	o.factor = silentShare
	return o
}

// measured returns the first and last metrics snapshot among those that prove PLEG healthy.
func measured(n *replay.Node) (out []replay.Evidence) {
	for i := range n.Claims {
		if c := &n.Claims[i]; (c.Proof == replay.ProofPace || c.Proof == replay.ProofGauge) && len(c.Evidence) > 0 {
			out = append(out[:min(len(out), 1)], c.Evidence[len(c.Evidence)-1])
		}
	}
	return out
}

// anySig reports whether the input holds a line of any of the signatures.
func (v *view) anySig(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return len(v.sig(id)) > 0 })
}

// silentShare is the weight of a period without any line about PLEG, relative to one with
// pod events. It is low so that any look-alike that the lines do name wins.
const silentShare = 0.4

// unreadyUnsaid reports whether the node became NotReady without a line that gives the
// reason, for instance because that line was cut. The reason may have been PLEG.
func (s *subject) unreadyUnsaid() bool {
	stated := s.sig(parse.SigNotReady)
	if len(stated)+len(s.sig(parse.SigCondition)) > 0 {
		return slices.ContainsFunc(stated, func(e *parse.Event) bool { return e.Field("message") == "" })
	}
	return slices.ContainsFunc(s.sig(parse.SigNodeEvent), func(e *parse.Event) bool { return e.Field("event") == "NodeNotReady" })
}

// readyAfter reports whether the last readiness event of the node is NodeReady, judged by
// the events' ages, which kubectl counts back from one moment.
func (s *subject) readyAfter() bool {
	last := map[string]time.Duration{} // smallest age by event
	for _, e := range s.sig(parse.SigNodeEvent) {
		ago, ok := eventAge(e.Field("ago"))
		if !ok {
			return false
		}
		if old, ok := last[e.Field("event")]; !ok || ago < old {
			last[e.Field("event")] = ago
		}
	}
	ready, is := last["NodeReady"]
	not, was := last["NodeNotReady"]
	return is && was && ready < not
}

// eventAge parses an age as printed by kubectl: 43s, 5m3s, 4d20h, 2y30d.
func eventAge(s string) (time.Duration, bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'y': 365 * 24 * time.Hour}
	sum, n := time.Duration(0), time.Duration(0)
	for i := range len(s) {
		if c := s[i]; c >= '0' && c <= '9' && n < 1e6 {
			n = 10*n + time.Duration(c-'0')
		} else if unit := units[c]; unit > 0 {
			sum, n = sum+n*unit, 0
		} else {
			return 0, false
		}
	}
	return sum, s != "" && n == 0
}

func evalShortLived(s *subject, _ map[string]string) outcome {
	if s.audit == nil || !s.audit.Audited {
		return cannotLook()
	}
	for _, c := range s.audit.ShortLived {
		if len(c.Evidence) > 0 {
			return found(c.Evidence...).telling(map[string]string{"pod": c.Pod, "object": c.ID[:min(12, len(c.ID))], "count": strconv.Itoa(len(s.audit.ShortLived))})
		}
	}
	return notThere()
}

func (s *subject) fact(key string) *parse.Fact {
	if fs := s.byFact[key]; len(fs) > 0 {
		return fs[len(fs)-1]
	}
	return nil
}

func factsFound(note string, fs ...*parse.Fact) outcome {
	var es []replay.Evidence
	for _, f := range fs {
		if f != nil {
			es = append(es, replay.Evidence{Record: f, Note: note})
		}
	}
	return found(es...).by(string(parse.SrcFacts))
}

// evalPile returns a condition that the number of fact key is at least least and three
// times that of fact other plus plus. If other is unknown, it must be at least alone. name
// is the variable for sentences.
func evalPile(name, key, other string, alone, least, plus float64) func(*subject, map[string]string) outcome {
	return func(s *subject, _ map[string]string) outcome {
		of, by := s.fact(key), s.fact(other)
		if of == nil {
			return cannotLook()
		}
		limit := alone
		if by != nil {
			limit = max(least, 3*by.Num+plus)
		}
		if of.Num < limit {
			return notThere()
		}
		return factsFound("", of, by).telling(map[string]string{name: strconv.FormatFloat(of.Num, 'f', -1, 64)})
	}
}

// goesWithin is how long a leftover shim may take to exit.
const goesWithin = 10 * second

// evalShimStays finds a leftover shim whose connection does not close after containerd told
// it to exit. containerd waits for each before it serves its socket.
func evalShimStays(s *subject, _ map[string]string) outcome {
	left := s.sig("ctrd.leftshim")
	if len(left) == 0 {
		return notThere()
	}
	gone := map[string]bool{}
	for _, e := range s.sig("ctrd.shim") {
		gone[e.Field("id")] = true
	}
	for _, e := range left {
		if id := e.Field("id"); !gone[id] && s.n.Window.End >= e.At+goesWithin {
			return found(events("", e)...).by(string(parse.SrcContainerd)).telling(map[string]string{"id": id[:min(12, len(id))]})
		}
	}
	return notThere()
}
