package host

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Mixed returns two lines that two nodes wrote in what was taken for one node's records: in a file without host names,
// lines of kubelets with equal process IDs cannot be told apart. Two nodes are named at the same time, or by processes
// with the ID 1 or none, as of kubelets in containers; or a relist is the last one before and after another one is.
func (n *Records) Mixed(v *Survey) (a, b *parse.Event) {
	type named struct {
		Span
		first *parse.Event
		alike bool // some process that names it has an ID that another kubelet may have, and no host
	}
	by := map[string]*named{}
	v.Index.Each(KindNotReady|KindNodeEvent|KindNamed, func(i int, e *parse.Event, _ Kinds) {
		if name := ObjectName(e.Field("node")); name != "" && e.Origin.Source == parse.SrcKubelet && e.Basis != parse.NoTime {
			if by[name] == nil {
				by[name] = &named{first: e}
			}
			by[name].Add(e.At)
			by[name].alike = by[name].alike || e.Origin.PID <= 1 && e.Origin.Host == ""
		}
	})
	names := slices.SortedFunc(maps.Keys(by), func(x, y string) int { return cmp.Or(cmp.Compare(by[x].From, by[y].From), strings.Compare(x, y)) })
	for i, last := 1, 0; i < len(names); i++ {
		p, q := by[names[last]], by[names[i]]
		if (q.From <= p.To || p.alike && q.alike && p.first.File == q.first.File) && !SameHost(names[last], names[i]) {
			return p.first, q.first
		}
		if q.To > p.To {
			last = i
		}
	}
	return v.woven()
}

// woven returns two lines of one process of which the first does not fit between the second, a report, and an earlier
// one: these name the same relist as the last one, so that all reports in between are of that relist too, and its age only
// grows, whatever is done to the clock; nor does the sync loop work in between.
func (v *Survey) woven() (a, b *parse.Event) {
	type report struct {
		*parse.Event
		age int64
	}
	by := map[groupKey][]report{} // by file and origin
	v.Index.Each(KindAge, func(_ int, e *parse.Event, k Kinds) {
		age, err := time.ParseDuration(e.Field("age"))
		if k&KindSkip != 0 && e.Origin.Source == parse.SrcKubelet && e.Origin.Host == "" && e.Headed && err == nil && e.Basis != parse.NoTime {
			of := groupKey{File: e.File, Origin: e.Origin}
			by[of] = append(by[of], report{e, int64(age)})
		}
	})
	const second = int64(time.Second)
	for _, list := range by {
		slices.SortFunc(list, func(x, y report) int { return cmp.Compare(x.Line, y.Line) })
		seen := map[int64]report{} // the latest report of each relist, by the second of its start
		for i, x := range list {
			began := x.At - x.age
			for k := began/second - 1; k <= began/second+1; k++ {
				old, known := seen[k]
				if !known || old.Event == list[i-1].Event {
					continue
				}
				y, d := list[i-1], old.At-old.age-began
				if max(d, -d) <= second && (y.age < old.age-second || y.age > x.age+second) && (b == nil || x.Where().Before(b.Where())) {
					a, b = y.Event, x.Event
				}
			}
			seen[began/second] = x
		}
	}
	if len(by) == 0 {
		return a, b
	}
	const apart = 5 * int64(time.Millisecond) // lines of one moment may be in any order
	v.Index.Each(KindWork, func(_ int, e *parse.Event, k Kinds) {
		list := by[groupKey{File: e.File, Origin: e.Origin}]
		if len(list) < 2 || k&KindSkip != 0 || e.Basis == parse.NoTime || e.Res.Duration() >= time.Second {
			return
		}
		i := sort.Search(len(list), func(i int) bool { return list[i].Line > e.Line })
		if i == 0 || i == len(list) || e.At-list[i-1].At < apart || list[i].At-e.At < apart || b != nil && !list[i].Where().Before(b.Where()) {
			return
		}
		if d := list[i].At - list[i].age - list[i-1].At + list[i-1].age; max(d, -d) <= second {
			a, b = e, list[i].Event
		}
	})
	return a, b
}
