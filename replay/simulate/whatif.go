package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// WhatIf is a set of changes to a history: another kubelet, another runtime, or fewer
// pods.
type WhatIf struct {
	Threshold  time.Duration // 0: unchanged; likewise below
	Period     time.Duration
	RPCTimeout time.Duration
	Capacity   int
	Parallel   int
	Latency    float64  // factor on the duration of every runtime call
	Without    []string // pods by UID or ns/name
	PLEG       string   // generic or evented
	Version    string
	// Said holds the changes as passed to Set, in order.
	Said []string
}

// WhatIfKeys are the keys of Set, in the order of the help text.
var WhatIfKeys = []struct{ Key, Value, About string }{
	{"threshold", "DURATION", "age of the last relist at which PLEG turns unhealthy"},
	{"period", "DURATION", "pause between two relists"},
	{"rpc-timeout", "DURATION", "timeout of a call to the runtime (runtimeRequestTimeout)"},
	{"channel-capacity", "N", "events that the channel holds"},
	{"parallel-inspect", "N", "pods inspected at once"},
	{"without-pod", "UID|NS/NAME", "leave a pod out; repeatable"},
	{"runtime-latency", "FACTOR", "every runtime call takes that many times as long"},
	{"pleg", "generic|evented", "the generator in use"},
	{"kubelet-version", "vX.Y.Z", "the behavior of another version"},
}

// Set parses and applies one KEY=VALUE.
func (w *WhatIf) Set(arg string) error {
	key, value, ok := strings.Cut(arg, "=")
	if !ok || value == "" {
		return fmt.Errorf("what-if %q: not of the form KEY=VALUE", arg)
	}
	if err := w.set(key, value); err != nil {
		return fmt.Errorf("what-if %s: %w", key, err)
	}
	w.Said = append(w.Said, arg)
	return nil
}

func (w *WhatIf) set(key, value string) (err error) {
	switch key {
	case "threshold":
		w.Threshold, err = positive(value)
	case "period":
		w.Period, err = positive(value)
	case "rpc-timeout":
		w.RPCTimeout, err = positive(value)
	case "channel-capacity":
		w.Capacity, err = count(value)
	case "parallel-inspect":
		w.Parallel, err = count(value)
	case "without-pod":
		w.Without = append(w.Without, value)
	case "runtime-latency":
		w.Latency, err = strconv.ParseFloat(value, 64)
		if err != nil || !(w.Latency > 0 && w.Latency <= 1e6) {
			err = fmt.Errorf("%q is not a factor above 0", value)
		}
	case "pleg":
		if w.PLEG = value; value != "generic" && value != "evented" {
			err = fmt.Errorf("%q is neither generic nor evented", value)
		}
	case "kubelet-version":
		w.Version = value
		_, err = pleg.New(value)
	default:
		err = fmt.Errorf("no such key")
	}
	return err
}

func positive(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 366*24*time.Hour {
		return 0, fmt.Errorf("%q is not a duration such as 5m or 30s", s)
	}
	return d, nil
}

func count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1e9 {
		return 0, fmt.Errorf("%q is not a number of at least 1", s)
	}
	return n, nil
}

// Empty reports whether nothing is changed.
func (w *WhatIf) Empty() bool { return len(w.Said) == 0 }

// Profile applies the changes to the profile of the recorded kubelet.
func (w *WhatIf) Profile(p pleg.Profile) (pleg.Profile, error) {
	if w.Version != "" {
		q, err := p.In(w.Version)
		if err != nil {
			return p, err
		}
		p = q
	}
	switch w.PLEG {
	case "evented":
		if !p.Has(pleg.EventedAvailable) {
			return p, fmt.Errorf("kubelet 1.%d has no evented PLEG", p.Minor)
		}
		p = p.UseEvented()
	case "generic":
		p = p.UseGeneric()
	}
	p.Threshold, p.Period, p.RPCTimeout = cmp.Or(w.Threshold, p.Threshold), cmp.Or(w.Period, p.Period), cmp.Or(w.RPCTimeout, p.RPCTimeout)
	p.Capacity, p.Parallel = cmp.Or(w.Capacity, p.Capacity), cmp.Or(w.Parallel, p.Parallel)
	return p, nil
}

// reschedules reports whether the changes move the start of relists.
func (w *WhatIf) reschedules() bool {
	return w.Period > 0 || w.RPCTimeout > 0 || w.Parallel > 0 || w.Latency > 0 ||
		len(w.Without) > 0 || w.PLEG != "" || w.Version != ""
}

// drops reports whether a pod is left out.
func (w *WhatIf) drops(uid, name string) bool {
	return slices.Contains(w.Without, uid) || slices.Contains(w.Without, name)
}

// simulatedTimeout is the error of a call that times out only in the changed history.
const simulatedTimeout = "rpc error: code = DeadlineExceeded desc = context deadline exceeded (simulated)"

// outcome returns how a recorded inspection or list call would have ended; was and is
// are the recorded and the changed timeout. A call that never answered still does not:
// only the timeout ends it. An inspection counts as one call, so one that outlasted the
// recorded timeout stays as it is: it must have been several calls.
func (w *WhatIf) outcome(took time.Duration, err string, was, is time.Duration) InspectOutcome {
	o := InspectOutcome{Took: took, Err: err}
	switch {
	case replay.TimedOut(err):
		if took < 0 || w.RPCTimeout > 0 {
			o.Took = is
		}
		return o
	case took < 0:
		return o
	}
	if o.Took = w.scaled(took); took <= was && o.Took > is {
		o.Took, o.Err = is, simulatedTimeout
	}
	return o
}
