package alerts

import (
	"context"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"

	"github.com/plegforensics/plegforensics/parse"
)

// Expander expands the templates of labels and annotations as a server does.
type Expander struct {
	Alert          string
	ExternalLabels map[string]string
	ExternalURL    string
	Query          template.QueryFunc // used by {{ query }}
}

// Expand expands texts with the labels and the value of a sample, sorted by name. A template that
// fails expands to its error.
func (x *Expander) Expand(ctx context.Context, texts map[string]string, s promql.Sample) []parse.Field {
	const defs = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	ext := x.ExternalLabels
	if ext == nil {
		ext = map[string]string{}
	}
	data := template.AlertTemplateData(s.Metric.Map(), ext, x.ExternalURL, s)
	var out []parse.Field
	for _, name := range sorted(texts) {
		if !strings.Contains(texts[name], "{{") {
			out = append(out, parse.Field{Name: name, Value: texts[name]})
			continue
		}
		t := template.NewTemplateExpander(ctx, defs+texts[name], "__alert_"+x.Alert, data, model.Time(s.T), x.Query, nil, nil)
		text, err := t.Expand()
		if err != nil {
			text = "<error expanding template: " + err.Error() + ">"
		}
		out = append(out, parse.Field{Name: name, Value: text})
	}
	return out
}

func sorted(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
