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
	fails  []*replay.Failure // by end; relists that failed to list stand as GetPods
	lists  []*replay.Failure
	status []*replay.Failure
	picks  map[string]*pick // by the arguments of a condition
}

func newFailures(calls []replay.Failure, lists []*parse.Event) failures {
	x := failures{fails: withListFailures(calls, lists), picks: map[string]*pick{}}
	for _, f := range x.fails {
		if isList(f) {
			x.lists = append(x.lists, f)
		}
		if isStatus(f) {
			x.status = append(x.status, f)
		}
	}
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
	for _, e := range lines {
		for i < len(calls) && calls[i].End < e.At-layers {
			i++
		}
		told := false
		for j := i; j < len(calls) && calls[j].End <= e.At+layers; j++ {
			told = told || isList(&calls[j])
		}
		if told {
			continue
		}
		out = append(out, &replay.Failure{Call: "GetPods", Scope: "all", Code: e.Field("code"), End: e.At,
			Details: &replay.FailureDetails{Err: e.Field("err")}, Evidence: []replay.Evidence{{Record: e}}})
	}
	byEnd := func(i, j int) bool { return out[i].End < out[j].End }
	if !sort.SliceIsSorted(out, byEnd) {
		sort.SliceStable(out, byEnd)
	}
	return out
}

// pick is the failures that a condition wants: by call, by scope, and by code,
// which may also be a pattern for code and error. Whether it wants one is found
// out when a time is asked about that it lies in.
type pick struct {
	wants func(*replay.Failure) bool
	known []picked // of each failure
}

type picked uint8

const (
	notAsked picked = iota
	unwanted
	wanted
)

// of returns those of the failures from one index to before another that a
// condition with these arguments wants.
func (x *failures) of(args map[string]string, from, to int) (out []*replay.Failure) {
	key := args["calls"] + "\x00" + args["scope"] + "\x00" + args["code"]
	p := x.picks[key]
	if p == nil {
		p = &pick{wants: failureFilter(args), known: make([]picked, len(x.fails))}
		x.picks[key] = p
	}
	n := 0
	for i := from; i < to; i++ {
		if p.known[i] == notAsked {
			if p.known[i] = unwanted; p.wants(x.fails[i]) {
				p.known[i] = wanted
			}
		}
		if p.known[i] == wanted {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out = make([]*replay.Failure, 0, n)
	for i := from; len(out) < n; i++ {
		if p.known[i] == wanted {
			out = append(out, x.fails[i])
		}
	}
	return out
}

func failureFilter(args map[string]string) func(*replay.Failure) bool {
	list := func(name string) func(string) bool {
		if args[name] == "" {
			return func(string) bool { return true }
		}
		have := strings.Split(args[name], ",")
		return func(v string) bool { return slices.Contains(have, v) }
	}
	call, scope, code := list("calls"), list("scope"), list("code")
	p, _ := newPattern(args["code"])
	var text []byte // of the failure at hand
	said := func(f *replay.Failure) []byte {
		text = append(append(text[:0], f.Code...), ' ')
		text = f.AppendErr(text)
		return text
	}
	return func(f *replay.Failure) bool {
		return call(f.Call) && scope(f.Scope) && (code(f.Code) || p != nil && p.match(said(f)))
	}
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
