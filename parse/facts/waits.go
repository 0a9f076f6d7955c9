package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// lockCalls are the functions whose first argument is the lock that a goroutine
// waits for: package sync of Go 1.4 to 1.24.
var lockCalls = []string{"sync.(*Mutex).Lock", "sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).lockSlow", "sync.(*RWMutex).RLock", "sync.(*RWMutex).Lock", "sync.runtime_SemacquireMutex", "sync.runtime_SemacquireRWMutexR",
	"sync.runtime_SemacquireRWMutex", "sync.runtime_Semacquire", "internal/sync.runtime_SemacquireMutex"}

// structSize bounds the offset in bytes of a lock within its receiver.
const structSize = 0x800

// holders lists functions that hold a lock while they wait for something else, with
// the functions that wait for that lock. Each entry is about one lock in the
// source.
var holders = []struct {
	waits, holds []string
	source       string
	state        string   // state of the holder, "" any; in other states it may have released the lock
	left         []string // functions called after the lock was released
	own          bool     // the functions are methods of the struct that contains the lock
	self         bool     // a goroutine may wait for a lock that it holds itself
}{
	{waits: []string{"daemon.(*Daemon).ContainerInspect", "container.(*State).", "daemon.(*Daemon).reducePsContainer", "daemon.(*Daemon).foldFilter", "daemon.(*Daemon).Containers", "daemon.(*Daemon).handleContainerExit", "daemon.(*Daemon).ProcessEvent", "daemon.(*Daemon).StateChanged", "daemon.(*Daemon).containerStatPath", "daemon.(*Daemon).killWithSignal"},
		holds: []string{"daemon.(*Daemon).containerStart", "daemon.(*Daemon).handleContainerExit", "daemon.(*Daemon).ProcessEvent", "daemon.(*Daemon).StateChanged", "daemon.(*Daemon).cleanupContainer", "daemon.(*Daemon).containerPause", "daemon.(*Daemon).ConnectToNetwork",
			"daemon.(*Daemon).killWithSignal", "container.(*Container).Reset", "daemon.(*Daemon).ContainerRename", "daemon.(*Daemon).containerExtractToDir", "daemon.(*Daemon).containerArchivePath", "daemon.(*Daemon).containerStatPath"},
		source: "moby daemon/start.go, monitor.go, delete.go, kill.go, archive.go: container.Lock()"},
	{waits: []string{"layer.(*layerStore)."}, holds: []string{"layer.(*layerStore).CreateRWLayer", "layer.(*layerStore).ReleaseRWLayer"}, state: "syscall", own: true, source: "moby layer/layer_store.go: mountL"},
	{waits: []string{"devmapper.(*DeviceSet)."}, holds: []string{"devmapper.(*DeviceSet)."}, state: "syscall", own: true, source: "moby daemon/graphdriver/devmapper/deviceset.go"},
	{waits: []string{"supervisor.(*Monitor).Monitor"}, holds: []string{"supervisor.(*Monitor).processEvent"}, own: true, source: "containerd 0.2 supervisor/monitor_linux.go"},
	{waits: []string{"supervisor.(*Monitor).Monitor"}, holds: []string{"supervisor.(*Monitor).start"}, state: "chan send", own: true, source: "containerd 0.2 supervisor/monitor_linux.go"},
	{waits: []string{"store/container.(*statusStorage).Get", "store/container.(*statusStorage).Update", "criService).ListContainers"},
		holds:  []string{"store/container.(*statusStorage).Update", "store/container.(*statusStorage).UpdateSync"},
		source: "containerd pkg/cri/store/container/status.go: statusStorage"},
	{waits: []string{"go-cni.(*libcni).Status", "go-cni.(*libcni).Setup", "go-cni.(*libcni).Remove", "go-cni.(*libcni).Load", "criService).Status"},
		holds:  []string{"libcni.(*CNIConfig).AddNetwork", "libcni.(*CNIConfig).DelNetwork", "libcni.(*CNIConfig).GetStatusNetworkList", "invoke.(*RawExec).ExecPlugin"},
		source: "containerd/go-cni cni.go: libcni.Lock"},
	{waits: []string{"bbolt.(*DB).beginRWTx", "bolt.(*DB).beginRWTx"}, holds: []string{"bbolt.(*Tx).Commit", "bolt.(*Tx).Commit", "bbolt.(*DB).Update", "bolt.(*DB).Update", "bbolt.fdatasync", "bolt.fdatasync"}, source: "etcd-io/bbolt db.go: rwlock"},
	{waits: []string{"metadata.(*DB).Update"}, holds: []string{"metadata.(*DB).GarbageCollect"}, own: true, source: "containerd metadata/db.go: wlock"},
	{waits: []string{"nri.(*local)."}, holds: []string{"nri.(*local)."}, own: true, source: "containerd pkg/nri/nri.go, cri-o internal/nri/nri.go: one mutex for all plugins"},
	{waits: []string{"reaper.(*subscriber)."}, holds: []string{"reaper.(*subscriber).do"}, own: true, source: "containerd sys/reaper/reaper_unix.go: subscriber"},
	{waits: []string{"reaper.(*Monitor)."}, holds: []string{"reaper.Reap"}, state: "chan send", source: "containerd sys/reaper/reaper_unix.go up to 1.2: Reap"},
	{waits: []string{"reaper.(*Monitor)."}, holds: []string{"reaper.(*Monitor).Unsubscribe"}, own: true, source: "containerd sys/reaper/reaper_unix.go: Unsubscribe"},
	{waits: []string{"task.(*service).handleProcessExit"}, holds: []string{"task.(*service).Create"}, own: true, self: true, source: "containerd runtime/v2/runc/task/service.go 1.7.2: Create"},
	{waits: []string{"linux/shim.(*Service).", "runtime/v1/shim.(*Service)."}, holds: []string{"linux/shim.(*Service).checkProcesses", "linux/shim.(*Service).Exec", "runtime/v1/shim.(*Service).checkProcesses"}, own: true, source: "containerd linux/shim/service.go: Service.mu"},
	{waits: []string{"server.(*Server).stopPodSandbox", "server.(*Server).StopPodSandbox", "server.(*Server).StopContainer", "oci.(*runtimeOCI)", "sandbox.(*Sandbox)"},
		holds:  []string{"oci.(*runtimeOCI).StopLoopForContainer", "oci.(*runtimeOCI).StopContainer", "oci.(*runtimeOCI).CreateContainer", "server.(*Server).networkStop", "ocicni.(*cniNetworkPlugin).TearDownPod", "oci.(*runtimeOCI).UpdateContainerStatus"},
		left:   []string{"oci.(*Container).WaitOnStopTimeout"},
		source: "cri-o internal/oci/runtime_oci.go: opLock; server/sandbox_stop.go"},
	{waits: []string{"oci.(*Container).SetAsStopping", "oci.(*Container).SetAsDoneStopping", "oci.(*Container).WaitOnStopTimeout", "oci.(*Container).SetStopKillLoopBegun"},
		holds: []string{"oci.(*Container).WaitOnStopTimeout"}, state: "chan send", own: true, source: "cri-o internal/oci/container.go: stopLock"},
	{waits: []string{"go-metrics.(*Namespace)"}, holds: []string{"go-metrics.(*Namespace).Collect"}, source: "docker/go-metrics namespace.go: Collect"},
	{waits: []string{"network.(*PluginManager).GetPodNetworkStatus", "network.(*PluginManager).TearDownPod", "network.(*PluginManager).SetUpPod"}, holds: []string{"network.(*PluginManager).SetUpPod", "network.(*PluginManager).TearDownPod"}, source: "kubelet dockershim/network/plugins.go: podLock"},
	{waits: []string{"pleg.(*GenericPLEG).UpdateCache", "pleg.(*GenericPLEG).Relist"}, holds: []string{"pleg.(*GenericPLEG).Relist", "pleg.(*GenericPLEG).relist"}, source: "kubelet pkg/kubelet/pleg/generic.go: relistLock"},
}

