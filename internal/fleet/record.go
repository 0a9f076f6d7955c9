package fleet

import (
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// Status says how far a bundle was analyzed.
type Status string

// Statuses, best first.
const (
	Analysed Status = "analysed"
	Partly   Status = "partial"  // truncated, unreadable in places, or cut by a limit
	Nothing  Status = "nothing"  // read, but nothing could be analyzed
	Deadline Status = "deadline" // not finished in time
	Failed   Status = "failed"
)

// statuses, best first: of two records of one bundle the better one is kept.
var statuses = []Status{Analysed, Partly, Nothing, Deadline, Failed}

// Record is what is kept of one bundle. All strings are escaped.
type Record struct {
	ID       string `json:"id"`   // records with equal IDs are of the same bundle
	Name     string `json:"name"` // as given on the command line
	Status   Status `json:"status"`
	Error    string `json:"error,omitempty"`
	Kind     string `json:"kind,omitempty"` // of the input: "sosreport", …
	Bytes    int64  `json:"bytes"`          // after decompression
	Warnings int    `json:"warnings"`
	Nodes    []Node `json:"nodes"`
}

// Node is what is kept of one node of a bundle. Times are Unix ns, 0 if unknown.
type Node struct {
	Name     string     `json:"name"`
	Status   string     `json:"status"`
	Summary  string     `json:"summary"`
	Kubelet  string     `json:"kubelet,omitempty"`
	Runtime  string     `json:"runtime,omitempty"`
	Kernel   string     `json:"kernel,omitempty"`
	OS       string     `json:"os,omitempty"`
	Start    int64      `json:"start"`
	End      int64      `json:"end"`
	Relists  int        `json:"relists"`           // number of proven relists
	P99      float64    `json:"relist_p99"`        // seconds, 0 if unknown
	Episodes []Episode  `json:"episodes"`          // sorted by breach
	Healthy  [][2]int64 `json:"healthy,omitempty"` // spans in which PLEG is proven healthy
	Causes   []Cause    `json:"causes"`            // best first
	Breaches []Breach   `json:"breaches"`          // sorted by rule
	Objects  []Object   `json:"objects"`           // named by the evidence of causes; sorted by kind and name
	// Undecided holds the breach rules without a breach that the input cannot rule out, in the order of the rules.
	Undecided []model.Undecided `json:"not_decided,omitempty"`
	Proof     []Quote           `json:"proof,omitempty"` // first lines of evidence of the first episode
}

// Episode is a span in which PLEG was unhealthy.
type Episode struct {
	ID        int     `json:"id"`
	Breach    int64   `json:"breach"`
	AtLatest  bool    `json:"breach_at_latest,omitempty"` // it may have been earlier
	Recovered int64   `json:"recovered"`
	Last      int64   `json:"last,omitempty"` // last report
	PeakAge   float64 `json:"peak_age_seconds"`
	Stuck     string  `json:"stuck_step"`
}

// Cause is a probable cause.
type Cause = model.NodeCause

// Breach counts the breaches of a rule.
type Breach struct {
	Rule     string  `json:"rule"`
	Severity string  `json:"severity"`
	Count    int     `json:"count"`
	First    int64   `json:"first"`
	Proof    []Quote `json:"proof,omitempty"` // of the first breach
}

// Object is something outside the node that evidence names.
type Object struct {
	Kind string `json:"kind"` // server, device, registry
	Name string `json:"name"`
	At   int64  `json:"at"` // first seen, 0 if unknown
}

// Quote is a line of evidence.
type Quote = model.Quote

// Limits per node, so that a record stays small whatever the bundle holds.
const (
	maxEpisodes = 10_000
	maxObjects  = 200
	maxProof    = 3
	maxCauses   = 20
	maxText     = 400 // bytes of a quote
)

// Reduce makes the record of a report. The caller provides ID and name, and may correct the status.
func Reduce(id, name string, r *model.Report) Record {
	rec := Record{ID: escaped(id), Name: escaped(name), Status: Analysed, Warnings: len(r.Warnings), Nodes: reduceNodes(r.Nodes)}
	used, partial := 0, false
	for _, in := range r.Inputs {
		rec.Kind, rec.Bytes = in.Kind, rec.Bytes+in.Bytes
		used += in.FilesUsed
		partial = partial || in.Partial
	}
	switch {
	case used == 0 && len(r.Nodes) == 0:
		rec.Status, rec.Error = Nothing, "nothing in it could be analysed"
		if why := firstWarning(r); why != "" {
			rec.Error += ": " + why
		}
	case partial:
		rec.Status, rec.Error = Partly, firstWarning(r)
	}
	rec.place(name)
	return rec
}

// Broken returns the record of a bundle that could not be analyzed.
func Broken(id, name string, s Status, why string) Record {
	r := Record{ID: id, Name: name, Status: s, Error: why, Nodes: []Node{}}
	r.clean()
	return r
}

// firstWarning returns the first problem of the inputs, "" if there is none.
func firstWarning(r *model.Report) string {
	if len(r.Warnings) == 0 {
		return ""
	}
	return r.Warnings[0].String()
}

// place adds the name of the bundle to the position of each quote, since hundreds of bundles may
// contain a file of the same name. The name is as given, not escaped.
func (r *Record) place(name string) {
	full := func(qs []Quote) {
		for i := range qs {
			qs[i].Where = placeIn(name, qs[i].Where)
		}
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		full(n.Proof)
		for _, c := range n.Causes {
			full(c.Proof)
		}
		for _, b := range n.Breaches {
			full(b.Proof)
		}
	}
}

// placeIn joins the name of a bundle, which it escapes, and a position in it. The position of a file or an
// archive already begins with the last element of the name.
func placeIn(bundle, where string) string {
	dir, base := "", bundle
	if i := strings.LastIndexAny(bundle, `/\`); i >= 0 {
		dir, base = bundle[:i+1], bundle[i+1:]
	}
	bundle, dir, base = escaped(bundle), escaped(dir), escaped(base)
	if rest, ok := strings.CutPrefix(where, base); ok && (rest == "" || rest[0] == ':' || rest[0] == '!') {
		return dir + where
	}
	return strings.TrimRight(bundle, `/\`) + "/" + where
}

func reduceNodes(ns []*model.Node) []Node {
	out := []Node{}
	for _, n := range ns {
		out = append(out, reduceNode(n))
	}
	return out
}

func reduceNode(n *model.Node) Node {
	out := Node{Name: n.Name, Status: n.Status, Summary: n.Summary, Kubelet: pointed(n.Kubelet.Version), Runtime: pointed(n.Kubelet.Runtime),
		Kernel: n.Kernel, OS: n.OS, Start: int64(n.Window.Start), End: int64(n.Window.End), Relists: n.Relists.Proven, P99: seconds(n.Relists.P99),
		Episodes: []Episode{}, Causes: []Cause{}, Breaches: reduceBreaches(n.Breaches, n.Crossed), Objects: objects(n), Undecided: n.Undecided}
	for i := range n.Episodes[:min(len(n.Episodes), maxEpisodes)] {
		e := &n.Episodes[i]
		out.Episodes = append(out.Episodes, Episode{e.ID, int64(e.Breach), e.AtLatest, int64(e.Recovered), int64(e.LastReport), seconds(e.PeakAge), e.StuckStep})
		if i == 0 {
			out.Proof = quotes(e.Evidence)
		}
	}
	for _, h := range n.History.Health {
		if h.State == "healthy" && h.From != 0 && h.To > h.From && len(out.Healthy) < maxEpisodes {
			out.Healthy = append(out.Healthy, [2]int64{int64(h.From), int64(h.To)})
		}
	}
	for i := range n.Causes[:min(len(n.Causes), maxCauses)] {
		c := &n.Causes[i]
		out.Causes = append(out.Causes, Cause{ID: c.ID, Title: c.Title, Level: c.Level, Confidence: c.Confidence, Episodes: append([]int{}, c.Episodes...), Proof: quotes(c.For)})
	}
	return out
}

func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// seconds returns 0 for nil, which means unknown.
func seconds(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

func quotes(p model.Proof) []Quote {
	var out []Quote
	for _, e := range p.First(maxProof) {
		out = append(out, Quote{Where: e.Where(), Text: model.Cut(e.Text, maxText)})
	}
	return out
}

// reduceBreaches counts breaches by rule and severity. crossed has the number of breaches per rule,
// including those not listed in bs.
func reduceBreaches(bs []model.Breach, crossed map[string]int) []Breach {
	out, counted := []Breach{}, map[string]int{}
	for i := range bs {
		b := &bs[i]
		k := slices.IndexFunc(out, func(x Breach) bool { return x.Rule == b.Rule && x.Severity == b.Severity })
		if k < 0 {
			out = append(out, Breach{b.Rule, b.Severity, 0, int64(b.Start), quotes(b.Evidence)})
			k = len(out) - 1
		}
		out[k].Count++
		counted[b.Rule]++
	}
	for i := range out {
		rule := out[i].Rule
		out[i].Count += max(crossed[rule]-counted[rule], 0)
		counted[rule] = crossed[rule] // if a rule occurs with two severities, the unlisted ones count for the first
	}
	slices.SortFunc(out, func(a, b Breach) int { return strings.Compare(a.Rule+"\x00"+a.Severity, b.Rule+"\x00"+b.Severity) })
	return out
}

// objects returns the objects that the evidence of causes names. A possible cause is too weak to
// point at others, unless it is the best one.
func objects(n *model.Node) []Object {
	out := []Object{}
	for i := range n.Causes {
		c := &n.Causes[i]
		if c.Level == string(rules.Possible) && i > 0 {
			continue
		}
		for _, o := range c.Objects {
			x := Object{o.Kind, o.Name, int64(o.At)}
			k := slices.IndexFunc(out, func(y Object) bool { return y.Kind == x.Kind && y.Name == x.Name })
			switch {
			case k < 0:
				out = append(out, x)
			case x.At != 0 && (out[k].At == 0 || x.At < out[k].At):
				out[k].At = x.At
			}
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return strings.Compare(a.Kind+"\x00"+a.Name, b.Kind+"\x00"+b.Name) })
	return out[:min(len(out), maxObjects)]
}
