package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// coveredRow groups the sources that share a row of the coverage table.
type coveredRow struct {
	name    string
	sources []parse.Source
}

// covered lists the sources whose absence deserves a row, in display order. The container runtimes
// share one: any of them will do.
var covered = []coveredRow{
	{"kubelet", []parse.Source{parse.SrcKubelet}},
	{"container runtime", []parse.Source{parse.SrcContainerd, parse.SrcCRIO, parse.SrcDockerd, parse.SrcPodman}},
	{"kernel", []parse.Source{parse.SrcKernel}},
	{"systemd and other daemons", []parse.Source{parse.SrcSystemd, parse.SrcCNI, parse.SrcSystem}},
	{"Kubernetes events", []parse.Source{parse.SrcKubeEvents}},
	{"metrics", []parse.Source{parse.SrcMetrics}},
	{"system files", []parse.Source{parse.SrcFacts, parse.SrcStack}},
}

// cover summarizes what the input holds of a row's sources. It says so explicitly if that is
// nothing: an absence left out would read like a clean bill of health.
func cover(n *replay.Node, row coveredRow) SourceCover {
	sources, lines, known, rows := row.sources, 0, 0, 0 // rows of tables of nodes, which are read like those of events
	var from, to int64
	see := func(at int64) {
		if at != 0 {
			from, to = min(cmp.Or(from, at), at), max(to, at)
		}
	}
	for _, c := range n.Coverage {
		switch {
		case c.Origin == nil || !slices.Contains(sources, c.Origin.Source):
		case c.Origin.Ident == parse.IdentAbout && c.Origin.Source == parse.SrcKubeEvents:
			rows += c.Lines
		default:
			lines += c.Lines
		}
	}
	for _, c := range n.Index().Groups {
		if slices.Contains(sources, c.Origin.Source) {
			known += c.Lines
		}
	}
	for i := 0; known > 0 && i < len(n.Events); i++ {
		if e := n.Events[i]; e.Basis != parse.NoTime && slices.Contains(sources, e.Origin.Source) {
			see(e.At)
		}
	}
	have := rows == 0 && slices.ContainsFunc(sources, func(s parse.Source) bool { return n.Have[s] })
	x := SourceCover{Name: row.name}
	switch {
	case slices.Contains(sources, parse.SrcMetrics) && (len(n.Scrapes) > 0 || len(n.Series) > 0):
		passed := 0
		for _, s := range n.Scrapes {
			see(s.At)
			passed += s.Passed
		}
		x.Seen, x.Known = fmt.Sprintf("%d snapshots", len(n.Scrapes)), fmt.Sprintf("%d series", len(n.Series))
		if passed > 0 {
			x.Known += fmt.Sprintf(", and %d samples that nothing here looks at", passed)
		}
	case slices.Contains(sources, parse.SrcFacts) && len(n.Facts) > 0:
		x.Seen = parse.Plural(len(n.Facts), "value")
	case lines == 0 && known == 0 && !have:
		x.Seen = "not recognized"
	case lines == 0 && known == 0:
		x.Seen, x.Known = "read", "none"
	default:
		x.Seen, x.Known = strconv.Itoa(max(lines, known)), strconv.Itoa(known)
	}
	x.Span = Span{Time(from), Time(to)}
	return x
}
