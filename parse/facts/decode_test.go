package facts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// show formats a fact in one line for comparison: line number, key, number or
// value, attributes.
func show(f *parse.Fact) string {
	v := strconv.FormatFloat(f.Num, 'g', 6, 64)
	if math.IsNaN(f.Num) {
		v = strconv.Quote(f.Value)
	}
	for _, a := range f.Attrs {
		v += " " + a.Name + "=" + a.Value
	}
	return fmt.Sprintf("%d %s %s", f.Line, f.Key, v)
}

var outputs = []struct {
	path, kind, in string
	want           []string // expected facts, as formatted by show; there may be others
}{
	{"sos_commands/host/uptime", "uptime", " 10:15:00 up 2 days,  1:20,  3 users,  load average: 21.50, 3.40, 5.60\n",
		[]string{"1 load.1 21.5", "1 load.5 3.4", "1 load.15 5.6", "1 time.uptime 177600"}},
	{"proc/loadavg", "loadavg", "0.20 0.18 0.12 3/812 11206\n", []string{"1 load.5 0.18", "1 procs.running 3 tool=loadavg", "1 thread.count 812"}},
	{"proc/pressure/io", "psi", "some avg10=1.00 avg60=2.50 avg300=3.00 total=12\nfull avg10=0.50 avg60=61.00 avg300=0.00 total=9\n",
		[]string{"1 psi.io.some.avg60 2.5", "2 psi.io.full.avg60 61", "2 psi.io.full.total 9"}},
	{"proc/meminfo", "meminfo", "MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    25 kB\nDirty:  4 kB\n",
		[]string{"1 mem.total 1.024e+06", "3 mem.available 25600", "3 mem.available.percent 2.5", "4 mem.dirty 4096"}},
	{"sos_commands/memory/free_-h", "free", "               total        used        free      shared  buff/cache   available\nMem:            15Gi       1.0Gi        13Gi        0Ki       1.0Gi        14Gi\n",
		[]string{"2 mem.total 1.61061e+10", "2 mem.available 1.50324e+10"}},
	{"proc/stat", "proc-stat", "cpu  10 0 10 60 20 0 0 0 0 0\ncpu0 5 0 5 30 10 0 0 0 0 0\ncpu1 5 0 5 30 10 0 0 0 0 0\nintr 1\nbtime 1795214690\nprocs_blocked 7\n",
		[]string{"1 cpu.iowait.percent 20 tool=stat since=boot", "4 cpu.count 2", "5 time.boot 1.79521e+09", "6 procs.blocked 7 tool=stat"}},
	{"proc/vmstat", "proc-vmstat", "nr_free_pages 45\nallocstall_dma 1\nallocstall_normal 2\npgmajfault 9\noom_kill 1\n",
		[]string{"3 vmstat.allocstall 3", "4 vmstat.pgmajfault 9", "5 vmstat.oom_kill 1"}},
	{"systeminfo/vmstat", "vmstat", "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n 1  0      0  1  2  3    0    0     1     2    3    4  5  1 94  0  0 2026-11-21 00:00:00\n 9 31      0  1  2  3    7    8     1     2    3    4  5  1  4 90  0 2026-11-21 00:00:01\n",
		[]string{"4 procs.running 9 tool=vmstat", "4 procs.blocked 31 tool=vmstat", "4 swap.in 7 tool=vmstat", "4 cpu.iowait.percent 90 tool=vmstat", "3 procs.blocked 0 tool=vmstat since=boot"}},
	{"systeminfo/iostatx", "iostat", "Linux 5.4 (n)\n\nDevice            r/s     w/s  r_await w_await  %util\nnvme0n1          1.00  900.00     2.00  450.00  99.80\n",
		[]string{"4 disk.util.percent 99.8 device=nvme0n1 tool=iostat", "4 disk.await 0.45 device=nvme0n1 tool=iostat op=w"}},
	{"systeminfo/top", "top", "top - 10:00:00 up 10 min,  1 user,  load average: 1.00, 2.00, 3.00\nTasks: 100 total\n%Cpu(s):  2.0 us,  1.0 sy,  0.0 ni, 50.0 id, 40.0 wa,  0.0 hi,  0.0 si,  7.0 st\n\n    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n     77 root      20   0  1 2 3 D   5.0   0.1   0:01 dockerd\n",
		[]string{"1 load.15 3", "3 cpu.iowait.percent 40 tool=top", "3 cpu.steal.percent 7 tool=top", "6 process.dstate 77 pid=77 comm=dockerd args=dockerd stat=D"}},
	{"pasted.txt", "transcript", "[root@n1 memory]# find . -type d | wc -l\n64734\n[root@n1 ~]# cat /proc/cgroups\n#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t64734\t1\n$ ps -p 1 -u\nUSER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nroot           1 73.0  0.8  38604 31076 ?        Rs   19:27  72:40 /sbin/init noembed\n",
		[]string{"5 cgroup.memory.count 64734", "8 process.daemon 73 pid=1 comm=init args=/sbin/init noembed stat=Rs start=19:27 cpu=73.0 rss=31076"}},
	{"notes.txt", "", "# cat the file first\nand then look\n", nil},
	{"old/systeminfo/top", "top", "top - 16:38:49 up 37 min,  2 users,  load average: 106.87, 95.49, 87.23\nTasks: 274 total\n%Cpu(s):  0.0 us, 97.9 sy\nKiB Mem:  16000000 total, 15900000 used,   100000 free,      400 buffers\nKiB Swap:        0 total,        0 used,        0 free.    59600 cached Mem\n\n  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n   70 root      20   0       0      0      0 R  78.0  0.0  21:18.04 kswapd0\n",
		[]string{"5 mem.available.percent 1 tool=top", "8 process.daemon 78 pid=70 comm=kswapd0 args=kswapd0 stat=R cpu=78.0 rss=0"}},
	{"new/systeminfo/top", "top", "top - 16:38:49 up 37 min,  2 users,  load average: 1.87, 1.49, 1.23\nTasks: 274 total\n%Cpu(s):  0.0 us, 97.9 sy\nMiB Mem :  16000.0 total,   1000.0 free,   8000.0 used,   7000.0 buff/cache\nMiB Swap:   2048.0 total,   2048.0 free,      0.0 used.   8000.0 avail Mem\n",
		[]string{"5 mem.available.percent 50 tool=top"}},
	{"sos_commands/process/ps_auxwwwm", "ps", "USER  PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\nroot    1 99.0  0.0 1 2 ?   -    May31 0:01 /sbin/init --x\nroot    -  0.0  - - - - Ssl 05:22 0:00 -\nroot  900  0.0  0.0 1 2 ?   -    05:22 0:00 runc init\nroot    -  0.0  - - - - D 05:22 0:00 -\nroot  901  0.0  0.0 1 2 ? Z 05:22 0:00 [sh] <defunct>\nroot  902  0.0  0.0 1 2 ? Sl 05:22 0:00 /usr/bin/containerd-shim-runc-v2 -namespace k8s.io\n",
		[]string{"2 process.daemon 99 pid=1 comm=init args=/sbin/init --x stat=- start=May31 cpu=99.0 rss=2", "4 process.runc 900 pid=900 comm=runc args=runc init stat=- start=05:22",
			"5 process.dstate 900 pid=900 comm=- args=- stat=D start=05:22", "6 process.zombie 901 pid=901 comm=sh args=[sh] <defunct> stat=Z start=05:22",
			"1 process.count 4", "1 thread.count 6", "1 process.shim.count 1", "1 process.dstate.count 1", "1 process.zombie.count 1"}},
	{"ps_-elfL", "ps", "F S UID   PID  PPID LWP C NLWP PRI NI ADDR SZ WCHAN  STIME TTY TIME CMD\n5 D root 14378 13862 14378 0 1 80 0 - 1 refrig Sep30 ? 00:00:00 /usr/local/bin/runc init\n",
		[]string{"2 process.dstate 14378 pid=14378 ppid=13862 comm=runc args=/usr/local/bin/runc init stat=D wchan=refrig start=Sep30"}},
	{"sos_commands/process/ps_axo_pid_ppid", "ps", "    PID    PPID STAT WCHAN                                             STARTED     ELAPSED COMMAND\n    100       2 D    rpc_wait_bit_killable             Fri Nov 20 23:00:00 2026    01:05:00 umount /mnt/nfs\n",
		[]string{"2 process.dstate 100 pid=100 ppid=2 comm=umount args=umount /mnt/nfs stat=D wchan=rpc_wait_bit_killable start=Fri Nov 20 23:00:00 2026 age=1h5m0s"}},
	{"ps", "ps", "UID PID PPID C STIME TTY TIME CMD\nroot 10 1 1 10:00 ? 00:00:01 /usr/bin/kubelet --runtime-request-timeout=15m --v=4 --feature-gates=A=true,EventedPLEG=true --max-pods 250\n",
		[]string{"2 kubelet.runtime_request_timeout 900 from=flag", "2 kubelet.verbosity 4 from=flag", "2 kubelet.evented_pleg 1 from=flag", "2 kubelet.max_pods 250 from=flag"}},
	{"who.txt", "ps", "root      1234  0.0  0.1 714520 15044 ?        Sl   Mar04  12:01 /usr/bin/containerd-shim-runc-v2 -namespace k8s.io\nroot     23456  0.0  0.0      0     0 ?        D    10:02   0:00 [kworker/u8:1]\r\n",
		[]string{"2 process.dstate 23456 pid=23456 comm=kworker/u8:1 args=[kworker/u8:1] stat=D start=10:02"}},
	{"processes", "ps", "root      1201     1  3 Mar04 ?        1-02:03:04 /usr/bin/dockerd -H fd://\nroot      1310  1201  0 08:15 ?        00:00:01 runc --root /run/runc list",
		[]string{"1 process.daemon 3 pid=1201 ppid=1 comm=dockerd args=/usr/bin/dockerd -H fd:// start=Mar04 cpu=3",
			"2 process.runc 1310 pid=1310 ppid=1201 comm=runc args=runc --root /run/runc list start=08:15"}},
	{"long", "ps", "4 D root      1301  1201  0  80   0 - 27154 rpc_wa Mar04 ?        00:00:01 umount /mnt/a\n",
		[]string{"1 process.dstate 1301 pid=1301 ppid=1201 comm=umount args=umount /mnt/a stat=D wchan=rpc_wa start=Mar04"}},
	{"threads", "ps", " 1301  1201  1301 Dl   rpc_wait_bit_killable            Wed Mar  4 09:15:02 2026 umount /mnt/a\n",
		[]string{"1 process.dstate 1301 pid=1301 ppid=1201 comm=umount args=umount /mnt/a stat=Dl wchan=rpc_wait_bit_killable start=Wed Mar 4 09:15:02 2026"}},
	{"blocked", "ps", " 1301 D    rpc_wait_bit_killable            umount /mnt/a\n 1302 Ds   -                                sh -c ls\n",
		[]string{"1 process.dstate 1301 pid=1301 comm=umount args=umount /mnt/a stat=D wchan=rpc_wait_bit_killable", "2 process.dstate 1302 pid=1302 comm=sh args=sh -c ls stat=Ds"}},
	{"answers", "", "1 D is right\n2 Do it again\n", nil},
	{"notes", "", "root      1201     1  3 Mar04 ?        1-02:03:04 /usr/bin/dockerd -H fd://\nthis one hangs\n", nil},
	{"ps_etime", "ps", "  PID     ELAPSED S CMD\n  900 2-01:00:05 D runc init\n  901 bad D runc init\n",
		[]string{"2 process.runc 900 pid=900 comm=runc args=runc init stat=D age=49h0m5s", "3 process.runc 901 pid=901 comm=runc args=runc init stat=D"}},
	{"who", "", "root     pts/0        2026-03-04 10:02 (10.0.0.1)\n", nil},
	{"lslocks", "", "COMMAND           PID  TYPE SIZE MODE  M START END PATH\ncron              700 FLOCK   4B WRITE 0     0   0 /run/crond.pid\n", nil},
	{"ps_wchan", "ps", "PID PPID STAT WCHAN COMMAND\n1 0 Ss - /sbin/init\n", []string{"1 process.count 1 wchan=true"}},
	{"df_-al_-x_autofs", "df", "Filesystem     1K-blocks  Used Available Use% Mounted on\n/dev/mapper/a-very-long-name\n                    100   100         0 100% /var/lib/docker\ntmpfs               100     1        99   1% /run\n",
		[]string{"3 disk.used.percent 100 device=/dev/mapper/a-very-long-name mount=/var/lib/docker", "4 disk.used.percent 1 device=tmpfs mount=/run"}},
	{"df of images", "df", "Filesystem     1K-blocks  Used Available Use% Mounted on\n/dev/loop2   100   100   0 100% /snap/core/10583\n/dev/sdb  100 100 0 100% /var/lib/kubelet/pods/0d1c/volumes/kubernetes.io~csi/pvc-1/mount\n",
		[]string{"3 disk.used.percent 100 device=/dev/sdb mount=/var/lib/kubelet/pods/0d1c/volumes/kubernetes.io~csi/pvc-1/mount apart=a volume"}},
	{"dfi", "df", "Filesystem      Inodes  IUsed   IFree IUse% Mounted on\n/dev/vda1          100     97       3   97% /\n", []string{"2 inode.used.percent 97 device=/dev/vda1 mount=/"}},
	{"lvs", "lvs", "  LV   VG Attr       LSize  Pool Origin Data%  Meta%  Move\n  pool vg twi-aot--- 100.00g             99.98  45.10\n  root vg -wi-ao----  10.00g\n",
		[]string{"2 lvm.thin.data.percent 99.98 volume=vg/pool", "2 lvm.thin.metadata.percent 45.1 volume=vg/pool"}},
	{"sos_commands/filesys/mount_-l", "mounts", "sysfs on /sys type sysfs (rw,nosuid)\n10.1.2.3:/export on /var/lib/kubelet/pods/u/volumes/n type nfs4 (rw,hard,timeo=600)\n",
		[]string{"2 mount.network \"/var/lib/kubelet/pods/u/volumes/n\" device=10.1.2.3:/export server=10.1.2.3 mount=/var/lib/kubelet/pods/u/volumes/n fstype=nfs4 options=rw,hard,timeo=600 pods=true", "2 mount.count 2"}},
	{"proc/mounts", "mounts", "proc /proc proc rw 0 0\n//srv/share /mnt cifs rw,soft 0 0\n", []string{"2 mount.network \"/mnt\" device=//srv/share server=srv mount=/mnt fstype=cifs options=rw,soft"}},
	{"proc/1/mountinfo", "mounts", "36 35 98:0 / /mnt rw,noatime shared:1 - nfs srv:/x rw,hard\n", []string{"1 mount.network \"/mnt\" device=srv:/x server=srv mount=/mnt fstype=nfs options=rw,noatime,rw,hard"}},
	{"timedatectl", "timedatectl", "               Local time: Sat 2026-11-21 01:00:00 EST\n           Universal time: Sat 2026-11-21 06:00:00 UTC\n                Time zone: America/New_York (EST, -0500)\nSystem clock synchronized: no\n",
		[]string{"3 time.zone -18000", "4 time.synchronized 0", `2 time.collected "Sat 2026-11-21 06:00:00 UTC"`}},
	{"date", "date", "Sat Nov 21 10:00:00 CST 2026\n", []string{`1 time.collected "Sat Nov 21 10:00:00 CST 2026"`}},
	{"systemctl_list-jobs", "list-jobs", " JOB UNIT                 TYPE  STATE\n 123 kubepods-x.slice     start waiting\n 124 run-docker.scope     start running\n\n2 jobs listed.\n",
		[]string{"2 systemd.job 123 unit=kubepods-x.slice type=start state=waiting", "5 systemd.job.count 2"}},
	{"systemctl_list-jobs", "list-jobs", "No jobs running.\n", []string{"1 systemd.job.count 0"}},
	{"systemctl_status_docker", "unit-status", "● docker.service\n     Loaded: masked (Reason: Unit docker.service is masked.)\n     Active: inactive (dead) since Tue 2026-11-17 16:49:41 UTC; 3h 3min ago\n",
		[]string{"3 systemd.unit \"inactive\" unit=docker.service active=inactive sub=dead since=Tue 2026-11-17 16:49:41 UTC load=masked"}},
	{"systemctl_status_kubelet", "unit-status", "● kubelet.service - kubelet\n     Loaded: loaded\n     Active: failed (Result: exit-code) since Sat 2026-11-21 00:01:20 UTC; 4min ago\n   Main PID: 42 (code=exited, status=1/FAILURE)\n      Tasks: 4915 (limit: 4915)\n",
		[]string{`3 systemd.unit.failed "kubelet.service" unit=kubelet.service`, `3 systemd.unit "failed" unit=kubelet.service active=failed sub=Result: exit-code result=exit-code since=Sat 2026-11-21 00:01:20 UTC pid=42 status=1/FAILURE tasks=4915 limit=4915`}},
	{"systemctl_cat_kubelet", "unit-file", "# /etc/systemd/system/kubelet.service\n[Service]\nExecStart=/usr/bin/kubelet --v=6\nCPUQuota=50%\n",
		[]string{`3 kubelet.verbosity 6 from=flag`, `4 systemd.setting 50 unit=kubelet.service name=CPUQuota`}},
	{"systemctl_--version", "systemd-version", "systemd 219\n+PAM\n", []string{"1 systemd.version 219"}},
	{"etc/os-release", "os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n", []string{`2 os.name "Debian GNU/Linux 12"`}},
	{"uname_-a", "uname", "Linux n1 5.4.214-120.368.amzn2.x86_64 #1 SMP x86_64 GNU/Linux\n", []string{`1 kernel.version "5.4.214-120.368.amzn2.x86_64"`}},
	{"proc/sys/kernel/pid_max", "proc-sys", "32768\n", []string{"1 pid.max 32768"}},
	{"sysctl_-a", "sysctl", "fs.file-nr = 1000\t0\t2000\nkernel.pid_max = 32768\n", []string{"1 files.open 1000", "2 pid.max 32768"}},
	{"proc/cgroups", "proc-cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t5\t61000\t1\n", []string{"2 cgroup.memory.count 61000"}},
	{"sys/fs/cgroup/freezer/kubepods/podx/freezer.state", "cgroup-file", "FROZEN\n", []string{"1 cgroup.frozen 1 cgroup=/freezer/kubepods/podx"}},
	{"sys/fs/cgroup/pids.current", "cgroup-file", "512\n", []string{"1 cgroup.pids.current 512 cgroup=/"}},
	{"crictl_version", "runtime-version", "Version:  0.1.0\nRuntimeName:  containerd\nRuntimeVersion:  v1.7.14\nRuntimeApiVersion:  v1\n", []string{`2 runtime.name "containerd"`, `3 runtime.version "1.7.14" name=containerd`}},
	{"containerd-version.txt", "version-line", "containerd github.com/containerd/containerd 1.6.6 10c12954\n", []string{`1 runtime.version "1.6.6" name=containerd`}},
	{"kubernetes-version.txt", "version-line", "v1.29.2\n", []string{`1 kubelet.version "v1.29.2"`}},
	{"kind-version.txt", "version-line", "kind v0.23.0 go1.21.10 linux/amd64\n", []string{`1 collector.name "kind"`, `1 collector.version "0.23.0"`}},
	{"runc_--version", "version-line", "runc version 1.0.0-rc93\nspec: 1.0.2\n", []string{`1 runc.version "1.0.0-rc93" name=runc`}},
	{"installed-rpms", "packages", "kubelet-1.22.0-0.x86_64  Mon Nov 1\ncontainerd.io-1.4.6-3.1.el7.x86_64 Mon\nsystemd-219-78.el7.x86_64 Mon\n",
		[]string{`1 kubelet.version "v1.22.0"`, `2 runtime.version "1.4.6" name=containerd`, "3 systemd.version 219"}},
	{"docker_info", "docker-info", "Containers: 812\n Running: 30\n Stopped: 782\nServer Version: 18.06.1-ce\nCgroup Driver: systemd\n",
		[]string{"1 containers.total 812 tool=docker", "3 containers.exited 782 tool=docker", `4 runtime.version "18.06.1-ce" name=docker`, `5 kubelet.cgroup_driver "systemd" from=docker`}},
	{"crictl_info", "crictl-info", "{\n \"status\": {\"conditions\": [\n  {\"type\": \"RuntimeReady\", \"status\": true, \"reason\": \"\"},\n  {\"type\": \"NetworkReady\", \"status\": false, \"reason\": \"NetworkPluginNotReady\"}]}}",
		[]string{"3 runtime.condition 1 name=RuntimeReady", "4 runtime.condition 0 name=NetworkReady reason=NetworkPluginNotReady"}},
	{"crictl_ps_-a", "container-table", "CONTAINER           IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID\na             b             9 days ago          Running             n             0                   p\nc             d             9 days ago          Exited              n             0                   p\n",
		[]string{"1 containers.running 1 tool=crictl", "1 containers.exited 1 tool=crictl", "1 containers.total 2 tool=crictl"}},
	{"docker-ps.txt", "container-table", "CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES\na   b   \"c\"   2 days ago   Up 2 days   n\nd   e   \"f\"   2 days ago   Exited (0) 2 days ago   m\n",
		[]string{"1 containers.running 1 tool=docker", "1 containers.exited 1 tool=docker"}},
	{"var/lib/kubelet/config.yaml", "kubelet-config", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 500\nruntimeRequestTimeout: 4m0s\nfeatureGates:\n  EventedPLEG: true\nlogging:\n  verbosity: 3\nsystemReserved:\n  cpu: 100m\n",
		[]string{"3 kubelet.max_pods 500 from=file", "4 kubelet.runtime_request_timeout 240 from=file", "6 kubelet.evented_pleg 1 from=file", "8 kubelet.verbosity 3 from=file", `10 kubelet.system_reserved "cpu=100m" from=file`}},
	{"configz", "kubelet-config", `{"kubeletconfig":{"kind":"KubeletConfiguration","maxPods":110,"nodeStatusUpdateFrequency":"10s"}}`, []string{"1 kubelet.max_pods 110 from=configz", "1 kubelet.node_status_update_frequency 10 from=configz"}},
	{"containerd.123.stacks.log", "goroutines", "goroutine 7 [chan send, 34 minutes]:\nk8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist(0xc0)\n\t/go/src/generic.go:1 +0x1\n\ngoroutine 8 [semacquire, 34 minutes]:\nsync.runtime_Semacquire(0x1)\n\t/x.go:1\ngithub.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent(0x1, {0x2, 0x3})\n\t/x.go:1\ncreated by net/http.(*Server).Serve in goroutine 1\n\ngoroutine 9 [running]:\nmain.main()\n",
		[]string{"1 goroutine.count 3 program=kubelet", "1 goroutine.wait 2040 program=kubelet state=chan send count=1 ids=7 blocked=k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist frames=k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist",
			"5 goroutine.wait 2040 program=kubelet state=semacquire count=1 ids=8 blocked=github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent frames=sync.runtime_Semacquire github.com/docker/docker/daemon.(*Daemon).ContainerInspectCurrent net/http.(*Server).Serve"}},
	{"containerd.txt", "goroutines", "panic: x\n\ngoroutine 7 [running]:\nk8s.io/kubernetes/vendor/github.com/containerd/containerd.(*Client).Get(0x1)\n\t/x.go:1\n",
		[]string{"1 goroutine.crash 0 program=kubelet frames=k8s.io/kubernetes/vendor/github.com/containerd/containerd.(*Client).Get"}},
	{"crash.txt", "goroutines", "fatal error: concurrent map read and map write\n\ngoroutine 7 [running]:\nruntime.throw(0x1, 0x26)\n\t/x.go:1\ngithub.com/containerd/containerd/runtime.(*TaskList).GetAll(0xc0)\n\t/x.go:1\n",
		[]string{"3 goroutine.count 1 program=containerd", "1 goroutine.crash 0 program=containerd frames=runtime.throw github.com/containerd/containerd/runtime.(*TaskList).GetAll", "3 goroutine.wait 0 program=containerd state=running count=1 ids=7 blocked=github.com/containerd/containerd/runtime.(*TaskList).GetAll frames=runtime.throw github.com/containerd/containerd/runtime.(*TaskList).GetAll"}},
	{"dump.txt", "goroutines", "goroutine 7 [sync.RWMutex.RLock, 2 minutes]:\nsync.(*RWMutex).RLock(...)\n[github.com/containerd/containerd/pkg/cri/store/container.(*statusStorage).Get(0xc0)](http://github.com/containerd/x) --> waits\n[github.com/containerd/containerd/pkg/cri/store/container/status.go:205](http://github.com/containerd/x) +0x7f\n[github.com/containerd/containerd/pkg/cri/server.(*criService).ListContainers(0xc1](http://github.com/containerd/x), {0xc2, 0x3})\n",
		[]string{"1 goroutine.count 1 program=containerd", "1 goroutine.wait 120 program=containerd state=sync.RWMutex.RLock count=1 ids=7 blocked=github.com/containerd/containerd/pkg/cri/store/container.(*statusStorage).Get frames=sync.(*RWMutex).RLock github.com/containerd/containerd/pkg/cri/store/container.(*statusStorage).Get github.com/containerd/containerd/pkg/cri/server.(*criService).ListContainers"}},
	{"shim.txt", "goroutines", "goroutine 12 [syscall, 4392 minutes]:\nsyscall.Read(0x49)\n\t/x.go:1\ngithub.com/docker/containerd/runtime.(*oom).Flush(0xc4)\n\t/x.go:1\n",
		[]string{"1 goroutine.count 1 program=docker-containerd", "1 goroutine.wait 263520 program=docker-containerd state=syscall count=1 ids=12 blocked=github.com/docker/containerd/runtime.(*oom).Flush frames=syscall.Read github.com/docker/containerd/runtime.(*oom).Flush"}},
	{"proc/8123/stack", "kernel-stack", "[<0>] fanotify_handle_event+0x12/0x30\n[<0>] fsnotify+0x1/0x2\n", []string{"1 process.stack 8123 pid=8123 frames=fanotify_handle_event fsnotify"}},
	{"stacks.txt", "kernel-stack", "PID: 90\n[<0>] rpc_wait_bit_killable+0x1/0x2\n[<0>] shrink_slab+0x1/0x2\n---\nPID: 371\n[<0>] rwsem_down_write_slowpath+0x370/0x570\n# cat /proc/372/stack\n[<0>] copy_net_ns+0x370/0x570\n",
		[]string{"2 process.stack 90 pid=90 frames=rpc_wait_bit_killable shrink_slab", "6 process.stack 371 pid=371 frames=rwsem_down_write_slowpath", "8 process.stack 372 pid=372 frames=copy_net_ns"}},
	{"kubectl_get_node_n1", "one-node", "NAME   STATUS     ROLES    AGE   VERSION\nn1     NotReady   <none>   61d   v1.31.4\n", []string{`2 node.name "n1"`}},
	{"crictl_ps", "killed", "FATA[0002] listing containers: rpc error: code = DeadlineExceeded desc = context deadline exceeded\n", []string{`1 collector.command.killed "crictl_ps" command=crictl ps file=crictl_ps`}},
	{"df", "killed", "df: /srv/share: Connection timed out\n", []string{`1 collector.command.killed "df" command=df file=df`}},
	{"store.log", "", "storeserver: request \"key\" with result \"error: request timed out\" took too long (7s)\n", nil},
	{"version.txt", "collector-version", "sos report: 4.12.0\n", []string{`1 collector.name "sos"`, `1 collector.version "4.12.0"`}},
	{"metadata.yaml", "bundle-metadata", "bundlename: b\nbundleversion: 0.1.0\nbundlecreatedat: \"2025-12-30T22:00:32Z\"\n", []string{`2 collector.version "0.1.0"`, `3 time.collected "2025-12-30T22:00:32Z"`}},
	{"basic-environment.txt", "supportconfig", "=====\n x\n\n#==[ Command ]==#\n# /bin/date\nTue Dec 30 22:01:47 UTC 2025\n\n#==[ Command ]==#\n# /usr/bin/uptime\n 10:00 up 1 min, load average: 9.00, 1.00, 1.00\n",
		[]string{`6 time.collected "Tue Dec 30 22:01:47 UTC 2025"`, "10 load.1 9"}},
	{"x-info.json", "collector-info", "{\n\"command\": \"journalctl -u kubelet\",\n\"exitCode\": \"124\"\n}", []string{`3 collector.command.killed "journalctl -u kubelet" command=journalctl -u kubelet code=124`}},
	{"sos_commands/sar/sar21", "sar", "Linux 5.14 (n1) \t11/21/2026 \t_x86_64_\t(4 CPU)\n\n11:50:01 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n11:59:01 PM     all      1.00      0.00      2.00     55.00      0.00     42.00\n11:59:01 PM       0      9.00      0.00      2.00     55.00      0.00     42.00\nAverage:        all      1.00      0.00      2.00     55.00      0.00     42.00\n\n11:59:01 PM       LINUX RESTART\t(4 CPU)\n",
		[]string{"4 cpu.iowait.percent 55 tool=sar", `8 sar.restart "LINUX RESTART (4 CPU)"`}},
	{"sa21.xml", "sar-xml", "<sysstat><host><statistics>\n<timestamp date=\"2026-11-21\" time=\"10:00:00\" utc=\"1\" interval=\"60\">\n<queue runq-sz=\"3\" plist-sz=\"400\" ldavg-1=\"77.00\" blocked=\"40\"/>\n<cpu number=\"0\" user=\"1\"/>\n</timestamp></statistics></host></sysstat>",
		[]string{"3 load.1 77 tool=sar", "3 procs.blocked 40 tool=sar"}},
}

