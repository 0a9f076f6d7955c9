package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Histogram counts the dated known messages of one source, all of them: what a
// lane of marks leaves out is in it.
type Histogram struct {
	Source string
	Total  int
	Bins   []Bin // by time, without the empty ones
}

// Bin counts the messages from Index times the width of a bin after the begin
// of the window, by weight: unremarkable, suspect, wrong.
type Bin struct {
	Index int
	Count [3]int
}

// Steps are distances of ticks and widths of bins that people read easily.
var Steps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour}

// BinWidth is the least width of which at most most cover the window.
func BinWidth(w model.Window, most int) time.Duration {
	for _, b := range Steps {
		if int64(w.End-w.Start)/int64(b) < int64(most) {
			return b
		}
	}
	return time.Duration(int64(w.End-w.Start)/int64(most) + 1)
}

// Histograms are those of all sources, by name; bins are counted from base.
func Histograms(n *model.Node, base model.Time, width time.Duration) []Histogram {
	type key struct {
		source string
		bin    int
	}
	counts := map[key]*[3]int{}
	n.History.Lines.Each(func(l model.Line) {
		k := key{l.Source, int((l.At - base) / model.Time(width))}
		c := counts[k]
		if c == nil {
			c = new([3]int)
			counts[k] = c
		}
		m := Mark{Kind: Line, State: string(rune(l.Severity))}
		c[m.Weight()-1]++
	})
	index := map[string]int{}
	var out []Histogram
	for k, c := range counts {
		i, known := index[k.source]
		if !known {
			i = len(out)
			index[k.source] = i
			out = append(out, Histogram{Source: k.source})
		}
		out[i].Total += c[0] + c[1] + c[2]
		out[i].Bins = append(out[i].Bins, Bin{k.bin, *c})
	}
	slices.SortFunc(out, func(a, b Histogram) int { return cmp.Compare(a.Source, b.Source) })
	for i := range out {
		slices.SortFunc(out[i].Bins, func(a, b Bin) int { return a.Index - b.Index })
	}
	return out
}
