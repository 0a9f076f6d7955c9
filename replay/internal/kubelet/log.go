package kubelet

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Mark is a dated line of the relist goroutine.
type Mark struct {
	At       int64
	Line     *parse.Event
	Run      int
	Kind     host.Kinds
	Deadline bool // the call hit its deadline
	AtOnce   bool // it failed without waiting
}

// Age is a line that states how long ago PLEG was last active.
type Age struct {
	At     int64 // Unix ns, 0 if undated
	Age    time.Duration
	Limit  time.Duration // threshold stated in the line, 0 if none
	Res    time.Duration // resolution of At
	Skip   bool          // written by the sync loop
	Run    int
	Record parse.Record

	status  bool // a row of the node's conditions, dated by its heartbeat
	header  bool // At is from the kubelet's own clock, not the time of arrival
	Outside bool // reported by something other than the kubelet: an event row, an object
}

// Turn is the index of an event logged by one sync-loop iteration, which either skipped or worked.
type Turn int32

// TurnKinds returns the kinds of the line: KindSkip if the loop skipped, with KindAge or KindNever if PLEG was
// among the reasons.
func (s *Log) TurnKinds(t Turn) host.Kinds { return s.index.Groups[s.index.Of[t]].Kinds }

// TurnAt returns the time of a turn in Unix ns.
func (s *Log) TurnAt(t Turn) int64 { return s.index.Events[t].At }

// TurnRun returns the run of a turn.
func (s *Log) TurnRun(t Turn) int { return s.Cover.runOf(int32(t)) }

// TurnFrom returns the index in Turns of the first turn at or after a moment.
func (s *Log) TurnFrom(at int64) int {
	i, _ := slices.BinarySearchFunc(s.Turns, at, func(t Turn, at int64) int { return cmp.Compare(s.TurnAt(t), at) })
	return i
}

// TurnIn returns the time of the first turn of a run in [from, to) that is of any of the kinds, 0 if there is none.
func (s *Log) TurnIn(run int, from, to int64, kinds host.Kinds) int64 {
	for _, t := range s.Turns[s.TurnFrom(from):] {
		if at := s.TurnAt(t); at >= to {
			break
		} else if s.TurnRun(t) == run && s.TurnKinds(t)&kinds != 0 {
			return at
		}
	}
	return 0
}

// LastNever returns the last line of a run that says that no relist had succeeded, nil if there is none.
func (s *Log) LastNever(run int) *Saying {
	for i := len(s.Nevers) - 1; i >= 0; i-- {
		if s.Nevers[i].Run == run {
			return &s.Nevers[i]
		}
	}
	return nil
}

// Attended returns until when the sync loop of a run would have reported trouble, in a log that ends at the
// moment end: until its last turn, but no earlier than call before end. After that the loop, and everything
// that would report in its place, may hang in a call, which the kubelet logs only when it times out.
func (s *Log) Attended(run int, end int64, call time.Duration) int64 {
	least := end - int64(call)
	for i := s.TurnFrom(end+1) - 1; i >= 0 && s.TurnAt(s.Turns[i]) > least; i-- {
		if t := s.Turns[i]; s.TurnRun(t) == run {
			return s.TurnAt(t)
		}
	}
	return least
}

// Tail returns until when a log without reports proves anything about its last process.
func (s *Log) Tail(call time.Duration) int64 {
	last := len(s.Runs) - 1
	if last < 0 {
		return 0
	}
	end := s.Runs[last].Last
	return min(end-int64(TailMargin), s.Attended(last, end, call))
}

// Saying is a dated line that matters only for its time.
type Saying struct {
	At   int64
	Run  int
	Line parse.Record
}

// Stall is a housekeeping run that took too long.
type Stall struct {
	From, To int64
	Run      int
	Line     *parse.Event
}

// Call is a failed runtime call as logged by one layer.
type Call struct {
	Line                            *parse.Event
	Run                             int32
	Name, Scope, code, err, id, uid parse.StringID
	pod                             host.PodID
}

// Log is the result of one pass over a node's events; each list is in time order.
type Log struct {
	*host.Records

	Runs       []Run
	Marks      []Mark
	Ages       []Age
	Nevers     []Saying
	Turns      []Turn
	Stalls     []Stall
	ReadyLines []ReadyLine
	Calls      []Call
	Down       []Saying // lines that report the container runtime down
	Cuts       []Saying // reports of an old relist that were cut off before its age
	Full       []Saying // reports of the evented PLEG, which state no age
	Well       []Saying // lines that show PLEG healthy at that moment
	Housekept  []int64  // when housekeeping did not wait for a list, beside Turns
	Verbose    []Saying // lines at verbosity 5 that are not of the relist goroutine
	Fallbacks  []Saying // fallbacks from evented to generic PLEG, and stream errors
	PodRelists []Mark   // starts of on-demand relists of one pod
	PodLists   []Mark   // on-demand relists whose list failed
	PodDrops   []Mark   // on-demand relist requests that were dropped
	profile    []*parse.Event
	Lags       []LogLag
	Refuted    []Refuted
	Broken     bool // lines were cut off or wrapped at a fixed column
	Cover      *Coverage
	Observed   *host.EventTable

	Mixed [2]*parse.Event // lines that name two nodes at the same time; nil if the log is of one

	silences []parse.Gap // silences common to all files
	Backs    []SetBack   // where the clock was set back
	index    *host.Index
	failed   *parse.Columns // callFields
}

