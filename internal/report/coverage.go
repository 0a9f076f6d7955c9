package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// covered are the sources whose absence is worth a row; the three runtimes
// stand for one another.
var covered = []struct {
	name    string
	sources []parse.Source
}{
	{"kubelet", []parse.Source{parse.SrcKubelet}},
	{"container runtime", []parse.Source{parse.SrcContainerd, parse.SrcCRIO, parse.SrcDockerd, parse.SrcPodman}},
	{"kernel", []parse.Source{parse.SrcKernel}},
	{"systemd and other daemons", []parse.Source{parse.SrcSystemd, parse.SrcSystem, parse.SrcCNI}},
	{"Kubernetes events", []parse.Source{parse.SrcKubeEvents}},
	{"metrics", []parse.Source{parse.SrcMetrics}},
	{"system files", []parse.Source{parse.SrcFacts, parse.SrcStack}},
}

// coverageRows, of source, lines, known messages, first and last, say for each source what the input holds of it: an absence that
// is not said reads like a clean bill.
func coverageRows(n *replay.Node) [][]string {
	var out [][]string
	for _, s := range covered {
		out = append(out, coverageRow(n, s.name, s.sources))
	}
	return out
}

func coverageRow(n *replay.Node, name string, sources []parse.Source) []string {
	lines, known := 0, 0
	var from, to int64
	see := func(at int64) {
		if at == 0 {
			return
		}
		if from == 0 || at < from {
			from = at
		}
		to = max(to, at)
	}
	for _, c := range n.Coverage {
		if c.Origin != nil && slices.Contains(sources, c.Origin.Source) {
			lines += c.Lines
		}
	}
	for _, e := range n.Events {
		if slices.Contains(sources, e.Origin.Source) {
			known++
			if e.Basis != parse.NoTime {
				see(e.At)
			}
		}
	}
	have := slices.ContainsFunc(sources, func(s parse.Source) bool { return n.Have[s] })
	switch {
	case slices.Contains(sources, parse.SrcMetrics) && (len(n.Scrapes) > 0 || len(n.Series) > 0):
		for _, s := range n.Scrapes {
			see(s.At)
		}
		return []string{name, plural(len(n.Scrapes), "snapshot"), fmt.Sprintf("%d series", len(n.Series)), Date(from), Date(to)}
	case slices.Contains(sources, parse.SrcFacts) && len(n.Facts) > 0:
		return []string{name, fmt.Sprintf("%d values", len(n.Facts)), "", "", ""}
	case lines == 0 && known == 0 && !have:
		return []string{name, "not in the input", "", "", ""}
	}
	if lines == 0 && known == 0 {
		return []string{name, "read", "none", "", ""}
	}
	if from == 0 {
		return []string{name, fmt.Sprint(max(lines, known)), fmt.Sprint(known), "", ""}
	}
	return []string{name, fmt.Sprint(max(lines, known)), fmt.Sprint(known), Date(from), Date(to)}
}

// gapTexts are the stretches that the log does not cover.
func gapTexts(n *replay.Node) []string {
	var out []string
	for _, g := range n.Gaps {
		length := ""
		if g.From != 0 && g.To > g.From {
			length = ", " + Span(time.Duration(g.To-g.From))
		}
		out = append(out, fmt.Sprintf("%s to %s%s: %s", clockOf(g.From), clockOf(g.To), length, g.Why))
	}
	return out
}
