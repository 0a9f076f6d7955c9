package host

import (
	"path"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Kinds is a set of the message kinds that the rebuild looks at. A line can have
// several.
type Kinds uint64

// Message kinds.
const (
	KindAge Kinds = 1 << iota
	KindNever
	KindSkip
	KindRelisting
	KindRetrieved
	KindInside // written by the relist goroutine after its list call has returned
	KindListFail
	KindEvent
	KindSync
	KindNotReady
	KindNodeEvent
	KindCondition
	KindHousekeeping
	KindDown
	KindCall
	KindStart // written once when a kubelet starts, before its sync loop
	KindStarting
	KindProfile
	KindFallback    // evented PLEG falls back to generic PLEG, or its stream broke
	KindInspectFail // inspecting a pod failed, if the line has an error
	KindDiscard
	KindTransition
	KindFinished
	KindWritten // ends the inspection of a pod
	KindLife    // from a container runtime, about a container or sandbox
	KindFlag
	KindPodRelist  // start of an on-demand relist of one pod
	KindPodList    // the list call of an on-demand relist failed
	KindPodDropped // a request for an on-demand relist was dropped
	KindNamed      // names the node and says nothing else
	KindCut        // a PLEG health report without an age: it was cut off, or that of the evented PLEG
	KindHousekept  // housekeeping ends or has listed pods: it does not wait for a list
	KindKeeping    // housekeeping begins
	KindVerbose    // shows verbosity 5, and is not of the relist goroutine

	// KindHistory are the lines about containers and sandboxes.
	KindHistory = KindLife | KindTransition | KindFinished
	// KindWork are the lines that the sync loop writes in an iteration that found PLEG healthy.
	KindWork = KindSync | KindEvent | KindKeeping
	// KindTurn are the lines written in an iteration of the sync loop.
	KindTurn = KindWork | KindSkip
	// KindGoroutine are the lines written by the relist goroutine.
	KindGoroutine = KindRelisting | KindRetrieved | KindListFail | KindInside
)

// kindTable maps signatures to kinds.
var kindTable = []struct {
	id   string
	kind Kinds
}{
	{parse.SigAge, KindAge}, {parse.SigNever, KindNever}, {parse.SigSkip, KindSkip},
	{parse.SigRelisting, KindRelisting}, {parse.SigRetrieved, KindRetrieved},
	{parse.SigTransition, KindInside | KindTransition}, {parse.SigFinished, KindInside | KindFinished}, {parse.SigDiscard, KindInside | KindDiscard},
	{parse.SigWriteStatus, KindInside | KindInspectFail | KindWritten}, {parse.SigIgnore, KindInside | KindInspectFail},
	{parse.SigReinspect, KindInside | KindInspectFail}, {parse.SigDeleteStatus, KindInside},
	{parse.SigListFail, KindListFail}, {parse.SigRelistingPod, KindPodRelist}, {parse.SigPodListFail, KindPodList}, {parse.SigPodDropped, KindPodDropped}, {parse.SigEvent, KindEvent}, {parse.SigEventIgnored, KindEvent}, {parse.SigSync, KindSync},
	{parse.SigNotReady, KindNotReady}, {parse.SigNodeEvent, KindNodeEvent}, {parse.SigCondition, KindCondition},
	{parse.SigHousekeeping, KindHousekeeping}, {parse.SigStatusDown, KindDown}, {parse.SigRPC, KindCall},
	{parse.SigVersion, KindStart | KindProfile}, {parse.SigGates, KindStart | KindProfile}, {parse.SigFlag, KindStart | KindProfile | KindFlag},
	{parse.SigFallback, KindFallback}, {parse.SigStream, KindFallback}, {parse.SigRuntime, KindProfile}, {parse.SigStarting, KindStarting | KindStart},
	{parse.SigCtrLife, KindLife}, {parse.SigNodeName, KindNamed}, {parse.SigUnresponsive, KindNamed}, {parse.SigCut, KindCut}, {parse.SigFull, KindCut},
	{parse.SigKeeping, KindKeeping}, {parse.SigHousekept, KindHousekept}, {parse.SigUnwanted, KindHousekept}, {parse.SigVerbose, KindVerbose},
}

func kindsOf(s *parse.SigSet) Kinds {
	var k Kinds
	for _, row := range kindTable {
		if s.Has(row.id) {
			k |= row.kind
		}
	}
	return k
}

// StatesOwnVersion reports whether a line about a version may be that of a kubelet about itself: it has no header,
// or stands in a server.go. The version of edgecore is one of KubeEdge.
func StatesOwnVersion(e *parse.Event) bool {
	file, _, headed := strings.Cut(e.Caller, ":")
	return !headed || path.Base(file) == "server.go" && e.Origin.Ident != "edgecore"
}
