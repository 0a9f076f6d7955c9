package clock

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Lines of dmesg and of short-monotonic journals state only the time since boot.
// They are dated by dating the boot: by lines of the same file that also carry a
// date, by lines that another file has with a date too, or by the boot time or
// uptime stated in the bundle.

// Fact keys that date the boot.
const (
	keyBootTime = "time.boot"   // Num: Unix seconds
	keyUptime   = "time.uptime" // Num: seconds; the fact's stamp is the moment
)

// drift bounds how far the kernel's clock, which is not slewed, and the wall clock
// may diverge: 1/drift of the time elapsed (50 ppm).
const drift = 20000

// knot maps a time since boot to a wall-clock time.
type knot struct {
	mono, at int64 // ns
	res      time.Duration
	by       string       // what tells it, without its place
	line     parse.Record // which stands there
}

// sinceBoot parses the time since boot at the start of a line, after an optional
// "<priority>" of raw kernel messages.
func sinceBoot(line string) (ns int64, rest string, ok bool) {
	if strings.HasPrefix(line, "<") {
		if i := strings.IndexByte(line, '>'); i > 0 && i < 6 {
			line = line[i+1:]
		}
	}
	end := strings.IndexByte(line[:min(len(line), 64)], ']')
	if end < 0 || line[0] != '[' {
		return 0, "", false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(line[1:end]), " ")
	whole, frac, found := strings.Cut(word, ".")
	s, err1 := strconv.ParseUint(whole, 10, 32)
	us, err2 := strconv.ParseUint(frac, 10, 32)
	if !found || err1 != nil || err2 != nil || len(frac) != 6 {
		return 0, "", false
	}
	return int64(s)*1e9 + int64(us)*1e3, strings.TrimSpace(line[end+1:]), true
}

// datesSinceBoot dates records that state only the time since boot.
func datesSinceBoot(b *parse.Bundle, files []*file) {
	var undated []*file
	for _, f := range files {
		if f.hasUndated() {
			undated = append(undated, f)
		}
	}
	if len(undated) == 0 {
		return
	}
	said := saidByKernel(b.Events)
	for _, f := range undated {
		if knots := f.knots(b, said); len(knots) > 0 {
			f.dateBy(knots)
		}
	}
}

// maxUndated is how many undated lines of a file are tested for a time since boot;
// in dmesg nearly all have one.
const maxUndated = 200

func (f *file) hasUndated() bool {
	left := maxUndated
	counts := func(at parse.Stamp, text parse.Text) bool {
		if at.Basis != parse.NoTime || left == 0 {
			return false
		}
		left--
		_, _, ok := sinceBoot(text.String())
		return ok
	}
	if f.undated { // otherwise there is nothing to find among millions
		for _, e := range f.events {
			if counts(e.Stamp, e.Text()) {
				return true
			}
		}
	}
	for _, c := range f.coverage {
		if counts(c.FirstLine.Stamp, c.FirstLine.Text) || counts(c.LastLine.Stamp, c.LastLine.Text) {
			return true
		}
	}
	return false
}

// saying stands for a kernel message on a node: the sum of both, as there may be a
// million of them and their text would keep whole lines in memory.
type saying uint64

// sayingSeed is random so that no log can be crafted to collide.
var sayingSeed = maphash.MakeSeed()

func sayingOf(f *parse.File, message string) saying {
	return saying(maphash.Comparable(sayingSeed, struct {
		input         int
		node, message string
	}{f.Input, f.Node, message}))
}

// saidByKernel maps each dated kernel message to its line, the one with the finest
// resolution if several files hold it; nil if it occurs twice in one file.
func saidByKernel(events []*parse.Event) map[saying]*parse.Event {
	out := map[saying]*parse.Event{}
	for _, e := range events {
		if e.Origin.Source != parse.SrcKernel || e.Basis == parse.NoTime {
			continue
		}
		k := sayingOf(e.File, strings.TrimSpace(e.Message()))
		switch before, seen := out[k]; {
		case !seen || before != nil && before.File != e.File && e.Res.Duration() < before.Res.Duration():
			out[k] = e
		case before != nil && before.File == e.File:
			out[k] = nil
		}
	}
	return out
}

