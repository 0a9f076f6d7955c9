package kubelet

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/version"
)

// startSlack is how long before its first line a kubelet process may have started; it writes almost
// immediately.
const startSlack = time.Second

// runCutter splits the events of a node into runs of the kubelet. A new run begins with a new process ID; with
// start-up lines from a process that already runs its sync loop (the process ID in a container is always 1); or
// when a process of which a relist has succeeded says that none has (JSON logs have no process ID). By a clock that
// was set back, the start of a process comes after its later lines.
type runCutter struct {
	s       *Log
	runs    []Run
	byPID   map[int]int
	looping []*parse.Event // where the run started its sync loop, or the first line written in it
	listed  []*parse.Event // where a relist of the run had succeeded, the last one
	well    []*parse.Event // where its sync loop last found that one had
	cur     int
}

// run returns the index of the run that a dated line of the kubelet belongs to, and makes it the current run
// cur, which is -1 before the first such line.
func (c *runCutter) run(e *parse.Event, k host.Kinds) int {
	c.cur = c.pick(e, k)
	r := &c.runs[c.cur]
	if k&(host.KindAge|host.KindEvent) != 0 {
		c.listed[c.cur] = e
	}
	if k&host.KindWork != 0 || k&host.KindSkip != 0 && k&Reported == 0 && othersOnly(e.Field("reason")) {
		c.well[c.cur] = e
	}
	if k&host.KindTurn != 0 && c.looping[c.cur] == nil {
		c.looping[c.cur] = e
	}
	if r.First == 0 {
		r.First = e.At
	}
	r.Last = max(r.Last, e.At)
	if k&(host.KindStart|host.KindNotReady) != 0 {
		c.note(r, e, k)
	}
	return c.cur
}

func (c *runCutter) pick(e *parse.Event, k host.Kinds) int {
	pid := e.Origin.PID
	if c.cur >= 0 && k&(host.KindStart|host.KindNever) == 0 && (pid == 0 || pid == c.runs[c.cur].PID) {
		return c.cur // nearly all lines
	}
	i, known := c.cur, c.cur >= 0
	if pid != 0 {
		if j, ok := c.byPID[pid]; ok {
			i, known = j, true
		} else if known && c.runs[i].PID != 0 {
			known = false
		}
	}
	after := func(x *parse.Event) bool { return x != nil && c.s.SameClock(x, e) }
	if known && (k&host.KindStart != 0 && after(c.looping[i]) || k&host.KindNever != 0 && (after(c.listed[i]) || k&host.KindSkip != 0 && after(c.well[i]))) {
		known = false
	}
	if !known {
		c.runs = append(c.runs, Run{PID: pid})
		c.looping, c.listed, c.well = append(c.looping, nil), append(c.listed, nil), append(c.well, nil)
		i = len(c.runs) - 1
	}
	if pid != 0 {
		c.runs[i].PID = pid
		c.byPID[pid] = i
	}
	if k&host.KindStarting != 0 {
		c.looping[i] = e
	}
	return i
}

// Breaks returns the times, in order, of the lines that show that a relist succeeded or that a kubelet started. They
// separate what is said of processes that no line tells apart.
func (s *Log) Breaks() (out []int64) {
	s.index.Each(host.KindEvent|host.KindAge|host.KindStart, func(_ int, e *parse.Event, _ host.Kinds) { out = append(out, e.At) })
	return out
}

// note records what start-up lines and monotonic clock readings show about the run.
func (c *runCutter) note(r *Run, e *parse.Event, k host.Kinds) {
	if k&host.KindNotReady != 0 {
		t, ok := processStart(e.Field("heartbeat"))
		if r.PID <= 1 && t > r.First+int64(startSlack) {
			return // another process of the same ID, or the clock was set
		}
		if d := time.Duration(t - r.Start.At); ok && r.exact && d.Abs() > max(startSlack, r.Stepped.Abs()) {
			r.Stepped = d
		}
		if ok && !r.exact {
			r.Start, r.exact = host.Instant{At: t, Slack: time.Second}, true
			r.Evidence = append(r.Evidence, host.Evidence{Record: e, Note: "monotonic reading: seconds since the process started"})
		}
		return
	}
	if e.Is(parse.SigVersion) && r.Version == "" {
		if r.Version = statedVersion(e); r.Version != "" {
			r.Evidence = append(r.Evidence, host.Evidence{Record: e, Note: "the process states its version"})
		}
	}
	if k&host.KindStarting != 0 && r.Loop == 0 {
		r.Loop = e.At
		r.Evidence = append(r.Evidence, host.Evidence{Record: e, Note: "PLEG and sync loop start here"})
	}
	if !r.Start.Known() {
		r.Start = host.Instant{At: r.First, Slack: startSlack}
	}
}

// processStart parses Go's "2021-01-09 19:48:52.46 +0800 CST m=+1199233.17" and returns when the monotonic
// clock of the process was zero, in Unix ns.
func processStart(s string) (int64, bool) {
	head, mono, _ := strings.Cut(s, " m=+")
	sec, err := strconv.ParseFloat(mono, 64)
	f := strings.Fields(head)
	if err != nil || sec < 0 || sec > 1e9 || len(f) < 3 {
		return 0, false
	}
	t, err := parse.ParseTime("2006-01-02 15:04:05.999999999 -0700", strings.Join(f[:3], " "))
	if err != nil {
		return 0, false
	}
	return t.UnixNano() - int64(sec*1e9), true
}

// versionText normalizes a version: unquoted, with a leading v. It returns "" if s is no version.
func versionText(s string) string {
	s = strings.Trim(s, "\"' ")
	if s = strings.TrimPrefix(s, "v"); s == "" || s[0] < '0' || s[0] > '9' {
		return "" // as when a terminal wrapped the line
	}
	return "v" + s
}

// statedVersion returns the version of the kubelet that a line states, or "". Programs of every kind begin their log
// with such a line; the kubelet's stands in its server.go (cmd/kubelet/app), or names the distribution that runs it.
func statedVersion(e *parse.Event) string {
	if !host.StatesOwnVersion(e) || strings.Contains(e.Caller, ":") && e.Origin.Source != parse.SrcKubelet {
		return ""
	}
	v := versionText(e.Field("version"))
	if m, ok := version.Minor(v); !ok || m < 2 {
		return "" // no kubelet with PLEG has it
	}
	return v
}

// Run is one process of the kubelet.
type Run struct {
	PID        int
	Start, End host.Instant // Start is unknown if the log begins later; End is unknown for the last run
	First      int64        // times of the first and last line, Unix ns
	Last       int64
	Version    string
	Evidence   []host.Evidence

	Loop  int64 // when the sync loop started, 0 if unknown
	exact bool  // Start comes from a monotonic reading

	Stepped time.Duration // largest amount by which the clock advanced more than the process ran, from monotonic readings
}
