package relist

import (
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Outcome is how a relist ended.
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
	// Took is how long it ran, ± TookSlack, if something measures that more precisely than start and end;
	// otherwise 0.
	Took, TookSlack time.Duration
	Outcome         Outcome
	Seen            int64 // for a hung relist: when it was last shown running; 0 means up to the last line of its process
	Listed          *bool // whether GetPods succeeded; nil if unknown
	Basis           []string
	Evidence        []host.Evidence
}

// HasListed reports whether GetPods is known to have succeeded.
func (r *Relist) HasListed() bool { return r.Listed != nil && *r.Listed }

// FailedToList reports whether GetPods is known to have failed.
func (r *Relist) FailedToList() bool {
	return r.Outcome == OutcomeListFailed || r.Listed != nil && !*r.Listed
}

// Returned returns when GetPods had returned, at the latest; unknown if nothing dates that.
func (r *Relist) Returned() host.Instant {
	if r.ListEnd.Known() {
		return r.ListEnd
	}
	return r.End
}

// Duration returns how long the relist ran. The bool is true if that is known to within the larger of 2 s and a
// fifth of it (a quarter if the metrics measured it).
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

// Slack returns the maximum error of Duration.
func (r *Relist) Slack() time.Duration {
	if r.Took > 0 {
		return r.TookSlack
	}
	return r.Start.Slack + r.End.Slack
}

// gapOfOne is a distance between two relists that leaves no room for a third: the kubelet waits a period after
// each.
const gapOfOne = 1500 * time.Millisecond

// Follows reports whether no relist can have run between a and r.
func (r *Relist) Follows(a *Relist) bool {
	return a.Run == r.Run && a.End.Known() && r.Start.Known() && r.Start.At-a.End.At+int64(a.End.Slack+r.Start.Slack) < int64(gapOfOne)
}

// Bounded is an interval in which some relists ran that no evidence dates individually.
type Bounded struct {
	From, To           int64
	CountMin, CountMax int
	Counted            bool // counted by the metrics, which may also date some of them, and not by the log
	// From the metrics; zero if only the log bounds them.
	Sum      time.Duration   // total duration
	Long     int             // how many of them took over 10 s
	Silent   bool            // no snapshot succeeded in the interval
	Evidence []host.Evidence // of Long and Silent
}

// Contradiction is a conflict between records that cannot both be true.
type Contradiction struct {
	What     string // a clause, such as "the metrics show one relist where …"
	Evidence []host.Evidence
	Against  []host.Evidence // the records that take precedence
	Equal    bool            // none does: they are of two nodes
}

// Own reports whether the relist has its own Relisting line.
func (r *Relist) Own() bool { return len(r.Basis) > 0 && r.Basis[0] == BasisRelisting }
