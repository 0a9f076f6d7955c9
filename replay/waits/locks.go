package waits

import (
	"slices"
	"strings"
)

// mode is how a task asks for a lock.
type mode uint8

const (
	exclusive mode = iota // a mutex, or an rwsem for writing
	shared                // an rwsem for reading
)

// asks lists functions that wait for a lock, by prefix of their names: their caller is
// the one that asks. The first match counts.
var asks = []struct {
	name string
	how  mode
}{
	{"mutex_lock", exclusive}, {"__mutex_lock", exclusive}, {"__ww_mutex_lock", exclusive},
	{"rwsem_down_write", exclusive}, {"call_rwsem_down_write", exclusive}, {"down_write", exclusive}, {"__down_write", exclusive},
	{"rwsem_down_read", shared}, {"call_rwsem_down_read", shared}, {"down_read", shared}, {"__down_read", shared},
}

// lock is a lock that exists once in the kernel, so a task that is inside it holds what
// the others wait for.
type lock struct {
	name  string
	wants []string // functions that ask for it by a call of their own, and so wait
	// A task holds the lock if its stack contains all functions of one of these sets.
	held  [][]string
	reads [][]string // the same for reading, or for the mutex that preceded the rwsem
	left  []string   // functions called, or waiting, with the lock released
}

var locks = []lock{
	// net/core/net_namespace.c: net_mutex up to 4.16, then pernet_ops_rwsem.
	{name: "the lock of all network namespaces", wants: []string{"copy_net_ns", "cleanup_net", "register_pernet_subsys", "register_pernet_device", "unregister_pernet_subsys", "unregister_pernet_device"},
		reads: [][]string{{"copy_net_ns", "setup_net"}, {"cleanup_net", "ops_exit_list"}, {"cleanup_net", "ops_undo_list"}},
		held:  [][]string{{"register_pernet_operations"}, {"unregister_pernet_operations"}}},
	// net/core/rtnetlink.c, net/core/dev.c: ASSERT_RTNL.
	{name: "the lock of the network configuration (rtnl)", wants: []string{"rtnl_lock", "rtnl_lock_killable", "rtnetlink_rcv", "rtnetlink_rcv_msg"},
		held: [][]string{{"unregister_netdevice_many"}, {"unregister_netdevice_many_notify"}, {"unregister_netdevice_queue"}, {"rollback_registered_many"}, {"register_netdevice"}, {"dev_change_flags"}, {"dev_close_many"}, {"__dev_close_many"}, {"__dev_open"},
			{"rtnetlink_rcv_msg", "rtnl_dellink"}, {"rtnetlink_rcv_msg", "do_setlink"}, {"__linkwatch_run_queue"}},
		left: []string{"netdev_run_todo", "netdev_wait_allrefs", "netdev_wait_allrefs_any"}},
	// kernel/cgroup/cgroup.c: cgroup_mutex.
	{name: "the lock of all cgroups (cgroup_mutex)", wants: []string{"proc_cgroup_show", "proc_cgroupstats_show", "cgroup_kn_lock_live", "cgroup_lock_and_drain_offline", "css_killed_work_fn", "css_release_work_fn", "cgroup_lock_live_group", "cgroup_release_agent"},
		held: [][]string{{"cgroup_apply_control"}, {"cgroup_apply_control_enable"}, {"cgroup_destroy_locked"}, {"cgroup_attach_task"}, {"cgroup_migrate"}, {"rebind_subsystems"}, {"css_killed_work_fn", "offline_css"}, {"css_create"}},
		left: []string{"cgroup_lock_and_drain_offline", "cgroup_drain_dying"}},
	// mm/vmscan.c up to 6.6: shrinker_rwsem.
	{name: "the lock of the list of shrinkers", wants: []string{"register_shrinker", "register_shrinker_prepared", "unregister_shrinker", "prealloc_shrinker", "prealloc_memcg_shrinker", "free_prealloced_shrinker"},
		reads: [][]string{{"do_shrink_slab"}, {"shrink_slab"}, {"shrink_slab_memcg"}}},
	// mm/swap.c: lru_add_drain_all.
	{name: "the lock of the drain of all processors' page lists", wants: []string{"lru_add_drain_all", "__lru_add_drain_all"},
		held: [][]string{{"lru_add_drain_all", "flush_work"}, {"__lru_add_drain_all", "flush_work"}, {"lru_add_drain_all", "__flush_work"}, {"__lru_add_drain_all", "__flush_work"}}},
	// mm/percpu.c: pcpu_alloc_mutex.
	{name: "the lock of memory of single processors", wants: []string{"pcpu_alloc", "pcpu_alloc_noprof", "pcpu_balance_workfn"},
		held: [][]string{{"pcpu_create_chunk"}, {"pcpu_populate_chunk"}, {"pcpu_alloc_pages"}}},
}

// ends lists what a task waits for other than a lock, by the function that waits. The
// innermost one counts.
var ends = map[string]string{
	"fanotify_handle_event": "the answer of who listens to file access", "fanotify_get_response": "the answer of who listens to file access",
	"netdev_run_todo": "the last reference to a network device", "netdev_wait_allrefs": "the last reference to a network device", "netdev_wait_allrefs_any": "the last reference to a network device",
	"rpc_wait_bit_killable": "a file server", "nfs_wait_bit_killable": "a file server", "ceph_mdsc_do_request": "a file server", "compound_send_recv": "a file server",
	"request_wait_answer": "the process behind a FUSE mount",
	"rcu_barrier":         "all processors to pass through RCU", "__wait_rcu_gp": "all processors to pass through RCU", "wait_rcu_gp": "all processors to pass through RCU", "synchronize_rcu": "all processors to pass through RCU", "synchronize_sched": "all processors to pass through RCU",
	"flush_work": "work that a thread of the kernel is to do", "__flush_work": "work that a thread of the kernel is to do", "flush_workqueue": "work that a thread of the kernel is to do",
	"jbd2_log_wait_commit": "the journal of a file system", "wait_transaction_locked": "the journal of a file system", "xlog_grant_head_wait": "the journal of a file system", "xfs_log_force": "the journal of a file system",
	"io_schedule": "input or output", "xfs_buf_iowait": "input or output", "blk_mq_get_tag": "input or output", "submit_bio_wait": "input or output",
	"__refrigerator": "its cgroup to be thawed",
}

// asksFor returns how a function waits for a lock, if it does.
func asksFor(name string) (how mode, ok bool) {
	for _, a := range asks {
		if strings.HasPrefix(name, a.name) {
			return a.how, true
		}
	}
	return 0, false
}

// names reports whether a function is one of those that show that a task holds the
// lock.
func (l *lock) names(fn string) bool {
	return slices.ContainsFunc(slices.Concat(l.held, l.reads), func(set []string) bool { return slices.Contains(set, fn) })
}

// holds reports whether a stack with these functions holds the lock and blocks a task
// that asks for it in the given mode. If it is an rwsem (rw), a reader blocks only
// writers.
func (l *lock) holds(fns map[string]bool, against mode, rw bool) bool {
	in := func(f string) bool { return fns[f] }
	if slices.ContainsFunc(l.left, in) {
		return false
	}
	all := func(sets [][]string) bool {
		return slices.ContainsFunc(sets, func(set []string) bool {
			return !slices.ContainsFunc(set, func(f string) bool { return !in(f) })
		})
	}
	return all(l.held) || (!rw || against == exclusive) && all(l.reads)
}
