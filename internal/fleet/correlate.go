package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Kinds of correlations.
const (
	SharedObject     = "shared-object"     // breaches close in time, evidence names the same server or registry
	SharedCause      = "shared-cause"      // breaches close in time, same probable cause
	BreachesTogether = "breaches-together" // breaches close in time, nothing else in common
	SharedVersion    = "shared-version"    // breaches correlate with a version, at any time
)

// Correlation is something that several nodes share.
type Correlation struct {
	Kind    string
	Summary string
	Nodes   []string // sorted
	Start   int64    // first breach, Unix ns; 0 for SharedVersion
	End     int64
	Cause   string // ID, "" if none
	Title   string
	Object  string // "server 10.0.0.9", "" if none
	Proof   []Quote
}

// Breaches belong together if each follows the previous one within together: the kubelet notices a
// dead server 3 minutes after its last successful relist, and relists reach the stuck pod at
// different times. If the nodes share nothing but the time, they must be closer: within alike. An
// object is linked to breaches within near of its first mention.
const (
	together  = 5 * time.Minute
	alike     = 2 * time.Minute
	fewest    = 2 // minimum number of nodes that share something
	fewestAny = 3 // minimum number of nodes that share only the time
	near      = 30 * time.Minute
)

// point is a breach of a node.
type point struct {
	node *Member
	at   int64
	cs   []Cause
}

// link is a candidate: a shared thing and the breaches that share it.
type link struct {
	kind, cause, title, object string
	points                     []point
	weight                     float64 // mean confidence
}

// correlate finds what nodes share. Each breach is attributed once, to the strongest link: a named
// object before a cause, a higher confidence before a lower one. So a vague cause does not draw in
// unrelated nodes that happen to show it too.
func correlate(ms []*Member) []Correlation {
	points := pointsOf(ms)
	var out []Correlation
	taken := map[point2]bool{}
	links := append(objectLinks(points), causeLinks(points)...)
	slices.SortStableFunc(links, func(a, b link) int {
		return cmp.Or(strings.Compare(b.kind, a.kind), cmp.Compare(b.weight, a.weight), len(b.points)-len(a.points),
			strings.Compare(a.cause+a.object, b.cause+b.object))
	})
	for _, l := range links {
		out = append(out, l.take(taken, together, fewest)...)
	}
	rest := link{kind: BreachesTogether, points: points}
	out = append(out, rest.take(taken, alike, fewestAny)...)
	slices.SortStableFunc(out, func(a, b Correlation) int { return cmp.Or(len(b.Nodes)-len(a.Nodes), cmp.Compare(a.Start, b.Start)) })
	return append(out, sharedVersions(ms)...)
}

// point2 identifies a breach.
type point2 struct {
	node string
	at   int64
}

// pointsOf lists the breaches of all nodes by time. A node without an episode is represented by its
// first breach of each critical rule.
func pointsOf(ms []*Member) []point {
	var out []point
	for _, m := range ms {
		for _, e := range m.Episodes {
			if e.Breach != 0 {
				out = append(out, point{m, e.Breach, e.Causes})
			}
		}
		for _, b := range m.Breaches {
			if len(m.Episodes) == 0 && b.Severity == "critical" && b.First != 0 {
				out = append(out, point{m, b.First, m.Causes})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.node.Name, b.node.Name))
	})
	return out
}

// causeLinks groups breaches by cause. A cause that is only possible counts if it is the best one
// of the breach.
func causeLinks(points []point) []link {
	byID := map[string]*link{}
	for _, p := range points {
		for i, c := range p.cs {
			if c.Level == "possible" && i > 0 {
				continue
			}
			l := byID[c.ID]
			if l == nil {
				l = &link{kind: SharedCause, cause: c.ID, title: c.Title}
				byID[c.ID] = l
			}
			l.points = append(l.points, p)
			l.weight += c.Confidence
		}
	}
	return settled(byID)
}

// objectLinks groups breaches by the objects outside the node that evidence names, each with the
// cause that explains most of them.
func objectLinks(points []point) []link {
	byName := map[string]*link{}
	for _, p := range points {
		for _, o := range p.node.Objects {
			if d := o.At - p.at; o.At != 0 && (d > int64(near) || d < -int64(near)) {
				continue
			}
			name := o.Kind + " " + o.Name
			l := byName[name]
			if l == nil {
				l = &link{kind: SharedObject, object: name}
				byName[name] = l
			}
			if k := len(l.points); k == 0 || l.points[k-1].node != p.node || l.points[k-1].at != p.at {
				l.points = append(l.points, p)
			}
		}
	}
	for _, l := range byName {
		l.cause, l.title, l.weight = commonCause(l.points)
	}
	return settled(byName)
}

