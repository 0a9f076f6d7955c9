package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/rules"
)

// View is the result for a fleet. It depends only on the set of records, not on their order.
type View struct {
	Header       Header
	Bundles      int
	By           map[Status]int
	Names        []Record // all bundles without their nodes, sorted by name
	Problems     []Record // the bundles not analyzed completely
	Nodes        []*Member
	Unhealthy    int // number of nodes with an episode
	Episodes     int
	Days         []Day
	Causes       []Rank
	Correlations []Correlation
	Outliers     []Outlier
	Versions     []Versions
	Links        map[string]string // bundle name to the address of its report, relative to the page
}

// Member is a node as all bundles together show it.
type Member struct {
	Name                         string
	Bundles                      []string // names, sorted
	Status, Summary              string
	Kubelet, Runtime, Kernel, OS string
	Relists                      int
	P99                          float64
	Episodes                     []MemberEpisode
	Causes                       []Cause
	Breaches                     []Breach
	Undecided                    []model.Undecided // not decided by one of the bundles
	Objects                      []Object
	Proof                        []Quote

	Healthy [][2]int64 // spans in which PLEG is proven healthy, Unix ns

	start, end int64 // 0 if unknown
}

// MemberEpisode is an episode and its causes, best first.
type MemberEpisode struct {
	Episode
	Causes []Cause
}

// Day is one node on one day, in UTC.
type Day struct {
	Node, Date string
	Episodes   int
	Unhealthy  time.Duration // total of episodes that began that day and have a known recovery
}

// Rank is a cause and how widespread it is in the fleet.
type Rank struct {
	ID, Title  string
	Nodes      []string
	Episodes   int
	Confidence float64 // highest
	Proof      []Quote // from the node with the highest confidence
}

// Versions is a combination of versions and the health of the nodes that run it.
type Versions struct {
	Kubelet, Runtime, Kernel, OS string
	Rules                        string // which version's rules were applied, if Kubelet is newer or older than any known
	Nodes, Unhealthy, Episodes   int
}

// NewView computes the View of a partial.
func NewView(p *Partial) *View {
	v := &View{Header: p.Header, Bundles: len(p.Records), By: map[Status]int{}}
	for _, r := range p.Records {
		v.By[r.Status]++
		r.Nodes = nil
		v.Names = append(v.Names, r)
	}
	slices.SortFunc(v.Names, func(a, b Record) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
	for _, r := range v.Names {
		if r.Status != Analysed {
			v.Problems = append(v.Problems, r)
		}
	}
	v.Nodes = members(p.Records)
	for _, m := range v.Nodes {
		v.Episodes += len(m.Episodes)
		if len(m.Episodes) > 0 {
			v.Unhealthy++
		}
	}
	v.Days = days(v.Nodes)
	v.Causes = ranks(v.Nodes)
	v.Correlations = correlate(v.Nodes)
	v.Outliers = outliers(v.Nodes)
	v.Versions = versions(v.Nodes)
	return v
}

// members joins the records of each node across bundles, sorted by name.
func members(rs []Record) []*Member {
	byName := map[string]*Member{}
	for _, r := range rs {
		for i := range r.Nodes {
			n := &r.Nodes[i]
			key := n.Name
			if key == "" || key == "unknown" {
				key = "unknown (" + r.Name + ")"
			}
			m := byName[key]
			if m == nil {
				m = &Member{Name: key}
				byName[key] = m
			}
			m.add(r.Name, n)
		}
	}
	out := make([]*Member, 0, len(byName))
	for _, m := range byName {
		slices.Sort(m.Bundles)
		slices.SortStableFunc(m.Episodes, func(a, b MemberEpisode) int { return cmp.Compare(a.Breach, b.Breach) })
		sortCauses(m.Causes)
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *Member) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// sameMoment is the maximum distance between the reconstructed breaches of one episode in two
// bundles.
const sameMoment = int64(time.Second)

func (m *Member) add(bundle string, n *Node) {
	m.Bundles = append(m.Bundles, bundle)
	if worse(n.Status) > worse(m.Status) || m.Status == "" {
		m.Status, m.Summary = n.Status, n.Summary
	}
	if n.End >= m.end || m.Kubelet == "" {
		m.Kubelet, m.Runtime = cmp.Or(n.Kubelet, m.Kubelet), cmp.Or(n.Runtime, m.Runtime)
		m.Kernel, m.OS, m.end = cmp.Or(n.Kernel, m.Kernel), cmp.Or(n.OS, m.OS), max(n.End, m.end)
	}
	if m.start == 0 || n.Start != 0 && n.Start < m.start {
		m.start = n.Start
	}
	m.Healthy = append(m.Healthy, n.Healthy...)
	m.Relists, m.P99 = max(m.Relists, n.Relists), max(m.P99, n.P99)
	for _, e := range n.Episodes {
		if !slices.ContainsFunc(m.Episodes, func(x MemberEpisode) bool {
			return x.Breach == e.Breach || e.Breach-x.Breach < sameMoment && x.Breach-e.Breach < sameMoment
		}) {
			m.Episodes = append(m.Episodes, MemberEpisode{e, causesOf(n, e.ID)})
		}
	}
	for _, c := range n.Causes {
		i := slices.IndexFunc(m.Causes, func(x Cause) bool { return x.ID == c.ID })
		if i < 0 {
			m.Causes = append(m.Causes, c)
		} else if c.Confidence > m.Causes[i].Confidence {
			m.Causes[i] = c
		}
	}
	m.addBreaches(n.Breaches)
	for _, u := range n.Undecided {
		if report.Decided(m.Undecided, u.Rule) {
			m.Undecided = append(m.Undecided, u)
		}
	}
	for _, o := range n.Objects {
		if !slices.Contains(m.Objects, o) {
			m.Objects = append(m.Objects, o)
		}
	}
	if m.Proof == nil {
		m.Proof = n.Proof
	}
}

// addBreaches keeps the larger count of each rule, because bundles of one node overlap.
func (m *Member) addBreaches(bs []Breach) {
	for _, b := range bs {
		i := slices.IndexFunc(m.Breaches, func(x Breach) bool { return x.Rule == b.Rule && x.Severity == b.Severity })
		if i < 0 {
			m.Breaches = append(m.Breaches, b)
		} else if b.Count > m.Breaches[i].Count {
			m.Breaches[i] = b
		}
	}
}

func worse(status string) int {
	return slices.Index([]string{"unknown", "healthy", "degraded", "unhealthy"}, status)
}

func causesOf(n *Node, episode int) []Cause {
	var out []Cause
	for _, c := range n.Causes {
		if len(c.Episodes) == 0 || slices.Contains(c.Episodes, episode) {
			out = append(out, c)
		}
	}
	sortCauses(out)
	return out
}

func sortCauses(cs []Cause) {
	slices.SortStableFunc(cs, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.ID, b.ID))
	})
}

