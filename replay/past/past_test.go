package past

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// second returns the time s seconds after 2026-01-02T03:04:05Z.
func second(s float64) int64 { return 1767323045e9 + int64(s*1e9) }

func TestPast(t *testing.T) {
	n, yes, code := &replay.Node{}, true, 1
	n.Kubelet.Period = time.Second
	for s := range 60 {
		start := second(float64(s))
		n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: start}, ListEnd: replay.Instant{At: start + 1e7}, End: replay.Instant{At: start + 2e7}, Listed: &yes, Outcome: replay.OutcomeOK})
	}
	c := &replay.Subject{ID: "c", PodUID: "u", Namespace: "ns", PodName: "web"}
	moved := func(s float64, state string, exit *int) replay.Transition {
		return replay.Transition{At: replay.Instant{At: second(s), Slack: time.Microsecond}, State: state, ExitCode: exit, Src: parse.SrcContainerd, Subject: c}
	}
	n.History = replay.ListOf(moved(10.2, "created", nil), moved(10.4, "running", nil), moved(20.3, "exited", &code), moved(30.1, "removed", nil))
	past := New(n, nil)
	p, err := pleg.New("v1.28.0")
	if err != nil {
		t.Fatal(err)
	}
	sim := simulate.NewSim(p)
	var got []string
	for s := range past.Snapshots() {
		for _, e := range sim.Step(s).Events {
			got = append(got, fmt.Sprintf("%s at %.0f", e.Type, float64(s.At-second(0))/1e9))
		}
	}
	if want := "ContainerStarted at 11, ContainerDied at 21, ContainerRemoved at 31"; strings.Join(got, ", ") != want || past.Assumed != 0 {
		t.Errorf("got %v, %d assumed; want %s", got, past.Assumed, want)
	}
}
