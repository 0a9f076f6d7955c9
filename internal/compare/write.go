package compare

import (
	"fmt"
	"html/template"
	"io"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Format is an output format of a comparison.
type Format struct {
	Name, Ext, About string
	Write            func(io.Writer, *model.Comparison, report.Options) error
}

// Formats lists the output formats in the order of --help.
var Formats = []Format{
	{"text", ".txt", "a table for people", writeText},
	{"json", ".json", "one object, schema plegforensics/compare/v1", func(w io.Writer, res *model.Comparison, _ report.Options) error { return report.Encode(w, res) }},
	{"markdown", ".md", "for tickets and post-mortems", writeMarkdown},
	{"html", ".html", "one self-contained page", writeHTML},
}

// shown drops unchanged rows and noise, unless all is set. It also returns how many rows of each
// there are.
func shown(p *model.Pair, all bool) (rows []model.Compare, same, noise int) {
	for _, r := range p.Rows {
		switch r.Verdict {
		case string(Same):
			same++
		case string(Noise):
			noise++
		}
		if all || r.Verdict != string(Same) && r.Verdict != string(Noise) {
			rows = append(rows, r)
		}
	}
	return rows, same, noise
}

func left(same, noise int, all bool) string {
	if all || same+noise == 0 {
		return ""
	}
	return fmt.Sprintf("Not shown: %d the same, %d that chance explains.", same, noise)
}

// document returns the comparison as text and tables.
func document(res *model.Comparison, all bool) *report.Document {
	d := &report.Document{Title: "PLEG comparison", Summary: res.Summary, Notes: res.Notes}
	for i := range res.Nodes {
		p := &res.Nodes[i]
		s := report.Section{Title: p.Title(), Columns: []string{"", "what", res.Baseline, res.Incident, "verdict", "line", "rests on"}}
		rows, same, noise := shown(p, all)
		for i, r := range rows {
			group := r.Group
			if i > 0 && rows[i-1].Group == group {
				group = ""
			}
			line := report.Cell{}
			if r.Where != "" {
				line = report.Cell{Text: r.Where, At: &model.Evidence{File: r.File, Line: r.Line, Text: r.Text}}
			}
			s.Row(group, r.What, r.Baseline, r.Incident, r.Verdict, line, r.Why)
		}
		if l := left(same, noise, all); l != "" {
			s.Notes = []string{l}
		}
		d.Sections = append(d.Sections, s)
	}
	return d
}

func writeText(w io.Writer, res *model.Comparison, opt report.Options) error {
	return document(res, opt.Verbose).Text(w, opt)
}

func writeMarkdown(w io.Writer, res *model.Comparison, opt report.Options) error {
	return document(res, opt.Verbose).Markdown(w)
}

var page = template.Must(template.New("compare").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{{.StyleHash}}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><meta name="generator" content="plegforensics">
<title>PLEG comparison: {{.Baseline}}, {{.Incident}}</title>{{.Style}}</head><body><main>
<h1>PLEG comparison</h1><p class="summary">{{.Summary}}</p>
{{range .Pairs}}<section><h2>{{.Title}}</h2>{{if .Charts}}<div class="pair" role="group" aria-label="Age of the last relist, aligned at the breach">{{range $i, $c := .Charts}}<figure><figcaption><strong>{{if $i}}{{$.Incident}}{{else}}{{$.Baseline}}{{end}}</strong> {{.About}}</figcaption>
<svg viewBox="0 0 1000 140" preserveAspectRatio="none" role="img" aria-label="{{.About}}"><path class="band" d="{{.Band}}"/>{{if ge .Limit 0.0}}<line class="limit" x1="0" x2="1000" y1="{{.Limit}}" y2="{{.Limit}}"/>{{end}}{{range .Health}}<rect class="{{.State}}" x="{{.X}}" y="126" width="{{.Width}}" height="14"/>{{end}}<line class="zero" x1="{{.Zero}}" x2="{{.Zero}}" y1="0" y2="140"/></svg>
<p class="ends"><span>{{.From}}</span><span>{{.To}}</span></p></figure>{{end}}</div>{{end}}{{if .Groups}}<div class="scroll" tabindex="0" role="region" aria-label="{{.Title}}"><table class="compare">
<thead><tr><th scope="col">what</th><th scope="col">{{$.Baseline}}</th><th scope="col">{{$.Incident}}</th><th scope="col">verdict</th><th scope="col">rests on</th></tr></thead>
{{range .Groups}}<tbody><tr><th class="group" colspan="5" scope="rowgroup">{{.Name}}</th></tr>
{{range .Rows}}<tr><th scope="row">{{.What}}</th><td>{{.Baseline}}</td><td>{{.Incident}}</td><td><span class="verdict {{.Verdict}}">{{.Verdict}}</span></td><td>{{.Why}}{{if .Where}}<details><summary><code>{{.Where}}</code></summary><pre>{{.Text}}</pre></details>{{end}}</td></tr>
{{end}}</tbody>{{end}}
</table></div>{{else}}<p>No difference.</p>{{end}}{{if .Left}}<p class="note">{{.Left}}</p>{{end}}</section>{{end}}
{{if .Notes}}<ul>{{range .Notes}}<li>{{.}}</li>{{end}}</ul>{{end}}
</main></body></html>
`))

type pageRow struct{ What, Baseline, Incident, Verdict, Why, Where, Text string }

type pageGroup struct {
	Name string
	Rows []pageRow
}

type pagePair struct {
	Title, Left string
	Charts      []model.CompareChart
	Groups      []pageGroup
}

func writeHTML(w io.Writer, res *model.Comparison, opt report.Options) error {
	data := struct {
		StyleHash                   string
		Style                       template.HTML
		Summary, Baseline, Incident string
		Pairs                       []pagePair
		Notes                       []string
	}{report.StyleHash(), report.Style(), res.Summary, res.Baseline, res.Incident, nil, nil}
	for i := range res.Nodes {
		p := &res.Nodes[i]
		rows, same, noise := shown(p, opt.Verbose)
		x := pagePair{Title: p.Title(), Charts: p.Charts, Left: left(same, noise, opt.Verbose)}
		for i, r := range rows {
			if i == 0 || rows[i-1].Group != r.Group {
				x.Groups = append(x.Groups, pageGroup{Name: r.Group})
			}
			g := &x.Groups[len(x.Groups)-1]
			row := pageRow{r.What, r.Baseline, r.Incident, string(r.Verdict), r.Why, r.Where, ""}
			if row.Where != "" {
				row.Text = r.Text
			}
			g.Rows = append(g.Rows, row)
		}
		data.Pairs = append(data.Pairs, x)
	}
	data.Notes = append(data.Notes, res.Notes...)
	return page.Execute(w, data)
}
