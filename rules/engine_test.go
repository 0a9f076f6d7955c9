package rules

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

var (
	testFile = &parse.File{Path: "node.log"}
	base     = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC).UnixNano()
)

// line returns an event with one signature at sec seconds after base.
func line(sec int, src parse.Source, id string, fields ...parse.Field) *parse.Event {
	sig := &parse.Sig{ID: id, Extract: func(_ string, dst []parse.Field) []parse.Field { return append(dst, fields...) }}
	text := fmt.Sprintf("%s at %d", id, sec)
	return parse.NewEvent(&parse.EventKind{File: testFile, Sigs: &parse.SigSet{Sigs: []*parse.Sig{sig}}, Origin: &parse.Origin{Source: src}}, parse.PlainText(text), parse.Event{Line: uint32(sec + 1000), Offset: int64(sec), Stamp: parse.Stamp{At: base + int64(sec)*second, Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}})
}

// node returns a node with one episode: last relist at base, breach three minutes later.
func node(es ...*parse.Event) *replay.Node {
	age := line(185, parse.SrcKubelet, parse.SigAge)
	es = append(es, age)
	sortEvents(es)
	return &replay.Node{
		Records: replay.Records{Name: "n1", Events: es, Have: map[parse.Source]bool{parse.SrcKubelet: true}},
		Episodes: []replay.Episode{{
			ID: 1, LastStart: replay.Instant{At: base}, Breach: base + 180*second, FirstReport: base + 185*second, LastReport: base + 185*second,
			PeakAge: 185 * time.Second, Threshold: 3 * time.Minute, StuckStep: replay.StepList,
			Evidence: []replay.Evidence{{Record: age}},
		}},
	}
}

// def returns a cause with the given clauses.
func def(id string, for_ []*Clause, against ...*Clause) *Def {
	return &Def{ID: id, Title: id, Kind: KindMechanism, Scope: ScopeEpisode, Phase: []string{"list"}, Prior: -1.5, For: for_, Against: against}
}

func clause(sig string, w float64) *Clause {
	return &Clause{Sigs: []string{sig}, Min: 1, Late: -1, Weight: w, Word: "strong", Core: true, Say: "saw " + sig}
}

// judged scores one cause on a node with one episode.
func judged(t *testing.T, n *replay.Node, d *Def) *scored {
	t.Helper()
	v := newView(n)
	return judge(d, episodeSubject(v, &n.Episodes[0]))
}

func TestSourcesAddUpRepetitionDoesNot(t *testing.T) {
	one := judged(t, node(line(10, parse.SrcKernel, "k.a")), def("x", []*Clause{clause("k.a", 3)}))
	many := judged(t, node(line(10, parse.SrcKernel, "k.a"), line(20, parse.SrcKernel, "k.a"), line(30, parse.SrcKernel, "k.a")), def("x", []*Clause{clause("k.a", 3)}))
	if one.score != many.score {
		t.Errorf("repetition changed the score: %v, %v", one.score, many.score)
	}
	c := clause("k.a", 3)
	c.Repeat = true
	periodic := judged(t, node(line(10, parse.SrcKernel, "k.a"), line(20, parse.SrcKernel, "k.a"), line(30, parse.SrcKernel, "k.a")), def("x", []*Clause{c}))
	if periodic.score <= many.score {
		t.Errorf("repetition of a periodic signal adds nothing: %v", periodic.score)
	}
	two := judged(t, node(line(10, parse.SrcKernel, "k.a"), line(11, parse.SrcSystemd, "sys.b")), def("x", []*Clause{clause("k.a", 3), clause("sys.b", 3)}))
	same := judged(t, node(line(10, parse.SrcKernel, "k.a"), line(11, parse.SrcKernel, "k.b")), def("x", []*Clause{clause("k.a", 3), clause("k.b", 3)}))
	if got := two.score - one.score; math.Abs(got-3) > 1e-9 {
		t.Errorf("a second source adds %v, want 3", got)
	}
	if got := same.score - one.score; math.Abs(got-3*furtherShare) > 1e-9 {
		t.Errorf("a second signal of the same source adds %v, want %v", got, 3*furtherShare)
	}
}

