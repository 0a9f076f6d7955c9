package rules

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// networkCalls are the calls that wait for the pod's network under dockershim (up to 1.23,
// pkg/kubelet/dockershim/docker_sandbox.go).
var networkCalls = []string{"RunPodSandbox", "StopPodSandbox", "PodSandboxStatus"}

// otherCalls are calls that hang if the runtime or a container hangs, and need no network.
var otherCalls = []string{"ListPodSandbox", "ListContainers", "GetPods", "ContainerStatus", "StopContainer", "StartContainer", "CreateContainer", "RemoveContainer", "Status"}

// evalNetworkCalls distinguishes a hung network plugin from a hung container: creating one
// sandbox and stopping or inspecting another have only the network in common.
func evalNetworkCalls(s *subject, _ map[string]string) outcome {
	if s.rt != "docker" {
		return cannotLook()
	}
	var hits []failure
	var calls, objects []string
	for _, f := range s.within(s.fails) {
		if f.Code != "DeadlineExceeded" && !timedOut.MatchString(f.Err()) {
			continue
		}
		if slices.Contains(otherCalls, f.Call) {
			return notThere()
		}
		if !slices.Contains(networkCalls, f.Call) {
			continue
		}
		hits = append(hits, f)
		if !slices.Contains(calls, f.Call) {
			calls = append(calls, f.Call)
		}
		if o := cmp.Or(f.ObjectID(), f.Pod, f.PodUID()); o != "" && !slices.Contains(objects, o) {
			objects = append(objects, o)
		}
	}
	if !slices.Contains(calls, "RunPodSandbox") || len(calls) < 2 {
		return notThere()
	}
	sort.Strings(calls)
	o := foundFailures(hits)
	o.vars["calls"], o.vars["objects"] = strings.Join(calls, ", "), strconv.Itoa(max(len(objects), 2))
	return o
}

// leastShims is the minimum number of late shims from which the cause is not the shims
// themselves.
const leastShims = 3

// A shim that starts or exits on a busy node leaves calls for its state unanswered for some
// seconds, once or twice in its life. A stuck shim does so every time. These limits tell
// them apart.
const (
	asksApart  = int64(10 * time.Second) // calls closer than that count as one try
	asksWithin = int64(5 * time.Minute)  // calls further apart than that are unrelated
	leastAsks  = 3
)

// silence is a shim that did not return its state at several tries.
type silence struct {
	id          string
	first, last *parse.Event
	lines       int
	tries       int
	tried       int64
}

// silentShims returns the shims that containerd asked for their state in vain at least
// leastAsks times.
func (s *subject) silentShims() (out []*silence) {
	of := map[string]*silence{}
	for i, e := range s.inWindow("ctrd.getstate") {
		if i == parse.Many {
			s.unread["ctrd.getstate"] = e
			break
		}
		id := e.Field("id")
		x := of[id]
		if x == nil || x.tries < leastAsks && e.At-x.last.At > asksWithin {
			x = &silence{id: id, first: e, tries: 1, tried: e.At}
			of[id] = x
		}
		x.last = e
		x.lines++
		if e.At-x.tried >= asksApart {
			x.tried = e.At
			if x.tries++; x.tries == leastAsks {
				out = append(out, x)
			}
		}
	}
	return out
}

// lateShims returns the silent shims, the lines that show them and shims whose exit was not
// handled in time, and the number of shims of both kinds.
func (s *subject) lateShims() (silent []*silence, es []*parse.Event, shims int) {
	ids := map[string]bool{}
	silent = s.silentShims()
	for _, x := range silent {
		ids[x.id] = true
		es = append(es, x.first, x.last)
	}
	es = append(es, s.distinct("id", func(e *parse.Event) bool { return !ids[e.Field("id")] && timedOut.MatchString(e.Quote()) }, "ctrd.taskexit")...)
	sortEvents(es)
	return silent, es, len(es) - len(silent)
}

func evalSilentShim(s *subject, _ map[string]string) outcome {
	if !s.have[parse.SrcContainerd] {
		return cannotLook()
	}
	silent, es, shims := s.lateShims()
	if len(silent) == 0 || shims >= leastShims {
		return notThere()
	}
	x := silent[0]
	if all := len(s.inWindow("ctrd.getstate")) + len(es) - 2*len(silent); 2*x.lines <= all {
		return notThere() // most of the calls are about other shims
	}
	return found(events("", x.first, x.last)...).telling(map[string]string{
		"id": x.id, "calls": strconv.Itoa(x.lines), "silence": parse.Short(time.Duration(x.last.At - x.first.At))})
}

func evalManyShims(s *subject, _ map[string]string) outcome {
	if !s.have[parse.SrcContainerd] {
		return cannotLook()
	}
	_, es, shims := s.lateShims()
	if shims < leastShims {
		return notThere()
	}
	o := found(events("", es...)...)
	o.count, o.source = len(es), string(parse.SrcContainerd)
	o.vars = map[string]string{"shims": strconv.Itoa(shims)}
	return o
}

// Unit names of the runtimes and of the kubelet, including those of snaps and of
// distributions that embed them, with or without the .service suffix.
var (
	runtimeUnit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:snap\.)?[\w-]+\.(?:daemon-)?)?(?:containerd|dockerd?|crio|cri-docker)(?:\.service)?$`)
	})
	kubeletUnit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:snap\.)?[\w-]+\.(?:daemon-)?)?(?:kubelet|kubelite|origin-node|atomic-openshift-node|k3s(?:-agent)?|rke2-(?:server|agent))(?:\.service)?$`)
	})
)

