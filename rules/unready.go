package rules

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// Unready is a period in which the node was NotReady.
type Unready struct {
	From, To int64  // Unix ns; To is 0 while it lasts
	Why      string // message of the condition, or else its reason; "" if the input states neither
	last     int64  // To, or the last time for which it is known
}

// unready returns the periods in which the node was NotReady and the reason stated for
// each.
func unready(v *view) (out []Unready) {
	for i, c := range v.n.Ready {
		if c.Ready || i > 0 && !v.n.Ready[i-1].Ready {
			continue
		}
		u, word := Unready{From: c.At}, ""
		for _, next := range v.n.Ready[i:] {
			if next.Ready {
				u.To = next.At
				break
			}
			if next.Reason != "NodeNotReady" { // an event, which gives no reason
				word = cmp.Or(word, next.Reason)
			}
			u.Why = cmp.Or(u.Why, statedReason(next.Record))
		}
		u.last = cmp.Or(u.To, max(v.n.Window.End, c.At))
		for _, said := range v.sig(parse.SigNotReady) { // the line after the one that records the event
			if u.Why == "" && said.At >= u.From && said.At <= u.last {
				u.Why = statedReason(said)
			}
		}
		for _, said := range v.sig(parse.SigUnresponsive) {
			if u.Why == "" && said.Field("node") == v.n.Name && said.At >= u.From && said.At <= u.last {
				word = "the node controller counts no heartbeat"
			}
		}
		u.Why = cmp.Or(u.Why, word)
		out = append(out, u)
	}
	return out
}

// UnreadyIn returns the longest NotReady period that belongs to an episode, or nil.
func (r *Result) UnreadyIn(e *replay.Episode) *Unready {
	return longest(r.Unready, func(u *Unready) bool {
		if e.NotReady != nil {
			return u.From == e.NotReady.From
		}
		return e.Breach == 0 && u.From <= max(e.LastReport, e.Recovered.At) && u.last >= e.FirstReport
	})
}

// longest returns the longest period that satisfies ok, or nil.
func longest(us []Unready, ok func(*Unready) bool) (best *Unready) {
	for i := range us {
		if u := &us[i]; ok(u) && (best == nil || u.last-u.From > best.last-best.From) {
			best = u
		}
	}
	return best
}

// words describes the period, or returns "" for nil.
func (u *Unready) words() string {
	switch {
	case u == nil:
		return ""
	case u.Why == "":
		return "NotReady from " + clocks(u.From, u.To) + ", for a reason that is not known"
	}
	return "NotReady from " + clocks(u.From, u.To) + " (" + u.Why + ")"
}

// ageWords matches the part of a reason after "PLEG is not healthy".
var ageWords = regexp.MustCompile(`(PLEG is not healthy): pleg was last seen active \S+ ago; threshold is [0-9hms.]*[0-9hms]`)

// statusWords occurs in the message of an event, which names the change but no reason.
const statusWords = " status is now: "

// statedReason returns the reason in the message of a NotReady condition, or "".
func statedReason(r parse.Record) string {
	message := ""
	switch r := r.(type) {
	case *parse.Event:
		message = r.Field("message")
	case *parse.Object:
		for _, f := range r.Fields {
			if f.Name == "message" {
				message = f.Value
			}
		}
	}
	if strings.Contains(message, statusWords) {
		return ""
	}
	message = strings.TrimSuffix(strings.Trim(strings.TrimSpace(message), "[]"), ".")
	return ageWords.ReplaceAllString(message, "$1")
}

// evalUnready looks for the reason in the conditions of node objects; what lines say is a signature's.
func evalUnready(s *subject, args map[string]string) outcome {
	why, state := pattern.Lazy(args["why"]), cannotLook()
	for _, c := range s.n.Ready {
		if _, object := c.Record.(*parse.Object); !object || c.Ready {
			continue
		}
		if why.MatchString(statedReason(c.Record)) {
			return found(replay.Evidence{Record: c.Record})
		}
		state = notThere()
	}
	return state
}
