package fleet

import (
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// Status says how far a bundle was analysed.
type Status string

// Statuses, best first.
const (
	Analysed Status = "analysed"
	Partly   Status = "partial"  // truncated, unreadable in places, or cut by a limit
	Nothing  Status = "nothing"  // read, and nothing in it could be analysed
	Deadline Status = "deadline" // not done in the time allowed
	Failed   Status = "failed"
)

// statuses in order of worth: of two records of one bundle the better counts.
var statuses = []Status{Analysed, Partly, Nothing, Deadline, Failed}

// Record is what is kept of one bundle. All strings are visible text.
type Record struct {
	ID       string `json:"id"`   // identity: what is equal is the same bundle
	Name     string `json:"name"` // as given on the command line
	Status   Status `json:"status"`
	Error    string `json:"error,omitempty"`
	Kind     string `json:"kind,omitempty"` // of the input: "sosreport", …
	Bytes    int64  `json:"bytes"`          // after decompression
	Warnings int    `json:"warnings"`
	Nodes    []Node `json:"nodes"`
}

// Node is what is kept of one node of a bundle. Times are Unix ns, 0 unknown.
type Node struct {
	Name     string    `json:"name"`
	Status   string    `json:"status"`
	Summary  string    `json:"summary"`
	Kubelet  string    `json:"kubelet,omitempty"`
	Runtime  string    `json:"runtime,omitempty"`
	Kernel   string    `json:"kernel,omitempty"`
	OS       string    `json:"os,omitempty"`
	Start    int64     `json:"start"`
	End      int64     `json:"end"`
	Relists  int       `json:"relists"`         // proven
	P99      float64   `json:"relist_p99"`      // seconds, 0 unknown
	Episodes []Episode `json:"episodes"`        // by breach
	Causes   []Cause   `json:"causes"`          // best first
	Breaches []Breach  `json:"breaches"`        // by rule
	Objects  []Object  `json:"objects"`         // what the causes' evidence names, by kind and name
	Proof    []Quote   `json:"proof,omitempty"` // first lines of evidence
}

// Episode is a stretch of PLEG being unhealthy.
type Episode struct {
	ID        int     `json:"id"`
	Breach    int64   `json:"breach"`
	Recovered int64   `json:"recovered"`
	PeakAge   float64 `json:"peak_age_seconds"`
	Stuck     string  `json:"stuck_step"`
}

// Cause is a probable cause.
type Cause = model.NodeCause

// Breach counts how often a rule was broken.
type Breach struct {
	Rule     string  `json:"rule"`
	Severity string  `json:"severity"`
	Count    int     `json:"count"`
	First    int64   `json:"first"`
	Proof    []Quote `json:"proof,omitempty"` // of the first
}

// Object is a thing outside the node that evidence names.
type Object struct {
	Kind string `json:"kind"` // server, device, registry
	Name string `json:"name"`
	At   int64  `json:"at"` // first seen, 0 unknown
}

// Quote is a line of evidence.
type Quote = model.Quote

// Kept of each node, so that a record stays small whatever the bundle holds.
const (
	maxEpisodes = 10_000
	maxObjects  = 200
	maxProof    = 3
	maxCauses   = 20
	maxText     = 400 // bytes of a quote
)

// Reduce makes the record of a report. The caller gives identity and name, and
// changes the status where it knows better.
func Reduce(id, name string, r *report.Report) Record {
	rec := Record{ID: id, Name: name, Status: Analysed, Warnings: len(r.Warnings), Nodes: reduceNodes(r.Nodes)}
	used := 0
	for _, in := range r.Inputs {
		rec.Kind, rec.Bytes = in.Kind, rec.Bytes+in.Bytes
		used += in.FilesUsed
	}
	switch {
	case used == 0 && len(r.Nodes) == 0:
		rec.Status, rec.Error = Nothing, "nothing in it could be analysed"
		if why := firstWarning(r); why != "" {
			rec.Error += ": " + why
		}
	case r.Partial():
		rec.Status, rec.Error = Partly, firstWarning(r)
	}
	report.Scrub(&rec)
	rec.place()
	return rec
}

// firstWarning is the first thing that was wrong with the inputs, "" if there is
// none.
func firstWarning(r *report.Report) string {
	if len(r.Warnings) == 0 {
		return ""
	}
	w := r.Warnings[0]
	if w.File == nil {
		return w.Msg
	}
	return w.Pos.String() + ": " + w.Msg
}

// place completes where the quotes stand: of hundreds of bundles that all hold
// a kubelet.log, each quote says which one it is from.
func (r *Record) place() {
	full := func(qs []Quote) {
		for i := range qs {
			qs[i].Where = placeIn(r.Name, qs[i].Where)
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

// placeIn joins the name of a bundle and a place in it. A place in a file or an
// archive begins with the last element of the name already.
func placeIn(bundle, where string) string {
	dir, base := "", bundle
	if i := strings.LastIndexAny(bundle, `/\`); i >= 0 {
		dir, base = bundle[:i+1], bundle[i+1:]
	}
	if rest, ok := strings.CutPrefix(where, base); ok && (rest == "" || rest[0] == ':' || rest[0] == '!') {
		return dir + where
	}
	return strings.TrimRight(bundle, `/\`) + "/" + where
}

func reduceNodes(ns []report.Node) []Node {
	out := []Node{}
	for i := range ns {
		out = append(out, reduceNode(&ns[i]))
	}
	return out
}

func reduceNode(n *report.Node) Node {
	out := Node{Name: n.Name, Status: n.Status, Summary: n.Summary, Kubelet: n.Kubelet.Version, Runtime: n.Kubelet.Runtime,
		Kernel: fact(n.Facts, facts.KeyKernel), OS: fact(n.Facts, facts.KeyOS), Start: n.Window.Start, End: n.Window.End,
		Relists: len(n.Relists), P99: report.Durations(n.Node).P99.Seconds(),
		Episodes: []Episode{}, Causes: []Cause{}, Breaches: reduceBreaches(n.Breaches), Objects: objects(n)}
	for i := range n.Episodes[:min(len(n.Episodes), maxEpisodes)] {
		e := &n.Episodes[i]
		out.Episodes = append(out.Episodes, Episode{e.ID, e.Breach, e.Recovered.At, e.PeakAge.Seconds(), string(e.StuckStep)})
		if i == 0 {
			out.Proof = quotes(e.Evidence)
		}
	}
	for _, c := range n.Causes[:min(len(n.Causes), maxCauses)] {
		out.Causes = append(out.Causes, Cause{ID: c.ID, Title: c.Title, Level: string(c.Level),
			Confidence: float64(int(c.Confidence*100+0.5)) / 100, Episodes: append([]int{}, c.Episodes...), Proof: quotes(c.For)})
	}
	return out
}

func fact(fs []*parse.Fact, key string) string {
	for i := len(fs) - 1; i >= 0; i-- {
		if fs[i].Key == key {
			return fs[i].Value
		}
	}
	return ""
}

func quotes(es []replay.Evidence) []Quote {
	var out []Quote
	for _, e := range es {
		if e.Record != nil && len(out) < maxProof {
			text := e.Quote()
			if len(text) > maxText {
				text = strings.ToValidUTF8(text[:maxText], "") + "…"
			}
			out = append(out, Quote{Where: e.Where().String(), Text: text})
		}
	}
	return out
}

func reduceBreaches(bs []rules.Breach) []Breach {
	out := []Breach{}
	for _, b := range bs {
		i := slices.IndexFunc(out, func(x Breach) bool { return x.Rule == b.Rule && x.Severity == string(b.Severity) })
		if i < 0 {
			out = append(out, Breach{b.Rule, string(b.Severity), 0, b.Start, quotes(b.Evidence)})
			i = len(out) - 1
		}
		out[i].Count++
	}
	slices.SortFunc(out, func(a, b Breach) int { return strings.Compare(a.Rule+"\x00"+a.Severity, b.Rule+"\x00"+b.Severity) })
	return out
}

// objects are the servers, devices and registries that the evidence for the
// causes names.
func objects(n *report.Node) []Object {
	seen := map[[2]string]int64{}
	for i, c := range n.Causes {
		if c.Level == rules.Possible && i > 0 {
			continue // too weak to point at others
		}
		for _, e := range c.For {
			if e.Record == nil {
				continue
			}
			for _, f := range fieldsOf(e.Record) {
				if kind, name := objectOf(f); name != "" {
					k := [2]string{kind, name}
					if at, have := seen[k]; !have || e.When().At != 0 && e.When().At < at {
						seen[k] = e.When().At
					}
				}
			}
		}
	}
	out := []Object{}
	for k, at := range seen {
		out = append(out, Object{k[0], k[1], at})
	}
	slices.SortFunc(out, func(a, b Object) int { return strings.Compare(a.Kind+"\x00"+a.Name, b.Kind+"\x00"+b.Name) })
	return out[:min(len(out), maxObjects)]
}

func fieldsOf(r parse.Record) []parse.Field {
	switch r := r.(type) {
	case *parse.Event:
		return r.Fields()
	case *parse.Fact:
		return r.Attrs
	}
	return nil
}

// objectOf names what lies outside a node and can fail for several: file
// servers and registries. A local device fails alone.
func objectOf(f parse.Field) (kind, name string) {
	switch f.Name {
	case "server", "srv":
		return "server", f.Value
	case "image":
		host, _, ok := strings.Cut(f.Value, "/")
		if ok && strings.ContainsAny(host, ".:") {
			return "registry", host
		}
	}
	return "", ""
}
