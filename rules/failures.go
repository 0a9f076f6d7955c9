package rules

import (
	"slices"
	"sort"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// failure is a failed CRI call, or a failed list that only PLEG's own line reports. There
// may be a million of the latter: they share few replay.Failures, and what they say stays in
// the line.
type failure struct {
	*replay.Failure
	line *parse.Event   // PLEG's own line; nil for a call
	err  parse.StringID // the error in line, to tell whether two are the same
}

// Err returns the error as logged.
func (f failure) Err() string {
	if f.line != nil {
		return f.line.Field("err")
	}
	return f.Failure.Err()
}

// AppendErr appends the result of Err to dst, for callers that visit many failures.
func (f failure) AppendErr(dst []byte) []byte {
	if f.line != nil {
		return f.line.AppendField(dst, "err")
	}
	return f.Failure.AppendErr(dst)
}

// PodUID returns the UID of the pod.
func (f failure) PodUID() string {
	if f.line != nil && f.Scope == "pod" {
		return f.line.Field("pod_uid")
	}
	return f.Failure.PodUID()
}

// End returns when the call failed, Unix ns.
func (f failure) End() int64 {
	if f.line != nil {
		return f.line.At
	}
	return f.Failure.End
}

// Evidence returns the lines that report the failure.
func (f failure) Evidence() []replay.Evidence {
	if f.line != nil {
		return []replay.Evidence{{Record: f.line}}
	}
	return f.Failure.Evidence
}

// failures indexes the failed CRI calls of a node by what the conditions ask for. Every
// episode asks the same about its own window, so answers are cached; it is not safe for
// concurrent use (see fork).
type failures struct {
	fails   []failure // by End; relists that failed to list are included as GetPods
	lists   []failure
	status  []failure
	kinds   []uint32         // kind of each of fails, an index into samples
	samples []failure        // one failure of each kind
	picks   map[string]*pick // by the arguments of a condition
	said    map[string]*said // by pattern
}

func newFailures(n *replay.Node, lists []*parse.Event) failures {
	x := failures{fails: withListFailures(n.Failures, lists, n.Columns("err", "pod_uid", "code"))}
	x.lists = those(x.fails, func(i int) bool { return isList(x.fails[i].Failure) }, nil)
	x.status = those(x.fails, func(i int) bool { return isStatus(x.fails[i]) }, nil)
	x.kinds, x.samples = failureKinds(x.fails)
	return x.fork()
}

// those returns the wanted failures: all itself if it wants every one, otherwise a slice
// that reuses room.
func those(all []failure, wanted func(i int) bool, room []failure) []failure {
	n := 0
	for n < len(all) && wanted(n) {
		n++
	}
	if n == len(all) {
		return all
	}
	out := append(room[:0], all[:n]...)
	for i := n + 1; i < len(all); i++ {
		if wanted(i) {
			out = append(out, all[i])
		}
	}
	return out
}

// fork returns a copy with caches of its own.
func (x failures) fork() failures {
	x.picks, x.said = map[string]*pick{}, map[string]*said{}
	return x
}

// withListFailures adds the relists whose failure to list is reported only by PLEG's own
// line, as calls of GetPods.
func withListFailures(calls []replay.Failure, lines []*parse.Event, fields *parse.Columns) []failure {
	out := make([]failure, len(calls), len(calls)+len(lines))
	for i := range calls {
		out[i].Failure = &calls[i]
	}
	const layers = int64(20e6) // all layers log one failure within 20 ms
	i := 0
	lone := loneLists{fields, map[loneKind]*replay.Failure{}}
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
	byEnd := func(i, j int) bool { return out[i].End() < out[j].End() }
	if !sort.SliceIsSorted(out, byEnd) {
		sort.SliceStable(out, byEnd)
	}
	return out
}

// loneLists shares one replay.Failure among list failures of a kind that only PLEG's own line
// reports.
type loneLists struct {
	fields *parse.Columns // err, pod_uid, code
	of     map[loneKind]*replay.Failure
}

type loneKind struct {
	code parse.StringID
	pod  bool // of a single pod, which 1.36 relists on demand
}

func (l *loneLists) failure(e *parse.Event) failure {
	var row [3]parse.StringID
	l.fields.Read(e, row[:])
	k := loneKind{row[2], row[1] != 0}
	f := l.of[k]
	if f == nil {
		f = &replay.Failure{Call: "GetPods", Scope: "all", Code: e.Field("code")}
		if k.pod {
			f.Call, f.Scope = "GetPod", "pod"
		}
		l.of[k] = f
	}
	return failure{f, e, row[0]}
}

// failureKinds groups failures by call, scope and code. There are few such kinds.
func failureKinds(fails []failure) (kinds []uint32, samples []failure) {
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

// pick selects the failures that a condition wants: by call, by scope, and by code, where
// the code may also be a pattern for code and error.
type pick struct {
	calls, scopes, codes []string // nil means any
	said                 *said
	known                []picked // decision for each kind

	from, to  int       // the last range queried
	out, room []failure // the result for that range, and its buffer
}

type picked uint8

const (
	notAsked picked = iota
	unwanted
	wanted
	bySaying // depends on the error text
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

// wants decides whether the failures of the kind of f are wanted.
func (p *pick) wants(f failure) picked {
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

// of returns the failures with index in [from, to) that a condition with these arguments
// wants. The slice is valid until the next call.
func (x *failures) of(args map[string]string, from, to int) []failure {
	p := x.pick(args)
	if p.from == from && p.to == to {
		return p.out
	}
	p.from, p.to = from, to
	p.out = those(x.fails[from:to:to], func(i int) bool {
		kind := x.kinds[from+i]
		w := p.known[kind]
		if w == notAsked {
			w = p.wants(x.samples[kind])
			p.known[kind] = w
		}
		return w == wanted || w == bySaying && p.said.match(x, from, to, i)
	}, p.room)
	if len(p.out) < to-from {
		p.room = p.out
	}
	return p.out
}

// said caches which failures of a range have a code and error that match a pattern.
type said struct {
	pattern  *pattern.Pattern
	from, to int
	known    []picked
	text     []byte // scratch space
}

func (x *failures) saying(expr string) *said {
	s := x.said[expr]
	if s == nil {
		s = &said{to: -1, pattern: pattern.Lazy(expr)}
		x.said[expr] = s
	}
	return s
}

// match reports whether the pattern matches the i-th failure of the range.
func (s *said) match(x *failures, from, to, i int) bool {
	if s.from != from || s.to != to {
		s.from, s.to = from, to
		s.known = slices.Grow(s.known[:0], to-from)[:to-from]
		clear(s.known)
	}
	if s.known[i] == notAsked {
		f := x.fails[from+i]
		s.text = f.AppendErr(append(append(s.text[:0], f.Code...), ' '))
		if s.known[i] = unwanted; s.pattern.Match(s.text) {
			s.known[i] = wanted
		}
	}
	return s.known[i] == wanted
}

// within returns the failures, which must be sorted, that end in the subject's window.
func (s *subject) within(fs []failure) []failure {
	lo, hi := s.reachOf(fs)
	return fs[lo:hi:hi]
}

// reachOf returns the index range of within.
func (s *subject) reachOf(fs []failure) (lo, hi int) {
	if s.ep == nil {
		return 0, len(fs)
	}
	lo = sort.Search(len(fs), func(i int) bool { return fs[i].End() >= s.from })
	hi = sort.Search(len(fs), func(i int) bool { return fs[i].End() > s.to })
	return lo, max(lo, hi)
}