// TestWritersOfOneSignal tests that a signal of two writers counts the same whoever wrote
// first, and that the loss of one writer's line makes nothing surer.
func TestWritersOfOneSignal(t *testing.T) {
	causes := []*Clause{clause("a.both", 3), clause("b.one", 3)}
	score := func(lines ...*parse.Event) float64 { return judged(t, node(lines...), def("x", causes)).score }
	both := func(sec int, who parse.Source) *parse.Event { return line(sec, who, "a.both") }
	other := line(12, parse.SrcKubelet, "b.one")
	first, second := score(both(10, parse.SrcKubelet), both(11, parse.SrcContainerd), other), score(both(10, parse.SrcContainerd), both(11, parse.SrcKubelet), other)
	if first != second {
		t.Errorf("first the kubelet %v, first containerd %v", first, second)
	}
	if less := score(both(11, parse.SrcContainerd), other); less > first {
		t.Errorf("without the kubelet's line %v, with it %v", less, first)
	}
}

func TestAfterTheBreachIsAConsequence(t *testing.T) {
	d := def("x", []*Clause{clause("k.a", 3)})
	before := judged(t, node(line(10, parse.SrcKernel, "k.a")), d)
	after := judged(t, node(line(250, parse.SrcKernel, "k.a")), d)
	if after == nil || after.conf >= before.conf || after.level == Confirmed {
		t.Errorf("after the breach %+v, before %v", after, before.conf)
	}
	if x := judged(t, node(line(-3600, parse.SrcKernel, "k.a")), d); x != nil {
		t.Errorf("a signal of an hour earlier counts: %v", x.conf)
	}
}

func TestConfirmedNeedsProofPhaseAndNoContradiction(t *testing.T) {
	proof := clause("k.a", 4.5)
	proof.Proof = true
	agree := def("x", []*Clause{proof})
	if x := judged(t, node(line(10, parse.SrcKernel, "k.a")), agree); x.level != Confirmed {
		t.Errorf("proof in phase is %s (%v)", x.level, x.conf)
	}
	other := def("x", []*Clause{proof})
	other.Phase = []string{"inspect"}
	if x := judged(t, node(line(10, parse.SrcKernel, "k.a")), other); x.level == Confirmed {
		t.Error("confirmed although the phase disagrees")
	}
	unproven := def("x", []*Clause{clause("k.a", 6)})
	if x := judged(t, node(line(10, parse.SrcKernel, "k.a")), unproven); x.level == Confirmed {
		t.Error("confirmed without a proof")
	}
	contra := def("x", []*Clause{proof}, clause("k.b", 1.5))
	if x := judged(t, node(line(10, parse.SrcKernel, "k.a"), line(11, parse.SrcKernel, "k.b")), contra); x.level == Confirmed {
		t.Error("confirmed against a contradiction")
	}
	if x := judged(t, node(line(250, parse.SrcKernel, "k.a")), agree); x.level == Confirmed {
		t.Error("confirmed by a signal after the breach")
	}
}

func TestThreeOutcomes(t *testing.T) {
	n := node()
	v := newView(n)
	s := episodeSubject(v, &n.Episodes[0])
	c := clause("k.a", 3)
	c.Looks = []parse.Source{parse.SrcKernel}
	if o := s.eval(c); o.state != CannotLook {
		t.Errorf("without a kernel log: %v, want cannot look", o.state)
	}
	n.Have[parse.SrcKernel] = true
	s = episodeSubject(newView(n), &n.Episodes[0])
	if o := s.eval(c); o.state != NotThere {
		t.Errorf("with a kernel log: %v, want not there", o.state)
	}
	n = node(line(5, parse.SrcKernel, "k.a"))
	s = episodeSubject(newView(n), &n.Episodes[0])
	if o := s.eval(c); o.state != Found {
		t.Errorf("with the line: %v, want found", o.state)
	}
}

func TestSharedObjectCounts(t *testing.T) {
	id := parse.Field{Name: "id", Value: "abcdef0123456789"}
	cut := parse.Field{Name: "id", Value: "abcdef012345"}
	d := def("x", []*Clause{clause("rpc.a", 2), clause("docker.b", 2)})
	apart := judged(t, node(line(1, parse.SrcKubelet, "rpc.a", id), line(2, parse.SrcDockerd, "docker.b")), d)
	joined := judged(t, node(line(1, parse.SrcKubelet, "rpc.a", id), line(2, parse.SrcDockerd, "docker.b", cut)), d)
	if got := joined.score - apart.score; math.Abs(got-objectBonus) > 1e-9 {
		t.Errorf("a shared object adds %v, want %v", got, objectBonus)
	}
}

