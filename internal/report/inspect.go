package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// shown is the maximum number of rows per list without --verbose.
const shown = 15

// writeInspectText describes what the inputs hold.
func writeInspectText(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	x := &inspection{r.Inspect(), p, shown, max(p.opt.Width/2, 40)}
	if opt.Verbose {
		x.most = whole
	}
	p.inputs(r)
	if x.Prefix != "" {
		fmt.Fprintf(p, "  files lie below %s, written as …/\n", x.Prefix)
	}
	for _, s := range []Section{
		x.nodes(), x.used(),
		x.grouped("The same lines in several files, used once", "of the file", func(f *model.File) string { return x.below(f.Repeats) }),
		x.grouped("How timestamps were dated", "clock", x.dated),
		x.grouped("Files not used", "why", func(f *model.File) string { return model.Known(f.Why) }),
		x.silences(), x.losses(),
	} {
		s.Keep(x.most)
		p.section(s)
	}
	p.needs(x.Missing)
	p.section(problems(r, min(len(r.Warnings), x.most)))
	return p.Flush()
}

// inspection renders the sections of inspect.
type inspection struct {
	*model.Inspect
	*printer
	most int // maximum rows per table
	half int // half the terminal width, for paths
}

// below replaces the common prefix of all paths by "…/".
func (x *inspection) below(s string) string {
	if x.Prefix != "" {
		s = strings.ReplaceAll(s, x.Prefix, "…/")
	}
	return s
}

// said shortens the paths in a sentence, except with --verbose.
func (x *inspection) said(s string) string {
	if s = x.below(s); !x.opt.Verbose {
		s = shortPaths(s)
	}
	return s
}

// path shortens a path to at most most columns, relative to the common prefix.
func (x *inspection) path(s string, most int) string { return ending(x.below(s), most) }

func (x *inspection) nodes() Section {
	s := Section{zone: x.zone, Title: "Nodes", Columns: []string{"node", "kubelet", "runtime", "from", "to", "zone", "basis of the zone"}}
	for _, n := range x.Nodes {
		s.Row(orNode(n.Name), n.Version, n.Runtime, n.Start, n.End, n.Zone, cmp.Or(x.said(model.Known(n.ZoneBasis)), "unknown"))
	}
	return s
}

func (x *inspection) used() Section {
	s := Section{zone: x.zone, Title: "Files used", Columns: []string{"role", "file", "lines", "records", "from", "to"}}
	for _, f := range x.Files {
		if f.Used {
			s.Row(f.Role, x.path(f.Path, max(x.opt.Width-84, 28)), blankZero(f.Lines), blankZero(f.Records), f.Start, f.End)
		}
	}
	return s
}

// grouped lists files grouped by said: one file per distinct text and the number of others, or all
// files with --verbose. Files for which said returns "" are left out.
func (x *inspection) grouped(title, column string, said func(*model.File) string) Section {
	s := Section{Title: title, Columns: []string{column, "file"}}
	count := map[string]int{}
	for i := range x.Files {
		count[said(&x.Files[i])]++
	}
	for i := range x.Files {
		what := said(&x.Files[i])
		k := count[what]
		if what == "" || k == 0 {
			continue
		}
		file := x.path(x.Files[i].Path, x.half)
		if k > 1 && !x.opt.Verbose {
			file += " and " + parse.Plural(k-1, "more file")
			count[what] = 0
		}
		s.Row(what, file)
	}
	return s
}

// dated says how the timestamps of a file were interpreted.
func (x *inspection) dated(f *model.File) string {
	if !f.Used {
		return ""
	}
	return x.said(f.Clock)
}

func (x *inspection) silences() Section {
	s := Section{zone: x.zone, Title: "Silences of the kubelet and the runtime, 5m and longer", Columns: []string{"source", "from", "to", "length", "file and line"}}
	for _, g := range x.Gaps {
		s.Row(g.Source, g.Start, g.End, &g.Length, x.path(g.Where, x.half))
	}
	return s
}

func (x *inspection) losses() Section {
	s := Section{Title: "Lost or disturbed before the bundle was made", Columns: []string{"what", "file and line", "text"}}
	for _, l := range x.Lost {
		s.Row(l.What+model.InBrackets(blankZero(l.Count)), x.path(l.Where, 40), fit(flat(l.Text), max(x.opt.Width-64, 40)))
	}
	return s
}

// blankZero formats n, with "" for 0: the precision .0 prints no digits for a zero.
func blankZero(n int) string { return fmt.Sprintf("%.0d", n) }

func (p *printer) needs(list []model.Need) {
	if len(list) == 0 {
		return
	}
	p.heading(collectNext)
	node := ""
	for _, n := range list {
		if name := model.Known(n.Node); name != node && name != "" {
			fmt.Fprintf(p, "  on %s\n", orNode(name))
		}
		node = model.Known(n.Node)
		p.need(&n, whole)
	}
}
