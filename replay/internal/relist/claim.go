package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// claim is a relist whose start is known to lie in [lo, hi], in Unix ns.
type claim struct {
	lo, hi  int64
	seen    int64 // when a snapshot last showed it running, if its end is unknown
	run     int
	listEnd host.Instant
	end     host.Instant
	took    extent // duration, if known more precisely than from end
	listed  *bool
	outcome Outcome
	basis   []string
	ev      []host.Evidence
	exact   bool      // from a Relisting line
	step    int64     // time of the snapshot before which it ended, if metrics measured its length, as they do once; otherwise 0
	group   *LastSeen // the last-seen lines that name it
}

var (
	yes = true
	no  = false
)

// claimRoom allocates single-line claims in blocks: a log at verbosity 5 has hundreds of thousands.
type claimRoom struct {
	claims []claim
	lines  []host.Evidence
}

func (r *claimRoom) claim(c claim, line host.Evidence) *claim {
	const block = 256
	if len(r.claims) == cap(r.claims) {
		r.claims, r.lines = make([]claim, 0, block), make([]host.Evidence, 0, block)
	}
	i := len(r.claims)
	r.lines = append(r.lines, line)
	c.ev = r.lines[i : i+1 : i+1]
	r.claims = append(r.claims, c)
	return &r.claims[i]
}

// blur widens bounds that come from log lines by the resolution of their timestamps, which are truncated, for
// example to whole seconds.
func (c *claim) blur() {
	res := int64(0)
	for _, e := range c.ev {
		if e, ok := e.Record.(*parse.Event); ok && c.group == nil {
			res = max(res, int64(e.Res.Duration()))
		}
	}
	if res < int64(10*time.Millisecond) {
		return
	}
	c.hi += res
	for _, x := range []*host.Instant{&c.listEnd, &c.end} {
		if x.Known() {
			*x = host.Between(x.Earliest(), x.Latest()+res)
		}
	}
}

func (c *claim) relist() Relist {
	took := c.took
	if took.hi != 0 && c.end.Known() { // keep it consistent with start and end
		off := time.Duration(c.end.Slack)
		if lo, hi := max(took.lo, time.Duration(c.end.At-c.hi)-off), min(took.hi, time.Duration(c.end.At-c.lo)+off); lo <= hi {
			took = extent{lo, hi}
		}
	}
	r := Relist{Run: c.run, Start: host.Between(c.lo, c.hi), ListEnd: c.listEnd, End: c.end,
		Took: took.mid(), TookSlack: took.slack(), Outcome: cmp.Or(c.outcome, OutcomeUnknown), Seen: c.seen, Listed: c.listed, Basis: c.basis, Evidence: c.ev}
	if r.End.Known() && r.End.At < r.Start.At {
		r.End.At = r.Start.At
	}
	return r
}

// basisNextFailed and basisFailedNext are shared by the many relists that follow a failed one and fail themselves.
var basisNextFailed, basisFailedNext = []string{BasisNextStart, BasisListError}, []string{BasisListError, BasisNextStart}

// bothBases returns the bases of a followed by those of b that a lacks.
func bothBases(a, b []string) []string {
	if len(a) == 1 && len(b) == 1 {
		switch [2]string{a[0], b[0]} {
		case [2]string{BasisNextStart, BasisListError}:
			return basisNextFailed
		case [2]string{BasisListError, BasisNextStart}:
			return basisFailedNext
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(slices.Clip(a), x)
		}
	}
	return a
}

// fail closes the relist with its error line m.
func (c *claim) fail(m kubelet.Mark) {
	c.end, c.listEnd, c.outcome, c.listed = host.Instant{At: m.At, Slack: time.Millisecond}, host.Instant{}, OutcomeListFailed, &no
	c.ev = append(c.ev, host.Evidence{Record: m.Line, Note: "this attempt ended here"})
	if !slices.Contains(c.basis, BasisListError) {
		c.basis = append(slices.Clip(c.basis), BasisListError)
	}
}

// sameStart is how far apart two sources may date the start of one relist, in ns.
const sameStart = int64(30 * time.Millisecond)

// same reports whether two claims are the same relist; both must be narrower than 1 s.
func (c *claim) same(d *claim) bool {
	if c.exact && d.exact || c.listed != nil && d.listed != nil && *c.listed != *d.listed {
		return false
	}
	near := int64(0)
	if c.hi-c.lo <= int64(widest) && d.hi-d.lo <= int64(widest) {
		near = sameStart
	}
	return c.lo <= d.hi+near && d.lo <= c.hi+near && c.hi-c.lo < int64(time.Second) && d.hi-d.lo < int64(time.Second)
}

// meet joins two claims, starting from the earlier one.
func (c *claim) meet(d *claim) *claim {
	if d.lo+d.hi < c.lo+c.hi {
		c, d = d, c
	}
	c.join(d)
	return c
}

// join narrows c by d.
func (c *claim) join(d *claim) {
	switch lo, hi := max(c.lo, d.lo), min(c.hi, d.hi); {
	case lo <= hi:
		c.lo, c.hi = lo, hi
	case d.hi-d.lo < c.hi-c.lo:
		c.lo, c.hi = d.lo, d.hi
	}
	c.end, c.listEnd, c.listed = cmp.Or(d.end, c.end), cmp.Or(d.listEnd, c.listEnd), cmp.Or(d.listed, c.listed)
	c.outcome, c.group, c.exact = cmp.Or(d.outcome, c.outcome), cmp.Or(d.group, c.group), c.exact || d.exact
	c.basis = bothBases(c.basis, d.basis)
	c.ev = append(c.ev, d.ev...)
}
