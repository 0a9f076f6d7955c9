package logs

import (
	"math"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// streamKey tells the writers of a run apart.
type streamKey struct {
	who   *journal.Who
	class class
	pid   int // of the klog header, where the framing states none
}

// stream is what one origin wrote in one run.
type stream struct {
	writer
	lines int
	first parse.Mark
	last  spot
	gaps  []parse.Gap
	lag   lagRange
	end   parse.Mark // of last, once the run is over
}

// spot is a line whose text is not kept yet. It holds no pointer, as one is
// written for every line.
type spot struct {
	raw    parse.Clock
	env    parse.Clock
	offset int64 // in the file
	from   int   // of the text in the run
	end    int
	line   uint32
	header bool
}

// holds reports whether a message may be of use: a literal stands in it that
// this origin may write.
func (l *stream) holds(msg []byte) bool { return l.filter == nil || l.filter.finds(clip(msg)) }

// picks is holds, and sets in picked the entries of the literals.
func (l *stream) picks(msg []byte, picked []uint64) bool {
	return l.filter == nil || l.filter.pick(clip(msg), picked)
}

// streamOf returns the stream of the current entry.
func (s *scanner) streamOf(e *journal.Entry) *stream {
	key := streamKey{who: e.Who, class: classify(e)}
	if e.Who.PID == 0 && (key.class == klogText || key.class == criText) {
		key.pid = e.Header.PID
	}
	return s.streamFor(key)
}

func (s *scanner) streamFor(key streamKey) *stream {
	for i := range s.recent {
		if r := &s.recent[i]; r.stream != nil && r.key == key {
			return r.stream
		}
	}
	l := s.streams[key]
	if l == nil {
		l = s.newStream(key)
		s.streams[key] = l
	}
	s.recent[s.oldest] = streamOfKey{key, l}
	s.oldest = (s.oldest + 1) % len(s.recent)
	return l
}

// streamCache are streams by the layout and class of their lines.
type streamCache [journal.MaxLayouts][kubeRow]streamOfKey

type streamOfKey struct {
	key    streamKey
	stream *stream
}

func (s *scanner) newStream(key streamKey) *stream {
	w := s.writers[key]
	if w == nil {
		w = s.writer(key)
		if !s.d.framing.Sections { // else who writes depends on where the line stands
			s.writers[key] = w
		}
	}
	// Writers that differ in what does not matter share a stream.
	l := s.streamBy[w.origin]
	if l == nil {
		l = newStreamOf(w)
		s.streamBy[w.origin] = l
		s.res.streams = append(s.res.streams, l)
	}
	return l
}

// writer is what the streams of one origin have in common in all runs.
type writer struct {
	origin  *parse.Origin
	filter  *filter // nil: every line may be of use
	inherit bool    // bare lines before the run's first section: Finish names the writer
	gapMin  int64   // ns
}

func (s *scanner) writer(key streamKey) *writer {
	src, stated := sourceOf(key.who, key.class)
	if s.d.framing.Sections && *key.who == (journal.Who{}) && key.class != kubeRow {
		// Sections name the writers of bare lines, whatever these look like.
		stated, key.pid = false, 0
	}
	inherit := !stated && !s.known
	if !stated {
		src = s.d.bareSource(key.class, s.section, s.known)
	}
	o := parse.Origin{Source: src, Host: key.who.Host, Ident: key.who.Ident, Unit: key.who.Unit, Boot: key.who.Boot, PID: key.who.PID + key.pid}
	if !keepsPID(src) {
		o.PID = 0
	}
	w := &writer{origin: s.origin(streamID{o, inherit}), inherit: inherit, gapMin: gapMin(src)}
	if !s.d.opt.Brute {
		w.filter = s.d.set.filterOf(src)
	}
	if inherit {
		w.gapMin = parse.GapMin
	}
	return w
}

// streamID is what makes streams differ.
type streamID struct {
	origin  parse.Origin
	inherit bool
}

// origin interns the origin of a stream.
func (s *scanner) origin(id streamID) *parse.Origin {
	o := s.origins[id]
	if o == nil {
		own := id.origin // id itself stays off the heap
		o = &own
		s.origins[id] = o
	}
	return o
}

// keepsPID reports whether the process counts: restarts of these daemons are
// read off it, while cron and sshd have a new one for every line.
func keepsPID(src parse.Source) bool {
	switch src {
	case parse.SrcSystem, parse.SrcCNI, parse.SrcPodman, parse.SrcKernel, parse.SrcKubeEvents:
		return false
	}
	return true
}

// bareSource says who wrote a line that names no writer.
func (d *Decoder) bareSource(c class, section string, known bool) parse.Source {
	switch {
	case !known:
		return parse.SrcUnknown
	case section != "":
		return sectionSource(section)
	case d.framing.Sections:
		return d.klog
	}
	switch c {
	case klogText:
		return d.klog
	case logrusText:
		return d.logrus
	}
	return d.plain
}

// see counts a record of n bytes and notes when it was written, by the clocks of
// framing and header.
func (l *stream) see(s *scanner, env, header *parse.Clock, n, lines int) {
	l.lines += lines
	raw := header
	if !header.Set {
		raw = env
	}
	if raw.Set && l.last.soon(raw, header.Set, l.gapMin) {
		l.last.put(s, raw, env, header.Set, n)
	} else {
		l.seeFirst(s, raw, env, header.Set, n)
	}
	if header.Set && env.Set {
		lag := env.NS - header.NS
		if env.Lack != header.Lack || uint64(lag+leapYear/2) > leapYear {
			lag = s.lag.across(env, header)
		}
		if !l.lag.set || lag < l.lag.min || lag > l.lag.max {
			l.lag.add(lag, &l.last)
		}
	}
	if env.Set {
		raw = env
	}
	if o := &s.res.order; raw.Set && !o.stays(raw) {
		o.add(raw)
	}
}

// seeFirst notes the first line of all or after a silence.
func (l *stream) seeFirst(s *scanner, raw, env *parse.Clock, header bool, n int) {
	switch {
	case l.first.File == nil || !l.first.Raw.Set && raw.Set:
		var now spot
		now.put(s, raw, env, header, n)
		l.first = s.mark(&now)
	case raw.Set && l.last.gap(raw, env, header, l.gapMin):
		last := s.mark(&l.last)
		l.last.put(s, raw, env, header, n)
		l.gaps = append(l.gaps, parse.Gap{Last: last, Next: s.mark(&l.last)})
		return
	}
	if raw.Set || !l.last.raw.Set {
		l.last.put(s, raw, env, header, n)
	}
}

// put makes p the current line of n bytes. It writes field by field, as the
// next line reads them so.
func (p *spot) put(s *scanner, raw, env *parse.Clock, header bool, n int) {
	p.raw.NS, p.raw.Res, p.raw.Lack, p.raw.Set, p.raw.East = raw.NS, raw.Res, raw.Lack, raw.Set, raw.East
	p.env.NS, p.env.Res, p.env.Lack, p.env.Set, p.env.East = env.NS, env.Res, env.Lack, env.Set, env.East
	p.header, p.offset, p.line, p.from, p.end = header, s.offset(), s.line, s.at, s.at+n
}

// mark keeps the text of a line.
func (s *scanner) mark(p *spot) parse.Mark {
	return parse.Mark{Pos: parse.Pos{File: s.d.file, Offset: p.offset, Line: p.line}, Raw: p.raw, Envelope: p.env, Text: s.markText(p.from, p.end)}
}

// gapMin is the shortest silence of an origin that is recorded. Those of the
// kubelet are evidence; other daemons are silent all the time.
func gapMin(s parse.Source) int64 {
	if s == parse.SrcKubelet || s == parse.SrcUnknown {
		return parse.GapMin
	}
	return parse.GapMinOther
}

// soon reports whether a line follows p by the same clock in less than least; that
// is said of most, and quickly.
func (p *spot) soon(raw *parse.Clock, header bool, least int64) bool {
	return p.header == header && p.raw.Set && uint64(raw.NS-p.raw.NS) < uint64(least)
}

// gap reports whether an origin was silent for least or longer before a line of
// those clocks, by the header's clock if both have it.
func (p *spot) gap(raw, env *parse.Clock, header bool, least int64) bool {
	x, y := &p.raw, raw
	if p.header != header {
		x, y = &p.env, env
	}
	return x.Set && y.Set && apart(x, y) >= least
}

// leapYear is the length of YearUnknown.
const leapYear = 366 * 86400e9

// apart is the distance of two readings of one clock. Without a year, the end
// of one and the beginning of the next are neighbours.
func apart(x, y *parse.Clock) int64 {
	d := y.NS - x.NS
	if d < 0 {
		d = -d
	}
	if x.Lack&y.Lack&parse.LackYear != 0 && d > leapYear/2 {
		d = int64(math.Abs(float64(leapYear - d)))
	}
	return d
}

// finish turns the last lines into marks, as the run's data goes away.
func (s *scanner) finish() {
	for _, l := range s.res.streams {
		l.end = s.mark(&l.last)
		l.lag.finish(s)
	}
}

// order counts in which direction the clock of a file goes.
type order struct {
	set         bool
	first, last reading
	up, down    int
}

// reading is what order needs of a clock.
type reading struct {
	ns   int64
	lack parse.Lack
}

// stays adds a reading next to the last one, which counts for nothing.
func (o *order) stays(c *parse.Clock) bool {
	if uint64(c.NS-o.last.ns+1e9-1) >= 2e9-1 || c.Lack != o.last.lack || !o.set {
		return false
	}
	o.last.ns = c.NS
	return true
}

func (o *order) add(c *parse.Clock) {
	if !o.set {
		o.set, o.first = true, reading{c.NS, c.Lack}
	} else {
		o.step(reading{c.NS, c.Lack})
	}
	o.last.ns, o.last.lack = c.NS, c.Lack
}

// step counts a step of a second or more from the last reading: neighbouring
// lines may swap.
func (o *order) step(to reading) {
	if o.last.lack != to.lack {
		return
	}
	switch d := to.ns - o.last.ns; {
	case d >= 1e9 && d < leapYear/2, d <= -leapYear/2:
		o.up++
	case d <= -1e9, d >= leapYear/2:
		o.down++
	}
}
