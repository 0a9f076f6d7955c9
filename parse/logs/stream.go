package logs

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// streamKey identifies a writer within a run.
type streamKey struct {
	who   *journal.Who
	class class
	pid   int // from the klog header, if the framing has none, or that of who relays the line
}

// stream is what one origin wrote in one run.
type stream struct {
	writer
	lines int
	first parse.Mark
	last  spot
	gaps  []parse.Gap
	lag   lagRange
	end   parse.Mark // last, with its text kept, once the run is over

	common common // words of klog messages

	stepped   bool // a line reads earlier than the one before it
	low, high spot // earliest of such lines, latest before one
	marks     [2]parse.Mark
}

// spot is a line whose text has not been kept yet. One is written for every line,
// so it holds no pointers.
type spot struct {
	raw    parse.Clock
	env    parse.Clock
	offset int64 // in the file
	from   int   // start of the text in the run
	end    int
	line   uint32
	header bool
}

// holds reports whether msg may matter: it contains a literal that this origin may
// write.
func (l *stream) holds(msg []byte) bool { return l.filter == nil || l.filter.finds(clip(msg)) }

// picks is like holds and also sets in picked the entries of the literals found.
func (l *stream) picks(msg []byte, picked []uint64) bool {
	return l.filter == nil || l.filter.pick(clip(msg), picked)
}