// waits adds one fact for each lock that goroutines wait for: how many, how long,
// and which goroutine holds it if the dump shows that without doubt.
func (s *scan) waits(all []*goroutine, program string) {
	byLock := map[string][]*goroutine{}
	var order []string
	for _, g := range all {
		if g.lock == "" {
			continue
		}
		if byLock[g.lock] == nil {
			order = append(order, g.lock)
		}
		byLock[g.lock] = append(byLock[g.lock], g)
	}
	for _, lock := range order {
		ws := byLock[lock]
		first := ws[0]
		for _, g := range ws {
			if g.minutes > first.minutes {
				first = g
			}
		}
		attrs := []parse.Field{attr("program", program), attr("waiters", counted(len(ws), "goroutine")), attr("waits", blockedAt(first.frames)), attr("for", minutesWord(first.minutes))}
		if h, basis := holderOf(lock, first, ws, all); h != nil {
			attrs = append(attrs, attr("holder", h.id), attr("holds", blockedAt(h.frames)), attr("holder_state", h.state), attr("held", minutesWord(h.minutes)), attr("basis", basis),
				attr("holder_waits", waitsFor(h)), attr("holder_frames", strings.Join(h.frames, " ")))
			if h.lock != "" {
				attrs = append(attrs, attr("holder_lock", h.lock))
			}
		}
		s.addAt(first.pos, first.line, KeyLock, lock, float64(first.minutes)*60, attrs...)
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func minutesWord(n int) string {
	if n == 0 {
		return "under 1 min"
	}
	return strconv.Itoa(n) + " min"
}

// holderOf returns the goroutine that holds a lock and how this is known; nil if
// the dump does not show it. The holder is the only goroutine that is in a function
// which holds this lock, waits for something else, and has done so for at least as
// long, within a minute, as the longest waiter. If several qualify, it is the one
// that works on the object of the lock.
func holderOf(lock string, first *goroutine, ws, all []*goroutine) (*goroutine, string) {
	at, _ := strconv.ParseUint(strings.TrimPrefix(lock, "0x"), 16, 64)
	owner := first.receiver(at)
	for _, h := range holders {
		if !first.asks(h.waits) {
			continue
		}
		if h.self && hasFrame(first.frames, h.holds) && first.works(at, owner) {
			return first, "it has the lock already, by a function further out (" + h.source + ")"
		}
		could := func(g *goroutine) bool {
			return !slices.Contains(ws, g) && g.state != "running" && g.state != "runnable" && g.minutes >= first.minutes-1 && hasFrame(g.frames, h.holds) &&
				strings.HasPrefix(g.state, h.state) && !hasFrame(g.frames, h.left) && (!h.own || !g.elsewhere(h.holds, at, owner))
		}
		if one := only(all, func(g *goroutine) bool { return could(g) && g.works(at, owner) }); one != nil {
			return one, "it is in a function that keeps this lock, of the same object (" + h.source + ")"
		}
		if one := only(all, could); one != nil {
			return one, "the only one in a function that keeps this lock (" + h.source + ")"
		}
	}
	return nil, ""
}

// asks reports whether one of the named functions requests the lock, directly or
// through functions that it calls: it must be among the first askDepth frames
// outside the lock itself, so that no other object's lock lies between.
func (g *goroutine) asks(names []string) bool {
	near := g.frames
	for len(near) > 0 && (strings.HasPrefix(near[0], "sync.") || strings.HasPrefix(near[0], "internal/sync.") || strings.HasPrefix(near[0], "runtime")) {
		near = near[1:]
	}
	return hasFrame(near[:min(askDepth, len(near))], names)
}

// askDepth is how many frames outside the lock asks looks at.
const askDepth = 4

// elsewhere reports whether the functions work on other objects than that of the
// lock, as far as their receivers are known.
func (g *goroutine) elsewhere(names []string, lock, owner uint64) bool {
	there := false
	for _, c := range g.calls {
		if len(c.args) == 0 || !hasFrame([]string{c.name}, names) {
			continue
		}
		if c.args[0] == lock || c.args[0] == owner || lock == 0 {
			return false
		}
		there = true
	}
	return there
}

// only returns the goroutine that passes, nil if none or several do.
func only(all []*goroutine, ok func(*goroutine) bool) (one *goroutine) {
	for _, g := range all {
		if !ok(g) {
			continue
		}
		if one != nil {
			return nil
		}
		one = g
	}
	return one
}

func hasFrame(frames, names []string) bool {
	return slices.ContainsFunc(frames, func(f string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(f, n) })
	})
}

