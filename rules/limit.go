package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/nodes"
)

// Limit is a threshold of a breach rule.
type Limit struct {
	Name   string  // the rule ID, or RULE.PART if the rule has several
	Value  float64 // in Unit; 0 means any
	Unit   string  // seconds, percent, or the name of what is counted
	Least  float64 // the smallest value allowed; the evidence cannot show less
	Source string  // where the default comes from
	Set    string  // "" for the default; otherwise the file position or flag that set it
}

// Rule returns the ID of the rule that the limit belongs to.
func (l *Limit) Rule() string {
	id, _, _ := strings.Cut(l.Name, ".")
	return id
}

// String returns the value with its unit: 1m30s, 10%, 3 calls, any.
func (l *Limit) String() string { return l.text(l.Value) }

func (l *Limit) text(v float64) string {
	switch {
	case v == 0:
		return "any"
	case l.Unit == unitSeconds:
		s := time.Duration(v * float64(time.Second)).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case l.Unit == unitPercent:
		return strconv.FormatFloat(v, 'g', -1, 64) + "%"
	case v == 1:
		return "1 " + strings.TrimSuffix(l.Unit, "s")
	}
	return strconv.FormatFloat(v, 'g', -1, 64) + " " + l.Unit
}

// Default returns the built-in value with its unit.
func (l *Limit) Default() string {
	d, _ := (*Pack)(nil).limit(l.Name)
	return d.String()
}

// Units of limits that are not counts.
const (
	unitSeconds = "seconds"
	unitPercent = "percent"
)

// Names of limits that the code refers to.
const (
	limitHealth      = "relist-threshold-exceeded"
	limitRestartWarn = "kubelet-restarted.warning"
	limitSlowTotal   = "runtime-operation-slow.total"
	limitFailedCalls = "runtime-operation-errors.calls"
)

const (
	ownChoice    = "chosen: "
	readingCall  = ownChoice + "a call that only reads takes milliseconds on an idle node"
	changingCall = ownChoice + "a call that changes a container does disk work, and the runtime's own timeouts are longer"
	sandboxCall  = ownChoice + "setting up or stopping a sandbox includes the network plugin"
)

// limits holds every threshold of the breach rules, grouped by rule.
var limits = []Limit{
	{limitHealth, 180, unitSeconds, 1, "kubelet: relistThreshold, 3m; 10m with the evented PLEG (pkg/kubelet/kubelet.go); --relist-threshold sets it too", ""},
	{"relist-never-succeeded", 15, unitSeconds, 15, ownChoice + "captures show up to 15 s until the first relist on a busy node", ""},
	{"relist-list-failed", 0, "calls", 0, "kubelet: one failed list call ends a relist (pkg/kubelet/pleg/generic.go)", ""},
	{"slow-relist", 10, unitSeconds, 0.001, "kubelet: the last finite bucket of its relist histogram; relists that only metrics show are never seen below it", ""},
	{"pleg-events-discarded", 0, "events", 0, "kubelet: an event that finds the channel of 1000 full is lost (pkg/kubelet/kubelet.go, plegChannelCapacity)", ""},
	{"runtime-down", 30, unitSeconds, 30, "kubelet: maxWaitForContainerRuntime, 30s, from which its lines say so (pkg/kubelet/kubelet.go)", ""},
	{"sync-loop-stalled", 15, unitSeconds, 1, ownChoice + "the kubelet says so from 1 s (housekeepingWarningDuration), which is common", ""},
	{"journal-lag", 10, unitSeconds, 2, ownChoice + "idle journals lag milliseconds", ""},
	{"kubelet-restarted", 1, "restarts", 1, ownChoice + "a second process in the input is one", ""},
	{limitRestartWarn, 3, "restarts", 1, ownChoice + "so many are a warning: somebody restarts it", ""},
	{"relist-interval-long", 30, unitSeconds, 30, ownChoice + "shorter pauses are scheduling on a busy host", ""},
	{"runtime-operation-slow.list_podsandbox", 1, unitSeconds, 0.001, readingCall, ""},
	{"runtime-operation-slow.list_containers", 1, unitSeconds, 0.001, readingCall, ""},
	{"runtime-operation-slow.podsandbox_status", 1, unitSeconds, 0.001, readingCall, ""},
	{"runtime-operation-slow.container_status", 1, unitSeconds, 0.001, readingCall, ""},
	{"runtime-operation-slow.status", 1, unitSeconds, 0.001, readingCall, ""},
	{"runtime-operation-slow.version", 1, unitSeconds, 0.001, readingCall, ""},
	{"runtime-operation-slow.create_container", 10, unitSeconds, 0.001, changingCall, ""},
	{"runtime-operation-slow.start_container", 10, unitSeconds, 0.001, changingCall, ""},
	{"runtime-operation-slow.remove_container", 10, unitSeconds, 0.001, changingCall, ""},
	{"runtime-operation-slow.remove_podsandbox", 10, unitSeconds, 0.001, changingCall, ""},
	{"runtime-operation-slow.run_podsandbox", 30, unitSeconds, 0.001, sandboxCall, ""},
	{"runtime-operation-slow.stop_podsandbox", 30, unitSeconds, 0.001, sandboxCall, ""},
	{limitSlowTotal, 10, unitSeconds, 0, ownChoice + "an average counts once the calls took so long together: two slow calls on a busy node are no finding", ""},
	{"runtime-operation-errors", 10, unitPercent, 0, ownChoice + "a working runtime fails few calls", ""},
	{limitFailedCalls, 3, "calls", 1, ownChoice + "a share of fewer failed calls says nothing", ""},
	{"metrics-gap", 0, unitSeconds, 0, ownChoice + "a gap is told only across trouble, whatever its length", ""},
	{"node-not-ready", 0, unitSeconds, 0, ownChoice + "pods are evicted after 5m (--default-not-ready-toleration-seconds)", ""},
}

