package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// Problem is a mistake in a rule file, at a position.
type Problem struct {
	Place
	Msg  string // lower case, no final period
	Hint string // the nearest correct spelling, or ""
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Msg)
	if p.Hint != "" {
		s += " (did you mean " + strconv.Quote(p.Hint) + "?)"
	}
	return s
}

// Contents is the content of one or more rule files.
type Contents struct {
	Defs       []*Def
	Limits     []Limit
	Signatures []*logs.Signature
}

// Add appends the contents of another file.
func (c *Contents) Add(o Contents) {
	c.Defs = append(c.Defs, o.Defs...)
	c.Limits = append(c.Limits, o.Limits...)
	c.Signatures = append(c.Signatures, o.Signatures...)
}

// Read decodes a rule file: one or more documents separated by "---", each defining a
// cause, thresholds of breach rules or signatures. What it cannot read becomes a Problem
// with its line; everything else is still returned.
func Read(file string, data []byte) (Contents, []Problem) {
	return read(nodes.Parse(file, data), false)
}

// signaturesKey is the only key of a document that holds signatures.
const signaturesKey = "signatures"

// begins reports whether a document is a mapping whose first key is key, so that it does
// not define a cause.
func begins(n *nodes.Node, key string) bool {
	if n.Kind == nodes.Document && len(n.Content) > 0 {
		n = &n.Content[0]
	}
	return n.Kind == nodes.Mapping && len(n.Content) >= 2 && n.Content[0].Value == key
}

func problems(bad []logs.Mistake) (out []Problem) {
	for _, m := range bad {
		out = append(out, Problem{Place{m.File, m.Line}, m.Msg, ""})
	}
	return out
}

