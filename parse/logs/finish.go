package logs

import (
	"fmt"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// Limits on what is kept per file besides its events.
const (
	maxOrigins  = 4096
	maxGaps     = 4096 // per origin
	maxWarnings = 100
)

// Finish merges the results of a file. results must be in file order.
func (d *Decoder) Finish(results []Result) parse.LogPart {
	j := d.NewMerger()
	line := 0
	for i := range results {
		j.Add(&results[i], uint32(line))
		line += results[i].lines
	}
	return j.End()
}

// Merger merges the results of a file. Stamps remain unresolved; package clock
// resolves them.
type Merger struct {
	d       *Decoder
	part    parse.LogPart
	events  [][]parse.Event // by run
	match   *Matcher        // created on first use
	origins map[parse.Origin]*parse.Coverage
	known   map[*parse.Origin]*parse.Coverage // by the origins of scanners
	kinds   map[parse.EventKind]*parse.EventKind
	section string
	order   order
	foreign foreignLines
	damage  damagedLines
	lost    int  // number of warnings beyond maxWarnings
	over    bool // the log ended in an earlier run
}

// NewMerger returns a Merger for the file of d.
func (d *Decoder) NewMerger() *Merger {
	j := &Merger{d: d, origins: map[parse.Origin]*parse.Coverage{}, known: map[*parse.Origin]*parse.Coverage{}, kinds: map[parse.EventKind]*parse.EventKind{}}
	j.part.Format = d.framing.Name
	return j
}

// Add appends the next run, in file order; before is the number of lines before it.
// The Merger takes ownership of r.
func (m *Merger) Add(r *Result, before uint32) {
	if m.over {
		r.release()
		return
	}
	if m.d.binary {
		before = 0
	}
	r.moveLines(before)
	if len(m.known) > maxTaught {
		clear(m.known)
	}
	var inherited map[*parse.Origin]bool
	for _, l := range r.streams {
		c := m.known[l.origin]
		if c == nil || l.inherit {
			o := *l.origin
			if l.inherit {
				o.Source = m.d.bareSource(plainText, m.section, true)
				if inherited == nil {
					inherited = map[*parse.Origin]bool{}
				}
				inherited[l.origin] = true
			}
			c = m.coverage(o)
			m.known[l.origin] = c
		}
		m.join(c, l)
	}
	var moved map[*parse.Batch]bool // batches assigned to another writer, whose events are matched again
	if len(inherited) > 0 {
		moved = map[*parse.Batch]bool{}
	}
	for _, l := range r.batches {
		o := l.Origin
		l.EventKind = m.kind(l.EventKind, m.known[o].Origin, l.Sigs)
		if inherited[o] {
			moved[l] = true
		} else {
			prove(m.known[o], l.Sigs)
		}
	}
	lost := false
	for i := range r.events {
		e := &r.events[i]
		e.Line += before
		if len(inherited) > 0 && moved[e.Batch] && !m.rematch(e) {
			e.Batch, lost = nil, true
		}
	}
	if lost {
		r.events = slices.DeleteFunc(r.events, func(e parse.Event) bool { return e.Batch == nil })
	}
	m.events = append(m.events, r.events)
	m.part.Markers = append(m.part.Markers, r.markers...)
	m.part.Facts = append(m.part.Facts, r.facts...)
	if w := r.warnings; len(w) > 0 && m.damage == (damagedLines{w[0].Msg, before + 1}) && w[0].Line == before+1 {
		r.warnings = w[1:] // it goes on
	}
	if r.damage.end > 0 {
		m.damage = damagedLines{r.damage.what, before + r.damage.end}
	}
	if f := r.foreign; f.n > 0 {
		if m.foreign.n == 0 {
			m.foreign.first = f.first
			m.foreign.first.Line += before
		}
		m.foreign.n += f.n
	}
	m.warn(r.warnings)
	m.part.Lines += r.lines
	if r.section != nil {
		m.section = *r.section
	}
	m.direction(&r.order)
	if m.over = r.own > 0; m.over {
		m.warn([]parse.Warning{{Pos: parse.Pos{File: m.d.file, Line: before + r.own}, Note: true, Msg: "the log ends here: what follows was written by plegforensics, whose quotes are no log"}})
	}
	r.release()
}

// moveLines converts line numbers of the run into those of the file, except for
// events.
func (r *Result) moveLines(before uint32) {
	move := func(p *parse.Pos) {
		if p.Line > 0 {
			p.Line += before
		}
	}
	for _, l := range r.streams {
		move(&l.first.Pos)
		move(&l.end.Pos)
		move(&l.marks[0].Pos)
		move(&l.marks[1].Pos)
		move(&l.lag.mark.Pos)
		for i := range l.gaps {
			move(&l.gaps[i].Last.Pos)
			move(&l.gaps[i].Next.Pos)
		}
	}
	for _, m := range r.markers {
		move(&m.Pos)
	}
	for _, f := range r.facts {
		move(&f.Pos)
	}
	for i := range r.warnings {
		move(&r.warnings[i].Pos)
	}
}

// rematch matches an event again, now that its writer is known. It reports whether
// a signature still matches.
func (m *Merger) rematch(e *parse.Event) bool {
	if m.match == nil {
		m.match = m.d.set.NewMatcher()
	}
	msg := []byte(e.Message())
	if !e.Headed {
		msg = ownWords(msg)
	}
	sigs := m.match.Match(e.Origin.Source, e.Severity, msg)
	if sigs == nil {
		return false
	}
	e.Batch = parse.NewBatch(m.kind(e.EventKind, e.Origin, sigs), e.Text())
	e.SetFields(0) // the old fields belong to other signatures
	prove(m.origins[*e.Origin], sigs)
	return true
}

// kind interns k with another origin and other signatures.
func (m *Merger) kind(k *parse.EventKind, o *parse.Origin, sigs *parse.SigSet) *parse.EventKind {
	now := *k
	now.Origin, now.Sigs = o, sigs
	have := m.kinds[now]
	if have == nil {
		first := now // keeps now off the heap
		have = &first
		m.kinds[now] = have
	}
	return have
}

// coverage returns the coverage of an origin. Beyond maxOrigins, origins of the
// same source share one.
func (m *Merger) coverage(o parse.Origin) *parse.Coverage {
	if c := m.origins[o]; c != nil {
		return c
	}
	return m.newCoverage(o)
}

func (m *Merger) newCoverage(o parse.Origin) *parse.Coverage {
	if len(m.origins) >= maxOrigins {
		o = parse.Origin{Source: o.Source}
		if c := m.origins[o]; c != nil {
			return c
		}
		m.warn([]parse.Warning{{Pos: parse.Pos{File: m.d.file}, Msg: fmt.Sprintf(
			"more than %d writers: the others are counted together", maxOrigins)}})
	}
	c := &parse.Coverage{File: m.d.file, Origin: &o, MaxV: -1}
	m.origins[o] = c
	m.part.Coverage = append(m.part.Coverage, c)
	return c
}

// join adds what an origin wrote in a further run.
func (m *Merger) join(c *parse.Coverage, l *stream) {
	if c.Lines == 0 {
		c.FirstLine, c.LastLine, c.Common = l.first, l.end, l.common.words
	} else {
		c.Common = both(c.Common, l.common.words)
		last, first := markSpot(&c.LastLine), &l.first
		if first.Raw.Set && last.gap(&first.Raw, &first.Envelope, first.Raw != first.Envelope, gapMin(c.Origin.Source)) {
			c.Gaps = append(c.Gaps, parse.Gap{Last: c.LastLine, Next: l.first})
		}
		if !c.FirstLine.Raw.Set && l.first.Raw.Set {
			c.FirstLine = l.first
		}
		if l.end.Raw.Set || !c.LastLine.Raw.Set && l.end.Line > 0 { // a run may add no line of its own
			c.LastLine = l.end
		}
	}
	c.Lines += l.lines
	if low, high := &l.marks[0], &l.marks[1]; l.stepped {
		if c.Low.File == nil || low.Raw.NS < c.Low.Raw.NS {
			c.Low = *low
		}
		if c.High.File == nil || high.Raw.NS > c.High.Raw.NS {
			c.High = *high
		}
	}
	c.Gaps = append(c.Gaps, l.gaps...)
	if len(c.Gaps) > 4*maxGaps {
		c.Gaps = append(c.Gaps[:0], longest(c.Gaps)...)
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

// longest returns the maxGaps longest gaps, in file order.
func longest(gaps []parse.Gap) []parse.Gap {
	return parse.Weightiest(gaps, maxGaps, func(g *parse.Gap) int64 { return apart(&g.Last.Raw, &g.Next.Raw) })
}

// verbosity maps a signature to the klog verbosity that a line of it proves.
var verbosity = map[string]int{
	parse.SigRelisting: 5, parse.SigRelistingPod: 5, parse.SigVerbose: 5, parse.SigTransition: 4, parse.SigRetrieved: 4, parse.SigKeeping: 4, parse.SigHousekept: 4,
	parse.SigEvent: 2, parse.SigFinished: 2, parse.SigSync: 2, parse.SigNodeEvent: 2, parse.SigFlag: 1, parse.SigGates: 1,
}

// prove raises MaxV to the verbosity that an event with these signatures proves.
func prove(c *parse.Coverage, sigs *parse.SigSet) {
	for _, g := range sigs.Sigs {
		if v, ok := verbosity[g.ID]; ok && v > c.MaxV {
			c.MaxV = v
		}
	}
}

func (m *Merger) warn(list []parse.Warning) {
	for _, w := range list {
		if len(m.part.Warnings) < maxWarnings {
			m.part.Warnings = append(m.part.Warnings, w)
		} else {
			m.lost++
		}
	}
}

func (m *Merger) direction(o *order) {
	if !o.set {
		return
	}
	if m.order.set {
		m.order.step(o.first)
	} else {
		m.order.set, m.order.first = true, o.first
	}
	m.order.last = o.last
	m.order.up += o.up
	m.order.down += o.down
}

// End completes the merge and returns the result. For a file with the newest line
// first it reverses the coverage. One or two steps back show that order only among a
// few lines; among many the clock may have been set.
func (m *Merger) End() parse.LogPart {
	m.d.retire()
	lines := 0
	for _, c := range m.part.Coverage {
		lines += c.Lines
	}
	reversed := m.order.down > m.order.up && (m.order.down > 2 || m.order.up == 0 && lines <= 4*(m.order.down+1))
	for _, c := range m.part.Coverage {
		if len(c.Gaps) > maxGaps {
			c.Gaps = longest(c.Gaps)
		}
		if reversed {
			reverse(c)
		}
	}
	if len(m.part.Coverage) > 0 {
		m.part.Coverage[0].Dated = m.d.dated
		if s := m.d.searched; s != nil && slices.ContainsFunc(m.part.Coverage, func(c *parse.Coverage) bool { return c.FirstLine.Raw.Set }) {
			m.part.Markers = append([]*parse.Marker{s}, m.part.Markers...)
		}
	}
	m.part.Events = pointers(m.events)
	if m.d.guide {
		m.explained()
	} else {
		m.unquote()
	}
	m.countKept()
	m.disown()
	if n := m.foreign.n; n > 0 {
		m.part.Warnings = append(m.part.Warnings, parse.Warning{Pos: m.foreign.first, Note: true,
			Msg: fmt.Sprintf("%d lines of which nothing is known hold bytes that are no UTF-8, this is the first: text in another encoding, or damage", n)})
	}
	if m.lost > 0 {
		m.part.Warnings = append(m.part.Warnings, parse.Warning{Pos: parse.Pos{File: m.d.file},
			Msg: fmt.Sprintf("%d more warnings of this kind", m.lost)})
	}
	return m.part
}

// countKept counts the events per origin. Consecutive events mostly share one.
func (m *Merger) countKept() {
	var last *parse.Origin
	var c *parse.Coverage
	for _, e := range m.part.Events {
		if e.Origin != last {
			last, c = e.Origin, m.coverage(*e.Origin)
		}
		c.Kept++
	}
}

// pointers returns pointers to the events of all runs. It allocates the slice at
// once, because growing one that large would copy it many times.
func pointers(runs [][]parse.Event) []*parse.Event {
	n := 0
	for _, r := range runs {
		n += len(r)
	}
	if n == 0 {
		return nil
	}
	out := make([]*parse.Event, 0, n)
	for _, r := range runs {
		for i := range r {
			out = append(out, &r[i])
		}
	}
	return out
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
