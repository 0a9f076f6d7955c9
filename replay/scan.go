package replay

import (
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// kinds is a set of the message kinds that the rebuild looks at.
type kinds uint32

const (
	kAge kinds = 1 << iota
	kNever
	kSkip
	kRelisting
	kRetrieved
	kInside // written by the relist goroutine after its list call returned
	kListFail
	kEvent
	kSync
	kNotReady
	kNodeEvent
	kCondition
	kHousekeeping
	kDown
	kCall
	kStart // written once in a kubelet's start, before its sync loop
	kStarting
	kProfile
	kFallback    // generic PLEG takes over from evented PLEG
	kInspectFail // kInside with an error: the inspection of a pod failed
)

// kindTable says which signatures are of which kind.
var kindTable = []struct {
	id   string
	kind kinds
}{
	{parse.SigAge, kAge}, {parse.SigNever, kNever}, {parse.SigSkip, kSkip},
	{parse.SigRelisting, kRelisting}, {parse.SigRetrieved, kRetrieved},
	{parse.SigTransition, kInside}, {parse.SigFinished, kInside}, {parse.SigDiscard, kInside},
	{parse.SigWriteStatus, kInside | kInspectFail}, {parse.SigIgnore, kInside | kInspectFail},
	{parse.SigReinspect, kInside | kInspectFail}, {parse.SigDeleteStatus, kInside},
	{parse.SigListFail, kListFail}, {parse.SigEvent, kEvent}, {parse.SigSync, kSync},
	{parse.SigNotReady, kNotReady}, {parse.SigNodeEvent, kNodeEvent}, {parse.SigCondition, kCondition},
	{parse.SigHousekeeping, kHousekeeping}, {parse.SigStatusDown, kDown}, {parse.SigRPC, kCall},
	{parse.SigVersion, kStart | kProfile}, {parse.SigGates, kStart | kProfile}, {parse.SigFlag, kStart | kProfile},
	{parse.SigFallback, kFallback}, {parse.SigRuntime, kProfile}, {parse.SigStarting, kStarting | kStart},
}

func kindsOf(s *parse.SigSet) kinds {
	var k kinds
	for _, row := range kindTable {
		if s.Has(row.id) {
			k |= row.kind
		}
	}
	return k
}

// mark is a dated line of the relist goroutine.
type mark struct {
	at   int64
	kind kinds
	run  int
	ev   *parse.Event
	code string // of a list failure
	err  string
}

// ageLine is a line that states how long ago PLEG was last active.
type ageLine struct {
	at    int64 // 0 when undated
	age   time.Duration
	limit time.Duration // the threshold that the line states, 0 if it states none
	res   time.Duration // granularity of at
	skip  bool          // written by the sync loop
	run   int
	rec   parse.Record

	header  bool // at is the kubelet's own clock, not that of arrival
	outside bool // told by another than the kubelet: an event row, an object
}

// turn is a line of the sync loop: it skipped, or it worked.
type turn struct {
	at   int64
	skip bool // "skipping pod synchronization"
	pleg bool // and PLEG is among the reasons
	run  int
	ev   *parse.Event
}

// stall is a housekeeping run that took too long.
type stall struct {
	from, to int64
	run      int
	ev       *parse.Event
}

// nodeLine is a line about the node's Ready condition.
type nodeLine struct {
	at     int64
	ready  bool
	status bool // written when the status was computed: proves the health of that moment
	reason string
	run    int
	ev     *parse.Event
	obj    *parse.Object // instead of ev: a Kubernetes object
}

// call is a failed runtime call as one layer tells it.
type call struct {
	ev     *parse.Event
	fields []parse.Field
	run    int
}

func (c *call) field(name string) string { return fieldOf(c.fields, name) }

func fieldOf(fields []parse.Field, name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// found is what one pass over a node's events finds, each list in time order.
type found struct {
	runs      []Run
	marks     []mark
	ages      []ageLine
	nevers    []turn
	turns     []turn
	stalls    []stall
	node      []nodeLine
	calls     []call
	down      []turn
	fallbacks []turn
	profile   []*parse.Event
	observed  []*PodEvent
	events    slab[PodEvent]
	names     interner
	line      []parse.Field // of the line at hand
	pods      podNames
}

// scan reads the node's events once and sorts what matters into typed lists.
func scan(n *Node) *found {
	s := &found{names: interner{}, pods: podNames{}}
	memo, events, turns := census(n)
	s.observed, s.turns = make([]*PodEvent, 0, events), make([]turn, 0, turns)
	rc := newRunCutter(n)
	for _, e := range n.Events {
		k := memo[e.Sigs]
		if k == 0 && e.Origin.Source != parse.SrcKubelet {
			continue
		}
		run := rc.run(e, k)
		if k != 0 {
			s.add(e, k, run)
		}
	}
	s.runs = rc.finish()
	for _, o := range n.Objects {
		s.addObject(o)
	}
	slices.SortStableFunc(s.node, func(a, b nodeLine) int { return cmp64(a.at, b.at) })
	return s
}

// census says what kinds the sets of signatures are of, and how many pod events
// and turns of the sync loop there are.
func census(n *Node) (memo map[*parse.SigSet]kinds, events, turns int) {
	memo = map[*parse.SigSet]kinds{}
	for _, e := range n.Events {
		k, ok := memo[e.Sigs]
		if !ok {
			k = kindsOf(e.Sigs)
			memo[e.Sigs] = k
		}
		if k&kEvent != 0 {
			events++
		}
		if k&(kSync|kEvent|kSkip) != 0 {
			turns++
		}
	}
	return memo, events, turns
}

// add files one event under every kind that it is of.
func (s *found) add(e *parse.Event, k kinds, run int) {
	if k&kProfile != 0 {
		s.profile = append(s.profile, e)
	}
	if k&kEvent != 0 {
		s.addEvent(e, run)
	}
	if k&(kAge|kNever|kSkip) != 0 {
		s.addHealth(e, k, run)
	}
	if e.Basis == parse.NoTime {
		if k&kCall != 0 {
			s.calls = append(s.calls, call{e, e.Fields(), run})
		}
		return
	}
	switch {
	case k&kRelisting != 0:
		s.marks = append(s.marks, mark{at: e.At, kind: kRelisting, run: run, ev: e})
	case k&kRetrieved != 0:
		if e.Field("all") == "true" {
			s.marks = append(s.marks, mark{at: e.At, kind: kRetrieved, run: run, ev: e})
		}
	case k&kListFail != 0:
		f := e.Fields()
		s.marks = append(s.marks, mark{at: e.At, kind: kListFail, run: run, ev: e,
			code: fieldOf(f, "code"), err: fieldOf(f, "err")})
	case k&kInside != 0:
		s.addInside(e, k, run)
	}
	s.addLoop(e, k, run)
}

func (s *found) addInside(e *parse.Event, k kinds, run int) {
	m := mark{at: e.At, kind: kInside, run: run, ev: e}
	if k&kInspectFail != 0 {
		f := e.Fields()
		m.err, m.code = fieldOf(f, "err"), fieldOf(f, "code")
		if m.err != "" {
			m.kind |= kInspectFail
		}
	}
	s.marks = append(s.marks, m)
}

// addLoop files lines of the sync loop and of the node status loop.
func (s *found) addLoop(e *parse.Event, k kinds, run int) {
	if k&kCall != 0 {
		s.calls = append(s.calls, call{e, e.Fields(), run})
	}
	if k&(kSync|kEvent) != 0 && k&kSkip == 0 {
		s.turns = append(s.turns, turn{at: e.At, run: run, ev: e})
	}
	if k&kDown != 0 {
		s.down = append(s.down, turn{at: e.At, run: run, ev: e})
	}
	if k&kFallback != 0 {
		s.fallbacks = append(s.fallbacks, turn{at: e.At, run: run, ev: e})
	}
	switch {
	case k&kHousekeeping != 0:
		if d, err := time.ParseDuration(e.Field("actual")); err == nil && d > 0 {
			s.stalls = append(s.stalls, stall{e.At - int64(d), e.At, run, e})
		}
	case k&kNotReady != 0:
		s.node = append(s.node, nodeLine{at: e.At, status: true, reason: e.Field("reason"), run: run, ev: e})
	case k&kNodeEvent != 0:
		s.addNodeEvent(e, run)
	case k&kCondition != 0:
		s.addCondition(e, run)
	}
}

func (s *found) addNodeEvent(e *parse.Event, run int) {
	name := e.Field("event")
	if name == "NodeReady" || name == "NodeNotReady" {
		s.node = append(s.node, nodeLine{at: e.At, ready: name == "NodeReady", status: e.Origin.Source == parse.SrcKubelet,
			reason: name, run: run, ev: e})
	}
}

// addCondition files a row of the Ready condition; rows of other conditions
// carry neither reason of the kubelet's readiness.
func (s *found) addCondition(e *parse.Event, run int) {
	f := e.Fields()
	reason := fieldOf(f, "reason")
	if !strings.HasPrefix(reason, "Kubelet") || (reason != "KubeletReady" && reason != "KubeletNotReady") {
		return
	}
	at := e.At
	if t, ok := parseStamp(fieldOf(f, "transition")); ok {
		at = t
	}
	s.node = append(s.node, nodeLine{at: at, ready: reason == "KubeletReady", reason: reason, run: run, ev: e})
}

// addHealth files a line about the health of PLEG: an age, a "never", a turn
// of the sync loop that skipped.
func (s *found) addHealth(e *parse.Event, k kinds, run int) {
	at := int64(0)
	if e.Basis != parse.NoTime {
		at = e.At
	}
	if k&kAge != 0 {
		f := e.Fields()
		age, err := time.ParseDuration(fieldOf(f, "age"))
		if err == nil && age > 0 {
			limit, _ := time.ParseDuration(fieldOf(f, "threshold"))
			a := ageLine{at: at, age: age, limit: limit, res: e.Res, skip: k&kSkip != 0, run: run, rec: e,
				header: e.Headed, outside: e.Origin.Source != parse.SrcKubelet}
			if k&kCondition != 0 {
				a = heartbeat(a, f)
			}
			s.ages = append(s.ages, a)
		}
	}
	if at == 0 {
		return
	}
	if k&kNever != 0 {
		s.nevers = append(s.nevers, turn{at: at, run: run, ev: e})
	}
	if k&kSkip != 0 {
		s.turns = append(s.turns, turn{at: at, skip: true, pleg: k&(kAge|kNever) != 0, run: run, ev: e})
	}
}

// heartbeat dates a row of the node's conditions by its LastHeartbeatTime: the
// age was computed then, not when the row was printed.
func heartbeat(a ageLine, f []parse.Field) ageLine {
	if t, ok := parseStamp(fieldOf(f, "heartbeat")); ok {
		a.at, a.res, a.header = t, time.Second, true
	}
	return a
}

// parseStamp reads an RFC 3339 stamp, the only form that carries its own zone
// in the condition rows of objects.
func parseStamp(s string) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 2000 {
		return 0, false
	}
	return t.UnixNano(), true
}

// addEvent files a "SyncLoop (PLEG)" line as an observed pod event.
func (s *found) addEvent(e *parse.Event, run int) {
	p := s.events.one()
	p.Status, p.Line = StatusObserved, e
	if e.Basis != parse.NoTime {
		p.At = e.At
	}
	var ns, name string
	s.line = e.AppendFields(s.line[:0])
	for _, f := range s.line {
		switch f.Name {
		case "pod_ns":
			ns = f.Value
		case "pod_name":
			name = f.Value
		case "pod_uid":
			p.PodUID = s.names.of(f.Value)
		case "type":
			p.Type = s.names.of(f.Value)
		case "data":
			p.Data = s.names.of(f.Value)
		}
	}
	p.Pod = s.pods.of(ns, name)
	s.observed = append(s.observed, p)
}

func podName(ns, name string) string {
	if ns == "" || name == "" {
		return name
	}
	return ns + "/" + name
}
