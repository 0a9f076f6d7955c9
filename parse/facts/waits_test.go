package facts

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// dumps are excerpts in the structure of public ones; each is followed by what holds
// the lock that most wait for, "" where the dump does not show it.
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
