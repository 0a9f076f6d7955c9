package fleet

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
)

//go:embed html/page.tmpl
var pageSource string

//go:embed html/filter.js
var filterSource string

var page = template.Must(template.New("fleet").Parse(pageSource))

// pageRow is a node: its timeline on the shared axis, what is wrong, and links to its reports.
type pageRow struct {
	Name, Status, Label, Peak, Cause string
	Links                            []string
	Bars                             []pageBar
	Episodes                         int
	Group                            *pageGroup // set on the first of the nodes that share something
	Grouped                          bool
}

// pageGroup brackets the rows of nodes that share something.
type pageGroup struct {
	Summary string
	Size    int
}

// pageBar is a span of one state, in thousandths of the axis.
type pageBar struct {
	State    string // good, bad, unknown
	X, Width string
}

// writeHTML writes one page with all rows. Without JavaScript only the filters are missing.
func writeHTML(w io.Writer, v *View, _ report.Options) error {
	data := struct {
		StyleHash, ScriptHash string
		Style, Script         template.HTML
		Headline, Version     string
		Ticks                 []string
		Rows                  []pageRow
		Sections              []report.Section
	}{StyleHash: report.StyleHash(), ScriptHash: report.Hash(filterSource), Style: report.Style(),
		Script: template.HTML("<script>" + filterSource + "</script>"), Headline: v.headline(), Version: v.Header.Tool, Rows: v.pageRows()}
	if from, to := v.span(); to > from {
		data.Ticks = []string{tick(from), tick(from + (to-from)/2), tick(to)}
	}
	for _, s := range v.words(true).Sections {
		if len(s.Rows) > 0 {
			data.Sections = append(data.Sections, s)
		}
	}
	return page.Execute(w, data)
}

func tick(at int64) string { return time.Unix(0, at).UTC().Format("01-02 15:04") }

// span returns the range of the time axis in Unix ns: all episodes with a margin, or the windows of
// the nodes if there are none.
func (v *View) span() (from, to int64) {
	see := func(a, b int64) {
		if a != 0 && (from == 0 || a < from) {
			from = a
		}
		to = max(to, a, b)
	}
	for _, m := range v.Nodes {
		for i := range m.Episodes {
			e := &m.Episodes[i]
			see(e.Breach, max(e.Recovered, e.Last))
		}
	}
	if from != 0 {
		room := (to-from)/10 + int64(5*time.Minute)
		return from - room, to + room
	}
	for _, m := range v.Nodes {
		see(m.start, m.end)
	}
	return from, to
}

// pageRows returns the nodes, worst first. Nodes that share something follow the worst of them.
func (v *View) pageRows() []pageRow {
	nodes := slices.Clone(v.Nodes)
	slices.SortStableFunc(nodes, func(a, b *Member) int {
		return cmp.Or(worse(b.Status)-worse(a.Status), cmp.Compare(b.peak(), a.peak()), cmp.Compare(len(b.Episodes), len(a.Episodes)))
	})
	byName := map[string]*Member{}
	for _, m := range nodes {
		byName[m.Name] = m
	}
	var out []pageRow
	placed := map[string]bool{}
	for _, m := range nodes {
		if placed[m.Name] {
			continue
		}
		group := []*Member{m}
		summary := ""
		if c := v.shared(m.Name, placed); c != nil {
			summary = c.Summary
			for _, name := range c.Nodes {
				if o := byName[name]; o != nil && o != m && !placed[name] {
					group = append(group, o)
				}
			}
		}
		for i, o := range group {
			placed[o.Name] = true
			row := v.pageRow(o)
			if row.Grouped = len(group) > 1; row.Grouped && i == 0 {
				row.Group = &pageGroup{summary, len(group)}
			}
			out = append(out, row)
		}
	}
	return out
}

// shared returns the first correlation of a node with others that are not placed yet, nil if there
// is none.
func (v *View) shared(name string, placed map[string]bool) *Correlation {
	for i := range v.Correlations {
		c := &v.Correlations[i]
		if c.Start == 0 || !slices.Contains(c.Nodes, name) {
			continue
		}
		if slices.ContainsFunc(c.Nodes, func(n string) bool { return n != name && !placed[n] }) {
			return c
		}
	}
	return nil
}

func (m *Member) peak() float64 {
	peak := 0.0
	for i := range m.Episodes {
		peak = max(peak, m.Episodes[i].PeakAge)
	}
	return peak
}

func (v *View) pageRow(m *Member) pageRow {
	row := pageRow{Name: m.Name, Status: m.Status, Episodes: len(m.Episodes), Bars: v.bars(m)}
	if p := m.peak(); p > 0 {
		row.Peak = report.Span(time.Duration(p * 1e9))
	}
	if len(m.Causes) > 0 && m.Status != "healthy" {
		row.Cause = fmt.Sprintf("%s (%s, %.0f%%)", m.Causes[0].Title, m.Causes[0].Level, 100*m.Causes[0].Confidence)
	}
	for _, b := range m.Bundles {
		if href := v.Links[b]; href != "" {
			row.Links = append(row.Links, href)
		}
	}
	var said []string
	for i := range m.Episodes {
		if e := &m.Episodes[i]; i < 3 && e.Breach != 0 {
			words := "unhealthy from " + tick(e.Breach)
			if e.AtLatest {
				words += " at the latest"
			}
			said = append(said, words)
		}
	}
	row.Label = cmp.Or(strings.Join(said, ", "), "no unhealthy stretch is dated")
	return row
}

// bars returns the states of a node on the shared axis; unknown is drawn first, under proven
// states.
func (v *View) bars(m *Member) []pageBar {
	from, to := v.span()
	if to <= from || m.start == 0 {
		return nil
	}
	var out []pageBar
	bar := func(state string, a, b int64) {
		if a, b = max(a, from), min(b, to); b <= a {
			return
		}
		x := 1000 * float64(a-from) / float64(to-from)
		out = append(out, pageBar{state, fmt.Sprintf("%.2f", x), fmt.Sprintf("%.2f", max(1000*float64(b-from)/float64(to-from)-x, 2))})
	}
	bar("unknown", m.start, m.end)
	for _, h := range m.Healthy {
		bar("good", h[0], h[1])
	}
	for i := range m.Episodes {
		if e := &m.Episodes[i]; e.Breach != 0 {
			bar("bad", e.Breach, max(e.Recovered, e.Last, e.Breach+int64(time.Second)))
		}
	}
	return out
}
