package timeline

import (
	"maps"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Histogram counts all dated known messages of one source, including those that a thinner leaves out of
// a lane.
type Histogram struct {
	Source string `json:"name"`
	Total  int    `json:"total"`
	Bins   []int  `json:"i"` // numbers of the non-empty bins, counted from the start of the window
	Counts []int  `json:"n"` // three per bin, by weight: normal, suspect, bad
}

// steps are human-friendly distances between ticks and bin widths.
var steps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour}

// Step returns the smallest step that fits into span at most most times.
func Step(span time.Duration, most int) time.Duration {
	for _, s := range steps {
		if span/s <= time.Duration(most) {
			return s
		}
	}
	return span/time.Duration(most) + 1
}

// Histograms returns the histograms of all sources, sorted by name. Bins are counted from base.
func Histograms(n *model.Node, base model.Time, width time.Duration) []Histogram {
	counts := map[string]map[int][3]int{}
	n.History.Lines.Each(func(l model.Line) {
		if counts[l.Source] == nil {
			counts[l.Source] = map[int][3]int{}
		}
		bin := int((l.At - base) / model.Time(width))
		m := Mark{Kind: Line, State: string(rune(l.Severity))}
		c := counts[l.Source][bin]
		c[m.Weight()-1]++
		counts[l.Source][bin] = c
	})
	out := []Histogram{}
	for _, source := range slices.Sorted(maps.Keys(counts)) {
		h := Histogram{Source: source}
		for _, bin := range slices.Sorted(maps.Keys(counts[source])) {
			c := counts[source][bin]
			h.Total += c[0] + c[1] + c[2]
			h.Bins, h.Counts = append(h.Bins, bin), append(h.Counts, c[:]...)
		}
		out = append(out, h)
	}
	return out
}
