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

// listCalls is what the list phase is charged to where no line tells which of
// its two calls took long.
const listCalls = "list_podsandbox and list_containers"

// byHistogram charges what no line explains of a long relist to the operations
// that took long while it ran, by their histograms. A call is counted when it
// ends, so that those of the relist are in the steps up to the one in which it
// ended itself. Others make such calls too: each share is an upper bound.
func (b *blamer) byHistogram(out *Blame) {
	r := &b.n.Relists[out.Relist]
	rest, generic := out.Unexplained, slices.IndexFunc(out.ByOperation, func(s Share) bool { return s.What == listCalls })
	if generic >= 0 {
		rest += out.ByOperation[generic].Took // which of the two, the histogram may tell
	}
	if rest < replay.LongRelist || !r.End.Known() {
		return
	}
	from, to := r.Start.At-int64(r.Start.Slack), r.End.At+int64(r.End.Slack)
	var found []Share
	for i := range b.n.Calls {
		s := &b.n.Calls[i]
		if s.Long == 0 || s.To <= from || s.From >= to || !slices.Contains(relistCalls, s.Operation) {
			continue
		}
		found = addCalls(found, s)
	}
	slices.SortStableFunc(found, func(x, y Share) int { return cmp.Compare(y.Took, x.Took) })
	for _, f := range found {
		budget := out.Unexplained
		if generic >= 0 && strings.HasPrefix(f.What, "list_") {
			budget += out.ByOperation[generic].Took
		}
		if f.Took = min(f.Took, budget); f.Took == 0 {
			continue
		}
		explained := min(f.Took, out.Unexplained)
		out.Unexplained -= explained
		if f.Took > explained {
			out.ByOperation[generic].Took -= f.Took - explained
		}
		out.ByOperation = append(out.ByOperation, f)
	}
	out.ByOperation = slices.DeleteFunc(out.ByOperation, func(s Share) bool { return s.What == listCalls && s.Took == 0 })
	if len(found) > 0 {
		slices.SortStableFunc(out.ByOperation, func(x, y Share) int { return cmp.Compare(y.Took, x.Took) })
		out.Notes = append(out.Notes, fmt.Sprintf("shares of %s are by its histogram, calls of others included", operationNames(found)))
	}
}

// addCalls adds the long calls of a step to the share of their operation.
func addCalls(in []Share, s *replay.CallStep) []Share {
	took := s.LongMean * time.Duration(s.Long)
	for i := range in {
		if in[i].What == s.Operation {
			in[i].Took += took
			in[i].Calls += s.Long
			if len(in[i].Evidence) < maxShareEvidence {
				in[i].Evidence = append(in[i].Evidence, s.Evidence...)
			}
			return in
		}
	}
	return append(in, Share{What: s.Operation, Took: took, Calls: s.Long, Evidence: slices.Clone(s.Evidence)})
}

func operationNames(in []Share) string {
	s := ""
	for i := range in {
		if i > 0 {
			s += " and "
		}
		s += in[i].What
	}
	return s
}
