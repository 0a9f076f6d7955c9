package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

//go:embed html/page.tmpl
var pageSource string

//go:embed html/style.css
var styleSource string

//go:embed html/view.js
var scriptSource string

// page is what the template shows. Everything in it but the four trusted parts
// is escaped by the template for the place where it stands.
type page struct {
	Title, Description, Version string
	CSP                         string
	Style, Script, Data         template.HTML
	Inputs                      []pageInput
	Nodes                       []pageNode
	Correlations, Warnings      []string
	Alerts                      []string
}

type pageInput struct{ Path, Kind, Size string }

type pageNode struct {
	Name, Status, Summary, Kubelet, Window string
	Episodes                               []pageEpisode
	Causes, LookAlikes                     pageCauses
	Breaches                               []pageBreach
	WhatIf, Relists, Coverage              [][]string
	Assumed, Gaps                          []string
}

type pageEpisode struct {
	ID, Reports                                       int
	Last, Breach, Recovered, For, Age, Step, NotReady string
	Evidence                                          pageQuotes
}

// pageQuote is a quoted line; of the path that leads to it the archives and
// folders stand apart, because only the end of it tells lines apart.
type pageQuote struct{ In, Where, Note, Text string }

// pageQuotes are the few that convince and the rest, which opens on demand.
type pageQuotes struct {
	Best, Rest []pageQuote
	Total      int // more than both where the page leaves some to the JSON report
}

// quotesOpen is how many quotes of a list stand open.
const quotesOpen = 3

// Left are the quotes that the page does not show.
func (q pageQuotes) Left() int { return q.Total - len(q.Best) - len(q.Rest) }

// pageCauses are the causes that lead and those that open on demand.
type pageCauses struct{ First, Rest []pageCause }

// causesOpen is how many causes stand open.
const causesOpen = 3

type pageCause struct {
	Open                                                bool // its evidence too
	ID, Title, Level, Confidence, Episodes, Explanation string
	For, Against                                        pageQuotes
	Path, Remediation, Missing, Commands                []string
}

type pageBreach struct{ Severity, Rule, From, To, Value, Threshold, Where, Short string }

// writeHTML writes one file that needs nothing else: styles, script and data
// are inside, the content security policy admits only those by their hash, and
// without scripts the verdict and all tables still stand. The timeline is drawn
// on a canvas by our own view.js: a hundred thousand marks are too many for a
// document tree, and the chart libraries that draw as many weigh a megabyte,
// know neither the whiskers nor the lanes, and style themselves in ways that
// the policy forbids.
func writeHTML(w io.Writer, r *Report, _ Options) error {
	tmpl, err := template.New("page").Parse(pageSource)
	if err != nil {
		return err
	}
	data, err := island(r)
	if err != nil {
		return err
	}
	p := page{
		Title:       "PLEG report: " + title(r),
		Description: description(r),
		Version:     r.Version,
		CSP: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
			StyleHash(), hashOf(scriptSource)),
		Style:  Style(),
		Script: template.HTML("<script>" + scriptSource + "</script>"),
		Data:   template.HTML(`<script type="application/octet-stream" id="data">` + data + "</script>"),
	}
	for _, in := range r.Inputs {
		p.Inputs = append(p.Inputs, pageInput{Visible(in.Path), in.Kind, Bytes(in.Bytes)})
	}
	for i := range r.Nodes {
		p.Nodes = append(p.Nodes, nodePage(&r.Nodes[i]))
	}
	for _, c := range r.Correlations {
		p.Correlations = append(p.Correlations, Visible(c.Summary))
	}
	alerts, quiet := audited(r, false)
	if p.Alerts = alerts; quiet > 0 {
		p.Alerts = append(p.Alerts, quietAlerts(quiet))
	}
	for _, x := range r.Warnings {
		p.Warnings = append(p.Warnings, Visible(x.String()))
	}
	trusted := [3]template.HTML{p.Style, p.Script, p.Data}
	scrub(&p)
	p.Style, p.Script, p.Data = trusted[0], trusted[1], trusted[2]
	return tmpl.Execute(w, p)
}

func title(r *Report) string {
	var names []string
	for i, n := range r.Nodes {
		if i == 3 {
			names = append(names, "…")
			break
		}
		names = append(names, titleOf(&n))
	}
	return strings.Join(names, ", ")
}

