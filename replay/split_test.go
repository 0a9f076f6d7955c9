package replay

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

const (
	lineA = `E1120 10:0%d:00.000100    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m0.5s ago; threshold is 3m0s"`
	lineB = `I1120 10:0%d:01.000000    %d kubelet_node_status.go:669] "Recording event message for node" node="%s" event="NodeReady"`
)

func names(nodes []*Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return out
}

func TestSplitNodes(t *testing.T) {
	nodeLine := func(minute, pid int, node string) string { return fmt.Sprintf(lineB, minute, pid, node) }
	d := newTestLog
	for _, c := range []struct {
		name  string
		parts func() []parse.LogPart
		want  []string
	}{
		{"raw log without any name", func() []parse.LogPart { return []parse.LogPart{d().decode("kubelet.log", "", fmt.Sprintf(lineA, 1))} }, []string{"unknown"}},
		{"name stated by the kubelet", func() []parse.LogPart {
			return []parse.LogPart{d().decode("kubelet.log", "ip-10-0-0-1", nodeLine(1, 7, "worker-1"))}
		}, []string{"worker-1"}},
		{"rotated pieces, one of them without a name", func() []parse.LogPart {
			return []parse.LogPart{d().decode("kubelet.log.1", "", fmt.Sprintf(lineA, 1)), d().decode("kubelet.log", "", nodeLine(2, 4242, "w"))}
		}, []string{"w"}},
		{"nameless kubelets at the same time", func() []parse.LogPart {
			other := strings.ReplaceAll(fmt.Sprintf(lineA, 1)+"\n"+fmt.Sprintf(lineA, 3), "4242", "9999")
			return []parse.LogPart{d().decode("a.log", "", fmt.Sprintf(lineA, 1)+"\n"+fmt.Sprintf(lineA, 3)), d().decode("b.log", "", other)}
		}, []string{"unknown", "unknown"}},
		{"a name whose line was cut", func() []parse.LogPart {
			return []parse.LogPart{d().decode("kubelet.log", "", `I1120 10:01:01.000000    7 kubelet_node_status.go:669] "Recording event message for node" node="wor`)}
		}, []string{"unknown"}},
		{"two named nodes", func() []parse.LogPart {
			return []parse.LogPart{d().decode("a.log", "", nodeLine(1, 7, "a")), d().decode("b.log", "", nodeLine(1, 7, "b"))}
		}, []string{"a", "b"}},
		{"short and full host name", func() []parse.LogPart {
			return []parse.LogPart{d().decode("a.log", "w3", nodeLine(1, 7, "w3.example.com"))}
		}, []string{"w3.example.com"}},
	} {
		if got := names(Build(bundleOfParts(c.parts()...), Options{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: nodes %q, want %q", c.name, got, c.want)
		}
	}
}

// hosts makes one file with lines of several hosts.
func hosts(lines ...[3]string) parse.LogPart {
	d := newTestLog()
	var p parse.LogPart
	f := &parse.File{Path: "merged.log", Role: parse.RoleKubeletLog}
	for i, l := range lines {
		q := d.decode("merged.log", l[0], strings.ReplaceAll(l[2], "4242", l[1]))
		for _, e := range q.Events {
			e.File, e.Line = f, uint32(i+1)
		}
		for _, c := range q.Coverage {
			c.File, c.FirstLine.File, c.LastLine.File = f, f, f
		}
		p.Events = append(p.Events, q.Events...)
		p.Coverage = append(p.Coverage, q.Coverage...)
	}
	return p
}

func TestMergedAndRenamedHosts(t *testing.T) {
	l := func(minute int) string { return fmt.Sprintf(lineA, minute) }
	for _, c := range []struct {
		name string
		part parse.LogPart
		want []string
	}{
		{"masters merged by time", hosts([3]string{"m1", "11", l(1)}, [3]string{"m2", "12", l(2)}, [3]string{"m1", "11", l(3)}, [3]string{"m2", "12", l(4)}), []string{"m1", "m2"}},
		{"localhost learns its name", hosts([3]string{"localhost", "11", l(1)}, [3]string{"m1", "11", l(2)}), []string{"m1"}},
		{"one process under three names", hosts([3]string{"localhost", "2473", l(1)}, [3]string{"api-int", "2473", l(2)}, [3]string{"api", "2473", l(3)}), []string{"api-int"}},
	} {
		if got := names(Build(bundleOfParts(c.part), Options{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: nodes %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCopiesOfALineCountOnce(t *testing.T) {
	text := fmt.Sprintf(lineA, 1) + "\n" + fmt.Sprintf(lineA, 1) + "\n" + fmt.Sprintf(lineA, 2)
	one := Build(bundleOfParts(newTestLog().decode("a.log", "h", text)), Options{})
	d := newTestLog()
	two := Build(bundleOfParts(d.decode("a.log", "h", text), d.decode("journal.log", "h", text)), Options{})
	if len(one) != 1 || len(two) != 1 {
		t.Fatalf("%d and %d nodes, want one each", len(one), len(two))
	}
	sum := func(n *Node) int {
		k := 0
		for _, e := range n.Episodes {
			k += e.Reports
		}
		return k
	}
	if sum(one[0]) != 3 || sum(two[0]) != 3 {
		t.Errorf("%d and %d reports, want 3: a line twice in one file is two lines, in two files one", sum(one[0]), sum(two[0]))
	}
}

// outline is what must not depend on how lines are distributed over files.
type outline struct {
	Runs     int
	Relists  []Instant
	Episodes [][3]int64
	Steps    []Step
	Reports  []int
	Health   []HealthSpan
}

func outlineOf(n *Node) outline {
	o := outline{Runs: len(n.Runs), Health: n.Health}
	for _, r := range n.Relists {
		o.Relists = append(o.Relists, r.Start)
	}
	for _, e := range n.Episodes {
		o.Episodes = append(o.Episodes, [3]int64{e.Breach, e.LastReport, e.Recovered.At})
		o.Steps = append(o.Steps, e.StuckStep)
		o.Reports = append(o.Reports, e.Reports)
	}
	return o
}

// TestSplittingInputsChangesNothing cuts a log at random into rotated files, given in any order and
// overlapping, and expects the same rebuild.
func TestSplittingInputsChangesNothing(t *testing.T) {
	for seed := int64(0); seed < 10; seed++ {
		m := runModel(seed, seed%2 == 0)
		whole := outlineOf(buildOne(t, m.text()))
		rng := rand.New(rand.NewSource(seed))
		lines := strings.Split(m.text(), "\n")
		d := newTestLog()
		var parts []parse.LogPart
		for from := 0; from < len(lines); {
			to := min(len(lines), from+1+rng.Intn(len(lines)))
			start := max(0, from-rng.Intn(50)) // a collector that copies while the log is being written
			parts = append(parts, d.decode(fmt.Sprintf("kubelet.log.%d", len(parts)), "", strings.Join(lines[start:to], "\n")))
			from = to
		}
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		nodes := Build(bundleOfParts(parts...), Options{})
		if len(nodes) != 1 {
			t.Fatalf("seed %d: %d nodes, want 1", seed, len(nodes))
		}
		if got := outlineOf(nodes[0]); !reflect.DeepEqual(got, whole) {
			t.Errorf("seed %d: %d files give\n%+v\nwant\n%+v", seed, len(parts), got, whole)
		}
	}
}

// TestAnotherNode checks that a description or metrics naming another node than the log's kubelet belong to
// that node, and those naming the same node, or none, to the kubelet's.
func TestAnotherNode(t *testing.T) {
	object := func(f *parse.File, name string) *parse.Object {
		return &parse.Object{Pos: parse.Pos{File: f, Line: 1}, Kind: "Node", Name: name}
	}
	row := func(f *parse.File, name string) *parse.Object {
		return &parse.Object{Pos: parse.Pos{File: f, Line: 1}, Kind: "NodeCondition", Name: name}
	}
	for _, c := range []struct {
		name string
		log  string   // the node named by the kubelet
		of   []string // nodes described in files of their own
		list []string // nodes described in one file
		rows []string // nodes in rows of conditions
		prom string
		want []string // nodes, each with those whose objects it has
	}{
		{"the same", "worker-1", []string{"worker-1"}, nil, nil, "worker-1", []string{"worker-1 worker-1 s"}},
		{"short and full", "worker-1.example.com", []string{"worker-1"}, nil, nil, "", []string{"worker-1.example.com worker-1"}},
		{"two files", "worker-1", []string{"worker-1", "worker-99"}, nil, nil, "", []string{"worker-1 worker-1", "worker-99 worker-99"}},
		{"a list", "worker-1", nil, []string{"worker-99", "worker-1"}, nil, "", []string{"worker-1 worker-1", "worker-99 worker-99"}},
		{"only another", "worker-1", []string{"worker-99"}, nil, nil, "", []string{"worker-1", "worker-99 worker-99"}},
		{"a row of another", "worker-1", nil, nil, []string{"worker-1", "worker-99"}, "", []string{"worker-1 worker-1"}},
		{"metrics of another", "worker-1", nil, nil, nil, "worker-99", []string{"worker-1", "worker-99 s"}},
		{"a log that names none", "", []string{"worker-99"}, nil, nil, "", []string{"worker-99 worker-99"}},
		{"a log that names none beside two nodes", "", []string{"worker-1", "worker-99"}, nil, nil, "", []string{"unknown", "worker-1 worker-1", "worker-99 worker-99"}},
	} {
		text := fmt.Sprintf(lineA, 1)
		if c.log != "" {
			text += "\n" + fmt.Sprintf(lineB, 1, 4242, c.log)
		}
		b := bundleOfParts(newTestLog().decode("kubelet.log", "", text))
		file := func(path string) *parse.File {
			f := &parse.File{Path: path, Role: parse.RoleObjects}
			b.Files = append(b.Files, f)
			return f
		}
		for _, name := range c.of {
			b.Objects = append(b.Objects, object(file(name+".json"), name))
		}
		if f := file("nodes.json"); true {
			for _, name := range c.list {
				b.Objects = append(b.Objects, object(f, name))
			}
			for _, name := range c.rows {
				b.Objects = append(b.Objects, row(f, name))
			}
		}
		if c.prom != "" {
			sc := &parse.Scrape{File: file("metrics.prom"), Line: 1}
			b.Scrapes = append(b.Scrapes, sc)
			b.Series = append(b.Series, &parse.Series{Name: "kubelet_node_name", Labels: []parse.Field{{Name: "node", Value: c.prom}}, Points: []parse.Point{{V: 1, Src: sc}}})
		}
		var got []string
		for _, n := range Build(b, Options{}) {
			text := n.Name
			for _, o := range n.Objects {
				text += " " + o.Name
			}
			if len(n.Series) > 0 {
				text += " s"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: nodes %q, want %q", c.name, got, c.want)
		}
	}
}

// TestKubeletsBeside checks that a kubelet whose log names no node joins the node that another log names only if
// it cannot have run beside that one, and that what lies in a folder with one of two such logs is of its node.
func TestKubeletsBeside(t *testing.T) {
	log := func(pid, from, to int, node string) string {
		var lines []string
		for m := from; m <= to; m++ {
			lines = append(lines, strings.NewReplacer("4242", fmt.Sprint(pid), ":00.0001", fmt.Sprint(":00.01", pid)).Replace(fmt.Sprintf(lineA, m)))
		}
		if node != "" {
			lines = append(lines, fmt.Sprintf(lineB, to, pid, node))
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct {
		name    string
		first   string // log in w1
		second  string // log in w2
		folders string // of files that name nothing
		want    []string
	}{
		{"one after the other", log(11, 1, 3, ""), log(12, 8, 9, "b"), "w1 w2 .", []string{"b 5"}},
		{"the same process", log(12, 1, 5, ""), log(12, 4, 6, "b"), "w1", []string{"b 3"}},
		{"beside it", log(11, 1, 6, ""), log(12, 2, 5, "b"), "w1 w1 w2 w2/sub", []string{"b 3", "unknown 3"}},
		{"beside it, a file between", log(11, 1, 6, ""), log(12, 2, 5, "b"), "w1 .", []string{"b 1", "unknown 1", "unknown 2"}},
		{"both nameless", log(11, 1, 6, ""), log(12, 2, 5, ""), "w1 w2 w2", []string{"unknown 2", "unknown 3"}},
	} {
		for _, inputs := range [][2]int{{0, 0}, {0, 1}} {
			if inputs[1] == 1 && strings.HasSuffix(c.folders, ".") {
				continue // it is in the input of the first
			}
			d := newTestLog()
			parts := []parse.LogPart{d.decode("w1/kubelet.log", "", c.first), d.decode("w2/kubelet.log", "", c.second)}
			b := bundleOfParts(parts...)
			for i, f := range b.Files {
				f.Input = inputs[i]
			}
			for i, dir := range strings.Fields(c.folders) {
				f := &parse.File{Path: fmt.Sprintf("%s/%d.prom", dir, i), Role: parse.RoleMetrics}
				if strings.HasPrefix(dir, "w2") {
					f.Input = inputs[1]
				}
				b.Files = append([]*parse.File{f}, b.Files...)
				b.Facts = append(b.Facts, &parse.Fact{Pos: parse.Pos{File: f, Line: 1}, Key: "x"})
			}
			var got []string
			for _, n := range Build(b, Options{}) {
				files := map[*parse.File]bool{}
				for _, e := range n.Events {
					files[e.File] = true
				}
				for _, f := range n.Facts {
					files[f.File] = true
				}
				got = append(got, fmt.Sprint(n.Name, " ", len(files)))
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%s, inputs %v: nodes %q, want %q", c.name, inputs, got, c.want)
			}
		}
	}
}
