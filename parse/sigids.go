package parse

// Signature ids that code refers to. The data files of parse/logs define many
// more; a test there checks that each of these exists with the fields named in
// its comment. Field values are verbatim; ages and durations in Go syntax
// ("3m5.306459083s"); pod names split into pod_ns, pod_name, pod_uid as far as
// the line tells, whatever its spelling ("name_ns(uid)", "ns/name", JSON).
const (
	// PLEG health.
	SigAge    = "pleg.age"    // age, threshold: "pleg was last seen active AGE ago; threshold is T"; not for the zero time
	SigNever  = "pleg.never"  // "pleg has yet to be successful" and the zero-time age 2562047h47m16.854775807s
	SigCut    = "pleg.cut"    // seen: "PLEG is not healthy" cut before the age; seen stands where an age was to follow
	SigQuoted = "pleg.quoted" // a sentence, or a text that states no time, quotes a report of an age
	SigSkip   = "pleg.skip"   // reason: "skipping pod synchronization", whatever the reason

	// Relist goroutine.
	SigRelisting    = "pleg.relisting"       // V5 "GenericPLEG: Relisting"
	SigRelistingPod = "pleg.relisting-pod"   // pod_uid: 1.36 on-demand
	SigRetrieved    = "pleg.retrieved"       // all: "Retrieved pods from runtime"
	SigTransition   = "pleg.transition"      // pod_uid, id, old, new
	SigListFail     = "pleg.listfail"        // err, code: "Unable to retrieve pods"
	SigPodDropped   = "pleg.dropped-request" // pod_uid: 1.36 on-demand, too many wait
	SigPodListFail  = "pleg.podlistfail"     // pod_uid, err, code: 1.36 on-demand, "Unable to retrieve pod"
	SigWriteStatus  = "pleg.write-status"    // pod_ns, pod_name, err ("" on success)
	SigIgnore       = "pleg.ignore"          // pod_ns, pod_name, err: "Ignoring events for pod"
	SigReinspect    = "pleg.reinspect"       // pod_ns, pod_name, err ("" for the heading line)
	SigDeleteStatus = "pleg.delete-status"   // pod_uid: no kubelet prints the name
	SigDiscard      = "pleg.discard"         // "event channel is full, discard this relist() cycle event"
	SigFinished     = "pleg.finished"        // pod_uid, id, exit_code: "Generic (PLEG): container finished"
	SigEvent        = "pleg.event"           // pod_ns, pod_name, pod_uid, type, data: "SyncLoop (PLEG)"
	SigEventIgnored = "pleg.event-ignored"   // pod_uid, type, data: the same of a pod that the kubelet no longer manages
	SigEvented      = "pleg.evented"         // any other "Evented PLEG" line
	SigFallback     = "pleg.fallback"        // "Fall back to Generic PLEG relisting"
	SigStream       = "rpc.stream"           // the stream of evented PLEG broke

	// Sync loop, node status.
	SigSync         = "sync.config"       // op (ADD, UPDATE, …), source, pods (comma-joined as printed)
	SigNotReady     = "node.notready"     // node, heartbeat, transition, reason, message: "Node became not ready"
	SigNodeEvent    = "node.event"        // node, event (NodeNotReady, NodeReady, …): "Recording event message"
	SigUnresponsive = "node.unresponsive" // node: the node controller counts no heartbeat
	SigNodeName     = "node.name"         // node: registration, columns and clauses that name the node
	SigCondition    = "node.condition"    // status, heartbeat, transition, reason, message: condition rows of kubectl describe and YAML
	SigHousekeeping = "kube.housekeeping" // expected, actual
	SigStatusDown   = "rt.down"           // "container runtime is down"
	SigStatusWait   = "rt.statuspending"  // "container runtime status check may not have completed yet"
	SigSanity       = "rt.sanity"         // err: "Container runtime sanity check failed"
	SigNetNotReady  = "rt.network"        // message: "Container runtime network not ready"
	SigDocker       = "rt.docker"         // the runtime is docker, by what the line says
	SigDockershim   = "rpc.dockertimeout" // "operation timeout: context deadline exceeded", of the dockershim

	// CRI calls as the kubelet logs them. call is ListPodSandbox, ListContainers,
	// PodSandboxStatus, ContainerStatus, Status, Version, StopPodSandbox, …; filter
	// verbatim; scope is "all" for an unfiltered list, "pod" for a uid filter,
	// "ready" for running sandboxes only; code is the gRPC code by name
	// ("4" becomes DeadlineExceeded, dockershim time-outs too). layer is remote for
	// the CRI client, kuberuntime for the manager above it: one failure is told by
	// both; SigListFail, told by the relist, has layer generic.
	SigRPC = "rpc.failed" // layer, call, filter, scope, id, pod_ns, pod_name, pod_uid, err, code

	// Start of the kubelet.
	SigVersion  = "kube.version"  // version
	SigFlag     = "kube.flag"     // name, value: "FLAG: --name=value" for the flags that matter
	SigTrace    = "kube.trace"    // started, total: with the year, "Trace[…]: … (08-Dec-2020 18:33:53.000)"
	SigGates    = "kube.gates"    // gates: "feature gates: &{map[…]}"
	SigRuntime  = "kube.runtime"  // name, version, api: "Container runtime initialized"
	SigStarting = "kube.starting" // "Starting kubelet main sync loop"
	SigStarted  = "kube.started"  // "Started kubelet"

	// Container history from runtime logs. id, sandbox, pod_ns, pod_name,
	// pod_uid, name as far as the line tells; req pairs begin and end.
	SigCtrLife = "ctr.life" // op: create-begin, created, start-begin, started, stop-begin, stopped, exited, remove-begin, removed, and create-failed, start-failed, stop-failed with err; RunPodSandbox is start; kind: container|sandbox; exit_code, exited_at, req, err
)
