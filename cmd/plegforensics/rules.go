package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/trial"
)

func rulesCommand() *cli.Command {
	return &cli.Command{
		Name:  "rules",
		Usage: "the built-in and user rule packs: list, show, check, test",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "one line for each cause and breach rule", ArgsUsage: " ", Flags: packFlags(), Action: rulesList},
			{Name: "show", Usage: "the runbook page of a cause or breach rule, as explain prints it", ArgsUsage: "ID", Flags: packFlags(), Action: explainCommand().Action},
			{Name: "check", Usage: "look for mistakes in rule files", ArgsUsage: "[PATH...]", Flags: packFlags(), Action: rulesCheck,
				Description: "Without PATH the built-in causes are checked. Exit status 2 when something is wrong."},
			{Name: "test", Usage: "run the test cases of rule files", ArgsUsage: "[PATH...]", Flags: packFlags(), Action: rulesTest,
				Description: "Without PATH the built-in causes are tested. Exit status 1 when a case fails."},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknown("rules command", c.Args().First(), []string{"list", "show", "check", "test"})
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// packFlags choose the rule pack.
func packFlags() []cli.Flag {
	return []cli.Flag{
		listFlag(catRules, "rules", "extra rule pack, file or directory `PATH`; repeatable"),
		boolFlag(catRules, "no-builtin-rules", "leave the built-in causes out"),
	}
}

func rulesList(c *cli.Context) error {
	pack, err := rulePack(c)
	if err != nil {
		return err
	}
	return listRules(c.App.Writer, pack)
}

// listRules prints one line for each cause, look-alike and breach rule.
func listRules(w io.Writer, pack *rules.Pack) error {
	var lines []string
	for _, d := range pack.Causes {
		kind := string(d.Kind)
		if len(d.Phase) > 0 {
			kind += " (" + strings.Join(d.Phase, ", ") + ")"
		}
		lines = append(lines, fmt.Sprintf("%-32s %-24s %s", d.ID, kind, d.Title))
	}
	for _, r := range rules.BreachRules() {
		lines = append(lines, fmt.Sprintf("%-32s %-24s %s", r.ID, "breach, "+string(r.Severity), r.Title))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// rulesCheck reads the files named and prints every mistake with its position.
func rulesCheck(c *cli.Context) error {
	pack, probs, files, err := packOf(c)
	if err != nil {
		return err
	}
	probs = append(probs, pack.Check(signatureIDs(), factKeys())...)
	sort.SliceStable(probs, func(i, j int) bool {
		a, b := probs[i], probs[j]
		return a.File < b.File || a.File == b.File && a.Line < b.Line
	})
	for _, p := range probs {
		if !inFiles(p.File, files) {
			continue
		}
		fmt.Fprintln(c.App.Writer, visible(p.String()))
	}
	if n := countIn(probs, files); n > 0 {
		return usage("", "%d mistakes in rule files", n)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%d causes, no mistakes\n", countDefs(pack, files))
	return err
}

// rulesTest runs the test cases of the files named against the whole pack.
func rulesTest(c *cli.Context) error {
	pack, probs, files, err := packOf(c)
	if err != nil {
		return err
	}
	if countIn(probs, files) > 0 {
		return usage("rules check shows all mistakes", "%s", probs[0])
	}
	failed, run := 0, 0
	for _, o := range trial.Run(pack, logs.Builtin()) {
		if !inFiles(o.Def.Place.File, files) {
			continue
		}
		run++
		if o.Fail != "" {
			failed++
			fmt.Fprintln(c.App.Writer, "FAIL", visible(o.String()))
		}
	}
	fmt.Fprintf(c.App.Writer, "%d cases, %d failed\n", run, failed)
	if failed > 0 {
		return &exitError{code: exitFindings}
	}
	return nil
}

// packOf reads the files of the arguments on top of the pack of the flags.
// files is nil when none was named: then the whole pack is meant.
func packOf(c *cli.Context) (*rules.Pack, []rules.Problem, []string, error) {
	pack, err := rulePack(c)
	if err != nil {
		return nil, nil, nil, err
	}
	if !c.Args().Present() {
		_, probs := rules.Builtin()
		return pack, probs, nil, nil
	}
	var probs []rules.Problem
	var files []string
	for _, path := range c.Args().Slice() {
		names, err := ruleFiles(path)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, nil, nil, usage("", "%v", err)
			}
			defs, bad := rules.Read(name, data)
			pack.Add(defs...)
			probs = append(probs, bad...)
			files = append(files, name)
		}
	}
	return pack, probs, files, nil
}

// ruleFiles is a rule file, or all .yaml files of a directory.
func ruleFiles(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, usage("", "%v", err)
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	names, _ := filepath.Glob(filepath.Join(path, "*.yaml"))
	if len(names) == 0 {
		return nil, usage("a rule file ends in .yaml", "no rule files in %s", path)
	}
	return names, nil
}

func inFiles(name string, files []string) bool {
	for _, f := range files {
		if f == name {
			return true
		}
	}
	return files == nil
}

func countIn(probs []rules.Problem, files []string) int {
	n := 0
	for _, p := range probs {
		if inFiles(p.File, files) {
			n++
		}
	}
	return n
}

func countDefs(p *rules.Pack, files []string) int {
	n := 0
	for _, d := range p.Causes {
		if inFiles(d.Place.File, files) {
			n++
		}
	}
	return n
}

// signatureIDs are the names that a rule may cite as a signature.
func signatureIDs() []string {
	sigs, err := logs.BuiltinSignatures()
	if err != nil {
		return nil // a test of package logs holds the built-in files to be right
	}
	var out []string
	for _, s := range sigs {
		out = append(out, s.ID)
	}
	return out
}

func factKeys() []string {
	var out []string
	for _, k := range facts.Keys {
		out = append(out, k.Name)
	}
	return out
}
