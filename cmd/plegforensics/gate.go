package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules"
)

// findings is the input of a gate, whichever command produced it.
type findings struct {
	episodes int
	breaches []foundBreach
	causes   []foundCause
}

type foundBreach struct {
	rule, node string
	severity   rules.Severity
}

type foundCause struct {
	id    string
	nodes []string
}

func findingsOf(r *model.Analysis) findings {
	var f findings
	for i := range r.Nodes {
		n := &r.Nodes[i]
		f.episodes += len(n.Episodes)
		for j := range n.Breaches {
			f.breaches = append(f.breaches, foundBreach{n.Breaches[j].Rule, n.Name, n.Breaches[j].Severity})
		}
		for j := range n.Causes {
			f.causes = append(f.causes, foundCause{n.Causes[j].ID, []string{n.Name}})
		}
	}
	return f
}

func fleetFindings(v *fleet.View) findings {
	f := findings{episodes: v.Episodes}
	for _, m := range v.Nodes {
		for _, b := range m.Breaches {
			f.breaches = append(f.breaches, foundBreach{b.Rule, m.Name, rules.Severity(b.Severity)})
		}
	}
	for _, r := range v.Causes {
		f.causes = append(f.causes, foundCause{r.ID, r.Nodes})
	}
	return f
}

// gate is one --fail-on condition. It returns the reason to fail, "" if there is none.
type gate func(findings) string

// gateWords are the values of --fail-on.
var gateWords = []string{"none", "info", "warning", "critical", "cause:ID", "episodes>N"}

// gateFlag returns --fail-on, which is the same in every command that has findings.
func gateFlag() cli.Flag {
	f := listFlag(catRules, "fail-on", "exit 1 when `GATE` holds, repeatable: "+strings.Join(gateWords, ", "))
	f.DefaultText = "none"
	return f
}

// gatesOf parses --fail-on. causes returns the IDs that cause:ID may name.
func gatesOf(c *cli.Context, causes func() ([]string, error)) ([]gate, error) {
	var out []gate
	for _, word := range c.StringSlice("fail-on") {
		if v, set := os.LookupEnv("PLEGFORENSICS_FAIL_ON"); word == "" && set && v == "" {
			continue // an empty variable means none; an empty flag is a mistake
		}
		g, err := gateOf(strings.TrimSpace(word), causes)
		if err != nil {
			return nil, err
		}
		if g != nil {
			out = append(out, g)
		}
	}
	return out, nil
}

func gateOf(word string, causes func() ([]string, error)) (gate, error) {
	if word == "none" {
		return nil, nil
	}
	if id, ok := strings.CutPrefix(word, "cause:"); ok {
		return causeGate(id), checkCause(id, causes)
	}
	if s, ok := strings.CutPrefix(word, "episodes>"); ok {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return nil, usage("for example episodes>0", "--fail-on: invalid number in %q", word)
		}
		return episodeGate(n), nil
	}
	level := rules.Severity(word)
	if level.Rank() == 0 {
		return nil, unknown("value of --fail-on", word, gateWords)
	}
	return severityGate(level), nil
}

func checkCause(id string, causes func() ([]string, error)) error {
	ids, err := causes()
	switch {
	case err != nil || slices.Contains(ids, id):
		return err
	case rules.LookupBreach(id) != nil:
		return usage("breaches count by severity: --fail-on warning", "--fail-on: %q is a breach rule and no cause", id)
	}
	return unknown("cause", id, ids)
}

// causeIDs returns a function that lists the IDs of the causes selected by flags.
func causeIDs(c *cli.Context) func() ([]string, error) {
	return func() ([]string, error) {
		pack, err := rulePack(c)
		if err != nil {
			return nil, err
		}
		return pack.CauseIDs(), nil
	}
}

func episodeGate(most int) gate {
	return func(f findings) string {
		if f.episodes <= most {
			return ""
		}
		return fmt.Sprintf("%s, more than %d", parse.Plural(f.episodes, "episode"), most)
	}
}

func causeGate(id string) gate {
	return func(f findings) string {
		var nodes []string
		for _, c := range f.causes {
			if c.id == id {
				nodes = append(nodes, c.nodes...)
			}
		}
		if len(nodes) == 0 {
			return ""
		}
		return fmt.Sprintf("cause %s on %s", id, strings.Join(nodes, ", "))
	}
}

// severityGate fails on findings of at least level. It names the worst one and the number of
// others.
func severityGate(level rules.Severity) gate {
	return func(f findings) string {
		var worst *foundBreach
		others := -1
		for i := range f.breaches {
			b := &f.breaches[i]
			if b.severity.Rank() < level.Rank() {
				continue
			}
			others++
			if worst == nil || b.severity.Rank() > worst.severity.Rank() {
				worst = b
			}
		}
		switch {
		case worst == nil:
			return ""
		case others == 0:
			return fmt.Sprintf("%s on %s is %s", worst.rule, worst.node, worst.severity)
		}
		return fmt.Sprintf("%s on %s is %s, and %s", worst.rule, worst.node, worst.severity, parse.Plural(others, "other finding"))
	}
}

// held returns the failure of the first gate that holds, nil if none does.
func held(gates []gate, f findings) error {
	for _, g := range gates {
		if why := g(f); why != "" {
			return &exitError{code: exitFindings, msg: "--fail-on: " + why}
		}
	}
	return nil
}
