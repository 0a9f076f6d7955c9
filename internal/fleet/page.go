package fleet

import (
	"html/template"
	"io"

	"github.com/plegforensics/plegforensics/internal/report"
)

var page = template.Must(template.New("fleet").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{{.StyleHash}}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="generator" content="plegforensics">
<meta name="description" content="{{.Headline}}">
<title>PLEG fleet report</title>{{.Style}}</head><body><main>
<h1>PLEG fleet report</h1><p class="summary">{{.Headline}}</p>
{{range .Sections}}<section><h2>{{.Title}}</h2><div class="scroll" tabindex="0" role="region" aria-label="{{.Title}}"><table>
<thead><tr>{{range .Columns}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</tbody></table></div></section>
{{end}}</main><footer><p>plegforensics {{.Version}}</p></footer></body></html>
`))

type pageSection struct {
	Title   string
	Columns []string
	Rows    [][]string
}

// writeHTML writes one page without scripts; it shows every row, because it
// scrolls.
func writeHTML(w io.Writer, v *View, _ bool) error {
	data := struct {
		StyleHash         string
		Style             template.HTML
		Headline, Version string
		Sections          []pageSection
	}{report.StyleHash(), report.Style(), v.headline(), v.Header.Tool, nil}
	for _, s := range v.sections(true) {
		data.Sections = append(data.Sections, pageSection{s.title, s.columns, s.rows})
	}
	return page.Execute(w, data)
}
