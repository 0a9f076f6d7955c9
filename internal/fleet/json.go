package fleet

import (
	"io"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/pleg"
)

func writeJSON(w io.Writer, v *View, _ report.Options) error {
	return report.Encode(w, v.document())
}

// writeNDJSON writes a line for each node, cause, correlation and problem.
func writeNDJSON(w io.Writer, v *View, _ report.Options) error {
	j := v.document()
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

// document returns the View as plegforensics/fleet/v1. The strings of records are already escaped.
func (v *View) document() *model.Fleet {
	j := &model.Fleet{Schema: "plegforensics/fleet/v1", Tool: model.FleetTool{Version: v.Header.Tool, Rules: v.Header.Rules, Options: v.Header.Options},
		Bundles: model.FleetBundles{Total: v.Bundles, Analysed: v.By[Analysed], Partial: v.By[Partly], Nothing: v.By[Nothing], Deadline: v.By[Deadline], Failed: v.By[Failed]},
		Nodes:   []model.FleetNode{}, Days: []model.FleetDay{}, Causes: []model.FleetCause{}, Correlations: []model.FleetCorrelation{},
		Outliers: []model.FleetOutlier{}, Versions: []model.FleetVersions{}, Problems: []model.FleetProblem{}}
	for _, m := range v.Nodes {
		j.Nodes = append(j.Nodes, memberJSON(m))
	}
	for _, d := range v.Days {
		j.Days = append(j.Days, model.FleetDay{Node: d.Node, Date: d.Date, Episodes: d.Episodes, Unhealthy: d.Unhealthy.Seconds()})
	}
	for _, c := range v.Causes {
		j.Causes = append(j.Causes, model.FleetCause{ID: c.ID, Title: c.Title, Nodes: c.Nodes, Episodes: c.Episodes, Confidence: c.Confidence, Proof: full(c.Proof)})
	}
	for _, c := range v.Correlations {
		j.Correlations = append(j.Correlations, model.FleetCorrelation{Kind: c.Kind, Summary: c.Summary, Nodes: c.Nodes,
			Start: model.Time(c.Start), End: model.Time(c.End), Cause: c.Cause, Object: c.Object, Proof: full(c.Proof)})
	}
	for _, o := range v.Outliers {
		j.Outliers = append(j.Outliers, model.FleetOutlier(o))
	}
	for _, x := range v.Versions {
		j.Versions = append(j.Versions, model.FleetVersions(x))
	}
	for _, r := range v.Problems {
		j.Problems = append(j.Problems, model.FleetProblem{Bundle: r.Name, Status: string(r.Status), Warnings: r.Warnings, Error: r.Error})
	}
	return j
}

func memberJSON(m *Member) model.FleetNode {
	j := model.FleetNode{Name: m.Name, Bundles: m.Bundles, Status: m.Status, Summary: m.Summary, Kubelet: m.Kubelet, Rules: pleg.Beyond(m.Kubelet), Runtime: m.Runtime, Kernel: m.Kernel,
		OS: m.OS, Relists: m.Relists, P99: m.P99, Episodes: []model.FleetEpisode{}, Causes: append([]Cause{}, m.Causes...), Breaches: []model.FleetBreach{}, Proof: full(m.Proof)}
	for _, e := range m.Episodes {
		x := model.FleetEpisode{Breach: model.Time(e.Breach), Recovered: model.Time(e.Recovered), PeakAge: e.PeakAge, Stuck: e.Stuck, Causes: []string{}}
		for _, c := range e.Causes {
			x.Causes = append(x.Causes, c.ID)
		}
		j.Episodes = append(j.Episodes, x)
	}
	for _, b := range m.Breaches {
		j.Breaches = append(j.Breaches, model.FleetBreach{Rule: b.Rule, Severity: b.Severity, Count: b.Count, First: model.Time(b.First), Proof: full(b.Proof)})
	}
	return j
}

func full(qs []Quote) []Quote { return append([]Quote{}, qs...) }
