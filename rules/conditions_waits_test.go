package rules

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestWaitedFor: the holder of a lock is joined to the one process that is as old as its
// wait, and that to its container and pod; of several, or of another age, none.
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
		o := lookWaitedFor(nodeSubject(newView(n)), map[string]string{"what": "containerd|a child process", "of": "process.runc,process.dstate"})
		if got := o.vars["process"]; !strings.HasPrefix(got, c.want) || (c.want == "") != (o.state != Found) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