// Limits returns the thresholds of the pack: the defaults as overridden by rules files and
// flags. A nil Pack has the defaults.
func (p *Pack) Limits() []Limit {
	out := slices.Clone(limits)
	if p == nil {
		return out
	}
	for i := range out {
		if s, ok := p.set[out[i].Name]; ok {
			out[i].Value, out[i].Set = s.Value, s.Set
		}
	}
	return out
}

// LimitsOf returns the thresholds of one rule.
func (p *Pack) LimitsOf(rule string) []Limit {
	return slices.DeleteFunc(p.Limits(), func(l Limit) bool { return l.Rule() != rule })
}

// limit looks up a threshold by name. p may be nil.
func (p *Pack) limit(name string) (Limit, bool) {
	i := slices.IndexFunc(limits, func(l Limit) bool { return l.Name == name })
	if i < 0 {
		return Limit{}, false
	}
	l := limits[i]
	if p != nil {
		if s, ok := p.set[name]; ok {
			return s, true
		}
	}
	return l, true
}

// HealthThreshold returns the age of the last relist from which PLEG counts as unhealthy,
// or 0 for the kubelet's own threshold if none was set.
func (p *Pack) HealthThreshold() time.Duration {
	l, _ := p.limit(limitHealth)
	if l.Set == "" {
		return 0
	}
	return time.Duration(l.Value * float64(time.Second))
}

// SetLimits overrides thresholds; later ones replace earlier ones.
func (p *Pack) SetLimits(ls ...Limit) {
	if p.set == nil {
		p.set = map[string]Limit{}
	}
	for _, l := range ls {
		p.set[l.Name] = l
	}
}

// LimitNames returns the names of all thresholds.
func LimitNames() []string { return namesOf(limits, func(l Limit) string { return l.Name }) }

// ParseLimit parses a threshold: a duration (90s, 2m) or seconds, a percentage (25%), or a
// count. from is the file position or flag that sets it. It returns an *UnknownLimitError
// if there is no such threshold.
func ParseLimit(name, text, from string) (Limit, error) {
	l, ok := (*Pack)(nil).limit(name)
	if !ok {
		return l, &UnknownLimitError{Name: name, Near: nearest(name, LimitNames())}
	}
	v, err := l.parse(strings.TrimSpace(text))
	if err != nil {
		return l, err
	}
	if v < l.Least {
		return l, fmt.Errorf("%s is below %s, the least that the evidence for %s can be held against", l.text(v), l.text(l.Least), name)
	}
	l.Value, l.Set = v, from
	return l, nil
}

// UnknownLimitError reports a name that no threshold has.
type UnknownLimitError struct {
	Name string
	Near string // the closest known name; "" if none is close
}

func (e *UnknownLimitError) Error() string { return fmt.Sprintf("unknown threshold %q", e.Name) }

// parse parses a value in the unit of the limit.
func (l *Limit) parse(text string) (float64, error) {
	number := text
	if l.Unit == unitPercent {
		number = strings.TrimSpace(strings.TrimSuffix(text, "%"))
	}
	if l.Unit == unitSeconds {
		if d, err := time.ParseDuration(text); err == nil && d >= 0 {
			return d.Seconds(), nil
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	switch counted := l.Unit != unitSeconds && l.Unit != unitPercent; {
	case err != nil || !(v >= 0 && v < 1e9), counted && v != math.Trunc(v), l.Unit == unitPercent && v > 100:
		return 0, fmt.Errorf("%q is not %s", text, l.wants())
	}
	return v, nil
}

func (l *Limit) wants() string {
	switch l.Unit {
	case unitSeconds:
		return "a duration such as 90s or 2m"
	case unitPercent:
		return "a percentage such as 25%"
	}
	return "a number of " + l.Unit
}

// limitsKey is the only key of a document that sets thresholds.
const limitsKey = "thresholds"

// limitValues reads a mapping of threshold names to values.
func (r *reader) limitValues(n *nodes.Node, into *[]Limit) {
	seen := map[string]bool{}
	r.pairs(n, func(k, v *nodes.Node) {
		if seen[k.Value] {
			r.bad(k, "", "threshold %q given twice", k.Value)
			return
		}
		seen[k.Value] = true
		at := r.place(k)
		l, err := ParseLimit(k.Value, v.Value, fmt.Sprintf("%s:%d", at.File, at.Line))
		switch e := err.(type) {
		case nil:
			*into = append(*into, l)
		case *UnknownLimitError:
			r.bad(k, e.Near, "%v", e)
		default:
			r.bad(v, "", "threshold %s: %v", k.Value, err)
		}
	})
}
