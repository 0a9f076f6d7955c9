package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// Arg is an argument of a condition.
type Arg struct {
	Name string
	Type ArgType
}

// ArgType is the type of an argument. OK reports whether a text is a valid value; Want
// describes a valid value for error messages.
type ArgType struct {
	Want string
	OK   func(text string) bool
}

// args builds arguments from alternating names and ArgTypes.
func args(pairs ...any) []Arg {
	out := make([]Arg, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, Arg{pairs[i].(string), pairs[i+1].(ArgType)})
	}
	return out
}

// Argument types.
var (
	argDuration = ArgType{"a duration such as 90s or 2m", func(s string) bool { d, ok := duration(s); return ok && d > 0 }}
	argSpan     = ArgType{"a duration such as 10m, or a multiple of the RPC timeout such as 2T", func(s string) bool {
		if k, ok := strings.CutSuffix(s, "T"); ok {
			f, err := strconv.ParseFloat(k, 64)
			return err == nil && f > 0
		}
		d, ok := duration(s)
		return ok && d > 0
	}}
	argCount      = ArgType{"a count", func(s string) bool { n, err := strconv.Atoi(s); return err == nil && n > 0 }}
	argVersions   = ArgType{`a version range such as ">=1.6 <1.14"`, func(s string) bool { _, ok := parseRange(s); return ok }}
	argPattern    = ArgType{"a regular expression", func(s string) bool { _, err := pattern.Parse(s); return err == nil }}
	argCalls      = ArgType{"names of CRI calls, separated by commas", func(s string) bool { return everyWord(s, ",", isCall) }}
	argOperations = ArgType{"operations of the metrics, such as list_podsandbox, separated by commas", func(s string) bool {
		return everyWord(s, ",", func(w string) bool { return strings.Contains(w, "_") && strings.ToLower(w) == w })
	}}
	argSig     = ArgType{"the id of a signature", func(s string) bool { return strings.Contains(s, ".") }}
	argText    = ArgType{"text", func(s string) bool { return s != "" }}
	argSteps   = oneOrMore(" ", "list", "inspect", "deliver")
	argScopes  = oneOrMore(",", "all", "ready", "pod", "")
	argCadence = oneOrMore("", "steady", "slow")
	argRuntime = oneOrMore("", "docker", "containerd", "crio")
	argOn      = oneOrMore(" ", "docker", "containerd", "crio")
)

// oneOrMore returns the type of one or more of the given words, separated by sep. If sep is
// "", exactly one word is allowed.
func oneOrMore(sep string, words ...string) ArgType {
	known := func(w string) bool { return slices.Contains(words, w) }
	if sep == "" {
		return ArgType{"one of " + strings.Join(words, ", "), known}
	}
	return ArgType{"of " + strings.Join(words, ", "), func(s string) bool { return everyWord(s, sep, known) }}
}

func everyWord(s, sep string, ok func(string) bool) bool {
	for w := range strings.SplitSeq(s, sep) {
		if !ok(w) {
			return false
		}
	}
	return true
}

// isCall reports whether a word is spelled like a CRI call or the name of a kubelet
// function.
func isCall(w string) bool {
	return len(w) > 3 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// checkArgs checks the given arguments against those of a condition and returns a message
// for each problem.
func checkArgs(c *Condition, given map[string]string) (problems []string) {
	names := make([]string, len(c.Args))
	for i, a := range c.Args {
		names[i] = a.Name
		if v, ok := given[a.Name]; ok && !a.Type.OK(v) {
			problems = append(problems, fmt.Sprintf("argument %s of condition %s: %q is not %s", a.Name, c.Name, v, a.Type.Want))
		}
	}
	for k := range given {
		if !slices.Contains(names, k) {
			known := "it takes none"
			if len(names) > 0 {
				known = "it takes " + strings.Join(names, ", ")
			}
			problems = append(problems, fmt.Sprintf("condition %s has no argument %q; %s", c.Name, k, known))
		}
	}
	slices.Sort(problems)
	return problems
}
