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

// fewOf keeps what broke a rule, or of very many the first, the last, what lies in an
// episode and the worst; the others are only counted.
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

// inEpisode reports whether a stretch of time touches an episode.
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

// fold bounds the breaches of each rule that there are too many of.
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

// Crossed is how many breaches each rule has, by its id.
type Crossed map[string]int

// Sum is how many there are of all rules.
func (c Crossed) Sum() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// crossed counts breaches by their rule, also those that are not kept.
func (v *view) crossed(breaches []Breach) Crossed {
	out := Crossed(maps.Clone(v.folded))
	for i := range breaches {
		out[breaches[i].Rule]++
	}
	return out
}

// tooMany tells of what there was too much to keep, or to read, one by one.
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
