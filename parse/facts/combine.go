package facts

import (
	"slices"
	"strconv"

	"github.com/plegforensics/plegforensics/parse"
)

// Combined returns facts that follow from several files of a node: the load per
// CPU. Each is positioned at the line of the load.
func Combined(all []*parse.Fact) (out []*parse.Fact) {
	type node struct {
		input int
		name  string
	}
	cpus := map[node]float64{}
	for _, f := range all {
		if f.Key == KeyCPUs && f.File != nil && f.Num > 0 {
			cpus[node{f.File.Input, f.File.Node}] = f.Num
		}
	}
	for _, f := range all {
		if f.Key != KeyLoad5 || f.File == nil || f.Attr("tool") == "sar" {
			continue
		}
		if n := cpus[node{f.File.Input, f.File.Node}]; n > 0 {
			each := *f
			each.Key, each.Num = KeyLoadPerCPU, f.Num/n
			each.Value = strconv.FormatFloat(each.Num, 'f', 2, 64)
			each.Attrs = slices.Clone(f.Attrs)
			out = append(out, &each)
		}
	}
	return out
}