// streamOf returns the stream of the current entry.
func (s *scanner) streamOf(e *journal.Entry) *stream {
	key := streamKey{who: e.Who, class: classify(e)}
	if e.Who.PID == 0 && (key.class == klogText || key.class == criText) || key.class == klogText && relays(e.Who.Ident) {
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

// streamCache caches streams by layout and class of their lines.
type streamCache [journal.MaxLayouts][kubeRow]streamOfKey

type streamOfKey struct {
	key    streamKey
	stream *stream
}

func (s *scanner) newStream(key streamKey) *stream {
	w := s.writers[key]
	if w == nil {
		w = s.writer(key)
		if !s.d.framing.Sections { // otherwise the writer depends on the position of the line
			s.writers[key] = w
		}
	}
	// Keys that differ only in what does not matter share a stream.
	l := s.streamBy[w.origin]
	if l == nil {
		l = newStreamOf(w)
		s.streamBy[w.origin] = l
		s.res.streams = append(s.res.streams, l)
	}
	return l
}

// writer holds what the streams of one origin have in common across runs.
type writer struct {
	origin  *parse.Origin
	filter  *filter // nil: any line may matter
	inherit bool    // bare lines before the run's first section: the Merger determines the writer
	gapMin  int64   // ns
}

func (s *scanner) writer(key streamKey) *writer {
	src, stated := sourceOf(key.who, key.class)
	if s.d.framing.Sections && *key.who == (journal.Who{}) && key.class != kubeRow {
		// Sections name the writers of bare lines, whatever form these have.
		stated, key.pid = false, 0
	}
	inherit := !stated && !s.known
	if !stated {
		if src = s.d.bareSource(key.class, s.section, s.known); key.class == klogText && s.d.tools[key.pid] {
			src = parse.SrcFacts
		}
	}
	o := parse.Origin{Source: src, Host: key.who.Host, Ident: key.who.Ident, Unit: key.who.Unit, Boot: key.who.Boot, PID: cmp.Or(key.pid, key.who.PID)}
	if c := s.d.file.Container; c != "" {
		if inherit, src = false, sectionSource(c); src == parse.SrcKubelet {
			src = parse.SrcSystem // such as kubelet-csr-approver: see MayBeKubelet
		}
		o = parse.Origin{Source: src, Ident: c, PID: o.PID}
	}
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

// streamID identifies a stream.
type streamID struct {
	origin  parse.Origin
	inherit bool
}

// origin interns the origin of a stream.
func (s *scanner) origin(id streamID) *parse.Origin {
	o := s.origins[id]
	if o == nil {
		own := id.origin // keeps id itself off the heap
		o = &own
		s.origins[id] = o
	}
	return o
}

// keepsPID reports whether the process ID is part of the origin. It is for the
// daemons whose restarts matter; programs such as cron and sshd have a new process
// for every line.
func keepsPID(src parse.Source) bool {
	switch src {
	case parse.SrcSystem, parse.SrcCNI, parse.SrcPodman, parse.SrcKernel, parse.SrcKubeEvents:
		return false
	}
	return true
}

// bareSource returns the writer of a line that names none.
func (d *Decoder) bareSource(c class, section string, known bool) parse.Source {
	switch {
	case !known:
		return parse.SrcUnknown
	case section != "":
		return sectionSource(section)
	case d.framing.Sections:
		return d.above
	}
	switch c {
	case klogText:
		return d.klog
	case logrusText:
		return d.logrus
	}
	return d.plain
}

// common are the words that all messages contain; nil before the first one. Words are letters alone, at least three:
// what stands beside them, as in "pod=", may be cut off or escaped in another message.
type common struct {
	words []string
	at    []int // where they stood in the last message
}

// narrow drops the words that another message does not contain. Of two messages of one kind, words stand at the same
// places, or all behind a longer value are moved alike: there each is looked for first.
func (c *common) narrow(msg []byte) {
	if c.words == nil {
		c.begin(msg)
		return
	}
	kept, moved, last := 0, 0, 0
	for i, w := range c.words {
		at := c.at[i] + moved
		if at < 0 || at > len(msg)-len(w) || string(msg[at:at+len(w)]) != w {
			at = last
			n := bytes.Index(msg[at:], []byte(w))
			if n < 0 {
				at, n = 0, bytes.Index(msg, []byte(w))
			}
			if n < 0 {
				continue
			}
			at += n
		}
		moved, last = at-c.at[i], at
		c.words[kept], c.at[kept] = w, at
		kept++
	}
	c.words, c.at = c.words[:kept], c.at[:kept]
}

func (c *common) begin(msg []byte) {
	c.words = []string{}
	text := string(clip(msg))
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) >= 3 && !slices.Contains(c.words, w) {
			c.words, c.at = append(c.words, w), append(c.at, strings.Index(text, w))
		}
	}
}

// both returns the words of a, of which each is part of a word of b.
func both(a, b []string) []string {
	return slices.DeleteFunc(a, func(w string) bool {
		return !slices.ContainsFunc(b, func(o string) bool { return strings.Contains(o, w) })
	})
}

// see counts a record of n bytes and updates the timestamps of the stream. env is
// the clock of the framing, header that of the message header.
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

// seeFirst is the slow path of see: the first line of the stream, a line after a
// gap, or one without a timestamp.
func (l *stream) seeFirst(s *scanner, raw, env *parse.Clock, header bool, n int) {
	if l.last.back(raw, header) {
		if !l.stepped || l.last.raw.NS > l.high.raw.NS {
			l.high = l.last
		}
		if !l.stepped || raw.NS < l.low.raw.NS {
			l.low.put(s, raw, env, header, n)
		}
		l.stepped = true
	}
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

// put makes p the current line, of n bytes. It assigns the clocks field by field
// because the next line reads them that way.
func (p *spot) put(s *scanner, raw, env *parse.Clock, header bool, n int) {
	p.raw.NS, p.raw.Res, p.raw.Lack, p.raw.Set, p.raw.East = raw.NS, raw.Res, raw.Lack, raw.Set, raw.East
	p.env.NS, p.env.Res, p.env.Lack, p.env.Set, p.env.East = env.NS, env.Res, env.Lack, env.Set, env.East
	p.header, p.offset, p.line, p.from, p.end = header, s.offset(), s.line, s.at, s.at+n
}

// mark keeps the text of the line at p.
func (s *scanner) mark(p *spot) parse.Mark {
	return parse.Mark{Pos: parse.Pos{File: s.d.file, Offset: p.offset, Line: p.line}, Raw: p.raw, Envelope: p.env, Text: s.markText(p.from, p.end)}
}

// gapMin returns the length in ns from which a silence of an origin is recorded as
// a gap. Silences of the kubelet are evidence; other daemons are silent all the
// time.
func gapMin(s parse.Source) int64 {
	if s == parse.SrcKubelet || s == parse.SrcUnknown {
		return parse.GapMin
	}
	return parse.GapMinOther
}

// soon reports whether raw is less than least (ns) after p on the same clock. It is
// the fast path and true for nearly every line.
func (p *spot) soon(raw *parse.Clock, header bool, least int64) bool {
	return p.header == header && p.raw.Set && uint64(raw.NS-p.raw.NS) < uint64(least)
}

// gap reports whether the origin was silent for at least least (ns) between p and a
// line with the given clocks. It compares header clocks if both lines have one.
func (p *spot) gap(raw, env *parse.Clock, header bool, least int64) bool {
	x, y := &p.raw, raw
	if p.header != header {
		x, y = &p.env, env
	}
	return x.Set && y.Set && apart(x, y) >= least
}

// back reports whether a line with the given clock is before p by the same clock, or reads so in the same second, as one does
// that has only the second of the framing behind one with a header.
func (p *spot) back(raw *parse.Clock, header bool) bool {
	d := raw.NS - p.raw.NS
	return p.raw.Set && raw.Set && p.raw.Lack == raw.Lack && d < 0 && d > -leapYear/2 && (p.header == header || d > -1e9)
}

// leapYear is the length of YearUnknown in ns.
const leapYear = 366 * 86400e9

// apart returns the absolute distance in ns of two readings of one clock. Without a
// year, the end of December and the beginning of January are adjacent.
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

// finish turns the last lines into marks, because the data of the run is released.
func (s *scanner) finish() {
	for _, l := range s.res.streams {
		l.end = s.mark(&l.last)
		if l.stepped {
			l.marks = [2]parse.Mark{s.mark(&l.low), s.mark(&l.high)}
		}
		l.lag.finish(s)
	}
}

// order counts how often the clock of a file steps forward and backward.
type order struct {
	set         bool
	first, last reading
	up, down    int
}

// reading is the part of a Clock that order needs.
type reading struct {
	ns   int64
	lack parse.Lack
}

// stays records a reading less than a second from the last one, which does not
// count as a step, and reports whether c was one.
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

// step counts a step of a second or more from the last reading. Shorter ones are
// ignored because neighboring lines may be swapped.
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
