package bundle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestHollow reads back lines whose values were left out: values that occur in the
// line in order are left out, others are not.
func TestHollow(t *testing.T) {
	s := newTextStore()
	p := s.packer()
	var want []string
	var got []parse.Text
	for range 5000 {
		id := fmt.Sprintf("%064x", rand.Uint64())
		pod := fmt.Sprintf("web-%d", rand.IntN(300))
		log := fmt.Appendf(nil, "before\nevent of %s: %s started %s, %s\nbehind", pod, id, pod, id[:20])
		line := log[7 : len(log)-7]
		find := func(v string) []byte {
			at := bytes.Index(log, []byte(v))
			return log[at : at+len(v)]
		}
		values := [][]byte{find(pod), find(id), []byte("elsewhere"), find("event"), find("d"), find(id[:20]), find("behind")}
		row := []parse.StringID{0}
		for _, v := range values {
			row = append(row, s.interned.Of(v))
		}
		want = append(want, string(line))
		got = append(got, p.Keep(line))
		if rand.IntN(4) > 0 {
			p.KeepRow(row, values[:rand.IntN(len(values)+1)])
		}
		if i := rand.IntN(len(got)); got[i].String() != want[i] {
			t.Fatalf("text %d is %q, want %q", i, got[i], want[i])
		}
	}
	p.done()
	for _, i := range rand.Perm(len(want)) {
		from := rand.IntN(len(want[i]))
		n := rand.IntN(len(want[i]) - from)
		if have := got[i].Sub(from, n).String(); have != want[i][from:from+n] {
			t.Fatalf("%d bytes at %d of text %d are %q, want %q", n, from, i, have, want[i][from:from+n])
		}
	}
}

// TestHollowLeaves checks that values left out are no longer in the text.
func TestHollowLeaves(t *testing.T) {
	line := []byte(`pod="shop/web-1" id=12345678`)
	var h hollow
	h.add(line)
	h.leave([][]byte{line[5:9], line[10:15], line[20:]}, 4)
	if got, want := string(h.text), `pod="/" id=`; got != want {
		t.Errorf("%q is kept, want %q", got, want)
	}
}

// TestPlaces checks that a line is looked for near one that was seen, whatever the order of the lookups.
func TestPlaces(t *testing.T) {
	var h hollow
	line := bytes.Repeat([]byte("x"), 100)
	for range 1000 {
		h.add(line)
	}
	var seen places
	h.slice(h.size-1, 1, &seen, nil)
	for _, i := range rand.Perm(1000) {
		off := uint32(i * len(line))
		if from := seen.before(off + 50); from.off > off || off-from.off > markEvery+100 {
			t.Fatalf("line %d is looked for from byte %d on", i, from.off)
		}
		if rand.IntN(3) == 0 {
			h.slice(off, 1, &seen, nil)
		}
	}
}
