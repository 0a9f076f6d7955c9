package model

// Fleet is the document plegforensics/fleet/v1, written by batch.
type Fleet struct {
	Schema       string             `json:"schema"`
	Tool         FleetTool          `json:"tool"`
	Bundles      FleetBundles       `json:"bundles"`
	Nodes        []FleetNode        `json:"nodes"`
	Days         []FleetDay         `json:"days"`
	Causes       []FleetCause       `json:"causes"`
	Correlations []FleetCorrelation `json:"correlations"`
	Outliers     []FleetOutlier     `json:"outliers"`
	Versions     []FleetVersions    `json:"versions"`
	Problems     []FleetProblem     `json:"problems"`
}

// FleetTool identifies the program and everything its results depend on.
type FleetTool struct {
	Version string `json:"version"`
	Rules   string `json:"rules"`
	Options string `json:"options"`
}

// FleetBundles counts bundles by how far they were analyzed.
type FleetBundles struct {
	Total    int `json:"total"`
	Analysed int `json:"analysed"`
	Partial  int `json:"partial"`
	Nothing  int `json:"nothing"`
	Deadline int `json:"deadline"`
	Failed   int `json:"failed"`
}

// FleetNode is a node as all bundles together show it.
type FleetNode struct {
	Kind     string         `json:"kind,omitempty"` // ndjson only
	Name     string         `json:"name"`
	Bundles  []string       `json:"bundles"`
	Status   string         `json:"status"`
	Summary  string         `json:"summary"`
	Kubelet  string         `json:"kubelet"`
	Rules    string         `json:"rules,omitempty"` // which version's rules were applied, if the kubelet is newer or older than any known
	Runtime  string         `json:"runtime"`
	Kernel   string         `json:"kernel"`
	OS       string         `json:"os"`
	Relists  int            `json:"relists_proven"`
	P99      float64        `json:"relist_p99_seconds"`
	Episodes []FleetEpisode `json:"episodes"`
	Causes   []NodeCause    `json:"causes"`
	Breaches []FleetBreach  `json:"breaches"`
	Proof    []Quote        `json:"evidence"`
}

// FleetEpisode is an episode on one node.
type FleetEpisode struct {
	Breach    Time     `json:"breach"`
	Recovered Time     `json:"recovered"`
	PeakAge   float64  `json:"peak_age_seconds"`
	Stuck     string   `json:"stuck_step"`
	Causes    []string `json:"causes"`
}

// NodeCause is a probable cause on one node.
type NodeCause struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Level      string  `json:"level"`
	Confidence float64 `json:"confidence"`
	Episodes   []int   `json:"episodes"` // empty: applies to the node as a whole
	Proof      []Quote `json:"proof,omitempty"`
}

// Quote is a line of evidence.
type Quote struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// FleetBreach counts how often a rule was broken on a node.
type FleetBreach struct {
	Rule     string  `json:"rule"`
	Severity string  `json:"severity"`
	Count    int     `json:"count"`
	First    Time    `json:"first"`
	Proof    []Quote `json:"evidence"`
}

// FleetDay is one node on one day, in UTC.
type FleetDay struct {
	Node      string  `json:"node"`
	Date      string  `json:"date"`
	Episodes  int     `json:"episodes"`
	Unhealthy float64 `json:"unhealthy_seconds"`
}

// FleetCause is a cause across the fleet.
type FleetCause struct {
	Kind       string   `json:"kind,omitempty"`
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Nodes      []string `json:"nodes"`
	Episodes   int      `json:"episodes"`
	Confidence float64  `json:"confidence"`
	Proof      []Quote  `json:"evidence"`
}

// FleetCorrelation is something that several nodes share.
type FleetCorrelation struct {
	Kind    string   `json:"kind"`
	Summary string   `json:"summary"`
	Nodes   []string `json:"nodes"`
	Start   Time     `json:"start"`
	End     Time     `json:"end"`
	Cause   string   `json:"cause,omitempty"`
	Object  string   `json:"object,omitempty"`
	Proof   []Quote  `json:"evidence"`
}

// FleetOutlier is a node that differs from the others.
type FleetOutlier struct {
	Node   string  `json:"node"`
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Median float64 `json:"median"`
	Unit   string  `json:"unit"`
}

// FleetVersions is one combination of versions and the health of the nodes that run it.
type FleetVersions struct {
	Kubelet   string `json:"kubelet"`
	Runtime   string `json:"runtime"`
	Kernel    string `json:"kernel"`
	OS        string `json:"os"`
	Rules     string `json:"rules,omitempty"` // which version's rules were applied, if the kubelet is newer or older than any known
	Nodes     int    `json:"nodes"`
	Unhealthy int    `json:"unhealthy"`
	Episodes  int    `json:"episodes"`
}

// FleetProblem is a bundle that could not be analyzed completely.
type FleetProblem struct {
	Kind     string `json:"kind,omitempty"`
	Bundle   string `json:"bundle"`
	Status   string `json:"status"`
	Warnings int    `json:"warnings"`
	Error    string `json:"error,omitempty"`
}