func TestVersionsRuleOut(t *testing.T) {
	d := def("x", []*Clause{clause("k.a", 3)})
	d.Affects.Kubelet = ">=1.6 <1.14"
	for _, tc := range []struct {
		version, lo, hi string
		out             bool
	}{
		{version: "v1.11.5"}, {version: "v1.14.0", out: true}, {version: "v1.28.0", out: true},
		{lo: "v1.14", hi: "v1.20", out: true}, {lo: "v1.7", hi: "v1.13"}, {lo: "v1.7", hi: "v1.20"}, {},
	} {
		n := node(line(10, parse.SrcKernel, "k.a"))
		n.Kubelet.Version, n.Kubelet.VersionMin, n.Kubelet.VersionMax = tc.version, tc.lo, tc.hi
		if x := judged(t, n, d); (x == nil) != tc.out {
			t.Errorf("%q %q…%q: ruled out is %v, want %v", tc.version, tc.lo, tc.hi, x == nil, tc.out)
		}
	}
}

func TestReasonStandsBeforeSymptom(t *testing.T) {
	reason, symptom := def("reason", []*Clause{clause("k.a", 3)}), def("symptom", []*Clause{clause("rpc.b", 4.5)})
	reason.Explains = []string{"symptom"}
	p := &Pack{}
	p.Add(reason, symptom)
	r := Eval(node(line(10, parse.SrcKernel, "k.a"), line(20, parse.SrcKubelet, "rpc.b")), p)
	if len(r.Causes) != 2 || r.Causes[0].ID != "reason" || r.Causes[1].Confidence >= r.Causes[0].Confidence {
		t.Errorf("got %+v", r.Causes)
	}
	reason.For[0].Weight = 1 // a guess does not outrank a certainty
	r = Eval(node(line(10, parse.SrcKernel, "k.a"), line(20, parse.SrcKubelet, "rpc.b")), p)
	if r.Causes[0].ID != "symptom" {
		t.Errorf("a weak reason stands first: %+v", r.Causes)
	}
}

func TestRanges(t *testing.T) {
	for _, tc := range []struct {
		v, within string
		in, ok    bool
	}{
		{"v1.13.9", ">=1.6 <1.14", true, true}, {"1.14.0", ">=1.6 <1.14", false, true},
		{"5.4.217-126.408.amzn2.x86_64", ">=5.4.210 <5.4.219", true, true}, {"5.4.219-126.411.amzn2", ">=5.4.210 <5.4.219", false, true},
		{"4.14.291", ">=5.4.210 <5.4.219 || >=4.14.290 <4.14.296", true, true}, {"", "<1", false, false}, {"1.2", "1.2", false, false},
		{"3.10.0-1160.el7", "<3.11", true, true}, {"v1.28", "=1.28.0", true, true},
	} {
		if in, ok := inRange(tc.v, tc.within); in != tc.in || ok != tc.ok {
			t.Errorf("%q in %q: %v %v, want %v %v", tc.v, tc.within, in, ok, tc.in, tc.ok)
		}
	}
}