// receiver returns the object that contains the lock: the first argument of the
// first frame outside the lock's methods, if it is within structSize; else the
// lock.
func (g *goroutine) receiver(lock uint64) uint64 {
	for _, c := range g.calls {
		if slices.Contains(lockCalls, c.name) || len(c.args) == 0 {
			continue
		}
		if p := c.args[0]; p <= lock && lock-p < structSize {
			return p
		}
		break
	}
	return lock
}

// works reports whether a call of the goroutine has the lock, or the object that
// contains it, as its receiver.
func (g *goroutine) works(lock, owner uint64) bool {
	return slices.ContainsFunc(g.calls, func(c call) bool {
		return len(c.args) > 0 && lock != 0 && (c.args[0] == lock || c.args[0] == owner) && !slices.Contains(lockCalls, c.name)
	})
}

// call is a frame with its leading numeric arguments.
type call struct {
	name string
	args []uint64
}

// callOf parses the arguments of a function line.
func callOf(line, name string) (call, bool) {
	i := strings.LastIndexByte(line, '(')
	if i <= 0 || !strings.HasSuffix(line, ")") {
		return call{}, false
	}
	c := call{name: name}
	for word := range strings.SplitSeq(line[i+1:len(line)-1], ",") {
		// A number with a question mark may be stale, so it ends the list.
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.Trim(word, " {}"), "0x"), 16, 64)
		if err != nil {
			break
		}
		c.args = append(c.args, n)
	}
	return c, true
}

