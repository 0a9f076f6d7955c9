package snapshots

import (
	"cmp"
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// proveRelists dates single relists: those that consecutive snapshots show running, and
// those over 10 s that ended alone between two snapshots. shots are those of one
// process.
func proveRelists(shots []*shot) []Proof {
	idle := idleAhead(shots)
	var out []Proof
	if p, ok := firstRelist(shots[0]); ok {
		out = append(out, p)
	}
	for i := 0; i < len(shots); {
		j := i
		for j+1 < len(shots) && shots[j+1].count == shots[i].count && cmp.Compare(shots[j+1].icount, shots[i].icount) == 0 { // or both unknown (NaN)
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

// firstRelist dates the single long relist that ended before the first snapshot of a
// process.
func firstRelist(t *shot) (Proof, bool) {
	p, ok := proveLong(t.zero(), t)
	if !ok || p.Count != 1 || p.From == 0 || t.at-p.From < int64(p.SumMin) {
		return Proof{}, false
	}
	p.Kind, p.Whole = ProofRelist, true
	p.Start = host.Between(p.From, t.by()-int64(p.SumMin))
	p.End = host.Between(p.From+int64(p.SumMin), t.by())
	return p, true
}

// idleAhead returns by how many the relists ended exceed the intervals observed while
// no relist runs, NaN if that is not known: snapshots that all show the same number
// were all taken while a relist ran or all while none did. Only where relists rarely ran
// is it certain enough that some snapshot was taken while none did.
func idleAhead(shots []*shot) float64 {
	least, most, same := math.Inf(1), 1.0, 0 // the first relist that lists observes no interval
	for _, t := range shots {
		if t.icount >= 1 && t.count >= 1 { // before that, relists that failed to list change the number
			least, most, same = min(least, t.count-t.icount), max(most, t.count-t.icount), same+1
		}
	}
	if least < most {
		return most
	}
	busy := 1.0 // share of the time that relists ran
	if k := len(shots) - 1; same > 0 {
		for _, a := range [...]*shot{shots[0], shots[0].zero()} {
			if took, d := shots[k].sum-a.sum, float64(shots[k].at-a.at)/1e9; a.at > 0 && d > 0 && took >= 0 {
				busy = min(busy, took/d)
			}
		}
	}
	if math.Pow(busy, float64(same)) > 1e-3 {
		return math.NaN()
	}
	return most
}

// running reports whether a relist was running at the snapshot.
func (t *shot) running(idle float64) bool { return t.icount >= 1 && t.count-t.icount == idle-1 }

// dating is the search for the bounds of one relist. Snapshots i to j, between which no
// relist began or ended, may show it running; it ends before the next snapshot.
type dating struct {
	shots   []*shot
	i, j    int
	running bool
	idle    bool // no relist runs; neither is known before the first that lists pods, which observes no interval
}

// relist bounds the start and end of the relist. It returns false if nothing proves a
// relist of at least 10 s, or if several relists could be meant.
func (d *dating) relist() (Proof, bool) {
	a, z := d.shots[d.i], d.shots[d.j]
	var b *shot
	if d.j+1 < len(d.shots) {
		b = d.shots[d.j+1]
	}
	p := Proof{Kind: ProofRelist, From: a.at, To: z.at, Count: 1, SumMin: time.Duration(z.at - a.by())}
	twice := d.running && p.SumMin >= LongRelist // seen twice, so it is the same relist
	lo, hi := d.began()
	if b == nil {
		p.Start = host.Between(lo, hi)
		p.Evidence = append(a.cite("a relist was running", "count", "icount"), z.cite("and still was", "count", "icount")...)
		return p, twice
	}
	long, ok := proveLong(z, b)
	ok = ok && long.Count == 1
	within := ok && time.Duration(b.by()-z.at) > long.SumMin // the long relist may have begun after the last of these snapshots
	switch {
	case twice && !ok:
	case ok && !within:
		switch { // it began before the last of these snapshots, and no relist ended since the first
		case d.running || z == a:
		case z.count == 0: // the first relist of the process
			hi = z.by()
		default:
			hi += int64(pauseMost)
		}
		d.running = true // otherwise it could not have ended so soon
	case ok && d.running && time.Duration(z.at-hi)+long.SumMin > long.Sum:
		// A second long relist does not fit in beside the one seen running.
	case ok && d.idle:
		lo, hi = z.at, b.by()
	case ok && !d.running:
		hi = b.by()
	case twice && time.Duration(z.at-a.at) <= long.SumMax:
		// The relist seen running took over 10 s, and only one such relist ended.
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
		return Proof{}, false // clocks disagree
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
	ended := "it ended before this snapshot"
	if sum := b.sum - z.sum; sum >= 0 {
		ended += ", after about " + parse.Short(seconds(sum))
	}
	p.Evidence = append(z.cite(note, "count", "sum", "icount"), b.cite(ended, "count", "sum", "icount")...)
	return p, true
}

// by returns the latest time at which the snapshot can have been taken.
func (t *shot) by() int64 { return By(t.at) }

// By returns the latest moment that a snapshot time can mean: a time in whole seconds
// is taken to be truncated.
func By(at int64) int64 {
	if at%int64(time.Second) != 0 {
		return at
	}
	return at + int64(time.Second)
}

// began bounds the start of the relist that runs at snapshot i: after the last snapshot
// that saw an earlier relist end, and not before the last start of one that listed
// pods.
//
// Each relist observes as interval the time since the start of the last one that
// listed, so the difference of two interval sums leads from the relist of another
// snapshot to this one. It overshoots only if a list failed in between. The relist
// running by an earlier snapshot therefore gives an upper bound, and the one named by
// the gauge of a later snapshot a lower bound.
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
	const reach = 64 // snapshots to use on either side
	for _, u := range d.shots[max(d.i-reach, 0):min(d.i+reach, len(d.shots))] {
		switch past := seconds(t.isum - u.isum); {
		case !(t.isum >= 0 && u.isum >= 0):
		case u.at < t.at && past > 0 && u.isum > 0: // otherwise the first that listed may have begun after that snapshot
			hi = min(hi, u.by()+int64(past))
		case u.at >= t.at && u.lastSeen > 0 && u.lastSeen < 1e10:
			lo = max(lo, int64(u.lastSeen)*1e9+int64(past))
		}
	}
	return min(lo, hi), hi
}

// pauseMost is the longest pause between two relists: a period plus timer delay.
const pauseMost = 1600 * time.Millisecond

// listed infers from the interval observed by the next relist whether this one listed
// pods: the interval counts from the start of the last one that did. It returns nil
// (unknown) unless exactly this relist ended and exactly the next one began in the
// step. On-demand relists of single pods delay the next one.
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
	case pause >= 1.9+onDemand: // a period more: it counts from the previous relist
		return new(false)
	}
	return nil
}

// proveAge reads the interval histogram: each relist observes at its start how long ago
// the last relist that listed pods began. Beyond the last bucket only the sum is known,
// so the longest interval is at least the mean of those.
func proveAge(a, b *shot) (Proof, bool) {
	n, least, most := tail(a.ibuckets, b.ibuckets)
	long, _, _ := tail(a.buckets, b.buckets)
	if n < 1 || long < 1 {
		return Proof{}, false // a process that was stopped observes a long interval too
	}
	sum := b.isum - a.isum
	if math.IsNaN(sum) {
		return Proof{}, false
	}
	p := Proof{Kind: ProofAge, From: a.at, To: b.at, Count: int(n), Sum: seconds(sum),
		SumMin: seconds((sum - most) / n), SumMax: seconds(sum - least)}
	if p.SumMin < LongRelist {
		return Proof{}, false
	}
	p.Evidence = append(a.cite("", "isum", "icount"), b.cite("a relist began at least "+parse.Least(p.SumMin)+" after the last one that listed pods", "isum", "icount")...)
	return p, true
}

// provePace bounds the age of the last relist seen: each relist observes at its start
// how long ago the last relist that had listed pods began, and until its own list
// returns the age grows by no more than its duration. A relist running at the first
// snapshot ended within the longest duration of the step; the first start of the step,
// and the first observation, followed at most a period later.
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

// longestOf returns an upper bound, in seconds, of the longest observation of a step.
func longestOf(a, b []bucket, sum float64) float64 {
	if late, least, _ := tail(a, b); late > 0 {
		return sum - least
	} else if le := topBucket(a, b); le > 0 {
		return min(sum, le)
	}
	return sum // there are no buckets
}

// topBucket returns the upper bound of the highest bucket that grew, 0 if the
// histograms cannot be compared.
func topBucket(a, b []bucket) float64 {
	if !sameBounds(a, b) {
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
