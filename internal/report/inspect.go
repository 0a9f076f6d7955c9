package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// belowTop writes the common top of all paths as "…/".
func belowTop(x *model.Inspect, s string) string {
	if x.Prefix != "" {
		s = strings.ReplaceAll(s, x.Prefix, "…/")
	}
	return s
}

// shown is how many rows of a list the text shows without --verbose.
const shown = 15

// writeInspectText tells what the inputs hold.
func writeInspectText(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	x := r.Inspect()
	p.inputs(r)
	if x.Prefix != "" {
		fmt.Fprintf(p, "  files lie below %s, written as …/\n", x.Prefix)
	}
	p.heldNodes(x)
	p.usedFiles(x)
	p.unusedFiles(x)
	p.silences(x)
	p.losses(x)
	p.needs(x.Missing)
	p.warnings(r.Warnings)
	return p.Flush()
}

// limit is how many of n rows to print.
func (p *printer) limit(n int) int {
	if p.opt.Verbose {
		return n
	}
	return min(n, shown)
}

func (p *printer) andMore(n int) {
	if n > shown && !p.opt.Verbose {
		fmt.Fprintf(p, "  and %d more; --verbose lists all\n", n-shown)
	}
}

func (p *printer) heldNodes(x *model.Inspect) {
	if len(x.Nodes) == 0 {
		return
	}
	p.heading("Nodes")
	t := p.table("node", "kubelet", "runtime", "from", "to", "zone", "basis of the zone")
	for i := range x.Nodes {
		n := &x.Nodes[i]
		t.AppendRow(table.Row{n.Name, orUnknown(orEmpty(n.Version)), orUnknown(orEmpty(n.Runtime)), when(n.Start), when(n.End),
			orUnknown(orEmpty(n.Zone)), orUnknown(belowTop(x, orEmpty(n.ZoneBasis)))})
	}
	p.render(t)
}

// filesOf are the files by whether they gave something.
func filesOf(x *model.Inspect, used bool) []model.File {
	var out []model.File
	for _, f := range x.Files {
		if f.Used == used {
			out = append(out, f)
		}
	}
	return out
}

func (p *printer) usedFiles(x *model.Inspect) {
	files := filesOf(x, true)
	if len(files) == 0 {
		return
	}
	p.heading("Files used")
	t := p.table("role", "lines", "records", "from", "to", "file")
	for _, f := range files[:p.limit(len(files))] {
		t.AppendRow(table.Row{f.Role, blankZero(f.Lines), blankZero(f.Records), when(f.Start), when(f.End), tail(belowTop(x, f.Path), max(p.opt.Width-84, 28))})
	}
	p.render(t)
	p.andMore(len(files))
	p.repeats(x)
	p.clocks(x)
}

// repeats tells which files hold what others hold too; it is used once.
func (p *printer) repeats(x *model.Inspect) {
	var rows []string
	for _, f := range x.Files {
		if f.Repeats != "" {
			rows = append(rows, tail(belowTop(x, f.Path), max(p.opt.Width/2, 40))+": "+belowTop(x, f.Repeats))
		}
	}
	if len(rows) == 0 {
		return
	}
	p.heading("The same lines in several files, used once")
	for _, row := range rows[:p.limit(len(rows))] {
		p.para("  - ", row)
	}
	p.andMore(len(rows))
}

// clocks tells how the files were dated, files that were dated alike together.
func (p *printer) clocks(x *model.Inspect) {
	var order []string
	byWords := map[string][]string{}
	for _, f := range filesOf(x, true) {
		w := belowTop(x, f.Clock)
		if w == "" {
			continue
		}
		if byWords[w] == nil {
			order = append(order, w)
		}
		byWords[w] = append(byWords[w], f.Path)
	}
	if len(order) == 0 {
		return
	}
	p.heading("How timestamps were dated")
	for _, w := range order[:p.limit(len(order))] {
		p.para("  - ", w)
		few := 2
		if p.opt.Verbose {
			few = len(byWords[w])
		}
		for _, path := range byWords[w][:min(few, len(byWords[w]))] {
			fmt.Fprintf(p, "      %s\n", tail(belowTop(x, path), max(p.opt.Width-8, 30)))
		}
		if more := len(byWords[w]) - few; more > 0 {
			fmt.Fprintf(p, "      and %s more\n", model.Plural(more, "file"))
		}
	}
	p.andMore(len(order))
}

func when(at model.Time) string {
	if at == 0 {
		return ""
	}
	return layout(at, time.DateTime)
}

func blankZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// tail keeps the end of a path, which tells most.
func tail(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

// unusedFiles groups the files that were not used by the reason.
func (p *printer) unusedFiles(x *model.Inspect) {
	files := filesOf(x, false)
	if len(files) == 0 {
		return
	}
	p.heading("Files not used")
	byWhy := map[string][]string{}
	for _, f := range files {
		byWhy[orEmpty(f.Why)] = append(byWhy[orEmpty(f.Why)], f.Path)
	}
	whys := make([]string, 0, len(byWhy))
	for why := range byWhy {
		whys = append(whys, why)
	}
	sort.Strings(whys)
	for _, why := range whys {
		paths := byWhy[why]
		slices.Sort(paths)
		fmt.Fprintf(p, "  %s: %s\n", model.Plural(len(paths), "file"), why)
		few := 3
		if p.opt.Verbose {
			few = len(paths)
		}
		for _, path := range paths[:min(few, len(paths))] {
			fmt.Fprintf(p, "    %s\n", tail(belowTop(x, path), max(p.opt.Width-6, 30)))
		}
	}
}

func (p *printer) silences(x *model.Inspect) {
	gaps := x.Gaps
	if len(gaps) == 0 {
		return
	}
	p.heading("Silences of the kubelet and the runtime, 5m and longer")
	t := p.table("source", "from", "to", "length", "file and line")
	for _, g := range gaps[:p.limit(len(gaps))] {
		t.AppendRow(table.Row{g.Source, when(g.Start), when(g.End), span(&g.Length), tail(belowTop(x, g.Where), max(p.opt.Width/2, 40))})
	}
	p.render(t)
	p.andMore(len(gaps))
}

func (p *printer) losses(x *model.Inspect) {
	lost := x.Lost
	if len(lost) == 0 {
		return
	}
	p.heading("Lost or disturbed before the bundle was made")
	for _, l := range lost[:p.limit(len(lost))] {
		what := l.What
		if l.Count > 0 {
			what += fmt.Sprintf(" (%d)", l.Count)
		}
		fmt.Fprintf(p, "  %s\n", what)
		fmt.Fprintf(p, "    %s\n", p.paint(faint, tail(belowTop(x, l.Where), max(p.opt.Width-6, 30))))
		fmt.Fprintf(p, "    %s\n", model.Cut(l.Text, max(p.opt.Width-6, 30)))
	}
	p.andMore(len(lost))
}

func (p *printer) needs(list []model.Need) {
	if len(list) == 0 {
		return
	}
	p.heading("What to collect next")
	node := ""
	for _, n := range list {
		if name := orEmpty(n.Node); name != node && name != "" {
			fmt.Fprintf(p, "  on %s\n", name)
		}
		node = orEmpty(n.Node)
		p.para("  - ", n.What+": "+n.Why)
		fmt.Fprintf(p, "      %s\n", n.Command)
	}
}
