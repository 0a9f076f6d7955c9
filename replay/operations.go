package replay

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// operations sums up the runtime calls by operation: from the metrics where
// there are any, with the failed calls of the log.
func operations(n *Node) []Operation {
	byName := map[string]*Operation{}
	get := func(name string) *Operation {
		o := byName[name]
		if o == nil {
			o = &Operation{Name: name, Calls: -1, P50: -1, P99: -1, ShareOfRelist: -1}
			byName[name] = o
		}
		return o
	}
	for i := range n.Failures {
		f := &n.Failures[i]
		if f.Call == "" {
			continue
		}
		o := get(operationType(f.Call))
		o.Errors++
		if f.Start.Known() {
			o.Total += time.Duration(f.End - f.Start.At)
		}
		if len(o.Evidence) < 3 {
			o.Evidence = append(o.Evidence, f.Evidence[0])
		}
	}
	fromSeries(n.Series, get)
	out := make([]Operation, 0, len(byName))
	for _, o := range byName {
		out = append(out, *o)
	}
	slices.SortFunc(out, func(a, b Operation) int {
		if c := cmp64(int64(b.Total), int64(a.Total)); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// operationType is the label that the metrics use for a call.
func operationType(call string) string {
	switch call {
	case "ListPodSandbox":
		return "list_podsandbox"
	case "PodSandboxStatus":
		return "podsandbox_status"
	case "RunPodSandbox":
		return "run_podsandbox"
	case "StopPodSandbox":
		return "stop_podsandbox"
	case "RemovePodSandbox":
		return "remove_podsandbox"
	}
	var b strings.Builder
	for i, r := range call {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fromSeries adds what the runtime operation metrics say: the growth over the
// snapshots, or the values of a single one.
func fromSeries(series []*parse.Series, get func(string) *Operation) {
	buckets := map[string][]bucket{}
	for _, s := range series {
		op := s.Label("operation_type")
		if op == "" || len(s.Points) == 0 {
			continue
		}
		v := growth(s)
		switch s.Name {
		case "kubelet_runtime_operations_total", "kubelet_runtime_operations":
			o := get(op)
			o.Calls = max(o.Calls, 0) + int(v)
		case "kubelet_runtime_operations_errors_total", "kubelet_runtime_operations_errors":
			o := get(op)
			o.Errors = max(o.Errors, int(v))
		case "kubelet_runtime_operations_duration_seconds_sum":
			o := get(op)
			if d := time.Duration(v * float64(time.Second)); d > o.Total && v < 1e9 {
				o.Total = d
			}
			o.Evidence = append(o.Evidence, Evidence{Record: s.Sample(len(s.Points) - 1)})
		case "kubelet_runtime_operations_duration_seconds_bucket":
			if le, err := strconv.ParseFloat(s.Label("le"), 64); err == nil {
				buckets[op] = append(buckets[op], bucket{le, v})
			}
		}
	}
	for op, bs := range buckets {
		o := get(op)
		slices.SortFunc(bs, func(a, b bucket) int {
			switch {
			case a.le < b.le:
				return -1
			case a.le > b.le:
				return 1
			}
			return 0
		})
		o.P50, o.P99 = quantile(bs, 0.5), quantile(bs, 0.99)
	}
}

// growth is the increase of a counter over its samples, restarts included, or
// its value when there is one sample only.
func growth(s *parse.Series) float64 {
	if len(s.Points) == 1 {
		return finite(s.Points[0].V)
	}
	sum := 0.0
	for i := 1; i < len(s.Points); i++ {
		a, b := finite(s.Points[i-1].V), finite(s.Points[i].V)
		if b >= a {
			sum += b - a
		} else {
			sum += b
		}
	}
	return sum
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v > 1e15 {
		return 0
	}
	return v
}

// quantile interpolates within the bucket as Prometheus does; -1 when there are
// no observations or the quantile lies beyond the last finite bound.
func quantile(bs []bucket, q float64) time.Duration {
	if len(bs) == 0 || bs[len(bs)-1].n <= 0 {
		return -1
	}
	want := q * bs[len(bs)-1].n
	lo, below := 0.0, 0.0
	for _, b := range bs {
		if b.n >= want {
			if math.IsInf(b.le, 1) || b.n == below {
				return -1
			}
			return time.Duration((lo + (b.le-lo)*(want-below)/(b.n-below)) * float64(time.Second))
		}
		lo, below = b.le, b.n
	}
	return -1
}
