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

// statusOps are the operations of which a relist makes one a sandbox and one a
// container of each changed pod, one after the other; listOps those that it makes
// once.
var (
	statusOps = []string{"podsandbox_status", "container_status"}
	listOps   = []string{"list_podsandbox", "list_containers"}
)

// callSum is what the metrics say of one operation while a relist ran: calls that
// ended then, and how long they took together.
type callSum struct {
	op            string
	calls, errors int
	longs         int           // of 10 s and more
	sum, long     time.Duration // together, and those of 10 s and more
	most          time.Duration // of one step
	evidence      []replay.Evidence
}

func (c *callSum) mean() time.Duration { return c.sum / time.Duration(max(c.calls, 1)) }

// slowTime is a relist of 10 s and more, or several that the metrics count
// together, and how long it took at least.
type slowTime struct {
	from, to int64
	relists  int
	took     time.Duration
	what     string // in words
	evidence []replay.Evidence
}

// slowTimes are the slow relists of the subject's time, longest first: those with
// a start and an end, those of which the metrics prove the length, and the one that
// an episode is made of.
func (s *subject) slowTimes() (out []slowTime) {
	var until []int64 // of each and those before it, the last end
	add := func(x slowTime) {
		if x.took < slowRelist || s.ep != nil && (x.to < s.from+lookBack || x.from > s.end) {
			return
		}
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
		if r := &s.n.Relists[i]; longOf(r) >= slowRelist {
			add(slowTime{r.Start.At, r.Start.At + int64(longOf(r)), 1, longOf(r), "the " + parse.About(longOf(r), r.Slack()) + " relist of " + clock(r.Start.At), r.Evidence})
		}
	}
	for i := range s.n.Proofs {
		p := &s.n.Proofs[i]
		if p.Kind != replay.ProofLong && p.Kind != replay.ProofRelist {
			continue
		}
		what := "a relist of at least " + parse.Least(p.SumMin)
		if p.Kind == replay.ProofLong && p.Count > 1 {
			what = "the at least " + parse.Least(p.SumMin) + " of " + strconv.Itoa(p.Count) + " relists"
		}
		add(slowTime{min(p.From, p.To-int64(p.SumMin)), p.To, max(p.Count, 1), p.SumMin, what + " up to " + clock(p.To), p.Evidence})
	}
	if s.ep != nil && s.ep.LastStart.Known() && len(s.ep.LastStarts) <= 1 {
		add(slowTime{s.ep.LastStart.At, max(s.ep.Recovered.At, s.ep.LastReport), 1, s.ep.PeakAge, "the at least " + parse.Least(s.peakOf(s.ep)) + " since the relist of " + clock(s.ep.LastStart.At), s.reports(1)})
	}
	slices.SortStableFunc(out, func(a, b slowTime) int { return cmp.Compare(b.took, a.took) })
	return out
}

// callsDuring sums up the steps of the metrics in which calls of a time ended. A step of
// which most lies before it tells of calls before it. Others make such calls too, so each
// is an upper bound. What the last step with long calls shows is quoted first.
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

// Bounds of the arithmetic of calls: so many make a row of them, and such a share
// of a relist explains it.
const (
	leastCalls = 50
	leastShare = 0.4
	wholeShare = 0.8 // from here on it explains all
)

// evalSerialCalls multiplies: the status calls of a relist are made one after the
// other, so their number times their mean is what they cost it. Up to 1.35 each
// pod is listed again too.
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
				n := min(c.calls, pods)
				calls = append(calls, callSum{op: c.op, calls: n, sum: c.mean() * time.Duration(n), evidence: c.evidence})
			}
		}
		all := time.Duration(0)
		for i := range calls {
			all += calls[i].sum
		}
		if float64(all-s.besides(&t)) < leastShare*float64(t.took) {
			continue // the relists beside it may have made most of them
		}
		if o := t.explained(calls); o.state == Found {
			return o
		}
	}
	return notThere()
}

// besides is how long the other relists took that ended in the steps of the metrics in
// which a slow one may have.
func (s *subject) besides(t *slowTime) time.Duration {
	all := time.Duration(0)
	for i := range s.n.Proofs {
		if p := &s.n.Proofs[i]; p.Kind == replay.ProofCount && p.To > t.from && p.From < t.to {
			all += p.Sum
		}
	}
	return max(all-t.took, 0)
}

// slowStatus is the mean from which it is the runtime that is slow, however many
// calls are made: answers from memory take milliseconds, those of a busy docker
// some hundred.
const slowStatus = time.Second

// hangs reports whether it is not the number of calls that takes the time: some do
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

// evalSlowLists adds: a relist lists sandboxes and then containers, each once. Where
// calls took 10 s and more, theirs is the mean, since the others are not the slow
// relist's; a call that took longer than the relist is none of its own.
func evalSlowLists(s *subject, _ map[string]string) outcome {
	if len(s.n.Calls) == 0 {
		return cannotLook()
	}
	in, known := s.kubeletIn(">=1.36")
	onePod := in && known // a list that failed may be about one pod
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
			return c.sum > t.took+t.took/20 || c.errors > 0 && onePod // it may be what waited
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

// explained says how much of the time calls explain; of those that matter little
// it says nothing.
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
	if float64(sum) < leastShare*float64(t.took) || float64(t.took) < leastShare*float64(sum) { // so many are of others
		return notThere()
	}
	share := parse.Short(sum) + " of " + t.what
	switch {
	case sum > t.took+t.took/20:
		share = parse.Short(sum) + ", calls of others included, for " + t.what
	case sum >= t.took: // a mean and a length that were measured apart
		share = "all of " + t.what
	}
	o := found(append(es, t.evidence[len(t.evidence)-min(1, len(t.evidence)):]...)...)
	o.source = "arithmetic"
	o.factor = min(1, float64(sum)/float64(t.took)/wholeShare, float64(t.took)/float64(sum)/wholeShare) // of more than it took, others made the rest
	o.vars = map[string]string{"sums": strings.Join(words, ", "), "share": share}
	return o
}

// evalHungCalls finds calls that failed at their deadline by what the metrics say
// of them: their number times the deadline is how long they took. A deadline that is
// only assumed has to be what the long calls took on average.
func evalHungCalls(s *subject, args map[string]string) outcome {
	// From 1.36 on a list may be about one pod, and the metrics do not tell.
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
