package replay

import "github.com/plegforensics/plegforensics/parse"

// kinds is a set of the message kinds that the rebuild looks at.
type kinds uint32

const (
	kAge kinds = 1 << iota
	kNever
	kSkip
	kRelisting
	kRetrieved
	kInside // written by the relist goroutine after its list call returned
	kListFail
	kEvent
	kSync
	kNotReady
	kNodeEvent
	kCondition
	kHousekeeping
	kDown
	kCall
	kStart // written once in a kubelet's start, before its sync loop
	kStarting
	kProfile
	kFallback    // generic PLEG takes over from evented PLEG
	kInspectFail // kInside with an error: the inspection of a pod failed
	kDiscard
	kTransition
	kFinished
	kWritten // ends the inspection of a pod
	kLife    // of a container runtime, about a container or sandbox
	kFlag

	// kHistory tells of containers and sandboxes.
	kHistory = kLife | kTransition | kFinished
	// kTurn is written in a turn of the sync loop.
	kTurn = kSync | kEvent | kSkip
	// kGoroutine is written by the relist goroutine.
	kGoroutine = kRelisting | kRetrieved | kListFail | kInside
)

// kindTable says which signatures are of which kind.
var kindTable = []struct {
	id   string
	kind kinds
}{
	{parse.SigAge, kAge}, {parse.SigNever, kNever}, {parse.SigSkip, kSkip},
	{parse.SigRelisting, kRelisting}, {parse.SigRetrieved, kRetrieved},
	{parse.SigTransition, kInside | kTransition}, {parse.SigFinished, kInside | kFinished}, {parse.SigDiscard, kInside | kDiscard},
	{parse.SigWriteStatus, kInside | kInspectFail | kWritten}, {parse.SigIgnore, kInside | kInspectFail},
	{parse.SigReinspect, kInside | kInspectFail}, {parse.SigDeleteStatus, kInside},
	{parse.SigListFail, kListFail}, {parse.SigEvent, kEvent}, {parse.SigSync, kSync},
	{parse.SigNotReady, kNotReady}, {parse.SigNodeEvent, kNodeEvent}, {parse.SigCondition, kCondition},
	{parse.SigHousekeeping, kHousekeeping}, {parse.SigStatusDown, kDown}, {parse.SigRPC, kCall},
	{parse.SigVersion, kStart | kProfile}, {parse.SigGates, kStart | kProfile}, {parse.SigFlag, kStart | kProfile | kFlag},
	{parse.SigFallback, kFallback}, {parse.SigRuntime, kProfile}, {parse.SigStarting, kStarting | kStart},
	{parse.SigCtrLife, kLife},
}

func kindsOf(s *parse.SigSet) kinds {
	var k kinds
	for _, row := range kindTable {
		if s.Has(row.id) {
			k |= row.kind
		}
	}
	return k
}