// commonCause returns the cause with the greatest sum of confidences.
func commonCause(points []point) (id, title string, sum float64) {
	total := map[string]float64{}
	for _, p := range points {
		for _, c := range p.cs {
			total[c.ID] += c.Confidence
		}
	}
	for _, p := range points {
		for _, c := range p.cs {
			w := total[c.ID]
			if w > sum || w == sum && c.ID < id {
				id, title, sum = c.ID, c.Title, w
			}
		}
	}
	return id, title, sum
}

// proofOf quotes evidence of a node in the group for the shared thing, preferably a line that names
// the object.
func proofOf(group []point, cause, object string) []Quote {
	_, name, _ := strings.Cut(object, " ")
	var proof []Quote
	for _, p := range group {
		for _, c := range p.cs {
			if c.ID != cause || len(c.Proof) == 0 {
				continue
			}
			if proof == nil {
				proof = c.Proof
			}
			for i, q := range c.Proof {
				if name != "" && strings.Contains(q.Text, name) {
					return c.Proof[i : i+1]
				}
			}
		}
	}
	if proof == nil {
		return group[0].node.Proof
	}
	return proof
}

func settled(ls map[string]*link) []link {
	var out []link
	for _, l := range ls {
		l.weight /= float64(max(len(l.points), 1))
		out = append(out, *l)
	}
	return out
}

// take makes correlations of breaches that are not taken and follow each other within gap, if they
// are of at least least nodes.
func (l *link) take(taken map[point2]bool, gap time.Duration, least int) []Correlation {
	var out []Correlation
	var run []point
	flush := func() {
		if names := nodesOf(run); len(names) >= least {
			out = append(out, l.correlation(names, run))
			for _, p := range run {
				taken[point2{p.node.Name, p.at}] = true
			}
		}
		run = nil
	}
	for _, p := range l.points {
		if taken[point2{p.node.Name, p.at}] {
			continue
		}
		if len(run) > 0 && p.at-run[len(run)-1].at > int64(gap) {
			flush()
		}
		run = append(run, p)
	}
	flush()
	return out
}

func nodesOf(ps []point) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.node.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (l *link) correlation(names []string, run []point) Correlation {
	c := Correlation{Kind: l.kind, Nodes: names, Start: run[0].at, End: run[len(run)-1].at, Cause: l.cause, Title: l.title, Object: l.object}
	if l.object != "" { // the most common cause of all nodes with the object need not be that of these
		c.Cause, c.Title, _ = commonCause(run)
	}
	c.Proof = proofOf(run, c.Cause, l.object)
	c.Summary = fmt.Sprintf("%d nodes became unhealthy within %s from %s UTC", len(names), report.Span(time.Duration(c.End-c.Start)), report.Date(c.Start))
	var shared []string
	if l.object != "" {
		shared = append(shared, l.object)
	}
	if c.Cause != "" {
		shared = append(shared, fmt.Sprintf("%s (%s)", c.Cause, c.Title))
	}
	if len(shared) > 0 {
		c.Summary += " and share " + strings.Join(shared, ", ")
	} else {
		c.Summary += "; no cause or object in common"
	}
	c.Summary += ": " + strings.Join(names, ", ")
	return c
}

// Correlate adds to a report what its nodes have in common.
func Correlate(r *model.Report) {
	if len(r.Nodes) < fewest {
		return
	}
	for _, c := range correlate(members([]Record{{Nodes: reduceNodes(r.Nodes)}})) {
		x := model.Correlation{Kind: c.Kind, Summary: c.Summary, Nodes: c.Nodes, Start: model.Time(c.Start), End: model.Time(c.End), Cause: c.Cause}
		var proof []model.Evidence
		for _, n := range r.Nodes {
			if slices.Contains(c.Nodes, n.Name) {
				proof = append(proof, proofIn(n, x.Start, x.End)...)
			}
		}
		x.Evidence = model.ProofOf(proof...)
		r.Correlations = append(r.Correlations, x)
	}
}
