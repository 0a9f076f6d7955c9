package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/waits"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// evalWaitedFor joins a goroutine that holds a lock with the single process of a given kind
// that is as old as its wait: that process is what the goroutine waits for.
func evalWaitedFor(s *subject, args map[string]string) outcome {
	what, state := pattern.Lazy(args["what"]), cannotLook()
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

// heldFor returns how long the holder of a lock has waited. A goroutine dump states it in
// whole minutes.
func heldFor(lock *parse.Fact) time.Duration {
	n, _ := strconv.Atoi(strings.TrimSuffix(lock.Attr("held"), " min"))
	return time.Duration(n) * time.Minute
}

// A process that a goroutine waits for began with the wait. These are the tolerances for
// its age: the dump rounds down, and the process table may have been taken some minutes
// later.
const (
	tableEarlier = time.Minute
	tableLater   = 5 * time.Minute
)

// oneAsOld returns the only process of the given kinds whose age fits, or nil if there are
// none or several. Several that work on one container count as one, represented by one in
// state D.
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

// processWords describes a process so that a reader can find it.
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
	return out + v.ofContainer(p.Attr("args"))
}

// ofContainer names the container that a command line refers to, and its pod; "" if it
// refers to none.
func (v *view) ofContainer(args string) string {
	id := containerIn(args)
	if id == "" {
		return ""
	}
	if pod := v.podOfContainer(id); pod != "" {
		return " of container " + id[:12] + ", pod " + pod
	}
	return " of container " + id[:12]
}

var containerID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// containerIn returns the container ID in a command line, or "".
func containerIn(args string) string { return containerID.FindString(args) }

// podOfContainer returns the pod of a container or sandbox, found in listings, failed calls
// and pod events, or "".
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

// settled is how long a runtime may take to handle the exit of a container that it already
// refuses to operate on.
const settled = 30 * second

var saysStopped = pattern.Lazy(`(?i)\bnot running\b|in a stopped (?:container|state)`)

// evalStopOfStopped finds two contradictory statements of the runtime about one container:
// that it is not running, and later, by a stop that times out, that its exit is still
// awaited.
func evalStopOfStopped(s *subject, _ map[string]string) outcome {
	type said struct {
		at int64
		by replay.Evidence
	}
	brief := func(id string) string { return id[:min(12, len(id))] }
	fails := s.within(s.fails)
	var late []failure           // stops that timed out
	awaited := map[string]bool{} // their containers
	for _, f := range fails {
		if (f.Call == "StopContainer" || f.Call == "KillContainer") && len(f.Evidence()) > 0 && len(f.ObjectID()) >= 12 && timedOut.MatchString(f.Code+" "+f.Err()) {
			late, awaited[brief(f.ObjectID())] = append(late, f), true
		}
	}
	gone := map[string]said{}
	tell := func(id string, at int64, by replay.Evidence) {
		if g, ok := gone[id]; at != 0 && (!ok || at < g.at) {
			gone[id] = said{at, by}
		}
	}
	for _, sig := range []string{"docker.notrunning", "ctrd.execstopped"} {
		for _, e := range s.inWindow(sig) {
			if id := brief(e.Field("id")); awaited[id] {
				tell(id, e.At, replay.Evidence{Record: e})
			}
		}
	}
	for _, f := range fails {
		if id := brief(f.ObjectID()); awaited[id] && len(f.Evidence()) > 0 && saysStopped.MatchString(f.Err()) {
			tell(id, f.End(), f.Evidence()[0])
		}
	}
	for _, f := range late {
		if g, ok := gone[brief(f.ObjectID())]; ok && f.End()-g.at >= settled {
			o := found(f.Evidence()[0], g.by)
			o.vars = map[string]string{"id": brief(f.ObjectID()), "call": f.Call, "later": parse.Short(time.Duration(f.End() - g.at))}
			o.objects = []string{"container:" + f.ObjectID()}
			return o
		}
	}
	return notThere()
}

// waiting returns which tasks wait for which in the kernel, computed once for all causes.
func (v *view) waiting() []waits.Wait {
	if v.waits == nil {
		var lines []*parse.Event
		v.listTogether(waits.Signatures)
		for _, id := range waits.Signatures {
			lines = append(lines, v.sig(id)...)
		}
		v.waits = append([]waits.Wait{}, waits.Of(lines, v.n.Facts)...)
	}
	return v.waits
}

