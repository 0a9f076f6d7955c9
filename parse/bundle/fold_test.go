package bundle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFold folds lines that are similar, similar but of different length, and
// unrelated.
func TestFold(t *testing.T) {
	var f folder
	for range 50 {
		var h hollow
		long := strings.Repeat("long ", rand.IntN(400))
		noise := make([]byte, 100)
		for n := rand.IntN(300); n > 0; n-- {
			switch rand.IntN(5) {
			case 0:
				h.add(fmt.Appendf(nil, "Mar 09 23:%02d:%02d node-3 kubelet[812]: event %d", n/60, n%60, rand.IntN(20)))
			case 1:
				h.add(fmt.Appendf(nil, "%d%s%d", rand.IntN(10), long, rand.IntN(10)))
			case 2:
				for i := range noise {
					noise[i] = byte(rand.Uint32())
				}
				h.add(noise[:rand.IntN(len(noise))])
			case 3:
				line := fmt.Appendf(nil, "pod=%05d state=%d", rand.IntN(1e5), rand.IntN(1e4))
				h.add(line)
				h.leave([][]byte{line[4:9]}, 2)
			default:
				h.add(nil)
			}
		}
		f.fold(&h)
		notes := len(f.notes)
		all := f.all()
		var got hollow
		unfold(all[:notes], all[notes:], &got)
		if string(got.text) != string(h.text) || string(got.heads) != string(h.heads) {
			t.Fatalf("got %q, heads %q; want %q, heads %q", got.text, got.heads, h.text, h.heads)
		}
	}
}

// TestFoldNotes: of a line similar to the previous one only the differing bytes are
// kept.
func TestFoldNotes(t *testing.T) {
	var h hollow
	for _, clock := range []string{"23:24:55.350", "23:24:55.350", "23:24:56.871"} {
		h.add([]byte("Mar 09 " + clock[:8] + " node-3 kubelet[812]: I0309 " + clock + "000     812 kubelet.go:2250] event"))
	}
	var f folder
	f.fold(&h)
	if rest := string(f.body[len(h.text)/3+3:]); rest != "6"+"6.871" { // after the first line and its head
		t.Errorf("%q is kept of the lines that follow", rest)
	}
}
