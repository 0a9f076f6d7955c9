package simulate

import (
	"container/heap"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// work is what one relist had to do, and how long each part took.
type work struct {
	start   int64
	next    int64         // start of the next recorded relist, 0 unknown
	list    time.Duration // -1 unstated
	listErr string
	inspect func(uid string) (InspectOutcome, bool)
	proof   *Proof
}

// durations returns how long listing and the whole relist take. Calls that timed out
// count as the timeout if no duration is stated, unless the next recorded relist began
// too early for that.
func (w *work) durations(inspected []string, p *pleg.Profile) (list, total time.Duration) {
	if w.proof != nil { // only what the log proves counts
		total = time.Duration(max(w.proof.End-w.start, 0))
		return min(max(w.list, 0), total), total
	}
	list, guessed := known(w.list, w.listErr, p.RPCTimeout)
	jobs := make([]time.Duration, 0, len(inspected))
	job := make(map[string]int) // by UID: index in jobs; a pod's second inspection follows its first
	for _, uid := range inspected {
		o, ok := w.inspect(uid)
		if !ok {
			continue
		}
		d, g := known(o.Took, o.Err, p.RPCTimeout)
		guessed = guessed || g
		if i, again := job[uid]; again {
			jobs[i] += d
			continue
		}
		job[uid] = len(jobs)
		jobs = append(jobs, d)
	}
	total = list + parallel(jobs, p.Parallel)
	if room := time.Duration(w.next-w.start) - p.Period; guessed && w.next != 0 && total > room {
		total = max(room, 0)
		list = min(list, total)
	}
	return list, total
}

// known returns how long a call took, and whether that is inferred.
func known(took time.Duration, err string, timeout time.Duration) (time.Duration, bool) {
	switch {
	case took >= 0:
		return took, false
	case replay.TimedOut(err):
		return timeout, true
	}
	return 0, false
}

// parallel returns how long n workers need for the jobs, each taking the next job when
// it is free.
func parallel(jobs []time.Duration, n int) time.Duration {
	if n = min(n, len(jobs)); n <= 1 {
		var sum time.Duration
		for _, d := range jobs {
			sum += d
		}
		return sum
	}
	free := make(workers, n) // all zero: already a heap
	for _, d := range jobs {
		free[0] += d
		heap.Fix(&free, 0)
	}
	return slices.Max(free)
}

// workers is a heap of the times at which workers are free. Only its first element ever
// changes.
type workers []time.Duration

func (w workers) Len() int           { return len(w) }
func (w workers) Less(i, j int) bool { return w[i] < w[j] }
func (w workers) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (workers) Push(any)             {}
func (workers) Pop() any             { return nil }
