package facts

// Key documents a fact key. Rules and report writers select facts by Name, so a
// name must never be changed or get another unit.
type Key struct {
	Name  string // dotted; a final "*" stands for the names listed in Doc
	Unit  string // unit of Fact.Num: "s", "bytes", "percent", "count", "bool" (0 or 1), "" when Num is NaN
	Attrs string // attributes, separated by blanks; each is optional
	Doc   string
}

// Fact keys. Decoders emit only keys listed in Keys; a test checks that.
const (
	// Identity and versions. Value holds the text, Num is NaN unless Keys gives a
	// unit.
	KeyNodeName         = "node.name"
	KeyBootID           = "node.boot_id"
	KeyOS               = "os.name"
	KeyKernel           = "kernel.version"
	KeyKubelet          = "kubelet.version"
	KeyRuntimeName      = "runtime.name"
	KeyRuntimeVersion   = "runtime.version"
	KeyRunc             = "runc.version"
	KeySystemd          = "systemd.version"
	KeyCrictl           = "crictl.version"
	KeyCollector        = "collector.name"
	KeyCollectorVersion = "collector.version"
	KeyCPUs             = "cpu.count"

	// Kubelet settings from flags, config file or /configz.
	KeyRPCTimeout    = "kubelet.runtime_request_timeout"
	KeyMaxPods       = "kubelet.max_pods"
	KeyVerbosity     = "kubelet.verbosity"
	KeyEvented       = "kubelet.evented_pleg"
	KeyStatusFreq    = "kubelet.node_status_update_frequency"
	KeyCgroupDriver  = "kubelet.cgroup_driver"
	KeyEndpoint      = "kubelet.container_runtime_endpoint"
	KeyPodPids       = "kubelet.pod_pids_limit"
	KeyKubeReserved  = "kubelet.kube_reserved"
	KeySysReserved   = "kubelet.system_reserved"
	KeyKubeletConfig = "kubelet.config"
	KeyKubeletFlag   = "kubelet.flag"

	// Load and pressure at the time of collection.
	KeyLoad1         = "load.1"
	KeyLoad5         = "load.5"
	KeyLoad15        = "load.15"
	KeyLoadPerCPU    = "load.5.per_cpu"
	KeyPSI           = "psi.*"
	KeyMemTotal      = "mem.total"
	KeyMemFree       = "mem.free"
	KeyMemAvailable  = "mem.available"
	KeyMemAvailPct   = "mem.available.percent"
	KeyMemDirty      = "mem.dirty"
	KeyMemWriteback  = "mem.writeback"
	KeyMemUnevict    = "mem.slab_unreclaimable"
	KeySwapTotal     = "swap.total"
	KeySwapFree      = "swap.free"
	KeyCPUUser       = "cpu.user.percent"
	KeyCPUSystem     = "cpu.system.percent"
	KeyCPUIowait     = "cpu.iowait.percent"
	KeyCPUSteal      = "cpu.steal.percent"
	KeyCPUIdle       = "cpu.idle.percent"
	KeyRunQueue      = "procs.running"
	KeyBlocked       = "procs.blocked"
	KeySwapIn        = "swap.in"
	KeySwapOut       = "swap.out"
	KeyMajorFaults   = "vmstat.pgmajfault"
	KeyOOMKills      = "vmstat.oom_kill"
	KeyAllocStall    = "vmstat.allocstall"
	KeySarMajorFault = "sar.majflt"
	KeySarRestart    = "sar.restart"

	// Disks and file systems.
	KeyDiskUtil     = "disk.util.percent"
	KeyDiskAwait    = "disk.await"
	KeyDiskUsed     = "disk.used.percent"
	KeyInodeUsed    = "inode.used.percent"
	KeyThinData     = "lvm.thin.data.percent"
	KeyThinMeta     = "lvm.thin.metadata.percent"
	KeyNetworkMount = "mount.network"
	KeyMounts       = "mount.count"

	// Processes and limits.
	KeyProcesses   = "process.count"
	KeyThreads     = "thread.count"
	KeyDState      = "process.dstate"
	KeyDStates     = "process.dstate.count"
	KeyZombie      = "process.zombie"
	KeyZombies     = "process.zombie.count"
	KeyDaemon      = "process.daemon"
	KeyShims       = "process.shim.count"
	KeyRunc1       = "process.runc"
	KeyRuncs       = "process.runc.count"
	KeyCNIProcess  = "process.cni"
	KeyStopped     = "process.stopped"
	KeyGPUProcess  = "process.gpu"
	KeyAgent       = "process.agent"
	KeyFrozen      = "cgroup.frozen"
	KeyKernelStack = "process.stack"
	KeyPidMax      = "pid.max"
	KeyThreadsMax  = "threads.max"
	KeyCgroupPids  = "cgroup.pids.current"
	KeyCgroupPMax  = "cgroup.pids.max"
	KeyFilesOpen   = "files.open"
	KeyFilesMax    = "files.max"
	KeyMemCgroups  = "cgroup.memory.count"
	KeyCmdline     = "kernel.cmdline"
	KeyThrottled   = "cgroup.cpu.throttled"

	// systemd.
	KeyJob         = "systemd.job"
	KeyJobs        = "systemd.job.count"
	KeyUnit        = "systemd.unit"
	KeyFailedUnit  = "systemd.unit.failed"
	KeyUnitSetting = "systemd.setting"

	// Containers, counted from tables and summaries.
	KeyContainers       = "containers.*"
	KeyRuntimeCondition = "runtime.condition"
	KeySandboxes        = "sandboxes.*"

	// Goroutine dumps.
	KeyGoroutines = "goroutine.count"
	KeyGoroutine  = "goroutine.wait"
	KeyLock       = "goroutine.lock"
	KeyCrash      = "goroutine.crash"

	// Time.
	KeyCollected = "time.collected"
	KeyZone      = "time.zone"
	KeyBootTime  = "time.boot"
	KeyUptime    = "time.uptime"
	KeyRTC       = "time.rtc"
	KeyNTP       = "time.synchronized"
	KeyBoot      = "time.boot.span"

	// What the collector reports about its own work.
	KeyKilled    = "collector.command.killed"
	KeySlow      = "collector.command.slow"
	KeyTruncated = "collector.truncated"
	KeySkipped   = "collector.skipped"
)

