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

// mark makes evidence of a line that was kept only as a parse.Mark.
type mark struct{ parse.Mark }

func (m mark) Where() parse.Pos   { return m.Pos }
func (m mark) When() parse.Stamp  { return m.Stamp }
func (m mark) From() parse.Source { return parse.SrcSystem }
func (m mark) Quote() string      { return m.Text.String() }

// evalCadence judges the spacing of the skip lines. The sync loop sleeps 5 s between them
// once it has backed off (kubelet.go syncLoop), so 5.0 s proves a scheduled kubelet. Pauses
// over a minute are not "slow": there the loop itself waits for the runtime. Nor are
// multiples of 5 s, which missing lines leave, nor pauses while the backoff still grows.
func evalCadence(s *subject, args map[string]string) outcome {
	if s.ep == nil || args["is"] == "slow" && s.ep.Partial {
		return cannotLook()
	}
	es := s.inStall(parse.SigSkip)
	steady, slow := 0, 0
	for i := 1; i < len(es); i++ {
		switch gap := es[i].At - es[i-1].At; {
		case gap > 49*second/10 && gap < 52*second/10:
			steady++
		case gap > 6*second && gap < minute && es[i-1].At-es[0].At > growing && !ofPauses(gap):
			slow++
		}
	}
	if len(es) < 3 {
		return cannotLook()
	}
	if args["is"] == "steady" && steady >= 2 && slow == 0 || args["is"] == "slow" && slow >= 3 && slow > steady {
		return found(events("", es...)...)
	}
	return notThere()
}

// growing is how long the backoff of the sync loop grows: from 0.1 s, doubling up to 3.2 s.
const growing = 64 * second / 10

// ofPauses reports whether a gap is a multiple of 5 s.
func ofPauses(gap int64) bool {
	n := (gap + 5*second/2) / (5 * second)
	off := gap - n*5*second
	return n > 0 && off > -second/5 && off < n*second/5
}

// evalSilence compares the log's silence with the age of the last relist: a process that
// does not run writes nothing at all, while a stuck relist leaves the rest of the kubelet
// logging.
func evalSilence(s *subject, _ map[string]string) outcome {
	if s.ep == nil || !s.ep.LastStart.Known() || s.sparse() {
		return cannotLook()
	}
	for _, g := range s.n.Gaps {
		if g.To == 0 || g.Why != "silence" && g.Why != "" {
			continue
		}
		from, to := max(g.From, s.ep.LastStart.At-30*second), min(g.To, s.ep.LastReport+second)
		if to-from < int64(s.ep.PeakAge)*8/10 || to-from < 30*second || !s.livelyAround(g.From, g.To) || s.otherwise(g.Span) {
			continue
		}
		if from-s.ep.LastStart.At > int64(replay.LongRelist) && !s.n.Kubelet.EventedSends() {
			continue // a kubelet that was still running had not begun a relist for that long: one hung
		}
		es := g.Evidence
		if len(es) == 0 {
			es = s.reports(2)
		}
		o := found(es...).telling(map[string]string{"silence": parse.Short(time.Duration(g.To - g.From))})
		if !s.ep.Whole {
			o.factor = silentShare // lines may have been left out
		}
		return o
	}
	return s.missed()
}

// otherwise reports whether a silence did not make PLEG unhealthy. Either the process ran
// again well before the breach, or lines are missing from the silence: a relist began far
// into it, or the first pause of the sync loop after it is one that the backoff reaches
// only after shorter pauses.
func (s *subject) otherwise(silence replay.Span) bool {
	if s.ep.Breach-silence.To > 3*second || s.ep.LastStart.At-silence.From > minute {
		return true
	}
	es := s.inStall(parse.SigSkip)
	i := sort.Search(len(es), func(i int) bool { return es[i].At >= silence.To })
	if i+1 >= len(es) || i > 0 && es[i-1].At >= s.ep.LastStart.At {
		return false
	}
	pause := es[i+1].At - es[i].At
	for step := second / 5; step <= growing; step *= 2 {
		if late := pause - min(step, 5*second); late > -second/50 && late < second/20 {
			return true
		}
	}
	return false
}

// sparseBelow is the number of lines below which an input is an excerpt, whose silence
// proves nothing.
const sparseBelow = 12

