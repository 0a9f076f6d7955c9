package fleet

import (
	_ "embed"
	"encoding/json"
	"io"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
)

// SchemaJSON is the JSON Schema of the fleet report.
//
//go:embed schema.json
var SchemaJSON string

// The types below are schema plegforensics/fleet/v1. Times are RFC 3339 in UTC
// or null, durations seconds.
type (
	jsonFleet struct {
		Schema       string            `json:"schema"`
		Tool         jsonTool          `json:"tool"`
		Bundles      jsonBundles       `json:"bundles"`
		Nodes        []jsonNode        `json:"nodes"`
		Days         []jsonDay         `json:"days"`
		Causes       []jsonRank        `json:"causes"`
		Correlations []jsonCorrelation `json:"correlations"`
		Outliers     []jsonOutlier     `json:"outliers"`
		Versions     []jsonVersions    `json:"versions"`
		Problems     []jsonProblem     `json:"problems"`
	}
	jsonTool struct {
		Version string `json:"version"`
		Rules   string `json:"rules"`
		Options string `json:"options"`
	}
	jsonBundles struct {
		Total    int `json:"total"`
		Analysed int `json:"analysed"`
		Partial  int `json:"partial"`
		Nothing  int `json:"nothing"`
		Deadline int `json:"deadline"`
		Failed   int `json:"failed"`
	}
	jsonNode struct {
		Kind     string        `json:"kind,omitempty"` // ndjson only
		Name     string        `json:"name"`
		Bundles  []string      `json:"bundles"`
		Status   string        `json:"status"`
		Summary  string        `json:"summary"`
		Kubelet  string        `json:"kubelet"`
		Runtime  string        `json:"runtime"`
		Kernel   string        `json:"kernel"`
		OS       string        `json:"os"`
		Relists  int           `json:"relists_proven"`
		P99      float64       `json:"relist_p99_seconds"`
		Episodes []jsonEpisode `json:"episodes"`
		Causes   []Cause       `json:"causes"`
		Breaches []jsonBreach  `json:"breaches"`
		Proof    []Quote       `json:"evidence"`
	}
	jsonEpisode struct {
		Breach    *string  `json:"breach"`
		Recovered *string  `json:"recovered"`
		PeakAge   float64  `json:"peak_age_seconds"`
		Stuck     string   `json:"stuck_step"`
		Causes    []string `json:"causes"`
	}
	jsonBreach struct {
		Rule     string  `json:"rule"`
		Severity string  `json:"severity"`
		Count    int     `json:"count"`
		First    *string `json:"first"`
		Proof    []Quote `json:"evidence"`
	}
	jsonDay struct {
		Node      string  `json:"node"`
		Date      string  `json:"date"`
		Episodes  int     `json:"episodes"`
		Unhealthy float64 `json:"unhealthy_seconds"`
	}
	jsonRank struct {
		Kind       string   `json:"kind,omitempty"`
		ID         string   `json:"id"`
		Title      string   `json:"title"`
		Nodes      []string `json:"nodes"`
		Episodes   int      `json:"episodes"`
		Confidence float64  `json:"confidence"`
		Proof      []Quote  `json:"evidence"`
	}
	jsonCorrelation struct {
		Kind    string   `json:"kind"`
		Summary string   `json:"summary"`
		Nodes   []string `json:"nodes"`
		Start   *string  `json:"start"`
		End     *string  `json:"end"`
		Cause   string   `json:"cause,omitempty"`
		Object  string   `json:"object,omitempty"`
		Proof   []Quote  `json:"evidence"`
	}
	jsonOutlier struct {
		Node   string  `json:"node"`
		What   string  `json:"what"`
		Value  float64 `json:"value"`
		Median float64 `json:"median"`
		Unit   string  `json:"unit"`
	}
	jsonVersions struct {
		Kubelet   string `json:"kubelet"`
		Runtime   string `json:"runtime"`
		Kernel    string `json:"kernel"`
		OS        string `json:"os"`
		Nodes     int    `json:"nodes"`
		Unhealthy int    `json:"unhealthy"`
		Episodes  int    `json:"episodes"`
	}
	jsonProblem struct {
		Kind     string `json:"kind,omitempty"`
		Bundle   string `json:"bundle"`
		Status   Status `json:"status"`
		Warnings int    `json:"warnings"`
		Error    string `json:"error,omitempty"`
	}
)

