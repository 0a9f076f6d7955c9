package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// shown is how many rows of a list the text shows without --verbose.
const shown = 15

// writeInspectText tells what the inputs hold.
func writeInspectText(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	x := &inspection{r.Inspect(), p}
	p.inputs(r)
	if x.Prefix != "" {
		fmt.Fprintf(p, "  files lie below %s, written as …/\n", x.Prefix)
	}
	for _, s := range []Section{x.nodes(), x.used(), x.repeats(), x.clocks(), x.unused(), x.silences(), x.losses()} {
		if !opt.Verbose {
			s.Keep(shown)
		}
		p.section(s)
	}
	p.needs(x.Missing)
	most := len(r.Warnings)
	if !opt.Verbose {
		most = shown
	}
	p.section(problems(r, most))
	return p.Flush()
}

// inspection is what the sections of inspect are made of.
type inspection struct {
	*model.Inspect
	*printer
}

// below writes the common top of all paths as "…/".
func (x *inspection) below(s string) string {
	if x.Prefix != "" {
		s = strings.ReplaceAll(s, x.Prefix, "…/")
	}
	return s
}

// said is a sentence of which the paths are shortened, but for --verbose.
func (x *inspection) said(s string) string {
	if s = x.below(s); !x.opt.Verbose {
		s = shortPaths(s)
	}
	return s
}

// path is a path below the common top that takes at most most columns.
func (x *inspection) path(s string, most int) string { return ending(x.below(s), most) }

func (x *inspection) nodes() Section {
	s := Section{Title: "Nodes", Columns: []string{"node", "kubelet", "runtime", "from", "to", "zone", "basis of the zone"}}
	for i := range x.Nodes {
		n := &x.Nodes[i]
		s.Row(n.Name, orUnknown(orEmpty(n.Version)), orUnknown(orEmpty(n.Runtime)), when(n.Start), when(n.End), orUnknown(orEmpty(n.Zone)), orUnknown(x.said(orEmpty(n.ZoneBasis))))
	}
	return s
}

func (x *inspection) used() Section {
	s := Section{Title: "Files used", Columns: []string{"role", "file", "lines", "records", "from", "to"}}
	for _, f := range x.Files {
		if f.Used {
			s.Row(f.Role, x.path(f.Path, max(x.opt.Width-84, 28)), blankZero(f.Lines), blankZero(f.Records), when(f.Start), when(f.End))
		}
	}
	return s
}

// repeats tells which files hold what others hold too; it is used once.
func (x *inspection) repeats() Section {
	s := Section{Title: "The same lines in several files, used once", Columns: []string{"file", "of it"}}
	for _, f := range x.Files {
		if f.Repeats != "" {
			s.Row(x.path(f.Path, max(x.opt.Width/2, 40)), x.below(f.Repeats))
		}
	}
	return s
}

// grouped lists paths by what is said of them, few of each, in the order of
// first mention.
func (x *inspection) grouped(title string, few int, said func(*model.File) string, head func(what string, n int) string) Section {
	s := Section{Title: title}
	var order []string
	paths := map[string][]string{}
	for i := range x.Files {
		if what := said(&x.Files[i]); what != "" {
			if paths[what] == nil {
				order = append(order, what)
			}
			paths[what] = append(paths[what], x.Files[i].Path)
		}
	}
	for _, what := range order {
		all := paths[what]
		s.Lead = append(s.Lead, "- "+head(what, len(all)))
		for i, path := range all {
			if i == few && !x.opt.Verbose {
				s.Lead = append(s.Lead, "    and "+parse.Plural(len(all)-i, "more file"))
				break
			}
			s.Lead = append(s.Lead, "    "+x.path(path, max(x.opt.Width-8, 30)))
		}
	}
	return s
}

// clocks tells how the files were dated.
func (x *inspection) clocks() Section {
	return x.grouped("How timestamps were dated", 2, func(f *model.File) string {
		if !f.Used {
			return ""
		}
		return x.said(f.Clock)
	}, func(what string, _ int) string { return what })
}

func (x *inspection) unused() Section {
	return x.grouped("Files not used", 3, func(f *model.File) string { return orEmpty(f.Why) },
		func(why string, n int) string { return parse.Plural(n, "file") + ": " + why })
}

func (x *inspection) silences() Section {
	s := Section{Title: "Silences of the kubelet and the runtime, 5m and longer", Columns: []string{"source", "from", "to", "length", "file and line"}}
	for _, g := range x.Gaps {
		s.Row(g.Source, when(g.Start), when(g.End), span(&g.Length), x.path(g.Where, max(x.opt.Width/2, 40)))
	}
	return s
}

func (x *inspection) losses() Section {
	s := Section{Title: "Lost or disturbed before the bundle was made", Columns: []string{"what", "file and line", "text"}}
	for _, l := range x.Lost {
		what := l.What
		if l.Count > 0 {
			what += fmt.Sprintf(" (%d)", l.Count)
		}
		s.Row(what, x.path(l.Where, 40), fit(flat(l.Text), max(x.opt.Width-64, 40)))
	}
	return s
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
		p.need(&n, whole)
	}
}
