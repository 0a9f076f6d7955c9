package host

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Frame is a time window in Unix ns; 0 leaves a side open.
type Frame struct{ Since, Until int64 }

// Out reports whether the interval from..to lies wholly outside the frame. An interval
// without a known end (to == 0) is a moment.
func (f Frame) Out(from, to int64) bool {
	to = cmp.Or(to, from)
	return f.Since != 0 && to != 0 && to < f.Since || f.Until != 0 && from != 0 && from > f.Until
}

// Clip drops the records outside the frame: lines, samples, snapshots, Event objects,
// and facts about the state of the node at a moment. It keeps what the node is and how
// it is configured, which holds at any time.
func (n *Records) Clip(f Frame) {
	n.Since = max(n.Since, f.Since)
	n.Events = slices.DeleteFunc(slices.Clone(n.Events), func(e *parse.Event) bool { return f.outside(e.Stamp) })
	n.index = nil
	n.Facts = slices.DeleteFunc(slices.Clone(n.Facts), func(x *parse.Fact) bool { return !standing(x) && f.outside(x.Stamp) })
	n.Markers = slices.DeleteFunc(slices.Clone(n.Markers), func(m *parse.Marker) bool { return f.outside(m.Stamp) })
	n.Objects = slices.DeleteFunc(slices.Clone(n.Objects), func(o *parse.Object) bool { return o.Kind == "Event" && f.outside(o.Stamp) })
	n.Containers = slices.DeleteFunc(slices.Clone(n.Containers), func(c *parse.Container) bool { return f.outside(c.Stamp) })
	n.Listings = slices.DeleteFunc(slices.Clone(n.Listings), func(l parse.Listing) bool { return f.outside(l.Stamp) })
	n.Scrapes = slices.DeleteFunc(slices.Clone(n.Scrapes), func(s *parse.Scrape) bool {
		return s.Basis == parse.NoTime || f.Out(cmp.Or(s.Since, s.At), s.At)
	})
	series := make([]*parse.Series, 0, len(n.Series))
	for _, s := range n.Series {
		if s = s.Within(f.Since, f.Until); s != nil {
			series = append(series, s)
		}
	}
	n.Series = series
	n.Coverage = slices.DeleteFunc(slices.Clone(n.Coverage), func(c *parse.Coverage) bool { return !f.covered(c) })
}

// outside reports whether a stamp lies outside the frame. An undated one always does.
func (f Frame) outside(s parse.Stamp) bool { return s.Basis == parse.NoTime || f.Out(s.At, s.At) }

// standing reports whether a fact is about what the node is or how it is configured,
// rather than its state at a moment.
func standing(x *parse.Fact) bool {
	if x.Raw != (parse.Clock{}) {
		return false // dated individually
	}
	return slices.ContainsFunc([]string{"node.", "os.", "kernel.", "kubelet.", "runtime.name", "runtime.version", "runc.", "systemd.version", "systemd.setting",
		"crictl.", "collector.", "cpu.count", "mem.total", "swap.total", "pid.max", "threads.max", "files.max", "time."},
		func(prefix string) bool { return strings.HasPrefix(x.Key, prefix) })
}

// covered reports whether a log may have a line in the frame: it overlaps the frame,
// and the frame does not lie wholly in a gap.
func (f Frame) covered(c *parse.Coverage) bool {
	return c.FirstLine.Basis != parse.NoTime && !f.Out(c.FirstLine.At, c.LastLine.At) && !slices.ContainsFunc(c.Gaps, func(g parse.Gap) bool {
		return f.Since != 0 && f.Until != 0 && g.Last.At < f.Since && g.Next.At > f.Until
	})
}

// Dated reports whether the records include anything about a moment in time.
func (n *Records) Dated() bool {
	return len(n.Coverage)+len(n.Events)+len(n.Series)+len(n.Scrapes)+len(n.Containers)+len(n.Listings) > 0 ||
		slices.ContainsFunc(n.Objects, func(o *parse.Object) bool { return o.Kind == "Event" })
}
