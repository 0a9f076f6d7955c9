package waits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/waits"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/trial"
)

// hung returns the report of a hung task in the format of kernels from 5.10 on.
func hung(at int, task, pid string, frames ...string) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, "[%5d.%06d] %s\n", at, b.Len(), fmt.Sprintf(format, args...))
	}
	line("INFO: task %s:%s blocked for more than 120 seconds.", task, pid)
	line("      Not tainted 5.15.63 #1")
	line("task:%-15s state:D stack:    0 pid:%5s ppid:     1 flags:0x00000000", task, pid)
	line("Call Trace:")
	line(" <TASK>")
	for _, f := range append([]string{"__schedule", "schedule"}, frames...) {
		if stale, ok := strings.CutPrefix(f, "?"); ok {
			line("? %s+0x1a/0x60", stale)
			continue
		}
		line(" %s+0x1a/0x60", f)
	}
	line(" </TASK>")
	return b.String()
}

// asked returns the frames of a task that waits for a mutex.
func asked(by ...string) []string {
	return append([]string{"schedule_preempt_disabled", "__mutex_lock.constprop.0", "__mutex_lock_slowpath", "?__mutex_lock_slowpath", "mutex_lock"}, by...)
}

// reader returns the held locks of a task that shares a lock with others and asks for
// another.
func reader(at, pid string) string {
	return `[  ` + at + `0] 2 locks held by ip/` + pid + `:
[  ` + at + `1]  #0: ffffffff8478c568 (pernet_ops_rwsem){++++}-{3:3}, at: copy_net_ns+0x20/0x5d0
[  ` + at + `2]  #1: ffffffff845adf68 (text_mutex){+.+.}-{3:3}, at: arch_jump_label_transform_queue+0x3e/0xa0
`
}

var cleanup = []string{"ops_exit_list", "cleanup_net", "process_one_work", "worker_thread", "kthread", "ret_from_fork"}

