package replay

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Request is one call that the runtime logged: its begin, its end, or both.
type Request struct {
	Op       string // create, start, stop, remove, run
	Sandbox  bool
	ID       string // container or sandbox id, "" unknown
	Pod      string // ns/name, "" unknown
	Start    int64  // Unix ns, 0 unknown
	End      int64  // 0: not seen to end
	Err      string
	Evidence []Evidence
}

// Latency is how long the request took and whether that is known.
func (r *Request) Latency() (time.Duration, bool) {
	if r.Start == 0 || r.End == 0 {
		return 0, false
	}
	return time.Duration(r.End - r.Start), true
}

// history rebuilds what happened to containers and sandboxes, from the
// runtime's own log, from what the relist goroutine logged about them, and
// from recorded listings. What no line states stays unknown.
func history(n *Node) ([]Transition, []Request) {
	h := &historian{objects: make(map[string]*object), names: interner{}}
	for _, e := range n.Events {
		h.event(e)
	}
	h.snapshots(n.Containers)
	return h.transitions(), h.finish()
}

// object is what is known about one container or sandbox.
type object struct {
	parse.Container
	seen []Transition
}

// historian gathers transitions and requests.
type historian struct {
	objects map[string]*object
	order   []*object
	open    map[string]int // requests that have begun, by key, as indexes of reqs
	reqs    []Request
	names   interner
}

// object returns the record of an id, creating it.
func (h *historian) object(id string, sandbox bool) *object {
	o := h.objects[id]
	if o == nil {
		o = &object{Container: parse.Container{ID: id, Sandbox: sandbox}}
		h.objects[id] = o
		h.order = append(h.order, o)
	}
	return o
}

// event reads one line of the log.
func (h *historian) event(e *parse.Event) {
	if e.Basis == parse.NoTime {
		return
	}
	switch {
	case e.Is(parse.SigCtrLife):
		h.life(e, h.fields(e))
	case e.Is(parse.SigTransition):
		h.relistSaw(e, h.fields(e))
	case e.Is(parse.SigFinished):
		h.finished(e, h.fields(e))
	}
}

// fields is the fields of a line by name.
type fields map[string]string

func (h *historian) fields(e *parse.Event) fields {
	f := newFields(e)
	for k, v := range f {
		f[k] = h.names.of(v)
	}
	return f
}

func newFields(e *parse.Event) fields {
	f := make(fields)
	for _, x := range e.Fields() {
		if _, twice := f[x.Name]; !twice {
			f[x.Name] = x.Value
		}
	}
	return f
}

// lifeOps says what a runtime's line about an operation means.
var lifeOps = []struct {
	op, request string
	begins      bool
	container   string // state that the end of the operation proves
	sandbox     string
}{
	{"create-begin", "create", true, "", ""},
	{"created", "create", false, "created", "running"},
	{"create-failed", "create", false, "", ""},
	{"start-begin", "start", true, "", ""},
	{"started", "start", false, "running", "running"},
	{"start-failed", "start", false, "", ""},
	{"stop-begin", "stop", true, "", ""},
	{"stopped", "stop", false, "exited", "exited"},
	{"stop-failed", "stop", false, "", ""},
	{"exited", "", false, "exited", "exited"},
	{"remove-begin", "remove", true, "", ""},
	{"removed", "remove", false, "removed", "removed"},
	{"remove-failed", "remove", false, "", ""},
}

// life reads a line of a runtime about one container or sandbox.
func (h *historian) life(e *parse.Event, f fields) {
	for i := range lifeOps {
		if row := &lifeOps[i]; row.op == f["op"] {
			h.request(e, f, row.request, row.begins)
			if f["err"] != "" || row.begins || f["id"] == "" {
				h.learn(f)
				return
			}
			state := row.container
			if f["kind"] == "sandbox" {
				state = row.sandbox
			}
			h.learn(f)
			if state != "" {
				h.moved(e, f, state)
			}
			return
		}
	}
}

