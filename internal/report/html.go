package report

import (
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

//go:embed html/page.tmpl
var pageSource string

// pages is the template of the HTML report.
var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"bytes": Bytes, "base": path.Base, "name": orNode, "kubelet": kubeletLine, "window": func(w model.Window) string { return windowLine(w, true) }, "episodes": episodesWords, "quotes": quotesOf, "causes": causesOf, "heading": causesHeading, "left": func(p model.Proof) int { return max(p.Len()-quotesShown, 0) }, "split": splitPath,
	"ordinal": func(i int) int { return i + 1 },
	"percent": func(f float64) string { return fmt.Sprintf("%.0f%%", 100*f) },
}).Parse(pageSource))

//go:embed html/style.css
var styleSource string

//go:embed html/view.js
var scriptSource string

// page is the data of the template. Except Style, Script and Data, which are trusted, everything in
// it is escaped by html/template for its context.
type page struct {
	*model.Report
	Title, Description, CSP string
	Style, Script, Data     template.HTML
	Told                    []pageNode
	Across, Fired, Problems Section
}

// pageNode is a node with its head and its tables.
type pageNode struct {
	*model.Node
	Head     pageHead
	Unwell   Section
	Sections []Section
}

// pageHead is the first screen of a node: the verdict, up to four numbers, and what to do.
type pageHead struct {
	Name, Status, Badge, Summary, Cause, Level, Lead, Ticket string
	Do                                                       []string
	Numbers                                                  []pageNumber
}

type pageNumber struct{ Value, Label string }

// drawer is a list whose first items are visible; the rest opens on demand.
type drawer[T any] struct{ Open, Rest []T }

// standOpen is the number of visible items of a drawer. A single further item is shown too: it is
// not worth a click.
const standOpen = 3

func drawerOf[T any](all []T) drawer[T] {
	if len(all) <= standOpen+1 {
		return drawer[T]{Open: all}
	}
	return drawer[T]{all[:standOpen], all[standOpen:]}
}

type pageCause struct {
	*model.Cause
	Leads bool // its evidence is visible too
}

// writeHTML writes one self-contained file with styles, script and data. The content security
// policy admits styles and script by hash only. Without JavaScript the verdict and all tables are
// still there. view.js draws the timeline on a canvas, because a DOM cannot hold a hundred thousand
// marks; the chart libraries that manage it weigh a megabyte, support neither error bars nor lanes,
// and need inline styles, which the policy forbids.
func writeHTML(w io.Writer, r *model.Report, opt Options) error {
	data, err := island(r)
	if err != nil {
		return err
	}
	p := page{
		Report:      r,
		Across:      across(r),
		Fired:       alertsTold(r, false),
		Problems:    problems(r, len(r.Warnings)),
		Title:       "PLEG report: " + title(r),
		Description: "no node found",
		CSP: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
			StyleHash(), Hash(scriptSource)),
		Style:  Style(),
		Script: template.HTML("<script>" + scriptSource + "</script>"),
		Data:   template.HTML(`<script type="application/octet-stream" id="data">` + data + "</script>"),
	}
	if n := worstNode(r.Nodes); n != nil {
		p.Description = n.Summary
	}
	for _, n := range r.Nodes {
		t := times{dayAndTime, opt.Zone}
		p.Told = append(p.Told, pageNode{n, t.head(n), t.episodes(n), t.sections(n)})
	}
	return pages.ExecuteTemplate(w, "page", p)
}

