package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// Figures of the questions that are asked about every long relist.
const (
	askThreshold  = 5 * time.Minute
	askRPCTimeout = 30 * time.Second
	askParallel   = 4
	askLatency    = 0.5
	// askVersion no longer inspects a pod twice in one relist.
	askVersion = "v1.32.0"
	// worthLeaving is the share of the long relists from which leaving a pod
	// out is worth a question.
	worthLeaving = 10 // percent
)

// Standard answers the questions that a post-mortem asks about a node, as far
// as its evidence fits them: another threshold, another time-out, without the
// pod that cost most. It returns nil where the log proves no long relist, or
// where those it proves do not explain that PLEG was unhealthy: an answer about
// them would mislead.
func Standard(n *replay.Node, bs []blame.Blame) []*Answer {
	l, err := NewCounterfactual(n, bs)
	if err != nil {
		return nil
	}
	c := l.cost()
	if c.total == 0 {
		return nil
	}
	if why, _ := l.Unproven(); why != "" {
		return nil
	}
	var out []*Answer
	for _, q := range l.questions(&c) {
		var what WhatIf
		for _, change := range q {
			if err := what.Set(change); err != nil {
				return nil
			}
		}
		if _, _, a, err := l.Ask(what); err == nil && a != nil {
			out = append(out, a)
		}
	}
	return out
}

// cost is what the long relists of a node were made of.
type cost struct {
	total     time.Duration
	list      time.Duration
	inspect   time.Duration
	listStuck bool
	pods      []podLoad // summed over relists, the dearest first
}

func (l *Counterfactual) cost() cost {
	var c cost
	at := map[string]int{}
	for i := range l.loads {
		w := &l.loads[i]
		if w.end-w.start < int64(replay.LongRelist) {
			continue
		}
		c.total += time.Duration(w.end - w.start)
		c.list += w.list
		c.listStuck = c.listStuck || w.listStuck
		for _, p := range w.pods {
			key := cmp.Or(p.uid, p.name)
			k, ok := at[key]
			if !ok {
				k = len(c.pods)
				at[key] = k
				c.pods = append(c.pods, podLoad{uid: p.uid, name: p.name})
			}
			c.pods[k].took += p.took
			c.pods[k].stuck += p.stuck
			c.inspect += p.took
		}
	}
	slices.SortStableFunc(c.pods, func(a, b podLoad) int {
		return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
	})
	return c
}

// questions are those that fit, each a set of changes.
func (l *Counterfactual) questions(c *cost) [][]string {
	var out [][]string
	ask := func(changes ...string) { out = append(out, changes) }
	stuck := c.listStuck || slices.ContainsFunc(c.pods, func(p podLoad) bool { return p.stuck > 0 })
	if l.was.Threshold < askThreshold && len(l.asItWas().Unhealthy) > 0 {
		ask("threshold=" + askThreshold.String())
	}
	if stuck && l.was.RPCTimeout > askRPCTimeout {
		ask("rpc-timeout=" + askRPCTimeout.String())
	}
	if worst := c.dear(); len(worst) > 0 {
		ask("without-pod=" + worst[0])
		if len(worst) > 1 {
			var all []string
			for _, name := range worst {
				all = append(all, "without-pod="+name)
			}
			ask(all...)
		}
	}
	if len(c.pods) > 1 && c.inspect > c.total/2 && l.was.Parallel <= 1 {
		ask(fmt.Sprintf("parallel-inspect=%d", askParallel))
	}
	if !stuck && c.list+c.inspect > c.total/2 {
		ask(fmt.Sprintf("runtime-latency=%g", askLatency))
	}
	if stuck && !c.listStuck && l.was.Has(pleg.InspectTwice) {
		ask("kubelet-version=" + askVersion)
	}
	return out
}

// dear are the names of the pods, at most three, that cost enough.
func (c *cost) dear() []string {
	var out []string
	for _, p := range c.pods {
		name := cmp.Or(p.name, p.uid)
		if len(out) == 3 || name == "" || p.took < time.Second || p.took*100 < c.total*worthLeaving {
			break
		}
		out = append(out, name)
	}
	return out
}
