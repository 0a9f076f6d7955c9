package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// statusOps are the operations that a relist calls serially for each changed pod: one per
// sandbox and one per container. listOps are those that it calls once.
var (
	statusOps = []string{"podsandbox_status", "container_status"}
	listOps   = []string{"list_podsandbox", "list_containers"}
)

// callSum is what the metrics say about one operation while a relist ran: the calls that
// ended then, and their total duration.
type callSum struct {
	op            string
	calls, errors int
	longs         int           // calls of 10 s and more
	sum, long     time.Duration // total duration; that of the calls of 10 s and more
	most          time.Duration // largest sum of one step
	evidence      []replay.Evidence
}

func (c *callSum) mean() time.Duration { return c.sum / time.Duration(max(c.calls, 1)) }

// slowTime is a relist of 10 s or more, or several that the metrics do not separate, with
// its minimum duration.
type slowTime struct {
	from, to int64 // Unix ns
	relists  int
	took     time.Duration
	what     func() string // description for a reader
	evidence []replay.Evidence
}

// slowTimes returns the slow relists of the subject's window, longest first: those with a
// known start and end, those whose duration the metrics prove, and that of the episode
// itself.
func (s *subject) slowTimes() (out []slowTime) {
	var until []int64 // latest end of each and all before it
	counts := func(from, to int64, took time.Duration) bool {
		return took >= slowRelist && (s.ep == nil || to >= s.from+lookBack && from <= s.end)
	}
	add := func(x slowTime) {
		last := x.to
		for i := len(out) - 1; i >= 0 && until[i] >= x.from; i-- {
			if y := &out[i]; y.took >= x.took && y.from <= x.to && x.from <= y.to {
				return
			}
		}
		if len(until) > 0 {
			last = max(last, until[len(until)-1])
		}
		out, until = append(out, x), append(until, last)
	}
	for i := range s.n.Relists {
		r := &s.n.Relists[i]
		if took := longOf(r); counts(r.Start.At, r.Start.At+int64(took), took) {
			add(slowTime{r.Start.At, r.Start.At + int64(took), 1, took, func() string {
				return "the " + parse.About(took, r.Slack()) + " relist of " + clock(r.Start.At)
			}, r.Evidence})
		}
	}
	for i := range s.n.Proofs {
		p := &s.n.Proofs[i]
		from := min(p.From, p.To-int64(p.SumMin))
		if p.Kind != replay.ProofLong && p.Kind != replay.ProofRelist || !counts(from, p.To, p.SumMin) {
			continue
		}
		add(slowTime{from, p.To, max(p.Count, 1), p.SumMin, func() string {
			what := "a relist of at least " + parse.Least(p.SumMin)
			if p.Kind == replay.ProofLong && p.Count > 1 {
				what = "the at least " + parse.Least(p.SumMin) + " of " + strconv.Itoa(p.Count) + " relists"
			}
			return what + " up to " + clock(p.To)
		}, p.Evidence})
	}
	if s.ep != nil && s.ep.LastStart.Known() && len(s.ep.LastStarts) <= 1 {
		if until := max(s.ep.Recovered.At, s.ep.LastReport); counts(s.ep.LastStart.At, until, s.ep.PeakAge) {
			add(slowTime{s.ep.LastStart.At, until, 1, s.ep.PeakAge, func() string {
				return "the at least " + parse.Least(s.peakOf(s.ep)) + " since the relist of " + clock(s.ep.LastStart.At)
			}, s.reports(1)})
		}
	}
	slices.SortStableFunc(out, func(a, b slowTime) int { return cmp.Compare(b.took, a.took) })
	return out
}

