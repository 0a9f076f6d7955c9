package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
	"pgregory.net/rapid"
)

const minuteNs = int64(60e9)

func sampleRecord(id string, nodes ...Node) Record {
	return Record{ID: id, Name: id + ".tar", Status: Analysed, Nodes: nodes}
}

// sickNode returns a node with one episode, which starts at minute at and is explained by the
// causes.
func sickNode(name string, at int64, causes ...Cause) Node {
	n := Node{Name: name, Status: "unhealthy", Episodes: []Episode{{ID: 1, Breach: at * minuteNs, Recovered: (at + 2) * minuteNs}}}
	for _, c := range causes {
		c.Episodes = []int{1}
		n.Causes = append(n.Causes, c)
	}
	return n
}

func viewOf(t *testing.T, rs ...Record) *View {
	t.Helper()
	p, err := Merge(&Partial{Header: Header{Schema: Schema}, Records: rs})
	if err != nil {
		t.Fatal(err)
	}
	return NewView(p)
}

func written(t *testing.T, v *View) string {
	t.Helper()
	var b bytes.Buffer
	for _, f := range Formats {
		if err := f.Write(&b, v, report.Options{Width: 200, Verbose: true}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return b.String()
}

var anyRecord = rapid.Custom(func(t *rapid.T) Record {
	r := Record{ID: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id")), Name: rapid.StringMatching("[a-c]").Draw(t, "name"),
		Status: rapid.SampledFrom(statuses).Draw(t, "status"), Nodes: []Node{}}
	for range rapid.IntRange(0, 2).Draw(t, "nodes") {
		c := Cause{ID: rapid.StringMatching("[xyz]").Draw(t, "cause"), Level: "likely", Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence")}
		n := sickNode(rapid.StringMatching("[m-q]").Draw(t, "node"), int64(rapid.IntRange(1, 30).Draw(t, "at")), c)
		n.Kernel = rapid.SampledFrom([]string{"", "5.10", "6.1"}).Draw(t, "kernel")
		n.P99 = rapid.Float64Range(0, 300).Draw(t, "p99")
		r.Nodes = append(r.Nodes, n)
	}
	return r
})

// TestMergeLaws: any partition of the records into partials, merged in any order and nesting, some
// of them twice, gives the same bytes.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := Header{Schema: Schema, Tool: "v1", Rules: "r", Options: "o"}
		rs := rapid.SliceOfN(anyRecord, 0, 12).Draw(rt, "records")
		whole, err := Merge(&Partial{Header: h, Records: rs})
		if err != nil {
			rt.Fatal(err)
		}
		parts := make([]*Partial, rapid.IntRange(1, 4).Draw(rt, "parts"))
		for i := range parts {
			parts[i] = &Partial{Header: h, Shards: []Shard{{i + 1, len(parts)}}}
			whole.Shards = append(whole.Shards, parts[i].Shards...)
		}
		for _, r := range rs {
			for range rapid.IntRange(1, 2).Draw(rt, "times") {
				p := parts[rapid.IntRange(0, len(parts)-1).Draw(rt, "part")]
				p.Records = append(p.Records, r)
			}
		}
		left, err := Merge(parts...)
		if err != nil {
			rt.Fatal(err)
		}
		nested, err := Merge(left, parts[0], left)
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range []*Partial{left, nested} {
			if encoded(rt, p) != encoded(rt, whole) {
				rt.Fatalf("merged %+v, want %+v", p.Records, whole.Records)
			}
		}
		back, err := Read(strings.NewReader(encoded(rt, whole)))
		if err != nil || encoded(rt, back) != encoded(rt, whole) {
			rt.Fatalf("read back: %v", err)
		}
	})
}

