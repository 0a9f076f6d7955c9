package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/rules"
)

// gate is one --fail-on: it says why the run fails, "" if it does not.
type gate func(v *fleet.View) string

// gatesOf reads --fail-on. Pack is nil where no rules are at hand to check the
// names of causes.
func gatesOf(c *cli.Context, pack *rules.Pack) ([]gate, error) {
	var out []gate
	for _, word := range c.StringSlice("fail-on") {
		g, err := gateOf(word, pack)
		if err != nil {
			return nil, err
		}
		if g != nil {
			out = append(out, g)
		}
	}
	return out, nil
}

func gateOf(word string, pack *rules.Pack) (gate, error) {
	if id, ok := strings.CutPrefix(word, "cause:"); ok {
		if pack != nil && pack.Cause(id) == nil {
			return nil, unknown("cause", id, pack.IDs())
		}
		return causeGate(id), nil
	}
	if s, ok := strings.CutPrefix(word, "episodes>"); ok {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return nil, usage("for example episodes>0", "--fail-on: bad number in %q", word)
		}
		return func(v *fleet.View) string {
			if v.Episodes <= n {
				return ""
			}
			return fmt.Sprintf("%s, more than %d", report.Plural(v.Episodes, "episode"), n)
		}, nil
	}
	level := rules.Severity(word)
	if word == "none" {
		return nil, nil
	}
	if level.Rank() == 0 {
		return nil, unknown("value of --fail-on", word, []string{"none", "info", "warning", "critical", "cause:ID", "episodes>N"})
	}
	return severityGate(level), nil
}

func causeGate(id string) gate {
	return func(v *fleet.View) string {
		for _, r := range v.Causes {
			if r.ID == id {
				return fmt.Sprintf("cause %s on %s", id, strings.Join(r.Nodes, ", "))
			}
		}
		return ""
	}
}

func severityGate(level rules.Severity) gate {
	return func(v *fleet.View) string {
		for _, m := range v.Nodes {
			for _, b := range m.Breaches {
				if rules.Severity(b.Severity).Rank() >= level.Rank() {
					return fmt.Sprintf("%s on %s is %s", b.Rule, m.Name, b.Severity)
				}
			}
		}
		return ""
	}
}

// finishBatch writes the partial and the report, and gives the verdict. Empty
// says that this shard has no bundles, which is no failure.
func finishBatch(c *cli.Context, ts []target, gates []gate, p *fleet.Partial, empty bool) error {
	if path := c.String("partial"); path != "" {
		if err := writeFile(path, p.Write); err != nil {
			return &exitError{code: exitUsage, msg: err.Error()}
		}
	}
	v := fleet.NewView(p)
	for _, t := range ts {
		if err := writeFleet(c, t, v); err != nil {
			return err
		}
	}
	return batchVerdict(c, gates, v, empty)
}

func writeFleet(c *cli.Context, t target, v *fleet.View) error {
	for _, f := range fleet.Formats {
		if f.Name != t.format.Name {
			continue
		}
		write := func(w io.Writer) error { return f.Write(w, v, c.Bool("verbose")) }
		if t.path == "" {
			return write(c.App.Writer)
		}
		if err := writeFile(t.path, write); err != nil {
			return &exitError{code: exitUsage, msg: err.Error()}
		}
	}
	return nil
}

func batchVerdict(c *cli.Context, gates []gate, v *fleet.View, empty bool) error {
	if v.By[fleet.Analysed]+v.By[fleet.Partly] == 0 && !empty {
		return &exitError{code: exitNothing, msg: "no bundle could be analysed", hint: "inspect INPUT tells what was found in one"}
	}
	if c.Bool("strict") && len(v.Problems) > 0 {
		return &exitError{code: exitPartial, msg: "not analysed whole: " + report.Plural(len(v.Problems), "bundle"), hint: "the report lists them"}
	}
	for _, g := range gates {
		if why := g(v); why != "" {
			return &exitError{code: exitFindings, msg: "--fail-on: " + visible(why)}
		}
	}
	return nil
}

// mergeAction makes one report of partials.
func mergeAction(c *cli.Context) error {
	ts, err := targets(c, fleetFormats())
	if err != nil {
		return err
	}
	gates, err := gatesOf(c, nil)
	if err != nil {
		return err
	}
	if !c.Args().Present() {
		return usage("plegforensics batch merge out/*.plegp", "no partials given")
	}
	var ps []*fleet.Partial
	for _, path := range partialFiles(c.Args().Slice()) {
		p, err := readPartial(path)
		if err != nil {
			return &exitError{exitNothing, fmt.Sprintf("%s: %v", path, err), "batch --partial PATH writes partials"}
		}
		ps = append(ps, p)
	}
	p, err := fleet.Merge(ps...)
	if errors.Is(err, fleet.ErrMixed) {
		return usage("run all shards with one version and the same flags", "%v", err)
	}
	if err != nil {
		return err
	}
	missing := p.Missing()
	if len(missing) > 0 && !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: no partial of shard %s: the report lacks their bundles\n", shardList(missing))
	}
	if err := finishBatch(c, ts, gates, p, false); err != nil || len(missing) == 0 || !c.Bool("strict") {
		return err
	}
	return &exitError{code: exitPartial, msg: "no partial of shard " + shardList(missing), hint: "run these shards again"}
}

// shardList names the first few shards.
func shardList(ss []fleet.Shard) string {
	const most = 20
	var words []string
	for _, s := range ss[:min(len(ss), most)] {
		words = append(words, s.String())
	}
	if len(ss) > most {
		words = append(words, fmt.Sprintf("and %d more", len(ss)-most))
	}
	return strings.Join(words, ", ")
}

// partialFiles takes the partials of directories, files as they are.
func partialFiles(args []string) []string {
	var out []string
	for _, arg := range args {
		names, _ := filepath.Glob(filepath.Join(arg, "*.plegp"))
		if len(names) == 0 {
			names = []string{arg}
		}
		out = append(out, names...)
	}
	return out
}

func readPartial(path string) (*fleet.Partial, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	return fleet.Read(f)
}
