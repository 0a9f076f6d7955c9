package replay

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// ageText finds the age in the message of an object, which the kubelet wrote
// as it writes its log.
var ageText = regexp.MustCompile(`last seen active ([0-9][0-9.hmsµn]*) ago(?:; threshold is ([0-9.hms]+[a-z]))?`)

// forever is the age that kubelets before 1.13 print when no relist has
// succeeded yet: the greatest duration.
const forever = 290 * 365 * 24 * time.Hour

// addObject files what a Kubernetes object says about the node's health: ages
// in messages, changes of the Ready condition. Objects state whole seconds.
func (s *found) addObject(o *parse.Object) {
	var at int64
	if o.Basis != parse.NoTime {
		at = o.At
	}
	switch o.Kind {
	case facts.ObjectCondition:
		if host.FieldOf(o.Fields, "type") != "Ready" {
			return
		}
		if at != 0 {
			s.node = append(s.node, nodeLine{at: at, ready: host.FieldOf(o.Fields, "status") == "True",
				reason: host.FieldOf(o.Fields, "reason"), run: s.runAt(at), obj: o})
		}
		if t, ok := parseStamp(host.FieldOf(o.Fields, "heartbeat")); ok {
			at = t
		}
	case facts.ObjectEvent:
		if r := host.FieldOf(o.Fields, "reason"); at != 0 && (r == "NodeReady" || r == "NodeNotReady") {
			s.node = append(s.node, nodeLine{at: at, ready: r == "NodeReady", reason: r, run: s.runAt(at), obj: o})
		}
	default:
		return
	}
	s.addMessage(o, at)
}

func (s *found) addMessage(o *parse.Object, at int64) {
	msg := host.FieldOf(o.Fields, "message")
	if !strings.Contains(msg, "last seen active") {
		return
	}
	m := ageText.FindStringSubmatch(msg)
	if m == nil {
		return
	}
	age, err := time.ParseDuration(m[1])
	if err != nil || age <= 0 || age > forever {
		return
	}
	limit, _ := time.ParseDuration(m[2])
	s.ages = append(s.ages, ageLine{at: at, age: age, limit: limit, res: time.Second, run: s.runAt(at), rec: o, header: true, outside: true})
}

// runAt returns the run that wrote at the moment, or the last one before it,
// -1 if there is none.
func (s *found) runAt(at int64) int {
	i, found := slices.BinarySearchFunc(s.runs, at, func(r Run, t int64) int { return cmp64(r.First, t) })
	if found {
		return i
	}
	return i - 1
}