// waitsOn says by a function on the stack what a goroutine waits for. The first
// match counts.
var waitsOn = []struct{ frame, what string }{
	{"dbus.", "systemd, over the bus"}, {"(*oom).Flush", "the notification of a container's memory limit"},
	{"nri/pkg/adaptation", "an NRI plugin"},
	{"invoke.(*RawExec).ExecPlugin", "a CNI plugin"}, {"libcni.", "a CNI plugin"}, {"ocicni.", "a CNI plugin"},
	{"go-runc.", "runc"}, {"runc/libcontainer", "runc"},
	{"fdatasync", "the disk, to write the metadata database"}, {"bbolt.(*Tx).Commit", "the disk, to write the metadata database"},
	{"containerd/ttrpc.", "a shim"}, {"ttrpc.(*Client)", "a shim"}, {"runtime/v2/shim", "a shim"}, {"(*shimTask)", "a shim"},
	{"libcontainerd", "containerd"}, {"containerd/containerd.(*task)", "containerd"}, {"containerd/containerd.(*process)", "containerd"}, {"services/tasks/v1", "containerd"},
	{"loggerutils", "the log driver"}, {"daemon/logger", "the log driver"}, {"stream.(*Config).Wait", "the output streams of the container"}, {"broadcaster", "the output streams of the container"},
	{"remote.(*remoteRuntimeService)", "the container runtime"}, {"remoteRuntimeService", "the container runtime"},
	{"golang.org/grpc", "a gRPC server"}, {"google.golang.org/grpc", "a gRPC server"},
	{"syscall.Mount", "the kernel, in a mount"}, {"unix.Unmount", "the kernel, in an unmount"}, {"syscall.Unmount", "the kernel, in an unmount"}, {"os.(*Process).Wait", "a child process"}, {"exec.(*Cmd)", "a child process"},
	{"os.Stat", "the kernel, in a file call"}, {"os.Lstat", "the kernel, in a file call"}, {"os.MkdirAll", "the kernel, in a file call"},
	{"libnetwork", "the network driver"},
}

func waitsFor(g *goroutine) string {
	if g.lock != "" {
		return "another lock"
	}
	if g.state == "sync.WaitGroup.Wait" && hasFrame(g.frames, []string{"(*Daemon).StateChanged"}) { // moby daemon/monitor.go: c.Wait()
		return "the output streams of the container"
	}
	for _, w := range waitsOn {
		if hasFrame(g.frames, []string{w.frame}) {
			return w.what
		}
	}
	switch {
	case strings.HasPrefix(g.state, "chan"):
		return "a channel"
	case g.state == "syscall":
		return "the kernel"
	}
	return ""
}
