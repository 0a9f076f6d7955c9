package main

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/trial"
)

func rulesCommand() *cli.Command {
	return &cli.Command{
		Name:  "rules",
		Usage: "the built-in and user rule packs: list, show, check, test, export",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "one line for each cause and breach rule", ArgsUsage: " ", Flags: packFlags(), Action: rulesList},
			{Name: "show", Usage: "the runbook page of a cause or breach rule, as explain prints it, or a built-in alert", ArgsUsage: "ID...", Flags: packFlags(), Action: rulesShow},
			{Name: "check", Usage: "look for mistakes in rule files", ArgsUsage: "[PATH...]", Flags: packFlags(), Action: rulesCheck,
				Description: "PATH is a file or a directory of causes with their signatures, of Prometheus rules, or of\n" +
					"tests in promtool's format. Without PATH the built-in causes are checked. Exit status 2 when\n" +
					"something is wrong."},
			{Name: "test", Usage: "run the test cases of rule files", ArgsUsage: "[PATH...]", Flags: packFlags(), Action: rulesTest,
				Description: "PATH is a file or a directory of causes, which carry their test cases, or of tests of Prometheus\n" +
					"rules in the format of \"promtool test rules\". Without PATH the built-in causes are tested.\n" +
					"Exit status 1 when a case fails."},
			rulesExportCommand(),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknown("rules command", c.Args().First(), []string{"list", "show", "check", "test", "export"})
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// packFlags select the rule pack.
func packFlags() []cli.Flag {
	return []cli.Flag{
		listFlag(catRules, "rules", "extra rule pack, file or directory `PATH` of causes, thresholds and signatures (known messages); repeatable"),
		boolFlag(catRules, "no-builtin-rules", "leave the built-in causes out"),
		listFlag(catRules, "threshold", "set a threshold of a breach rule, `NAME=VALUE`; repeatable; \"rules list\" names all"),
	}
}

func rulesList(c *cli.Context) error {
	pack, err := rulePack(c)
	if err != nil {
		return err
	}
	return listRules(c.App.Writer, pack)
}

// listRules prints one line for each cause, look-alike, breach rule and alert, then one for each
// threshold with its value and source.
func listRules(w io.Writer, pack *rules.Pack) error {
	p := page{width: listWidth(w)}
	for _, d := range pack.Causes {
		kind := string(d.Kind)
		if len(d.Phase) > 0 {
			kind += " (" + strings.Join(d.Phase, ", ") + ")"
		}
		p.item(0, idColumn, d.ID, kind+": "+d.Title)
	}
	for _, s := range pack.Own {
		p.item(0, idColumn, s.ID, "signature: "+s.Doc)
	}
	for _, r := range rules.BreachRules() {
		p.item(0, idColumn, r.ID, "breach, "+string(r.Severity)+": "+r.Title+limitOf(pack, r.ID))
	}
	for _, name := range alerts.BuiltinAlerts() {
		_, r, _ := alerts.BuiltinRule(name)
		p.item(0, idColumn, name, "alert, "+r.Labels["severity"]+": "+r.Annotations["summary"])
	}
	p.WriteByte('\n')
	p.text(0, "", "Thresholds: --threshold NAME=VALUE, or \"thresholds:\" in a rules file, sets one")
	p.WriteByte('\n')
	for _, l := range pack.Limits() {
		from := l.Source
		if l.Set != "" {
			from = "set by " + l.Set + "; default " + l.Default() + ", " + from
		}
		p.item(0, limitColumn, l.Name, fmt.Sprintf("%-11s %s", strings.ReplaceAll(l.String(), " ", glue), from))
	}
	_, err := io.WriteString(shownLines{w}, p.String())
	return err
}

// Columns at which the descriptions begin.
const idColumn, limitColumn = 34, 42

// limitOf formats the threshold of a breach rule; "" if any event is a breach, or if it has
// several.
func limitOf(p *rules.Pack, id string) string {
	for _, l := range p.LimitsOf(id) {
		if l.Name == id && l.Value > 0 {
			return " (from " + l.String() + ")"
		}
	}
	return ""
}

// mostMistakes is the number of mistakes that are printed one by one.
const mostMistakes = 1000

// rulesCheck reads the named files and prints the mistakes with their positions.
func rulesCheck(c *cli.Context) error {
	named, err := namedRuleFiles(c)
	if err != nil {
		return err
	}
	pack, probs, files, err := packOf(c, named)
	if err != nil {
		return err
	}
	probs = append(probs, pack.Check(factKeys())...)
	sort.SliceStable(probs, func(i, j int) bool {
		a, b := probs[i], probs[j]
		return a.File < b.File || a.File == b.File && a.Line < b.Line
	})
	prom := readPromRules(named)
	var mistakes []string
	for _, p := range probs {
		if inFiles(p.File, files) {
			mistakes = append(mistakes, p.String())
		}
	}
	mistakes = append(mistakes, prom.mistakes...)
	for _, m := range mistakes[:min(len(mistakes), mostMistakes)] {
		fmt.Fprintln(shownLines{c.App.Writer}, m)
	}
	if more := len(mistakes) - mostMistakes; more > 0 {
		fmt.Fprintf(c.App.Writer, "and %d more\n", more)
	}
	if len(mistakes) > 0 {
		return usage("", "%s in rule files", parse.Plural(len(mistakes), "mistake"))
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s, no mistakes\n", contents(pack, files, &prom))
	return err
}

// contents summarizes what was checked.
func contents(pack *rules.Pack, files []string, p *promRules) string {
	causes, limits, sigs := 0, 0, 0
	for _, d := range pack.Causes {
		if inFiles(d.Place.File, files) {
			causes++
		}
	}
	for _, l := range pack.Limits() {
		file, _, _ := strings.Cut(l.Set, ":")
		if l.Set != "" && files != nil && inFiles(file, files) {
			limits++
		}
	}
	for _, s := range pack.Own {
		if inFiles(s.File, files) {
			sigs++
		}
	}
	var parts []string
	if files == nil || len(files) > 0 && (causes > 0 || limits+sigs == 0) {
		parts = append(parts, fmt.Sprintf("%d causes", causes))
	}
	if sigs > 0 {
		parts = append(parts, parse.Plural(sigs, "signature"))
	}
	if limits > 0 {
		parts = append(parts, parse.Plural(limits, "threshold"))
	}
	if p.groups > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", parse.Plural(p.rules, "rule"), parse.Plural(p.groups, "group")))
	}
	if len(p.suites) > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", parse.Plural(p.tests, "test"), parse.Plural(len(p.suites), "file")))
	}
	if len(parts) == 0 {
		parts = []string{"no rules"}
	}
	return strings.Join(parts, ", ")
}

