package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// TestUnread tests that a clause reads only part of very many lines, with a warning, and
// that it then proves neither presence nor absence.
func TestUnread(t *testing.T) {
	var lines []*parse.Event
	for range mostRead + 1 {
		lines = append(lines, line(10, parse.SrcKernel, "k.hung", parse.Field{Name: "comm", Value: "jbd2"}))
	}
	last := line(11, parse.SrcKernel, "k.hung", parse.Field{Name: "comm", Value: "containerd"})
	of := func(comm string, absent bool) *Clause {
		c := clause("k.hung", 3)
		c.Where, c.Absent, c.Looks = []FieldTest{{Name: "comm", Re: pattern.Lazy("^" + comm + "$")}}, absent, []parse.Source{parse.SrcKernel}
		return c
	}
	few, many := node(append(lines[:100:100], last)...), node(append(lines, last)...)
	for _, c := range []struct {
		clause    *Clause
		few, many State
	}{
		{of("jbd2", false), Found, Found},
		{of("containerd", false), Found, CannotLook},
		{of("dockerd", false), NotThere, CannotLook},
		{of("dockerd", true), Found, CannotLook},
	} {
		if o := nodeSubject(newView(few)).eval(c.clause); o.state != c.few {
			t.Errorf("few lines: state %v, want %v", o.state, c.few)
		}
		v := newView(many)
		if o := episodeSubject(v, &many.Episodes[0]).eval(c.clause); o.state != c.many {
			t.Errorf("very many lines: state %v, want %v", o.state, c.many)
		}
	}
	res := Eval(many, &Pack{Causes: []*Def{def("x", []*Clause{of("containerd", false)})}})
	if len(res.Warnings) != 1 || !strings.HasPrefix(res.Warnings[0].String(), "node.log:1010: 50002 k.hung lines: 50000 are kept") {
		t.Errorf("warnings %v", res.Warnings)
	}
}

// TestListsShare tests that list failures reported only by PLEG's own line share their
// data, while each keeps its own time and line.
func TestListsShare(t *testing.T) {
	const n = 10_000
	var lines []*parse.Event
	for i := range n {
		lines = append(lines, line(i, parse.SrcKubelet, parse.SigListFail, parse.Field{Name: "err", Value: "deadline " + strings.Repeat("x", i%3)}, parse.Field{Name: "code", Value: "DeadlineExceeded"}))
	}
	many := node(slices.Clone(lines)...)
	fields := many.Columns("err", "pod_uid", "code")
	out := withListFailures(nil, lines, fields)
	if len(out) != n {
		t.Fatalf("%d failures", len(out))
	}
	for i, f := range out {
		if ev := f.Evidence(); f.End() != lines[i].At || len(ev) != 1 || ev[0].Record != parse.Record(lines[i]) || f.Err() != lines[i].Field("err") || f.Code != "DeadlineExceeded" || !isList(f.Failure) {
			t.Fatalf("%d: end %d of %d, %d lines, %q of %q", i, f.End(), lines[i].At, len(ev), f.Err(), lines[i].Field("err"))
		}
	}
	if f := out[0]; f.Failure != out[1].Failure || f.err != out[3].err || f.err == out[1].err {
		t.Error("what they have in common is not kept once, or different errors are the same")
	}
}

// TestVeryManyBreaches tests that of a rule breached very often the first, the last, the
// worst and those in an episode are kept, and that all are counted in a warning.
func TestVeryManyBreaches(t *testing.T) {
	const n = 2 * parse.Many
	var lines []*parse.Event
	for i := range n {
		took := "20s"
		if i == n/2 {
			took = "5m"
		}
		lines = append(lines, line(3600+600*i, parse.SrcKubelet, parse.SigHousekeeping, parse.Field{Name: "actual", Value: took}))
	}
	during := line(170, parse.SrcKubelet, parse.SigHousekeeping, parse.Field{Name: "actual", Value: "16s"})
	early := line(-90_000, parse.SrcKubelet, parse.SigHousekeeping, parse.Field{Name: "actual", Value: "15s"})
	res := Eval(node(append(lines, early, during)...), &Pack{})
	stalls, worst, beside := 0, 0.0, false
	for i := range res.Breaches {
		if b := &res.Breaches[i]; b.Rule == "sync-loop-stalled" {
			stalls++
			worst, beside = max(worst, b.Value), beside || b.Value == 16
		}
	}
	if stalls != parse.Many || res.Crossed["sync-loop-stalled"] != n+2 || worst != 300 || !beside || res.Breaches[0].Value != 15 {
		t.Errorf("%d of %d stalls are kept, the worst %v s, beside the episode %v, first %v", stalls, res.Crossed["sync-loop-stalled"], worst, beside, res.Breaches[0])
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0].Msg, "20002 sync-loop-stalled breaches: 10000 are kept") {
		t.Errorf("warnings %v", res.Warnings)
	}
}
