package assign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestSeriesNodes checks that the labels of a Prometheus server tell kubelets apart, and that those of one alone
// leave it to the log beside it, unless they name another node than the log.
func TestSeriesNodes(t *testing.T) {
	sigs := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNodeEvent, Extract: func(msg string, dst []parse.Field) []parse.Field {
		return append(dst, parse.Field{Name: "node", Value: msg})
	}}}}
	for _, c := range []struct {
		name   string
		labels []string // "name=value", of a series each
		log    string   // node that the log of a kubelet states, "" if it states none; "-": there is no log
		want   string   // nodes with their number of series
	}{
		{"instances", []string{"instance=10.0.0.1:10250", "instance=10.0.0.2:10250"}, "-", "10.0.0.1 1, 10.0.0.2 1"},
		{"ports", []string{"instance=10.0.0.1:10250", "instance=10.0.0.1:10255"}, "-", "unknown 2"},
		{"addresses of IPv6", []string{"instance=[fd00::1]:10250", "instance=[fd00::2]:10250"}, "-", "fd00::1 1, fd00::2 1"},
		{"names", []string{"node=n1", "node=n2", "node=n1"}, "-", "n1 2, n2 1"},
		{"host names", []string{"kubernetes_io_hostname=n1", "kubernetes_io_hostname=n2"}, "-", "n1 1, n2 1"},
		{"an agent on each node", []string{"instance=localhost:10250", "instance=127.0.0.1:10250"}, "-", "unknown 2"},
		{"one instance beside a log", []string{"instance=10.0.0.1:10250"}, "n1", "n1 1"},
		{"one node beside its log", []string{"node=n1.example.com"}, "n1", "n1 1"},
		{"another node beside a log", []string{"node=n2"}, "n1", "n1 0, n2 1"},
		{"two nodes beside the log of one", []string{"node=n1", "node=n2"}, "n1", "n1 1, n2 1"},
		{"two nodes beside a log that names none", []string{"node=n1", "node=n2"}, "", "n1 1, n2 1, unknown 0"},
		{"no label", []string{"le=1"}, "n1", "n1 1"},
	} {
		f, log := &parse.File{Path: "range.json"}, &parse.File{Path: "kubelet.log"}
		b := &parse.Bundle{Files: []*parse.File{f}}
		f.Role = parse.RoleMetrics
		for _, l := range c.labels {
			k, v, _ := strings.Cut(l, "=")
			b.Series = append(b.Series, &parse.Series{Name: "kubelet_pleg_relist_duration_seconds_count", Labels: []parse.Field{{Name: k, Value: v}},
				Points: []parse.Point{{At: 1e9, V: 1, Src: &parse.Scrape{File: f}}}})
		}
		if c.log != "-" {
			kind := &parse.EventKind{File: log, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet, PID: 4242}, Headed: true}
			b.Files = append(b.Files, log)
			b.Coverage = []*parse.Coverage{{File: log, Origin: kind.Origin}}
			b.Events = []*parse.Event{parse.NewEvent(kind, parse.PlainText(c.log), parse.Event{Line: 1, Stamp: parse.Stamp{At: 1e9, Basis: parse.Stated}})}
		}
		if text := splitOf(b, 0, func(n *host.Records) string { return fmt.Sprintf("%s %d", n.Name, len(n.Series)) }); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
