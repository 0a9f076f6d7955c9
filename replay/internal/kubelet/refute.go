package kubelet

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Refuted is a condition of the node whose age of the last relist is more than the
// kubelet that posted it had run.
type Refuted struct {
	Report parse.Record
	Start  []host.Evidence // of the process
}

// refute drops the ages of conditions that the process which ran at their heartbeat
// cannot have stated: no relist of it is older than itself. Lines of its own log stay, as
// there the clock may have been set back meanwhile.
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
