package rules

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestMetricQuotesOne checks that the value in a sentence is that of the record that is quoted, where several
// series match.
func TestMetricQuotesOne(t *testing.T) {
	series := func(v float64) *parse.Series {
		return &parse.Series{Name: "m", Points: []parse.Point{{At: 1, V: v, Src: &parse.Scrape{File: &parse.File{Path: "metrics.txt"}}}}}
	}
	n := &replay.Node{}
	n.Series = []*parse.Series{series(3), series(7)}
	o := nodeSubject(newView(n)).evalMetric(&Clause{Metric: "m", Num: parseNum("> 0"), Reduce: "last"})
	if len(o.records) != 2 || o.vars["value"] != "3" {
		t.Errorf("%d records, value %q; want 2 and that of the first", len(o.records), o.vars["value"])
	}
}
