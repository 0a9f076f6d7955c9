package logs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/internal/spell"
	"github.com/plegforensics/plegforensics/parse"
)

// MinLiteral is the minimum length of a literal in bytes. Shorter ones would pick
// too many lines.
const MinLiteral = 6

// Signature is one entry of a signature file: how a known message is found, what it
// means, and sample lines that prove it. Several entries may share an ID; a line
// takes the fields of the first one that matches.
//
// A line matches if it contains one of Literals and none of Unless, and if one of
// Messages, Regexps and Extract accepts it. An entry with none of these three needs
// only the literal.
type Signature struct {
	ID       string
	Sources  []parse.Source // writers; empty: any
	Severity string         // severities it is written with, such as "EW"; empty: any. A line of unknown severity always passes
	Doc      string
	Bulk     bool          // occurs by the hundred thousand
	Context  bool          // shown to the reader of a report only: no rule asks for it
	Symptom  bool          // reports what failed, as the kubelet sees it, and never why
	Lag      time.Duration // time from the start of a problem to its log line; parse.LagCall: the deadline of a call
	LagField string        // the field that states the lag
	Literals []string      // at least one must occur; each ≥ MinLiteral bytes
	Fold     bool          // literals ignore ASCII case
	Unless   []string      // none may occur
	Messages []string      // exact messages of a structured, JSON or logrus line
	Keys     []Key         // keys of such a line and the fields they become
	Regexps  []*Regexp
	Extract  string        // name of a Go extractor
	Set      []parse.Field // constant fields
	Samples  []Sample
	Not      []string // lines that must not match

	File  string // where it is defined, with Line
	Line  int
	Wrong bool // reported in a Mistake
}

// Key maps a key of a structured line to a field. Field "pod" stands for pod_ns,
// pod_name and pod_uid, field "ctr" for pod_ns, pod_name and name. Groups of
// patterns may have these names too.
type Key struct{ Name, Field string }

// Sample is a line that matches, with all fields it must yield.
type Sample struct {
	Source parse.Source
	Msg    string
	Fields []parse.Field
}

// Load reads a signature file: a YAML list of entries. name is used in errors,
// which state the line and, for a misspelled key, the nearest known one.
func Load(name string, data []byte) ([]*Signature, error) {
	return loadFile(nodes.Parse(name, data), false)
}

// loadFile reads the signatures of a parsed file. The expressions of built-in files
// (ours) are not parsed before they are needed: a test proves them valid.
func loadFile(f nodes.File, ours bool) ([]*Signature, error) {
	name := f.Name
	if f.Err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(f.Err.Error(), "yaml: "))
	}
	if len(f.Docs) == 0 || len(f.Docs[0].Content) == 0 {
		return nil, fmt.Errorf("%s: no signatures in it", name)
	}
	out, bad := entries(name, &f.Docs[0].Content[0], ours)
	var errs []error
	for _, m := range bad {
		errs = append(errs, m)
	}
	return out, errors.Join(errs...)
}

// Mistake is an error in a list of signatures.
type Mistake struct {
	File string
	Line int
	Msg  string
}

// Error returns "file:line: message".
func (m Mistake) Error() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Msg) }

// Entries reads a user's list of signatures from the named file. It returns all
// mistakes found.
func Entries(file string, list *nodes.Node) ([]*Signature, []Mistake) {
	return entries(file, list, false)
}

func entries(file string, list *nodes.Node, ours bool) (out []*Signature, bad []Mistake) {
	if list.Kind != nodes.Sequence {
		return nil, []Mistake{{file, list.Line, "want a list of signatures, each beginning with \"- id:\""}}
	}
	for i := range list.Content {
		n := &list.Content[i]
		l := &loader{file: file, ours: ours, sig: &Signature{File: file, Line: n.Line}}
		l.mapping(n, signatureKeys)
		l.check()
		l.sig.Wrong = len(l.bad) > 0
		bad = append(bad, l.bad...)
		out = append(out, l.sig)
	}
	return out, bad
}

// loader reads one entry and collects its mistakes.
type loader struct {
	file string
	ours bool
	sig  *Signature
	bad  []Mistake
}

type keyReader struct {
	name string
	read func(l *loader, n *nodes.Node)
}

