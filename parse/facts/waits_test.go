package facts

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// dumps are excerpts modeled on public dumps, each with the expected holder of the
// lock that is waited for longest and what the holder waits for; "" if the dump
// does not show the holder.
var dumps = []struct{ name, text, holder, waits string }{
	{"dockerd: inspect waits for a start that waits for containerd (eks-ami#1071)", `goroutine 900 [semacquire, 528 minutes]:
sync.runtime_SemacquireMutex(0xc00103f204, 0x0, 0x1)
	/usr/lib/golang/src/runtime/sema.go:71 +0x49
sync.(*Mutex).lockSlow(0xc00103f200)
	/usr/lib/golang/src/sync/mutex.go:138 +0x105
sync.(*Mutex).Lock(...)
github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent(0xc00000c1e0, 0xc012072016, 0x40)
	/src/daemon/inspect.go:40 +0xa30

goroutine 77 [select, 529 minutes]:
google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader(0xc00f)
	/src/vendor/transport.go:300 +0x1
github.com/containerd/containerd.(*task).Start(0xc00e)
github.com/docker/docker/libcontainerd/remote.(*client).Start(0xc00d)
github.com/docker/docker/daemon.(*Daemon).containerStart(0xc00000c1e0, 0xc001000000)
	/src/daemon/start.go:200 +0x1
`, "77", "containerd"},
	{"dockerd: many waiters and no holder in the excerpt (moby#41424)", `goroutine 128 [semacquire, 842 minutes]:
sync.runtime_SemacquireMutex(0xc004736684, 0xc004435400)
sync.(*Mutex).Lock(0xc004736680)
github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent(0xc00003a5a0, 0xc00105e2b0)
`, "", ""},
	{"dockerd: list waits for a container that is being stopped, which does not keep its lock (moby#25321)", `goroutine 3469 [semacquire, 10 minutes]:
sync.runtime_Semacquire(0xc820482bd4)
sync.(*Mutex).Lock(0xc820482bd0)
github.com/docker/docker/daemon.(*Daemon).reducePsContainer(0xc820372000, 0xc820496d20)

goroutine 51 [chan receive, 11 minutes]:
github.com/docker/docker/libcontainerd.(*container).start(0xc820aa0000)
github.com/docker/docker/container.(*State).Wait(0xc820482bd0, 0xffffffff)
github.com/docker/docker/daemon.(*Daemon).ContainerStop(0xc820372000)
`, "", ""},
	{"dockerd: list waits for an exit that waits for the output streams", `goroutine 3469 [semacquire, 10 minutes]:
sync.runtime_Semacquire(0xc820482bd4)
sync.(*Mutex).Lock(0xc820482bd0)
github.com/docker/docker/daemon.(*Daemon).reducePsContainer(0xc820372000, 0xc820496d20)

goroutine 51 [semacquire, 11 minutes]:
sync.runtime_Semacquire(0xc820bb0010)
sync.(*WaitGroup).Wait(0xc820bb0008)
github.com/docker/docker/container/stream.(*Config).Wait(0xc820bb0000)
github.com/docker/docker/container.(*Container).Reset(0xc820496d00, 0x0)
github.com/docker/docker/daemon.(*Daemon).StateChanged(0xc820372000)
`, "51", "the output streams of the container"},
	{"dockerd: of two starts the one of the same container", `goroutine 1 [semacquire, 20 minutes]:
sync.(*Mutex).Lock(0xc00103f200)
github.com/docker/docker/container.(*State).IsRunning(0xc00103f200)

goroutine 2 [select, 30 minutes]:
github.com/docker/docker/container.(*State).SetRunning(0xc00103f200)
github.com/docker/docker/daemon.(*Daemon).containerStart(0xc00000c1e0, 0xc001000000)

goroutine 3 [select, 30 minutes]:
github.com/docker/docker/daemon.(*Daemon).containerStart(0xc00000c1e0, 0xc001000001)
`, "2", ""},
	{"dockerd: a store that nobody is known to keep (for-linux#543)", `goroutine 115 [semacquire, 5611 minutes]:
sync.runtime_Semacquire(0xc421056a74)
sync.(*RWMutex).RLock(0xc421056a68)
github.com/docker/docker/daemon/exec.(*Store).List(0xc421056a60, 0x0, 0x0, 0x0)
github.com/docker/docker/daemon.(*Daemon).execCommandGC(0xc4208e01e0)

goroutine 9 [chan send, 5612 minutes]:
github.com/docker/docker/daemon/exec.(*Store).Add(0xc421056a60, 0xc42)
github.com/docker/docker/daemon.(*Daemon).registerExecCommand(0xc4208e01e0)
`, "", ""},
	{"dockerd: two could hold it, so none is named", `goroutine 1 [semacquire, 20 minutes]:
sync.(*Mutex).Lock(0xc00103f200)
github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent(0xc00000c1e0)

goroutine 2 [select, 30 minutes]:
github.com/docker/docker/daemon.(*Daemon).containerStart(0xc00000c1e0, 0xc001000000)

goroutine 3 [select, 30 minutes]:
github.com/docker/docker/daemon.(*Daemon).handleContainerExit(0xc00000c1e0, 0xc001000001)
`, "", ""},
	{"dockerd: a runnable goroutine holds nothing (moby#32809)", `goroutine 1 [semacquire, 20 minutes]:
sync.(*Mutex).Lock(0xc00103f200)
github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent(0xc00000c1e0)

goroutine 2 [runnable]:
syscall.Fsync(0x6)
github.com/docker/docker/container.(*Container).ToDisk(0xc00103f200, 0x0)
`, "", ""},
	{"dockerd: who came later does not hold it", `goroutine 1 [semacquire, 20 minutes]:
sync.(*Mutex).Lock(0xc00103f200)
github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent(0xc00000c1e0)

goroutine 2 [select, 3 minutes]:
github.com/docker/docker/daemon.(*Daemon).containerStart(0xc00000c1e0, 0xc001000000)
`, "", ""},
	{"containerd: list waits for an update of resources (containerd#10583)", `goroutine 45150 [sync.RWMutex.RLock, 1 minutes]:
sync.runtime_SemacquireRWMutexR(0x0?, 0x27?, 0x17ea2e62b2b63d22?)
runtime/sema.go:82 +0x25
sync.(*RWMutex).RLock(...)
sync/rwmutex.go:71
github.com/containerd/containerd/pkg/cri/store/container.(*statusStorage).Get(0xc004000c00)
github.com/containerd/containerd/pkg/cri/server.(*criService).ListContainers(0xc0003aaa00)

goroutine 44000 [select, 2 minutes]:
github.com/containerd/ttrpc.(*Client).dispatch(0xc000aaa000)
github.com/containerd/containerd/runtime/v2.(*shimTask).Update(0xc000bbb000)
github.com/containerd/containerd/pkg/cri/store/container.(*statusStorage).Update(0xc004000c00, 0xc00)
github.com/containerd/containerd/pkg/cri/server.(*criService).UpdateContainerResources(0xc0003aaa00)
`, "44000", "a shim"},
	{"containerd: the metrics of all tasks, while they are collected (containerd#11233)", `goroutine 233338756 [sync.Mutex.Lock, 239 minutes]:
sync.runtime_SemacquireMutex(0x7f10db575650?, 0xd0?, 0x55e6169b6452?)
sync.(*Mutex).lockSlow(0xc0003aad98)
sync.(*Mutex).Lock(...)
github.com/docker/go-metrics.(*Namespace).WithConstLabels(0xc0003aad70, 0xc0403f1b30)

goroutine 88 [chan send, 240 minutes]:
github.com/docker/go-metrics.(*Namespace).Collect(0xc0003aad70, 0xc01)
`, "88", "a channel"},
	{"containerd: status waits for a CNI plugin (containerd#4666)", `goroutine 30 [semacquire, 95 minutes]:
sync.(*RWMutex).RLock(0xc000336b08)
github.com/containerd/go-cni.(*libcni).Status(0xc000336b00)
github.com/containerd/containerd/pkg/cri/server.(*criService).Status(0xc0003aaa00)

goroutine 12 [IO wait, 96 minutes]:
internal/poll.runtime_pollWait(0x7f1)
github.com/containernetworking/cni/pkg/invoke.(*RawExec).ExecPlugin(0xc0005)
github.com/containerd/go-cni.(*libcni).Remove(0xc000336b00, 0xc00)
`, "12", "a CNI plugin"},
	{"containerd: the metadata database (containerd#8980)", `goroutine 501 [semacquire, 4 minutes]:
sync.(*Mutex).Lock(0xc0000d8150)
go.etcd.io/bbolt.(*DB).beginRWTx(0xc0000d8000)

goroutine 400 [syscall, 4 minutes]:
syscall.Syscall(0x4b, 0x9)
go.etcd.io/bbolt.fdatasync(0xc0000d8000)
go.etcd.io/bbolt.(*Tx).Commit(0xc000c)
`, "400", "the disk, to write the metadata database"},
	{"CRI-O: a stop waits for one whose plugin does not end (cri-o#5772)", `goroutine 700 [semacquire, 12 minutes]:
sync.(*Mutex).Lock(0xc000b2e0a8)
github.com/cri-o/cri-o/server.(*Server).stopPodSandbox(0xc000400000)

goroutine 699 [select, 13 minutes]:
os/exec.(*Cmd).Wait(0xc0002)
github.com/cri-o/ocicni/pkg/ocicni.(*cniNetworkPlugin).TearDownPod(0xc0008)
github.com/cri-o/cri-o/server.(*Server).networkStop(0xc000400000)
`, "699", "a CNI plugin"},
	{"kubelet: the cache waits for the relist, that for the runtime", `goroutine 210 [sync.Mutex.Lock, 6 minutes]:
sync.(*Mutex).Lock(0xc000f00048)
k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).UpdateCache(0xc000f00000)

goroutine 190 [select, 7 minutes]:
google.golang.org/grpc.invoke(0x1)
k8s.io/kubernetes/pkg/kubelet/cri/remote.(*remoteRuntimeService).ListPodSandbox(0xc0007)
k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).Relist(0xc000f00000)
`, "190", "the container runtime"},
	{"dockerd: inspect waits for a copy into the container (moby#46782)", `goroutine 30 [sync.Mutex.Lock, 12 minutes]:
sync.(*Mutex).Lock(0xc00103f200)
github.com/docker/docker/daemon.(*Daemon).ContainerInspect(0xc00000c1e0, 0xc01)

goroutine 21 [syscall, 14 minutes]:
syscall.Syscall6(0x101)
os.OpenFile(0xc003)
github.com/docker/docker/daemon.(*containerFSView).RunInFS(0xc0009)
github.com/docker/docker/daemon.(*Daemon).containerExtractToDir(0xc00000c1e0, 0xc001000000)
`, "21", "the kernel"},
	{"docker's containerd: the monitor reads the notification of a memory limit (kubernetes#70417, containerd#2750)", `goroutine 40 [semacquire, 4391 minutes]:
sync.runtime_Semacquire(0xc420198b24)
sync.(*Mutex).Lock(0xc420198b20)
github.com/docker/containerd/supervisor.(*Monitor).MonitorOOM(0xc420198b10, 0xc42)
github.com/docker/containerd/supervisor.(*Supervisor).monitorProcess(0xc42010d520)

goroutine 12 [syscall, 4392 minutes]:
syscall.read(0x49, 0xc420048818, 0x8)
github.com/docker/containerd/runtime.(*oom).Flush(0xc420389cb0)
github.com/docker/containerd/supervisor.(*Monitor).processEvent(0xc420198b10, 0x49, 0x1)
github.com/docker/containerd/supervisor.(*Monitor).start(0xc420198b10)
`, "12", "the notification of a container's memory limit"},
	{"docker's containerd: the monitor sends into a full channel (moby#30026)", `goroutine 44 [semacquire, 61 minutes]:
sync.(*Mutex).Lock(0xc420198b20)
github.com/docker/containerd/supervisor.(*Monitor).Monitor(0xc420198b10, 0xc42)

goroutine 12 [chan send, 61 minutes]:
github.com/docker/containerd/supervisor.(*Monitor).start(0xc420198b10)
`, "12", "a channel"},
	{"docker's containerd: a monitor that waits for events keeps nothing", `goroutine 44 [semacquire, 61 minutes]:
sync.(*Mutex).Lock(0xc420198b20)
github.com/docker/containerd/supervisor.(*Monitor).Monitor(0xc420198b10, 0xc42)

goroutine 12 [syscall, 61 minutes]:
syscall.EpollWait(0x4)
github.com/docker/containerd/supervisor.(*Monitor).start(0xc420198b10)
`, "", ""},
	{"shim: exits wait for one whose subscriber does not take it (containerd#9217)", `goroutine 387 [semacquire, 4 minutes]:
sync.runtime_SemacquireMutex(0x400022601c, 0x0, 0x1)
sync.(*Mutex).lockSlow(0x4000226018)
sync.(*Mutex).Lock(...)
github.com/containerd/containerd/sys/reaper.(*subscriber).do(0x4000226018, 0x4000311ec8)
github.com/containerd/containerd/sys/reaper.(*Monitor).notify.func1(0x40000247e0)

goroutine 300 [chan receive, 6 minutes]:
github.com/containerd/containerd/sys/reaper.stop(0x40)
github.com/containerd/containerd/sys/reaper.(*Monitor).notify.func1.1()
github.com/containerd/containerd/sys/reaper.(*subscriber).do(0x4000226018, 0x4000311ee8)

goroutine 301 [chan receive, 6 minutes]:
github.com/containerd/containerd/sys/reaper.(*Monitor).notify.func1.1()
github.com/containerd/containerd/sys/reaper.(*subscriber).do(0x4000999018, 0x4000311ee8)
`, "300", "a channel"},
	{"shim: only the subscriber of another is busy", `goroutine 387 [semacquire, 4 minutes]:
sync.(*Mutex).lockSlow(0x4000226018)
sync.(*Mutex).Lock(...)
github.com/containerd/containerd/sys/reaper.(*subscriber).do(0x4000226018, 0x4000311ec8)

goroutine 301 [chan receive, 6 minutes]:
github.com/containerd/containerd/sys/reaper.(*subscriber).do(0x4000999018, 0x4000311ee8)
`, "", ""},
	{"shim: the reaper sends to one who wants to leave (containerd#3525)", `goroutine 20 [semacquire, 33 minutes]:
sync.(*Mutex).Lock(0xc0000561c0)
github.com/containerd/containerd/runtime/v1/shim.(*Monitor).helper(0x1)
github.com/containerd/containerd/sys/reaper.(*Monitor).Unsubscribe(0xc0000561c0, 0xc0000b2000)
github.com/containerd/containerd/sys/reaper.(*Monitor).Wait(0xc0000561c0)

goroutine 1 [chan send, 33 minutes]:
github.com/containerd/containerd/sys/reaper.Reap(0x0, 0x0)
main.handleSignals(0xc00)
`, "1", "a channel"},
	{"shim: a create that waits for itself (containerd#9103)", `goroutine 36 [semacquire, 202 minutes]:
sync.runtime_SemacquireMutex(0x7ffc9cac9e28?, 0x0?, 0x203000?)
sync.(*Mutex).lockSlow(0xc000024a80)
sync.(*Mutex).Lock(...)
github.com/containerd/containerd/runtime/v2/runc/task.(*service).handleProcessExit(0xc000024a80, {{0x0}})
github.com/containerd/containerd/runtime/v2/runc/task.(*service).preStart.func1(0xc0)
github.com/containerd/containerd/runtime/v2/runc/task.(*service).Create(0xc000024a80, {0xaf0a30})
`, "36", "another lock"},
	{"shim of docker: an exit waits for an exec that waits for runc (moby#40145)", `goroutine 8 [semacquire, 900 minutes]:
sync.runtime_SemacquireMutex(0xc4200bc0c4, 0x646b00)
sync.(*Mutex).Lock(0xc4200bc0c0)
github.com/containerd/containerd/linux/shim.(*Service).checkProcesses(0xc4200bc0c0, 0xbf643d861cba3c4b)
github.com/containerd/containerd/linux/shim.(*Service).processExits(0xc4200bc0c0)

goroutine 77 [chan receive, 901 minutes]:
github.com/containerd/containerd/reaper.(*Monitor).Wait(0xc420)
github.com/containerd/containerd/vendor/github.com/containerd/go-runc.(*Runc).Exec(0xc4201)
github.com/containerd/containerd/linux/shim.(*Service).Exec(0xc4200bc0c0, 0x7f)
`, "77", "runc"},
	{"CRI-O: a stop that sends its timeout to nobody (cri-o#9256)", `goroutine 500 [sync.Mutex.Lock, 90 minutes]:
sync.(*Mutex).Lock(0xc00201ef28)
github.com/cri-o/cri-o/internal/oci.(*Container).SetAsDoneStopping(0xc00201ec00)
github.com/cri-o/cri-o/internal/oci.(*runtimeOCI).StopLoopForContainer(0xc001de5520)

goroutine 480 [chan send, 95 minutes]:
github.com/cri-o/cri-o/internal/oci.(*Container).WaitOnStopTimeout(0xc00201ec00, {0x2455340, 0xc000ed9e90}, 0xe10)
github.com/cri-o/cri-o/internal/oci.(*runtimeOCI).StopContainer(0xc001de5520, {0x2455340?})
`, "480", "a channel"},
	{"CRI-O: who waits for the end of a stop has let the lock go, the stop itself keeps it (cri-o#9406)", `goroutine 41391428 [sync.Mutex.Lock, 215 minutes]:
sync.(*Mutex).lockSlow(0xc0045c7bd0)
sync.(*RWMutex).Lock(0x556e4b5976a0?)
github.com/cri-o/cri-o/internal/oci.(*runtimeOCI).UpdateContainerStatus(0xc009228400, {0x556e4b5976a0?})

goroutine 41000001 [select, 220 minutes]:
github.com/cri-o/cri-o/internal/oci.(*Container).WaitOnStopTimeout(0xc0045c7b00, {0x2455340, 0xc000ed9e90}, 0xe10)
github.com/cri-o/cri-o/internal/oci.(*runtimeOCI).StopContainer(0xc009228400, {0x2455340?})

goroutine 41000002 [select, 220 minutes]:
github.com/cri-o/cri-o/internal/oci.(*runtimeOCI).StopLoopForContainer(0xc009228400, 0xc0045c7b00)
`, "41000002", ""},
	{"CRI-O: all of NRI behind a stop that waits for another lock (cri-o#10352)", `goroutine 900 [sync.Mutex.Lock, 61 minutes]:
sync.(*Mutex).Lock(0xc000510040)
github.com/cri-o/cri-o/internal/nri.(*local).RunPodSandbox(0xc000510000, {0x1})
github.com/cri-o/cri-o/server.(*nriAPI).runPodSandbox(0xc0006)

goroutine 700 [sync.RWMutex.RLock, 61 minutes]:
sync.(*RWMutex).RLock(...)
github.com/cri-o/cri-o/internal/oci.(*Container).State(0xc00201ec00)
github.com/cri-o/cri-o/server.(*criContainer).GetStatus(0xc1)
github.com/cri-o/cri-o/internal/nri.(*local).StopContainer(0xc000510000, {0x1})
github.com/cri-o/cri-o/server.(*nriAPI).stopContainer(0xc0006)
`, "700", "another lock"},
	{"kubelet: the status of a sandbox waits for its teardown (kubernetes#107749)", `goroutine 610 [semacquire, 8 minutes]:
sync.(*Mutex).Lock(0xc0011a0008)
k8s.io/kubernetes/pkg/kubelet/dockershim/network.(*PluginManager).GetPodNetworkStatus(0xc0009e4000, 0xc00)

goroutine 590 [syscall, 9 minutes]:
syscall.Syscall6(0xf7)
os.(*Process).Wait(0xc0019)
os/exec.(*Cmd).Wait(0xc0018)
github.com/containernetworking/cni/pkg/invoke.(*RawExec).ExecPlugin(0xc0017)
k8s.io/kubernetes/pkg/kubelet/dockershim/network.(*PluginManager).TearDownPod(0xc0009e4000, 0xc00)
`, "590", "a CNI plugin"},
	{"dockerd: devicemapper waits for the kernel (moby#22031)", `goroutine 70 [semacquire, 30 minutes]:
sync.(*Mutex).Lock(0xc820232038)
github.com/docker/docker/daemon/graphdriver/devmapper.(*DeviceSet).MountDevice(0xc820232000, 0xc8)

goroutine 66 [syscall, 31 minutes, locked to thread]:
github.com/docker/docker/pkg/devicemapper._Cfunc_dm_udev_wait(0x1)
github.com/docker/docker/daemon/graphdriver/devmapper.(*DeviceSet).deactivateDevice(0xc820232000, 0xc8)
github.com/docker/docker/daemon/graphdriver/devmapper.(*DeviceSet).UnmountDevice(0xc820232000, 0xc8)
`, "66", "the kernel"},
	{"dockerd: thousands of lists wait for an exit that waits for the output streams, told by its containerd (moby#30605)", `goroutine 901 [semacquire, 1259 minutes]:
sync.runtime_Semacquire(0xc042c0aa14)
sync.(*Mutex).Lock(0xc042c0aa10)
github.com/docker/docker/daemon.(*Daemon).reducePsContainer(0xc0421b6c00, 0xc042c0aa00)

goroutine 11741778 [semacquire, 1260 minutes]:
sync.runtime_Semacquire(0xc047246d8c)
sync.(*WaitGroup).Wait(0xc047246d80)
github.com/docker/docker/daemon.(*Daemon).StateChanged(0xc0421b6c00, 0xc047246d40, 0x40)
github.com/docker/docker/libcontainerd.(*container).waitExit(0xc045c7e240)
`, "11741778", "the output streams of the container"},
	{"dockerd: devicemapper's status waits for a device that udev does not confirm (moby#27900, moby#25993)", `goroutine 9776590 [semacquire, 2960 minutes]:
sync.(*Mutex).Lock(0xc20806e188)
github.com/docker/docker/daemon/graphdriver/devmapper.(*DeviceSet).Status(0xc20806e180, 0x0)

goroutine 90 [syscall, 2968 minutes, locked to thread]:
github.com/docker/docker/pkg/devicemapper._Cfunc_dm_udev_wait(0xd4d6bdc, 0xc200000000)
github.com/docker/docker/pkg/devicemapper.activateDevice(0xc2090e2c60, 0x24)
github.com/docker/docker/daemon/graphdriver/devmapper.(*DeviceSet).activateDeviceIfNeeded(0xc20806e180, 0xc2090cd380)
github.com/docker/docker/daemon/graphdriver/devmapper.(*DeviceSet).MountDevice(0xc20806e180, 0xc2090cd3)
`, "90", "the kernel"},
	{"containerd: updates of the metadata wait for their garbage collection", `goroutine 210 [sync.RWMutex.RLock, 7 minutes]:
sync.(*RWMutex).RLock(...)
github.com/containerd/containerd/metadata.(*DB).Update(0xc0000d8000, 0xc00)

goroutine 19 [syscall, 8 minutes]:
syscall.Syscall(0x4b, 0x9)
go.etcd.io/bbolt.fdatasync(0xc0000d9000)
github.com/containerd/containerd/metadata.(*DB).GarbageCollect(0xc0000d8000, {0x1})
`, "19", "the disk, to write the metadata database"},
	{"a wait group is no lock", `goroutine 1 [semacquire, 20 minutes]:
sync.runtime_Semacquire(0xc00103f200)
sync.(*WaitGroup).Wait(0xc00103f1f8)
github.com/docker/docker/container/stream.(*Config).Wait(0xc00103f1f0)
`, "no lock", ""},
}

