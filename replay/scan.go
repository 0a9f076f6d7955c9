package replay

import (
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// mark is a dated line of the relist goroutine.
type mark struct {
	at       int64
	ev       *parse.Event
	run      int
	kind     kinds
	deadline bool // the list call ran into its deadline
	atOnce   bool // it failed without waiting for anything
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

// turn is a line of the sync loop, by its index: it skipped, or it worked.
type turn int32

// turnKinds are the kinds of the line of a turn: kSkip where the loop skipped,
// and kAge or kNever if PLEG was among the reasons.
func (s *found) turnKinds(t turn) kinds { return s.census.Classes[s.census.Of[t]].Kinds }

// turnAt is when a turn was.
func (s *found) turnAt(t turn) int64 { return s.census.Events[t].At }

// turnRun is the run that a turn was in.
func (s *found) turnRun(t turn) int { return s.cover.runOf(int32(t)) }

// turnFrom is the index of the first turn at or after a moment.
func (s *found) turnFrom(at int64) int {
	i, _ := slices.BinarySearchFunc(s.turns, at, func(t turn, at int64) int { return cmp64(s.turnAt(t), at) })
	return i
}

// saying is a dated line of which only the moment counts.
type saying struct {
	at  int64
	run int
	ev  *parse.Event
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
	ev                              *parse.Event
	run                             int32
	name, scope, code, err, id, uid parse.Sym
	pod                             host.PodID
}

// found is what one pass over a node's events finds, each list in time order.
type found struct {
	runs      []Run
	marks     []mark
	ages      []ageLine
	nevers    []saying
	turns     []turn
	stalls    []stall
	node      []nodeLine
	calls     []call
	down      []saying
	fallbacks []saying
	podLists  []saying // lists of one pod on demand that failed
	profile   []*parse.Event
	lags      []LogLag
	cover     *coverage
	observed  *host.EventTable

	census *Census
	syms   *parse.Symbols
	words  host.EventWords
	failed *parse.Columns // callFields
	text   []parse.Field  // of the line at hand
}

// scan reads the node's events once and sorts what matters into typed lists.
func scan(n *Node, v *host.Survey) *found {
	s := &found{syms: n.Symbols, census: v.Census, words: host.NewEventWords(n.Symbols), cover: newCoverage(n, v),
		failed: parse.NewColumns(n.Symbols, callFields[:]...), observed: host.NewEventTable(n.Events, n.Symbols, v.Events),
		turns: make([]turn, 0, v.Turns), marks: make([]mark, 0, v.Marks), calls: make([]call, 0, v.Calls)}
	rc := newRunCutter(n)
	for i, at := range v.Of {
		x := &v.Classes[at]
		kubelet := x.Origin.Source == parse.SrcKubelet
		if x.Kinds&^kLife == 0 && !kubelet {
			continue
		}
		e := n.Events[i]
		if kubelet && e.Basis != parse.NoTime {
			s.cover.saw(i, rc.run(e, x.Kinds))
			s.lag(e)
		}
		if x.Kinds&^kLife != 0 {
			s.add(e, int32(i), x.Kinds, rc.cur)
		}
	}
	s.runs = rc.runs
	s.cover.runs(s.runs)
	endRuns(s.runs)
	for _, o := range n.Objects {
		s.addObject(o)
	}
	slices.SortStableFunc(s.node, func(a, b nodeLine) int { return cmp64(a.at, b.at) })
	return s
}

// read returns the fields of a line. They are good until the next call.
func (s *found) read(e *parse.Event) host.Fields {
	s.text = e.AppendFields(s.text[:0])
	return s.text
}

// add files one event under every kind that it is of.
func (s *found) add(e *parse.Event, i int32, k kinds, run int) {
	if k&kProfile != 0 {
		s.profile = append(s.profile, e)
	}
	if k&kEvent != 0 {
		s.observed.See(e, i, &s.words)
	}
	if k&(kAge|kNever|kSkip) != 0 {
		s.addHealth(e, i, k, run)
	}
	if e.Basis == parse.NoTime {
		if k&kCall != 0 {
			s.addCall(e, run)
		}
		return
	}
	switch {
	case k&kRelisting != 0:
		s.marks = append(s.marks, mark{at: e.At, kind: kRelisting, run: run, ev: e})
	case k&kRetrieved != 0:
		if s.read(e).Get("all") == "true" {
			s.marks = append(s.marks, mark{at: e.At, kind: kRetrieved, run: run, ev: e})
		}
	case k&kListFail != 0:
		f := s.read(e)
		s.marks = append(s.marks, mark{at: e.At, kind: kListFail, run: run, ev: e,
			deadline: f.Get("code") == "DeadlineExceeded", atOnce: immediate(f.Get("code"), f.Get("err"))})
	case k&kPodList != 0:
		s.podLists = append(s.podLists, saying{e.At, run, e})
	case k&kInside != 0:
		s.addInside(e, k, run)
	}
	s.addLoop(e, i, k, run)
}

func (s *found) addInside(e *parse.Event, k kinds, run int) {
	m := mark{at: e.At, kind: kInside, run: run, ev: e}
	if k&kInspectFail != 0 && s.read(e).Get("err") != "" {
		m.kind |= kInspectFail
	}
	s.marks = append(s.marks, m)
}

// addLoop files lines of the sync loop and of the node status loop.
func (s *found) addLoop(e *parse.Event, i int32, k kinds, run int) {
	if k&kCall != 0 {
		s.addCall(e, run)
	}
	if k&(kSync|kEvent) != 0 && k&kSkip == 0 {
		s.turns = append(s.turns, turn(i))
	}
	if k&kDown != 0 {
		s.down = append(s.down, saying{e.At, run, e})
	}
	if k&kFallback != 0 {
		s.fallbacks = append(s.fallbacks, saying{e.At, run, e})
	}
	switch {
	case k&kHousekeeping != 0:
		if d, err := time.ParseDuration(s.read(e).Get("actual")); err == nil && d > 0 {
			s.stalls = append(s.stalls, stall{e.At - int64(d), e.At, run, e})
		}
	case k&kNotReady != 0:
		s.node = append(s.node, nodeLine{at: e.At, status: true, reason: s.read(e).Get("reason"), run: run, ev: e})
	case k&kNodeEvent != 0:
		s.addNodeEvent(e, run)
	case k&kCondition != 0:
		s.addCondition(e, run)
	}
}

func (s *found) addNodeEvent(e *parse.Event, run int) {
	name := s.read(e).Get("event")
	if name == "NodeReady" || name == "NodeNotReady" {
		s.node = append(s.node, nodeLine{at: e.At, ready: name == "NodeReady", status: e.Origin.Source == parse.SrcKubelet,
			reason: name, run: run, ev: e})
	}
}

// lagMin is the least delay between writing and arrival that tells of a
// stalled log pipeline; idle journals lag 0.1 to 2 ms.
const lagMin = 2 * time.Second

// lag notes that a line of the kubelet arrived late. The zone difference between
// header and envelope is already resolved in the events' times.
func (s *found) lag(e *parse.Event) {
	if e.Arrived == 0 || !e.Headed {
		return
	}
	lag := time.Duration(e.Arrived - e.At)
	if lag < lagMin+e.ArrivedRes() || lag > 24*time.Hour {
		return
	}
	l := LogLag{At: e.At, Lag: lag, Evidence: Evidence{Record: e}}
	// One entry a stall: the largest lag within a minute.
	if k := len(s.lags); k > 0 && e.At-s.lags[k-1].At < int64(time.Minute) {
		if lag > s.lags[k-1].Lag {
			s.lags[k-1] = l
		}
		return
	}
	s.lags = append(s.lags, l)
}

// addCondition files a row of the Ready condition; rows of other conditions
// carry neither reason of the kubelet's readiness.
func (s *found) addCondition(e *parse.Event, run int) {
	f := s.read(e)
	reason := host.FieldOf(f, "reason")
	if !strings.HasPrefix(reason, "Kubelet") || (reason != "KubeletReady" && reason != "KubeletNotReady") {
		return
	}
	at := e.At
	if t, ok := parseStamp(host.FieldOf(f, "transition")); ok {
		at = t
	}
	s.node = append(s.node, nodeLine{at: at, ready: reason == "KubeletReady", reason: reason, run: run, ev: e})
}

// addHealth files a line about the health of PLEG: an age, a "never", a turn
// of the sync loop that skipped.
func (s *found) addHealth(e *parse.Event, i int32, k kinds, run int) {
	at := int64(0)
	if e.Basis != parse.NoTime {
		at = e.At
	}
	if k&kAge != 0 {
		f := s.read(e)
		age, err := time.ParseDuration(host.FieldOf(f, "age"))
		if err == nil && age > 0 {
			limit, _ := time.ParseDuration(host.FieldOf(f, "threshold"))
			a := ageLine{at: at, age: age, limit: limit, res: e.Res.Duration(), skip: k&kSkip != 0, run: run, rec: e,
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
		s.nevers = append(s.nevers, saying{at, run, e})
	}
	if k&kSkip != 0 {
		s.turns = append(s.turns, turn(i))
	}
}

// heartbeat dates a row of the node's conditions by its LastHeartbeatTime: the
// age was computed then, not when the row was printed.
func heartbeat(a ageLine, f []parse.Field) ageLine {
	if t, ok := parseStamp(host.FieldOf(f, "heartbeat")); ok {
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

// callFields are the fields of a failed runtime call.
var callFields = [...]string{"call", "scope", "code", "err", "id", "pod_uid", "pod_ns", "pod_name"}

// addCall files a failed runtime call.
func (s *found) addCall(e *parse.Event, run int) {
	var f [len(callFields)]parse.Sym
	s.failed.Read(e, f[:])
	s.calls = append(s.calls, call{ev: e, run: int32(run), name: f[0], scope: f[1], code: f[2], err: f[3], id: f[4], uid: f[5], pod: host.PodID{NS: f[6], Name: f[7]}})
}