// Read reads the node's events once and sorts the relevant ones into typed lists.
func Read(n *host.Records, v *host.Survey) *Log {
	s := &Log{Records: n, index: v.Index, Cover: newCoverage(n, v), Backs: setBacks(n),
		failed: parse.NewColumns(n.Interned, callFields[:]...), Observed: host.NewEventTable(n.Events, n.Interned, v.Events),
		Turns: make([]Turn, 0, v.Turns), Ages: make([]Age, 0, v.Ages), Marks: make([]Mark, 0, v.Marks), Calls: make([]Call, 0, v.Calls)}
	rc := &runCutter{s: s, byPID: map[int]int{}, cur: -1}
	for i, at := range v.Of {
		x := &v.Groups[at]
		kubelet := x.Origin.Source == parse.SrcKubelet
		if x.Kinds&^host.KindLife == 0 && !kubelet {
			continue
		}
		e := n.Events[i]
		if kubelet && e.Basis != parse.NoTime {
			s.Cover.saw(i, rc.run(e, x.Kinds))
			s.lag(e)
		}
		if x.Kinds&^host.KindLife != 0 {
			s.add(e, int32(i), x.Kinds, rc.cur)
		}
	}
	s.Runs = s.Cover.runs(rc.runs)
	s.silences, s.Broken = silences(n), s.broken()
	for i := 1; i < len(s.Runs); i++ {
		a, b := &s.Runs[i-1], &s.Runs[i]
		if b.First > a.Last {
			a.End = host.Between(a.Last, b.First)
		}
		if x := (host.Span{From: b.First, To: a.Last}); a.PID != 0 && b.PID != 0 && x.To-x.From > int64(TurnMax) && !s.Twice(x.From, x.To) {
			s.Backs = append(s.Backs, SetBack{Span: x, Twice: x})
		}
	}
	for i := range s.Runs {
		if r := &s.Runs[i]; slices.ContainsFunc(s.Backs, func(b SetBack) bool { return r.First <= b.From && b.From < r.Loop }) {
			r.Start, r.Loop = host.Instant{}, 0 // by the clock that was set back, its log begins later than it does
		}
	}
	if s.Mixed[0], s.Mixed[1] = n.Mixed(v); s.Mixed[0] != nil {
		s.Backs = append(s.Backs, SetBack{Twice: host.Span{From: math.MinInt64, To: math.MaxInt64}})
	}
	s.Marks = slices.DeleteFunc(s.Marks, func(m Mark) bool { return s.Twice(m.At, m.At) }) // their order is not that of their times
	for _, o := range n.Objects {
		s.addObject(o)
	}
	slices.SortStableFunc(s.Well, func(a, b Saying) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(s.ReadyLines, func(a, b ReadyLine) int { return cmp.Compare(a.At, b.At) })
	s.refute()
	return s
}

// add files an event under each of its kinds.
func (s *Log) add(e *parse.Event, i int32, k host.Kinds, run int) {
	if k&host.KindProfile != 0 {
		s.profile = append(s.profile, e)
	}
	if k&host.KindEvent != 0 {
		s.Observed.See(e, i)
	}
	if k&(host.KindAge|host.KindNever|host.KindSkip|host.KindCut) != 0 {
		s.addHealth(e, i, k, run)
	}
	if e.Basis == parse.NoTime {
		if k&host.KindCall != 0 {
			s.addCall(e, run)
		}
		return
	}
	s.addMark(e, k, run)
	s.addLoop(e, i, k, run)
}

// addMark files a line of the relist goroutine.
func (s *Log) addMark(e *parse.Event, k host.Kinds, run int) {
	m, to := Mark{At: e.At, Run: run, Line: e}, &s.Marks
	switch {
	case k&host.KindRelisting != 0:
		m.Kind = host.KindRelisting
	case k&host.KindRetrieved != 0:
		if m.Kind = host.KindRetrieved; e.Field("all") != "true" {
			return
		}
	case k&host.KindListFail != 0:
		m.Kind, m.Deadline, m.AtOnce = host.KindListFail, e.Field("code") == "DeadlineExceeded", immediate(e.Field("err"))
	case k&host.KindPodRelist != 0:
		m.Kind, to = host.KindPodRelist, &s.PodRelists
	case k&host.KindPodDropped != 0:
		m.Kind, to = host.KindPodDropped, &s.PodDrops
	case k&host.KindPodList != 0:
		m.Kind, to, m.Deadline = host.KindPodList, &s.PodLists, e.Field("code") == "DeadlineExceeded"
	case k&host.KindInside != 0:
		m.Kind = host.KindInside
		if k&host.KindInspectFail != 0 {
			if err := e.Field("err"); err != "" {
				m.Kind, m.Deadline = m.Kind|host.KindInspectFail, TimedOut(err)
			}
		}
	default:
		return
	}
	*to = append(*to, m)
}

// addLoop files lines of the sync loop and of the node status loop.
func (s *Log) addLoop(e *parse.Event, i int32, k host.Kinds, run int) {
	if k&host.KindCall != 0 {
		s.addCall(e, run)
	}
	if k&host.KindWork != 0 && k&host.KindSkip == 0 {
		s.Turns = append(s.Turns, Turn(i))
	}
	if k&host.KindDown != 0 {
		s.Down = append(s.Down, Saying{e.At, run, e})
	}
	if k&host.KindVerbose != 0 {
		s.Verbose = append(s.Verbose, Saying{e.At, run, e})
	}
	if k&host.KindHousekept != 0 {
		s.Housekept = append(s.Housekept, e.At)
	}
	if k&host.KindFallback != 0 {
		s.Fallbacks = append(s.Fallbacks, Saying{e.At, run, e})
	}
	switch {
	case k&host.KindHousekeeping != 0:
		if d, err := time.ParseDuration(e.Field("actual")); err == nil && d > 0 {
			s.Stalls = append(s.Stalls, Stall{e.At - int64(d), e.At, run, e})
		}
	case k&host.KindNotReady != 0:
		s.ReadyLines = append(s.ReadyLines, ReadyLine{At: e.At, Status: true, reason: s.Interned.OfString(e.Field("reason")), Run: run, Record: e})
	case k&host.KindNodeEvent != 0:
		if name := e.Field("event"); name == "NodeReady" || name == "NodeNotReady" {
			s.ReadyLines = append(s.ReadyLines, ReadyLine{At: e.At, Ready: name == "NodeReady", Status: e.Origin.Source == parse.SrcKubelet, reason: s.Interned.OfString(name), Run: run, Record: e})
		}
	case k&host.KindCondition != 0:
		s.addCondition(e, run)
	}
}

// lagMin is the minimum delay between writing and arrival that indicates a stalled log pipeline. Idle journals
// lag 0.1 to 2 ms.
const lagMin = 2 * time.Second

// lag records a kubelet line that arrived late. The time zone difference between header and envelope is already
// resolved in the event's times.
func (s *Log) lag(e *parse.Event) {
	if e.Arrived == 0 || !e.Headed {
		return
	}
	lag := time.Duration(e.Arrived - e.At)
	if lag < lagMin+e.ArrivedRes() || lag > 24*time.Hour {
		return
	}
	l := LogLag{At: e.At, Lag: lag, Evidence: host.Evidence{Record: e}}
	// Keep one entry per stall: the largest lag within a minute.
	if k := len(s.Lags); k > 0 && e.At-s.Lags[k-1].At < int64(time.Minute) {
		if lag > s.Lags[k-1].Lag {
			s.Lags[k-1] = l
		}
		return
	}
	s.Lags = append(s.Lags, l)
}

// addCondition files a row of the Ready condition. Rows of other conditions have neither of the two reasons.
func (s *Log) addCondition(e *parse.Event, run int) {
	reason := e.Field("reason")
	if reason != "KubeletReady" && reason != "KubeletNotReady" {
		return
	}
	at := e.At
	if t, ok := host.ParseStamp(e.Field("transition")); ok {
		at = t
	}
	t, ok := host.ParseStamp(e.Field("heartbeat"))
	s.ReadyLines = append(s.ReadyLines, ReadyLine{At: at, Ready: reason == "KubeletReady", reason: s.Interned.OfString(reason), until: t, Run: run, Record: e})
	if ok && reason == "KubeletReady" {
		s.Well = append(s.Well, Saying{t, run, e})
	}
}

// addHealth files a line about the health of PLEG: an age, a "yet to be successful", or a sync-loop iteration
// that skipped.
func (s *Log) addHealth(e *parse.Event, i int32, k host.Kinds, run int) {
	at := int64(0)
	repeats := e.Origin.Ident == parse.IdentAbout || k&host.KindNamed != 0 && e.Origin.Source != parse.SrcKubelet
	if e.Basis != parse.NoTime && !repeats { // a line that repeats it does so later
		at = e.At
	}
	if k&host.KindAge != 0 {
		if age, err := time.ParseDuration(e.Field("age")); err == nil && age > 0 {
			a := Age{At: at, Age: age, Res: e.Res.Duration(), Skip: k&host.KindSkip != 0, Run: run, Record: e,
				header: e.Headed, Outside: e.Origin.Source != parse.SrcKubelet}
			a.Limit, _ = time.ParseDuration(e.Field("threshold"))
			stamp := e.Field("quoted")
			if stamp == "" && k&host.KindCondition != 0 {
				stamp = e.Field("heartbeat")
			}
			if t, ok := host.ParseStamp(stamp); ok { // a condition: the age was computed at its heartbeat, not when it was printed
				a.At, a.Res, a.header, a.status = t, time.Second, true, true
			}
			s.Ages = append(s.Ages, a)
		}
	}
	if at == 0 {
		return
	}
	if k&host.KindNever != 0 {
		s.Nevers = append(s.Nevers, Saying{at, run, e})
	}
	if k&host.KindCut != 0 && e.Field("seen") != "" {
		s.Cuts = append(s.Cuts, Saying{at, run, e})
	}
	if k&host.KindCut != 0 && e.Is(parse.SigFull) {
		s.Full = append(s.Full, Saying{at, run, e})
	}
	if k&host.KindSkip != 0 {
		s.Turns = append(s.Turns, Turn(i))
		if k&Reported == 0 && othersOnly(e.Field("reason")) {
			s.Well = append(s.Well, Saying{at, run, e})
		}
	}
}

// Reported is the set of kinds that report PLEG unhealthy.
const Reported = host.KindAge | host.KindNever | host.KindCut

// ForOthers reports whether a turn skipped and states all its reasons, none of which is PLEG.
func (s *Log) ForOthers(t Turn) bool {
	return s.TurnKinds(t)&Reported == 0 && othersOnly(s.index.Events[t].Field("reason"))
}

// ForPLEG reports whether a turn skipped because of PLEG, or possibly so if its reasons were cut off.
func (s *Log) ForPLEG(t Turn) bool {
	return s.TurnKinds(t)&host.KindSkip != 0 && (s.TurnKinds(t)&Reported != 0 || !s.ForOthers(t))
}

// othersOnly reports whether the reasons of a skipped iteration are complete and PLEG is not among them. The
// kubelet joins all reasons (runtime.go runtimeErrors, 1.4 to 1.37): the state of the runtime, then the health
// checks with PLEG first, then the runtime's own conditions.
func othersOnly(reasons string) bool {
	reasons = strings.TrimSuffix(strings.TrimSpace(reasons), ".")
	switch reasons {
	case "container runtime is down", "container runtime status check may not have completed yet":
		return true
	}
	switch {
	case strings.Contains(reasons, "PLEG"), strings.Contains(reasons, "start cAdvisor"), // a reason of kubelets before 1.4
		strings.Contains(reasons, "network"): // a reason of kubelets before 1.6, of which not all ask PLEG
		return false
	case strings.HasPrefix(reasons, "["):
		return strings.HasSuffix(reasons, "]")
	}
	return strings.HasPrefix(reasons, "container runtime not ready: ")
}

// callFields are the fields read of a failed runtime call.
var callFields = [...]string{"call", "scope", "code", "err", "id", "pod_uid", "pod_ns", "pod_name"}

// addCall files a failed runtime call.
func (s *Log) addCall(e *parse.Event, run int) {
	var f [len(callFields)]parse.StringID
	s.failed.Read(e, f[:])
	s.Calls = append(s.Calls, Call{Line: e, Run: int32(run), Name: f[0], Scope: f[1], code: f[2], err: f[3], id: f[4], uid: f[5], pod: host.PodID{NS: f[6], Name: f[7]}})
}

// LogLag is a line that arrived late in the journal, because the log pipeline stalled.
type LogLag struct {
	At  int64
	Lag time.Duration
	host.Evidence
}

// ByRun splits marks by run; marks without a run come last. In most logs one run has them all, and its slice
// shares their array.
func (s *Log) ByRun(marks []Mark) [][]Mark {
	runs := len(s.Runs)
	of := func(m *Mark) int {
		if m.Run < 0 {
			return runs
		}
		return m.Run
	}
	out := make([][]Mark, runs+1)
	for i := 0; i < len(marks); {
		run, j := of(&marks[i]), i+1
		for j < len(marks) && of(&marks[j]) == run {
			j++
		}
		if out[run] == nil {
			out[run] = marks[i:j:j]
		} else {
			out[run] = append(out[run], marks[i:j]...)
		}
		i = j
	}
	return out
}
