package assign

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestStrangers checks that lines of a node controller go to the nodes that they name,
// and that the kubelet beside it keeps only those that name its own node.
func TestStrangers(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string // "writer: node"
		most  int
		want  string // nodes with their number of lines
	}{
		{"one node", []string{"controller: n1", "controller: n1"}, 0, "n1 2"},
		{"two nodes", []string{"controller: n1", "controller: n2", "controller: n1"}, 0, "n1 2, n2 1"},
		{"too many", []string{"controller: n1", "controller: n2", "controller: n1", "controller: n3"}, 1, "n1 2"},
		{"short and full name", []string{"controller: n1.example.com", "controller: n1"}, 0, "n1 2"},
		{"beside a kubelet", []string{"kubelet: n1", "controller: n2", "controller: n1", "controller: n2"}, 0, "n1 2, n2 2"},
		{"several beside a kubelet that names none", []string{"kubelet: ", "controller: n2", "controller: n1", "controller: n2"}, 0, "n1 1, n2 2, unknown 1"},
		{"one beside the log of another host", []string{"kubelet on n1: ", "controller: node"}, 0, "n1 2"},
		{"an address beside the log of a host", []string{"kubelet on n1: ", "controller: 10.0.0.7"}, 0, "10.0.0.7 2"},
		{"the full name beside the log of a host", []string{"kubelet on n1: ", "controller: n1.example.com"}, 0, "n1.example.com 2"},
		{"one beside a kubelet that names none", []string{"kubelet: ", "controller: n2", "controller: n2"}, 0, "n2 3"},
	} {
		f := &parse.File{Path: "paste.log"}
		sigs := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNodeEvent, Extract: func(msg string, dst []parse.Field) []parse.Field {
			return append(dst, parse.Field{Name: "node", Value: msg})
		}}}}
		kinds := map[string]*parse.EventKind{
			"kubelet on n1": {File: f, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet, Host: "n1", PID: 4242}, Headed: true},
			"kubelet":       {File: f, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet, PID: 4242}, Headed: true},
			"controller":    {File: f, Sigs: sigs, Origin: &parse.Origin{}, Headed: true, Caller: "controller_utils.go:130"},
		}
		b := &parse.Bundle{Files: []*parse.File{f}}
		for i, l := range c.lines {
			who, node, _ := strings.Cut(l, ": ")
			b.Events = append(b.Events, parse.NewEvent(kinds[who], parse.PlainText(node), parse.Event{Offset: int64(i), Line: uint32(i + 1), Stamp: parse.Stamp{At: int64(i+1) * 1e9, Basis: parse.Stated}}))
		}
		for who, k := range kinds {
			if strings.Contains(who, " on ") && !strings.HasPrefix(c.lines[0], who) {
				continue
			}
			b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: k.Origin})
		}
		if !strings.HasPrefix(c.lines[0], "kubelet") {
			b.Coverage = nil
		}
		if text := splitOf(b, c.most, func(n *host.Records) string { return n.Name + " " + string(rune('0'+len(n.Events))) }); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestTextBetween checks that text around the logs of two nodes is no third node.
func TestTextBetween(t *testing.T) {
	f := &parse.File{Path: "paste.txt"}
	b := &parse.Bundle{Files: []*parse.File{f}, Coverage: []*parse.Coverage{{File: f, Origin: &parse.Origin{}}}}
	for i, host := range []string{"n1", "n2"} {
		o := &parse.Origin{Source: parse.SrcKubelet, Host: host, PID: 100 + i}
		b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: o})
		b.Events = append(b.Events, parse.NewEvent(&parse.EventKind{File: f, Sigs: &parse.SigSet{}, Origin: o, Headed: true}, parse.PlainText("x"), parse.Event{Line: uint32(i + 2), Stamp: parse.Stamp{At: int64(i+1) * 1e9, Basis: parse.Stated}}))
	}
	if nodes, _ := Split(b, 0, nil); len(nodes) != 2 {
		t.Errorf("%d nodes, want 2", len(nodes))
	}
}

// TestMentions checks that a file that only mentions a node gives its name to no kubelet in another file, and
// that the metrics of a kubelet do.
func TestMentions(t *testing.T) {
	sigs := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNodeEvent, Extract: func(msg string, dst []parse.Field) []parse.Field {
		return append(dst, parse.Field{Name: "node", Value: msg})
	}}}}
	for _, c := range []struct {
		name   string
		names  string        // stated in the kubelet's log
		other  *parse.Origin // writer of the other file
		metric string
		want   string // nodes with their number of lines
	}{
		{"a node controller", "", &parse.Origin{}, "", "n2 1, unknown 1"},
		{"an alert", "", &parse.Origin{Host: "n2", Ident: parse.IdentAbout}, "", "n2 1, unknown 1"},
		{"beside metrics of that node", "", &parse.Origin{}, "n2", "n2 2"},
		{"beside metrics of another node", "", &parse.Origin{}, "n1", "n1 1, n2 1"},
		{"of the kubelet's node", "n2", &parse.Origin{}, "", "n2 2"},
		{"the log of a host", "", &parse.Origin{Host: "n2"}, "", "n2 2"},
	} {
		file := func(path string) *parse.File { return &parse.File{Path: path, Role: parse.RoleKubeletLog} }
		log, mention, metrics := file("kubelet.log"), file("other.log"), file("metrics.prom")
		b := &parse.Bundle{Files: []*parse.File{log, mention}}
		add := func(f *parse.File, o *parse.Origin, node string) {
			kind := &parse.EventKind{File: f, Sigs: sigs, Origin: o, Headed: true, Caller: "controller_utils.go:130"}
			b.Events = append(b.Events, parse.NewEvent(kind, parse.PlainText(node), parse.Event{Line: 1, Stamp: parse.Stamp{At: int64(len(b.Events)+1) * 1e9, Basis: parse.Stated}}))
			b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: o})
		}
		add(log, &parse.Origin{Source: parse.SrcKubelet, PID: 4242}, c.names)
		add(mention, c.other, "n2")
		if c.metric != "" {
			b.Files = append(b.Files, metrics)
			b.Series = append(b.Series, &parse.Series{Name: "kubelet_node_name", Labels: []parse.Field{{Name: "node", Value: c.metric}}, Points: []parse.Point{{V: 1, Src: &parse.Scrape{File: metrics, Line: 1}}}})
		}
		if text := splitOf(b, 0, func(n *host.Records) string { return n.Name + " " + string(rune('0'+len(n.Events))) }); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
