package rules

import (
	"iter"
	"sort"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// Pack is a set of cause definitions, built-in and user-defined. Builtin returns one; the
// zero Pack holds no causes and is ready for Add.
type Pack struct {
	Causes []*Def            // sorted by ID
	Sigs   *logs.Set         // includes the user's signatures; nil means the built-in ones
	Own    []*logs.Signature // the user's signatures, including invalid ones
	byID   map[string]*Def
	set    map[string]Limit // overridden thresholds, by name
	sought func() []sought  // where evidence for the causes could be; computed once
}

// Cause returns the definition with the given ID, or nil if the pack has none.
func (p *Pack) Cause(id string) *Def {
	if p == nil {
		return nil
	}
	return p.byID[id]
}

// Add adds definitions to the pack. A definition replaces an earlier one with the same ID,
// so a user pack can correct a built-in cause.
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

// Signatures returns the pack's signature set, which is the built-in set unless the user
// added signatures.
func (p *Pack) Signatures() *logs.Set {
	if p.Sigs == nil {
		return logs.Builtin()
	}
	return p.Sigs
}

// AddSignatures adds user signatures to those of the pack. If any is invalid, none takes
// effect and the problems are returned.
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

// Kind classifies a definition.
type Kind string

// Kinds of definitions.
const (
	KindMechanism Kind = "mechanism"  // why it failed; needs evidence that is not itself a symptom
	KindSymptom   Kind = "symptom"    // what failed, as seen by the kubelet or the runtime
	KindLookAlike Kind = "look-alike" // resembles PLEG trouble but is not
)

// Scope says what a cause is judged against.
type Scope string

// Scopes.
const (
	ScopeEpisode Scope = "episode" // an episode if there is one, otherwise the node, from direct evidence
	ScopeNode    Scope = "node"    // the node as a whole, with or without episodes
	ScopeBreach  Scope = "breach"  // episodes only; without one it explains nothing
)

// Def is one cause as defined in a rule file.
type Def struct {
	Place       Place // where the file defines it
	ID          string
	Title       string
	Kind        Kind
	Scope       Scope
	Mechanism   string
	Impact      string
	Phase       []string // affected relist phases: list, inspect, deliver; empty if PLEG stays healthy
	Grade       string   // A to D: how well public cases support it
	Prior       float64  // log-odds before any evidence
	Standing    bool     // worth reporting before anything failed: a full disk, a leak
	Affects     Affects
	For         []*Clause
	Against     []*Clause
	Explains    []string // IDs of the causes that are symptoms of this one
	Missing     []Missing
	Run         []string // commands that examine or fix the cause
	Remediation []string
	Diagnosis   []string // commands and questions, in order
	References  []string
	Explanation []string // sentences; one with an unresolved {name} is omitted
	Tests       []TestCase
}

// clausesOf iterates over the For and Against clauses of causes.
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

// Affects limits the systems that a cause can affect. An empty field is no limit.
type Affects struct {
	Kubelet  string // version range: "<1.14", ">=1.25 <1.30"
	Kernel   string
	Runtimes []string // docker, containerd, crio
	OS       string   // linux, windows
	Text     string   // prose for the page: affected and fixed versions
}

// Missing describes input that would settle a cause.
type Missing struct {
	Lacks []string // sources or fact keys; asked for only if none of them is in the input
	Need  string   // ID of an Input, which then supplies the text
	Text  string
	Run   string // exact command
}

// ID identifies the missing input, so that requests of several causes can be merged.
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

// graded maps a word used in rule files to log-odds.
type graded struct {
	Word string
	Odds float64
}

// weights are the words that clauses use, in log-odds. A "certain" signal explains itself:
// the line names the cause.
var weights = []graded{
	{"certain", 4.5},
	{"strong", 3},
	{"moderate", 2},
	{"weak", 1},
	{"hint", 0.5},
	{"rules-out", 8},
}

// priors are in log-odds: how common a cause is among the public cases that the catalogue
// was built from.
var priors = []graded{
	{"common", -1.0},
	{"occasional", -1.5},
	{"rare", -2.0},
}

// Clause is one piece of evidence that a cause looks for.
type Clause struct {
	Place  Place
	Sigs   []string // any of these signatures
	Fact   string   // fact key, or "prefix.*" for a family
	Metric string   // metric name
	Labels map[string]string
	Cond   string // named condition
	Args   map[string]string

	Where  []FieldTest      // on fields of the signature or attributes of the fact
	Text   *pattern.Pattern // on the raw line
	Unless *pattern.Pattern // on the raw line: must not match
	Num    *NumTest         // on the number of a fact or the value of a metric
	Reduce string           // for a metric: last, max, increase or rate
	Min    int              // minimum number of records
	Span   int64            // minimum time between first and last record, ns

	Weight float64  // log-odds
	Word   string   // the word for Weight in the file
	Leads  []string // instead of a weight: causes that outrank the one this clause speaks against
	Core   bool     // the cause is a candidate only if a core clause is found
	Proof  bool     // explains itself: allows level confirmed
	Absent bool     // inverted: found if the input has the source but not the evidence
	Any    bool     // counts regardless of its time
	Repeat bool     // periodic: repetition adds weight
	// Symptom marks evidence of what failed, not why. Conditions and signatures carry their
	// own mark.
	Symptom bool
	Late    int64          // ns between the event and its log line; -1: as the signature says
	Source  string         // independent source it counts toward; "" derives it from the records
	Say     string         // sentence; {name} is a field or variable
	Title   string         // what the cause is called where only clauses with a title were found, "" for its own
	Looks   []parse.Source // sources in which it would appear
	From    []parse.Source // only lines written by one of these
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

// OK reports whether v satisfies the comparison. NaN never does.
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

// TestCase is one self-test of a definition: input lines and expected causes.
type TestCase struct {
	Place   Place
	Name    string
	Files   []TestFile
	Facts   []TestFact
	Rank    int    // the cause must be among the first Rank; 0 means it must be absent
	Level   string // minimum level; "" accepts any
	AtMost  string // maximum level; for negative cases that only forbid certainty
	Inverse bool   // negative case
}

// TestFile is one file of a test case.
type TestFile struct {
	Name string
	Text string
}

// TestFact is a fact supplied directly.
type TestFact struct {
	Key, Value string
	Attrs      map[string]string
}

// Metrics returns the names of the metrics that the causes use.
func (p *Pack) Metrics() map[string]bool {
	out := map[string]bool{}
	for c := range clausesOf(p.Causes...) {
		out[c.Metric] = true
	}
	return out
}
