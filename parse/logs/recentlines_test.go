package logs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// eventLines returns events of a few pods and containers, in both spellings, as in
// a log or damaged.
func eventLines(rnd *rand.Rand) string {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	pod := pick("prod/db-0", "a/b", "kube-system/coredns-5d78c9869d-7rkhx", "kube-systen/coredns-5d78c9869d-7rkhx", strings.Repeat("n", 90)+"/"+strings.Repeat("p", 60))
	uid := pick("0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111", "0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1112", "0d1c", "null")
	id := pick(uid, strings.Repeat("0123456789abcdef", 4), strings.Repeat("0123456789abcdee", 4), strings.Repeat("0123456789abcdef", 4)+"0", strings.Repeat("0123456789-bcdef", 4), "c0ffee01")
	form := pick(` event=&{ID:%s Type:%s Data:%s}`, ` event={"ID":"%s","Type":"%s","Data":"%s"}`)
	msg := `"SyncLoop (PLEG): event for pod" pod="` + pod + `"` + fmt.Sprintf(form, uid, pick("ContainerStarted", "ContainerDied"), id)
	if rnd.IntN(4) == 0 {
		msg = damage(rnd, msg)
	}
	return msg
}

// TestRecentLines checks that the result for a message does not depend on earlier
// messages.
func TestRecentLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	interned := parse.NewStringTable()
	known, said := new(recentLines), 0
	for range 20000 {
		msg := []byte(eventLines(rnd))
		var plain, d direct
		plain.clear()
		d.clear()
		want := directEvent(&message{msg: msg}, &plain)
		if got := directEvent(&message{msg: msg, recent: known}, &d); got != want {
			t.Fatalf("verdict %d, without knowledge %d: %s", got, want, msg)
		}
		if want != accepted {
			continue
		}
		row := make([]parse.StringID, d.n)
		for i, v := range d.values[:d.n] {
			row[i] = interned.Of(v)
			if d.names[i] != plain.names[i] || string(v) != string(plain.values[i]) || d.interned[i] != 0 && d.interned[i] != row[i] {
				t.Fatalf("%s is %s %q of number %d, want %s %q of number %d: %s", d.names[i], d.names[i], v, d.interned[i], plain.names[i], plain.values[i], row[i], msg)
			}
			if d.interned[i] != 0 {
				said++
			}
		}
		if d.n != plain.n || d.form != plain.form {
			t.Fatalf("%d fields of form %b, want %d of %b: %s", d.n, d.form, plain.n, plain.form, msg)
		}
		known.learn(&d, row)
	}
	if said < 3000 {
		t.Errorf("%d values known by sight", said)
	}
	if len(known.pods) > mostPods {
		t.Errorf("%d pods are remembered", len(known.pods))
	}
}