func days(ms []*Member) []Day {
	var out []Day
	for _, m := range ms {
		for _, e := range m.Episodes {
			date := "unknown"
			if e.Breach != 0 {
				date = time.Unix(0, e.Breach).UTC().Format(time.DateOnly)
			}
			if k := len(out); k == 0 || out[k-1].Node != m.Name || out[k-1].Date != date {
				out = append(out, Day{Node: m.Name, Date: date})
			}
			d := &out[len(out)-1]
			d.Episodes++
			if e.Recovered > e.Breach && e.Breach != 0 {
				d.Unhealthy += time.Duration(e.Recovered - e.Breach)
			}
		}
	}
	return out
}

// explains reports whether the i-th cause counts: it is above possible, or the best one, and the
// node is not healthy.
func (m *Member) explains(i int) bool {
	return m.Status != "healthy" && (i == 0 || m.Causes[i].Level != string(rules.Possible))
}

// ranks sorts causes by the number of nodes they affect.
func ranks(ms []*Member) []Rank {
	byID := map[string]*Rank{}
	for _, m := range ms {
		for i, c := range m.Causes {
			if !m.explains(i) {
				continue
			}
			r := byID[c.ID]
			if r == nil {
				r = &Rank{ID: c.ID, Title: c.Title}
				byID[c.ID] = r
			}
			r.Nodes = append(r.Nodes, m.Name)
			for _, e := range m.Episodes {
				if slices.ContainsFunc(e.Causes, func(x Cause) bool { return x.ID == c.ID }) {
					r.Episodes++
				}
			}
			if c.Confidence > r.Confidence {
				r.Confidence, r.Proof = c.Confidence, c.Proof
			}
		}
	}
	out := make([]Rank, 0, len(byID))
	for _, r := range byID {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Rank) int {
		return cmp.Or(len(b.Nodes)-len(a.Nodes), b.Episodes-a.Episodes, cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.ID, b.ID))
	})
	return out
}

func versions(ms []*Member) []Versions {
	byKey := map[Versions]*Versions{}
	for _, m := range ms {
		k := Versions{Kubelet: m.Kubelet, Runtime: m.Runtime, Kernel: m.Kernel, OS: m.OS, Rules: pleg.Beyond(m.Kubelet)}
		x := byKey[k]
		if x == nil {
			c := k
			x = &c
			byKey[k] = x
		}
		x.Nodes++
		x.Episodes += len(m.Episodes)
		if len(m.Episodes) > 0 {
			x.Unhealthy++
		}
	}
	out := make([]Versions, 0, len(byKey))
	for _, x := range byKey {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Versions) int {
		return cmp.Or(b.Nodes-a.Nodes, strings.Compare(a.Kubelet, b.Kubelet), strings.Compare(a.Runtime, b.Runtime),
			strings.Compare(a.Kernel, b.Kernel), strings.Compare(a.OS, b.OS))
	})
	return out
}
