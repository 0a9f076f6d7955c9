package blame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/replay"
)

// relistCalls are the operations that a relist makes.
var relistCalls = []string{"list_podsandbox", "list_containers", "podsandbox_status", "container_status"}

// listCalls is the operation of the list phase if no line shows which of its two calls
// took long.
const listCalls = "list_podsandbox and list_containers"

// byHistogram attributes what no line explains of a long relist to the operations that
// took long while it ran, according to their histograms. A call is counted when it
// ends, so those of the relist are in the steps up to the one in which it ended. Others
// make such calls too, so each share is an upper bound.
func (b *blamer) byHistogram(out *Blame) {
	r := &b.n.Relists[out.Relist]
	rest, generic := out.Unexplained, slices.IndexFunc(out.ByOperation, func(s Share) bool { return s.What == listCalls })
	if generic >= 0 {
		rest += out.ByOperation[generic].Took // the histogram may show which of the two it was
	}
	if rest < replay.LongRelist || !r.End.Known() {
		return
	}
	from, to := r.Start.Earliest(), r.End.Latest()
	var found []Share
	for i := range b.n.Calls {
		s := &b.n.Calls[i]
		if s.Long == 0 || s.To <= from || s.From >= to || !slices.Contains(relistCalls, s.Operation) {
			continue
		}
		found = addCalls(found, s)
	}
	if len(found) == 0 {
		return
	}
	for i := range found {
		f := &found[i]
		f.Took = min(f.Took, rest)
		explained := min(f.Took, out.Unexplained)
		out.Unexplained -= explained
		if generic >= 0 && isList(f.What) {
			out.ByOperation[generic].Took -= min(f.Took-explained, out.ByOperation[generic].Took)
		}
	}
	out.ByOperation = slices.DeleteFunc(append(out.ByOperation, found...), func(s Share) bool { return s.What == listCalls && s.Took < replay.LongRelist })
	slices.SortStableFunc(out.ByOperation, func(x, y Share) int { return cmp.Compare(y.Took, x.Took) })
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].What
	}
	out.Notes = append(out.Notes, fmt.Sprintf("shares of %s are by its histogram, at most: others make such calls too", strings.Join(names, " and ")))
}

func isList(op string) bool { return strings.HasPrefix(op, "list_") }

// addCalls adds the long calls of a step to the share of their operation. A relist
// makes each of its list calls once, so only the longest possible one counts; the other
// long calls of a step took at least its Edge.
func addCalls(in []Share, s *replay.CallStep) []Share {
	i := slices.IndexFunc(in, func(x Share) bool { return x.What == s.Operation })
	if i < 0 {
		i, in = len(in), append(in, Share{What: s.Operation, AtMost: true})
	}
	x := &in[i]
	if isList(s.Operation) {
		x.Took, x.Calls = max(x.Took, s.Sum-s.Edge*time.Duration(s.Long-1)), 1
	} else {
		x.Took, x.Calls = x.Took+s.Sum, x.Calls+s.Long
	}
	if len(x.Evidence) < maxShareEvidence {
		x.Evidence = append(x.Evidence, s.Evidence...)
	}
	return in
}