// cases follow the structure of public stacks. Each ends with who waits for what, and
// for whom, as far as the stacks prove it.
var cases = []struct{ name, text, want string }{
	{"a namespace is cleaned up until its last device is free, and others are to be made (moby#5618)", `[  467.167062] sysrq: SysRq : Show Blocked State
[  467.168580] kworker/u4:6    D    0   293      2 0x00000000
[  467.169096] Workqueue: netns cleanup_net
[  467.169487] Call Trace:
[  467.169732]  __schedule+0x582/0x701
[  467.170338]  schedule_timeout+0xbf/0xff
[  467.171866]  msleep+0x1e/0x22
[  467.172155]  netdev_run_todo+0x173/0x2c4
[  467.172770]  default_device_exit_batch+0x13c/0x15f
[  467.173550]  ops_exit_list+0x29/0x53
[  467.173850]  cleanup_net+0x1a8/0x261
[  467.176167] runc:[1:CHILD]  D    0  2609   2606 0x00000000
[  467.176636] Call Trace:
[  467.177152]  schedule+0x89/0x9a
[  467.177400]  schedule_preempt_disabled+0x15/0x1e
[  467.177700]  __mutex_lock+0x2a0/0x3ef
[  467.178000]  mutex_lock_killable+0x21/0x2e
[  467.178300]  copy_net_ns+0x6a/0x13f
[  467.178600]  create_new_namespaces+0x109/0x18c
`, "runc:[1:CHILD] (2609) > kworker/u4:6 (293): the lock of all network namespaces | kworker/u4:6 (293): the last reference to a network device"},
	{"the clean-up waits for the same lock itself (coreos/bugs#2357)", hung(500, "kworker/u8:1", "77", asked("cleanup_net", "process_one_work")...) + hung(500, "runc:[1:CHILD]", "99", asked("copy_net_ns", "create_new_namespaces")...), "kworker/u8:1 (77): the lock of all network namespaces | runc:[1:CHILD] (99): the lock of all network namespaces"},
	{"only those that wait (dotmesh#540)", hung(500, "systemd", "1", asked("proc_cgroup_show", "proc_single_show")...) + hung(500, "kworker/6:4", "23468", asked("css_release_work_fn", "process_one_work")...), "systemd (1): the lock of all cgroups (cgroup_mutex) | kworker/6:4 (23468): the lock of all cgroups (cgroup_mutex)"},
	{"a cgroup is made, which waits for memory; systemd and a worker wait", hung(500, "runc", "300", "io_schedule", "try_to_free_pages", "mem_cgroup_css_alloc", "css_create", "cgroup_apply_control_enable", "cgroup_mkdir") +
		hung(501, "systemd", "1", asked("proc_cgroup_show")...) + hung(501, "kworker/6:4", "23468", asked("css_release_work_fn")...),
		"systemd (1) > runc (300): the lock of all cgroups (cgroup_mutex) | kworker/6:4 (23468) > runc (300): the lock of all cgroups (cgroup_mutex) | runc (300): input or output"},
	{"who drains a cgroup has let the lock go", hung(500, "runc", "300", "schedule", "cgroup_lock_and_drain_offline", "cgroup_apply_control", "cgroup_mkdir") + hung(501, "systemd", "1", asked("proc_cgroup_show")...), "systemd (1): the lock of all cgroups (cgroup_mutex)"},
	{"a device is deleted, which waits for work; another clean-up waits (moby#44552)", hung(1600, "dockerd", "3946", "schedule_timeout", "wait_for_completion", "__flush_work", "rollback_registered_many", "unregister_netdevice_many", "rtnl_delete_link", "rtnl_dellink", "rtnetlink_rcv_msg") +
		hung(1602, "kworker/u8:3", "88", asked(append([]string{"rtnl_lock", "default_device_exit_batch"}, cleanup...)...)...),
		"kworker/u8:3 (88) > dockerd (3946): the lock of the network configuration (rtnl) | dockerd (3946): work that a thread of the kernel is to do"},
	{"of a chain of two locks", hung(1600, "dockerd", "3946", "wait_for_completion", "__flush_work", "unregister_netdevice_many", "rtnl_dellink", "rtnetlink_rcv_msg") +
		hung(1602, "kworker/u8:3", "88", asked(append([]string{"rtnl_lock", "default_device_exit_batch"}, cleanup...)...)...) + hung(1602, "runc:[1:CHILD]", "99", asked("copy_net_ns")...),
		"kworker/u8:3 (88) > dockerd (3946): the lock of the network configuration (rtnl) | runc:[1:CHILD] (99) > kworker/u8:3 (88): the lock of all network namespaces | dockerd (3946): work that a thread of the kernel is to do"},
	{"who has let rtnl go waits for the last reference", hung(1600, "ip", "40", "msleep", "netdev_wait_allrefs_any", "netdev_run_todo", "rtnl_dellink", "rtnetlink_rcv_msg") + hung(1600, "kworker/1:0", "41", asked("rtnl_lock", "linkwatch_event")...), "ip (40): the last reference to a network device | kworker/1:0 (41): the lock of the network configuration (rtnl)"},
	{"two are inside, so none is named", hung(500, "a", "1", "io_schedule", "cgroup_apply_control") + hung(500, "b", "2", "io_schedule", "cgroup_migrate") + hung(500, "c", "3", asked("proc_cgroup_show")...), "a (1): input or output | b (2): input or output | c (3): the lock of all cgroups (cgroup_mutex)"},
	{"another mutex, that a function between asks for", hung(500, "a", "1", "io_schedule", "setup_net", "copy_net_ns") + hung(500, "kworker/0:1", "2", asked("ipvs_exit_batch", "cleanup_net")...), "a (1): input or output"},
	{"the holder was there an hour ago", hung(500, "a", "1", "io_schedule", "setup_net", "copy_net_ns") + hung(4200, "b", "2", asked("copy_net_ns")...), "a (1): input or output | b (2): the lock of all network namespaces"},
	{"within the time that both hang", hung(500, "a", "1", "io_schedule", "setup_net", "copy_net_ns") + hung(610, "b", "2", asked("copy_net_ns")...), "b (2) > a (1): the lock of all network namespaces | a (1): input or output"},
	{"functions that the kernel does not vouch for (kubernetes#16601)", hung(500, "kworker/u4:0", "24523", "?msleep", "?ops_exit_list", "?cleanup_net") + hung(500, "docker", "10467", "?mutex_lock", "?copy_net_ns"), ""},
	{"a stack of nobody after that of another", hung(500, "a", "1", "io_schedule") + "[  500.900000] Call Trace:\n[  500.900001]  setup_net+0x1/0x2\n[  500.900002]  copy_net_ns+0x1/0x2\n" + hung(500, "b", "2", asked("copy_net_ns")...), "a (1): input or output | b (2): the lock of all network namespaces"},
	{"readers do not keep one another out", hung(500, "a", "1", "io_schedule", "setup_net", "copy_net_ns") + hung(500, "b", "2", "rwsem_down_read_slowpath", "down_read_killable", "copy_net_ns"), "a (1): input or output | b (2): the lock of all network namespaces"},
	{"a mount waits for reclaim that waits for a file server (kubernetes#138512, with the one that holds)", hung(500, "kswapd0", "90", "rpc_wait_bit_killable", "nfs_wb_all", "evict", "super_cache_scan", "do_shrink_slab", "shrink_slab", "shrink_node") +
		hung(500, "runc:[2:INIT]", "3704643", "rwsem_down_write_slowpath", "register_shrinker_prepared", "sget_fc"),
		"runc:[2:INIT] (3704643) > kswapd0 (90): the lock of the list of shrinkers | kswapd0 (90): a file server"},
	{"the drain of page lists waits for a worker (amazon-linux-2023#993, with the one that holds)", hung(500, "fluent-bit", "70", "schedule_timeout", "wait_for_completion", "__flush_work", "__lru_add_drain_all", "generic_fadvise") + hung(500, "containerd", "71", asked("__lru_add_drain_all", "generic_fadvise")...),
		"containerd (71) > fluent-bit (70): the lock of the drain of all processors' page lists | fluent-bit (70): work that a thread of the kernel is to do"},
	{"the kernel's own word", hung(500, "runc", "77", asked("do_last")...) + "[  500.5] INFO: task runc:77 is blocked on a mutex likely owned by task kworker/u8:3:1234.\n", "runc (77) > kworker/u8:3 (1234): the mutex, likely"},
	{"a list of locks (sched_ext#131)", hung(500, "containerd", "70", asked("some_function")...) + `[  500.800000] Showing all locks held in the system:
[  500.800001] 1 lock held by containerd/70:
[  500.800002]  #0: ffffffff8478c568 (nf_hook_mutex){+.+.}-{3:3}, at: __nf_register_net_hook+0x10e/0x5d0
[  500.800003] 2 locks held by ip/71:
[  500.800004]  #0: ffffffff8478c568 (nf_hook_mutex){+.+.}-{3:3}, at: __nf_unregister_net_hook+0x20/0x5d0
[  500.800005]  #1: ffffffff845adf68 (text_mutex){+.+.}-{3:3}, at: arch_jump_label_transform_queue+0x3e/0xa0
`, "containerd (70) > ip (71): the lock nf_hook_mutex"},
	{"readers that share it, of which one is listed twice", hung(500, "containerd", "70", asked("some_function")...) + `[  500.800001] 1 lock held by containerd/70:
[  500.800002]  #0: ffffffff8478c568 (pernet_ops_rwsem){++++}-{3:3}, at: copy_net_ns+0x10e/0x5d0
` + reader("500.80001", "71") + reader("500.80002", "72") + reader("500.80003", "72"), ""},
	{"a list in which each asks for it last", hung(500, "containerd", "70", asked("some_function")...) + `[  500.800001] 1 lock held by containerd/70:
[  500.800002]  #0: ffffffff8478c568 (nf_hook_mutex){+.+.}-{3:3}, at: __nf_register_net_hook+0x10e/0x5d0
[  500.800003] 1 lock held by ip/71:
[  500.800004]  #0: ffffffff8478c568 (nf_hook_mutex){+.+.}-{3:3}, at: __nf_unregister_net_hook+0x20/0x5d0
`, ""},
}

