package snapshots

import (
	"cmp"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// proveRelists dates single relists: those that one snapshot after the other
// shows running, and those over 10 s that ended alone between two snapshots.
// shots are those of one process.
func proveRelists(shots []*shot) []Proof {
	idle := idleAhead(shots)
	var out []Proof
	if p, ok := firstRelist(shots[0]); ok {
		out = append(out, p)
	}
	for i := 0; i < len(shots); {
		j := i
		for j+1 < len(shots) && shots[j+1].count == shots[i].count && cmp.Compare(shots[j+1].icount, shots[i].icount) == 0 { // or both unknown
			j++
		}
		d := dating{shots: shots, i: i, j: j, running: shots[i].running(idle), idle: shots[i].count-shots[i].icount == idle}
		if p, ok := d.relist(); ok {
			out = append(out, p)
		}
		i = j + 1
	}
	return out
}

// firstRelist dates the only long relist of a process that ended before its
// first snapshot.
func firstRelist(t *shot) (Proof, bool) {
	p, ok := proveLong(t.zero(), t)
	if !ok || p.Count != 1 || p.From == 0 || t.at-p.From < int64(p.SumMin) {
		return Proof{}, false
	}
	p.Kind, p.Whole = ProofRelist, true
	p.Start = host.Between(p.From, t.at-int64(p.SumMin))
	p.End = host.Between(p.From+int64(p.SumMin), t.at)
	return p, true
}

// idleAhead is by how many the relists ended are ahead of the intervals
// observed while none runs.
func idleAhead(shots []*shot) float64 {
	idle := 1.0
	for _, t := range shots {
		idle = max(idle, t.count-t.icount)
	}
	return idle
}

// running reports whether a relist was under way at the snapshot.
func (t *shot) running(idle float64) bool { return t.icount >= 1 && t.count-t.icount == idle-1 }

// dating is the search for the bounds of the relist that snapshots i to j, among
// which nothing began or ended, may show running, and that ends before the next.
type dating struct {
	shots   []*shot
	i, j    int
	running bool
	idle    bool // none runs; before the first that lists, which observes no interval, neither can be told
}

// relist bounds start and end of the relist. It is false where nothing proves
// one of at least 10 s, or where several could be meant.
func (d *dating) relist() (Proof, bool) {
	a, z := d.shots[d.i], d.shots[d.j]
	var b *shot
	if d.j+1 < len(d.shots) {
		b = d.shots[d.j+1]
	}
	twice := d.running && z.at-a.at >= int64(LongRelist) // the same one, twice
	p := Proof{Kind: ProofRelist, From: a.at, To: z.at, Count: 1, SumMin: time.Duration(z.at - a.at)}
	lo, hi := d.began()
	if b == nil {
		p.Start = host.Between(lo, hi)
		p.Evidence = append(a.cite("a relist was running", "count", "icount"), z.cite("and still was", "count", "icount")...)
		return p, twice
	}
	long, ok := proveLong(z, b)
	ok = ok && long.Count == 1
	within := ok && time.Duration(b.by()-z.at) > long.SumMin // it may have begun after the snapshot
	switch {
	case twice && !ok:
	case ok && !within:
		if !d.running && z != a { // only by the last of them, and none ended since the first
			hi += int64(pauseMost)
		}
		d.running = true // or it would not have ended so soon
	case ok && d.running && time.Duration(z.at-hi)+long.SumMin > long.Sum:
		// Another one would have been too much beside what the running one took.
	case ok && d.idle:
		lo, hi = z.at, b.by()
	case ok && !d.running:
		hi = b.by()
	case twice && time.Duration(z.at-a.at) <= long.SumMax:
		// The one seen running is over 10 s, and only one such ended.
	default:
		return Proof{}, false
	}
	endLo, endHi := z.at, b.by()
	if ok {
		p.SumMin, p.SumMax = long.SumMin, long.SumMax
		lo, hi = max(lo, endLo-int64(p.SumMax)), min(hi, endHi-int64(p.SumMin))
		endLo, endHi = max(endLo, lo+int64(p.SumMin)), min(endHi, hi+int64(p.SumMax))
	}
	if lo > hi || endLo > endHi {
		return Proof{}, false // clocks that do not agree
	}
	p.Step, p.To, p.Start, p.End = z.at, b.at, host.Between(lo, hi), host.Between(endLo, endHi)
	p.Listed = d.listed(z, b, &long)
	_, p.Pods = podSeconds(z, b)
	note := "the snapshot before"
	if d.running {
		note = "a relist was running here"
	} else if d.idle {
		note = "no relist was running here"
	}
	p.Evidence = append(z.cite(note, "count", "sum", "icount"), b.cite("it ended before this snapshot, after about "+parse.Short(seconds(b.sum-z.sum)), "count", "sum", "icount")...)
	return p, true
}

// by is when the snapshot was taken at the latest.
func (t *shot) by() int64 { return By(t.at) }

// By is the latest moment that the time of a snapshot can mean: a whole second is a stamp
// that was cut.
func By(at int64) int64 {
	if at%int64(time.Second) != 0 {
		return at
	}
	return at + int64(time.Second)
}

// began bounds the start of the relist that runs at snapshot i: after the last
// snapshot that saw an earlier one end, and not before the last start of one
// that listed pods. Each begins as long after the last one that listed as it observes, so
// that sums of intervals lead from the relists at hand by other snapshots to this one,
// and too far only where a list failed in between: what ran by a snapshot before began
// no later, what the gauge names in one behind no sooner.
func (d *dating) began() (lo, hi int64) {
	t := d.shots[d.i]
	hi = t.by()
	switch {
	case d.i > 0:
		lo = d.shots[d.i-1].at
	case t.start > 0 && t.start < 1e10:
		lo = int64(t.start * 1e9)
	}
	if t.lastSeen > 0 {
		lo = max(lo, int64(t.lastSeen)*1e9)
	}
	if !d.running {
		return min(lo, hi), hi
	}
	const reach = 64 // snapshots on either side
	for _, u := range d.shots[max(d.i-reach, 0):min(d.i+reach, len(d.shots))] {
		switch past := seconds(t.isum - u.isum); {
		case !(t.isum >= 0 && u.isum >= 0):
		case u.at < t.at && past > 0:
			hi = min(hi, u.by()+int64(past))
		case u.at >= t.at && u.lastSeen > 0 && u.lastSeen < 1e10:
			lo = max(lo, int64(u.lastSeen)*1e9+int64(past))
		}
	}
	return min(lo, hi), hi
}

// pauseMost is the longest pause between two relists: a period and a late timer.
const pauseMost = 1600 * time.Millisecond

// listed tells by the interval that the next relist observed whether this one
// listed pods: the interval counts from the start of the last that did. Known only
// where just this one ended and just the next began; relists of single pods on demand
// make the next one wait.
func (d *dating) listed(z, b *shot, long *Proof) *bool {
	if long.Count != 1 || b.count-z.count != 1 || b.icount-z.icount != 1 {
		return nil
	}
	onDemand, _ := podSeconds(z, b)
	switch pause := b.isum - z.isum - (b.sum - z.sum); {
	case pause < 0.9:
		return nil
	case pause < pauseMost.Seconds():
		return new(true)
	case pause >= 1.9+onDemand: // a period more: it counts from the one before
		return new(false)
	}
	return nil
}

// proveAge reads the interval histogram: each relist observes at its start how
// long ago the last one began that listed pods. Beyond the last bucket only the
// sum tells, so that the longest is at least the mean of those.
func proveAge(a, b *shot) (Proof, bool) {
	n, least, most := tail(a.ibuckets, b.ibuckets)
	long, _, _ := tail(a.buckets, b.buckets)
	if n < 1 || long < 1 {
		return Proof{}, false // a process that was stopped observes a long interval too
	}
	sum := b.isum - a.isum
	p := Proof{Kind: ProofAge, From: a.at, To: b.at, Count: int(n), Sum: seconds(sum),
		SumMin: seconds((sum - most) / n), SumMax: seconds(sum - least)}
	if p.SumMin < LongRelist {
		return Proof{}, false
	}
	p.Evidence = append(a.cite("", "isum", "icount"), b.cite("a relist began at least "+parse.Least(p.SumMin)+" after the last one that listed pods", "isum", "icount")...)
	return p, true
}

// provePace bounds the age of the last relist seen: each relist observes at its
// start how long ago the last one began that had listed pods, and until its own
// list returns the age grows by no more than it takes. A relist that was under way
// at the first snapshot ended within what the longest took, so that the first start
// of the step, and with it certainty, came a period after that at the latest.
func provePace(a, b *shot) (Proof, bool) {
	n, sum := b.icount-a.icount, b.isum-a.isum
	if !(n >= 1) || !(sum >= 0) || !(b.sum >= a.sum) || !(b.count > a.count) {
		return Proof{}, false
	}
	late := longestOf(a.ibuckets, b.ibuckets, sum)
	took := longestOf(a.buckets, b.buckets, b.sum-a.sum)
	if onDemand, ok := podSeconds(a, b); ok {
		took += onDemand
	}
	return Proof{Kind: ProofPaced, From: a.at, To: b.at, Count: int(n), Sum: seconds(sum), SumMin: seconds(took), SumMax: seconds(late),
		Evidence: append(a.cite("", "icount", "isum"), b.cite(parse.Plural(int(n), "relist")+" began, none more than "+parse.Most(seconds(late))+" after the last one that listed pods", "icount", "isum")...)}, true
}

// longestOf bounds the longest observation of a step by its buckets and sum.
func longestOf(a, b []bucket, sum float64) float64 {
	if late, least, _ := tail(a, b); late > 0 {
		return sum - least
	} else if le := topBucket(a, b); le > 0 {
		return min(sum, le)
	}
	return sum // no buckets
}

// topBucket is the upper edge of the highest bucket that grew, 0 if the
// histograms cannot be compared.
func topBucket(a, b []bucket) float64 {
	if len(a) != len(b) {
		return 0
	}
	edge, below := 0.0, 0.0
	for i := range b {
		if d := b[i].n - a[i].n; d > below {
			edge, below = b[i].le, d
		}
	}
	return edge
}
