package kubelet

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Refuted is a report that states what no kubelet, or not the one that ran then, can have stated.
type Refuted struct {
	What   string
	Report parse.Record
	Start  []host.Evidence // evidence of the process start, if it is younger than the relist; otherwise none
}

// refute drops the ages of conditions that the process running at their heartbeat cannot have stated: no relist
// is older than its process. Lines in the process's own log are kept, since the clock may have been set back
// there. It also drops reports of an age below the threshold that they state themselves: a kubelet reports only
// what exceeds it.
func (s *Log) refute() {
	s.Ages = slices.DeleteFunc(s.Ages, func(a Age) bool {
		if a.Age < a.Limit {
			s.Refuted = append(s.Refuted, Refuted{"a report states an age of the last relist that is below its own threshold, and tells nothing", a.Record, nil})
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