// callsDuring sums up, by operation, the calls that ended in the metrics steps that overlap
// t. A step that lies mostly before t is excluded, since its calls probably ended before.
// Other parts of the kubelet make such calls too, so each sum is an upper bound. The
// evidence of the last step with long calls comes first.
func (s *subject) callsDuring(t *slowTime, ops []string) (out []callSum) {
	for i := range s.n.Calls {
		c := &s.n.Calls[i]
		before := c.From < t.from && c.To < t.to && 2*(c.To-t.from) < c.To-c.From
		if c.Whole || c.To <= t.from || c.From >= t.to || before || c.Calls == 0 || !slices.Contains(ops, c.Operation) {
			continue
		}
		at := slices.IndexFunc(out, func(x callSum) bool { return x.op == c.Operation })
		if at < 0 {
			out, at = append(out, callSum{op: c.Operation}), len(out)
		}
		x := &out[at]
		x.calls, x.errors, x.sum = x.calls+c.Calls, x.errors+c.Errors, x.sum+c.Sum
		x.longs, x.long = x.longs+c.Long, x.long+c.LongMean*time.Duration(c.Long)
		if x.evidence = append(x.evidence, c.Evidence...); c.Sum >= x.most/2 {
			x.most, x.evidence = max(c.Sum, x.most), append(slices.Clone(c.Evidence), x.evidence[:len(x.evidence)-len(c.Evidence)]...)
		}
	}
	return out
}

// Limits for explaining a relist by the sum of its calls.
const (
	leastCalls = 50  // minimum number of status calls
	leastShare = 0.4 // minimum share of the relist's duration
	wholeShare = 0.8 // share that counts as a full explanation
)

// evalSerialCalls multiplies: a relist makes its status calls serially, so their number
// times their mean is their cost. Up to 1.35 each pod is listed again too.
func evalSerialCalls(s *subject, _ map[string]string) outcome {
	if len(s.n.Calls) == 0 {
		return cannotLook()
	}
	listed, known := s.kubeletIn("<1.36")
	for _, t := range s.slowTimes() {
		calls := s.callsDuring(&t, statusOps)
		if callsOf(calls, statusOps...) < leastCalls || slices.ContainsFunc(calls, hangs) {
			continue
		}
		if pods := callsOf(calls, "podsandbox_status"); listed && known && pods > 0 {
			for _, c := range s.callsDuring(&t, listOps) {
				if hangs(c) { // its mean is that of the few which hung, perhaps the relist's own
					continue
				}
				n := min(c.calls, pods)
				calls = append(calls, callSum{op: c.op, calls: n, sum: c.mean() * time.Duration(n), evidence: c.evidence})
			}
		}
		all := time.Duration(0)
		for i := range calls {
			all += calls[i].sum
		}
		if float64(all-s.besides(&t)) < leastShare*float64(t.took) {
			continue // the relists besides it may have made most of the calls
		}
		if o := t.explained(calls); o.state == Found {
			return o
		}
	}
	return notThere()
}

// besides returns the total duration of other relists that ended in the metrics steps that
// overlap a slow one.
func (s *subject) besides(t *slowTime) time.Duration {
	all := time.Duration(0)
	for i := range s.n.Proofs {
		if p := &s.n.Proofs[i]; p.Kind == replay.ProofCount && p.To > t.from && p.From < t.to {
			all += p.Sum
		}
	}
	return max(all-t.took, 0)
}

// slowStatus is the mean duration above which the runtime is slow, regardless of the number
// of calls. Answers from memory take milliseconds, those of a busy docker a few hundred.
const slowStatus = time.Second

// hangs reports whether something other than the number of calls takes the time: some do
// not return, or each takes too long.
func hangs(c callSum) bool { return c.mean() > slowStatus || c.long > c.sum/4 || c.errors*10 > c.calls }

func callsOf(calls []callSum, ops ...string) (n int) {
	for i := range calls {
		if slices.Contains(ops, calls[i].op) {
			n += calls[i].calls
		}
	}
	return n
}