var signatureKeys = []keyReader{
	{"id", func(l *loader, n *nodes.Node) { l.sig.ID = l.str(n) }},
	{"source", func(l *loader, n *nodes.Node) {
		for _, s := range l.strs(n) {
			l.sig.Sources = append(l.sig.Sources, l.source(n, s))
		}
	}},
	{"severity", func(l *loader, n *nodes.Node) { l.sig.Severity = l.str(n) }},
	{"doc", func(l *loader, n *nodes.Node) { l.sig.Doc = l.str(n) }},
	{"bulk", func(l *loader, n *nodes.Node) { l.sig.Bulk = l.flag(n) }},
	{"role", func(l *loader, n *nodes.Node) {
		switch l.sig.Symptom, l.sig.Context = n.Value == "symptom", n.Value == "context"; {
		case !l.sig.Symptom && !l.sig.Context:
			l.errorf(n, "unknown role %q; known: symptom, context", n.Value)
		}
	}},
	{"lag", func(l *loader, n *nodes.Node) { l.lag(n) }},
	{"fold", func(l *loader, n *nodes.Node) { l.sig.Fold = l.flag(n) }},
	{"literals", func(l *loader, n *nodes.Node) { l.sig.Literals = l.strs(n) }},
	{"unless", func(l *loader, n *nodes.Node) { l.sig.Unless = l.strs(n) }},
	{"message", func(l *loader, n *nodes.Node) { l.sig.Messages = l.strs(n) }},
	{"keys", func(l *loader, n *nodes.Node) {
		for _, f := range l.pairs(n) {
			l.sig.Keys = append(l.sig.Keys, Key(f.keyed()))
		}
	}},
	{"regexp", func(l *loader, n *nodes.Node) { l.sig.Regexps = l.regexps(n) }},
	{"extract", func(l *loader, n *nodes.Node) {
		l.sig.Extract = l.str(n)
		if f, _ := findExtractor(l.sig.Extract); f == nil {
			l.errorf(n, "unknown extractor %q%s", l.sig.Extract, suggest(l.sig.Extract, extractorNames()))
		}
	}},
	{"set", func(l *loader, n *nodes.Node) { l.sig.Set = l.fields(n) }},
	{"samples", func(l *loader, n *nodes.Node) { l.samples(n) }},
	{"not", func(l *loader, n *nodes.Node) { l.sig.Not = l.strs(n) }},
}

func (l *loader) errorf(n *nodes.Node, format string, args ...any) {
	l.bad = append(l.bad, Mistake{l.file, n.Line, fmt.Sprintf(format, args...)})
}

// mapping passes each value of n to the reader of its key.
func (l *loader) mapping(n *nodes.Node, keys []keyReader) {
	if n.Kind != nodes.Mapping {
		l.errorf(n, "want key: value pairs")
		return
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := &n.Content[i], &n.Content[i+1]
		at := slices.IndexFunc(keys, func(r keyReader) bool { return r.name == k.Value })
		if at < 0 {
			l.errorf(k, "unknown key %q%s", k.Value, suggest(k.Value, keyNames(keys)))
			continue
		}
		if slices.Contains(seen, k.Value) {
			l.errorf(k, "key %q given twice", k.Value)
			continue
		}
		seen = append(seen, k.Value)
		keys[at].read(l, v)
	}
}

func keyNames(keys []keyReader) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.name
	}
	return out
}

func (l *loader) str(n *nodes.Node) string {
	if n.Kind != nodes.Scalar {
		l.errorf(n, "want one value here")
		return ""
	}
	return n.Value
}

// strs reads a list of strings; a single string is a list of one.
func (l *loader) strs(n *nodes.Node) []string {
	if n.Kind == nodes.Scalar {
		return []string{n.Value}
	}
	if n.Kind != nodes.Sequence {
		l.errorf(n, "want a list")
		return nil
	}
	out := make([]string, len(n.Content))
	for i := range n.Content {
		out[i] = l.str(&n.Content[i])
	}
	return out
}

func (l *loader) flag(n *nodes.Node) bool {
	if n.Value != "true" && n.Value != "false" {
		l.errorf(n, "want true or false, not %q", n.Value)
	}
	return n.Value == "true"
}

// lag reads a duration, "call" for the deadline of a runtime call, or a field name
// in braces.
func (l *loader) lag(n *nodes.Node) {
	switch field, ok := strings.CutPrefix(n.Value, "{"); {
	case n.Value == "call":
		l.sig.Lag = parse.LagCall
	case ok && strings.HasSuffix(field, "}"):
		l.sig.LagField = strings.TrimSuffix(field, "}")
	default:
		d, err := time.ParseDuration(n.Value)
		if err != nil || d <= 0 {
			l.errorf(n, "want a duration such as 2m, call, or a field such as {dur}, not %q", n.Value)
			return
		}
		l.sig.Lag = d
	}
}

