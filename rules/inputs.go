package rules

import "slices"

// Input is something that a bundle may lack, with the only wording in which it is
// requested.
type Input struct {
	ID, What, Why string
}

// inputs are those that several causes, or the advice for a node, ask for.
var inputs = []Input{
	{"kubelet-log", "the log of the kubelet", "it dates relists, failures and health"},
	{"kubelet-log-before", "the kubelet log starting 10 minutes before the incident", "it shows what led to it, and which object failed first"},
	{"kubelet-log-verbose", "a kubelet log at verbosity 5, if the trouble can be repeated", "the kubelet logs each relist and each state change only at 4 and 5"},
	{"runtime-log", "the log of the container runtime", "it shows what the runtime did while the kubelet waited"},
	{"runtime-stacks", "a goroutine dump of the runtime, taken while calls hang and before any restart", "it names the lock or system call on which the runtime hangs"},
	{"kubelet-stacks", "a goroutine dump of the kubelet, taken while PLEG is unhealthy", "it tells a relist that waits for the runtime from one that waits for the kubelet itself"},
	{"kernel-log", "the kernel log", "dead mounts, blocked tasks, lockups, resets and OOM kills are reported there"},
	{"kernel-stacks", "kernel stacks of the tasks in state D", "the wait channel alone does not tell what they wait for"},
	{"kernel-version", "the kernel release", "some defects of the kernel are in some releases only"},
	{"processes", "the process table with states and wait channels", "it shows which processes are left, stopped, defunct or in uninterruptible sleep"},
	{"wait-channels", "the wait channels of the processes", "they show in which function of the kernel a blocked process waits"},
	{"metrics", "two snapshots of the kubelet's metrics, a minute apart", "they give relist durations and latencies of runtime calls"},
	{"containers", "a listing of containers and sandboxes", "their number and states bound the cost of a relist"},
	{"kubelet-config", "the kubelet's configuration", "timeouts, limits and feature gates are assumed to be the defaults"},
	{"pressure", "pressure of CPU, memory and I/O", "it tells a starved node from a hanging runtime"},
	{"disks", "utilization and latency of the disks at that time", "they tell a slow disk from a slow runtime"},
	{"mounts", "the mounts", "a dead network file system can only be blamed when it is known to be mounted"},
	{"network-agent-log", "the log of the network agent, and the CNI processes that still run", "they show which step of the network setup waits"},
	{"node-object", "the node object and its events", "conditions and events date what the cluster saw"},
}

// LookupInput returns the input with the given ID, or nil.
func LookupInput(id string) *Input {
	if i := slices.IndexFunc(inputs, func(x Input) bool { return x.ID == id }); i >= 0 {
		return &inputs[i]
	}
	return nil
}