// knots returns the knots that date the boot of the file, sorted by time since
// boot. The first kind with any wins: own dated lines, lines shared with other
// files, boot time or uptime.
func (f *file) knots(b *parse.Bundle, said map[saying]*parse.Event) []knot {
	var own, shared []knot
	count := map[saying]int{} // of those said in another file
	for _, e := range f.events {
		if _, msg, ok := sinceBoot(e.Quote()); ok && len(said) > 0 {
			if k := sayingOf(f.File, msg); said[k] != nil {
				count[k]++
			}
		}
	}
	for _, e := range f.events {
		mono, msg, ok := sinceBoot(e.Quote())
		switch {
		case !ok || mono == 0:
		case e.Basis != parse.NoTime:
			own = append(own, knot{mono, e.At, e.Res.Duration(), "its own dated lines, such as ", e})
		case len(count) > 0:
			k := sayingOf(f.File, msg)
			if d := said[k]; count[k] == 1 && strings.TrimSpace(d.Message()) == msg {
				shared = append(shared, knot{mono, d.At, d.Res.Duration(), "the same line in ", d})
			}
		}
	}
	for _, ks := range [][]knot{own, shared} {
		if len(ks) > 0 {
			slices.SortStableFunc(ks, func(a, b knot) int { return cmp.Compare(a.mono, b.mono) })
			return ks
		}
	}
	if k, ok := f.statedBoot(b); ok {
		return []knot{k}
	}
	return nil
}

// statedBoot returns the boot time from the most precise fact of the node.
func (f *file) statedBoot(b *parse.Bundle) (best knot, ok bool) {
	for _, x := range b.Facts {
		if x.File == nil || x.File.Input != f.Input || x.File.Node != f.Node && x.File.Node != "" && f.Node != "" || !(x.Num > 0 && x.Num < 1e11) {
			continue
		}
		var k knot
		switch {
		case x.Key == keyBootTime:
			k = knot{0, int64(x.Num) * 1e9, time.Second, "the time of boot in ", x}
		case x.Key == keyUptime && x.Basis > parse.FileTime:
			k = knot{0, x.At - int64(x.Num*1e9), max(x.Res.Duration(), time.Minute), "the uptime in ", x}
		default:
			continue
		}
		if !ok || k.res < best.res {
			best, ok = k, true
		}
	}
	return best, ok
}

// dateBy dates the undated lines of the file by the nearest knot.
func (f *file) dateBy(knots []knot) {
	date := func(text parse.Text, s *parse.Stamp) {
		if s.Basis != parse.NoTime {
			return
		}
		mono, _, ok := sinceBoot(text.String())
		if !ok {
			return
		}
		k := nearest(knots, mono)
		away := max(mono-k.mono, k.mono-mono)
		*s = parse.Stamp{At: k.at + mono - k.mono, Res: parse.ResolutionOf(k.res + time.Duration(away/drift)), Basis: parse.SinceBoot}
	}
	for _, e := range f.events {
		date(e.Text(), &e.Stamp)
	}
	f.ascending = false // no longer known
	for _, c := range f.coverage {
		date(c.FirstLine.Text, &c.FirstLine.Stamp)
		date(c.LastLine.Text, &c.LastLine.Stamp)
		date(c.Low.Text, &c.Low.Stamp)
		date(c.High.Text, &c.High.Stamp)
		for i := range c.Gaps {
			date(c.Gaps[i].Last.Text, &c.Gaps[i].Last.Stamp)
			date(c.Gaps[i].Next.Text, &c.Gaps[i].Next.Stamp)
		}
	}
	last := knots[len(knots)-1]
	boot := time.Unix(0, last.at-last.mono).UTC().Format("2006-01-02 15:04:05")
	f.envelope = zone{name: parse.ZoneSinceBoot, why: fmt.Sprintf("boot at %s UTC by %s, ±%v and %d ppm of the time from there", boot, last.by+last.line.Where().String(), last.res, 1000000/drift)}
	f.year, f.yearBasis = 0, ""
}

func nearest(knots []knot, mono int64) knot {
	i, _ := slices.BinarySearchFunc(knots, mono, func(k knot, mono int64) int { return cmp.Compare(k.mono, mono) })
	if i == len(knots) || i > 0 && mono-knots[i-1].mono < knots[i].mono-mono {
		i--
	}
	return knots[i]
}