// Keys documents every fact key, in the order of the constants.
var Keys = []Key{
	{KeyNodeName, "", "", "host name as the system itself states it"},
	{KeyBootID, "", "", "boot id, 32 hex digits without dashes"},
	{KeyOS, "", "", "PRETTY_NAME of os-release, or the node's osImage"},
	{KeyKernel, "", "", "kernel release (uname -r)"},
	{KeyKubelet, "", "", "kubelet version with its leading v"},
	{KeyRuntimeName, "", "", "containerd, cri-o or docker"},
	{KeyRuntimeVersion, "", "name", "version of the container runtime without a leading v; name as runtime.name"},
	{KeyRunc, "", "name", "version of the OCI runtime; name is runc, crun, youki, …"},
	{KeySystemd, "count", "", "systemd version; Num is the leading number"},
	{KeyCrictl, "", "", "crictl version"},
	{KeyCollector, "", "", "collector that made the bundle, as its own files say"},
	{KeyCollectorVersion, "", "", "version of the collector"},
	{KeyCPUs, "count", "", "processors"},

	{KeyRPCTimeout, "s", "from", "timeout of CRI calls; from is flag, file or configz"},
	{KeyMaxPods, "count", "from", "pods allowed on the node"},
	{KeyVerbosity, "count", "from", "klog verbosity"},
	{KeyEvented, "bool", "from", "feature gate EventedPLEG"},
	{KeyStatusFreq, "s", "from", "node status update frequency"},
	{KeyCgroupDriver, "", "from", "cgroupfs or systemd"},
	{KeyEndpoint, "", "from", "socket of the container runtime"},
	{KeyPodPids, "count", "from", "process limit of a pod, -1 for none"},
	{KeyKubeReserved, "", "from", "kubeReserved as written"},
	{KeySysReserved, "", "from", "systemReserved as written"},
	{KeyKubeletConfig, "", "name from", "any other scalar of the KubeletConfiguration: name is its path, Num its number or seconds if it has one"},
	{KeyKubeletFlag, "", "name", "any other kubelet flag, Num its number or seconds if it has one"},

	{KeyLoad1, "count", "", "load average over 1 minute"},
	{KeyLoad5, "count", "", "load average over 5 minutes"},
	{KeyLoad15, "count", "", "load average over 15 minutes"},
	{KeyLoadPerCPU, "count", "", "load average over 5 minutes by processors of the node, at the line of the load"},
	{KeyPSI, "percent", "", "psi.RESOURCE.KIND.WINDOW with RESOURCE cpu, io, memory, irq; KIND some, full; WINDOW avg10, avg60, avg300; and psi.RESOURCE.KIND.total in µs"},
	{KeyMemTotal, "bytes", "", "MemTotal"},
	{KeyMemFree, "bytes", "", "MemFree"},
	{KeyMemAvailable, "bytes", "", "MemAvailable"},
	{KeyMemAvailPct, "percent", "tool", "MemAvailable by MemTotal of the same file, or what top tells in its head"},
	{KeyMemDirty, "bytes", "", "Dirty"},
	{KeyMemWriteback, "bytes", "", "Writeback"},
	{KeyMemUnevict, "bytes", "", "SUnreclaim"},
	{KeySwapTotal, "bytes", "", "SwapTotal"},
	{KeySwapFree, "bytes", "", "SwapFree"},
	{KeyCPUUser, "percent", "tool since", "CPU time in user code, nice included; since=boot for averages since boot"},
	{KeyCPUSystem, "percent", "tool since", "CPU time in the kernel"},
	{KeyCPUIowait, "percent", "tool since", "CPU time idle with I/O outstanding"},
	{KeyCPUSteal, "percent", "tool since", "CPU time that the hypervisor kept"},
	{KeyCPUIdle, "percent", "tool since", "CPU time idle"},
	{KeyRunQueue, "count", "tool", "runnable tasks"},
	{KeyBlocked, "count", "tool", "tasks in uninterruptible sleep"},
	{KeySwapIn, "count", "tool", "pages (sar) or KiB (vmstat) swapped in per second"},
	{KeySwapOut, "count", "tool", "pages (sar) or KiB (vmstat) swapped out per second"},
	{KeyMajorFaults, "count", "", "major page faults since boot"},
	{KeyOOMKills, "count", "", "OOM kills since boot"},
	{KeyAllocStall, "count", "", "direct reclaim stalls since boot, all zones"},
	{KeySarMajorFault, "count", "", "major page faults per second"},
	{KeySarRestart, "", "", "sar saw the machine restart here"},

	{KeyDiskUtil, "percent", "device tool", "share of time in which the device had I/O outstanding"},
	{KeyDiskAwait, "s", "device tool op", "mean time of an I/O request; op is r, w or empty for both"},
	{KeyDiskUsed, "percent", "device mount apart", "space used on a file system; apart is what it is for, where neither the system nor the runtime writes to it"},
	{KeyInodeUsed, "percent", "device mount", "inodes used on a file system"},
	{KeyThinData, "percent", "volume", "data space used in a thin pool"},
	{KeyThinMeta, "percent", "volume", "metadata space used in a thin pool"},
	{KeyNetworkMount, "", "device server mount fstype options pods", "a mounted network file system; Value is the mount point; pods=true when it lies below the kubelet's pod directory"},
	{KeyMounts, "count", "", "mounts listed"},

	{KeyProcesses, "count", "wchan", "processes listed; wchan=true when the table states wait channels"},
	{KeyThreads, "count", "", "threads listed or stated"},
	{KeyDState, "count", "pid ppid comm args stat wchan start", "a task in uninterruptible sleep; Num is its pid, Value its command"},
	{KeyDStates, "count", "", "tasks in uninterruptible sleep"},
	{KeyZombie, "count", "pid ppid comm args stat start", "a defunct process; Num is its pid"},
	{KeyZombies, "count", "", "defunct processes"},
	{KeyDaemon, "percent", "pid comm args stat wchan cpu rss start", "kubelet, container runtime or PID 1; Num is its CPU share as ps prints it"},
	{KeyShims, "count", "", "container shims and monitors (containerd-shim*, conmon)"},
	{KeyRunc1, "count", "pid ppid comm args stat wchan start", "an OCI runtime process; Num is its pid"},
	{KeyRuncs, "count", "", "OCI runtime processes"},
	{KeyCNIProcess, "count", "pid ppid comm args stat wchan start age", "a running CNI plugin, a child of the kubelet or the runtime; Num is its pid, age how much older it is than the youngest process listed"},
	{KeyStopped, "count", "pid ppid comm args stat role wchan start age", "a daemon, shim or OCI runtime in state T: stopped by a signal or a debugger; role is daemon, shim or runc; Num is its pid"},
	{KeyGPUProcess, "count", "pid comm args stat wchan start", "a GPU tool or hook; Num is its pid"},
	{KeyAgent, "count", "pid comm args stat wchan start", "a security or backup agent that may intercept file access; Num is its pid"},
	{KeyFrozen, "bool", "cgroup", "freezer state of a cgroup; 1 when frozen"},
	{KeyKernelStack, "count", "pid comm state frames", "kernel stack of a task: Value is the innermost function, frames all of them from inner to outer joined by blanks; Num is the pid"},
	{KeyPidMax, "count", "", "kernel.pid_max"},
	{KeyThreadsMax, "count", "", "kernel.threads-max"},
	{KeyCgroupPids, "count", "cgroup", "tasks in a cgroup"},
	{KeyCgroupPMax, "count", "cgroup", "task limit of a cgroup; +Inf for max"},
	{KeyFilesOpen, "count", "", "open file handles of the system"},
	{KeyFilesMax, "count", "", "limit of open file handles of the system"},
	{KeyMemCgroups, "count", "", "memory cgroups that the kernel holds (/proc/cgroups)"},
	{KeyCmdline, "", "", "kernel command line"},
	{KeyThrottled, "s", "cgroup", "time throttled by a CPU quota"},

	{KeyJob, "count", "unit type state", "a queued systemd job; Num is its id, Value the unit"},
	{KeyJobs, "count", "", "queued systemd jobs; 0 when systemd says there are none"},
	{KeyUnit, "", "unit load active sub result since pid status tasks limit memory", "state of a unit; Value is active; status is that of its last main process"},
	{KeyFailedUnit, "", "unit", "a failed unit"},
	{KeyUnitSetting, "", "unit name", "a setting of a kubelet or runtime unit that limits it: CPUQuota, TasksMax, LimitNOFILE, MemoryMax, …"},

	{KeyContainers, "count", "tool", "containers.STATE with STATE running, exited, created, unknown, paused; and containers.total"},
	{KeyRuntimeCondition, "bool", "name reason", "condition of the runtime as crictl info states it; name is RuntimeReady, NetworkReady, …"},
	{KeySandboxes, "count", "tool", "sandboxes.STATE with STATE ready, notready; and sandboxes.total"},

	{KeyGoroutines, "count", "program", "goroutines in a dump"},
	{KeyGoroutine, "s", "program state count ids frames blocked", "goroutines that wait alike: Num is the longest wait (0 when under a minute), state as printed (\"chan send\", \"semacquire\"), blocked the innermost function outside the Go runtime and sync, frames all functions from inner to outer joined by blanks"},

	{KeyLock, "s", "program waiters waits for holder holds holder_state held basis holder_waits holder_frames holder_lock", "a lock that goroutines wait for: Value is its address, Num and for the longest wait, waits the function of the one who waits longest; holder is the goroutine that keeps it, where the dump shows that, held how long that waits itself, holder_waits for what, basis how it is known"},
	{KeyCrash, "", "program frames", "the panic or fatal error with which a Go program ended, before the stack of the goroutine that met it"},
	{KeyCollected, "", "", "a clock reading of the moment of collection, in Raw"},
	{KeyZone, "s", "", "zone of the system: Num is seconds east of UTC, Value its name"},
	{KeyBootTime, "s", "", "time of boot, Unix seconds"},
	{KeyUptime, "s", "", "time since boot"},
	{KeyRTC, "", "", "a reading of the hardware clock, in Raw"},
	{KeyNTP, "bool", "", "whether the system clock is synchronised"},
	{KeyBoot, "", "boot index first last", "one line of journalctl --list-boots; Value is the boot id"},

	{KeyKilled, "s", "command file code", "a command that the collector had to kill or that gave up at its own deadline; Num is how long it ran, NaN when unknown"},
	{KeySlow, "s", "command file code", "a command that took more than 30 s"},
	{KeyTruncated, "", "file command", "the collector kept only part of this output"},
	{KeySkipped, "", "file command", "the collector did not collect this"},
}

// Lookup returns the documentation of a key; ok is false for an unknown one.
func Lookup(name string) (Key, bool) {
	for _, k := range Keys {
		if k.matches(name) {
			return k, true
		}
	}
	return Key{}, false
}

func (k Key) matches(name string) bool {
	n := len(k.Name) - 1
	if k.Name[n] == '*' {
		return len(name) > n && name[:n] == k.Name[:n]
	}
	return k.Name == name
}
