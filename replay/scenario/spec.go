package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Spec is a scenario.
type Spec struct {
	Pods, Containers int           // containers per pod, not counting its sandbox
	List             Latency       // of one list call
	Status           Latency       // of one status call
	Churn            float64       // container restarts per second
	Changed          Burst         // pods whose containers all exit at once
	New              []Burst       // pods that are added
	Load             float64       // factor on the duration of every call from LoadAt on
	LoadAt           time.Duration // since the start
	Hangs            []Hang
	Workers          int           // pods inspected at once
	Timeout          time.Duration // runtimeRequestTimeout, 0: the profile's
	For              time.Duration // duration of the run
	Cold             bool          // the kubelet starts: its first relist inspects every pod
	Seed             uint64
}

// Latency is a range from which the duration of each call is drawn uniformly.
type Latency struct{ Lo, Hi time.Duration }

// Burst is a number of pods that change at a time since the start.
type Burst struct {
	Pods int
	At   time.Duration
}

// Hang is a call that does not answer for a while.
type Hang struct {
	List bool   // the list calls
	Pod  string // else the status calls of this pod, ns/name
	At   time.Duration
	For  time.Duration
}

// Limits of a scenario, to catch mistakes.
const (
	maxPods       = 20_000
	maxContainers = 1_000
	maxItems      = 200_000 // pods times containers
	maxFor        = 24 * time.Hour
	maxRelists    = 200_000
)

// faultAt is the default time of changes and faults.
const faultAt = 30 * time.Second

// Default returns a quiet node for ten minutes.
func Default() Spec {
	return Spec{Pods: 30, Containers: 2, List: Latency{5 * time.Millisecond, 5 * time.Millisecond},
		Status: Latency{5 * time.Millisecond, 5 * time.Millisecond}, Load: 1, Workers: 1, For: 10 * time.Minute, Seed: 1}
}

// Keys are the keys of Parse, in the order of the help text.
var Keys = []struct{ Key, Value, About string }{
	{"pods", "N", "pods on the node (30)"},
	{"containers", "N", "containers of each pod, its sandbox apart (2)"},
	{"list", "TIME or TIME-TIME", "one list call: a relist makes two, an inspection up to 1.35 two more (5ms); +TIME adds to what was calibrated"},
	{"status", "TIME or TIME-TIME", "one status call, of a container or a sandbox (5ms); +TIME adds to what was calibrated"},
	{"churn", "N/s", "containers that restart each second"},
	{"changed", "N or N@TIME", "pods all of whose containers exit at once (at 30s)"},
	{"new", "N or N@TIME", "pods that come on top at once, with all their containers (at 30s); repeatable"},
	{"load", "×N or ×N@TIME", "every call takes N times as long, from then on (from the start)"},
	{"hang", "list:TIME or status:NS/NAME:TIME", "calls that do not answer for so long; @TIME says from when (30s); repeatable"},
	{"workers", "N", "pods inspected at once; no release has more than 1"},
	{"timeout", "TIME", "runtimeRequestTimeout (2m)"},
	{"for", "TIME", "how long the node is watched (10m)"},
	{"start", "warm or cold", "cold: the kubelet starts, and its first relist inspects every pod (warm)"},
	{"seed", "N", "another draw of the same ranges (1)"},
}

// Parse applies KEY=VALUE,KEY=VALUE to base.
func Parse(base Spec, text string) (Spec, error) {
	s := base
	var stated []string
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || value == "" {
			return s, fmt.Errorf("%q is not of the form KEY=VALUE", part)
		}
		if key != "hang" && key != "new" && slices.Contains(stated, key) {
			return s, fmt.Errorf("%s is stated twice", key)
		}
		if err := s.read(key, value); err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
		stated = append(stated, key)
	}
	return s, s.check()
}

func (s *Spec) read(key, value string) (err error) {
	switch key {
	case "pods":
		s.Pods, err = number(value, 1, maxPods)
	case "containers":
		s.Containers, err = number(value, 1, maxContainers)
	case "list":
		s.List, err = latency(s.List, value)
	case "status":
		s.Status, err = latency(s.Status, value)
	case "churn":
		s.Churn, err = strconv.ParseFloat(strings.TrimSuffix(value, "/s"), 64)
		if err != nil || !(s.Churn >= 0 && s.Churn <= 1e4) {
			err = fmt.Errorf("%q is not a rate such as 10/s", value)
		}
	case "changed":
		s.Changed, err = burst(value)
	case "new":
		var b Burst
		if b, err = burst(value); err == nil {
			s.New = append(slices.Clip(s.New), b)
		}
	case "load":
		n, at, from := strings.Cut(value, "@")
		s.Load, err = strconv.ParseFloat(strings.TrimPrefix(strings.TrimPrefix(n, "×"), "x"), 64)
		if err != nil || !(s.Load > 0 && s.Load <= 1e6) {
			return fmt.Errorf("%q is not a factor such as ×4", n)
		}
		if s.LoadAt = 0; from {
			s.LoadAt, err = moment(at)
		}
	case "hang":
		var h Hang
		if h, err = hang(value); err == nil {
			s.Hangs = append(slices.Clip(s.Hangs), h)
		}
	case "workers":
		s.Workers, err = number(value, 1, 10_000)
	case "timeout":
		s.Timeout, err = span(value)
	case "for":
		s.For, err = span(value)
	case "start":
		if s.Cold = value == "cold"; value != "cold" && value != "warm" {
			err = fmt.Errorf("%q is neither warm nor cold", value)
		}
	case "seed":
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = fmt.Errorf("%q is not a whole number from 0", value)
		}
	default:
		err = fmt.Errorf("no such key")
	}
	return err
}

