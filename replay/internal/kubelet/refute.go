package kubelet

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Refuted is a node condition that states a last relist older than the kubelet process that posted it.
type Refuted struct {
	Report parse.Record
	Start  []host.Evidence // evidence of the process start
}

// refute drops the ages of conditions that the process running at their heartbeat cannot have stated: no relist
// is older than its process. Lines in the process's own log are kept, since the clock may have been set back
// there.
func (s *Log) refute() {
	s.Ages = slices.DeleteFunc(s.Ages, func(a Age) bool {
		i := s.RunAt(a.At)
		if !a.status || i < 0 {
			return false
		}
		r := &s.Runs[i]
		if !r.Start.Known() || len(r.Evidence) == 0 || a.At > r.Last || int64(a.Age) <= a.At-r.Start.At+int64(r.Start.Slack+a.Res+time.Second) {
			return false
		}
		s.Refuted = append(s.Refuted, Refuted{a.Record, r.Evidence})
		return true
	})
}
