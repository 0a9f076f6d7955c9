package logs

import (
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs/signatures"
)

// Limits on user signatures, several times what any built-in signature needs.
const (
	mostOwn      = 1000 // signatures in all files together
	mostLiterals = 100  // per signature
	mostCommon   = 10   // a literal may occur in at most one of this many ordinary lines
	mostProgram  = 4000 // instructions of a compiled expression
)

var ownID = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// Affordable returns an error for an expression that would be slow on every text:
// matching time grows with its compiled size.
func Affordable(tree *syntax.Regexp) error {
	p, err := syntax.Compile(tree.Simplify())
	if err == nil && len(p.Inst) > mostProgram {
		err = fmt.Errorf("the expression takes up to %d steps for each character, more than %d: shorten its repetitions", len(p.Inst), mostProgram)
	}
	return err
}

// bound reports what would make a user's signature slow on ordinary logs.
func (l *loader) bound(n *nodes.Node) {
	s := l.sig
	if s.ID != "" && !ownID.MatchString(s.ID) {
		l.errorf(n, "signature %q: an id is words of small letters and digits with a dot between them", s.ID)
	}
	if len(s.Literals) > mostLiterals {
		l.errorf(n, "signature %s has %d literals, more than %d", s.ID, len(s.Literals), mostLiterals)
	}
	quiet := strings.Split(signatures.Quiet, "\n")
	for _, lit := range s.Literals {
		holds := func(line string) bool { return contains([]byte(line), lit, s.Fold) }
		if !slices.ContainsFunc(quiet, holds) {
			continue
		}
		if k := len(slices.DeleteFunc(slices.Clone(quiet), func(line string) bool { return !holds(line) })); k*mostCommon > len(quiet) {
			l.errorf(n, "signature %s: literal %q stands in %d of %d ordinary lines, so it finds nothing", s.ID, lit, k, len(quiet))
		}
	}
}

// Extend compiles the built-in signatures followed by those of a user. If something
// is wrong with the latter, the set is nil and the mistakes are those that loading
// has not already reported.
func Extend(own []*Signature) (*Set, []Mistake) {
	if slices.ContainsFunc(own, func(s *Signature) bool { return s.Wrong }) {
		return nil, nil
	}
	builtin, err := BuiltinSignatures()
	if err != nil {
		panic("embedded signatures: " + err.Error()) // a test loads every embedded file
	}
	all := slices.Concat(builtin, own)
	bad := doubles(all, len(builtin))
	if len(own) > mostOwn {
		bad = append(bad, Mistake{own[mostOwn].File, own[mostOwn].Line, fmt.Sprintf("%d signatures are more than %d", len(own), mostOwn)})
	}
	if len(bad) > 0 {
		return nil, bad
	}
	set, err := Build(all...)
	if err != nil {
		return nil, []Mistake{{own[0].File, own[0].Line, err.Error()}}
	}
	for _, e := range set.entries[len(builtin):] {
		for _, msg := range set.untrue(e) {
			bad = append(bad, Mistake{e.File, e.Line, msg})
		}
	}
	if len(bad) > 0 {
		return nil, bad
	}
	return set, nil
}

// doubles reports signatures from index from on that have the ID of an earlier one
// in another file or find the same lines as an earlier one.
func doubles(all []*Signature, from int) (out []Mistake) {
	ids, finds := map[string]*Signature{}, map[string][]*Signature{}
	for i, s := range all {
		key := s.finder()
		if i >= from {
			if o := ids[s.ID]; o != nil && o.File != s.File {
				out = append(out, Mistake{s.File, s.Line, fmt.Sprintf("signature %s is defined at %s:%d", s.ID, o.File, o.Line)})
			} else if at := slices.IndexFunc(finds[key], s.writtenBy); at >= 0 {
				o := finds[key][at]
				out = append(out, Mistake{s.File, s.Line, fmt.Sprintf("signature %s finds the same lines as %s (%s:%d)", s.ID, o.ID, o.File, o.Line)})
			}
		}
		ids[s.ID], finds[key] = cmp.Or(ids[s.ID], s), append(finds[key], s)
	}
	return out
}

// writtenBy reports whether o reads all writers that s reads.
func (s *Signature) writtenBy(o *Signature) bool {
	return len(o.Sources) == 0 || len(s.Sources) > 0 && !slices.ContainsFunc(s.Sources, func(src parse.Source) bool { return !slices.Contains(o.Sources, src) })
}

// finder returns a key for what determines which lines of its writers a signature
// finds and the fields it extracts.
func (s *Signature) finder() string {
	var exprs []string
	for _, re := range s.Regexps {
		exprs = append(exprs, re.String())
	}
	return fmt.Sprintf("%q", [][]string{sorted(s.Literals), exprs, sorted(s.Messages), sorted(s.Unless), {s.Extract, s.Severity}}) + fmt.Sprint(s.Keys, s.Set)
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// untrue checks an entry against its own samples: each must match and yield its
// fields, and no "not" line may match.
func (s *Set) untrue(e *entry) (out []string) {
	matches := func(src parse.Source, line string) bool {
		found := s.Match(src, 0, []byte(line))
		return found != nil && slices.Contains(found.Sigs, e.sig)
	}
	for i, sample := range e.Samples {
		if !matches(sample.Source, sample.Msg) {
			out = append(out, fmt.Sprintf("signature %s does not match its sample %d: %s", e.ID, i+1, sample.Msg))
			continue
		}
		want := slices.Clone(sample.Fields)
		for _, f := range e.Set { // a sample may omit them
			if !slices.ContainsFunc(want, func(w parse.Field) bool { return w.Name == f.Name }) {
				want = append(want, f)
			}
		}
		if want, got := listed(want), listed(e.fields(sample.Msg, nil)); want != got {
			out = append(out, fmt.Sprintf("signature %s: sample %d states the fields {%s}, and its line has {%s}", e.ID, i+1, want, got))
		}
	}
	for _, line := range e.Not {
		if src := append(slices.Clone(e.Sources), parse.SrcUnknown)[0]; matches(src, line) {
			out = append(out, fmt.Sprintf("signature %s matches a line of its own \"not\": %s", e.ID, line))
		}
	}
	return out
}

// listed formats fields, sorted by name.
func listed(fields []parse.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, fmt.Sprintf("%s: %q", f.Name, f.Value))
	}
	return strings.Join(sorted(out), ", ")
}