// learn keeps what a line says about who an object is.
func (h *historian) learn(f fields) {
	if f["id"] == "" {
		return
	}
	o := h.object(f["id"], f["kind"] == "sandbox")
	set := func(to *string, v string) {
		if *to == "" {
			*to = v
		}
	}
	set(&o.SandboxID, f["sandbox"])
	set(&o.PodUID, f["pod_uid"])
	set(&o.PodName, f["pod_name"])
	set(&o.Namespace, f["pod_ns"])
	set(&o.Name, f["name"])
}

// moved notes a state that a line proves. An exit has the runtime's own stamp
// where the line states one.
func (h *historian) moved(e *parse.Event, f fields, state string) {
	o := h.object(f["id"], f["kind"] == "sandbox")
	t := Transition{At: Instant{e.At, e.Res}, State: state, Container: parse.Container{Pos: e.Pos, Stamp: e.Stamp, Text: e.Text, Src: e.From()}}
	if at, ok := runtimeStamp(f["exited_at"]); ok && state == "exited" {
		t.At = Instant{at, time.Microsecond}
	}
	if code, err := strconv.Atoi(f["exit_code"]); err == nil && state == "exited" {
		t.ExitCode = &code
	}
	o.seen = append(o.seen, t)
}

// runtimeStamp reads exited_at: RFC 3339, Go's spelling of a time, or
// seconds.nanoseconds.
func runtimeStamp(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1970 {
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

// request pairs the begin and end of a call: by the request's own id where
// the runtime prints one, else by what it is about.
func (h *historian) request(e *parse.Event, f fields, op string, begins bool) {
	if op == "" {
		return
	}
	if h.open == nil {
		h.open = make(map[string]int)
	}
	sandbox := f["kind"] == "sandbox"
	keys := requestKeys(f, op)
	if begins {
		h.reqs = append(h.reqs, Request{Op: op, Sandbox: sandbox, ID: f["id"], Pod: podName(f["pod_ns"], f["pod_name"]),
			Start: e.At, Evidence: []Evidence{{Record: e}}})
		for _, k := range keys {
			h.open[k] = len(h.reqs) - 1
		}
		return
	}
	for _, k := range keys {
		if i, ok := h.open[k]; ok {
			r := &h.reqs[i]
			r.End, r.Err = e.At, f["err"]
			r.ID = cmp.Or(r.ID, f["id"])
			r.Evidence = append(r.Evidence, Evidence{Record: e})
			for _, k := range keys {
				delete(h.open, k)
			}
			return
		}
	}
	h.reqs = append(h.reqs, Request{Op: op, Sandbox: sandbox, ID: f["id"], Pod: podName(f["pod_ns"], f["pod_name"]),
		End: e.At, Err: f["err"], Evidence: []Evidence{{Record: e}}})
}

// requestKeys are the names under which a begin may be found, best first.
func requestKeys(f fields, op string) []string {
	var keys []string
	add := func(kind, v string) {
		if v != "" {
			keys = append(keys, op+"\x00"+f["kind"]+"\x00"+kind+"\x00"+v)
		}
	}
	add("req", f["req"])
	if f["req"] != "" {
		return keys
	}
	add("id", f["id"])
	if f["pod_name"] != "" {
		add("meta", f["pod_ns"]+"\x00"+f["pod_name"]+"\x00"+f["name"])
	}
	if op == "create" && f["kind"] != "sandbox" {
		add("in", f["sandbox"]+"\x00"+f["name"])
	}
	return keys
}

// relistSaw reads a transition that the relist goroutine logged (V4): the
// runtime was in the new state when the relist listed.
func (h *historian) relistSaw(e *parse.Event, f fields) {
	if f["id"] == "" {
		return
	}
	o := h.object(f["id"], false)
	o.PodUID = cmp.Or(o.PodUID, f["pod_uid"])
	state := f["new"]
	switch state {
	case "non-existent":
		state = "removed"
	case "running", "exited", "unknown":
	default:
		return
	}
	o.seen = append(o.seen, Transition{At: Instant{e.At, time.Second}, State: state,
		Container: parse.Container{Pos: e.Pos, Stamp: e.Stamp, Text: e.Text, Src: parse.SrcKubelet}})
}

// finished reads the exit code that the relist goroutine logged.
func (h *historian) finished(e *parse.Event, f fields) {
	if f["id"] == "" {
		return
	}
	o := h.object(f["id"], false)
	o.PodUID = cmp.Or(o.PodUID, f["pod_uid"])
	t := Transition{At: Instant{e.At, time.Second}, State: "exited",
		Container: parse.Container{Pos: e.Pos, Stamp: e.Stamp, Text: e.Text, Src: parse.SrcKubelet}}
	if code, err := strconv.Atoi(f["exit_code"]); err == nil {
		t.ExitCode = &code
	}
	o.seen = append(o.seen, t)
}

// snapshots reads recorded listings: the times that an entry states itself,
// and its state when it was listed.
func (h *historian) snapshots(cs []*parse.Container) {
	whole := h.cutIDs()
	for _, c := range cs {
		if c.ID == "" {
			continue
		}
		o := h.object(cmp.Or(whole[c.ID], c.ID), c.Sandbox)
		o.PodUID = cmp.Or(o.PodUID, c.PodUID)
		o.PodName, o.Namespace = cmp.Or(o.PodName, c.PodName), cmp.Or(o.Namespace, c.Namespace)
		o.Name, o.SandboxID = cmp.Or(o.Name, c.Name), cmp.Or(o.SandboxID, c.SandboxID)
		add := func(at int64, state string, slack time.Duration) {
			if at != 0 {
				t := Transition{At: Instant{at, slack}, State: state, Container: *c}
				o.seen = append(o.seen, t)
			}
		}
		add(c.Created, "created", time.Second)
		add(c.Started, "running", time.Microsecond)
		add(c.Finished, "exited", time.Microsecond)
	}
}

// cutLengths are the lengths to which crictl and docker tables cut ids.
var cutLengths = [...]int{13, 12}

// cutIDs indexes the known ids by their cut forms; an ambiguous one maps to "".
func (h *historian) cutIDs() map[string]string {
	m := make(map[string]string)
	for _, o := range h.order {
		for _, n := range cutLengths {
			if len(o.ID) <= n {
				continue
			}
			if have, ok := m[o.ID[:n]]; ok && have != o.ID {
				m[o.ID[:n]] = ""
			} else {
				m[o.ID[:n]] = o.ID
			}
		}
	}
	return m
}

// transitions joins what several sources tell of one change: the runtime's
// own stamp beats its log line, which beats the kubelet's view of it.
func (h *historian) transitions() []Transition {
	h.inherit()
	var out []Transition
	for _, o := range h.order {
		out = append(out, o.joined()...)
	}
	slices.SortStableFunc(out, func(a, b Transition) int {
		return cmp.Or(cmp.Compare(a.At.At, b.At.At), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// inherit gives containers the pod of their sandbox.
func (h *historian) inherit() {
	for _, o := range h.order {
		s := h.objects[o.SandboxID]
		if s == nil || o.SandboxID == "" {
			continue
		}
		o.PodUID = cmp.Or(o.PodUID, s.PodUID)
		o.PodName, o.Namespace = cmp.Or(o.PodName, s.PodName), cmp.Or(o.Namespace, s.Namespace)
	}
}

// joined returns the object's transitions, one for each change.
func (o *object) joined() []Transition {
	slices.SortStableFunc(o.seen, func(a, b Transition) int { return cmp.Compare(a.At.At, b.At.At) })
	var out []Transition
	for _, t := range o.seen {
		if k := len(out) - 1; k >= 0 && out[k].State == t.State {
			out[k] = better(out[k], t)
			continue
		}
		out = append(out, t)
	}
	for i := range out {
		c := &out[i].Container
		c.ID, c.Sandbox, c.SandboxID = o.ID, o.Sandbox, o.SandboxID
		c.PodUID, c.PodName, c.Namespace, c.Name = o.PodUID, o.PodName, o.Namespace, o.Name
		c.State = out[i].State
	}
	return out
}

// better joins two tellings of one change.
func better(a, b Transition) Transition {
	if b.Src != parse.SrcKubelet && (a.Src == parse.SrcKubelet || b.At.Slack < a.At.Slack) {
		a, b = b, a
	}
	if a.ExitCode == nil {
		a.ExitCode = b.ExitCode
	}
	return a
}

// finish returns the requests in the order of their first line.
func (h *historian) finish() []Request { return h.reqs }