func (s *Spec) check() error {
	switch {
	case s.pods()*s.Containers > maxItems:
		return fmt.Errorf("%d pods of %d containers are more than %d containers", s.pods(), s.Containers, maxItems)
	case s.For > maxFor:
		return fmt.Errorf("for: longer than %v", maxFor)
	case s.Changed.Pods > s.Pods:
		return fmt.Errorf("changed: %d of %d pods", s.Changed.Pods, s.Pods)
	}
	names := map[string]bool{}
	for _, h := range s.Hangs {
		if names[h.Pod] = true; len(names) > s.Pods {
			return fmt.Errorf("hang: more pods than there are")
		}
	}
	return nil
}

// pods returns the number of pods including those added later.
func (s *Spec) pods() int {
	n := s.Pods
	for _, b := range s.New {
		n += b.Pods
	}
	return n
}

func burst(text string) (b Burst, err error) {
	n, at, _ := strings.Cut(text, "@")
	if b.Pods, err = number(n, 0, maxPods); err == nil {
		b.At, err = moment(at)
	}
	return b, err
}

func number(text string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%q is not a number from %d to %d", text, lo, hi)
	}
	return n, nil
}

func span(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxFor {
		return 0, fmt.Errorf("%q is not a duration such as 40ms or 5m, up to %v", text, maxFor)
	}
	return d, nil
}

// moment parses a time since the start; "" means faultAt.
func moment(text string) (time.Duration, error) {
	if text == "" {
		return faultAt, nil
	}
	if text == "0" || text == "0s" {
		return 0, nil
	}
	return span(text)
}

// latency parses a duration or range. With a leading + it is added to base.
func latency(base Latency, text string) (Latency, error) {
	more, added := strings.CutPrefix(text, "+")
	lo, hi, ranged := strings.Cut(more, "-")
	if !ranged {
		hi = lo
	}
	a, err := span(lo)
	b, err2 := span(hi)
	if err = cmp.Or(err, err2); err != nil {
		return Latency{}, err
	}
	if a > b {
		return Latency{}, fmt.Errorf("%q ends before it begins", text)
	}
	if added {
		a, b = a+base.Lo, b+base.Hi
	}
	return Latency{a, b}, nil
}

func hang(text string) (Hang, error) {
	what, at, _ := strings.Cut(text, "@")
	f := strings.Split(what, ":")
	var h Hang
	switch {
	case len(f) == 2 && f[0] == "list":
		h.List = true
	case len(f) == 3 && f[0] == "status" && strings.Count(f[1], "/") == 1 && !strings.HasPrefix(f[1], "/") && !strings.HasSuffix(f[1], "/"):
		h.Pod = f[1]
	default:
		return h, fmt.Errorf("%q is neither list:TIME nor status:NS/NAME:TIME", text)
	}
	var err, err2 error
	h.For, err = span(f[len(f)-1])
	h.At, err2 = moment(at)
	return h, cmp.Or(err, err2)
}

// String describes the scenario in words, for reports.
func (s *Spec) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, list calls of %s, status calls of %s", parse.Plural(s.Pods, "pod"), parse.Plural(s.Containers, "container"), s.List, s.Status)
	add := func(format string, args ...any) { fmt.Fprintf(&b, ", "+format, args...) }
	if s.Churn > 0 {
		add("%g container restarts a second", math.Round(s.Churn*1000)/1000)
	}
	if s.Changed.Pods > 0 {
		verb := "change"
		if s.Changed.Pods == 1 {
			verb += "s"
		}
		add("%s %s at %v", parse.Plural(s.Changed.Pods, "pod"), verb, s.Changed.At)
	}
	for _, b := range s.New {
		add("%s at %v", parse.Plural(b.Pods, "new pod"), b.At)
	}
	if s.Load != 1 {
		add("calls %g times as long from %v on", s.Load, s.LoadAt)
	}
	for _, h := range s.Hangs {
		what := "list calls hang"
		if !h.List {
			what = "status of " + h.Pod + " hangs"
		}
		add("%s for %v from %v on", what, h.For, h.At)
	}
	if s.Workers > 1 {
		add("%d pods inspected at once", s.Workers)
	}
	if s.Cold {
		add("the kubelet starts")
	}
	return b.String() + ", for " + s.For.String()
}

func (l Latency) String() string {
	if l.Lo == l.Hi {
		return parse.Short(l.Lo)
	}
	return parse.Short(l.Lo) + " to " + parse.Short(l.Hi)
}
