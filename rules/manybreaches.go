package rules

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// fewOf returns all, the breaches of a rule, or if there are more than parse.Many a
// selection: the first, the last, those in an episode and the worst. The others are only
// counted, in v.folded.
func fewOf[T any](v *view, r *BreachRule, all []T, value func(*T) (from, to int64, value float64)) []T {
	if len(all) <= parse.Many {
		return all
	}
	v.folded[r.ID] += len(all) - parse.Many
	return parse.Weightiest(all, parse.Many, func(x *T) int64 {
		from, to, worth := value(x)
		w := int64(min(max(worth*1000, 0), math.MaxInt64/4))
		if v.inEpisode(from, cmp.Or(to, v.n.Window.End)) {
			w += math.MaxInt64 / 2
		}
		return w
	})
}

// inEpisode reports whether a period overlaps the window of an episode. v.stalls caches the
// windows.
func (v *view) inEpisode(from, to int64) bool {
	if v.stalls == nil {
		for i := range v.n.Episodes {
			s := episodeSubject(v, &v.n.Episodes[i])
			v.stalls = append(v.stalls, replay.Span{From: s.from, To: s.to})
		}
		v.stalls = append(joined(v.stalls), replay.Span{From: math.MaxInt64, To: math.MaxInt64})
	}
	i := sort.Search(len(v.stalls), func(i int) bool { return v.stalls[i].To >= from })
	return i < len(v.stalls) && v.stalls[i].From <= to
}

// fold limits the breaches of each rule to parse.Many.
func (v *view) fold(all []Breach) []Breach {
	count := map[string]int{}
	for i := range all {
		count[all[i].Rule]++
	}
	for i := range breachRules {
		r := &breachRules[i]
		if count[r.ID] <= parse.Many {
			continue
		}
		var of, others []Breach
		for _, b := range all {
			if b.Rule == r.ID {
				of = append(of, b)
			} else {
				others = append(others, b)
			}
		}
		all = append(others, fewOf(v, r, of, func(b *Breach) (int64, int64, float64) { return b.Start, b.End, b.Value })...)
	}
	return all
}

// Crossed is the number of breaches by rule ID.
type Crossed map[string]int

// Sum returns the number of breaches of all rules.
func (c Crossed) Sum() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// crossed counts breaches by rule, including those that were not kept.
func (v *view) crossed(breaches []Breach) Crossed {
	out := Crossed(maps.Clone(v.folded))
	for i := range breaches {
		out[breaches[i].Rule]++
	}
	return out
}

// tooMany warns about breaches that were not kept and lines that were not read because
// there were too many.
func (v *view) tooMany(breaches []Breach) (out []parse.Warning) {
	for i := range breachRules {
		id := breachRules[i].ID
		k := v.folded[id]
		if k == 0 {
			continue
		}
		first := slices.IndexFunc(breaches, func(b Breach) bool { return b.Rule == id })
		out = append(out, parse.Counted(breaches[first].Evidence[0].Where(), k+parse.Many, id+" breach", parse.Many, "the first, the last, those in an episode before others, and the worst"))
	}
	for _, id := range slices.Sorted(maps.Keys(v.unread)) {
		out = append(out, parse.Counted(v.unread[id].Where(), v.holder(id).lines, id+" line", mostRead, "the first of each window"))
	}
	return out
}
