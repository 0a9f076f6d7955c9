package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// lookWaitedFor joins a goroutine that keeps a lock with the one process of its kind
// that is as old as its wait: what it waits for, and whose that is.
func lookWaitedFor(s *subject, args map[string]string) outcome {
	what, state := rightPattern(args["what"]), cannotLook()
	for _, lock := range s.byFact["goroutine.lock"] {
		if lock.Attr("holder") == "" || !what.MatchString(lock.Attr("holder_waits")) {
			continue
		}
		state = notThere()
		p := s.oneAsOld(heldFor(lock), strings.Split(args["of"], ","))
		if p == nil {
			continue
		}
		o := found(replay.Evidence{Record: p}, replay.Evidence{Record: lock})
		o.source = string(parse.SrcStack)
		o.vars = map[string]string{"holder": lock.Attr("holder"), "waits": lock.Attr("holder_waits"), "held": lock.Attr("held"), "process": s.processWords(p)}
		if id := containerIn(p.Attr("args")); id != "" {
			o.objects = append(o.objects, "container:"+id)
		}
		return o
	}
	return state
}

// heldFor is how long the holder of a lock has waited, to the minute that a dump states.
func heldFor(lock *parse.Fact) time.Duration {
	n, _ := strconv.Atoi(strings.TrimSuffix(lock.Attr("held"), " min"))
	return time.Duration(n) * time.Minute
}

// A process that a goroutine waits for has begun with the wait. The dump rounds down,
// and the process table may have been written some minutes later.
const (
	tableEarlier = time.Minute
	tableLater   = 5 * time.Minute
)

// oneAsOld is the one process of some kinds whose age fits, nil if none or several do.
// Several that work on one container are one, and told by the one that hangs.
func (v *view) oneAsOld(held time.Duration, kinds []string) *parse.Fact {
	var one *parse.Fact
	for _, kind := range kinds {
		for _, p := range v.byFact[kind] {
			age, err := time.ParseDuration(p.Attr("age"))
			if err != nil || age < held-tableEarlier || age > held+tableLater {
				continue
			}
			switch id := containerIn(p.Attr("args")); {
			case one == nil || one.Attr("pid") == p.Attr("pid"):
				one = p
			case id == "" || id != containerIn(one.Attr("args")):
				return nil
			case strings.HasPrefix(p.Attr("stat"), "D"):
				one = p
			}
		}
	}
	return one
}

// processWords tells of a process what a reader needs to find it.
func (v *view) processWords(p *parse.Fact) string {
	age, _ := time.ParseDuration(p.Attr("age"))
	name, _, _ := strings.Cut(p.Attr("comm"), " ")
	out := name[strings.LastIndexByte(name, '/')+1:] + " (pid " + p.Attr("pid") + ", " + parse.Short(age) + " old"
	if stat := p.Attr("stat"); stat != "" {
		out += ", state " + stat
		if w := p.Attr("wchan"); w != "" {
			out += " in " + w
		}
	}
	out += ")"
	id := containerIn(p.Attr("args"))
	if id == "" {
		return out
	}
	out += " of container " + id[:12]
	if pod := v.podOfContainer(id); pod != "" {
		out += ", pod " + pod
	}
	return out
}

var containerID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// containerIn is the container that a command line names.
func containerIn(args string) string { return containerID.FindString(args) }

// podOfContainer is the pod of a container or sandbox, by listings, failed calls and
// pod events.
func (v *view) podOfContainer(id string) string {
	same := func(other string) bool { return len(other) >= 12 && strings.HasPrefix(id, other) }
	if i := slices.IndexFunc(v.n.Containers, func(c *parse.Container) bool { return c.PodName != "" && same(c.ID) }); i >= 0 {
		return strings.TrimPrefix(v.n.Containers[i].Namespace+"/"+v.n.Containers[i].PodName, "/")
	}
	if i := slices.IndexFunc(v.n.Failures, func(f replay.Failure) bool { return f.Pod != "" && same(f.ObjectID()) }); i >= 0 {
		return v.n.Failures[i].Pod
	}
	for _, e := range v.n.Observed.All() {
		if e.Pod != "" && same(e.Data) {
			return e.Pod
		}
	}
	return ""
}

// settled is how long a runtime may take to handle the exit of a container that it
// already refuses to work on.
const settled = 30 * second

var saysStopped = regexp.MustCompile(`(?i)\bnot running\b|in a stopped (?:container|state)`)

// lookStopOfStopped joins what the runtime says of one container: that it does not
// run, and later, by a stop that ends at its deadline, that its exit is still awaited.
func lookStopOfStopped(s *subject, _ map[string]string) outcome {
	type said struct {
		at int64
		by replay.Evidence
	}
	gone := map[string]said{}
	tell := func(id string, at int64, by replay.Evidence) {
		if len(id) < 12 || at == 0 {
			return
		}
		if g, ok := gone[id[:12]]; !ok || at < g.at {
			gone[id[:12]] = said{at, by}
		}
	}
	for _, sig := range []string{"docker.notrunning", "ctrd.execstopped"} {
		for _, e := range s.inWindow(sig) {
			tell(e.Field("id"), e.At, replay.Evidence{Record: e})
		}
	}
	fails := s.within(s.fails)
	for _, f := range fails {
		if len(f.Evidence) > 0 && saysStopped.MatchString(f.Err()) {
			tell(f.ObjectID(), f.End, f.Evidence[0])
		}
	}
	for _, f := range fails {
		if f.Call != "StopContainer" && f.Call != "KillContainer" || len(f.Evidence) == 0 || len(f.ObjectID()) < 12 || !timedOut().MatchString(f.Code+" "+f.Err()) {
			continue
		}
		if g, ok := gone[f.ObjectID()[:12]]; ok && f.End-g.at >= settled {
			o := found(f.Evidence[0], g.by)
			o.vars = map[string]string{"id": f.ObjectID()[:12], "call": f.Call, "later": parse.Short(time.Duration(f.End - g.at))}
			o.objects = []string{"container:" + f.ObjectID()}
			return o
		}
	}
	return notThere()
}
