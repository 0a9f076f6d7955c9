package logs

import (
	"fmt"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
)

// Bounds on what is kept of one file beside its events.
const (
	maxOrigins  = 4096
	maxGaps     = 4096 // of one origin
	maxWarnings = 100
)

// Finish puts the results of a file together, in the order of its runs. Stamps
// stay open: package clock resolves them.
func (d *Decoder) Finish(results []Result) parse.LogPart {
	f := &finisher{d: d, origins: map[parse.Origin]*parse.Coverage{}, match: d.set.NewMatcher(), kinds: map[parse.EventKind]*parse.EventKind{}}
	f.part.Format = d.framing.Name
	for i := range results {
		f.add(&results[i])
	}
	return f.end()
}

type finisher struct {
	d       *Decoder
	part    parse.LogPart
	match   *Matcher
	origins map[parse.Origin]*parse.Coverage
	kinds   map[parse.EventKind]*parse.EventKind
	section string
	order   order
	lost    int // warnings beyond maxWarnings
}

// add appends one run.
func (f *finisher) add(r *Result) {
	to := make(map[*parse.Origin]*parse.Coverage, len(r.lanes))
	inherited := map[*parse.Origin]bool{}
	for _, l := range r.lanes {
		o := *l.origin
		if l.inherit {
			o.Source = f.d.bareSource(plainText, f.section, true)
			inherited[l.origin] = true
		}
		c := f.coverage(o)
		to[l.origin] = c
		f.join(c, l)
	}
	kinds := map[*parse.EventKind]*parse.EventKind{}
	f.part.Events = slices.Grow(f.part.Events, len(r.events))
	for i := range r.events {
		e := &r.events[i]
		moved := inherited[e.Origin]
		k := kinds[e.EventKind]
		if k == nil {
			k = f.kind(e.EventKind, to[e.Origin].Origin, e.Sigs)
			kinds[e.EventKind] = k
		}
		e.EventKind = k
		if moved && !f.rematch(e) {
			continue
		}
		f.prove(e)
		f.part.Events = append(f.part.Events, e)
	}
	f.part.Markers = append(f.part.Markers, r.markers...)
	f.part.Facts = append(f.part.Facts, r.facts...)
	f.warn(r.warnings)
	f.part.Lines += r.lines
	if r.section != nil {
		f.section = *r.section
	}
	f.direction(&r.order)
}

// rematch matches an event again, now that its writer is known.
func (f *finisher) rematch(e *parse.Event) bool {
	sigs := f.match.Match(e.Origin.Source, e.Severity, []byte(e.Message()))
	if sigs == nil {
		return false
	}
	e.EventKind = f.kind(e.EventKind, e.Origin, sigs)
	e.SetFields(0) // those of other signatures
	return true
}

// kind interns a kind of events with another origin and other signatures.
func (f *finisher) kind(k *parse.EventKind, o *parse.Origin, sigs *parse.SigSet) *parse.EventKind {
	now := *k
	now.Origin, now.Sigs = o, sigs
	have := f.kinds[now]
	if have == nil {
		have = &now
		f.kinds[now] = have
	}
	return have
}

// coverage returns the coverage of an origin. Beyond maxOrigins, origins of one
// source share one.
func (f *finisher) coverage(o parse.Origin) *parse.Coverage {
	if c := f.origins[o]; c != nil {
		return c
	}
	if len(f.origins) >= maxOrigins {
		o = parse.Origin{Source: o.Source}
		if c := f.origins[o]; c != nil {
			return c
		}
		f.warn([]parse.Warning{{Pos: parse.Pos{File: f.d.file}, Msg: fmt.Sprintf(
			"more than %d writers: the others are counted together", maxOrigins)}})
	}
	c := &parse.Coverage{File: f.d.file, Origin: &o, MaxV: -1}
	f.origins[o] = c
	f.part.Coverage = append(f.part.Coverage, c)
	return c
}