// sparse reports whether the input is an excerpt rather than a log.
func (s *subject) sparse() bool {
	if s.ep != nil && s.ep.Partial {
		return true
	}
	lines := 0
	for _, c := range s.n.Coverage {
		lines += c.Lines
	}
	return lines < sparseBelow
}

// livelyAround reports whether there are at least three recognized lines on each side of a
// gap, those after it within 30 s: a process that runs again logs a lot, so a single line
// does not show that the log went on.
func (s *subject) livelyAround(from, to int64) bool {
	es := s.n.Events
	before := sort.Search(len(es), func(i int) bool { return es[i].At > from })
	third := sort.Search(len(es), func(i int) bool { return es[i].At >= to }) + 2
	return before >= 3 && third < len(es) && es[third].At-to <= minute/2
}

func evalLag(s *subject, args map[string]string) outcome {
	over, _ := duration(args["over"])
	var worst *replay.LogLag
	for i := range s.n.Lags {
		l := &s.n.Lags[i]
		if s.covers(l.At) && int64(l.Lag) >= over && (worst == nil || l.Lag > worst.Lag) {
			worst = l
		}
	}
	if worst == nil || worst.Record == nil {
		return notThere()
	}
	return found(worst.Evidence).by("journal").telling(map[string]string{"lag": parse.Short(worst.Lag)})
}

// evalChurn counts the pods that changed from two minutes before the last good relist on:
// events consumed by the sync loop, containers that finished, pods configured. Some lines
// name a pod, others its UID; the larger of the two counts is used.
func evalChurn(s *subject, args map[string]string) outcome {
	least, _ := strconv.Atoi(args["pods"])
	uids, names := map[parse.StringID]bool{}, map[parse.StringID]bool{}
	var es []replay.Evidence
	var pod [2]parse.StringID
	columns := s.n.Columns("pod_uid", "pod_name")
	for _, id := range []string{parse.SigFinished, parse.SigEvent, parse.SigWriteStatus, parse.SigTransition} {
		for e := range s.eachInWindow(id) {
			if len(es) >= enough {
				break
			}
			if s.ep != nil && e.At < s.from+lookBack-2*minute {
				continue
			}
			columns.Read(e, pod[:])
			if pod[0] != 0 && !uids[pod[0]] || pod[0] == 0 && pod[1] != 0 && !names[pod[1]] {
				es = append(es, replay.Evidence{Record: e})
			}
			uids[pod[0]], names[pod[1]] = true, true
		}
	}
	delete(uids, 0)
	delete(names, 0)
	pods := max(len(uids), len(names))
	if pods < least {
		return s.missed()
	}
	sort.SliceStable(es, func(i, j int) bool { return es[i].When().At < es[j].When().At })
	return found(es...).by("churn").telling(map[string]string{"changed": strconv.Itoa(pods)})
}

var uptime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`m=\+(\d+)\.\d+`) })

// startGrace is how long after its start a kubelet may go without a relist; captures show
// up to 15 s on a busy node.
const startGrace = 15 * second

// loopPause is more than a sync loop that skips its turns pauses (5 s at most), with room for a line that is missing.
const loopPause = 10 * second

// nevers groups the "yet to be successful" lines by process: short has those of processes
// that log them for no longer than a start takes, long the others. Where a pod event or a
// start stands between two of them, or the clock was set, they are not of one stretch.
func (s *subject) nevers() (short []*parse.Event, long [][]*parse.Event) {
	broken := func(a, b *parse.Event) bool {
		return slices.ContainsFunc([]string{parse.SigEvent, parse.SigVersion, parse.SigStarting}, func(id string) bool {
			all := s.sig(id)
			i, _ := slices.BinarySearchFunc(all, a.At+1, func(e *parse.Event, at int64) int { return cmp.Compare(e.At, at) })
			for ; i < len(all) && all[i].At <= b.At; i++ {
				if all[i].Origin.PID == b.Origin.PID {
					return true
				}
			}
			return false
		})
	}
	for _, es := range s.processes(s.sig(parse.SigNever)) {
		looping := 0 // how many more lines follow each other as those of a skipping loop do than do not
		for i := range es[1:] {
			if looping++; es[i+1].At-es[i].At > loopPause {
				looping -= 2
			}
		}
		for i := 0; i < len(es); {
			j := i + 1
			for j < len(es) && !broken(es[j-1], es[j]) && !s.clockSet(es[j-1], es[j], looping > 0) {
				j++
			}
			if es[j-1].At-es[i].At >= startGrace-second {
				long = append(long, es[i:j])
			} else {
				short = append(short, es[i:j]...)
			}
			i = j
		}
	}
	return short, long
}