// read decodes a parsed file. With ours, the expressions are not parsed until they are
// used, since a test verifies those of the built-in files.
func read(f nodes.File, ours bool) (out Contents, probs []Problem) {
	for i := range f.Docs {
		r := &reader{file: f.Name, ours: ours}
		if doc := &f.Docs[i]; begins(doc, limitsKey) {
			mapping(r, doc, "a document of thresholds", []key[[]Limit]{{limitsKey, (*reader).limitValues}}, &out.Limits)
		} else if begins(doc, signaturesKey) {
			mapping(r, doc, "a document of signatures", []key[[]*logs.Signature]{{signaturesKey, func(r *reader, n *nodes.Node, into *[]*logs.Signature) {
				sigs, bad := logs.Entries(r.file, n)
				*into, r.probs = sigs, append(r.probs, problems(bad)...)
			}}}, &out.Signatures)
		} else if d := r.def(&f.Docs[i]); len(r.probs) == 0 {
			if r.complete(d); len(r.probs) == 0 {
				out.Defs = append(out.Defs, d)
			}
		}
		probs = append(probs, r.probs...)
	}
	if f.Err != nil {
		probs = append(probs, yamlProblem(f.Name, f.Err))
	}
	return out, probs
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: line (\d+): (.*)`) })

// yamlProblem extracts the line of a syntax error, which the library gives only in the
// message.
func yamlProblem(file string, err error) Problem {
	msg, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		msg = m[2]
	}
	return Problem{Place{file, line}, msg, ""}
}

type reader struct {
	file  string
	ours  bool
	probs []Problem
}

func (r *reader) place(n *nodes.Node) Place { return Place{r.file, n.Line} }

func (r *reader) bad(n *nodes.Node, hint, format string, args ...any) {
	r.probs = append(r.probs, Problem{r.place(n), fmt.Sprintf(format, args...), hint})
}

// key is a key that a mapping may have, and the function that reads its value into the
// result.
type key[T any] struct {
	name string
	read func(r *reader, n *nodes.Node, into *T)
}

// mapping reads a mapping. There may be at most 64 keys.
func mapping[T any](r *reader, n *nodes.Node, what string, keys []key[T], into *T) {
	if n.Kind == nodes.Document && len(n.Content) > 0 {
		n = &n.Content[0]
	}
	if n.Kind != nodes.Mapping {
		r.bad(n, "", "%s must be a mapping", what)
		return
	}
	var seen uint64
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := &n.Content[i], &n.Content[i+1]
		at := slices.IndexFunc(keys, func(x key[T]) bool { return x.name == k.Value })
		switch {
		case at < 0:
			r.bad(k, nearest(k.Value, slices.Sorted(slices.Values(namesOf(keys, func(x key[T]) string { return x.name })))), "unknown field %q in %s", k.Value, what)
		case seen>>at&1 != 0:
			r.bad(k, "", "field %q given twice", k.Value)
		default:
			keys[at].read(r, v, into)
			seen |= 1 << at
		}
	}
}

// namesOf returns the names of all, in order.
func namesOf[T any](all []T, name func(T) string) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = name(x)
	}
	return out
}

func (r *reader) str(n *nodes.Node, p *string) {
	if n.Kind != nodes.Scalar {
		r.bad(n, "", "must be text")
		return
	}
	*p = strings.TrimSpace(n.Value)
}

// word reads text that must be one of the given words.
func (r *reader) word(n *nodes.Node, set func(string), all ...string) {
	if slices.Contains(all, n.Value) {
		set(n.Value)
	} else {
		r.noWord(n, all)
	}
}

func (r *reader) noWord(n *nodes.Node, all []string) {
	r.bad(n, nearest(n.Value, all), "%q is not one of %s", n.Value, strings.Join(all, ", "))
}

func (r *reader) strs(n *nodes.Node, p *[]string) {
	if n.Kind == nodes.Scalar {
		*p = []string{strings.TrimSpace(n.Value)}
		return
	}
	r.list(n, func(c *nodes.Node) {
		var s string
		r.str(c, &s)
		*p = append(*p, s)
	})
}

func (r *reader) list(n *nodes.Node, each func(*nodes.Node)) {
	if n.Kind != nodes.Sequence {
		r.bad(n, "", "must be a list")
		return
	}
	for i := range n.Content {
		each(&n.Content[i])
	}
}

func (r *reader) flag(n *nodes.Node, p *bool) {
	v, err := strconv.ParseBool(n.Value)
	if err != nil {
		r.bad(n, "", "%q is neither true nor false", n.Value)
	}
	*p = v
}

func (r *reader) count(n *nodes.Node, p *int) {
	v, err := strconv.Atoi(n.Value)
	if err != nil || v < 0 {
		r.bad(n, "", "%q is not a count", n.Value)
	}
	*p = v
}

func (r *reader) dur(n *nodes.Node, p *int64) {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		r.bad(n, "", "%q is not a duration such as 90s or 2m", n.Value)
	}
	*p = int64(v)
}

// pattern returns nil if the expression is invalid.
func (r *reader) pattern(n *nodes.Node) *pattern.Pattern {
	if r.ours {
		return pattern.Lazy(n.Value)
	}
	p, err := pattern.Parse(n.Value)
	if err != nil {
		r.bad(n, "", "%v", err)
		return nil
	}
	return p
}

// pairs calls each for the pairs of a mapping from text to text, in order.
func (r *reader) pairs(n *nodes.Node, each func(k, v *nodes.Node)) {
	if n.Kind != nodes.Mapping {
		r.bad(n, "", "must be a mapping")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		each(&n.Content[i], &n.Content[i+1])
	}
}

func (r *reader) texts(n *nodes.Node, p *map[string]string) {
	*p = map[string]string{}
	r.pairs(n, func(k, v *nodes.Node) { (*p)[k.Value] = v.Value })
}

var numTest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(<=|>=|<|>|=)\s*(-?[0-9.eE+-]+)$`) })

func parseNum(s string) *NumTest {
	if s == "" || !strings.Contains("<>=", s[:1]) {
		return nil // fast path: not a comparison
	}
	m := numTest().FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	v, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return nil
	}
	return &NumTest{m[1], v}
}

func (r *reader) num(n *nodes.Node, p **NumTest) {
	if *p = parseNum(n.Value); *p == nil {
		r.bad(n, "", "%q is not a comparison such as \">= 0.5\"", n.Value)
	}
}
