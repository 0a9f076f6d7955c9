package compare

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
)

// The charts of a pair share their axes, so that they can be compared. Zero is the breach, or the
// middle of the window for a node without one.
const (
	chartBefore = 10 * time.Minute
	chartAfter  = 5 * time.Minute
	chartWidth  = 1000.0
	chartHeight = 120.0
)

// side is one of the two nodes of a pair.
type side struct {
	node *replay.Node
	zero int64
	main *replay.Episode // episode with the highest peak age, nil if there is none
}

func sideOf(n *replay.Node) side {
	s := side{node: n, zero: n.Window.Start + (n.Window.End-n.Window.Start)/2}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if s.main == nil || e.PeakAge > s.main.PeakAge {
			s.main = e
		}
	}
	if e := s.main; e != nil {
		s.zero = e.Breach
		if s.zero == 0 {
			s.zero = e.FirstReport
		}
	}
	return s
}

// charts draws both sides on the same axes.
func charts(base, incident *replay.Node) []model.CompareChart {
	sides := []side{sideOf(base), sideOf(incident)}
	after, top := chartAfter, 0.0
	for _, s := range sides {
		if e := s.main; e != nil {
			after = max(after, time.Duration(max(e.Recovered.At, e.LastReport)-s.zero)+chartAfter)
			top = max(top, e.PeakAge.Seconds())
		}
		top = max(top, s.node.Kubelet.Threshold.Seconds())
	}
	var out []model.CompareChart
	for _, s := range sides {
		out = append(out, s.chart(after, top*1.1+1))
	}
	return out
}

func (s *side) chart(after time.Duration, top float64) model.CompareChart {
	from, to := s.zero-int64(chartBefore), s.zero+int64(after)
	x := func(at int64) float64 { return chartWidth * float64(min(max(at, from), to)-from) / float64(to-from) }
	y := func(seconds float64) float64 { return chartHeight * (1 - min(seconds, top)/top) }
	c := model.CompareChart{Zero: x(s.zero), Limit: -1, About: "no breach proven; the middle of its log stands at the line"}
	if s.main != nil {
		c.About = fmt.Sprintf("breach at %s, reported age up to %s", report.Date(s.zero), report.Span(s.main.PeakAge))
	}
	if l := s.node.Kubelet.Threshold; l > 0 {
		c.Limit = y(l.Seconds())
	}
	c.About += fmt.Sprintf("; from 0 to %s", report.Span(time.Duration(top*1e9)))
	if l := s.node.Kubelet.Threshold; l > 0 {
		c.About += ", dashed: threshold " + report.Span(l)
	}
	c.From, c.To = "−"+report.Span(chartBefore), "+"+report.Span(after)
	for _, h := range s.node.Health {
		end := h.To
		if end == 0 {
			end = s.node.Window.End
		}
		state := map[replay.HealthState]string{replay.Healthy: "good", replay.Unhealthy: "bad", replay.NeverRelisted: "bad"}[h.State]
		if w := x(end) - x(h.From); state != "" && w > 0 {
			c.Health = append(c.Health, model.CompareBar{State: state, X: x(h.From), Width: w})
		}
	}
	var band strings.Builder
	for _, a := range age.Of(s.node) {
		if a.To <= from || a.From >= to || a.High0 == age.Unknown || x(a.To)-x(a.From) < 0.05 {
			continue
		}
		fmt.Fprintf(&band, "M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ", x(a.From), y(a.Low0.Seconds()), x(a.To), y(a.Low1.Seconds()), x(a.To), y(a.High1.Seconds())-1, x(a.From), y(a.High0.Seconds())-1)
	}
	c.Band = band.String()
	return c
}
