package assign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestBeside checks that processes are found beside others as if each were compared with each.
func TestBeside(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	files := []*parse.File{{Path: "a"}, {Path: "b"}, {Path: "c"}}
	for round := range 400 {
		least := int64(round%2) * 30
		add := func(list *processes, n int) {
			for range n {
				p := process{pid: 1 + rnd.IntN(3), file: files[rnd.IntN(len(files))]}
				if rnd.IntN(8) > 0 {
					p.when.From = 1 + rnd.Int64N(4000)
					p.when.To = p.when.From + rnd.Int64N(100)
				}
				list.all = append(list.all, p)
			}
		}
		any := func(a, b []process) bool {
			return slices.ContainsFunc(a, func(p process) bool {
				return slices.ContainsFunc(b, func(q process) bool { return p.beside(q, least) })
			})
		}
		a := &processes{least: least}
		add(a, rnd.IntN(30))
		for range 40 {
			b := &processes{least: least}
			add(b, 1+rnd.IntN(2)*rnd.IntN(20))
			want := any(a.all, b.all)
			if got := a.beside(b); got != want {
				t.Fatalf("round %d: %v beside %v: %v, want %v", round, a.all, b.all, got, want)
			}
			if want {
				continue
			}
			if a = a.add(b); a.mix() != any(a.all, a.all) {
				t.Fatalf("round %d: %v beside each other: %v", round, a.all, a.mix())
			}
		}
	}
}

// TestManyLogs checks that the time to join logs does not explode with their number.
func TestManyLogs(t *testing.T) {
	const logs = 20_000
	for _, c := range []struct {
		name  string
		node  string // of the first log
		pid   func(i int) int
		nodes int
	}{
		{"one process", "", func(int) int { return 7 }, 1},
		{"restarts", "", func(i int) int { return 7 + i }, 1},
		{"a node and one process", "n1", func(int) int { return 7 }, 1},
		{"a node and restarts", "n1", func(i int) int { return 7 + i }, 1},
	} {
		b := &parse.Bundle{}
		for i := range logs {
			f := &parse.File{Path: fmt.Sprint("kubelet.log.", i), Role: parse.RoleKubeletLog}
			if i == 0 {
				f.Node = c.node
			}
			at := int64(i+1) * 1e9
			b.Files = append(b.Files, f)
			mark := parse.Mark{Stamp: parse.Stamp{At: at, Basis: parse.Stated}}
			b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: &parse.Origin{Source: parse.SrcKubelet, PID: c.pid(i)}, FirstLine: mark, LastLine: mark})
		}
		start := time.Now()
		if nodes, _ := Split(b, 0, nil); len(nodes) != c.nodes {
			t.Errorf("%s: %d nodes, want %d", c.name, len(nodes), c.nodes)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}
