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
	h := &historian{objects: map[string]*object{}, open: map[requestKey]int{}, names: interner{}, pods: podNames{}}
	lines := 0
	for _, e := range n.Events {
		if e.Is(parse.SigCtrLife) {
			lines++
		}
	}
	h.reqs = make([]Request, 0, (lines+1)/2) // most have a begin and an end
	for _, e := range n.Events {
		h.event(e)
	}
	h.snapshots(n.Containers)
	return h.transitions(), h.finish()
}

// object is what is known about one container or sandbox.
type object struct {
	Subject
	seen []Transition
}

// historian gathers transitions and requests.
type historian struct {
	objects  map[string]*object
	order    []*object
	open     map[requestKey]int // requests that have begun, as indexes of reqs
	reqs     []Request
	names    interner
	pods     podNames
	evidence slab[[2]Evidence]
	line     []parse.Field // of the line at hand
}

// object returns the record of an id, creating it.
func (h *historian) object(id string, sandbox bool) *object {
	o := h.objects[id]
	if o == nil {
		id = h.names.of(id)
		o = &object{Subject: Subject{ID: id, Sandbox: sandbox}}
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
	read := func() fields {
		h.line = e.AppendFields(h.line[:0])
		return h.line
	}
	switch {
	case e.Is(parse.SigCtrLife):
		h.life(e, read())
	case e.Is(parse.SigTransition):
		h.relistSaw(e, read())
	case e.Is(parse.SigFinished):
		h.finished(e, read())
	}
}

// fields are the fields of a line; of two of one name the first counts. Values
// hold the whole line in memory: what is kept of them is interned.
type fields []parse.Field

func (f fields) get(name string) string { return fieldOf(f, name) }

// lifeOp is what a runtime's line about an operation means.
type lifeOp struct {
	op, request string
	begins      bool
	container   string // state that the end of the operation proves
	sandbox     string
}

// lifeOps says what a runtime's line about an operation means.
var lifeOps = []lifeOp{
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
	op := f.get("op")
	i := slices.IndexFunc(lifeOps, func(o lifeOp) bool { return o.op == op })
	if i < 0 {
		return
	}
	row := &lifeOps[i]
	o := h.learn(f)
	h.request(e, f, o, row.request, row.begins)
	if o == nil || row.begins || f.get("err") != "" {
		return
	}
	state := row.container
	if f.get("kind") == "sandbox" {
		state = row.sandbox
	}
	if state != "" {
		o.moved(e, f, state)
	}
}

// learn keeps what a line says about who an object is. It returns the object,
// nil if the line does not name it.
func (h *historian) learn(f fields) *object {
	id := f.get("id")
	if id == "" {
		return nil
	}
	o := h.object(id, f.get("kind") == "sandbox")
	for _, x := range f {
		var to *string
		switch x.Name {
		case "sandbox":
			to = &o.SandboxID
		case "pod_uid":
			to = &o.PodUID
		case "pod_name":
			to = &o.PodName
		case "pod_ns":
			to = &o.Namespace
		case "name":
			to = &o.Name
		}
		if to != nil && *to == "" {
			*to = h.names.of(x.Value)
		}
	}
	return o
}

// moved notes a state that a line proves. An exit has the runtime's own stamp
// where the line states one.
func (o *object) moved(e *parse.Event, f fields, state string) {
	t := Transition{At: Instant{e.At, e.Res}, State: state, Line: e, Src: e.From()}
	if state == "exited" {
		if at, ok := runtimeStamp(f.get("exited_at")); ok {
			t.At = Instant{at, time.Microsecond}
		}
		t.ExitCode = exitCode(f)
	}
	o.seen = append(o.seen, t)
}

func exitCode(f fields) *int {
	s := f.get("exit_code")
	if s == "" {
		return nil
	}
	if code, err := strconv.Atoi(s); err == nil {
		return &code
	}
	return nil
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
func (h *historian) request(e *parse.Event, f fields, o *object, op string, begins bool) {
	if op == "" {
		return
	}
	id := ""
	if o != nil {
		id = o.ID
	}
	keys := requestKeys(f, op, id)
	if !begins {
		for _, k := range keys {
			if i, ok := h.open[k]; ok && k != (requestKey{}) {
				r := &h.reqs[i]
				r.End, r.Err = e.At, h.names.of(f.get("err"))
				r.ID = cmp.Or(r.ID, id)
				r.Evidence = append(r.Evidence, Evidence{Record: e})
				for _, k := range keys {
					delete(h.open, k)
				}
				return
			}
		}
	}
	ev := h.evidence.one()
	ev[0].Record = e
	r := Request{Op: op, Sandbox: f.get("kind") == "sandbox", ID: id, Pod: h.pods.of(f.get("pod_ns"), f.get("pod_name")), Evidence: ev[:1]}
	if !begins {
		r.End, r.Err = e.At, h.names.of(f.get("err"))
	} else {
		r.Start = e.At
		for _, k := range keys {
			if k != (requestKey{}) {
				h.open[k] = len(h.reqs)
			}
		}
	}
	h.reqs = append(h.reqs, r)
}

// requestKey is a name under which a begin may be found.
type requestKey struct {
	op, kind, by string
	a, b, c      string
}

// requestKeys are the names of a request, best first, the zero key for none: the
// runtime's own id of the request, or what it is about.
func requestKeys(f fields, op, id string) (keys [3]requestKey) {
	kind := f.get("kind")
	if req := f.get("req"); req != "" {
		keys[0] = requestKey{op, kind, "req", req, "", ""}
		return keys
	}
	if id != "" {
		keys[0] = requestKey{op, kind, "id", id, "", ""}
	}
	if pod := f.get("pod_name"); pod != "" {
		keys[1] = requestKey{op, kind, "meta", f.get("pod_ns"), pod, f.get("name")}
	}
	if op == "create" && kind != "sandbox" {
		keys[2] = requestKey{op, kind, "in", f.get("sandbox"), f.get("name"), ""}
	}
	return keys
}

// relistSaw reads a transition that the relist goroutine logged (V4): the
// runtime was in the new state when the relist listed.
func (h *historian) relistSaw(e *parse.Event, f fields) {
	if f.get("id") == "" {
		return
	}
	o := h.object(f.get("id"), false)
	o.PodUID = cmp.Or(o.PodUID, h.names.of(f.get("pod_uid")))
	state := f.get("new")
	switch state {
	case "non-existent":
		state = "removed"
	case "running", "exited", "unknown":
	default:
		return
	}
	o.seen = append(o.seen, Transition{At: Instant{e.At, time.Second}, State: state, Line: e, Src: parse.SrcKubelet})
}

// finished reads the exit code that the relist goroutine logged.
func (h *historian) finished(e *parse.Event, f fields) {
	if f.get("id") == "" {
		return
	}
	o := h.object(f.get("id"), false)
	o.PodUID = cmp.Or(o.PodUID, h.names.of(f.get("pod_uid")))
	o.seen = append(o.seen, Transition{At: Instant{e.At, time.Second}, State: "exited", ExitCode: exitCode(f), Line: e, Src: parse.SrcKubelet})
}

// snapshots reads recorded listings: the times that an entry states itself,
// and its state when it was listed.
func (h *historian) snapshots(cs []*parse.Container) {
	if len(cs) == 0 {
		return
	}
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
				o.seen = append(o.seen, Transition{At: Instant{at, slack}, State: state, ExitCode: c.ExitCode, Line: c, Src: c.Src})
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
	seen := 0
	for _, o := range h.order {
		seen += len(o.seen)
	}
	out := make([]Transition, 0, seen)
	for _, o := range h.order {
		out = o.joined(out)
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

// joined appends the object's transitions, one for each change.
func (o *object) joined(out []Transition) []Transition {
	slices.SortStableFunc(o.seen, func(a, b Transition) int { return cmp.Compare(a.At.At, b.At.At) })
	first := len(out)
	for _, t := range o.seen {
		if k := len(out) - 1; k >= first && out[k].State == t.State {
			out[k] = better(out[k], t)
			continue
		}
		out = append(out, t)
	}
	about := o.Subject // on its own: what was gathered about it need not live on
	for i := first; i < len(out); i++ {
		out[i].Subject = &about
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
