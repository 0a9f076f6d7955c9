package rules

import (
	"iter"
	"sort"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// Pack is a set of cause definitions, the built-in ones and those of the user.
// Build it with Builtin or Load; the zero Pack knows no cause.
type Pack struct {
	Causes []*Def            // by id
	Sigs   *logs.Set         // with the signatures of the user; nil: the built-in ones
	Own    []*logs.Signature // of the user, the wrong ones too
	byID   map[string]*Def
	set    map[string]Limit // thresholds that are not the default
	sought func() []sought  // where the evidence of the causes could be
}

// Cause returns the definition of id, nil when the pack has none.
func (p *Pack) Cause(id string) *Def {
	if p == nil {
		return nil
	}
	return p.byID[id]
}

// Add puts definitions into the pack; a later one replaces an earlier one of
// the same id, so that a user pack can correct a built-in cause.
func (p *Pack) Add(defs ...*Def) {
	if p.byID == nil {
		p.byID = map[string]*Def{}
	}
	for _, d := range defs {
		p.byID[d.ID] = d
	}
	p.Causes = p.Causes[:0]
	for _, d := range p.byID {
		p.Causes = append(p.Causes, d)
	}
	sort.Slice(p.Causes, func(i, j int) bool { return p.Causes[i].ID < p.Causes[j].ID })
	p.sought = sync.OnceValue(p.seek)
}

// Signatures are those that the pack is used with.
func (p *Pack) Signatures() *logs.Set {
	if p.Sigs == nil {
		return logs.Builtin()
	}
	return p.Sigs
}

// AddSignatures puts signatures of a user beside those of the pack. Where one is
// wrong, none is added.
func (p *Pack) AddSignatures(own ...*logs.Signature) []Problem {
	if len(own) == 0 {
		return nil
	}
	p.Own = append(p.Own, own...)
	set, bad := logs.Extend(p.Own)
	if len(bad) == 0 {
		p.Sigs = set
	}
	return problems(bad)
}

// Kind says what a definition stands for.
type Kind string

// Kinds of definitions.
const (
	KindMechanism Kind = "mechanism"  // why it failed: needs evidence of its own kind
	KindSymptom   Kind = "symptom"    // what failed, as the kubelet or the runtime shows it
	KindLookAlike Kind = "look-alike" // looks like PLEG trouble and is not
)

// Scope says what a cause explains.
type Scope string

// Scopes.
const (
	ScopeEpisode Scope = "episode" // an episode if there is one, else the node by direct evidence
	ScopeNode    Scope = "node"    // the node as a whole, with or without episodes
	ScopeBreach  Scope = "breach"  // an episode only; without one it explains nothing
)

// Def is one cause as its file says it.
type Def struct {
	Place       Place // where the file defines it
	ID          string
	Title       string
	Kind        Kind
	Scope       Scope
	Mechanism   string
	Impact      string
	Phase       []string // relist phases it bites: list, inspect, deliver; empty: none, PLEG stays healthy
	Grade       string   // A to D: how well public cases support it
	Prior       float64  // log-odds before any evidence
	Standing    bool     // worth a word where nothing failed yet: a full disk, a leak
	Affects     Affects
	For         []*Clause
	Against     []*Clause
	Explains    []string // causes that are its symptoms
	Missing     []Missing
	Run         []string // commands that tell more about the cause or mend it
	Remediation []string
	Diagnosis   []string // commands and questions, in order
	References  []string
	Explanation []string // sentences; one with an unresolved {name} is left out
	Tests       []TestCase
}

// clausesOf are the clauses of causes, for and against.
func clausesOf(causes ...*Def) iter.Seq[*Clause] {
	return func(yield func(*Clause) bool) {
		for _, d := range causes {
			for _, cs := range [...][]*Clause{d.For, d.Against} {
				for _, c := range cs {
					if !yield(c) {
						return
					}
				}
			}
		}
	}
}

// Affects bounds what a cause can bite. Empty fields bound nothing.
type Affects struct {
	Kubelet  string // version range: "<1.14", ">=1.25 <1.30"
	Kernel   string
	Runtimes []string // docker, containerd, crio
	OS       string   // linux, windows
	Text     string   // in words, for the page: affected and fixed versions
}

// Missing is input that would settle a cause.
type Missing struct {
	Lacks []string // sources or fact keys; asked for only while none of them is in the input
	Need  string   // id of an Input, whose text it then has
	Text  string
	Run   string // exact command
}

// ID tells what is missing, whoever asks for it.
func (m *Missing) ID() string {
	if m.Need != "" || len(m.Lacks) == 0 {
		return m.Need
	}
	return m.Lacks[0]
}

// Place is a position in a rule file.
type Place struct {
	File string
	Line int
}

// graded is a word of rule files that stands for log-odds.
type graded struct {
	Word string
	Odds float64
}

// Weights in log-odds, the words that clauses use. A certain signal explains
// itself: the line names the cause.
var weights = []graded{
	{"certain", 4.5},
	{"strong", 3},
	{"moderate", 2},
	{"weak", 1},
	{"hint", 0.5},
	{"rules-out", 8},
}

// Priors in log-odds: how common a cause is among the public cases that the
// catalogue was made from.
var priors = []graded{
	{"common", -1.0},
	{"occasional", -1.5},
	{"rare", -2.0},
}

// Clause is one piece of evidence that a cause looks for.
type Clause struct {
	Place  Place
	Sigs   []string // any of these signatures
	Fact   string   // fact key, "prefix.*" for a family
	Metric string   // metric name
	Labels map[string]string
	Cond   string // named condition
	Args   map[string]string

	Where  []FieldTest      // on the fields of the signature or the attributes of the fact
	Text   *pattern.Pattern // on the raw line
	Unless *pattern.Pattern // on the raw line: must not match
	Num    *NumTest         // on the number of a fact, the value of a metric
	Reduce string           // of a metric: last, max, increase, rate
	Min    int              // least number of records
	Span   int64            // least ns between first and last

	Weight float64
	Word   string
	Leads  []string // causes that outrank the one that this speaks against, instead of a weight
	Core   bool     // the cause is a candidate only if a core clause is found
	Proof  bool     // explains itself: allows level confirmed
	Absent bool     // found when looked for and not there
	Any    bool     // counts wherever it stands in time
	Repeat bool     // periodic: repetition adds
	// Symptom marks evidence of what failed; conditions and signatures say so
	// of themselves.
	Symptom bool
	Late    int64
	Source  string // independent source it counts for; "" by its records
	Say     string
	Looks   []parse.Source // where it would stand
	From    []parse.Source // only lines that name one of these as their writer
}

// FieldTest is a condition on one field.
type FieldTest struct {
	Name string
	Re   *pattern.Pattern
	Num  *NumTest
}

// NumTest compares a number.
type NumTest struct {
	Op string // < <= > >= =
	V  float64
}

// OK reports whether v passes; NaN never does.
func (t *NumTest) OK(v float64) bool {
	switch t.Op {
	case "<":
		return v < t.V
	case "<=":
		return v <= t.V
	case ">":
		return v > t.V
	case ">=":
		return v >= t.V
	}
	return v == t.V
}

// TestCase is one self-test of a definition: lines in, causes out.
type TestCase struct {
	Place   Place
	Name    string
	Files   []TestFile
	Facts   []TestFact
	Rank    int    // the cause must be among the first Rank; 0: it must not be there at all
	Level   string // at least this level; "" any
	AtMost  string // at most this level; for negative cases that only forbid certainty
	Inverse bool   // negative case
}

// TestFile is one file of a test case.
type TestFile struct {
	Name string
	Text string
}

// TestFact is a fact given as such.
type TestFact struct {
	Key, Value string
	Attrs      map[string]string
}

// Metrics are the names of the metrics that the causes look at.
func (p *Pack) Metrics() map[string]bool {
	out := map[string]bool{}
	for c := range clausesOf(p.Causes...) {
		out[c.Metric] = true
	}
	return out
}
