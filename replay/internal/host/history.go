package host

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/table"
)

// ReadHistory rebuilds the history of containers and sandboxes from the runtime's own
// log, from what the relist goroutine logged about them, and from recorded listings.
// What no record states stays unknown.
func ReadHistory(n *Records, v *Survey) (History, Requests) {
	h := newHistorian(n, v.history)
	v.Each(KindHistory, func(i int, e *parse.Event, k Kinds) {
		if e.Basis == parse.NoTime {
			return
		}
		h.line, h.at = int32(i), e
		f := h.read(e)
		switch state, known := h.seen[f.new]; {
		case k&KindLife != 0:
			h.life(&f)
		case k&KindTransition != 0 && known: // logged at verbosity 4: the state seen by the relist
			h.sawByKubelet(&f, Move{State: state})
		case k&KindTransition == 0 && k&KindFinished != 0:
			h.sawByKubelet(&f, Move{State: StateExited, exit: h.exitCode(f.exitCode)})
		}
	})
	h.snapshots(n.Containers)
	h.inherit()
	h.out.settle()
	return Packed(h.out), Packed(&requestTable{index: v.Index, interned: n.Interned})
}

// historian collects transitions.
type historian struct {
	lifeReader
	interned *parse.StringTable
	out      *HistoryTable
	seen     map[parse.StringID]State // states by the names that the relist goroutine uses
	codes    map[parse.StringID]int32 // exit codes by their text: index in out.exits plus one
	exits    map[int]int32            // the same by value

	line int32        // index of the current line
	at   *parse.Event // the current line
}

func newHistorian(n *Records, lines int) *historian {
	of := n.Interned.OfString
	h := &historian{lifeReader: newLifeReader(n.Interned), interned: n.Interned, codes: map[parse.StringID]int32{}, exits: map[int]int32{},
		seen: map[parse.StringID]State{of("running"): StateRunning, of("exited"): StateExited, of("non-existent"): StateRemoved, of("unknown"): StateUnknown},
		out:  &HistoryTable{lines: n.Events, listed: n.Containers, interned: n.Interned, ByID: table.NewByString[int32](n.Interned, lines), Moves: make([]Move, 0, lines)}}
	h.out.ByID.Touch()
	return h
}

// lifeReader reads lines about containers and sandboxes.
type lifeReader struct {
	columns *parse.Columns
	ops     [len(lifeOps)]parse.StringID
	sandbox parse.StringID // the word "sandbox"
}

func newLifeReader(interned *parse.StringTable) lifeReader {
	of := interned.OfString
	r := lifeReader{columns: parse.NewColumns(interned, "op", "kind", "id", "sandbox", "pod_uid", "pod_ns", "pod_name", "name", "req", "err", "exit_code", "exited_at", "new"),
		sandbox: of("sandbox")}
	for i := range lifeOps {
		r.ops[i] = of(lifeOps[i].op)
	}
	return r
}

// lifeFields holds the fields of a line about a container or sandbox.
type lifeFields struct {
	op, kind, id, sandbox        parse.StringID
	podUID, podNS, podName, name parse.StringID
	req, err, exitCode, exitedAt parse.StringID
	new                          parse.StringID // state, in lines of the relist goroutine
}

// read returns the fields of a line. If a name occurs twice, the first counts.
func (r *lifeReader) read(e *parse.Event) lifeFields {
	var f [13]parse.StringID
	r.columns.Read(e, f[:])
	return lifeFields{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12]}
}

// op returns the operation that the line reports, nil if unknown.
func (r *lifeReader) op(f *lifeFields) *lifeOp {
	for i, op := range r.ops {
		if op == f.op {
			return &lifeOps[i]
		}
	}
	return nil
}

// lifeOp is the meaning of an operation in a runtime's log.
type lifeOp struct {
	op        string
	request   requestOp
	begins    bool
	container State // proven by the end of the operation, StateNone if none
	sandbox   State
}

// lifeOps lists the operations by the value of the field op.
var lifeOps = [...]lifeOp{
	{"create-begin", opCreate, true, StateNone, StateNone},
	{"created", opCreate, false, StateCreated, StateRunning},
	{"create-failed", opCreate, false, StateNone, StateNone},
	{"start-begin", opStart, true, StateNone, StateNone},
	{"started", opStart, false, StateRunning, StateRunning},
	{"start-failed", opStart, false, StateNone, StateNone},
	{"stop-begin", opStop, true, StateNone, StateNone},
	{"stopped", opStop, false, StateExited, StateExited},
	{"stop-failed", opStop, false, StateNone, StateNone},
	{"exited", opNone, false, StateExited, StateExited},
	{"remove-begin", opRemove, true, StateNone, StateNone},
	{"removed", opRemove, false, StateRemoved, StateRemoved},
	{"remove-failed", opRemove, false, StateNone, StateNone},
}

