package kubelet

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// ageText matches the age in the message of an object, which has the same form as in the kubelet's log.
var ageText = regexp.MustCompile(`last seen active ([0-9][0-9.hmsµn]*) ago(?:; threshold is ([0-9.hms]+[a-z]))?`)

// forever bounds plausible ages. Kubelets before 1.13 print the maximum duration if no relist has succeeded
// yet.
const forever = 290 * 365 * 24 * time.Hour

// addObject files what a Kubernetes object states about the node's health: ages in messages, changes of the
// Ready condition. Objects have timestamps in whole seconds.
func (s *Log) addObject(o *parse.Object) {
	var at int64
	if o.Basis != parse.NoTime {
		at = o.At
	}
	switch o.Kind {
	case facts.ObjectCondition:
		if o.Field("type") != "Ready" {
			return
		}
		t, ok := host.ParseStamp(o.Field("heartbeat"))
		if at != 0 {
			s.ReadyLines = append(s.ReadyLines, ReadyLine{At: at, Ready: o.Field("status") == "True",
				reason: s.Interned.OfString(o.Field("reason")), until: t, Run: s.RunAt(at), Record: o})
		}
		if ok { // the condition held at its heartbeat, and is cited with that time
			seen := *o
			o, at, seen.At, seen.Basis = &seen, t, t, parse.Stated
			if o.Field("status") == "True" {
				s.Well = append(s.Well, Saying{at, s.RunAt(at), o})
			}
		}
	case facts.ObjectEvent:
		if r := o.Field("reason"); at != 0 && (r == "NodeReady" || r == "NodeNotReady") {
			s.ReadyLines = append(s.ReadyLines, ReadyLine{At: at, Ready: r == "NodeReady", reason: s.Interned.OfString(r), Run: s.RunAt(at), Record: o})
		}
	default:
		return
	}
	s.addMessage(o, at)
}

func (s *Log) addMessage(o *parse.Object, at int64) {
	m := ageText.FindStringSubmatch(o.Field("message"))
	if m == nil {
		return
	}
	age, err := time.ParseDuration(m[1])
	if err != nil || age <= 0 || age > forever {
		return
	}
	limit, _ := time.ParseDuration(m[2])
	s.Ages = append(s.Ages, Age{At: at, Age: age, Limit: limit, Res: time.Second, Run: s.RunAt(at), Record: o, header: true, Outside: true, status: o.Kind == facts.ObjectCondition})
}

// RunAt returns the run that was writing at the moment, or the last one before it; -1 if there is none.
func (s *Log) RunAt(at int64) int {
	i, found := slices.BinarySearchFunc(s.Runs, at, func(r Run, t int64) int { return cmp.Compare(r.First, t) })
	if found {
		return i
	}
	return i - 1
}

// Readiness returns the changes of the node's Ready condition, each once even if several lines report it.
func Readiness(s *Log) []ReadyChange {
	var out []ReadyChange
	for _, l := range s.ReadyLines {
		if k := len(out); k > 0 && out[k-1].Ready == l.Ready {
			if out[k-1].Reason == "" || l.reason != 0 && out[k-1].Reason == "NodeNotReady" {
				out[k-1].Reason = s.Interned.Text(l.reason)
			}
			out[k-1].Until = max(out[k-1].Until, l.At, l.until)
			continue
		}
		out = append(out, ReadyChange{At: l.At, Until: max(l.At, l.until), Ready: l.Ready, Reason: s.Interned.Text(l.reason), Evidence: host.Evidence{Record: l.Record}})
	}
	return out
}

// ReadyLine is a line about the node's Ready condition.
type ReadyLine struct {
	At     int64
	Ready  bool
	Status bool // written when the status was computed, so it proves the health at that moment
	reason parse.StringID
	until  int64 // last heartbeat that stated the same
	Run    int
	Record parse.Record // a line, or a Kubernetes object
}

// By returns the latest moment at which the condition became true. A timestamp in whole seconds was truncated,
// except in the header of a line with a finer resolution.
func (l *ReadyLine) By() int64 {
	line, ok := l.Record.(*parse.Event)
	if l.At%int64(time.Second) == 0 && (!ok || line.At != l.At || line.Res.Duration() >= time.Second) {
		return l.At + int64(time.Second) - 1
	}
	return l.At
}

// ReadyChange is a change of the node's Ready condition.
type ReadyChange struct {
	At     int64
	Until  int64 // last moment for which a record states the same
	Ready  bool
	Reason string
	host.Evidence
}