func TestDecode(t *testing.T) {
	for _, tt := range outputs {
		f := &parse.File{Path: tt.path}
		if got := Kind(tt.path, []byte(tt.in)); got != tt.kind {
			t.Errorf("%s: kind %q, want %q", tt.path, got, tt.kind)
			continue
		}
		part := Decode(f, []byte(tt.in))
		var got []string
		for _, fact := range part.Facts {
			got = append(got, show(fact))
			if _, ok := Lookup(fact.Key); !ok {
				t.Errorf("%s: key %s is not in Keys", tt.path, fact.Key)
			}
		}
		all := "\n" + strings.Join(got, "\n") + "\n"
		for _, want := range tt.want {
			if !strings.Contains(all, "\n"+want+"\n") {
				t.Errorf("%s: no fact\n  %s\namong%s", tt.path, want, all)
			}
		}
		for _, w := range part.Warnings {
			t.Errorf("%s: warning %v", tt.path, w)
		}
		checkPositions(t, f, tt.in, part)
	}
}

// checkPositions compares the text of every fact and object with the line it cites.
func checkPositions(t *testing.T, f *parse.File, in string, part parse.Part) {
	t.Helper()
	lines := strings.Split(in, "\n")
	check := func(p parse.Pos, text string) {
		if p.File != f || p.Line == 0 || int(p.Line) > len(lines) {
			t.Errorf("%s: position %v outside the file of %d lines", f.Path, p, len(lines))
			return
		}
		line := strings.TrimSuffix(lines[p.Line-1], "\r")
		if text != line[:min(len(line), maxText)] {
			t.Errorf("%s: cites %q, the line is %q", p, text, line)
		}
		if rest := in[min(max(p.Offset, 0), int64(len(in))):]; !strings.HasPrefix(rest, text) {
			t.Errorf("%s: offset %d does not begin the line", p, p.Offset)
		}
	}
	for _, x := range part.Facts {
		check(x.Pos, x.Text.String())
	}
	for _, x := range part.Objects {
		check(x.Pos, x.Text.String())
	}
}