func (l *loader) source(n *nodes.Node, s string) parse.Source {
	if !slices.Contains(sourceNames, s) {
		l.errorf(n, "unknown source %q%s", s, suggest(s, sourceNames))
	}
	return parse.Source(s)
}

var sourceNames = []string{
	string(parse.SrcKubelet), string(parse.SrcCRIO), string(parse.SrcContainerd), string(parse.SrcDockerd),
	string(parse.SrcPodman), string(parse.SrcKernel), string(parse.SrcSystemd), string(parse.SrcCNI),
	string(parse.SrcSystem), string(parse.SrcKubeEvents), string(parse.SrcFacts), string(parse.SrcStack),
}

func (l *loader) regexps(n *nodes.Node) []*Regexp {
	var out []*Regexp
	for _, s := range l.strs(n) {
		if l.ours {
			out = append(out, rightRegexp(s))
			continue
		}
		re, err := NewRegexp(s)
		if err != nil {
			l.errorf(n, "%v", err)
			continue
		}
		out = append(out, re)
	}
	return out
}

// pair is one key: value of a mapping.
type pair struct {
	key   string
	value *nodes.Node
}

func (p pair) field() parse.Field { return parse.Field{Name: p.key, Value: p.value.Value} }

func (p pair) keyed() Key { return Key{Name: p.key, Field: p.value.Value} }

func (l *loader) pairs(n *nodes.Node) []pair {
	if n.Kind != nodes.Mapping {
		l.errorf(n, "want key: value pairs")
		return nil
	}
	out := make([]pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		l.str(&n.Content[i+1])
		out = append(out, pair{n.Content[i].Value, &n.Content[i+1]})
	}
	return out
}

func (l *loader) fields(n *nodes.Node) []parse.Field {
	pairs := l.pairs(n)
	out := make([]parse.Field, len(pairs))
	for i, p := range pairs {
		out[i] = p.field()
	}
	return out
}

func (l *loader) samples(n *nodes.Node) {
	if n.Kind != nodes.Sequence {
		l.errorf(n, "want a list of samples")
		return
	}
	for i := range n.Content {
		l.sig.Samples = append(l.sig.Samples, Sample{})
		s := l.sample()
		if c := &n.Content[i]; c.Kind == nodes.Scalar {
			s.Msg = c.Value
		} else {
			l.mapping(c, sampleKeys)
		}
		if s.Source == "" && len(l.sig.Sources) > 0 {
			s.Source = l.sig.Sources[0]
		}
	}
}

// sampleKeys are the keys of a sample. They apply to the last sample of the
// signature.
var sampleKeys = []keyReader{
	{"line", func(l *loader, n *nodes.Node) { l.sample().Msg = l.str(n) }},
	{"source", func(l *loader, n *nodes.Node) { l.sample().Source = l.source(n, l.str(n)) }},
	{"fields", func(l *loader, n *nodes.Node) { l.sample().Fields = l.fields(n) }},
}

func (l *loader) sample() *Sample { return &l.sig.Samples[len(l.sig.Samples)-1] }

// check reports what an entry lacks as a whole.
func (l *loader) check() {
	s, n := l.sig, &nodes.Node{Line: l.sig.Line}
	if s.ID == "" {
		l.errorf(n, "signature without id")
	}
	if len(s.Literals) == 0 {
		l.errorf(n, "signature %s has no literals to find it by", s.ID)
	}
	for _, lit := range s.Literals {
		if len(lit) < MinLiteral {
			l.errorf(n, "signature %s: literal %q has fewer than %d bytes", s.ID, lit, MinLiteral)
		}
	}
	if len(s.Samples) == 0 {
		l.errorf(n, "signature %s has no samples: give at least one line that it matches", s.ID)
	}
	if len(s.Keys) > 0 && len(s.Messages) == 0 && len(s.Regexps) == 0 {
		l.errorf(n, "signature %s has keys but neither message nor regexp", s.ID)
	}
	if !l.ours {
		l.bound(n)
	}
}

// suggest names the nearest known word, or lists all known ones if none is near.
func suggest(word string, known []string) string {
	if best := spell.Within(word, known, 2, 1); len(best) > 0 {
		return fmt.Sprintf("; did you mean %q?", best[0])
	}
	return "; known: " + strings.Join(known, ", ")
}
