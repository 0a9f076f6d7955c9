package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// everGrowing counts all allocations of the Go runtime. Serving a scrape allocates,
// so no two snapshots of a process have the same value.
const everGrowing = "go_memstats_alloc_bytes_total"

// dropCopies keeps one of the snapshots that agree in every sample, including
// everGrowing: the others are copies under other names. It keeps the one with the
// best-known time, of these the earliest, since a copy is never older than its
// original.
func dropCopies(series []*parse.Series, scrapes []*parse.Scrape, warnings []parse.Warning) ([]*parse.Series, []*parse.Scrape, []parse.Warning) {
	copies := map[*parse.Scrape]*parse.Scrape{} // copy to original
	for _, x := range series {
		if x.Name != everGrowing {
			continue
		}
		byValue := map[uint64][]*parse.Scrape{}
		for _, p := range x.Points {
			v := math.Float64bits(p.V)
			if have := byValue[v]; p.Src.Since == 0 && (len(have) == 0 || have[len(have)-1] != p.Src) {
				byValue[v] = append(have, p.Src)
			}
		}
		for _, alike := range byValue {
			slices.SortFunc(alike, func(a, b *parse.Scrape) int {
				return cmp.Or(cmp.Compare(b.Basis, a.Basis), compareScrapes(a, b))
			})
			for _, sc := range alike[1:] {
				copies[sc] = alike[0]
			}
		}
	}
	if len(copies) == 0 {
		return series, scrapes, warnings
	}
	for _, x := range series {
		values := map[*parse.Scrape]uint64{}
		for _, p := range x.Points {
			values[p.Src] = math.Float64bits(p.V)
		}
		for sc, of := range copies {
			v, ok := values[sc]
			if w, have := values[of]; ok != have || v != w {
				delete(copies, sc)
			}
		}
	}
	for _, sc := range scrapes {
		if of := copies[sc]; of != nil {
			warnings = append(warnings, parse.Warning{Pos: sc.Where(), Note: true, Msg: "the snapshot agrees in every counter with " + of.File.Path + ", which no two of a process do: it is a copy and proves nothing of its own time"})
		}
	}
	copied := func(sc *parse.Scrape) bool { return copies[sc] != nil }
	for _, x := range series {
		x.Points = slices.DeleteFunc(x.Points, func(p parse.Point) bool { return copied(p.Src) })
		x.Histograms = slices.DeleteFunc(x.Histograms, func(p parse.HistogramPoint) bool { return copied(p.Src) })
	}
	return series, slices.DeleteFunc(scrapes, copied), warnings
}
