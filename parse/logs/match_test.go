package logs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// mixer makes messages from samples: whole, truncated, joined, with changed case or
// replaced bytes.
type mixer struct {
	*rand.Rand
	lines []string
}

func newMixer(set *Set, seed uint64) *mixer {
	m := &mixer{Rand: rand.New(rand.NewPCG(seed, 1))}
	for _, e := range set.entries {
		for _, s := range e.Samples {
			m.lines = append(m.lines, s.Msg)
		}
		m.lines = append(m.lines, e.Not...)
		m.lines = append(m.lines, e.Literals...)
	}
	return m
}

func (m *mixer) line() string { return m.lines[m.IntN(len(m.lines))] }

func (m *mixer) mix() string {
	s := m.line()
	switch m.IntN(6) {
	case 0:
		return s
	case 1:
		return s[:m.IntN(len(s)+1)]
	case 2:
		return s[m.IntN(len(s)+1):]
	case 3:
		t := m.line()
		return s[:m.IntN(len(s)+1)] + t[m.IntN(len(t)+1):]
	case 4:
		return strings.ToUpper(s[:len(s)/2]) + s[len(s)/2:]
	}
	b := []byte(s)
	for range 1 + m.IntN(3) {
		if len(b) > 0 {
			b[m.IntN(len(b))] = byte(m.IntN(256))
		}
	}
	return string(b)
}

// TestMatchIsMatchBrute checks the filter against one search per literal, on mixes
// of samples.
func TestMatchIsMatchBrute(t *testing.T) {
	set := builtin(t)
	m := newMixer(set, 7)
	matcher := set.NewMatcher()
	sources := []parse.Source{"", parse.SrcKubelet, parse.SrcContainerd, parse.SrcKernel, parse.SrcSystem}
	for range 1200 {
		msg, src := []byte(m.mix()), sources[m.IntN(len(sources))]
		want := ids(set.MatchBrute(src, 'E', msg))
		if got := ids(set.Match(src, 'E', msg)); got != want {
			t.Fatalf("Match %q, MatchBrute %q:\n%s", got, want, msg)
		}
		if got := ids(matcher.Match(src, 'E', msg)); got != want {
			t.Fatalf("Matcher %q, MatchBrute %q:\n%s", got, want, msg)
		}
		if want != "" && !set.MatchAny(src, msg) {
			t.Fatalf("MatchAny misses what Match finds (%s):\n%s", want, msg)
		}
	}
}

// TestMatchInterns checks that equal sets are the same pointer.
func TestMatchInterns(t *testing.T) {
	set := builtin(t)
	m := set.NewMatcher()
	for _, e := range set.entries {
		for _, s := range e.Samples {
			a, b := m.Match(s.Source, 0, []byte(s.Msg)), m.Match(s.Source, 0, []byte(s.Msg))
			if a != b {
				t.Errorf("%s: two sets for %s", e.ID, s.Msg)
			}
		}
	}
}

// TestQuick checks the cheap verifiers against their extractors.
func TestQuick(t *testing.T) {
	m := newMixer(builtin(t), 11)
	for range 3000 {
		r := readRecord(m.mix())
		for _, x := range extractors {
			if x.quick == nil {
				continue
			}
			if _, want := x.f(r); x.quick(r) != want {
				t.Fatalf("%s: quick says %v, the extractor %v: %q", x.name, x.quick(r), want, r.raw)
			}
		}
	}
}

// TestDirect checks the direct readers against parsing.
func TestDirect(t *testing.T) {
	set := builtin(t)
	verdicts := map[string]*[3]int{}
	type formOf struct {
		*entry
		form uint16
	}
	forms := map[formOf]string{}
	for _, e := range set.entries {
		e.prepare()
		if e.direct == nil {
			continue
		}
		rnd := rand.New(rand.NewPCG(3, uint64(len(e.ID)))) // one per entry: samples of one entry must not change the lines of another
		n := verdicts[e.ID]
		if n == nil {
			n = new([3]int)
			verdicts[e.ID] = n
		}
		try := func(msg string) {
			var d direct
			d.clear()
			v := e.direct(&message{msg: []byte(msg)}, &d)
			n[v]++
			long := e.accepts(readRecord(msg))
			if v == refused && long || v == accepted && !long {
				t.Fatalf("%s at line %d: verdict %d, the long way says %v: %s", e.ID, e.Line, v, long, msg)
			}
			if v != accepted {
				return
			}
			names := fmt.Sprint(d.names[:d.n])
			if have, ok := forms[formOf{e, d.form}]; ok && have != names {
				t.Fatalf("%s at line %d: form %b is of %s and %s", e.ID, e.Line, d.form, have, names)
			}
			forms[formOf{e, d.form}] = names
			var got []parse.Field
			for i, name := range d.names[:d.n] {
				got = append(got, parse.Field{Name: name, Value: string(d.values[i])})
			}
			if want := e.fields(msg, nil); !slices.Equal(got, want) {
				t.Fatalf("%s at line %d: %q, the long way gives %q: %s", e.ID, e.Line, got, want, msg)
			}
		}
		for _, other := range set.entries {
			if other.ID != e.ID {
				continue
			}
			for _, s := range other.Samples {
				try(s.Msg)
				for range 100 {
					try(damage(rnd, s.Msg))
				}
			}
		}
		for _, msg := range []string{
			`"SyncLoop (PLEG): event for pod" pod="null/web-0" event={"ID":"0d1c","Type":"ContainerDied","Data":"c0ffee01"}`,
			`"SyncLoop (PLEG): event for pod" pod="default/web-0" event=&{ID:0d1c Type:null Data:c0ffee01}`,
			`"SyncLoop (PLEG): event for pod" pod="default/web-0" event=&{ID:0d1c Type:PodSync Data:<nil>}`,
			`"SyncLoop (PLEG): event for pod" pod="default/web-0" event={"ID":"0d1c","Type":"ContainerDied","Data":"c0ffee01"} x=1`,
			`time="2026-03-09T00:00:00.1Z" level=info msg="StartContainer for \"c0ffee01\" returns successfully" error="x"`,
			`time="2026-03-09T00:00:00.1Z" level=info msg="StartContainer for \"c0ffee01\"" error="x \" returns successfully"`,
			`time="2026-03-09T00:00:00.1Z" level=info msg="StartContainer for \"c0ffee01\\" returns successfully"`,
		} {
			try(msg)
		}
		if e.ID == parse.SigRPC {
			for range 6000 {
				try(rpcLine(rnd))
			}
		}
	}
	for _, id := range []string{parse.SigEvent, parse.SigCtrLife, parse.SigRPC} {
		if n := verdicts[id]; n == nil || n[accepted] < 5 || n[unsure] < 20 {
			t.Errorf("%s: verdicts %v", id, n)
		}
	}
	if n := verdicts[parse.SigCtrLife]; n == nil || n[refused] < 20 {
		t.Errorf("%s: verdicts %v", parse.SigCtrLife, n)
	}
}

