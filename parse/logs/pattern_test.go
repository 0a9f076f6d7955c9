package logs

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPatternKinds checks which expressions are walked, since the others are slow.
func TestPatternKinds(t *testing.T) {
	for _, c := range []struct {
		re     string
		linear bool
	}{
		{`^StopContainer for "(?P<id>[0-9a-f]+)"(?: with timeout (?P<timeout>\d+) \(s\))?$`, true},
		{`^a(?P<x>[^"]*)"b`, true},
		{`^a(?P<x>[^"]*)$`, true},
		{`^a(?P<x>.*)b$`, false},           // the run may include the b
		{`^a(?P<x>[a-z]+)(?:c)?$`, false},  // the run may include the c
		{`^a(?P<x>[0-9]+)(?:c)?d$`, true},  //
		{`^a(?P<x>[0-9]+)(?:c)?1$`, false}, // without the c, the run may include the 1
		{`a(?P<x>[0-9]+)$`, true},          // from each a
		{`[0-9]+a`, false},                 // from anywhere
		{`^a(?:b|c)$`, true},               // a class
		{`^a(?:bb|cc)$`, true},
		{`^a(?:b|bc)c$`, true},
		{`^[0-9a-f]{12,64}z`, true},
		{`^(?P<x>[^/ ]+/[^/ ]+)$`, true},
		{`^a.*?b$`, false},
		{`(?i)^abc$`, false},
		{`^(?:aa|bb)(?:aa|bb)(?:aa|bb)(?:aa|bb)(?:aa|bb)(?:aa|bb)(?:aa|bb)$`, false}, // too many alternatives
		{`^[a-zä]+$`, false}, // only some characters above ASCII
	} {
		if p := newPattern(mustRegexp(t, c.re)); (p.steps != nil) != c.linear {
			t.Errorf("%s: walked is %v", c.re, !c.linear)
		}
	}
}

func mustRegexp(t *testing.T, expr string) *Regexp {
	t.Helper()
	re, err := NewRegexp(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// TestPatternEqualsRegexp tries all patterns of the built-in signatures on the
// sample lines and on damaged copies of them.
func TestPatternEqualsRegexp(t *testing.T) {
	var texts []string
	for _, e := range decodeSet.entries {
		for _, s := range e.Samples {
			r := readRecord(s.Msg)
			for i := range r.texts() {
				texts = append(texts, r.text(i))
			}
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	walked, matched := 0, 0
	for _, e := range decodeSet.entries {
		e.prepare()
		for _, p := range e.patterns {
			if p.steps != nil {
				walked++
			}
			try := func(text string) {
				want := p.re.get().FindStringSubmatchIndex(text)
				m := p.newMatch(nil)
				if got := p.find(text, m); got != (want != nil) || p.find(text, nil) != got {
					t.Fatalf("%s on %q: found is %v", p.re, text, got)
				}
				if want == nil {
					return
				}
				matched++
				for g := 1; g < len(p.names); g++ {
					if !slices.Equal(m[2*g:2*g+2], want[2*g:2*g+2]) {
						t.Fatalf("%s on %q: group %d is %v, want %v", p.re, text, g, m[2*g:2*g+2], want[2*g:2*g+2])
					}
				}
			}
			for _, text := range texts {
				try(text)
			}
			for _, s := range e.Samples {
				for range 40 {
					try(damage(rnd, readRecord(s.Msg).msg))
				}
			}
		}
	}
	if walked < 35 || matched < 500 {
		t.Errorf("%d patterns walked, %d matches: the test looks at too little", walked, matched)
	}
}

// TestPatternInside checks that a pattern that begins with a literal is found
// anywhere, however often the literal occurs without a match.
func TestPatternInside(t *testing.T) {
	p := newPattern(mustRegexp(t, `ab(?P<x>[0-9]+)c`))
	for _, begins := range []int{0, 1, maxBegins - 1, maxBegins, 10 * maxBegins} {
		text := strings.Repeat("ab1", begins) + "ab22c"
		m := p.newMatch(nil)
		if !p.find(text, m) || m.group(text, 1) != "22" || !p.find(text, nil) || p.find(text[:len(text)-1], nil) {
			t.Errorf("behind %d other begins: %v", begins, m)
		}
	}
}

// damage changes a few bytes of a text, most often near its ends.
func damage(rnd *rand.Rand, s string) string {
	b := []byte(s)
	for range 1 + rnd.IntN(3) {
		if len(b) < 2 {
			break
		}
		i := rnd.IntN(len(b))
		switch rnd.IntN(5) {
		case 0:
			b = slices.Delete(b, i, i+1)
		case 1:
			b = slices.Insert(b, i, "\"\n a0ä"[rnd.IntN(7)])
		case 2:
			b[i] = byte(rnd.IntN(256))
		case 3:
			b = b[:i]
		case 4:
			b = append(b, b[i:]...)
		}
	}
	return string(b)
}
