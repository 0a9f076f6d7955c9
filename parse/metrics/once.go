package metrics

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// Once merges equal series from several sources, such as a database and its copy or
// a response of its API: of samples with the same time the first is kept. It
// reorders its argument; the result is sorted like that of Set.Finish.
func Once(series []*parse.Series) []*parse.Series {
	if slices.IsSortedFunc(series, func(a, b *parse.Series) int { return cmp.Or(CompareSeries(a, b), -1) }) {
		return series // no two are equal
	}
	slices.SortStableFunc(series, CompareSeries)
	out := series[:0]
	for i := 0; i < len(series); {
		j := i + 1
		for j < len(series) && CompareSeries(series[i], series[j]) == 0 {
			j++
		}
		if j-i > 1 {
			joinAlike(series[i], series[i+1:j])
		}
		out = append(out, series[i])
		i = j
	}
	return out
}

// joinAlike adds the samples of more to x.
func joinAlike(x *parse.Series, more []*parse.Series) {
	for _, y := range more {
		mergeInto(x, y)
		if x.Type == "" || x.Type == "unknown" {
			x.Type = y.Type
		}
	}
	slices.SortStableFunc(x.Points, func(a, b parse.Point) int { return cmp.Compare(a.At, b.At) })
	x.Points = slices.CompactFunc(x.Points, func(a, b parse.Point) bool { return a.At == b.At && a.Src.Basis != parse.NoTime })
	slices.SortStableFunc(x.Histograms, func(a, b parse.HistogramPoint) int { return cmp.Compare(a.At, b.At) })
	x.Histograms = slices.CompactFunc(x.Histograms, func(a, b parse.HistogramPoint) bool { return a.At == b.At })
	slices.SortStableFunc(x.Chunks, func(a, b parse.Chunk) int { return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(a.Max, b.Max)) })
}
