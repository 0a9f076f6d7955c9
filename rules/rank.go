package rules

import (
	"maps"
	"math"
	"slices"
	"sort"
)

// rank judges every cause for every subject of the node and returns causes and look-alikes,
// best first.
func rank(v *view, p *Pack, parallel func(tasks ...func())) (causes, alikes []*scored) {
	judged := judgeAll(v, p.Causes, sample(len(v.n.Episodes), mostEpisodes, WorstEpisode(v.n.Episodes)), parallel)
	for i, d := range p.Causes {
		x := judged[i]
		if x == nil || x.conf < possibleFrom {
			continue
		}
		if d.Kind == KindLookAlike {
			alikes = append(alikes, x)
		} else {
			causes = append(causes, x)
		}
	}
	precede(causes)
	lead(causes)
	order(causes)
	order(alikes)
	return causes[:min(len(causes), mostCauses)], alikes
}

// sample returns the indices below n; if there are more than most, the first and last
// most/2, and the one that must be among them.
func sample(n, most, must int) (out []int) {
	for i := 0; i < n; i++ {
		if n <= most || i < most/2 || i >= n-most/2 || i == must {
			out = append(out, i)
		}
	}
	return out
}

// judgeAll judges each cause for the node or for each of the episodes and keeps the
// strongest judgement, with all the episodes that it holds for.
func judgeAll(v *view, causes []*Def, episodes []int, parallel func(tasks ...func())) []*scored {
	all := newJudgements(v, causes, len(episodes))
	if parallel == nil || len(episodes) < 2 {
		v.texts = newLineTests(causes)
		all.node()
		all.judge(episodes)
		return all.settled()
	}
	v.listAll(causes)
	ofNode, others := byScope(causes, len(episodes))
	v.texts = newLineTests(ofNode)
	tasks := []func(){all.node}
	var parts []*judgements
	for _, of := range shares(episodes, mostAtOnce) {
		w := v.fork()
		w.texts = newLineTests(others)
		part := newJudgements(w, causes, len(episodes))
		parts = append(parts, part)
		tasks = append(tasks, func() { part.judge(of) })
	}
	parallel(tasks...)
	for _, part := range parts {
		all.join(part)
	}
	return all.settled()
}

// mostAtOnce is the maximum number of concurrent tasks among which the episodes are
// divided.
const mostAtOnce = 4

// shares divides a list into up to n contiguous sublists.
func shares(all []int, n int) [][]int {
	n = min(n, len(all))
	out := make([][]int, n)
	for i := range out {
		out[i] = all[i*len(all)/n : (i+1)*len(all)/n]
	}
	return out
}

// judgements accumulates what is known about each cause; its slices are parallel to causes.
type judgements struct {
	v        *view
	causes   []*Def
	subjects int // number of episodes of the node
	best     []*scored
	worst    []*scored // for the worst episode
	episodes [][]int   // IDs of the episodes that the cause holds for
}

func newJudgements(v *view, causes []*Def, subjects int) *judgements {
	return &judgements{v, causes, subjects, make([]*scored, len(causes)), make([]*scored, len(causes)), make([][]int, len(causes))}
}

// node judges the causes that apply to the node as a whole.
func (j *judgements) node() {
	whole, failed := nodeSubject(j.v), incidentSubject(j.v)
	j.v.toExplain = j.v.toExplain || len(failed.spans) > 0
	for i, d := range j.causes {
		switch {
		case !d.ofNode(j.subjects), d.Scope == ScopeBreach && j.subjects == 0 && len(failed.slowTimes()) == 0:
		case d.Scope == ScopeNode || d.Kind == KindLookAlike:
			j.best[i] = judge(d, whole)
		default:
			j.best[i] = judge(d, failed)
		}
	}
}

// judge judges the other causes for episodes. Episodes are the outer loop so that the
// events of a period are unpacked once for all causes.
func (j *judgements) judge(episodes []int) {
	worst := WorstEpisode(j.v.n.Episodes)
	for _, k := range episodes {
		s := episodeSubject(j.v, &j.v.n.Episodes[k])
		for i, d := range j.causes {
			if d.ofNode(j.subjects) {
				continue
			}
			x := judge(d, s)
			if x == nil || x.conf < possibleFrom {
				continue
			}
			j.episodes[i] = append(j.episodes[i], s.ep.ID)
			if j.take(i, x); k == worst {
				j.worst[i] = x
			}
		}
	}
}

