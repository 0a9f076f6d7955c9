package relist

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// fromReinspections dates relists by pods whose inspection fails repeatedly, which kubelets up to 1.31 log.
// Each relist inspects changed pods first, and then, serially, those that failed in the relist before
// (pkg/kubelet/pleg/generic.go). Two such failures within one relist are a timeout apart. From the last failure
// of one relist to the first of the next it is a period and at least two timeouts, so the next relist began a
// period after the first of these two failures.
func (l *ledger) fromReinspections(run int, marks []kubelet.Mark) {
	timeout, gap := int64(l.n.Kubelet.CallTimeout()), l.gap(run, 0)
	var prev *kubelet.Mark
	var open *claim
	for i := range marks {
		m := &marks[i]
		switch {
		case m.Kind == host.KindListFail:
			prev, open = nil, nil
		case !m.Deadline || !m.Line.Is(parse.SigReinspect) || timeout == 0 || gap == 0:
		default:
			if prev != nil && (m.At-prev.At-gap)/timeout >= 2 && (m.At-prev.At-gap)%timeout <= int64(widest) {
				spare := (m.At - prev.At - gap) % timeout
				if open != nil {
					open.end, open.outcome = host.Between(prev.At, prev.At+spare), OutcomeOK
				}
				open = l.room.claim(claim{lo: prev.At + gap, hi: prev.At + gap + spare, run: run, listed: &yes,
					listEnd: host.Between(prev.At+gap, prev.At+gap+spare), basis: basisNextStart},
					host.Evidence{Record: m.Line, Note: "this inspection failed again, " + parse.Short(time.Duration(m.At-prev.At-gap)) + " after the relist began"})
				open.ev = append([]host.Evidence{{Record: prev.Line, Note: "the relist before ended here"}}, open.ev...)
				l.claims = append(l.claims, open)
			}
			prev = m
		}
	}
}