func writeJSON(w io.Writer, v *View, _ bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	j := toJSON(v)
	report.Scrub(&j)
	return e.Encode(j)
}

// writeNDJSON writes a line for each node, cause, correlation and problem.
func writeNDJSON(w io.Writer, v *View, _ bool) error {
	j := toJSON(v)
	report.Scrub(&j)
	var lines []any
	for _, x := range j.Nodes {
		x.Kind = "node"
		lines = append(lines, x)
	}
	for _, x := range j.Causes {
		x.Kind = "cause"
		lines = append(lines, x)
	}
	for _, x := range j.Correlations {
		lines = append(lines, x)
	}
	for _, x := range j.Problems {
		x.Kind = "problem"
		lines = append(lines, x)
	}
	for _, l := range lines {
		if err := report.MarkedLine(w, "fleet-line", l); err != nil {
			return err
		}
	}
	return nil
}

func toJSON(v *View) jsonFleet {
	j := jsonFleet{Schema: "plegforensics/fleet/v1", Tool: jsonTool{v.Header.Tool, v.Header.Rules, v.Header.Options},
		Bundles: jsonBundles{v.Bundles, v.By[Analysed], v.By[Partly], v.By[Nothing], v.By[Deadline], v.By[Failed]},
		Nodes:   []jsonNode{}, Days: []jsonDay{}, Causes: []jsonRank{}, Correlations: []jsonCorrelation{},
		Outliers: []jsonOutlier{}, Versions: []jsonVersions{}, Problems: []jsonProblem{}}
	for _, m := range v.Nodes {
		j.Nodes = append(j.Nodes, memberJSON(m))
	}
	for _, d := range v.Days {
		j.Days = append(j.Days, jsonDay{d.Node, d.Date, d.Episodes, d.Unhealthy.Seconds()})
	}
	for _, c := range v.Causes {
		j.Causes = append(j.Causes, jsonRank{"", c.ID, c.Title, c.Nodes, c.Episodes, c.Confidence, full(c.Proof)})
	}
	for _, c := range v.Correlations {
		j.Correlations = append(j.Correlations, jsonCorrelation{c.Kind, c.Summary, c.Nodes, stamp(c.Start), stamp(c.End), c.Cause, c.Object, full(c.Proof)})
	}
	for _, o := range v.Outliers {
		j.Outliers = append(j.Outliers, jsonOutlier(o))
	}
	for _, x := range v.Versions {
		j.Versions = append(j.Versions, jsonVersions(x))
	}
	for _, r := range v.Problems {
		j.Problems = append(j.Problems, jsonProblem{"", r.Name, r.Status, r.Warnings, r.Error})
	}
	return j
}

func memberJSON(m *Member) jsonNode {
	j := jsonNode{Name: m.Name, Bundles: m.Bundles, Status: m.Status, Summary: m.Summary, Kubelet: m.Kubelet, Runtime: m.Runtime, Kernel: m.Kernel,
		OS: m.OS, Relists: m.Relists, P99: m.P99, Episodes: []jsonEpisode{}, Causes: append([]Cause{}, m.Causes...), Breaches: []jsonBreach{}, Proof: full(m.Proof)}
	for _, e := range m.Episodes {
		x := jsonEpisode{stamp(e.Breach), stamp(e.Recovered), e.PeakAge, e.Stuck, []string{}}
		for _, c := range e.Causes {
			x.Causes = append(x.Causes, c.ID)
		}
		j.Episodes = append(j.Episodes, x)
	}
	for _, b := range m.Breaches {
		j.Breaches = append(j.Breaches, jsonBreach{b.Rule, b.Severity, b.Count, stamp(b.First), full(b.Proof)})
	}
	return j
}

func full(qs []Quote) []Quote { return append([]Quote{}, qs...) }

// stamp formats Unix ns as RFC 3339 in UTC, nil for unknown.
func stamp(at int64) *string {
	if at == 0 {
		return nil
	}
	s := time.Unix(0, at).UTC().Format("2006-01-02T15:04:05.000000000Z")
	return &s
}