// unitOf returns the runtime unit that a systemd line is about, or "" if it is about
// another unit. Old releases print only the description.
func unitOf(e *parse.Event) string {
	switch {
	case e.Is("ctrd.start"):
		return "containerd.service"
	case e.Is("docker.start"):
		return "docker.service"
	}
	if u := e.Field("unit"); u != "" {
		if runtimeUnit().MatchString(u) {
			return u
		}
		return ""
	}
	switch what := e.Field("what"); {
	case strings.Contains(what, "containerd container runtime"):
		return "containerd.service"
	case strings.Contains(what, "Docker Application Container Engine"):
		return "docker.service"
	case what == "docker", what == "containerd", what == "crio": // names used by supervisord
		return what + ".service"
	case strings.Contains(what, "CRI-O"), strings.Contains(what, "Open Container Initiative Daemon"):
		return "crio.service"
	}
	return ""
}

// evalUnitDown finds the unit of the node's own runtime down: docker's is inactive on many
// containerd nodes. If the runtime is unknown, a failed unit counts, and an inactive one
// unless it is masked or disabled, provided that no other runtime's unit is active.
func evalUnitDown(s *subject, _ map[string]string) outcome {
	var down []*parse.Fact
	active := false
	for _, f := range s.byFact["systemd.unit"] {
		unit := f.Attr("unit")
		switch state := f.Value; {
		case !runtimeUnit().MatchString(unit):
		case state == "active" && !strings.Contains(unit, "cri-docker"):
			active = true
		case state == "failed", state == "inactive":
			mine := s.rt != "" && strings.Contains(unit, s.rt)
			unwanted := state == "inactive" && slices.Contains([]string{"masked", "disabled"}, f.Attr("load"))
			if mine || s.rt == "" && !unwanted {
				down = append(down, f)
			}
		}
	}
	if len(down) == 0 || s.rt == "" && active {
		return notThere()
	}
	o := factsFound("", down...).telling(map[string]string{"unit": down[0].Attr("unit"), "state": down[0].Value})
	if s.rt == "" {
		o.factor = 0.5 // another runtime, not named in the input, may be active
	}
	return o
}

// evalRestarted finds a runtime unit that ended and started again, or two starts within one
// boot. A start alone is normal at boot. A restart that begins while a call hangs may end
// that hang, and one after which lists came back for a minute was over; neither counts.
func evalRestarted(s *subject, _ map[string]string) outcome {
	var all []*parse.Event
	for _, id := range []string{"sys.runtime", "sys.exit", "sys.unitfail", "sys.restart", "ctrd.start", "docker.start"} {
		all = append(all, s.inWindow(id)...)
	}
	sortEvents(all)
	ending, ended, began := map[string]*parse.Event{}, map[string]*parse.Event{}, map[string]*parse.Event{} // ending: the first line of the end
	for _, e := range all {
		unit := unitOf(e)
		if unit == "" {
			continue
		}
		if op := e.Field("op"); op != "Started" && !e.Is("ctrd.start") && !e.Is("docker.start") {
			if op != "Starting" {
				if ended[unit] == nil {
					ending[unit] = e
				}
				ended[unit] = e
			}
			continue
		}
		b, from := ended[unit], e
		if b != nil {
			from = ending[unit]
		} else if first := began[unit]; first != nil && e.At-first.At > minute { // several lines report the same start
			b = first
		}
		if b != nil && !s.hungBefore(from.At) && !s.servedAfter(from.At, e.At) {
			return found(events("", b, e)...).by(string(parse.SrcSystemd)).telling(map[string]string{"restarted": unit})
		}
		began[unit], ended[unit] = e, nil
	}
	return s.youngerUnit()
}

// hungBefore reports whether a call of the episode that timed out had run for a long
// relist's time by then.
func (s *subject) hungBefore(at int64) bool {
	return s.ep != nil && slices.ContainsFunc(s.within(s.fails), func(f failure) bool {
		return f.Start.Known() && f.Start.At >= s.ep.LastStart.At && f.Start.At < at-int64(replay.LongRelist) && hung(f)
	})
}

// servedAfter reports whether the runtime answered again for a minute after a restart before
// anything of the subject failed.
func (s *subject) servedAfter(from, to int64) bool {
	if s.ep != nil {
		return !s.ep.Never && s.ep.LastStart.At > to+minute
	}
	return len(s.spans) > 0 && !slices.ContainsFunc(s.spans, func(i replay.Span) bool { return i.To >= from && i.From <= to+minute })
}

// youngerUnit finds the unit of the node's runtime active only since some time after a
// kubelet that kept running had listed pods: another process must have answered then.
func (s *subject) youngerUnit() outcome {
	for _, f := range s.byFact["systemd.unit"] {
		unit := f.Attr("unit")
		since, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", f.Attr("since")) // other zones are ambiguous
		at := since.UnixNano()
		ranOn := func(r replay.Run) bool { return r.First < at && r.Last > at && s.aliveBetween(r.First-1, at) }
		if err != nil || f.Value != "active" || s.rt == "" || !runtimeUnit().MatchString(unit) || !strings.HasPrefix(unit, s.rt) || !s.covers(at) || s.hungBefore(at) || s.servedAfter(at, at) || !slices.ContainsFunc(s.n.Runs, ranOn) {
			continue
		}
		return factsFound("active since "+clock(at), f).by(string(parse.SrcSystemd)).telling(map[string]string{"restarted": unit})
	}
	return notThere()
}