// evalLockChain describes the longest chain of tasks that wait in the kernel for each
// other's locks, down to the last task and what it waits for.
func evalLockChain(s *subject, args map[string]string) outcome {
	waiter, lock := pattern.Lazy(args["waiter"]), pattern.Lazy(args["lock"])
	all := slices.DeleteFunc(slices.Clone(s.waiting()), func(w waits.Wait) bool { return !s.reaches(w.By[0]) })
	chain, ring := waits.Longest(all, func(w *waits.Wait) bool { return waiter.MatchString(w.Waiter.Comm) && lock.MatchString(w.For) })
	if len(chain) == 0 {
		return notThere()
	}
	words, last, es := chain[0].Waiter.String()+s.whose(chain[0].Waiter.PID), chain[0].Waiter, []replay.Evidence{}
	if n := waits.Alike(all, chain[0]); n > 0 {
		words += ", like " + parse.Plural(n, "more task") + ","
	}
	for i, w := range chain {
		if i > 0 {
			words += ", which"
		}
		words += " waits for " + w.For
		if w.Holder.PID != "" {
			last = w.Holder
			words += " that " + last.String() + s.whose(last.PID) + map[bool]string{true: " probably"}[w.Likely] + " holds"
		}
		for _, r := range w.By {
			es = append(es, replay.Evidence{Record: r})
		}
	}
	if m, p := s.mountOf(last.PID); ring {
		words += ", so that none of them can go on"
	} else if m != nil {
		words += ", which hangs in " + m.Value + " of " + m.Attr("device")
		es = append(es, replay.Evidence{Record: p}, replay.Evidence{Record: m})
	}
	return found(es...).by(string(parse.SrcKernel)).telling(map[string]string{"chain": words, "holder": last.Comm, "pid": last.PID})
}

// reaches reports whether a record may fall into the subject's window.
func (s *subject) reaches(r parse.Record) bool {
	st := r.When()
	return s.ep == nil || st.Basis == parse.NoTime || r.From() == parse.SrcFacts || st.At >= s.from && st.At <= s.to
}

// whose says which container a task of the process table belongs to, according to its
// command line.
func (v *view) whose(pid string) string {
	for _, key := range v.facts {
		for _, p := range v.byFact[key] {
			if strings.HasPrefix(key, "process.") && p.Attr("pid") == pid {
				if words := v.ofContainer(p.Attr("args")); words != "" {
					return words
				}
			}
		}
	}
	return ""
}

// mountOf returns the network mount named in the command line of a task in uninterruptible
// sleep, and the task. pid selects the task; "" means any.
func (v *view) mountOf(pid string) (mount, task *parse.Fact) {
	for _, p := range v.byFact["process.dstate"] {
		if pid != "" && p.Attr("pid") != pid {
			continue
		}
		for _, word := range strings.Fields(p.Attr("args")) {
			for _, m := range v.byFact["mount.network"] {
				below, ok := strings.CutPrefix(word, m.Value)
				if ok && len(m.Value) > 1 && (below == "" || below[0] == '/') && (mount == nil || len(m.Value) > len(mount.Value)) {
					mount, task = m, p
				}
			}
		}
		if mount != nil {
			return mount, task
		}
	}
	return nil, nil
}

var podDir = regexp.MustCompile(`/pods/([0-9a-f-]{36})/`)

// evalMountWaitedFor joins a task in uninterruptible sleep with the network mount that its
// command line names, the server, and the pod whose volume it is.
func evalMountWaitedFor(s *subject, _ map[string]string) outcome {
	if len(s.byFact["process.dstate"]) == 0 || len(s.byFact["mount.network"]) == 0 {
		return cannotLook()
	}
	m, p := s.mountOf("")
	if m == nil {
		return notThere()
	}
	o := factsFound("", p, m)
	o.vars = map[string]string{"task": p.Attr("comm") + " (pid " + p.Attr("pid") + ")", "mount": m.Value + " of " + m.Attr("device")}
	if server := m.Attr("server"); server != "" {
		o.objects = append(o.objects, "server:"+server)
	}
	if dir := podDir.FindStringSubmatch(m.Value); dir != nil {
		o.vars["mount"] += ", a volume of pod " + cmp.Or(s.podOfUID(dir[1]), dir[1])
	}
	return o
}

// podOfUID returns the pod with a UID, found in listings and failed calls, or "".
func (v *view) podOfUID(uid string) string {
	if i := slices.IndexFunc(v.n.Containers, func(c *parse.Container) bool { return c.PodUID == uid && c.PodName != "" }); i >= 0 {
		return strings.TrimPrefix(v.n.Containers[i].Namespace+"/"+v.n.Containers[i].PodName, "/")
	}
	if i := slices.IndexFunc(v.n.Failures, func(f replay.Failure) bool { return f.Pod != "" && f.PodUID() == uid }); i >= 0 {
		return v.n.Failures[i].Pod
	}
	return ""
}