// TestEveryKindHasASample checks that every decoder has a sample.
func TestEveryKindHasASample(t *testing.T) {
	seen := map[string]bool{"list-boots": true, "hwclock": true, "list-units": true, "boot-id": true, "cmdline": true, "lscpu": true, "cpuinfo": true,
		"docker-version": true, "configz": true, "hostname": true, "sos-manifest": true, "objects-json": true, "objects-yaml": true, "sos-log": true, "kubelet-cmdline": true} // tested elsewhere
	for _, tt := range outputs {
		seen[tt.kind] = true
	}
	for _, d := range decoders {
		if !seen[d.kind] {
			t.Errorf("decoder %s has no sample", d.kind)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, tt := range outputs {
		f.Add(tt.path, []byte(tt.in))
	}
	for _, tt := range objectInputs {
		f.Add(tt.path, []byte(tt.in))
	}
	f.Add("manifest.json", []byte(manifest))
	f.Add("mount", []byte("0 on 0 type 0 (\n0 on type 0 0"))
	f.Fuzz(func(t *testing.T, path string, in []byte) {
		file := &parse.File{Path: path}
		part := Decode(file, in)
		for _, x := range part.Facts {
			if x.File != file || x.Offset < 0 || x.Offset > int64(len(in)) {
				t.Fatalf("%s: position %d in %d bytes", x.Key, x.Offset, len(in))
			}
			if _, ok := Lookup(x.Key); !ok {
				t.Fatalf("key %q is not in Keys", x.Key)
			}
		}
		for _, o := range part.Objects {
			if o.File != file || o.Offset < 0 || o.Offset > int64(len(in)) {
				t.Fatalf("%s: position %d in %d bytes", o.Kind, o.Offset, len(in))
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var ps strings.Builder
	ps.WriteString("USER  PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n")
	for i := range 5000 {
		fmt.Fprintf(&ps, "root %7d  0.0  0.0 119356 1544 ? Ssl May31 0:01 /usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id %d\n", i+2, i)
	}
	f := &parse.File{Path: "ps_auxwwwm"}
	data := []byte(ps.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Decode(f, data)
	}
}