// evalSlowLists adds: a relist lists sandboxes and then containers, each once. If calls
// took 10 s or more, their mean is used, since the others did not belong to the slow
// relist. A call that took longer than the relist did not belong to it either.
func evalSlowLists(s *subject, _ map[string]string) outcome {
	if len(s.n.Calls) == 0 {
		return cannotLook()
	}
	in, known := s.kubeletIn(">=1.36")
	onePod := in && known // a failed list may be about one pod
	for _, t := range s.slowTimes() {
		calls := s.callsDuring(&t, listOps)
		for i := range calls {
			c, n := &calls[i], t.relists
			if c.longs > 0 {
				n, c.calls, c.sum = min(n, c.longs), c.longs, c.long
			}
			c.calls, c.sum = n, c.mean()*time.Duration(n)
		}
		calls = slices.DeleteFunc(calls, func(c callSum) bool {
			return c.sum > t.took+t.took/20 || c.errors > 0 && onePod // the failed call may be what took the time
		})
		if o := t.explained(calls); o.state == Found {
			return o
		}
	}
	return notThere()
}

func (c *callSum) product() string {
	calls := " calls × "
	if c.calls == 1 {
		calls = " call × "
	}
	return strconv.Itoa(c.calls) + " " + c.op + calls + parse.Short(c.mean()) + " = " + parse.Short(c.sum)
}

// explained states how much of the time calls explain. It omits calls that take less than
// 2% of it.
func (t *slowTime) explained(calls []callSum) outcome {
	slices.SortStableFunc(calls, func(a, b callSum) int { return cmp.Compare(b.sum, a.sum) })
	var words []string
	var es []replay.Evidence
	sum := time.Duration(0)
	for i := range calls {
		if c := &calls[i]; c.sum > t.took/50 {
			words, es, sum = append(words, c.product()), append(es, c.evidence...), sum+c.sum
		}
	}
	if float64(sum) < leastShare*float64(t.took) || float64(t.took) < leastShare*float64(sum) { // too little, or mostly calls of others
		return notThere()
	}
	share := parse.Short(sum) + " of " + t.what()
	switch {
	case sum > t.took+t.took/20:
		share = parse.Short(sum) + ", calls of others included, for " + t.what()
	case sum >= t.took: // the mean and the duration were measured independently
		share = "all of " + t.what()
	}
	o := found(append(es, t.evidence[len(t.evidence)-min(1, len(t.evidence)):]...)...)
	o.source = "arithmetic"
	o.factor = min(1, float64(sum)/float64(t.took)/wholeShare, float64(t.took)/float64(sum)/wholeShare) // time in excess of the relist's belongs to other callers
	o.vars = map[string]string{"sums": strings.Join(words, ", "), "share": share}
	return o
}

// evalHungCalls finds calls that timed out by their metrics: their total duration is at
// least 90% of their number times the timeout. If the timeout is only assumed, the long
// calls must also have taken that long on average.
func evalHungCalls(s *subject, args map[string]string) outcome {
	// From 1.36 on a list may be about one pod, which the metrics do not distinguish.
	lists := strings.Contains(args["operations"], "list_")
	if in, known := s.kubeletIn("<1.36"); len(s.n.Calls) == 0 || lists && !(in && known) {
		return cannotLook()
	}
	none := notThere()
	for i := range s.n.Calls {
		c := &s.n.Calls[i]
		if c.Errors == 0 || c.Whole || !slices.Contains(strings.Split(args["operations"], ","), c.Operation) || s.ep != nil && (c.To < s.from+lookBack || c.From > s.to) {
			continue
		}
		if of := time.Duration(c.Errors) * time.Duration(s.t); c.Sum < of*9/10 {
			continue
		}
		if off := int64(c.LongMean) - s.t; !s.n.Kubelet.TimeoutKnown && (off < -s.t/50 || off > s.t/50) {
			none = cannotLook()
			continue
		}
		o := found(c.Evidence...)
		x := callSum{op: c.Operation, calls: c.Errors, sum: time.Duration(c.Errors) * time.Duration(s.t)}
		o.source, o.vars = "metrics", map[string]string{"sums": x.product(), "sum": parse.Short(c.Sum), "to": clock(c.To)}
		return o
	}
	return none
}