func title(r *model.Report) string {
	names := []string{}
	for _, n := range r.Nodes[:min(len(r.Nodes), 3)] {
		names = append(names, orNode(n.Name))
	}
	if len(r.Nodes) > 3 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// Hash returns the hash of a script or a style sheet for a content security policy.
func Hash(s string) string {
	h := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(h[:])
}

// breached returns the number to show for a node without an episode: a breach that is proven though
// no line reports it, or that there is none.
func (t times) breached(n *model.Node) pageNumber {
	for i := range n.Breaches {
		if b := &n.Breaches[i]; b.Rule == "relist-threshold-exceeded" {
			return pageNumber{"from " + layout(b.Start, time.TimeOnly), "breach (UTC)" + t.local(b.Start) + ", " + valueOf(b)}
		}
	}
	if n.Status == "unhealthy" {
		return pageNumber{"unknown", "time of the breach"}
	}
	return pageNumber{"none", "breach proven"}
}

// stepsShown is the number of actions on the first screen.
const stepsShown = 3

func (t times) head(n *model.Node) pageHead {
	h := pageHead{Name: orNode(n.Name), Status: n.Status, Badge: n.Status, Summary: t.prose(sentenceCase(plainSummary(n))), Ticket: strings.Join(t.ticketLines(n), "\n")}
	do, known := []string(nil), false
	if len(n.Causes) > 0 && n.Status != "healthy" {
		c := &n.Causes[0]
		known = c.Level != string(rules.Possible)
		h.Cause, h.Level = c.Title+".", fmt.Sprintf("%s, %.0f%%", sentenceCase(c.Level), 100*c.Confidence)
		if do = c.Remediation; !known {
			h.Cause, do = "Cause unknown. Possible: "+c.Title+".", nil
		}
	}
	if h.Lead = "Do first"; !known && n.Status != "healthy" {
		h.Lead = collectNext
		for _, c := range n.Collect {
			do = append(do, c.What)
		}
	}
	h.Do = do[:min(len(do), stepsShown)]
	longest := pageNumber{cmp.Or(strings.TrimPrefix(n.Relists.MaxOf.Length(), "?"), "unknown"), "longest dated relist"}
	if len(n.Episodes) == 0 {
		h.Numbers = []pageNumber{t.breached(n), longest}
		return h
	}
	e := &n.Episodes[n.Worst]
	h.Badge = "PLEG " + n.Status + " " + episodeLength(e)
	when := pageNumber{layout(e.Start(), time.TimeOnly) + "–" + layout(e.Recovered, time.TimeOnly), "breach" + t.local(e.Start()) + " to recovery" + t.local(e.Recovered) + upTo(e.RecoveredSlack) + " (UTC)"}
	if e.Start() == 0 {
		h.Badge, when = "PLEG "+n.Status, pageNumber{"unknown", "time of the breach"}
	} else if e.Recovered == 0 {
		when = pageNumber{"from " + layout(e.Start(), time.TimeOnly), "breach (UTC)" + t.local(e.Start()) + "; recovery not seen"}
	}
	peak := pageNumber{oldest(e), strings.TrimSuffix("peak age ("+span(&e.Threshold)+" allowed), "+elsewhere(n), ", ")}
	down := pageNumber{"unknown", "node NotReady"}
	if s := e.NotReady; s != nil && s.To != 0 {
		down.Value = Span(s.To.Sub(s.From))
	} else if s != nil {
		down = pageNumber{"from " + layout(s.From, time.TimeOnly), "node NotReady" + t.local(s.From) + ", end not seen"}
	}
	h.Numbers = []pageNumber{when, peak, longest, down}
	return h
}

func causesOf(cs []model.Cause) drawer[pageCause] {
	var all []pageCause
	for i := range cs {
		all = append(all, pageCause{&cs[i], i == 0})
	}
	return drawerOf(all)
}

// quotesShown is the maximum number of quotes per list in the static part of the page; the timeline
// has all of them.
const quotesShown = 50

func quotesOf(p model.Proof) drawer[model.Evidence] { return drawerOf(p.First(quotesShown)) }

// splitPath splits the position of a line before the last path element, which is the part that
// distinguishes it; archives and folders come first.
func splitPath(e model.Evidence) [2]string {
	where := e.Where()
	base := strings.LastIndexAny(where, "/!") + 1
	return [2]string{where[:base], where[base:]}
}

// island packs the data of the timeline: JSON, gzip, base64. Base64 cannot end the script element,
// and compression keeps a hundred thousand quoted lines to a few megabytes.
func island(r *model.Report) (string, error) {
	data, err := model.Compact(viewOf(r))
	return base64.StdEncoding.EncodeToString(packed(data, gzip.BestCompression)), err
}

// Style returns the style sheet shared by all HTML pages, as a style element.
func Style() template.HTML { return template.HTML("<style>" + styleSource + "</style>") }

// StyleHash returns the hash of Style for a content security policy.
func StyleHash() string { return Hash(styleSource) }
