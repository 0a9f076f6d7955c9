package rules

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// failures are the failed CRI calls of a node by what is asked about them. Every
// episode asks the same, each about its own time.
type failures struct {
	fails  []replay.Failure // by end; relists that failed to list stand as GetPods
	lists  []*replay.Failure
	status []*replay.Failure
	picked map[string][]*replay.Failure // by the arguments of a condition
}

func newFailures(calls []replay.Failure, lists []*parse.Event) failures {
	x := failures{fails: withListFailures(calls, lists), picked: map[string][]*replay.Failure{}}
	for i := range x.fails {
		f := &x.fails[i]
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
func withListFailures(calls []replay.Failure, lines []*parse.Event) []replay.Failure {
	out := calls[:len(calls):len(calls)]
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
		out = append(out, replay.Failure{Call: "GetPods", Scope: "all", Code: e.Field("code"), Err: e.Field("err"), End: e.At,
			Evidence: []replay.Evidence{{Record: e}}})
	}
	byEnd := func(a, b replay.Failure) int { return cmp.Compare(a.End, b.End) }
	if !slices.IsSortedFunc(out, byEnd) {
		out = slices.Clone(out)
		slices.SortStableFunc(out, byEnd)
	}
	return out
}

// of returns the failures that a condition with these arguments wants: by call,
// by scope, and by code, which may also be a pattern for code and error.
func (x *failures) of(args map[string]string) []*replay.Failure {
	key := args["calls"] + "\x00" + args["scope"] + "\x00" + args["code"]
	out, known := x.picked[key]
	if known {
		return out
	}
	wanted := failureFilter(args)
	for i := range x.fails {
		if wanted(&x.fails[i]) {
			out = append(out, &x.fails[i])
		}
	}
	x.picked[key] = out
	return out
}

func failureFilter(args map[string]string) func(*replay.Failure) bool {
	list := func(name string) func(string) bool {
		if args[name] == "" {
			return func(string) bool { return true }
		}
		have := strings.Split(args[name], ",")
		return func(v string) bool { return contains(have, v) }
	}
	call, scope, code := list("calls"), list("scope"), list("code")
	p, _ := newPattern(args["code"])
	return func(f *replay.Failure) bool {
		return call(f.Call) && scope(f.Scope) && (code(f.Code) || p != nil && p.MatchString(f.Code+" "+f.Err))
	}
}

// within returns those of the failures, which are sorted, that end in the
// subject's window.
func (s *subject) within(fs []*replay.Failure) []*replay.Failure {
	if s.ep == nil {
		return fs
	}
	lo := sort.Search(len(fs), func(i int) bool { return fs[i].End >= s.from })
	hi := sort.Search(len(fs), func(i int) bool { return fs[i].End > s.to })
	return fs[lo:max(lo, hi):max(lo, hi)]
}