func TestFill(t *testing.T) {
	vars := map[string]string{"a": "1", "b": "{a}"}
	for in, want := range map[string]string{"x {a} y": "x 1 y", "{b}": "{a}", "{c}": "", "open {": "open {", "": ""} {
		if got := fill(in, vars); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestReadTellsWhere(t *testing.T) {
	const text = "id: x\ntitel: y\nfor:\n  - sig: k.a\n    weight: stron\n  - cond: fase\n    weight: weak\n  - weight: weak\n  - sig: k.a\n    weight: weak\n    absent: true\n  - metric: m\n    num: \"> 0\"\n    weight: weak\n    min: 3\n"
	_, probs := Read("x.yaml", []byte(text))
	want := []string{
		`x.yaml:2: unknown field "titel" in a cause (did you mean "title"?)`,
		`x.yaml:5: "stron" is not one of certain, strong, moderate, weak, hint, rules-out (did you mean "strong"?)`,
		`x.yaml:6: unknown condition "fase" (did you mean "phase"?)`,
		`x.yaml:8: evidence needs exactly one of sig, fact, metric, cond`,
		`x.yaml:9: a message counts as absent only where its log is there: looks must name it, as in looks: [kernel]`,
		`x.yaml:12: min has no effect on this kind of evidence`,
	}
	var got []string
	for _, p := range probs {
		got = append(got, p.String())
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("missing %s in\n%s", w, strings.Join(got, "\n"))
		}
	}
	if _, probs := Read("x.yaml", []byte("a: [\n")); len(probs) != 1 || probs[0].Line == 0 {
		t.Errorf("syntax error: %v", probs)
	}
}

func TestCheckFindsNames(t *testing.T) {
	d := def("x", []*Clause{clause("k.nsf", 3)})
	d.Explains = []string{"y"}
	p := &Pack{}
	p.Add(d)
	probs := p.Check(nil)
	if len(probs) != 2 || probs[1].Hint != "k.nfs" {
		t.Errorf("got %v", probs)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("id: x\nfor:\n  - sig: a\n    weight: weak\n"))
	f.Add([]byte("- 1\n---\n{}\n"))
	f.Add([]byte("signatures:\n- {id: a.b, literals: [abcdef], samples: [abcdef]}\n"))
	f.Add([]byte("thresholds:\n  slow-relist: 5s\n  runtime-operation-errors: 25%\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		held, _ := Read("f.yaml", data)
		p := &Pack{}
		p.Add(held.Defs...)
		p.SetLimits(held.Limits...)
		p.AddSignatures(held.Signatures...)
		p.Check(nil)
	})
}

func TestEvalIsDeterministic(t *testing.T) {
	p, _ := Builtin()
	first := Eval(bigNode(200), p)
	for i := 0; i < 3; i++ {
		if got := Eval(bigNode(200), p); !reflect.DeepEqual(texts(first), texts(got)) {
			t.Fatalf("run %d differs", i)
		}
	}
}

// texts returns what a report prints of a result.
func texts(r Result) []string {
	out := []string{r.Status, r.Summary}
	for _, c := range append(r.Causes, r.LookAlikes...) {
		out = append(out, fmt.Sprint(c.ID, c.Confidence, c.Level, c.Explanation, c.Path, c.Missing, c.Commands))
		for _, e := range append(append([]replay.Evidence{}, c.For...), c.Against...) {
			out = append(out, e.Note+e.Quote())
		}
	}
	for _, b := range r.Breaches {
		out = append(out, fmt.Sprint(b.Rule, b.Start, b.End, b.Value))
	}
	return out
}

// bigNode returns a node with many events of all kinds and several episodes.
func bigNode(n int) *replay.Node {
	ids := []string{"k.nfs", "k.hung", "rpc.cstatus", "pleg.event", "pleg.skip", "pleg.listfail", "docker.pipe", "sys.exit", "kube.du", "k.oom"}
	srcs := []parse.Source{parse.SrcKernel, parse.SrcKernel, parse.SrcKubelet, parse.SrcKubelet, parse.SrcKubelet, parse.SrcKubelet, parse.SrcDockerd, parse.SrcSystemd, parse.SrcKubelet, parse.SrcKernel}
	var es []*parse.Event
	for i := 0; i < n; i++ {
		k := i % len(ids)
		es = append(es, line(i, srcs[k], ids[k], parse.Field{Name: "pod_uid", Value: fmt.Sprintf("uid-%08d", i%97)}, parse.Field{Name: "server", Value: "10.1.1.1"}))
	}
	nd := node(es...)
	for i := 1; i < 20; i++ {
		e := nd.Episodes[0]
		e.ID = i + 1
		shift := int64(i*241) * second
		e.LastStart.At, e.Breach, e.FirstReport, e.LastReport = e.LastStart.At+shift, e.Breach+shift, e.FirstReport+shift, e.LastReport+shift
		nd.Episodes = append(nd.Episodes, e)
	}
	return nd
}

func BenchmarkEval(b *testing.B) {
	p, _ := Builtin()
	n := bigNode(100_000)
	for b.Loop() {
		Eval(n, p)
	}
}
