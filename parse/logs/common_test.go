package logs

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNarrow: the words that stay are those that every message contains, in whatever order.
func TestNarrow(t *testing.T) {
	words := strings.Fields("pod podUID container containers from runtime service failed error the then ailed")
	r := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		var c common
		var want []string
		for i := range 4 {
			var msg []byte
			for range r.IntN(12) {
				msg = append(append(msg, words[r.IntN(len(words))]...), " =\""[r.IntN(3)])
			}
			c.narrow(msg)
			if i == 0 {
				want = slices.Clone(c.words)
			}
			want = slices.DeleteFunc(want, func(w string) bool { return !bytes.Contains(msg, []byte(w)) })
			if !slices.Equal(c.words, want) {
				t.Fatalf("%q: %q, want %q", msg, c.words, want)
			}
		}
	}
}

func BenchmarkNarrow(b *testing.B) {
	msg := []byte(`"ListPodSandbox with filter from runtime service failed" err="rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\"" filter="&PodSandboxFilter{Id:1}"`)
	var c common
	c.narrow(msg)
	for b.Loop() {
		c.narrow(msg)
	}
}
