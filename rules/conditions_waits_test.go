package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestWaitedFor tests that the holder of a lock is joined to the single process that is as
// old as its wait, with its container and pod, and to none if there are several or the age
// differs.
func TestWaitedFor(t *testing.T) {
	const id = "aaaabbbbccccddddeeeeffff0000111122223333444455556666777788889999"
	fact := func(key string, pairs ...string) *parse.Fact {
		f := &parse.Fact{Key: key}
		for i := 0; i < len(pairs); i += 2 {
			f.Attrs = append(f.Attrs, parse.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		return f
	}
	runc := func(pid, age, stat string) *parse.Fact {
		return fact("process.runc", "pid", pid, "comm", "runc", "args", "runc start "+id, "age", age, "stat", stat, "wchan", "rpc_wait_bit_killable")
	}
	lock := fact("goroutine.lock", "holder", "51", "held", "11 min", "holder_waits", "containerd")
	plain := runc("4712", "12m1s", "S")
	plain.Attrs[2].Value = "runc list"
	for _, c := range []struct {
		name  string
		facts []*parse.Fact
		want  string
	}{
		{"one", []*parse.Fact{lock, runc("4711", "12m0s", "D")}, "runc (pid 4711, 12m old, state D in rpc_wait_bit_killable) of container aaaabbbbcccc, pod shop/web-0"},
		{"two of one container", []*parse.Fact{lock, runc("4711", "12m0s", "S"), runc("4712", "11m58s", "D")}, "runc (pid 4712,"},
		{"two of which one may be of anything", []*parse.Fact{lock, runc("4711", "12m0s", "D"), plain}, ""},
		{"younger than the wait", []*parse.Fact{lock, runc("4711", "2m0s", "D")}, ""},
		{"much older", []*parse.Fact{lock, runc("4711", "2h0m0s", "D")}, ""},
		{"a holder that waits for something else", []*parse.Fact{fact("goroutine.lock", "holder", "51", "held", "11 min", "holder_waits", "a channel"), runc("4711", "12m0s", "D")}, ""},
	} {
		n := &replay.Node{Records: replay.Records{Facts: c.facts, Containers: []*parse.Container{{ID: id[:13], PodName: "web-0", Namespace: "shop"}}}}
		o := evalWaitedFor(nodeSubject(newView(n)), map[string]string{"what": "containerd|a child process", "of": "process.runc,process.dstate"})
		if got := o.vars["process"]; !strings.HasPrefix(got, c.want) || (c.want == "") != (o.state != Found) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLockChain tests that lock owners named by the kernel are followed to the last, which
// is joined to the mount that it hangs in.
func TestLockChain(t *testing.T) {
	owner := func(waiter, wpid, what, comm, pid string) *parse.Event {
		return line(1, parse.SrcKernel, "k.owner", parse.Field{Name: "waiter", Value: waiter}, parse.Field{Name: "wpid", Value: wpid},
			parse.Field{Name: "what", Value: what}, parse.Field{Name: "comm", Value: comm}, parse.Field{Name: "pid", Value: pid})
	}
	fact := func(key, value string, pairs ...string) *parse.Fact {
		f := &parse.Fact{Key: key, Value: value}
		for i := 0; i < len(pairs); i += 2 {
			f.Attrs = append(f.Attrs, parse.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		return f
	}
	const uid = "0d1c6d2e-1111-2222-3333-444455556666"
	const volume = "/var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~nfs/v"
	facts := []*parse.Fact{fact("mount.network", "/var", "device", "nas:/var", "server", "nas"), fact("mount.network", volume, "device", "nas:/v", "server", "nas"),
		fact("process.dstate", "umount", "pid", "600", "comm", "umount", "args", "umount "+volume)}
	shim, dockerd := owner("containerd-shim", "900", "rw-semaphore", "dockerd", "700"), owner("dockerd", "700", "mutex", "umount", "600")
	args := map[string]string{"waiter": "^containerd-shim"}
	for _, c := range []struct {
		name, want string
		owners     []*parse.Event
	}{
		{"one holder", "containerd-shim (900) waits for the rw-semaphore that dockerd (700) probably holds", []*parse.Event{shim}},
		{"of others", "", []*parse.Event{dockerd}},
		{"two", "containerd-shim (900) waits for the rw-semaphore that dockerd (700) probably holds, which waits for the mutex that umount (600) probably holds, which hangs in " + volume + " of nas:/v", []*parse.Event{shim, dockerd}},
		{"in a ring", "containerd-shim (900) waits for the rw-semaphore that dockerd (700) probably holds, which waits for the mutex that containerd-shim (900) probably holds, so that none of them can go on",
			[]*parse.Event{shim, owner("dockerd", "700", "mutex", "containerd-shim", "900")}},
	} {
		n := &replay.Node{Records: replay.Records{Events: c.owners, Facts: facts, Containers: []*parse.Container{{ID: "a", PodUID: uid, PodName: "web-0", Namespace: "shop"}}}}
		s := nodeSubject(newView(n))
		if got := evalLockChain(s, args).vars["chain"]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		o := evalMountWaitedFor(s, nil)
		if want := volume + " of nas:/v, a volume of pod shop/web-0"; o.vars["mount"] != want || !slices.Contains(o.objects, "server:nas") {
			t.Errorf("%s: mount %q of %q", c.name, o.vars["mount"], o.objects)
		}
	}
}