func TestHolders(t *testing.T) {
	for _, tt := range dumps {
		var lock *parse.Fact
		for _, f := range Decode(&parse.File{Path: "goroutines.txt"}, []byte(tt.text)).Facts {
			if f.Key == KeyLock && (lock == nil || f.Num > lock.Num) {
				lock = f
			}
		}
		if lock == nil {
			if tt.holder != "no lock" {
				t.Errorf("%s: no lock found", tt.name)
			}
			continue
		}
		if got := lock.Attr("holder"); got != tt.holder || tt.holder != "" && lock.Attr("holder_waits") != tt.waits {
			t.Errorf("%s: holder %q waits for %q, want %q, %q (%s)", tt.name, got, lock.Attr("holder_waits"), tt.holder, tt.waits, lock.Attr("basis"))
		}
		if !strings.Contains(tt.text, lock.Quote()) {
			t.Errorf("%s: quotes %q", tt.name, lock.Quote())
		}
	}
}

// TestProgram: the program of a dump is recognized by its own packages, not by a
// library or the file name.
func TestProgram(t *testing.T) {
	for _, tt := range []struct{ file, frames, want string }{
		{"dump.txt", "github.com/containerd/containerd.(*task).Start\ngithub.com/docker/docker/daemon.(*Daemon).containerStart", "dockerd"},
		{"kubelet-hangs.txt", "github.com/containerd/containerd/metadata.(*DB).Update", "containerd"},
		{"dump.txt", "github.com/containerd/containerd/runtime/v2/shim.serve\ngithub.com/containerd/containerd/sys/reaper.(*Monitor).notify", "containerd-shim"},
		{"dump.txt", "github.com/containerd/containerd.(*task).Start", ""},
		{"dump.txt", "github.com/docker/containerd/supervisor.(*Monitor).start", "docker-containerd"},
		{"dump.txt", "github.com/containerd/containerd.(*Client).Get\nk8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).Relist", "kubelet"},
		{"crio-goroutines.txt", "main.main", "crio"},
	} {
		text := "goroutine 1 [select, 9 minutes]:\n" + strings.ReplaceAll(tt.frames, "\n", "(0x1)\n") + "(0x1)\n"
		fs := Decode(&parse.File{Path: tt.file}, []byte(text)).Facts
		if len(fs) == 0 || fs[0].Attr("program") != tt.want {
			t.Errorf("%s of %q: %v, want %q", tt.file, tt.frames, fs, tt.want)
		}
	}
}
