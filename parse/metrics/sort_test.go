package metrics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestSortSeries compares sortSeries with CompareSeries for values with common
// prefixes, values that are prefixes of others, and values with zero bytes.
func TestSortSeries(t *testing.T) {
	for name, odd := range map[string][]parse.Field{"plain": nil, "zero byte": {{Name: "a", Value: "\x00"}}, "no name": {{Value: "x"}}} {
		rnd := rand.New(rand.NewPCG(1, 2))
		xs := []*parse.Series{{Name: "m", Labels: odd}}
		for range manySeries {
			x := &parse.Series{Name: []string{"m", "m_total", "mm"}[rnd.IntN(3)]}
			for l := range rnd.IntN(4) {
				x.Labels = append(x.Labels, parse.Field{Name: fmt.Sprint("label", l), Value: strings.Repeat("é", rnd.IntN(30)) + fmt.Sprint(rnd.IntN(4))})
			}
			xs = append(xs, x)
		}
		want := slices.Clone(xs)
		slices.SortFunc(want, CompareSeries)
		sortSeries(xs)
		if !slices.EqualFunc(xs, want, func(a, b *parse.Series) bool { return CompareSeries(a, b) == 0 }) {
			t.Errorf("%s: another order", name)
		}
	}
}
