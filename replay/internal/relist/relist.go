package relist

import (
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Outcome of a relist.
type Outcome string

// Outcomes.
const (
	OutcomeOK         Outcome = "ok"
	OutcomeListFailed Outcome = "list-failed"
	OutcomeHung       Outcome = "hung"
	OutcomeUnknown    Outcome = "unknown"
)

// Bases of a relist in the ledger.
const (
	BasisLastSeen  = "last-seen"
	BasisRelisting = "relisting-line"
	BasisListError = "list-error"
	BasisEvents    = "pleg-events"
	BasisMetrics   = "metrics"
	BasisNextStart = "next-start"
)

// Relist is one run of the relist procedure that evidence proves.
type Relist struct {
	Run     int // index into Node.Runs, -1 unknown
	Start   host.Instant
	ListEnd host.Instant // when GetPods returned, if known
	End     host.Instant
	// Took is how long it ran, ± TookSlack, where something measures that
	// better than its start and end; else 0.
	Took, TookSlack time.Duration
	Outcome         Outcome
	Seen            int64 // of one that hung: when it was last shown to run, 0 if to the last line of its process
	Listed          *bool // did GetPods succeed; nil unknown
	Basis           []string
	Evidence        []host.Evidence
}

// Duration returns how long the relist ran, and whether that is known: to two
// seconds or a fifth of it, a quarter where the metrics measure it.
func (r *Relist) Duration() (time.Duration, bool) {
	if r.Took > 0 {
		return r.Took, r.Slack() <= max(2*time.Second, r.Took/4)
	}
	if !r.Start.Known() || !r.End.Known() {
		return 0, false
	}
	d := time.Duration(r.End.At - r.Start.At)
	return d, r.Slack() <= max(2*time.Second, d/5)
}

// Slack is how far off Duration may be.
func (r *Relist) Slack() time.Duration {
	if r.Took > 0 {
		return r.TookSlack
	}
	return r.Start.Slack + r.End.Slack
}

// gapOfOne is a distance between two relists in which no third one fits: the
// kubelet waits a period after each.
const gapOfOne = 1500 * time.Millisecond

// Follows reports that no relist ran between a and this one.
func (r *Relist) Follows(a *Relist) bool {
	return a.Run == r.Run && a.End.Known() && r.Start.Known() && r.Start.At-a.End.At+int64(a.End.Slack+r.Start.Slack) < int64(gapOfOne)
}

// Bounded says that between two moments some relists ran that no evidence
// dates one by one.
type Bounded struct {
	From, To           int64
	CountMin, CountMax int
	Counted            bool // by the metrics, which may date some of them too; not by the log
	// What the metrics add; zero where the log alone bounds them.
	Sum      time.Duration   // how long they took together
	Long     int             // how many of them took over 10 s
	Silent   bool            // no snapshot succeeded in between
	Evidence []host.Evidence // of Long and Silent
}

// Contradiction is what two records say that cannot both be true.
type Contradiction struct {
	What     string // a clause: "the metrics show one relist where …"
	Evidence []host.Evidence
	Against  []host.Evidence // what counts
}

// Own reports whether the relist has its own Relisting line.
func (r *Relist) Own() bool { return len(r.Basis) > 0 && r.Basis[0] == BasisRelisting }
