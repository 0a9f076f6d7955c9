package query

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestWorkOfSeries checks that a series costs more than the sample that it has: a query over very many of one sample
// each spends its time on their labels.
func TestWorkOfSeries(t *testing.T) {
	n := &replay.Node{}
	sc := &parse.Scrape{File: &parse.File{Path: "m"}, Stamp: parse.Stamp{At: 1e18, Basis: parse.Stated}}
	for i := range 1000 {
		n.Series = append(n.Series, &parse.Series{Name: "x", Labels: []parse.Field{{Name: "l", Value: fmt.Sprint(i)}}, Points: []parse.Point{{At: sc.At, V: 1, Src: sc}}})
	}
	db, at := Open(NewStore([]*replay.Node{n})), time.Unix(1e9, 0)
	for _, expr := range []string{"x", "rate(x[5m])", "sum(x)"} {
		if work := db.Work(expr, at, at, 0); work < 1000*seriesWork || work > 2000*seriesWork {
			t.Errorf("%s: %g", expr, work)
		}
	}
}