// join appends what an origin wrote in a further run.
func (f *finisher) join(c *parse.Coverage, l *lane) {
	if c.Lines == 0 {
		c.FirstLine, c.LastLine = l.first, l.end
	} else {
		last, first := markSpot(&c.LastLine), &l.first
		if first.Raw.Set && last.gap(&first.Raw, &first.Envelope, first.Raw != first.Envelope, gapMin(c.Origin.Source)) {
			c.Gaps = append(c.Gaps, parse.Gap{Last: c.LastLine, Next: l.first})
		}
		if !c.FirstLine.Raw.Set && l.first.Raw.Set {
			c.FirstLine = l.first
		}
		if l.end.Raw.Set || !c.LastLine.Raw.Set {
			c.LastLine = l.end
		}
	}
	c.Lines += l.lines
	c.Gaps = append(c.Gaps, l.gaps...)
	if len(c.Gaps) > 2*maxGaps {
		c.Gaps = longest(c.Gaps)
	}
	if !l.lag.set {
		return
	}
	if !c.HasLag || l.lag.min < c.MinLag {
		c.MinLag = l.lag.min
	}
	if !c.HasLag || l.lag.max > c.MaxLag {
		c.MaxLag, c.MaxLagAt = l.lag.max, l.lag.mark
	}
	c.HasLag = true
}

func markSpot(m *parse.Mark) spot {
	return spot{raw: m.Raw, env: m.Envelope, header: m.Raw != m.Envelope}
}

// longest keeps the maxGaps longest gaps, in the order of the file.
func longest(gaps []parse.Gap) []parse.Gap {
	order := make([]int, len(gaps))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := &gaps[order[i]], &gaps[order[j]]
		return apart(&a.Last.Raw, &a.Next.Raw) > apart(&b.Last.Raw, &b.Next.Raw)
	})
	order = order[:maxGaps]
	sort.Ints(order)
	out := make([]parse.Gap, 0, maxGaps)
	for _, i := range order {
		out = append(out, gaps[i])
	}
	return out
}

// verbosity is what a line of each signature proves.
var verbosity = map[string]int{
	parse.SigRelisting: 5, parse.SigRelistingPod: 5, parse.SigTransition: 4, parse.SigRetrieved: 4,
	parse.SigEvent: 2, parse.SigFinished: 2, parse.SigSync: 2, parse.SigNodeEvent: 2, parse.SigFlag: 1,
}

// prove notes the verbosity that an event proves.
func (f *finisher) prove(e *parse.Event) {
	c := f.origins[*e.Origin]
	for _, g := range e.Sigs.Sigs {
		if v, ok := verbosity[g.ID]; ok && v > c.MaxV {
			c.MaxV = v
		}
	}
}

func (f *finisher) warn(list []parse.Warning) {
	for _, w := range list {
		if len(f.part.Warnings) < maxWarnings {
			f.part.Warnings = append(f.part.Warnings, w)
		} else {
			f.lost++
		}
	}
}

func (f *finisher) direction(o *order) {
	if !o.set {
		return
	}
	if f.order.set {
		f.order.step(o.first)
	} else {
		f.order.set, f.order.first = true, o.first
	}
	f.order.last = o.last
	f.order.up += o.up
	f.order.down += o.down
}

// end turns the coverage of a file with its newest line first round and closes
// the part.
func (f *finisher) end() parse.LogPart {
	reversed := f.order.down > f.order.up && (f.order.down > 2 || f.order.up == 0)
	for _, c := range f.part.Coverage {
		if len(c.Gaps) > maxGaps {
			c.Gaps = longest(c.Gaps)
		}
		if reversed {
			reverse(c)
		}
	}
	if f.lost > 0 {
		f.part.Warnings = append(f.part.Warnings, parse.Warning{Pos: parse.Pos{File: f.d.file},
			Msg: fmt.Sprintf("%d more warnings of this kind", f.lost)})
	}
	return f.part
}

func reverse(c *parse.Coverage) {
	c.Reversed = true
	c.FirstLine, c.LastLine = c.LastLine, c.FirstLine
	for i, j := 0, len(c.Gaps)-1; i <= j; i, j = i+1, j-1 {
		c.Gaps[i], c.Gaps[j] = c.Gaps[j], c.Gaps[i]
		c.Gaps[i].Last, c.Gaps[i].Next = c.Gaps[i].Next, c.Gaps[i].Last
		if i != j {
			c.Gaps[j].Last, c.Gaps[j].Next = c.Gaps[j].Next, c.Gaps[j].Last
		}
	}
}
