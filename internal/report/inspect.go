package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// short makes a text visible and writes the common top of all paths as "…/".
func (x inspection) short(s string) string {
	if x.prefix != "" {
		s = strings.ReplaceAll(s, x.prefix, "…/")
	}
	return Visible(s)
}

// shown is how many rows of a list the text shows without --verbose.
const shown = 15

// writeInspectText tells what the inputs hold.
func writeInspectText(w io.Writer, r *Report, opt Options) error {
	p := newPrinter(w, opt)
	x := inspect(r)
	p.inputs(r)
	if x.prefix != "" {
		fmt.Fprintf(p, "  files lie below %s, written as …/\n", Visible(x.prefix))
	}
	p.heldNodes(r, x)
	p.usedFiles(x)
	p.unusedFiles(x)
	p.silences(x)
	p.losses(x)
	p.needs(x.missing)
	p.warnings(r)
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

func (p *printer) heldNodes(r *Report, x inspection) {
	if len(r.Nodes) == 0 {
		return
	}
	p.heading("Nodes")
	t := p.table("node", "kubelet", "runtime", "from", "to", "zone", "basis of the zone")
	for _, n := range r.Nodes {
		t.AppendRow(table.Row{Visible(n.Name), orUnknown(Visible(kubeletVersion(&n.Kubelet))), orUnknown(Visible(n.Kubelet.Runtime)),
			Date(n.Window.Start), Date(n.Window.End), orUnknown(Visible(n.Window.Timezone)), orUnknown(x.short(n.Window.TimezoneBasis))})
	}
	p.render(t)
}

// kubeletVersion is the version, or its bounds.
func kubeletVersion(k *replay.Kubelet) string {
	switch {
	case k.Version != "":
		return k.Version
	case k.VersionMin != "" && k.VersionMax != "":
		return k.VersionMin + " to " + k.VersionMax
	case k.VersionMin != "":
		return k.VersionMin + " or later"
	case k.VersionMax != "":
		return k.VersionMax + " or earlier"
	}
	return ""
}

func (p *printer) usedFiles(x inspection) {
	files := x.files
	if len(files) == 0 {
		return
	}
	p.heading("Files used")
	t := p.table("role", "lines", "records", "from", "to", "file")
	for _, f := range files[:p.limit(len(files))] {
		t.AppendRow(table.Row{string(f.Role), blankZero(f.lines), blankZero(f.records), when(f.from), when(f.to), tail(x.short(f.Path), max(p.opt.Width-84, 28))})
	}
	p.render(t)
	p.andMore(len(files))
	p.repeats(x)
	p.clocks(x)
}

// repeats tells which files hold what others hold too; it is used once.
func (p *printer) repeats(x inspection) {
	var rows []string
	for i := range x.files {
		if s := x.files[i].repeats(); s != "" {
			rows = append(rows, tail(x.short(x.files[i].Path), max(p.opt.Width/2, 40))+": "+x.short(s))
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
func (p *printer) clocks(x inspection) {
	var order []string
	byWords := map[string][]string{}
	for _, f := range x.files {
		w := x.short(clockWords(f.clock))
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
	p.heading("How stamps were dated")
	for _, w := range order[:p.limit(len(order))] {
		p.para("  - ", w)
		few := 2
		if p.opt.Verbose {
			few = len(byWords[w])
		}
		for _, path := range byWords[w][:min(few, len(byWords[w]))] {
			fmt.Fprintf(p, "      %s\n", tail(x.short(path), max(p.opt.Width-8, 30)))
		}
		if more := len(byWords[w]) - few; more > 0 {
			fmt.Fprintf(p, "      and %s more\n", plural(more, "file"))
		}
	}
	p.andMore(len(order))
}

func when(at int64) string {
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

// clockWords says how the stamps of a file were dated.
func clockWords(c *parse.FileClock) string {
	if c == nil {
		return ""
	}
	var out []string
	zone := c.Envelope
	if zone.Name == "" {
		zone = c.Header
	}
	if zone.Name != "" && zone.Basis != "" {
		out = append(out, zone.Name+", "+zone.Basis)
	}
	if c.Header.Name != "" && c.Envelope.Name != "" && c.Header.Offset != c.Envelope.Offset {
		out = append(out, "messages "+c.Header.Name+", "+c.Header.Basis)
	}
	if c.Year > 1970 && c.YearBasis != "" && c.YearBasis != zone.Basis { // 1970: only times since boot
		out = append(out, fmt.Sprintf("%d: %s", c.Year, c.YearBasis))
	}
	if c.Reversed {
		out = append(out, "newest line first")
	}
	if n := len(c.Jumps); n > 0 {
		out = append(out, plural(n, "clock step"))
	}
	if c.Moved > 0 {
		out = append(out, "lines from before the clock was set moved to where the boot's own clock has them")
	}
	return strings.Join(out, "; ")
}

// unusedFiles groups the files that were not used by the reason.
func (p *printer) unusedFiles(x inspection) {
	files := x.unused
	if len(files) == 0 {
		return
	}
	p.heading("Files not used")
	byWhy := map[string][]string{}
	for _, f := range files {
		byWhy[f.Unused] = append(byWhy[f.Unused], f.Path)
	}
	whys := make([]string, 0, len(byWhy))
	for why := range byWhy {
		whys = append(whys, why)
	}
	sort.Strings(whys)
	for _, why := range whys {
		paths := byWhy[why]
		slices.Sort(paths)
		fmt.Fprintf(p, "  %s: %s\n", plural(len(paths), "file"), Visible(why))
		few := 3
		if p.opt.Verbose {
			few = len(paths)
		}
		for _, path := range paths[:min(few, len(paths))] {
			fmt.Fprintf(p, "    %s\n", tail(x.short(path), max(p.opt.Width-6, 30)))
		}
	}
}

func (p *printer) silences(x inspection) {
	gaps := x.gaps
	if len(gaps) == 0 {
		return
	}
	p.heading("Silences of the kubelet and the runtime, " + Span(longGap) + " and longer")
	t := p.table("source", "from", "to", "length", "file and line")
	for _, g := range gaps[:p.limit(len(gaps))] {
		t.AppendRow(table.Row{string(g.source), when(g.from.At), when(g.to.At), Span(g.length()), tail(x.short(g.from.Pos.String()), max(p.opt.Width/2, 40))})
	}
	p.render(t)
	p.andMore(len(gaps))
}

func (p *printer) losses(x inspection) {
	lost := x.lost
	if len(lost) == 0 {
		return
	}
	p.heading("Lost or disturbed before the bundle was made")
	for _, l := range lost[:p.limit(len(lost))] {
		what := l.what
		if l.n > 0 {
			what += fmt.Sprintf(" (%d)", l.n)
		}
		fmt.Fprintf(p, "  %s\n", what)
		fmt.Fprintf(p, "    %s\n", p.paint(faint, tail(x.short(l.rec.Where().String()), max(p.opt.Width-6, 30))))
		fmt.Fprintf(p, "    %s\n", cut(Visible(l.rec.Quote()), max(p.opt.Width-6, 30)))
	}
	p.andMore(len(lost))
}

func (p *printer) needs(list []need) {
	if len(list) == 0 {
		return
	}
	p.heading("What would make the answer better")
	node := ""
	for _, n := range list {
		if n.node != node && n.node != "" {
			fmt.Fprintf(p, "  on %s\n", Visible(n.node))
		}
		node = n.node
		p.para("  - ", n.what+": "+n.why)
		fmt.Fprintf(p, "      %s\n", n.command)
	}
}
