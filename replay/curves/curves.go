// Package curves extracts what the metrics and system files of a node show over time
// besides its relists: the mean duration and the rate of calls, and how long tasks
// waited for CPU, disks and memory. It is a function of a node's history and does no
// I/O.
package curves

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Curve is one measure over time.
type Curve struct {
	Name   string
	Unit   string        // "s", "/s", "%"; "" for a plain number
	Gap    time.Duration // points farther apart than this have unknown values between them
	Points []Point
}

// Point is a value, NaN if there is none, and the record that states it.
type Point struct {
	At    int64 // Unix ns
	Value float64
	By    parse.Record // nil without a value
}

// most bounds the points of one curve: more than a display has pixels is useless.
const most = 4000

// Of returns the curves of a node that help to understand a PLEG incident.
func Of(n *replay.Node) []Curve {
	c := reader{node: n}
	c.mean("relist, mean", "", "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_latency_microseconds")
	c.rate("operations", "/s", 1, "kubelet_runtime_operations_total", "kubelet_runtime_operations")
	for _, op := range []string{"list_podsandbox", "list_containers", "podsandbox_status", "container_status"} {
		c.mean(op+", mean", op, "kubelet_runtime_operations_duration_seconds", "kubelet_runtime_operations_latency_microseconds")
	}
	c.rate("waiting for CPU", "%", 100, "node_pressure_cpu_waiting_seconds_total")
	c.rate("stalled on I/O", "%", 100, "node_pressure_io_stalled_seconds_total", "node_pressure_io_waiting_seconds_total")
	c.rate("stalled on memory", "%", 100, "node_pressure_memory_stalled_seconds_total", "node_pressure_memory_waiting_seconds_total")
	c.gauge("load, 1 min", "node_load1")
	for _, f := range []struct{ name, unit, key string }{
		{"load, 1 min", "", "load.1"},
		{"waiting for CPU", "%", "psi.cpu.some.avg60"},
		{"stalled on I/O", "%", "psi.io.full.avg60"},
		{"stalled on memory", "%", "psi.memory.full.avg60"},
		{"blocked tasks", "", "procs.blocked"},
		{"waiting for disks", "%", "cpu.iowait.percent"},
	} {
		c.facts(f.name, f.unit, f.key)
	}
	return c.out
}

// reader builds the curves of one node.
type reader struct {
	node *replay.Node
	out  []Curve
}

// find returns the first series with the name and the operation ("": any), nil if there
// is none.
func (c *reader) find(name, op string) *parse.Series {
	for _, s := range c.node.Series {
		if s.Name == name && (op == "" || s.Label("operation_type") == op) {
			return s
		}
	}
	return nil
}

// mean adds the mean duration of something between two samples of a histogram or
// summary, from the first name that has samples.
func (c *reader) mean(title, op string, names ...string) {
	for _, name := range names {
		of := c.find(name+"_sum", op)
		sum, count := samples(of), samples(c.find(name+"_count", op))
		if len(sum) != len(count) || len(sum) < 2 {
			continue
		}
		unit := 1.0
		if strings.HasSuffix(name, "microseconds") {
			unit = 1e-6
		}
		var points []Point
		for i := 1; i < len(sum); i++ {
			value := math.NaN()
			if n := count[i].V - count[i-1].V; n > 0 {
				value = (sum[i].V - sum[i-1].V) / n * unit
			}
			points = append(points, Point{sum[i].At, value, of.Cite(sum[i])})
		}
		c.add(title, "s", points)
		return
	}
}

// rate adds the growth per second, times factor, summed over all series of the first
// name that has samples.
func (c *reader) rate(title, unit string, factor float64, names ...string) {
	for _, name := range names {
		var longest []parse.Point
		var of *parse.Series
		grown := map[int64]float64{}
		for _, s := range c.node.Series {
			if s.Name != name {
				continue
			}
			ps := samples(s)
			if len(ps) > 1 && len(ps) > len(longest) {
				longest, of = ps, s
			}
			for i := 1; i < len(ps); i++ {
				a, b := ps[i-1], ps[i]
				if b.At > a.At && b.V >= a.V {
					grown[b.At] += (b.V - a.V) / (float64(b.At-a.At) / 1e9) * factor
				}
			}
		}
		if of == nil {
			continue
		}
		var points []Point
		for _, p := range longest[1:] {
			value, ok := grown[p.At]
			if !ok {
				value = math.NaN()
			}
			points = append(points, Point{p.At, value, of.Cite(p)})
		}
		c.add(title, unit, points)
		return
	}
}

func (c *reader) gauge(title, name string) {
	var points []Point
	s := c.find(name, "")
	for _, p := range samples(s) {
		points = append(points, Point{p.At, p.V, s.Cite(p)})
	}
	c.add(title, "", points)
}

// facts adds values that system files state at several moments, such as the output of
// sar, unless the curve already exists.
func (c *reader) facts(title, unit, key string) {
	if slices.ContainsFunc(c.out, func(x Curve) bool { return x.Name == title }) {
		return
	}
	var points []Point
	for _, f := range c.node.Facts {
		if f.Key == key && f.Basis != parse.NoTime && !math.IsNaN(f.Num) {
			points = append(points, Point{f.At, f.Num, f})
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	c.add(title, unit, points)
}

// read bounds the samples of one series that a curve uses.
const read = 20_000

// samples returns the samples of a series, thinned out if there are very many.
func samples(s *parse.Series) []parse.Point {
	switch {
	case s == nil:
		return nil
	case len(s.Chunks) == 0:
		return s.Points
	}
	all := slices.Collect(s.Samples())
	every := len(all)/read + 1
	var out []parse.Point
	for i := 0; i < len(all); i += every {
		out = append(out, all[i])
	}
	return out
}

// add adds a curve of the points in the window of the node, if at least two have a
// value.
func (c *reader) add(title, unit string, points []Point) {
	w, known := c.node.Window, 0
	points = slices.DeleteFunc(points, func(p Point) bool { return p.At < w.Start || p.At > w.End })
	for i := range points {
		if p := &points[i]; math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
			*p = Point{At: p.At, Value: math.NaN()}
		} else {
			known++
		}
	}
	if known < 2 {
		return
	}
	if every := len(points)/most + 1; every > 1 {
		points = thinned(points, every)
	}
	c.out = append(c.out, Curve{title, unit, usualGap(points), points})
}

// thinned keeps the highest of each group of points, because peaks matter.
func thinned(points []Point, every int) []Point {
	var out []Point
	for some := range slices.Chunk(points, every) {
		best := some[0]
		for _, p := range some {
			if p.By != nil && !(p.Value <= best.Value) {
				best = p
			}
		}
		out = append(out, best)
	}
	return out
}

// usualGap returns three times the median distance of points; a longer distance is a
// gap.
func usualGap(points []Point) time.Duration {
	var d []int64
	for i := 1; i < len(points); i++ {
		d = append(d, points[i].At-points[i-1].At)
	}
	slices.Sort(d)
	return time.Duration(3 * d[len(d)/2])
}
