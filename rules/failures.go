package rules

import (
	"slices"
	"sort"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// failures are the failed CRI calls of a node by what is asked about them. Every
// episode asks the same, each about its own time.
type failures struct {
	fails   []*replay.Failure // by end; relists that failed to list stand as GetPods
	lists   []*replay.Failure
	status  []*replay.Failure
	kinds   []uint32          // of each of fails
	samples []*replay.Failure // of each kind
	picks   map[string]*pick  // by the arguments of a condition
	said    map[string]*said  // by pattern
}

func newFailures(calls []replay.Failure, lists []*parse.Event) failures {
	x := failures{fails: withListFailures(calls, lists)}
	for _, f := range x.fails {
		if isList(f) {
			x.lists = append(x.lists, f)
		}
		if isStatus(f) {
			x.status = append(x.status, f)
		}
	}
	x.kinds, x.samples = failureKinds(x.fails)
	return x.fork()
}

// fork returns the same, with a memory of its own of what was asked.
func (x failures) fork() failures {
	x.picks, x.said = map[string]*pick{}, map[string]*said{}
	return x
}

// withListFailures adds the relists of which only PLEG's own line tells that
// they failed to list, as calls of GetPods.
func withListFailures(calls []replay.Failure, lines []*parse.Event) []*replay.Failure {
	out := make([]*replay.Failure, len(calls), len(calls)+len(lines))
	for i := range calls {
		out[i] = &calls[i]
	}
	const layers = int64(20e6) // the layers of one failure are logged within 20 ms
	i := 0
	lone := loneLists{details: map[string]*replay.FailureDetails{}, codes: map[string]string{}}
	for _, e := range lines {
		for i < len(calls) && calls[i].End < e.At-layers {
			i++
		}
		told := false
		for j := i; j < len(calls) && calls[j].End <= e.At+layers; j++ {
			told = told || isList(&calls[j]) || calls[j].Scope == "pod"
		}
		if told {
			continue
		}
		out = append(out, lone.failure(e))
	}
	byEnd := func(i, j int) bool { return out[i].End < out[j].End }
	if !sort.SliceIsSorted(out, byEnd) {
		sort.SliceStable(out, byEnd)
	}
	return out
}

// loneLists makes failures of the lines by which a relist could not list. There may be a
// million, of few errors.
type loneLists struct {
	room    []replay.Failure
	lines   []replay.Evidence
	fields  []parse.Field // of the line at hand
	details map[string]*replay.FailureDetails
	codes   map[string]string
}

func (l *loneLists) failure(e *parse.Event) *replay.Failure {
	const block = 256
	if len(l.room) == cap(l.room) {
		l.room, l.lines = make([]replay.Failure, 0, block), make([]replay.Evidence, 0, block)
	}
	i := len(l.room)
	l.fields = e.AppendFields(l.fields[:0])
	get := func(name string) string {
		if k := slices.IndexFunc(l.fields, func(f parse.Field) bool { return f.Name == name }); k >= 0 {
			return l.fields[k].Value
		}
		return ""
	}
	err, uid, code := get("err"), get("pod_uid"), get("code")
	d, ok := l.details[err]
	if !ok || uid != "" {
		d = &replay.FailureDetails{Err: err, PodUID: uid}
	}
	if uid == "" {
		l.details[err] = d
	}
	if _, ok := l.codes[code]; !ok {
		l.codes[code] = code
	}
	l.lines = append(l.lines, replay.Evidence{Record: e})
	f := replay.Failure{Call: "GetPods", Scope: "all", Code: l.codes[code], End: e.At, Details: d, Evidence: l.lines[i : i+1 : i+1]}
	if uid != "" { // 1.36 relists single pods on demand
		f.Call, f.Scope = "GetPod", "pod"
	}
	l.room = append(l.room, f)
	return &l.room[i]
}

// failureKinds tells which failures agree in call, scope and code: there are few
// such kinds.
func failureKinds(fails []*replay.Failure) (kinds []uint32, samples []*replay.Failure) {
	type key struct{ call, scope, code string }
	known := map[key]uint32{}
	kinds = make([]uint32, len(fails))
	var last key
	for i, f := range fails {
		k := key{f.Call, f.Scope, f.Code}
		if i > 0 && k == last {
			kinds[i] = kinds[i-1]
			continue
		}
		last = k
		kind, ok := known[k]
		if !ok {
			kind = uint32(len(samples))
			known[k] = kind
			samples = append(samples, f)
		}
		kinds[i] = kind
	}
	return kinds, samples
}

// pick is the failures that a condition wants: by call, by scope, and by code,
// which may also be a pattern for code and error.
type pick struct {
	calls, scopes, codes []string // nil: any
	said                 *said
	known                []picked // of each kind

	from, to int               // the range that was asked about last
	out      []*replay.Failure // those that are wanted there
}

type picked uint8

const (
	notAsked picked = iota
	unwanted
	wanted
	bySaying // it depends on what the error says
)

func (x *failures) pick(args map[string]string) *pick {
	key := args["calls"] + "\x00" + args["scope"] + "\x00" + args["code"]
	p := x.picks[key]
	if p == nil {
		list := func(name string) []string {
			if args[name] == "" {
				return nil
			}
			return strings.Split(args[name], ",")
		}
		p = &pick{calls: list("calls"), scopes: list("scope"), codes: list("code"), known: make([]picked, len(x.samples)), to: -1}
		p.said = x.saying(args["code"])
		x.picks[key] = p
	}
	return p
}

// wants tells whether the failures of a kind are wanted.
func (p *pick) wants(f *replay.Failure) picked {
	among := func(list []string, v string) bool { return list == nil || slices.Contains(list, v) }
	switch {
	case !among(p.calls, f.Call) || !among(p.scopes, f.Scope):
		return unwanted
	case among(p.codes, f.Code):
		return wanted
	case p.said.pattern == nil:
		return unwanted
	}
	return bySaying
}

// of returns those of the failures from one index to before another that a
// condition with these arguments wants. They are good until the next call.
func (x *failures) of(args map[string]string, from, to int) []*replay.Failure {
	p := x.pick(args)
	if p.from == from && p.to == to {
		return p.out
	}
	p.from, p.to, p.out = from, to, p.out[:0]
	for i, kind := range x.kinds[from:to] {
		w := p.known[kind]
		if w == notAsked {
			w = p.wants(x.samples[kind])
			p.known[kind] = w
		}
		if w == wanted || w == bySaying && p.said.match(x, from, to, i) {
			p.out = append(p.out, x.fails[from+i])
		}
	}
	return p.out
}

// said is which failures of a range have a code and an error that a pattern
// matches.
type said struct {
	pattern  *Pattern
	from, to int
	known    []picked
	text     []byte // of the failure at hand
}

func (x *failures) saying(expr string) *said {
	s := x.said[expr]
	if s == nil {
		s = &said{to: -1, pattern: rightPattern(expr)}
		x.said[expr] = s
	}
	return s
}

// match reports whether the pattern matches the i-th failure of a range.
func (s *said) match(x *failures, from, to, i int) bool {
	if s.from != from || s.to != to {
		s.from, s.to = from, to
		s.known = slices.Grow(s.known[:0], to-from)[:to-from]
		clear(s.known)
	}
	if s.known[i] == notAsked {
		f := x.fails[from+i]
		s.text = f.AppendErr(append(append(s.text[:0], f.Code...), ' '))
		if s.known[i] = unwanted; s.pattern.match(s.text) {
			s.known[i] = wanted
		}
	}
	return s.known[i] == wanted
}

// within returns those of the failures, which are sorted, that end in the
// subject's window.
func (s *subject) within(fs []*replay.Failure) []*replay.Failure {
	lo, hi := s.reachOf(fs)
	return fs[lo:hi:hi]
}

// reachOf is the range of them.
func (s *subject) reachOf(fs []*replay.Failure) (lo, hi int) {
	if s.ep == nil {
		return 0, len(fs)
	}
	lo = sort.Search(len(fs), func(i int) bool { return fs[i].End >= s.from })
	hi = sort.Search(len(fs), func(i int) bool { return fs[i].End > s.to })
	return lo, max(lo, hi)
}