func words(ws []waits.Wait) string {
	var out []string
	for _, w := range ws {
		s := w.Waiter.String()
		if w.Holder.PID != "" {
			s += " > " + w.Holder.String()
		}
		if s += ": " + w.For; w.Likely {
			s += ", likely"
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestOf(t *testing.T) {
	pack, _ := rules.Builtin()
	for _, tt := range cases {
		b := trial.Bundle(&rules.TestCase{Files: []rules.TestFile{{Name: "dmesg", Text: tt.text}}}, pack.Signatures())
		ws := waits.Of(b.Events, b.Facts)
		if got := words(ws); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		for _, w := range ws {
			for _, r := range w.By {
				if !strings.Contains(tt.text, r.Quote()) {
					t.Errorf("%s: quotes %q", tt.name, r.Quote())
				}
			}
		}
	}
}

// TestLongest checks that a chain continues only with a wait of the same task at about
// the same time.
func TestLongest(t *testing.T) {
	line := func(at int64) []parse.Record {
		return []parse.Record{&parse.Fact{Stamp: parse.Stamp{At: at * 1e9, Basis: parse.Stated}}}
	}
	runc, ip := waits.Task{Comm: "runc", PID: "1"}, waits.Task{Comm: "ip", PID: "2"}
	for _, tt := range []struct {
		next waits.Wait
		want int
		ring bool
	}{
		{waits.Wait{Waiter: ip, By: line(1100)}, 2, false},
		{waits.Wait{Waiter: ip, Holder: runc, By: line(1100)}, 2, true},
		{waits.Wait{Waiter: waits.Task{Comm: "cat", PID: "2"}, By: line(1100)}, 1, false},
		{waits.Wait{Waiter: ip, By: line(90000)}, 1, false},
	} {
		all := []waits.Wait{{Waiter: runc, Holder: ip, By: line(1000)}, tt.next, {Waiter: waits.Task{Comm: "sh", PID: "3"}, Holder: ip, By: line(1000)}}
		chain, ring := waits.Longest(all, func(w *waits.Wait) bool { return w.Waiter == runc })
		if len(chain) != tt.want || ring != tt.ring || waits.Alike(all, chain[0]) != 1 {
			t.Errorf("%v: %d, %v, %d alike", tt.next, len(chain), ring, waits.Alike(all, chain[0]))
		}
	}
}

// TestOfFiles checks that stacks from /proc/PID/stack count as one collection.
func TestOfFiles(t *testing.T) {
	fact := func(pid, frames string) *parse.Fact {
		return &parse.Fact{Pos: parse.Pos{File: &parse.File{Path: "proc/" + pid + "/stack"}}, Key: facts.KeyKernelStack, Attrs: []parse.Field{{Name: "pid", Value: pid}, {Name: "frames", Value: frames}}}
	}
	fs := []*parse.Fact{fact("90", "rpc_wait_bit_killable nfs_wb_all super_cache_scan do_shrink_slab shrink_slab"), fact("3704643", "rwsem_down_write_slowpath register_shrinker_prepared sget_fc"),
		{Pos: parse.Pos{File: &parse.File{Path: "ps"}}, Key: facts.KeyDState, Attrs: []parse.Field{{Name: "pid", Value: "3704643"}, {Name: "comm", Value: "runc"}}}}
	if got, want := words(waits.Of(nil, fs)), "runc (3704643) > a task (90): the lock of the list of shrinkers | a task (90): a file server"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestFunctions checks that kernel log lines are kept for every function that the
// tables look for.
func TestFunctions(t *testing.T) {
	pack, _ := rules.Builtin()
	for _, fn := range waits.Functions() {
		m := pack.Signatures().Match(parse.SrcKernel, 0, []byte("[  500.800001]  "+fn+"+0x10e/0x5d0"))
		if m == nil || !slices.ContainsFunc(m.Sigs, func(s *parse.Sig) bool { return s.ID == "k.frame" }) {
			t.Errorf("no line is kept for %s", fn)
		}
	}
}