func description(r *Report) string {
	for _, n := range r.Nodes {
		if n.Status == "unhealthy" {
			return Visible(n.Summary)
		}
	}
	if len(r.Nodes) > 0 {
		return Visible(r.Nodes[0].Summary)
	}
	return "no node found"
}

func hashOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(h[:])
}

func nodePage(n *Node) pageNode {
	summary := strings.TrimPrefix(strings.TrimPrefix(n.Summary, n.Name+": "), "the node: ")
	p := pageNode{Name: titleOf(n), Status: n.Status, Summary: Visible(sentenceCase(summary)),
		Kubelet: kubeletLine(n.Kubelet), Window: windowLine(n.Window),
		Causes: causePages(n.Causes), LookAlikes: causePages(otherLookAlikes(n))}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		last := instant(e.LastStart)
		if e.Never {
			last = "never since start"
		}
		p.Episodes = append(p.Episodes, pageEpisode{ID: e.ID, Reports: e.Reports, Last: last, Breach: clockOf(e.Breach),
			Recovered: instant(e.Recovered), For: episodeLength(e), Age: age(e), Step: string(e.StuckStep),
			NotReady: notReady(e.NotReady, dayAndTime), Evidence: quotePages(e.Evidence)})
	}
	for _, b := range n.Breaches {
		p.Breaches = append(p.Breaches, pageBreach{string(b.Severity), Visible(b.Name()), clockOf(b.Start), clockOf(b.End),
			quantity(b.Value, b.Unit), quantity(b.Threshold, b.Unit), firstWhere(b.Evidence), ending(firstWhere(b.Evidence), 42)})
	}
	for _, i := range Durations(n.Node).Longest {
		var cells []string
		for _, c := range relistRow(&n.Relists[i], dayAndTime) {
			cells = append(cells, fmt.Sprint(c))
		}
		p.Relists = append(p.Relists, cells)
	}
	p.WhatIf, p.Assumed = whatIfRows(n.WhatIf), whatIfAssumed(n.WhatIf)
	p.Coverage, p.Gaps = coverageRows(n.Node), gapTexts(n.Node)
	return p
}

// titleOf is the name of a node as a heading.
func titleOf(n *Node) string {
	if n.Name == "" || n.Name == "unknown" {
		return "Node without a name"
	}
	return Visible(n.Name)
}

// sentenceCase begins s with a capital.
func sentenceCase(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

func causePages(cs []rules.Cause) pageCauses {
	var out []pageCause
	for i, c := range cs {
		out = append(out, pageCause{Open: i == 0, ID: c.ID, Title: Visible(c.Title), Level: string(c.Level),
			Confidence: fmt.Sprintf("%.0f%%", 100*c.Confidence), Episodes: numbers(c.Episodes), Explanation: Visible(c.Explanation),
			For: quotePages(c.For), Against: quotePages(c.Against), Path: list(c.Path), Remediation: list(c.Remediation),
			Missing: list(c.Missing), Commands: list(c.Commands)})
	}
	if len(out) <= causesOpen+1 {
		return pageCauses{First: out}
	}
	return pageCauses{out[:causesOpen], out[causesOpen:]}
}

// quotesShown bounds the quotes of one list in the static part of the page; the
// timeline holds them all.
const quotesShown = 50

func quotePages(es []replay.Evidence) pageQuotes {
	var all []pageQuote
	for _, e := range pick(es, quotesShown) {
		if e.Record != nil {
			where := Visible(e.Where().String())
			base := strings.LastIndexAny(where, "/!") + 1
			all = append(all, pageQuote{where[:base], where[base:], Visible(e.Note), Quote(e.Quote())})
		}
	}
	if len(all) <= quotesOpen+1 { // a drawer for a single line is not worth a click
		return pageQuotes{all, nil, len(es)}
	}
	return pageQuotes{all[:quotesOpen], all[quotesOpen:], len(es)}
}

func firstWhere(es []replay.Evidence) string {
	if len(es) == 0 || es[0].Record == nil {
		return ""
	}
	return Visible(es[0].Where().String())
}

// island packs the data of the timeline: JSON, gzip, base64. Base64 cannot end
// the script element, and a hundred thousand quoted lines stay a few megabytes.
func island(r *Report) (string, error) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	v := viewOf(r)
	scrub(&v)
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes()), nil
}

// Style is the style sheet of all pages of the tool, as an element.
func Style() template.HTML { return template.HTML("<style>" + styleSource + "</style>") }

// StyleHash is its hash for a content security policy.
func StyleHash() string { return hashOf(styleSource) }