// rulesTest runs the test cases of the named causes against the whole pack, and the tests of
// Prometheus rules.
func rulesTest(c *cli.Context) error {
	named, err := namedRuleFiles(c)
	if err != nil {
		return err
	}
	pack, probs, files, err := packOf(c, named)
	if err != nil {
		return err
	}
	if countIn(probs, files) > 0 {
		return usage("rules check shows all mistakes", "%s", probs[0])
	}
	for _, f := range named {
		if f.kind == alertFile && !f.part {
			return usage("name the test file that lists it under rule_files", "%s holds rules and no tests", f.name)
		}
	}
	prom := readPromRules(named)
	if len(prom.mistakes) > 0 {
		return usage("rules check shows all mistakes", "%s", prom.mistakes[0])
	}
	out := shownLines{c.App.Writer}
	run, failed := runTrials(out, pack, files)
	r, f := prom.run(c.Context, out)
	run, failed = run+r, failed+f
	fmt.Fprintf(c.App.Writer, "%d cases, %d failed\n", run, failed)
	if failed > 0 {
		return &exitError{code: exitFindings}
	}
	return nil
}

// runTrials runs the test cases of causes and prints those that fail.
func runTrials(w io.Writer, pack *rules.Pack, files []string) (run, failed int) {
	if files != nil && len(files) == 0 {
		return 0, 0
	}
	for _, o := range trial.Run(pack) {
		if !inFiles(o.Def.Place.File, files) {
			continue
		}
		run++
		if o.Fail != "" {
			failed++
			fmt.Fprintln(w, "FAIL", o.String())
		}
	}
	return run, failed
}

// packOf adds the causes of the named files to the pack of the flags. files is nil if no file was
// named, which means the whole pack.
func packOf(c *cli.Context, named []ruleFile) (*rules.Pack, []rules.Problem, []string, error) {
	pack, err := rulePack(c)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(named) == 0 {
		_, probs := rules.Builtin()
		return pack, probs, nil, nil
	}
	var probs []rules.Problem
	var all rules.Contents
	for _, f := range named {
		if f.kind == causeFile {
			held, bad := rules.Read(f.name, f.data)
			all.Add(held)
			probs = append(probs, bad...)
		}
	}
	pack.Add(all.Defs...)
	pack.SetLimits(all.Limits...)
	probs = append(probs, pack.AddSignatures(all.Signatures...)...)
	return pack, probs, filesOf(named, causeFile), nil
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

func factKeys() []string {
	var out []string
	for _, k := range facts.Keys {
		out = append(out, k.Name)
	}
	return out
}
