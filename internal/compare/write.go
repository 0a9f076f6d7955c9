package compare

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report"
)

// Format is an output format of a comparison.
type Format struct {
	Name  string
	Write func(w io.Writer, res Result, all bool) error // all: rows that are the same or noise too
}

// Formats in the order of --help.
var Formats = []Format{{"text", writeText}, {"json", writeJSON}, {"markdown", writeMarkdown}, {"html", writeHTML}}

// Names of the formats.
func Names() []string {
	var out []string
	for _, f := range Formats {
		out = append(out, f.Name)
	}
	return out
}

// shown drops what did not change, unless all is asked for; how many rows were
// dropped is said.
func shown(p Pair, all bool) (rows []Row, same, noise int) {
	for _, r := range p.Rows {
		switch r.Verdict {
		case Same:
			same++
		case Noise:
			noise++
		}
		if all || r.Verdict != Same && r.Verdict != Noise {
			rows = append(rows, r)
		}
	}
	return rows, same, noise
}

func where(r Row) string {
	if len(r.Evidence) == 0 || r.Evidence[0].Record == nil {
		return ""
	}
	return r.Evidence[0].Where().String()
}

func title(p Pair) string {
	if p.Baseline == p.Incident {
		return p.Incident
	}
	return p.Baseline + " against " + p.Incident
}

func left(same, noise int, all bool) string {
	if all || same+noise == 0 {
		return ""
	}
	return fmt.Sprintf("Not shown: %d the same, %d that chance explains.", same, noise)
}

func writeText(w io.Writer, res Result, all bool) error {
	var b strings.Builder
	fmt.Fprintln(&b, report.Visible(res.Summary))
	for _, p := range res.Pairs {
		rows, same, noise := shown(p, all)
		fmt.Fprintf(&b, "\n%s\n", report.Visible(title(p)))
		t := table.NewWriter()
		style := table.StyleLight
		style.Options = table.OptionsNoBordersAndSeparators
		style.Format.Header = text.FormatDefault
		style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
		t.SetStyle(style)
		t.AppendHeader(table.Row{"", "what", report.Visible(res.BaselineLabel), report.Visible(res.IncidentLabel), "verdict", "line"})
		for i, r := range rows {
			group := r.Group
			if i > 0 && rows[i-1].Group == group {
				group = ""
			}
			t.AppendRow(table.Row{group, report.Visible(r.What), report.Visible(r.Baseline), report.Visible(r.Incident), r.Verdict, report.Visible(where(r))})
		}
		for _, l := range strings.Split(t.Render(), "\n") {
			fmt.Fprintln(&b, strings.TrimRight(l, " "))
		}
		if l := left(same, noise, all); l != "" {
			fmt.Fprintln(&b, "  "+l)
		}
	}
	for _, n := range res.Notes {
		fmt.Fprintln(&b, report.Visible(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type jsonRow struct {
	Group    string `json:"group"`
	What     string `json:"what"`
	Baseline string `json:"baseline"`
	Incident string `json:"incident"`
	Verdict  string `json:"verdict"`
	Why      string `json:"why,omitempty"`
	File     string `json:"file,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Text     string `json:"text,omitempty"`
}

type jsonPair struct {
	Baseline string    `json:"baseline"`
	Incident string    `json:"incident"`
	Rows     []jsonRow `json:"rows"`
}

func writeJSON(w io.Writer, res Result, _ bool) error {
	out := struct {
		Schema   string     `json:"schema"`
		Baseline string     `json:"baseline"`
		Incident string     `json:"incident"`
		Summary  string     `json:"summary"`
		Nodes    []jsonPair `json:"nodes"`
		Notes    []string   `json:"notes"`
	}{"plegforensics/compare/v1", report.Visible(res.BaselineLabel), report.Visible(res.IncidentLabel), report.Visible(res.Summary), []jsonPair{}, []string{}}
	for _, p := range res.Pairs {
		j := jsonPair{report.Visible(p.Baseline), report.Visible(p.Incident), []jsonRow{}}
		for _, r := range p.Rows {
			x := jsonRow{r.Group, report.Visible(r.What), report.Visible(r.Baseline), report.Visible(r.Incident), string(r.Verdict), r.Why, "", 0, ""}
			if len(r.Evidence) > 0 && r.Evidence[0].Record != nil {
				pos := r.Evidence[0].Where()
				x.Line, x.Text = pos.Line, report.Quote(r.Evidence[0].Quote())
				if pos.File != nil {
					x.File = report.Visible(pos.File.Path)
				}
			}
			j.Rows = append(j.Rows, x)
		}
		out.Nodes = append(out.Nodes, j)
	}
	for _, n := range res.Notes {
		out.Notes = append(out.Notes, report.Visible(n))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func writeMarkdown(w io.Writer, res Result, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# PLEG comparison\n\n%s\n", report.Markdown(res.Summary))
	for _, p := range res.Pairs {
		rows, same, noise := shown(p, all)
		fmt.Fprintf(&b, "\n## %s\n\n| | what | %s | %s | verdict | line |\n|---|---|---|---|---|---|\n",
			report.Markdown(title(p)), report.Markdown(res.BaselineLabel), report.Markdown(res.IncidentLabel))
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Group, report.Markdown(r.What), report.Markdown(r.Baseline),
				report.Markdown(r.Incident), r.Verdict, report.Markdown(where(r)))
		}
		if l := left(same, noise, all); l != "" {
			fmt.Fprintf(&b, "\n%s\n", l)
		}
	}
	for _, n := range res.Notes {
		fmt.Fprintf(&b, "\n- %s\n", report.Markdown(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var page = template.Must(template.New("compare").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{{.StyleHash}}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><meta name="generator" content="plegforensics">
<title>PLEG comparison: {{.Baseline}}, {{.Incident}}</title>{{.Style}}</head><body><main>
<h1>PLEG comparison</h1><p class="summary">{{.Summary}}</p>
{{range .Pairs}}<section><h2>{{.Title}}</h2>{{if .Groups}}<div class="scroll" tabindex="0" role="region" aria-label="{{.Title}}"><table class="compare">
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
	Groups      []pageGroup
}

func writeHTML(w io.Writer, res Result, all bool) error {
	data := struct {
		StyleHash                   string
		Style                       template.HTML
		Summary, Baseline, Incident string
		Pairs                       []pagePair
		Notes                       []string
	}{report.StyleHash(), report.Style(), report.Visible(res.Summary), report.Visible(res.BaselineLabel), report.Visible(res.IncidentLabel), nil, nil}
	for _, p := range res.Pairs {
		rows, same, noise := shown(p, all)
		x := pagePair{Title: report.Visible(title(p)), Left: left(same, noise, all)}
		for i, r := range rows {
			if i == 0 || rows[i-1].Group != r.Group {
				x.Groups = append(x.Groups, pageGroup{Name: r.Group})
			}
			g := &x.Groups[len(x.Groups)-1]
			row := pageRow{report.Visible(r.What), report.Visible(r.Baseline), report.Visible(r.Incident), string(r.Verdict), r.Why, report.Visible(where(r)), ""}
			if row.Where != "" {
				row.Text = report.Quote(r.Evidence[0].Quote())
			}
			g.Rows = append(g.Rows, row)
		}
		data.Pairs = append(data.Pairs, x)
	}
	for _, n := range res.Notes {
		data.Notes = append(data.Notes, report.Visible(n))
	}
	return page.Execute(w, data)
}