// clockSet reports whether the clock was set back between two lines, or may have been set forward in a silence of the log,
// which breaks the lines of a looping process.
func (s *subject) clockSet(a, b *parse.Event, looping bool) bool {
	for _, c := range s.n.Clocks {
		for i := range c.Jumps {
			if at := c.Jumps[i].At.Pos; c.Jumps[i].Step < 0 && at.File == a.File && at.File == b.File && a.Where().Before(at) != b.Where().Before(at) {
				return true
			}
		}
	}
	return looping && slices.ContainsFunc(s.n.Gaps, func(g replay.LogGap) bool { return a.At <= g.From && g.To <= b.At && g.To > g.From })
}

// processes groups lines that the sync loop repeats by the process that wrote them: by PID
// or, where that tells no processes apart (none, or 1 in a container), split where another run
// begins or more than loopPause passes.
func (s *subject) processes(es []*parse.Event) (out [][]*parse.Event) {
	at := map[int]int{}
	another := func(last, e *parse.Event) bool {
		return e.At-last.At > loopPause || slices.ContainsFunc(s.n.Runs, func(r replay.Run) bool { return r.First > last.At && r.First <= e.At })
	}
	for _, e := range es {
		pid := e.Origin.PID
		i, known := at[pid]
		if !known || pid <= 1 && another(out[i][len(out[i])-1], e) {
			i = len(out)
			at[pid], out = i, append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	return out
}

func evalStartup(s *subject, _ map[string]string) outcome {
	short, _ := s.nevers()
	for _, e := range short {
		if s.atStart(e) {
			return found(events("", short...)...).by(string(parse.SrcKubelet))
		}
	}
	return s.firstCheck()
}

// firstCheck finds a kubelet that has not yet made its first status check of the runtime,
// moments after its start. That alone keeps a node NotReady.
func (s *subject) firstCheck() outcome {
	waits := s.sig(parse.SigStatusWait)
	if len(waits) == 0 {
		// Up to 1.13 a pending check was reported like one that had failed for 30 s.
		waits = s.sig(parse.SigStatusDown)
	}
	if len(waits) == 0 || waits[len(waits)-1].At-waits[0].At >= minute || !s.atStart(waits[0]) {
		return notThere()
	}
	return found(events("the first status check of the runtime may still be to come", waits...)...).by(string(parse.SrcKubelet))
}

// atStart reports whether a line belongs to the first moments of a kubelet: by its own
// uptime stamp, by what else is still pending, or by the start of the process.
func (s *subject) atStart(e *parse.Event) bool {
	if m := uptime().FindStringSubmatch(e.Quote()); m != nil {
		n, err := strconv.Atoi(m[1])
		return err == nil && (n < 30 || n < 60 && !e.Is(parse.SigStatusDown))
	}
	if e.Sigs.Has(parse.SigStatusWait) && e.Sigs.Has(parse.SigNever) { // neither the first relist nor the first status check is done
		return true
	}
	for _, id := range []string{parse.SigStarting, parse.SigStarted, parse.SigVersion} {
		for _, st := range s.sig(id) {
			if d := e.At - st.At; d >= -second && d < minute {
				return true
			}
		}
	}
	return s.started(e.At)
}

func evalStatusPending(s *subject, args map[string]string) outcome {
	over, _ := duration(args["over"])
	for _, es := range s.processes(s.inWindow(parse.SigStatusWait)) {
		f, e := es[0], es[len(es)-1]
		if e.At-f.At >= over {
			return found(events("", f, e)...).by(string(parse.SrcKubelet)).telling(map[string]string{"for": parse.Short(time.Duration(e.At - f.At))})
		}
	}
	return notThere()
}

func evalNeverPersists(s *subject, _ map[string]string) outcome {
	_, long := s.nevers()
	if s.ep != nil && !s.ep.Never {
		return notThere()
	}
	if len(long) == 0 {
		return notThere()
	}
	lasted := func(es []*parse.Event) int64 { return es[len(es)-1].At - es[0].At }
	most := slices.MaxFunc(long, func(a, b []*parse.Event) int { return cmp.Compare(lasted(a), lasted(b)) })
	o := found(events("", slices.Concat(long...)...)...).telling(map[string]string{"for": parse.Short(time.Duration(lasted(most)))})
	if lasted(most) < minute-second {
		o.factor = 0.5 // a slow start looks like this too
	}
	return o
}

func evalClockJump(s *subject, args map[string]string) outcome {
	over, _ := duration(args["over"])
	for _, c := range s.n.Clocks {
		for _, j := range c.Jumps {
			if max(j.Step, -j.Step) >= over && j.At.IsValid() && j.At.Text.Len() > 0 {
				return found(replay.Evidence{Record: mark{j.At}, Note: "the time of the lines steps by " + parse.Short(time.Duration(j.Step)) + " before this line"}).by("clock").telling(map[string]string{"step": parse.Short(time.Duration(j.Step))})
			}
		}
	}
	return notThere()
}

// distinct returns, sorted by time, the first event in the subject's window for each value
// of a field (up to a slash) among the wanted ones.
func (s *subject) distinct(field string, wanted func(*parse.Event) bool, ids ...string) (out []*parse.Event) {
	seen := map[string]bool{}
	for _, id := range ids {
		for i, e := range s.inWindow(id) {
			if i == parse.Many {
				s.unread[id] = e
				break
			}
			of, _, _ := strings.Cut(e.Field(field), "/")
			if of != "" && !seen[of] && wanted(e) {
				seen[of] = true
				out = append(out, e)
			}
		}
	}
	sortEvents(out)
	return out
}

func evalHungMany(s *subject, args map[string]string) outcome {
	least, _ := strconv.Atoi(args["min"])
	es := s.distinct("comm", func(*parse.Event) bool { return true }, "k.hung")
	if len(es) < max(least, 2) {
		return notThere()
	}
	return found(events("", es...)...).telling(map[string]string{"programs": strconv.Itoa(len(es))})
}

func evalLockups(s *subject, _ map[string]string) outcome {
	es := s.inWindow("k.soft")
	for i := 1; i < len(es); i++ {
		if es[i].At-es[i-1].At <= 2*second && es[i].Field("cpu") != es[i-1].Field("cpu") &&
			!stuckAgain(es, i) && !stuckAgain(es, i-1) {
			return found(events("", es[i-1], es[i])...)
		}
	}
	return notThere()
}

// mostLooks is the number of lockup reports before and after one that are compared with it.
const mostLooks = 256

// stuckAgain reports whether an earlier or later report of the kernel's watchdog has the
// same task on the same CPU. After a pause of the machine the task would have gone on.
func stuckAgain(es []*parse.Event, at int) bool {
	e := es[at]
	again := func(o *parse.Event) bool {
		return o.Field("cpu") == e.Field("cpu") && o.Field("pid") == e.Field("pid") && max(o.At-e.At, e.At-o.At) > 2*second
	}
	for i := at + 1; i < min(len(es), at+mostLooks) && es[i].At-e.At <= 60*second; i++ {
		if again(es[i]) {
			return true
		}
	}
	for i := at - 1; i > max(-1, at-mostLooks) && e.At-es[i].At <= 60*second; i-- {
		if again(es[i]) {
			return true
		}
	}
	return false
}

// evalFollowedBy joins lines that are meaningful only together: the state of a goroutine
// and the function that it waits in.
func evalFollowedBy(s *subject, args map[string]string) outcome {
	first, then := s.sig(args["first"]), s.sig(args["then"])
	if len(first) == 0 || len(then) == 0 {
		return notThere()
	}
	within, _ := strconv.Atoi(args["lines"])
	at := map[parse.Pos]*parse.Event{}
	for _, e := range then {
		at[linePos(e.Where(), 0)] = e
	}
	for _, e := range first {
		for d := 1; d <= within; d++ {
			if f := at[linePos(e.Where(), d)]; f != nil {
				return found(events("", e, f)...)
			}
		}
		// A dump joined to one record holds both in one line.
		if e.Is(args["then"]) {
			return found(events("", e)...)
		}
	}
	return notThere()
}

// linePos identifies the line d lines after p.
func linePos(p parse.Pos, d int) parse.Pos {
	return parse.Pos{File: p.File, Line: p.Line + uint32(d)}
}
