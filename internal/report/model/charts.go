package model

import (
	"math"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// chartPoints bounds the points of one chart: more than pixels tell nothing.
const chartPoints = 4000

// charts are the metric lanes: what a reader of a PLEG incident looks at.
func (clean *Cleaner) charts(n *replay.Node) []Chart {
	c := charter{clean: clean, node: n}
	c.mean("relist, mean", "", "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_latency_microseconds")
	c.rate("operations", "/s", 1, "kubelet_runtime_operations_total", "kubelet_runtime_operations")
	for _, op := range []string{"list_podsandbox", "list_containers", "podsandbox_status", "container_status"} {
		c.mean(op+", mean", op, "kubelet_runtime_operations_duration_seconds", "kubelet_runtime_operations_latency_microseconds")
	}
	c.rate("waiting for CPU", " %", 100, "node_pressure_cpu_waiting_seconds_total")
	c.rate("stalled on I/O", " %", 100, "node_pressure_io_stalled_seconds_total", "node_pressure_io_waiting_seconds_total")
	c.rate("stalled on memory", " %", 100, "node_pressure_memory_stalled_seconds_total", "node_pressure_memory_waiting_seconds_total")
	c.gauge("load, 1 min", "", "node_load1")
	for _, f := range []struct{ name, unit, key string }{
		{"load, 1 min", "", "load.1"},
		{"waiting for CPU", " %", "psi.cpu.some.avg60"},
		{"stalled on I/O", " %", "psi.io.full.avg60"},
		{"stalled on memory", " %", "psi.memory.full.avg60"},
		{"blocked tasks", "", "procs.blocked"},
		{"waiting for disks", " %", "cpu.iowait.percent"},
	} {
		c.facts(f.name, f.unit, f.key)
	}
	return c.out
}

// charter builds the charts of one node.
type charter struct {
	clean *Cleaner
	node  *replay.Node
	out   []Chart
}

// plot is a chart while it is drawn.
type plot struct {
	Chart
	lines []parse.Record // nil where nothing is cited
}

// find is the first series of that name and operation, "" for any.
func (c *charter) find(name, op string) *parse.Series {
	for _, s := range c.node.Series {
		if s.Name == name && (op == "" || s.Label("operation_type") == op) {
			return s
		}
	}
	return nil
}

// mean draws how long something took on average between two samples of a
// histogram or summary; the first name that has samples counts.
func (c *charter) mean(title, op string, names ...string) {
	for _, name := range names {
		of := c.find(name+"_sum", op)
		sum, count := drawn(of), drawn(c.find(name+"_count", op))
		if len(sum) != len(count) || len(sum) < 2 {
			continue
		}
		unit := 1.0
		if len(name) > 12 && name[len(name)-12:] == "microseconds" {
			unit = 1e-6
		}
		out := plot{Chart: Chart{Name: title, Unit: " s"}}
		for i := 1; i < len(sum); i++ {
			value := math.NaN()
			if n := count[i].V - count[i-1].V; n > 0 {
				value = (sum[i].V - sum[i-1].V) / n * unit
			}
			c.point(&out, sum[i].At, value, of.Cite(sum[i]))
		}
		c.add(out)
		return
	}
}

// rate draws the growth a second, times factor, summed over all series of the
// first name that has samples.
func (c *charter) rate(title, unit string, factor float64, names ...string) {
	for _, name := range names {
		var all [][]parse.Point
		var of []*parse.Series
		for _, s := range c.node.Series {
			if s.Name != name {
				continue
			}
			if ps := drawn(s); len(ps) > 1 {
				all, of = append(all, ps), append(of, s)
			}
		}
		if len(all) == 0 {
			continue
		}
		grown := map[int64]float64{}
		out := plot{Chart: Chart{Name: title, Unit: unit}}
		longest := 0
		for k, ps := range all {
			if len(ps) > len(all[longest]) {
				longest = k
			}
			for i := 1; i < len(ps); i++ {
				a, b := ps[i-1], ps[i]
				if b.At > a.At && b.V >= a.V {
					grown[b.At] += (b.V - a.V) / (float64(b.At-a.At) / 1e9) * factor
				}
			}
		}
		for _, p := range all[longest][1:] {
			value, ok := grown[p.At]
			if !ok {
				value = math.NaN()
			}
			c.point(&out, p.At, value, of[longest].Cite(p))
		}
		c.add(out)
		return
	}
}

func (c *charter) gauge(title, unit, name string) {
	s := c.find(name, "")
	if s == nil {
		return
	}
	out := plot{Chart: Chart{Name: title, Unit: unit}}
	for _, p := range drawn(s) {
		c.point(&out, p.At, p.V, s.Cite(p))
	}
	c.add(out)
}

// facts draws what system files say at several moments, as sar does.
func (c *charter) facts(title, unit, key string) {
	if slices.ContainsFunc(c.out, func(x Chart) bool { return x.Name == title }) {
		return
	}
	var dated []*parse.Fact
	for _, f := range c.node.Facts {
		if f.Key == key && f.Basis != parse.NoTime && !math.IsNaN(f.Num) {
			dated = append(dated, f)
		}
	}
	slices.SortStableFunc(dated, func(a, b *parse.Fact) int { return int(min(max(a.At-b.At, -1), 1)) })
	out := plot{Chart: Chart{Name: title, Unit: unit}}
	for _, f := range dated {
		c.point(&out, f.At, f.Num, f)
	}
	c.add(out)
}

// maxRead bounds the samples of one series that a chart is made of.
const maxRead = 20_000

// drawn are the samples of a series, of very many every few.
func drawn(s *parse.Series) []parse.Point {
	if s == nil {
		return nil
	}
	if len(s.Chunks) == 0 {
		return s.Points
	}
	n := 0
	for range s.Samples() {
		n++
	}
	var out []parse.Point
	every, i := n/maxRead+1, 0
	for p := range s.Samples() {
		if i%every == 0 {
			out = append(out, p)
		}
		i++
	}
	return out
}

// point adds a value, NaN where there is none, and the line behind it.
func (c *charter) point(out *plot, at int64, value float64, r parse.Record) {
	if at < c.node.Window.Start || at > c.node.Window.End {
		return
	}
	v := Number(value)
	if v == nil {
		r = nil
	}
	out.At, out.Value, out.lines = append(out.At, Time(at)), append(out.Value, v), append(out.lines, r)
}

// add keeps a chart that draws a line.
func (c *charter) add(x plot) {
	known := 0
	for _, v := range x.Value {
		if v != nil {
			known++
		}
	}
	if known < 2 {
		return
	}
	if every := len(x.At)/chartPoints + 1; every > 1 {
		x = thinned(x, every)
	}
	x.Gap = usualGap(x.At)
	lines := x.lines
	x.Evidence = func(i int) Proof { return c.clean.record(lines[i]) }
	c.out = append(c.out, x.Chart)
}

// thinned keeps of every few points the highest: peaks are what is looked for.
func thinned(x plot, every int) plot {
	out := plot{Chart: Chart{Name: x.Name, Unit: x.Unit}}
	for i := 0; i < len(x.At); i += every {
		best := i
		for j := i; j < min(i+every, len(x.At)); j++ {
			if x.Value[j] != nil && (x.Value[best] == nil || *x.Value[j] > *x.Value[best]) {
				best = j
			}
		}
		out.At, out.Value, out.lines = append(out.At, x.At[best]), append(out.Value, x.Value[best]), append(out.lines, x.lines[best])
	}
	return out
}

// usualGap is three times the median distance of samples, in seconds: more is a
// gap.
func usualGap(t []Time) float64 {
	if len(t) < 2 {
		return 0
	}
	var d []float64
	for i := 1; i < len(t); i++ {
		d = append(d, Seconds(t[i].Sub(t[i-1])))
	}
	slices.Sort(d)
	return 3 * d[len(d)/2]
}
