package model

// Comparison is the document plegforensics/compare/v1, written by compare.
type Comparison struct {
	Schema   string `json:"schema"`
	Baseline string `json:"baseline"`
	Incident string `json:"incident"`
	Summary  string `json:"summary"`
	Nodes    []Pair `json:"nodes"`
	// Notes names nodes without a counterpart, and says which version's rules were applied to a
	// kubelet newer or older than any known.
	Notes []string `json:"notes"`
}

// Pair compares a node of the baseline with its counterpart in the incident.
type Pair struct {
	Baseline string    `json:"baseline"`
	Incident string    `json:"incident"`
	Rows     []Compare `json:"rows"`

	Charts []CompareChart `json:"-"` // baseline, then incident
}

// CompareChart draws the age of the last relist on a canvas of 1000 by 120. Zero is the x of the
// breach, or of the middle of the log if there is none. Limit is the y of the threshold, negative
// if unknown.
type CompareChart struct {
	About, From, To string
	Zero, Limit     float64
	Band            string // SVG path around the possible ages
	Health          []CompareBar
}

// CompareBar is a span of one health state, "good" or "bad".
type CompareBar struct {
	State    string
	X, Width float64
}

// Comparison cleans x in place, except its quotes, which are clean already.
func (c *Cleaner) Comparison(x *Comparison) *Comparison {
	x.Baseline, x.Incident, x.Summary, x.Notes = c.text(x.Baseline), c.text(x.Incident), c.text(x.Summary), c.texts(x.Notes)
	for i := range x.Nodes {
		p := &x.Nodes[i]
		p.Baseline, p.Incident = c.name(p.Baseline), c.name(p.Incident)
		for k := range p.Rows {
			r := &p.Rows[k]
			r.What, r.Baseline, r.Incident, r.Why = c.text(r.What), c.text(r.Baseline), c.text(r.Incident), c.text(r.Why)
		}
	}
	return x
}

// Title returns the name of the node, or both names if they differ.
func (p *Pair) Title() string {
	if p.Baseline == p.Incident {
		return p.Incident
	}
	return p.Baseline + " against " + p.Incident
}

// Compare is one row of a comparison.
type Compare struct {
	Group    string `json:"group"`
	What     string `json:"what"`
	Baseline string `json:"baseline"`
	Incident string `json:"incident"`
	Verdict  string `json:"verdict"`
	Why      string `json:"why,omitempty"`
	File     string `json:"file,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Text     string `json:"text,omitempty"`

	Where string `json:"-"`
}