func encoded(t interface{ Fatal(...any) }, p *Partial) string {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMissing: shards without a partial are named.
func TestMissing(t *testing.T) {
	p := func(ss ...Shard) *Partial { return &Partial{Shards: ss} }
	for want, p := range map[string]*Partial{
		"[]":        p(),
		"[1/3 3/3]": p(Shard{2, 3}),
		"[2/2 1/3]": p(Shard{1, 2}, Shard{2, 3}, Shard{3, 3}),
	} {
		if got := fmt.Sprint(p.Missing()); got != want {
			t.Errorf("%v: missing %s, want %s", p.Shards, got, want)
		}
	}
	for _, s := range []Shard{{0, 1}, {2, 1}, {1, maxShards + 1}, {-1, -1}} {
		if _, err := Read(strings.NewReader(encoded(t, &Partial{Header: Header{Schema: Schema}, Shards: []Shard{s}}))); err == nil {
			t.Errorf("shard %s is read", s)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	a := Header{Schema: Schema, Tool: "v1", Rules: "r", Options: "o"}
	for _, change := range []func(*Header){
		func(h *Header) { h.Tool = "v2" }, func(h *Header) { h.Rules = "s" },
		func(h *Header) { h.Options = "p" }, func(h *Header) { h.Build = "0a1b" },
	} {
		b := a
		change(&b)
		if _, err := Merge(&Partial{Header: a}, &Partial{Header: b}); !errors.Is(err, ErrMixed) {
			t.Errorf("%v and %v: %v", a, b, err)
		}
	}
}

// TestReadRefuses: a truncated partial is refused.
func TestReadRefuses(t *testing.T) {
	p := &Partial{Header: Header{Schema: Schema}, Records: []Record{sampleRecord("a"), sampleRecord("b")}}
	whole := encoded(t, p)
	for n := range len(whole) {
		if _, err := Read(strings.NewReader(whole[:n])); err == nil {
			t.Fatalf("%d of %d bytes are taken for whole", n, len(whole))
		}
	}
	if _, err := Read(strings.NewReader(encoded(t, &Partial{Header: Header{Schema: "plegforensics/partial/v2"}}))); err == nil {
		t.Error("a schema of the future is read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(encoded(f, &Partial{Header: Header{Schema: Schema}, Records: []Record{sampleRecord("a", sickNode("n", 1))}})))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, x := range Formats {
			if err := x.Write(io.Discard, NewView(p), report.Options{Verbose: true}); err != nil {
				t.Errorf("%s: %v", x.Name, err)
			}
		}
	})
}

// TestBetterRecordCounts: a bundle that failed in one run and succeeded in another counts as
// analyzed.
func TestBetterRecordCounts(t *testing.T) {
	good, bad := sampleRecord("a"), sampleRecord("a")
	bad.Status, bad.Error = Deadline, "too slow"
	for _, rs := range [][]Record{{good, bad}, {bad, good}} {
		if v := viewOf(t, rs...); v.By[Analysed] != 1 || len(v.Problems) != 0 {
			t.Errorf("%v", v.By)
		}
	}
}

func cause(id, level string, confidence float64) Cause {
	return Cause{ID: id, Title: id, Level: level, Confidence: confidence}
}

// TestVagueCauseDrawsNobodyIn: a node that shares only a vague cause is not grouped with nodes that
// share a named server.
func TestVagueCauseDrawsNobodyIn(t *testing.T) {
	hang, nfs := cause("hang", "likely", 0.6), cause("nfs", "likely", 0.8)
	var rs []Record
	for i := range 4 {
		n := sickNode(fmt.Sprintf("n%d", i), 100+int64(i), nfs, hang)
		n.Objects = []Object{{"server", "10.0.0.9", 0}}
		rs = append(rs, sampleRecord(n.Name, n))
	}
	rs = append(rs, sampleRecord("x", sickNode("x", 101, hang)))
	v := viewOf(t, rs...)
	if len(v.Correlations) != 1 {
		t.Fatalf("%+v", v.Correlations)
	}
	c := v.Correlations[0]
	if !slices.Equal(c.Nodes, []string{"n0", "n1", "n2", "n3"}) || c.Cause != "nfs" || c.Object != "server 10.0.0.9" || c.Kind != SharedObject {
		t.Errorf("%+v", c)
	}
}

func TestTimeSeparates(t *testing.T) {
	c := cause("hang", "likely", 0.6)
	v := viewOf(t, sampleRecord("a", sickNode("a", 100, c)), sampleRecord("b", sickNode("b", 105, c)),
		sampleRecord("c", sickNode("c", 111, c)), sampleRecord("d", sickNode("d", 300, c)))
	if len(v.Correlations) != 1 || !slices.Equal(v.Correlations[0].Nodes, []string{"a", "b"}) {
		t.Errorf("%+v", v.Correlations)
	}
}

// TestTogether: three nodes that share only the time are reported, two are a coincidence.
func TestTogether(t *testing.T) {
	rs := []Record{sampleRecord("a", sickNode("a", 100)), sampleRecord("b", sickNode("b", 101))}
	if v := viewOf(t, rs...); len(v.Correlations) != 0 {
		t.Errorf("%+v", v.Correlations)
	}
	v := viewOf(t, append(rs, sampleRecord("c", sickNode("c", 102)))...)
	if len(v.Correlations) != 1 || v.Correlations[0].Kind != BreachesTogether {
		t.Errorf("%+v", v.Correlations)
	}
}

func TestSharedVersion(t *testing.T) {
	var rs []Record
	for i := range 12 {
		n := Node{Name: fmt.Sprintf("n%02d", i), Status: "healthy", Kernel: "5.10", Kubelet: "v1.28.0"}
		if i < 4 {
			n = sickNode(n.Name, int64(1000*(i+1)))
			n.Kernel, n.Kubelet = "6.1", "v1.28.0"
		}
		rs = append(rs, sampleRecord(n.Name, n))
	}
	v := viewOf(t, rs...)
	if len(v.Correlations) != 1 || v.Correlations[0].Object != "kernel 6.1" || len(v.Correlations[0].Nodes) != 4 {
		t.Errorf("%+v", v.Correlations)
	}
}

// TestFisher compares with values computed by hand: of 8 nodes 4 are sick and 4 drawn.
func TestFisher(t *testing.T) {
	for k, want := range map[int]float64{4: 1.0 / 70, 3: 17.0 / 70, 0: 1} {
		if got := fisher(k, 4, 4, 8); math.Abs(got-want) > 1e-9 {
			t.Errorf("at least %d: %g, want %g", k, got, want)
		}
	}
}

func TestOutliers(t *testing.T) {
	var rs []Record
	for i := range 10 {
		n := Node{Name: fmt.Sprintf("n%d", i), P99: 1 + float64(i%3)/10}
		if i == 7 {
			n.P99 = 60
		}
		rs = append(rs, sampleRecord(n.Name, n))
	}
	v := viewOf(t, rs...)
	if len(v.Outliers) != 1 || v.Outliers[0].Node != "n7" || v.Outliers[0].Value != 60 {
		t.Errorf("%+v", v.Outliers)
	}
}

// TestOneNodeManyBundles: an episode in overlapping bundles of a node counts once.
func TestOneNodeManyBundles(t *testing.T) {
	a, b := sickNode("n", 100), sickNode("n", 100)
	b.Episodes[0].Breach += 2e8
	b.Episodes = append(b.Episodes, Episode{ID: 2, Breach: 3000 * minuteNs})
	v := viewOf(t, sampleRecord("a", a), sampleRecord("b", b))
	if len(v.Nodes) != 1 || v.Episodes != 2 || len(v.Days) != 2 || !slices.Equal(v.Nodes[0].Bundles, []string{"a.tar", "b.tar"}) {
		t.Errorf("%d nodes, %d episodes, days %+v", len(v.Nodes), v.Episodes, v.Days)
	}
}

// TestHostileFleet: hostile names from bundles are inert in the output.
func TestHostileFleet(t *testing.T) {
	bad := "<script>alert(1)</script>\x1b[31m\u202e|`=1"
	n := sickNode(bad, 1, cause(bad, "likely", 0.5))
	r := sampleRecord("a", n)
	r.Name = bad
	p, err := Read(strings.NewReader(encoded(t, &Partial{Header: Header{Schema: Schema, Tool: bad}, Records: []Record{r}})))
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(p)
	var b bytes.Buffer
	for _, f := range Formats {
		b.Reset()
		if err := f.Write(&b, v, report.Options{Width: 200, Verbose: true}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\u202e") || (f.Name == "html" || f.Name == "markdown") && strings.Contains(b.String(), "<script>alert") {
			t.Errorf("%s lets it through", f.Name)
		}
	}
}

func TestEmptyFleet(t *testing.T) {
	if out := written(t, viewOf(t)); !strings.Contains(out, "0 bundles") {
		t.Errorf("%s", out)
	}
}

// TestDays: episodes are counted per node on the UTC day they began.
func TestDays(t *testing.T) {
	const day = 24 * 60
	n := sickNode("a", day-1)
	n.Episodes = append(n.Episodes, Episode{ID: 2, Breach: (day + 5) * minuteNs, Recovered: (day + 6) * minuteNs},
		Episode{ID: 3, Breach: (day + 9) * minuteNs}, Episode{ID: 4})
	v := viewOf(t, sampleRecord("a", n), sampleRecord("b", sickNode("b", day+5)))
	var got []string
	for _, d := range v.Days {
		got = append(got, fmt.Sprintf("%s %s %d %s", d.Node, d.Date, d.Episodes, d.Unhealthy))
	}
	want := []string{"a unknown 1 0s", "a 1970-01-01 1 2m0s", "a 1970-01-02 2 1m0s", "b 1970-01-02 1 2m0s"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestVersions: one row per combination, the most frequent first, with the health of its nodes.
func TestVersions(t *testing.T) {
	var rs []Record
	for i, kernel := range []string{"5.10", "6.1", "6.1", ""} {
		n := Node{Name: fmt.Sprint(i), Status: "healthy", Kernel: kernel, Kubelet: "v1.28.4"}
		if i == 2 {
			n = sickNode(n.Name, 5)
			n.Kernel, n.Kubelet = kernel, "v1.28.4"
		}
		rs = append(rs, sampleRecord(n.Name, n))
	}
	got := fmt.Sprint(viewOf(t, rs...).Versions)
	if want := "[{v1.28.4  6.1   2 1 1} {v1.28.4     1 0 0} {v1.28.4  5.10   1 0 0}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHealthyNeedsNoCause: the cause found on a healthy node is not ranked and not reported to CI
// systems.
func TestHealthyNeedsNoCause(t *testing.T) {
	v := viewOf(t, sampleRecord("a", Node{Name: "a", Status: "healthy", Causes: []Cause{cause("no-pleg-problem", "possible", 0.5)}}))
	if len(v.Causes) != 0 || len(v.items()) != 0 {
		t.Errorf("%+v %+v", v.Causes, v.items())
	}
}

// TestRulesOfNewerVersions: for a kubelet newer than any known, every format says which version's
// rules were applied; for a known one none does.
func TestRulesOfNewerVersions(t *testing.T) {
	for version, want := range map[string]bool{"v1.99.0": true, "v1.37.0": false} {
		n := sickNode("worker-1", 5)
		n.Kubelet = version
		v := viewOf(t, sampleRecord("a", n))
		for _, f := range Formats {
			var b bytes.Buffer
			if err := f.Write(&b, v, report.Options{Width: 200}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), "newest known rules (v1.37) used"); got != want {
				t.Errorf("%s of %s: says whose rules: %v", f.Name, version, got)
			}
		}
	}
}

// TestObjectsSeen: an object that one cause names without a time was first seen when
// another dates it.
func TestObjectsSeen(t *testing.T) {
	dated := func(at int64) model.Cause {
		return model.Cause{Level: string(rules.Likely), Objects: []model.Object{{Kind: "server", Name: "10.0.0.9", At: model.Time(at)}}}
	}
	for _, ats := range [][]int64{{0, 5, 9}, {9, 0, 5}, {5, 9, 0}} {
		n := &model.Node{}
		for _, at := range ats {
			n.Causes = append(n.Causes, dated(at))
		}
		if got := objects(n); len(got) != 1 || got[0].At != 5 {
			t.Errorf("seen at %v: %v, want at 5", ats, got)
		}
	}
}