// life handles a runtime's line about one container or sandbox.
func (h *historian) life(f *lifeFields) {
	row := h.op(f)
	if row == nil || f.id == 0 {
		return
	}
	o := h.out.object(f.id, f.kind == h.sandbox)
	h.out.Objects.At(o).learn(f.sandbox, f.podUID, f.podName, f.podNS, f.name)
	if row.begins || f.err != 0 {
		return
	}
	state := row.container
	if f.kind == h.sandbox {
		state = row.sandbox
	}
	if state != StateNone {
		h.moved(o, f, state)
	}
}

// moved records the state that a line proves. An exit is dated by the runtime's own
// timestamp if the line has one.
func (h *historian) moved(o int32, f *lifeFields, s State) {
	m := Move{At: h.at.At, Slack: h.at.Res.Duration(), Line: h.line, Object: o, State: s, Teller: tellerOf(h.at.From())}
	if s == StateExited {
		if f.exitedAt != 0 {
			if at, ok := runtimeStamp(h.interned.Text(f.exitedAt)); ok {
				m.At, m.Slack, m.Stated = at, time.Microsecond, true
			}
		}
		m.exit = h.exitCode(f.exitCode)
	}
	h.out.Moves = append(h.out.Moves, m)
}

// exitCode interns an exit code and returns its index in out.exits plus one, 0 for
// none.
func (h *historian) exitCode(s parse.StringID) int32 {
	if s == 0 {
		return 0
	}
	i, ok := h.codes[s]
	if !ok {
		if code, err := strconv.Atoi(h.interned.Text(s)); err == nil {
			i = h.exit(code)
		}
		h.codes[s] = i
	}
	return i
}

func (h *historian) exit(code int) int32 {
	i, ok := h.exits[code]
	if !ok {
		h.out.exits = append(h.out.exits, code)
		i = int32(len(h.out.exits))
		h.exits[code] = i
	}
	return i
}

// runtimeStamp parses the field exited_at: RFC 3339, the format of Go's
// time.Time.String, or seconds.nanoseconds. It returns Unix ns.
func runtimeStamp(s string) (int64, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := parse.ParseTime(layout, s); err == nil && t.Year() > 1970 {
			return t.UnixNano(), true
		}
	}
	sec, frac, _ := strings.Cut(s, ".")
	v, err := strconv.ParseInt(sec, 10, 64)
	if err != nil || v < 1e8 || v > 1<<33 {
		return 0, false
	}
	ns, err := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err != nil || len(frac) > 9 {
		ns = 0
	}
	return v*1e9 + ns, true
}

// sawByKubelet records a state change logged by the relist goroutine.
func (h *historian) sawByKubelet(f *lifeFields, m Move) {
	if f.id == 0 {
		return
	}
	m.At, m.Slack, m.Line, m.Object, m.Teller = h.at.At, time.Second, h.line, h.out.object(f.id, false), ByKubelet
	h.out.Objects.At(m.Object).learn(0, f.podUID, 0, 0, 0)
	h.out.Moves = append(h.out.Moves, m)
}

// snapshots reads recorded listings: the created, started and finished times of each
// entry.
func (h *historian) snapshots(cs []*parse.Container) {
	if len(cs) == 0 {
		return
	}
	of, whole := h.interned.OfString, h.cutIDs()
	for i, c := range cs {
		if c.ID == "" {
			continue
		}
		id, ok := whole[c.ID]
		if !ok || id == 0 {
			id = of(c.ID)
		}
		o := h.out.object(id, c.Sandbox)
		h.out.Objects.At(o).learn(of(c.SandboxID), of(c.PodUID), of(c.PodName), of(c.Namespace), of(c.Name))
		exit := int32(0)
		if c.ExitCode != nil {
			exit = h.exit(*c.ExitCode)
		}
		add := func(at int64, s State, slack time.Duration) {
			if at != 0 {
				h.out.Moves = append(h.out.Moves, Move{At: at, Slack: slack, Line: ^int32(i), Object: o, State: s, exit: exit, Teller: tellerOf(c.Src), Stated: true})
			}
		}
		add(c.Created, StateCreated, time.Second)
		add(c.Started, StateRunning, time.Microsecond)
		add(c.Finished, StateExited, time.Microsecond)
	}
}

// cutLengths are the lengths to which crictl and docker tables truncate IDs.
var cutLengths = [...]int{13, 12}

// cutIDs indexes the known IDs by their truncated forms; an ambiguous form maps to 0.
func (h *historian) cutIDs() map[string]parse.StringID {
	m := make(map[string]parse.StringID)
	for i := range h.out.Objects.N {
		sid := h.out.Objects.At(int32(i)).ID
		id := h.interned.Text(sid)
		for _, n := range cutLengths {
			if len(id) <= n {
				continue
			}
			if have, ok := m[id[:n]]; ok && have != sid {
				m[id[:n]] = 0
			} else {
				m[id[:n]] = sid
			}
		}
	}
	return m
}

// inherit copies the pod of a sandbox to its containers.
func (h *historian) inherit() {
	for i := range h.out.Objects.N {
		o := h.out.Objects.At(int32(i))
		if k := h.out.ByID.Get(o.sandbox); o.sandbox != 0 && k != 0 {
			s := h.out.Objects.At(k - 1)
			o.learn(0, s.PodUID, s.PodName, s.podNS, 0)
		}
	}
}
