package kubelet

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Refuted is a report that states what no kubelet, or not the one that ran then, can have stated.
type Refuted struct {
	What   string
	Report parse.Record
	Start  []host.Evidence // of the kubelet, against the report; none if it contradicts itself
}

// refute drops the ages of conditions that the process running at their heartbeat cannot have stated: no relist
// is older than its process. Lines in the process's own log are kept, since the clock may have been set back
// there. It also drops reports of an age below the threshold that they state themselves: a kubelet reports only
// what exceeds it. And it drops what a condition says of a time within which the kubelet wrote that the node had
// become ready, or not ready, after all.
func (s *Log) refute() {
	own, told := map[bool][]*ReadyLine{}, map[parse.Pos]bool{}
	for i := range s.ReadyLines {
		if l := &s.ReadyLines[i]; l.Status && !s.Twice(l.At, l.At) {
			own[l.Ready] = append(own[l.Ready], l)
		}
	}
	denied := func(of parse.Record, ready bool, from, to int64) bool {
		i, _ := slices.BinarySearchFunc(own[!ready], from+1, func(l *ReadyLine, at int64) int { return cmp.Compare(l.At, at) })
		if i == len(own[!ready]) || own[!ready][i].At >= to {
			return false
		}
		if !told[of.Where()] { // by both its age and its time
			s.Refuted = append(s.Refuted, Refuted{"a condition has lasted since before the kubelet reported the opposite", of, []host.Evidence{{Record: own[!ready][i].Record}}})
		}
		told[of.Where()] = true
		return true
	}
	for i := range s.ReadyLines {
		if l := &s.ReadyLines[i]; !l.Status && denied(l.Record, l.Ready, l.By(), l.until) {
			l.until = 0
		}
	}
	s.Ages = slices.DeleteFunc(s.Ages, func(a Age) bool {
		if a.Age < a.Limit {
			s.Refuted = append(s.Refuted, Refuted{"a report states an age of the last relist that is below its own threshold, and tells nothing", a.Record, nil})
			return true
		}
		if _, ill := a.Bounds(); a.status && denied(a.Record, false, ill+int64(cmp.Or(a.Limit, pleg.Threshold)), a.At) {
			return true
		}
		i := s.RunAt(a.At)
		if !a.status || i < 0 {
			return false
		}
		r := &s.Runs[i]
		if !r.Start.Known() || len(r.Evidence) == 0 || a.At > r.Last || int64(a.Age) <= a.At-r.Start.At+int64(r.Start.Slack+a.Res+time.Second) {
			return false
		}
		s.Refuted = append(s.Refuted, Refuted{"a condition states an age of the last relist that is more than the kubelet had run", a.Record, r.Evidence})
		return true
	})
}
