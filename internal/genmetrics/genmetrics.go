// Package genmetrics writes the metrics of a simulated kubelet, whose relist hangs once, in any
// size: a directory of snapshots, or a Prometheus database. It is for benchmarks; the program does
// not use it.
package genmetrics

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb"
)

// Options specify how much to write.
type Options struct {
	Series  int // per snapshot, at least 400
	Scrapes int // 15 s apart
}

// start is the time of the first scrape, step the interval between scrapes.
var start = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

const step = 15 * time.Second

// operations of the runtime.
var operations = []string{"list_podsandbox", "list_containers", "podsandbox_status", "container_status", "status", "version", "exec_sync", "list_images", "create_container", "start_container"}

// edges are the bounds of the histogram buckets.
var edges = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// node is the state of the kubelet at one scrape.
type node struct {
	scrape        int
	ended, hung   float64 // number of relists
	begun, waited float64 // number of intervals and their sum in seconds
	seen          int64
}

// at returns the state at the i-th scrape. One relist in the middle of the data takes five minutes.
func at(i, scrapes int) node {
	t := start.Add(time.Duration(i) * step)
	n := node{scrape: i, seen: t.Unix() - 1}
	quiet := i
	if from := scrapes / 2; i > from {
		quiet = from + max(i-from-20, 0)
		if i-from < 20 {
			n.seen = start.Add(time.Duration(from) * step).Unix()
		} else {
			n.hung = 1
		}
	}
	n.ended = 14*float64(quiet+1) + n.hung
	n.begun = n.ended
	if n.seen == t.Unix()-1 {
		n.begun-- // idle: there is no interval before the first relist
	}
	n.waited = n.begun*1.05 + 300*n.hung
	return n
}

// each calls put for all series of a scrape, always in the same order.
func (n *node) each(series int, put func(name string, kv []string, v float64)) {
	left := series
	emit := func(name string, v float64, kv ...string) {
		if left > 0 {
			left--
			put(name, kv, v)
		}
	}
	histogram(emit, "kubelet_pleg_relist_duration_seconds", n.ended, n.hung, n.ended*.02+300*n.hung)
	histogram(emit, "kubelet_pleg_relist_interval_seconds", n.begun, n.hung, n.waited)
	emit("kubelet_pleg_last_seen_seconds", float64(n.seen))
	emit("kubelet_pleg_discard_events", 0)
	emit("process_start_time_seconds", float64(start.Unix()-60))
	for k, op := range operations {
		calls, slow := n.ended*float64(k+1), 0.0
		if k == 0 {
			slow = n.hung
		}
		emit("kubelet_runtime_operations_total", calls, "operation_type", op)
		histogram(emit, "kubelet_runtime_operations_duration_seconds", calls, slow, calls*.004+300*slow, "operation_type", op)
	}
	for i := 0; left > 0; i++ {
		emit("workqueue_depth_total", float64(n.scrape*(i%7)), "name", "queue_"+strconv.Itoa(i), "host", "10.0.0."+strconv.Itoa(i%250))
	}
}

// histogram emits a histogram; beyond of its observations exceed the last edge.
func histogram(emit func(string, float64, ...string), name string, count, beyond, sum float64, kv ...string) {
	for i, le := range edges {
		part := min(float64(i+1)/4, 1)
		emit(name+"_bucket", float64(int((count-beyond)*part)), append(kv[:len(kv):len(kv)], "le", strconv.FormatFloat(le, 'g', -1, 64))...)
	}
	emit(name+"_bucket", count, append(kv[:len(kv):len(kv)], "le", "+Inf")...)
	emit(name+"_count", count, kv...)
	emit(name+"_sum", sum, kv...)
}

// Snapshots writes one file per scrape to dir.
func Snapshots(dir string, o Options) error {
	for i := range o.Scrapes {
		name := start.Add(time.Duration(i)*step).Format("20060102T150405.000Z") + ".prom"
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := snapshot(f, i, o); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func snapshot(f io.Writer, i int, o Options) error {
	w := bufio.NewWriter(f)
	n, last := at(i, o.Scrapes), ""
	n.each(o.Series, func(name string, kv []string, v float64) {
		if name != last {
			fmt.Fprintf(w, "# HELP %s invented\n", name)
			last = name
		}
		w.WriteString(name)
		for k := 0; k < len(kv); k += 2 {
			fmt.Fprintf(w, "%c%s=%q", ",{"[b2i(k == 0)], kv[k], kv[k+1])
		}
		if len(kv) > 0 {
			w.WriteByte('}')
		}
		fmt.Fprintf(w, " %s\n", strconv.FormatFloat(v, 'g', -1, 64))
	})
	return w.Flush()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Database writes the scrapes as two-hour blocks to dir.
func Database(dir string, o Options) error {
	ctx := context.Background()
	const block = 2 * time.Hour
	log := slog.New(slog.DiscardHandler)
	for from := 0; from < o.Scrapes; from += int(block / step) {
		w, err := tsdb.NewBlockWriter(log, dir, 2*block.Milliseconds())
		if err != nil {
			return err
		}
		app := w.Appender(ctx)
		for i := from; i < min(from+int(block/step), o.Scrapes); i++ {
			n, ms := at(i, o.Scrapes), start.Add(time.Duration(i)*step).UnixMilli()
			n.each(o.Series, func(name string, kv []string, v float64) {
				ls := labels.FromStrings(append([]string{"__name__", name, "instance", "10.0.0.1:10250", "job", "kubelet", "metrics_path", "/metrics"}, kv...)...)
				if _, aerr := app.Append(0, ls, ms, v); aerr != nil && err == nil {
					err = aerr
				}
			})
			if err != nil {
				return err
			}
		}
		if err := app.Commit(); err != nil {
			return err
		}
		if _, err := w.Flush(ctx); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}
