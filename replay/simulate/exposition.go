package simulate

import (
	"strconv"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
)

// Exposed is one sample of the kubelet's own metrics, as the simulated kubelet would
// expose it at the end.
type Exposed struct {
	Name  string  `json:"name"`
	Label string  `json:"label,omitempty"` // "le" or "container_state"; its value is Is
	Is    string  `json:"label_value,omitempty"`
	Value float64 `json:"value"`
}

// relistBuckets are the upper bounds of the duration and interval histograms in seconds
// (prometheus.DefBuckets). They do not distinguish longer relists.
var relistBuckets = [...]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// histogram counts durations as the kubelet's histograms do.
type histogram struct {
	Count   int
	Sum     time.Duration
	Buckets [len(relistBuckets)]int // cumulative: observations up to each bound
}

func (h *histogram) observe(d time.Duration) { h.observeMany(d, 1) }

// observeMany counts n observations of d.
func (h *histogram) observeMany(d time.Duration, n int) {
	h.Count += n
	h.Sum += time.Duration(n) * d
	for i := len(relistBuckets) - 1; i >= 0 && d.Seconds() <= relistBuckets[i]; i-- {
		h.Buckets[i] += n
	}
}

// Exposition lists the PLEG metrics under the names of the kubelet version, in a fixed
// order.
func Exposition(m *pleg.Machine, t *Totals) []Exposed {
	var out []Exposed
	add := func(name, label, is string, v float64) { out = append(out, Exposed{name, label, is, v}) }
	if m.Minor <= 17 {
		summary(add, "kubelet_pleg_relist_latency_microseconds", &t.Duration)
		summary(add, "kubelet_pleg_relist_interval_microseconds", &t.Interval)
	}
	if m.Minor >= 14 {
		buckets(add, "kubelet_pleg_relist_duration_seconds", &t.Duration)
		buckets(add, "kubelet_pleg_relist_interval_seconds", &t.Interval)
		if t.Discarded > 0 || m.Minor >= 18 { // up to 1.17 a vector without labels: absent until the first drop
			add("kubelet_pleg_discard_events", "", "", float64(t.Discarded))
		}
	}
	if m.Has(pleg.LastSeenMetric) && m.LastSeen != 0 {
		add("kubelet_pleg_last_seen_seconds", "", "", float64(m.LastSeen/1e9))
	}
	if m.Has(pleg.RelistGauges) {
		gauges(add, m)
	}
	return out
}

type adder func(name, label, is string, v float64)

func summary(add adder, name string, h *histogram) {
	add(name+"_sum", "", "", float64(h.Sum)/1e3)
	add(name+"_count", "", "", float64(h.Count))
}

func buckets(add adder, name string, h *histogram) {
	for i, b := range relistBuckets {
		add(name+"_bucket", "le", strconv.FormatFloat(b, 'g', -1, 64), float64(h.Buckets[i]))
	}
	add(name+"_bucket", "le", "+Inf", float64(h.Count))
	add(name+"_sum", "", "", h.Sum.Seconds())
	add(name+"_count", "", "", float64(h.Count))
}

// gauges adds the pod and container gauges. They were renamed in 1.19, when the pod
// gauge began to count only pods with a running sandbox.
func gauges(add adder, m *pleg.Machine) {
	pods, containers, n := "kubelet_running_pods", "kubelet_running_containers", m.Gauges.Pods
	if m.Minor <= 18 {
		pods, containers, n = "kubelet_running_pod_count", "kubelet_running_container_count", m.Gauges.Listed
	}
	add(pods, "", "", float64(n))
	for _, st := range [...]pleg.Raw{pleg.RawCreated, pleg.RawExited, pleg.RawRunning, pleg.RawUnknown} {
		if v := m.Gauges.Containers[st]; v > 0 {
			add(containers, "container_state", st.String(), float64(v))
		}
	}
}