// rpcLine returns a line of the remote client with plausible values.
func rpcLine(rnd *rand.Rand) string {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	var b strings.Builder
	b.WriteString(pick(`"ListPodSandbox with filter from runtime service failed"`, `"PullImage from image service failed"`,
		`"StopPodSandbox from runtime service failed"`, `"Get ImageStatus from image service failed"`, `"ExecSync cmd from runtime service failed"`,
		`"CreateContainer in sandbox from runtime service failed"`, `"PodSandbox from runtime service failed"`, `"Get  from runtime service failed"`))
	for range rnd.IntN(5) {
		key := pick("err", "filter", "containerID", "podSandboxID", "sandboxID", "containerName", "image", "pod", "podUID", "other", "time/out", "null")
		b.WriteString(pick(" ", " ", " ", " ", " ", " ", " ", "  ", "") + key + "=")
		b.WriteString(pick(`""`, `"nil"`, `"null"`, `"<nil>"`, `nil`, `"c0ffee01c0ffee01"`, `"registry.local/app:latest"`, `"docker://c0ffee01"`, `"prod/web-0"`,
			`"prod/"`, `"web-0"`, `"a/b/c"`, `"0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111"`, `"rpc error: code = NotFound desc = no such \"id\""`,
			`"rpc error: code = Unknown desc = operation timeout: context deadline exceeded"`, `"context deadline exceeded"`, `"a\\b\n\t\"c\""`, `"a\x41"`,
			`"rpc error: code = DeadlineExceeded, desc = x"`, `"rpc error: code = 4 desc = x"`, `"x code = Y desc = z"`, `"\"quoted\""`,
			`"rpc error: code = ResourceExhausted desc = grpc: trying to send message larger than max (8398577 vs. 8388608)"`, `"&PodSandboxFilter{Id:,State:nil,}"`, `"cut`,
			`"`+strings.Repeat(`\"long\" `, 60)+`"`, `"{\"Type\":\"docker\",\"ID\":\"c0ffee01\"}"`))
	}
	return b.String()
}

// TestAdmits checks which sources may write a message.
func TestAdmits(t *testing.T) {
	set := builtin(t)
	msg := []byte("GenericPLEG: Relisting")
	for src, want := range map[parse.Source]string{
		parse.SrcKubelet: "pleg.relisting", parse.SrcUnknown: "pleg.relisting", parse.SrcSystem: "pleg.relisting",
		parse.SrcContainerd: "", parse.SrcKernel: "",
	} {
		if got := ids(set.Match(src, 'I', msg)); got != want {
			t.Errorf("written by %q: %q, want %q", src, got, want)
		}
	}
}

// FuzzMatch checks that no message breaks an extractor and that the filter finds
// what a search for each literal finds.
func FuzzMatch(f *testing.F) {
	set := builtin(f)
	for _, e := range set.entries {
		f.Add(e.Samples[0].Msg)
	}
	f.Fuzz(func(t *testing.T, msg string) {
		fast, slow := set.Match("", 0, []byte(msg)), set.MatchBrute("", 0, []byte(msg))
		if ids(fast) != ids(slow) {
			t.Fatalf("Match %q, MatchBrute %q", ids(fast), ids(slow))
		}
		if fast == nil {
			return
		}
		for _, g := range fast.Sigs {
			for _, field := range g.Extract(msg, nil) {
				if field.Name == "" {
					t.Fatalf("%s yields a field without name", g.ID)
				}
			}
		}
	})
}

// FuzzRecord checks that any line can be parsed.
func FuzzRecord(f *testing.F) {
	f.Add(`"SyncLoop ADD" source="api" pods=["a/b"] x={"a":[1,{"b":"}"}]}`)
	f.Add(`{"ts":1,"msg":"m\n","v":2,"pod":{"name":"a","namespace":"b"},"e":[1,"]"]}`)
	f.Add("time=\"x\" level=info msg=\"a \\\"b\\\"\" id=c error=\"d")
	f.Add("\"m\" err=<\n\ta\n\tb\n > k=v w x=y")
	f.Add(`{"msg":"a","b":{{{{[[[["`)
	f.Fuzz(func(t *testing.T, s string) {
		r := readRecord(s)
		r.get("no such key")
		for _, x := range extractors {
			x.f(readRecord(s))
		}
	})
}
