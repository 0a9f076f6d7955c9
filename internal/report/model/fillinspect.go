package model

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/inventory"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/advice"
)

// inspect builds the inspect document, without what is missing and without warnings.
func (c *Cleaner) inspect(a *Analysis) *Inspect {
	x := inventory.Of(a.Bundles)
	out := &Inspect{Schema: SchemaName("inspect"), Tool: Tool{a.Version}, Inputs: list(a.Inputs, c.held), Nodes: list(a.Nodes, c.heldNode), Files: list(x.Files, c.file),
		Gaps: []Silence{}, Lost: []Loss{}, Prefix: c.path(x.Prefix)}
	for _, g := range x.Gaps {
		where := parse.Pos{File: g.File, Line: g.From.Line}
		out.Gaps = append(out.Gaps, Silence{string(g.Source), c.path(g.File.Path), g.From.Line, Time(g.From.At), Time(g.To.At), g.Length().Seconds(), c.where(where)})
	}
	for _, l := range x.Lost {
		e := c.evidence(replay.Evidence{Record: l.Record})
		out.Lost = append(out.Lost, Loss{l.What, l.N, e.File, e.Line, Time(l.Record.When().At), e.Text, e.Where()})
	}
	return out
}

func (c *Cleaner) heldNode(n Analyzed) HeldNode {
	k := c.kubelet(&n.Kubelet)
	out := HeldNode{Name: c.name(n.Name), Version: c.known(k.Versions()), Runtime: k.Runtime, Start: Time(n.Window.Start), End: Time(n.Window.End),
		Zone: c.known(n.Window.Timezone), ZoneBasis: c.known(n.Window.TimezoneBasis), Sources: []string{}}
	for _, x := range covered {
		for _, s := range x.sources {
			if n.Have[s] {
				out.Sources = append(out.Sources, string(s))
			}
		}
	}
	return out
}

func (c *Cleaner) file(f inventory.File) File {
	out := File{Path: c.path(f.Path), Role: string(f.Role), Layout: c.known(f.Layout), Node: c.knownName(f.Node), Used: f.Why == "", Why: c.known(f.Why),
		Lines: f.Lines, Records: f.Records, Start: Time(f.From), End: Time(f.To), Copies: f.Copies,
		Sources: list(f.Sources, func(s parse.Source) string { return string(s) }), Clock: c.text(f.Dating()), Repeats: c.text(f.Repeats())}
	if f.CopyOf != nil {
		out.CopyOf = some(c.path(f.CopyOf.Path))
	}
	if k := f.Clock; k != nil {
		zone := f.Zone()
		out.Zone, out.ZoneBasis, out.YearBasis = c.known(zone.Name), c.known(zone.Basis), c.known(k.YearBasis)
		out.Year, out.Reversed, out.Jumps = Given(k.Year > 1970, k.Year), k.Reversed, k.Stepped
	}
	return out
}

// needsOfNodes lists what to collect next of each node, the most useful first.
func needsOfNodes(a *Analysis) []advice.Need {
	var all []advice.Need
	for i := range a.Nodes {
		all = append(all, advice.OfNode(a.Nodes[i].Node, nil, advice.CommandsFor(a.Nodes[i].Node, nil))...)
	}
	return all
}

// needsBeside lists what else to collect next.
func needsBeside(a *Analysis) []advice.Need {
	var all []advice.Need
	if len(a.Nodes) == 0 {
		all = append(all, advice.Kubelet())
	}
	for _, b := range a.Bundles {
		all = append(all, advice.OfBundle(b)...)
	}
	return all
}

func (c *Cleaner) needList(in []advice.Need) []Need {
	return list(in, func(x advice.Need) Need {
		return Need{c.knownName(x.Node), c.text(x.ID), c.text(x.What), x.Why, c.text(x.Command)}
	})
}