// take keeps the stronger judgement of a cause.
func (j *judgements) take(i int, x *scored) {
	if j.best[i] == nil || x.conf > j.best[i].conf {
		j.best[i] = x
	}
}

// join merges the judgements of later episodes.
func (j *judgements) join(later *judgements) {
	maps.Copy(j.v.unread, later.v.unread)
	for i, x := range later.best {
		if x != nil {
			j.episodes[i] = append(j.episodes[i], later.episodes[i]...)
			j.take(i, x)
		}
	}
	for i, x := range later.worst {
		if x != nil {
			j.worst[i] = x
		}
	}
}

// settled returns the strongest judgement of each cause. The judgement for the worst
// episode, which is the one that a report describes, is used instead if its level is the
// same.
func (j *judgements) settled() []*scored {
	for i, x := range j.best {
		if w := j.worst[i]; w != nil && w.level == x.level {
			w.conf = x.conf
			j.best[i] = w
		}
		if x != nil {
			j.best[i].episodes = j.episodes[i]
		}
	}
	return j.best
}

// ofNode reports whether a cause is judged for the node as a whole, given the number of
// episodes.
func (d *Def) ofNode(episodes int) bool {
	if episodes == 0 {
		return true
	}
	return d.Scope == ScopeNode || d.Kind == KindLookAlike
}

// byScope divides causes by ofNode.
func byScope(causes []*Def, episodes int) (ofNode, others []*Def) {
	for _, d := range causes {
		if d.ofNode(episodes) {
			ofNode = append(ofNode, d)
		} else {
			others = append(others, d)
		}
	}
	return ofNode, others
}

// precede ranks a reason above its symptom: a likely cause that explains another caps the
// other's confidence just below its own.
func precede(xs []*scored) {
	order(xs)
	by := map[string]*scored{}
	for _, x := range xs {
		by[x.def.ID] = x
	}
	for _, a := range xs {
		if a.conf < likelyFrom {
			continue
		}
		for _, id := range a.def.Explains {
			b := by[id]
			if b == nil || b.explained != nil || explains(b, a.def.ID) {
				continue
			}
			b.explained = a
			if b.def.Kind == KindMechanism {
				b.conf = min(b.conf, possibleMost) // a consequence of the other, not a reason of its own
			}
			below := a.conf - 0.01
			if below < likelyFrom {
				below = math.Nextafter(a.conf, 0) // both stay likely
			}
			b.conf = min(b.conf, below)
			b.level = demote(b)
		}
	}
}

// lead ranks what came first, according to the evidence, above what followed from it, by
// the smallest possible margin: neither weakens the other, and both are reported.
func lead(xs []*scored) {
	order(xs)
	for _, a := range xs {
		if a.conf < likelyFrom {
			continue
		}
		most := a.conf
		for _, b := range xs {
			if b.conf >= most && b.follows(a) {
				most = math.Nextafter(most, 0)
				if b.conf = most; b.conf < confirmFrom {
					b.level = demote(b)
				}
			}
		}
	}
}

// follows reports whether the evidence says that the cause first leads to x.
func (x *scored) follows(first *scored) bool {
	return slices.ContainsFunc(x.contra, func(o outcome) bool { return slices.Contains(o.clause.Leads, first.def.ID) })
}

func explains(a *scored, id string) bool { return slices.Contains(a.def.Explains, id) }

// demote returns the level of a cause that another one explains: a symptom is never the
// confirmed reason.
func demote(x *scored) Level {
	if x.conf < likelyFrom {
		return Possible
	}
	return Likely
}

func order(xs []*scored) {
	sort.SliceStable(xs, func(i, j int) bool {
		a, b := xs[i], xs[j]
		if a.conf != b.conf {
			return a.conf > b.conf
		}
		if a.def.Prior != b.def.Prior {
			return a.def.Prior > b.def.Prior
		}
		return a.def.ID < b.def.ID
	})
}
