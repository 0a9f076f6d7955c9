package host

import "github.com/plegforensics/plegforensics/parse"

// Request is one call logged by the runtime: its start, its end, or both.
type Request struct {
	Op      string // create, start, stop, remove
	Sandbox bool
	ID      string // container or sandbox ID, "" unknown
	Pod     string // ns/name, "" unknown
	Start   int64  // Unix ns, 0 unknown
	End     int64  // Unix ns, 0: no end in the log
	Err     string
	Begun   parse.Record // line of the start, nil unknown
	Ended   parse.Record // line of the end, nil: not in the log
}

// Requests is a list of requests.
type Requests = List[Request]

// Evidence returns the lines of the request.
func (r *Request) Evidence() []Evidence {
	var out []Evidence
	for _, line := range [...]parse.Record{r.Begun, r.Ended} {
		if line != nil {
			out = append(out, Evidence{Record: line})
		}
	}
	return out
}

// requestOp is the operation of a request, packed.
type requestOp uint8

const (
	opNone requestOp = iota
	opCreate
	opStart
	opStop
	opRemove
)

var requestOps = [...]string{"", "create", "start", "stop", "remove"}

// requestRow is a Request, packed.
type requestRow struct {
	begin, end int32 // indexes into Index.Events, -1 for none
	id, err    parse.StringID
	ns, pod    parse.StringID
	op         requestOp
	sandbox    bool
}

// requestTable holds the requests of a node. They are found on first use, because most
// reports do not need them.
type requestTable struct {
	index    *Index
	interned *parse.StringTable
	rows     []requestRow
	known    bool
}

func (t *requestTable) Count() int {
	t.find()
	return len(t.rows)
}

func (t *requestTable) Item(i int) Request {
	t.find()
	r, text := &t.rows[i], t.interned.Text
	out := Request{Op: requestOps[r.op], Sandbox: r.sandbox, ID: text(r.id), Pod: PodName(text(r.ns), text(r.pod)), Err: text(r.err)}
	if r.begin >= 0 {
		e := t.index.Events[r.begin]
		out.Start, out.Begun = e.At, e
	}
	if r.end >= 0 {
		e := t.index.Events[r.end]
		out.End, out.Ended = e.At, e
	}
	return out
}

// find reads the runtime's lines and pairs them.
func (t *requestTable) find() {
	if t.known {
		return
	}
	t.known = true
	p := pairer{lifeReader: newLifeReader(t.interned), open: map[requestKey]int32{}}
	t.index.Each(KindLife, func(i int, e *parse.Event, k Kinds) {
		if e.Basis == parse.NoTime {
			return
		}
		f := p.read(e)
		if op := p.op(&f); op != nil && op.request != opNone {
			p.line = int32(i)
			p.request(&f, op.request, op.begins)
		}
	})
	t.rows = p.rows
}

// pairer pairs the start and end lines of calls.
type pairer struct {
	lifeReader
	rows []requestRow
	open map[requestKey]int32 // rows of started requests, by each of their keys
	line int32                // the current line
}

// request adds a start line, or an end line to the start that it belongs to: the one
// with the same request ID if the runtime prints one, else with the same subject.
func (p *pairer) request(f *lifeFields, op requestOp, begins bool) {
	keys := p.requestKeys(f, op)
	if !begins && len(p.open) > 0 {
		for _, k := range keys {
			if i, ok := p.open[k]; ok && k != (requestKey{}) {
				r := &p.rows[i]
				r.end, r.err = p.line, f.err
				if r.id == 0 {
					r.id = f.id
				}
				for _, k := range keys {
					delete(p.open, k)
				}
				return
			}
		}
	}
	r := requestRow{begin: -1, end: -1, op: op, sandbox: f.kind == p.sandbox, id: f.id, ns: f.podNS, pod: f.podName}
	if begins {
		r.begin = p.line
		for _, k := range keys {
			if k != (requestKey{}) {
				p.open[k] = int32(len(p.rows))
			}
		}
	} else {
		r.end, r.err = p.line, f.err
	}
	p.rows = append(p.rows, r)
}

// requestKey is a key under which the start of a request is found.
type requestKey struct {
	op            requestOp
	by            keyKind
	kind, a, b, c parse.StringID
}

// keyKind says what the parts of a requestKey are.
type keyKind uint8

const (
	keyNone    keyKind = iota
	keyRequest         // the runtime's own ID of the request
	// keyObject is the ID of the container or sandbox.
	keyObject
	keyMeta // names of pod and container
	keyIn   // name of a container in its sandbox
)

// requestKeys returns the keys of a request, best first, the zero key for none: the
// runtime's own request ID if there is one, else its subject.
func (p *pairer) requestKeys(f *lifeFields, op requestOp) (keys [3]requestKey) {
	if f.req != 0 {
		keys[0] = requestKey{op, keyRequest, f.kind, f.req, 0, 0}
		return keys
	}
	if f.id != 0 {
		keys[0] = requestKey{op, keyObject, f.kind, f.id, 0, 0}
	}
	if f.podName != 0 {
		keys[1] = requestKey{op, keyMeta, f.kind, f.podNS, f.podName, f.name}
	}
	if op == opCreate && f.kind != p.sandbox {
		keys[2] = requestKey{op, keyIn, f.kind, f.sandbox, f.name, 0}
	}
	return keys
}
