package replay

import "github.com/plegforensics/plegforensics/replay/internal/host"

// kinds is a set of the message kinds that the rebuild looks at.
type kinds = host.Kinds

// The kinds under the names that the estimators use.
const (
	kAge          = host.KindAge
	kNever        = host.KindNever
	kSkip         = host.KindSkip
	kRelisting    = host.KindRelisting
	kRetrieved    = host.KindRetrieved
	kInside       = host.KindInside
	kListFail     = host.KindListFail
	kEvent        = host.KindEvent
	kSync         = host.KindSync
	kNotReady     = host.KindNotReady
	kNodeEvent    = host.KindNodeEvent
	kCondition    = host.KindCondition
	kHousekeeping = host.KindHousekeeping
	kDown         = host.KindDown
	kCall         = host.KindCall
	kStart        = host.KindStart
	kStarting     = host.KindStarting
	kProfile      = host.KindProfile
	kFallback     = host.KindFallback
	kInspectFail  = host.KindInspectFail
	kDiscard      = host.KindDiscard
	kTransition   = host.KindTransition
	kFinished     = host.KindFinished
	kWritten      = host.KindWritten
	kLife         = host.KindLife
	kFlag         = host.KindFlag
	kPodList      = host.KindPodList
	kHistory      = host.KindHistory
	kTurn         = host.KindTurn
	kGoroutine    = host.KindGoroutine
)
