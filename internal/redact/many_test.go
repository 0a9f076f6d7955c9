package redact

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestManyNames: a name takes little memory, and texts that come again no work.
func TestManyNames(t *testing.T) {
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 100_000
	r := New(nil)
	r.Learn("warm up of xylqua") // the vocabulary
	r.Settle()
	before := live()
	for i := range n {
		r.learn(Word, fmt.Sprintf("xylqua%dqz", i))
	}
	r.Settle()
	if each := int(live()-before) / n; each > 250 {
		t.Errorf("a name takes %d bytes", each)
	}
	text := "lost xylqua7qz and xylqua8qz behind /a/b at 10.1.2.3"
	r.Learn(text)
	r.Settle()
	r.Text(text)
	if n := testing.AllocsPerRun(10, func() { r.Learn(text); r.Text(text) }); n > 0 {
		t.Errorf("a text that comes again takes %v allocations", n)
	}
	count := r.lookup("xylqua7qz").count
	if r.Text(text); r.lookup("xylqua7qz").count != count+1 {
		t.Error("a name in a text that comes again is not counted")
	}
	runtime.KeepAlive(r)
}

// TestHints: lines without a name in a position are not searched for it.
func TestHints(t *testing.T) {
	const line = `E1120 23:33:20.000000 7 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="5cbd8b6cb8.zq12x33b3/0 a1.zq12x4fa/1"`
	has := pairsOf(line)
	for _, hint := range []string{aPort, aPair, shapes[1].hint} {
		if hinted(line, &has, hint) {
			t.Errorf("%q", hint)
		}
	}
	if hasDomain(line) {
		t.Error("a domain is seen")
	}
	for text, hint := range map[string]string{`join kube7:6443`: aPort, `host="harbor:5000"`: aPort, `peer=a.b:99`: aPort, `see "shop/cart"`: aPair, `\"a-1/b\"`: aPair, `pods"=["a/b"]`: shapes[1].hint} {
		if has := pairsOf(text); !hinted(text, &has, hint) {
			t.Errorf("%q", text)
		}
	}
	if !hasDomain(`globex.io/team=a`) {
		t.Error("no domain is seen")
	}
}

// TestPseudonymIsNoName: a pseudonym is not also the name of something, in whatever case it is
// written, whether or not it was learned before.
func TestPseudonymIsNoName(t *testing.T) {
	for _, key := range [][]byte{nil, []byte("k")} {
		first := New(key)
		first.learn(Pod, "xylqua")
		first.Settle()
		taken := first.lookup("xylqua").pseudonym
		r := New(key)
		for _, s := range []string{"xylqua", strings.ToUpper(taken), "pod-2"} {
			r.learn(Pod, s)
		}
		r.Settle()
		if got := r.lookup("xylqua").pseudonym; strings.EqualFold(got, taken) || got == "pod-2" {
			t.Errorf("%s is both a name and its pseudonym", got)
		}
	}
}

// BenchmarkManyNames measures learning names that come once.
func BenchmarkManyNames(b *testing.B) {
	r := New(nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Learn(fmt.Sprintf("%x.zq%dx%x/%d at 10:20:30.%06d", i*7919, i, i*104729, i%20, i))
		if i%1000 == 999 {
			r.Settle()
		}
	}
}
