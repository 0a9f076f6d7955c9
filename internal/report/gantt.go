package report

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// ganttBars is the maximum number of bars per section. GitHub and GitLab refuse larger charts, and
// nobody reads them.
const ganttBars = 25

// gantt draws health, NotReady and long relists as a Mermaid chart, which GitHub, GitLab and most
// ticket systems render.
func gantt(b *bufio.Writer, n *model.Node) {
	end, shortest := n.Window.End, (n.Window.End-n.Window.Start)/500
	short := func(m timeline.Mark) bool { return m.Kind != timeline.Relist || !m.Long() && !m.Open }
	sections := []struct {
		name string
		bars []string
	}{
		{"PLEG", ganttMarks(timeline.Collect(timeline.Healths, n), end, shortest)},
		{"Node", ganttMarks(timeline.Collect(timeline.Readies, n), end, shortest)},
		{"Long relists", ganttMarks(slices.DeleteFunc(timeline.Collect(timeline.Relists, n), short), end, shortest)},
	}
	if len(sections[0].bars)+len(sections[1].bars)+len(sections[2].bars) < 2 || end <= n.Window.Start {
		return
	}
	format := "%H:%M:%S"
	if n.Window.End.Sub(n.Window.Start) > 24*time.Hour {
		format = "%m-%d %H:%M"
	}
	fmt.Fprintf(b, "\n```mermaid\ngantt\n    title %s (UTC)\n    dateFormat YYYY-MM-DD HH:mm:ss.SSS\n    axisFormat %s\n", ganttText(orNode(n.Name)), format)
	for _, s := range sections {
		if len(s.bars) > 0 {
			fmt.Fprintf(b, "    section %s\n    %s\n", s.name, strings.Join(s.bars, "\n    "))
		}
	}
	fmt.Fprintf(b, "```\n")
}

// ganttTags maps states to the Mermaid tags that color their bars.
var ganttTags = map[string]string{"healthy": "done, ", "true": "done, ", "unhealthy": "crit, ", "false": "crit, "}

// ganttMarks returns the longest bars, sorted by start, without those too short to be seen. Bars
// are drawn at least a millisecond long, because Mermaid refuses shorter ones.
func ganttMarks(ms []timeline.Mark, end, shortest model.Time) []string {
	ms = slices.DeleteFunc(ms, func(m timeline.Mark) bool { // errors are shown however short they are
		return m.Start == 0 || m.To(end) <= m.Start || m.Weight() < 3 && m.To(end)-m.Start < shortest
	})
	if len(ms) > ganttBars {
		slices.SortStableFunc(ms, func(a, b timeline.Mark) int { return cmp.Compare(b.To(end)-b.Start, a.To(end)-a.Start) })
		ms = ms[:ganttBars]
		slices.SortStableFunc(ms, func(a, b timeline.Mark) int { return cmp.Compare(a.Start, b.Start) })
	}
	var out []string
	for i := range ms {
		m := &ms[i]
		name, tags := phrase(m, 0), ganttTags[m.State]
		if m.Kind == timeline.Relist {
			name, tags = strings.TrimPrefix(strings.TrimPrefix(m.State+" "+m.Length, "ok "), "unknown "), "active, "
		}
		const format = "2006-01-02 15:04:05.000" // without a zone, Mermaid parses it as local time and so shows the UTC digits unchanged
		from, to := m.Start, max(m.To(end), m.Start+1e6)
		out = append(out, fmt.Sprintf("%s :%s%s, %s", ganttText(name), tags, layout(from, format), layout(to, format)))
	}
	return out
}

// notGantt matches characters that are, or may be, special in Mermaid.
var notGantt = regexp.MustCompile(`[^a-zA-Z0-9. /_µ≤≥±-]`)

// ganttText replaces characters that are special in Mermaid.
func ganttText(s string) string { return notGantt.ReplaceAllString(s, "_") }
