package parse

// IDs of signatures that code refers to. The data files of parse/logs define many
// more; a test there checks that each of these exists with the fields named in its
// comment. Field values are verbatim. Ages and durations are in Go syntax
// ("3m5.306459083s"). Pods are split into pod_ns, pod_name and pod_uid as far as
// the line states them, in any spelling ("name_ns(uid)", "ns/name", JSON).
const (
	// PLEG health.
	SigAge    = "pleg.age"    // age, threshold: "pleg was last seen active AGE ago; threshold is T"; not for the zero time
	SigNever  = "pleg.never"  // "pleg has yet to be successful" and the zero-time age 2562047h47m16.854775807s
	SigCut    = "pleg.cut"    // seen: "PLEG is not healthy" truncated before the age; seen is set if an age was to follow
	SigFull   = "pleg.full"   // events: the event channel of the evented PLEG is full; no age
	SigQuoted = "pleg.quoted" // a sentence or an undated text that quotes a report of an age
	SigSkip   = "pleg.skip"   // reason: "skipping pod synchronization", whatever the reason

	// Relist goroutine.
	SigRelisting    = "pleg.relisting"       // V5 "GenericPLEG: Relisting"
	SigRelistingPod = "pleg.relisting-pod"   // pod_uid: 1.36 on-demand
	SigRetrieved    = "pleg.retrieved"       // all: "Retrieved pods from runtime"
	SigTransition   = "pleg.transition"      // pod_uid, id, old, new
	SigListFail     = "pleg.listfail"        // err, code: "Unable to retrieve pods"
	SigPodDropped   = "pleg.dropped-request" // pod_uid: 1.36 on-demand, dropped because too many requests wait
	SigPodListFail  = "pleg.podlistfail"     // pod_uid, err, code: 1.36 on-demand, "Unable to retrieve pod"
	SigWriteStatus  = "pleg.write-status"    // pod_ns, pod_name, err ("" on success)
	SigIgnore       = "pleg.ignore"          // pod_ns, pod_name, err: "Ignoring events for pod"
	SigReinspect    = "pleg.reinspect"       // pod_ns, pod_name, err ("" for the heading line)
	SigDeleteStatus = "pleg.delete-status"   // pod_uid: no kubelet prints the name
	SigDiscard      = "pleg.discard"         // "event channel is full, discard this relist() cycle event"
	SigFinished     = "pleg.finished"        // pod_uid, id, exit_code: "Generic (PLEG): container finished"
	SigEvent        = "pleg.event"           // pod_ns, pod_name, pod_uid, type, data: "SyncLoop (PLEG)"
	SigEventIgnored = "pleg.event-ignored"   // pod_uid, type, data: the same for a pod that the kubelet no longer manages
	SigEvented      = "pleg.evented"         // any other "Evented PLEG" line
	SigFallback     = "pleg.fallback"        // "Fall back to Generic PLEG relisting"
	SigStream       = "rpc.stream"           // the event stream of Evented PLEG broke

	// Sync loop, node status.
	SigSync         = "sync.config"       // op (ADD, UPDATE, …), source, pods (comma-joined as printed)
	SigKeeping      = "sync.housekeeping" // housekeeping begins
	SigHousekept    = "sync.housekept"    // housekeeping ends
	SigUnwanted     = "sync.unwanted"     // housekeeping has a pod killed
	SigVerbose      = "kube.verbose"      // a line at V5 that recurs in every log at that verbosity
	SigNotReady     = "node.notready"     // node, heartbeat, transition, reason, message: "Node became not ready"
	SigNodeEvent    = "node.event"        // node, event (NodeNotReady, NodeReady, …): "Recording event message"
	SigUnresponsive = "node.unresponsive" // node: the node controller sees no heartbeat
	SigAPI          = "kube.api"          // the API server could not be reached
	SigNodeName     = "node.name"         // node: registration, columns and clauses that name the node
	SigCondition    = "node.condition"    // status, heartbeat, transition, reason, message: condition rows of kubectl describe and YAML
	SigHousekeeping = "kube.housekeeping" // expected, actual
	SigRetry        = "kube.retry"        // until, after: a volume operation failed at until minus after
	SigClock        = "kube.clock"        // now: the clock of the process, with its zone, as a certificate was held against it
	SigStatusDown   = "rt.down"           // "container runtime is down"
	SigStatusWait   = "rt.statuspending"  // "container runtime status check may not have completed yet"
	SigSanity       = "rt.sanity"         // err: "Container runtime sanity check failed"
	SigNetNotReady  = "rt.network"        // message: "Container runtime network not ready"
	SigDocker       = "rt.docker"         // the line shows that the runtime is docker
	SigDockershim   = "rpc.dockertimeout" // "operation timeout: context deadline exceeded" from the dockershim

	// CRI calls as the kubelet logs them. call is ListPodSandbox, ListContainers,
	// PodSandboxStatus, ContainerStatus, Status, Version, StopPodSandbox, …; filter
	// is verbatim; scope is "all" for an unfiltered list, "pod" for a UID filter,
	// "ready" for ready sandboxes only; code is the name of the gRPC code ("4"
	// becomes DeadlineExceeded, also for dockershim timeouts). layer is remote for
	// the CRI client and kuberuntime for the manager above it, which both log the
	// same failure; SigListFail, logged by the relist, has layer generic.
	SigRPC = "rpc.failed" // layer, call, filter, scope, id, pod_ns, pod_name, pod_uid, err, code

	// Startup of the kubelet.
	SigVersion = "kube.version" // version
	SigFlag    = "kube.flag"    // name, value: "FLAG: --name=value" for the flags that matter
	SigTrace   = "kube.trace"   // started, total: with the year, "Trace[…]: … (08-Dec-2020 18:33:53.000)"
	SigGates   = "kube.gates"   // gates: "feature gates: &{map[…]}"
	// Lines of any writer that name the runtime of a node: one ID each, so that samples show every one of them.
	SigOnContainerd, SigOnDocker, SigOnCRIO = "rt.iscontainerd", "rt.isdocker", "rt.iscrio"

	SigRuntime  = "kube.runtime"  // name, version, api: "Container runtime initialized"
	SigStarting = "kube.starting" // "Starting kubelet main sync loop"
	SigStarted  = "kube.started"  // "Started kubelet"

	// Container history from runtime logs. id, sandbox, pod_ns, pod_name, pod_uid
	// and name are set as far as the line states them; req pairs begin and end.
	SigCtrLife = "ctr.life" // op: create-begin, created, start-begin, started, stop-begin, stopped, exited, remove-begin, removed, and create-failed, start-failed, stop-failed with err; RunPodSandbox is start; kind: container|sandbox; exit_code, exited_at, req, err
)
