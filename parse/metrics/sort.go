package metrics

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// manySeries is the number of series from which sortSeries sorts by text.
const manySeries = 10_000

// sortSeries sorts the series of one exporter like CompareSeries. A comparison
// touches six places in memory, which causes more cache misses the more series
// there are; for many series it first copies the texts into one buffer.
func sortSeries(xs []*parse.Series) {
	if len(xs) < manySeries || slices.IsSortedFunc(xs, CompareSeries) {
		slices.SortFunc(xs, CompareSeries)
		return
	}
	size := 0
	for _, x := range xs {
		size += len(x.Name) + 1
		for _, f := range x.Labels {
			size += len(f.Name) + len(f.Value) + 2
		}
	}
	texts, all := make([]seriesText, len(xs)), make([]byte, 0, size)
	for i, x := range xs {
		from, plain := len(all), true
		all = append(append(all, x.Name...), 0)
		for _, f := range x.Labels {
			all = append(append(append(append(all, f.Name...), 0), f.Value...), 0)
			plain = plain && f.Name != ""
		}
		texts[i] = seriesText{text: all[from:], series: x}
		if !plain || bytes.Count(texts[i].text, []byte{0}) != 1+2*len(x.Labels) {
			slices.SortFunc(xs, CompareSeries) // a zero byte in a text makes the end of its parts ambiguous
			return
		}
	}
	sortTexts(texts, 0)
	for i := range texts {
		xs[i] = texts[i].series
	}
}

// seriesText is the name of a series and the names and values of its labels, each
// followed by a zero byte.
type seriesText struct {
	next   uint64 // the eight bytes of text being compared, big-endian
	text   []byte
	series *parse.Series
}

// sortTexts sorts texts whose first same bytes are equal.
func sortTexts(ts []seriesText, same int) {
	for i := range ts {
		var eight [8]byte
		copy(eight[:], ts[i].text[min(same, len(ts[i].text)):])
		ts[i].next = binary.BigEndian.Uint64(eight[:])
	}
	slices.SortFunc(ts, func(a, b seriesText) int { return cmp.Compare(a.next, b.next) })
	for from := 0; from < len(ts); {
		to := from + 1
		for to < len(ts) && ts[to].next == ts[from].next {
			to++
		}
		if run := ts[from:to]; len(run) < 16 {
			slices.SortFunc(run, func(a, b seriesText) int { return bytes.Compare(a.text, b.text) })
		} else if slices.ContainsFunc(run, func(t seriesText) bool { return len(t.text) > same+8 }) {
			sortTexts(run, same+8)
		}
		from = to
	}
}
