package journal

import (
	"fmt"
	"testing"
)

// TestAppendLine renders entries of more writers than a parser caches and compares
// each with the result of a fresh parser.
func TestAppendLine(t *testing.T) {
	p := NewParser(&Framing{Name: BinaryFile.String()})
	seen := map[*Who]bool{}
	for i := range 60 {
		f := Fields{Host: []byte("node-a"), Ident: []byte("daemon"), Message: fmt.Append(nil, "line ", i),
			Boot: "0123456789abcdef0123456789abcdef", Realtime: 1795217339000042 + int64(i)*250000, Mono: int64(i)}
		switch n := i * 5 % 9; {
		case n < 5:
			f.PID = fmt.Append(nil, 70+n)
		case n == 5:
			f.Unit = []byte("daemon.service")
		case n == 6:
			f.Container = []byte("kubelet")
		case n == 7:
			f.Ident, f.Transport = nil, []byte("kernel")
		case n == 8:
			f.Ident = nil
		}
		line, off, env := p.AppendLine([]byte("before "), &f)
		want, wantOff, wantEnv := NewParser(p.framing).AppendLine([]byte("before "), &f)
		if string(line) != string(want) || off != wantOff || *env.Who != *wantEnv.Who || env.Time != wantEnv.Time || env.Mono != wantEnv.Mono {
			t.Errorf("%q, %d, %+v\nwant %q, %d, %+v", line, off, *env.Who, want, wantOff, *wantEnv.Who)
		}
		seen[env.Who] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d writers, want 9", len(seen))
	}
	f := Fields{Ident: []byte("kubelet"), PID: []byte("77"), Host: []byte("n"), Message: []byte("text"), Realtime: 1795217339000042}
	if line, off, _ := p.AppendLine(nil, &f); string(line) != "2026-11-20T23:28:59.000042+0000 n kubelet[77]: text" || string(line[off:]) != "text" {
		t.Errorf("%q, message at %d", line, off)
	}
}
