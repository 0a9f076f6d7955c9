package report

import (
	"io"

	"github.com/plegforensics/plegforensics/parse"
)

// The types below are schema plegforensics/inspect/v1.
type (
	jsonInspect struct {
		Schema  string          `json:"schema"`
		Tool    jsonTool        `json:"tool"`
		Inputs  []jsonHeld      `json:"inputs"`
		Nodes   []jsonHeldNode  `json:"nodes"`
		Files   []jsonFile      `json:"files"`
		Gaps    []jsonSilence   `json:"gaps"`
		Lost    []jsonLoss      `json:"lost"`
		Missing []jsonNeed      `json:"missing"`
		Warning []jsonHeldIssue `json:"warnings"`
	}
	jsonHeld struct {
		Path      string `json:"path"`
		Kind      string `json:"kind"`
		Files     int    `json:"files"`
		FilesUsed int    `json:"files_used"`
		Bytes     int64  `json:"bytes"`
		Partial   bool   `json:"partial"`
	}
	jsonHeldNode struct {
		Name      string   `json:"name"`
		Version   *string  `json:"kubelet_version"`
		Runtime   *string  `json:"runtime"`
		Start     *string  `json:"start"`
		End       *string  `json:"end"`
		Zone      *string  `json:"timezone"`
		ZoneBasis *string  `json:"timezone_basis"`
		Sources   []string `json:"sources"`
	}
	jsonFile struct {
		Path      string   `json:"path"`
		Role      string   `json:"role"`
		Layout    *string  `json:"layout"`
		Node      *string  `json:"node"`
		Used      bool     `json:"used"`
		Why       *string  `json:"why_not,omitempty"`
		Lines     int      `json:"lines"`
		Records   int      `json:"records"`
		Start     *string  `json:"start"`
		End       *string  `json:"end"`
		Sources   []string `json:"sources"`
		Zone      *string  `json:"timezone"`
		ZoneBasis *string  `json:"timezone_basis"`
		Year      *int     `json:"year"`
		YearBasis *string  `json:"year_basis"`
		Reversed  bool     `json:"reversed"`
		Jumps     int      `json:"clock_steps"`
		Copies    int      `json:"copies,omitempty"`
		CopyOf    *string  `json:"copy_of,omitempty"`
	}
	jsonSilence struct {
		Source string  `json:"source"`
		File   string  `json:"file"`
		Line   uint32  `json:"line"`
		Start  *string `json:"start"`
		End    *string `json:"end"`
		Length float64 `json:"length_seconds"`
	}
	jsonLoss struct {
		What  string  `json:"what"`
		Count int     `json:"count,omitempty"`
		File  string  `json:"file"`
		Line  uint32  `json:"line"`
		Time  *string `json:"time"`
		Text  string  `json:"text"`
	}
	jsonNeed struct {
		Node    *string `json:"node"`
		What    string  `json:"what"`
		Why     string  `json:"why"`
		Command string  `json:"command"`
	}
	jsonHeldIssue struct {
		File    string `json:"file"`
		Offset  int64  `json:"offset"`
		Message string `json:"message"`
	}
)

func writeInspectJSON(w io.Writer, r *Report, _ Options) error {
	x := inspect(r)
	out := jsonInspect{Schema: "plegforensics/inspect/v1", Tool: jsonTool{r.Version}, Inputs: []jsonHeld{}, Nodes: []jsonHeldNode{},
		Files: []jsonFile{}, Gaps: []jsonSilence{}, Lost: []jsonLoss{}, Missing: []jsonNeed{}, Warning: []jsonHeldIssue{}}
	for _, in := range r.Inputs {
		out.Inputs = append(out.Inputs, jsonHeld{Visible(in.Path), in.Kind, in.Files, in.FilesUsed, in.Bytes, in.Partial})
	}
	for i := range r.Nodes {
		out.Nodes = append(out.Nodes, heldNodeJSON(&r.Nodes[i]))
	}
	for _, f := range x.files {
		out.Files = append(out.Files, fileJSON(f))
	}
	for _, f := range x.unused {
		out.Files = append(out.Files, fileJSON(f))
	}
	for _, g := range x.gaps {
		out.Gaps = append(out.Gaps, jsonSilence{string(g.source), Visible(g.file.Path), g.from.Line, stamp(g.from.At), stamp(g.to.At), g.length().Seconds()})
	}
	for _, l := range x.lost {
		j := jsonLoss{What: l.what, Count: l.n, Line: l.rec.Where().Line, Time: stamp(l.rec.When().At), Text: Quote(l.rec.Quote())}
		if f := l.rec.Where().File; f != nil {
			j.File = Visible(f.Path)
		}
		out.Lost = append(out.Lost, j)
	}
	for _, n := range x.missing {
		out.Missing = append(out.Missing, jsonNeed{known(Visible(n.node)), n.what, n.why, n.command})
	}
	for _, x := range r.Warnings {
		j := jsonHeldIssue{Offset: x.Offset, Message: Visible(x.Msg)}
		if x.File != nil {
			j.File = Visible(x.File.Path)
		}
		out.Warning = append(out.Warning, j)
	}
	return encode(w, &out)
}

// heldSources is the order in which sources are listed.
var heldSources = []parse.Source{
	parse.SrcKubelet, parse.SrcContainerd, parse.SrcCRIO, parse.SrcDockerd, parse.SrcPodman, parse.SrcKernel, parse.SrcSystemd,
	parse.SrcCNI, parse.SrcSystem, parse.SrcKubeEvents, parse.SrcMetrics, parse.SrcFacts, parse.SrcStack,
}

func heldNodeJSON(n *Node) jsonHeldNode {
	j := jsonHeldNode{Name: Visible(n.Name), Version: known(Visible(kubeletVersion(&n.Kubelet))), Runtime: known(Visible(n.Kubelet.Runtime)),
		Start: stamp(n.Window.Start), End: stamp(n.Window.End), Zone: known(Visible(n.Window.Timezone)), ZoneBasis: known(Visible(n.Window.TimezoneBasis)), Sources: []string{}}
	for _, s := range heldSources {
		if n.Have[s] {
			j.Sources = append(j.Sources, string(s))
		}
	}
	return j
}

func fileJSON(f fileView) jsonFile {
	j := jsonFile{Path: Visible(f.Path), Role: string(f.Role), Layout: known(f.Layout), Node: known(Visible(f.Node)), Used: f.Unused == "", Why: known(Visible(f.Unused)),
		Lines: f.lines, Records: f.records, Start: stamp(f.from), End: stamp(f.to), Sources: []string{}}
	for _, s := range f.sources {
		j.Sources = append(j.Sources, string(s))
	}
	j.Copies = f.copies
	if f.journal != nil && f.journal.Copies > 0 {
		j.Copies, j.CopyOf = f.journal.Copies, known(Visible(f.journal.CopyOf.Path))
	}
	if c := f.clock; c != nil {
		zone := c.Envelope
		if zone.Name == "" {
			zone = c.Header
		}
		j.Zone, j.ZoneBasis, j.YearBasis = known(Visible(zone.Name)), known(Visible(zone.Basis)), known(Visible(c.YearBasis))
		if c.Year > 1970 {
			j.Year = &c.Year
		}
		j.Reversed, j.Jumps = c.Reversed, len(c.Jumps)
	}
	return j
}
