package listings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

func TestSnapshots(t *testing.T) {
	ps, pods := &parse.File{Path: "n/crictl_ps"}, &parse.File{Path: "n/crictl_pods"}
	snaps := Snapshots([]*parse.Container{
		{Pos: parse.Pos{File: ps, Line: 2}, ID: "c1", SandboxID: "s1", State: "running", Name: "app"},
		{Pos: parse.Pos{File: ps, Line: 3}, ID: "c2", SandboxID: "s1", State: "exited", Name: "init"},
		{Pos: parse.Pos{File: pods, Line: 2}, ID: "s1", Sandbox: true, State: "ready", PodUID: "u", PodName: "web", Namespace: "ns"},
	})
	if len(snaps) != 1 || len(snaps[0].Changed) != 1 {
		t.Fatalf("%d listings", len(snaps))
	}
	p, err := pleg.New("")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range simulate.NewSim(p).Step(snaps[0]).Events {
		got = append(got, fmt.Sprint(e.Pod, " ", e.Type, " ", e.Data))
	}
	if want := "u ContainerStarted c1, u ContainerDied c2, u ContainerStarted s1"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
