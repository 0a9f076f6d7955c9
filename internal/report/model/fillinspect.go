package model

import (
	"fmt"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// heldSources is the order in which sources are listed.
var heldSources = []parse.Source{
	parse.SrcKubelet, parse.SrcContainerd, parse.SrcCRIO, parse.SrcDockerd, parse.SrcPodman, parse.SrcKernel, parse.SrcSystemd,
	parse.SrcCNI, parse.SrcSystem, parse.SrcKubeEvents, parse.SrcMetrics, parse.SrcFacts, parse.SrcStack,
}

// inspect makes the inspect document.
func (c *Cleaner) inspect(a *Analysis) *Inspect {
	x := inspect(a)
	out := &Inspect{Schema: SchemaName("inspect"), Tool: Tool{a.Version}, Inputs: []Held{}, Nodes: []HeldNode{}, Files: []File{},
		Gaps: []Silence{}, Lost: []Loss{}, Missing: c.needs(a), Warnings: []HeldIssue{}, Prefix: c.Path(x.prefix)}
	for _, in := range a.Inputs {
		out.Inputs = append(out.Inputs, Held{c.Input(in.Path), in.Kind, in.Files, in.FilesUsed, in.Bytes, in.Partial})
	}
	for i := range a.Nodes {
		out.Nodes = append(out.Nodes, c.heldNode(&a.Nodes[i]))
	}
	for _, f := range append(x.files, x.unused...) {
		out.Files = append(out.Files, c.file(&f))
	}
	for _, g := range x.gaps {
		where := parse.Pos{File: g.file, Line: g.from.Line}
		out.Gaps = append(out.Gaps, Silence{string(g.source), c.Path(g.file.Path), g.from.Line, Time(g.from.At), Time(g.to.At), g.length().Seconds(), c.where(where)})
	}
	for _, l := range x.lost {
		e := c.evidence(replay.Evidence{Record: l.rec})
		out.Lost = append(out.Lost, Loss{l.what, l.n, e.File, e.Line, Time(l.rec.When().At), e.Text, e.Where()})
	}
	for _, w := range a.Warnings {
		i := HeldIssue{Offset: w.Offset, Message: c.Text(w.Msg)}
		if w.File != nil {
			i.File = c.Path(w.File.Path)
		}
		out.Warnings = append(out.Warnings, i)
	}
	return out
}

func (c *Cleaner) heldNode(n *Analyzed) HeldNode {
	k := c.kubelet(&n.Kubelet)
	out := HeldNode{Name: c.Name(n.Name), Version: c.known(k.Versions()), Runtime: k.Runtime, Start: Time(n.Window.Start), End: Time(n.Window.End),
		Zone: c.known(n.Window.Timezone), ZoneBasis: c.known(n.Window.TimezoneBasis), Sources: []string{}}
	for _, s := range heldSources {
		if n.Have[s] {
			out.Sources = append(out.Sources, string(s))
		}
	}
	return out
}

func (c *Cleaner) file(f *fileView) File {
	out := File{Path: c.Path(f.Path), Role: string(f.Role), Layout: c.known(f.Layout), Used: f.Unused == "", Why: c.known(f.Unused),
		Lines: f.lines, Records: f.records, Start: Time(f.from), End: Time(f.to), Sources: []string{}, Copies: f.copies,
		Clock: c.Text(clockWords(f.clock)), Repeats: c.Text(f.repeats())}
	if f.Node != "" {
		name := c.Name(f.Node)
		out.Node = &name
	}
	for _, s := range f.sources {
		out.Sources = append(out.Sources, string(s))
	}
	if f.journal != nil && f.journal.Copies > 0 {
		out.Copies, out.CopyOf = f.journal.Copies, c.knownPath(f.journal.CopyOf.Path)
	}
	if k := f.clock; k != nil {
		zone := k.Envelope
		if zone.Name == "" {
			zone = k.Header
		}
		out.Zone, out.ZoneBasis, out.YearBasis = c.known(zone.Name), c.known(zone.Basis), c.known(k.YearBasis)
		if y := k.Year; y > 1970 {
			out.Year = &y
		}
		out.Reversed, out.Jumps = k.Reversed, len(k.Jumps)
	}
	return out
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
		out = append(out, fmt.Sprintf("clock steps: %d", n))
	}
	if c.Moved > 0 {
		out = append(out, "lines from before the clock was set moved to where the boot's own clock has them")
	}
	return strings.Join(out, "; ")
}

func records(n int) string {
	if n == 1 {
		return "1 record"
	}
	return itoa(n) + " records"
}
