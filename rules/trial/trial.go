// Package trial runs the test cases of cause definitions: it decodes the lines of a case
// like a bundle, rebuilds the node, evaluates the rules and compares the result with what
// the case expects.
//
// It reads no files and decodes logs only; a case supplies facts directly. The command
// "rules test" and the tests of the built-in pack use it.
package trial

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/clock"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// Year is assumed for log lines without a year.
const Year = 2026

// Outcome is the result of one test case.
type Outcome struct {
	Def  *rules.Def
	Case *rules.TestCase
	Fail string // "" if the case passes
}

// String returns the outcome on one line, with the position of the case.
func (o Outcome) String() string {
	p := o.Case.Place
	s := fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, o.Def.ID, o.Case.Name)
	if o.Fail != "" {
		s += ": " + o.Fail
	}
	return s
}

// Run runs every test case of the pack, in order, with the pack's signatures.
func Run(pack *rules.Pack) []Outcome {
	var out []Outcome
	for _, d := range pack.Causes {
		for i := range d.Tests {
			c := &d.Tests[i]
			out = append(out, Outcome{d, c, Check(d, c, Eval(c, pack, pack.Signatures()))})
		}
	}
	return out
}

// Eval returns the ranked causes that the pack finds in the lines of a case, followed by
// the look-alikes.
func Eval(c *rules.TestCase, pack *rules.Pack, set *logs.Set) []rules.Cause {
	nodes := replay.Build(Bundle(c, set), replay.Options{})
	var all []rules.Cause
	for _, n := range nodes {
		r := rules.Eval(n, pack)
		all = append(all, r.Causes...)
		for _, l := range r.LookAlikes {
			if !named(all, l.ID) {
				all = append(all, l)
			}
		}
	}
	return all
}

func named(cs []rules.Cause, id string) bool {
	for _, c := range cs {
		if c.ID == id {
			return true
		}
	}
	return false
}

// Check compares the causes found with what the case expects. It returns "" if they agree,
// otherwise a message.
func Check(d *rules.Def, c *rules.TestCase, got []rules.Cause) string {
	at, level := -1, rules.Level("")
	for i, g := range got {
		if g.ID == d.ID {
			at, level = i, g.Level
			break
		}
	}
	switch {
	case c.AtMost != "":
		if at >= 0 && rank(level) > rank(rules.Level(c.AtMost)) {
			return fmt.Sprintf("is %s, want at most %s", level, c.AtMost)
		}
		return ""
	case c.Inverse:
		if at >= 0 {
			return fmt.Sprintf("is named (%s, place %d) and must not be", level, at+1)
		}
		return ""
	case at < 0 || at >= c.Rank:
		return fmt.Sprintf("want place %d or better, got %s", c.Rank, list(got))
	case rank(level) < rank(rules.Level(c.Level)):
		return fmt.Sprintf("is %s, want %s", level, c.Level)
	}
	return ""
}

func rank(l rules.Level) int {
	switch l {
	case rules.Possible:
		return 1
	case rules.Likely:
		return 2
	case rules.Confirmed:
		return 3
	}
	return 0
}

func list(cs []rules.Cause) string {
	if len(cs) == 0 {
		return "no cause"
	}
	var out []string
	for _, c := range cs {
		out = append(out, fmt.Sprintf("%s %.2f", c.ID, c.Confidence))
	}
	return strings.Join(out, ", ")
}

// Bundle decodes the files and facts of a case into a bundle.
func Bundle(c *rules.TestCase, set *logs.Set) *parse.Bundle {
	b := &parse.Bundle{Inputs: []parse.Input{{Path: "case"}}}
	for _, tf := range c.Files {
		f := &parse.File{Path: tf.Name, Role: parse.RoleLog, Size: int64(len(tf.Text))}
		b.Files = append(b.Files, f)
		decode(b, f, []byte(tf.Text), set)
	}
	addFacts(b, c.Facts)
	clock.Resolve(b, clock.Options{Year: Year})
	sort.SliceStable(b.Events, func(i, j int) bool {
		x, y := b.Events[i], b.Events[j]
		if x.At != y.At {
			return x.At < y.At
		}
		return x.Where().Before(y.Where())
	})
	return b
}

func decode(b *parse.Bundle, f *parse.File, text []byte, set *logs.Set) {
	d := logs.NewDecoder(f, text, set, logs.Options{})
	p := d.Finish([]logs.Result{d.Decode(logs.Run{Data: text, Last: true})})
	b.Events = append(b.Events, p.Events...)
	b.Coverage = append(b.Coverage, p.Coverage...)
	b.Markers = append(b.Markers, p.Markers...)
	b.Facts = append(b.Facts, p.Facts...)
	b.Containers = append(b.Containers, p.Containers...)
	b.Warnings = append(b.Warnings, p.Warnings...)
}

// addFacts adds the facts of a case, each as one line of a file named "facts".
func addFacts(b *parse.Bundle, fs []rules.TestFact) {
	if len(fs) == 0 {
		return
	}
	file := &parse.File{Path: "facts", Role: parse.RoleFacts, Size: -1}
	b.Files = append(b.Files, file)
	for i, tf := range fs {
		f := &parse.Fact{Pos: parse.Pos{File: file, Line: uint32(i + 1)}, Key: tf.Key, Value: tf.Value, Num: math.NaN(), Text: parse.PlainText(tf.Key + " " + tf.Value)}
		if x, err := strconv.ParseFloat(tf.Value, 64); err == nil {
			f.Num = x
		}
		for k, v := range tf.Attrs {
			f.Attrs = append(f.Attrs, parse.Field{Name: k, Value: v})
		}
		sort.Slice(f.Attrs, func(i, j int) bool { return f.Attrs[i].Name < f.Attrs[j].Name })
		b.Facts = append(b.Facts, f)
	}
}
