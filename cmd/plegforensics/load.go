package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/parse/clock"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/query"
)

// warningsShown is the maximum number of warnings on standard error; the report has all.
const warningsShown = 20

// load reads the inputs of the command line as one bundle, or with --separate as one bundle each.
// asked reports whether something besides the rebuild needs a metric; nil means nothing does. sigs
// is as in bundle.Options.
func load(c *cli.Context, args []string, asked func(metric string) bool, sigs *logs.Set) ([]*parse.Bundle, error) {
	if len(args) == 0 {
		return nil, usage(seeHelp(c), "no input given")
	}
	opt, err := loadOptions(c)
	if err != nil {
		return nil, err
	}
	opt.Asked, opt.Signatures = asked, sigs
	opt.Held = func(n int) { room.Add(int64(n) * loadRoom) }
	groups := [][]string{args}
	if c.Bool("separate") {
		groups = nil
		for _, arg := range args {
			groups = append(groups, []string{arg})
		}
	}
	var out []*parse.Bundle
	opened := 0
	for _, inputs := range groups {
		opt.Progress = new(bundle.Progress)
		shown := showProgress(c, opt.Progress)
		b, err := bundle.Load(c.Context, inputs, opt)
		shown.end()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, overdue(c)
		}
		if err != nil && !errors.Is(err, bundle.ErrNoInput) {
			return nil, err
		}
		if err == nil {
			opened++
		}
		if !redacting(c) {
			warn(c.App.ErrWriter, worthSaying(c, b.Warnings))
		}
		out = append(out, b)
	}
	if opened == 0 {
		return nil, &exitError{code: exitNothing, msg: bundle.ErrNoInput.Error()}
	}
	trimProgram()
	return out, nil
}

func loadOptions(c *cli.Context) (bundle.Options, error) {
	loc, err := zone("tz", c.String("tz"))
	if err != nil {
		return bundle.Options{}, err
	}
	most, err := size("max-bytes", c.String("max-bytes"))
	if err != nil {
		return bundle.Options{}, err
	}
	held, err := size("max-held", c.String("max-held"))
	if err != nil {
		return bundle.Options{}, err
	}
	if slices.Contains(c.Args().Slice(), "-") {
		if err := endless(c); err != nil {
			return bundle.Options{}, err
		}
	}
	opt := bundle.Options{
		Jobs:  c.Int("jobs"),
		Stdin: c.App.Reader,
		Clock: clock.Options{Zone: loc, Year: c.Int("year"), Now: time.Now(), Parallel: runner(c)},
	}
	if most > 0 {
		opt.Limits.Bytes = most
	}
	if held > 0 {
		opt.Limits.Hold(held)
	}
	if n := c.Int("max-files"); n > 0 {
		opt.Limits.Files = n
	}
	if n := c.Int("max-logs"); n > 0 {
		opt.Limits.Logs = n
	}
	if n := c.Int("max-series"); n > 0 {
		opt.Limits.Series = n
	}
	if n := c.Int("max-depth"); n > 0 {
		opt.Limits.Depth = n
	}
	return opt, nil
}

// worthSaying returns all warnings, or with --quiet those about data left out because of a limit.
func worthSaying(c *cli.Context, ws []parse.Warning) []parse.Warning {
	if !c.Bool("quiet") {
		return ws
	}
	return slices.DeleteFunc(slices.Clone(ws), func(w parse.Warning) bool { return !w.Cut })
}

func warn(w io.Writer, ws []parse.Warning) {
	for i, x := range ws {
		if i == warningsShown {
			fmt.Fprintf(w, "plegforensics: warning: and %d more, see the report\n", len(ws)-i)
			return
		}
		fmt.Fprintf(w, "plegforensics: warning: %s\n", x.String())
	}
}

// nodes rebuilds the nodes of a bundle and clips them to the window of the flags.
func nodes(c *cli.Context, b *parse.Bundle) ([]*replay.Node, error) {
	ns, err := rebuilt(c, b, nil)
	if err != nil {
		return nil, err
	}
	return clip(c, ns, func(n *replay.Node, since, until int64) { n.Clip(since, until) })
}

// audited rebuilds the nodes of a bundle with what follows from their history, and clips them.
// Audit and blame use the whole node, whatever is shown of it.
func audited(c *cli.Context, b *parse.Bundle, pack *rules.Pack) ([]model.Analyzed, error) {
	ns, err := rebuilt(c, b, pack)
	if err != nil {
		return nil, err
	}
	of := make(map[*replay.Node]*model.Analyzed, len(ns))
	for _, n := range ns {
		of[n] = model.Analyze(n, runner(c))
	}
	ns, err = clip(c, ns, func(n *replay.Node, since, until int64) { of[n].Clip(since, until) })
	var out []model.Analyzed
	for _, n := range ns {
		out = append(out, *of[n])
	}
	return out, err
}

// rebuilt rebuilds the nodes selected by flags, with the health threshold of a pack if no flag
// states one.
func rebuilt(c *cli.Context, b *parse.Bundle, pack *rules.Pack) ([]*replay.Node, error) {
	opt := replay.Options{Parallel: runner(c), Given: replay.Given{
		KubeletVersion:  c.String("kubelet-version"),
		RelistThreshold: cmp.Or(c.Duration("relist-threshold"), pack.HealthThreshold()),
		RelistPeriod:    c.Duration("relist-period"),
	}}
	want := c.StringSlice("node")
	if len(want) == 0 { // with --node, any node may be wanted
		opt.MostNodes = cmp.Or(c.Int("max-nodes"), mostNodes)
		opt.LeftOut = func(more int) { leftOut(b, opt.MostNodes, more) }
	}
	told := len(b.Warnings)
	ns := replay.Build(b, opt)
	if !redacting(c) {
		warn(c.App.ErrWriter, worthSaying(c, b.Warnings[told:]))
	}
	if len(want) > 0 {
		var have []string
		for _, n := range ns {
			have = append(have, n.Name)
		}
		for _, w := range want {
			if !slices.Contains(have, w) {
				// The typed word may be a name too.
				return nil, unknownName("node", w, have, func(names ...string) []string { return shownNodes(c, names...) })
			}
		}
		ns = slices.DeleteFunc(ns, func(n *replay.Node) bool { return !slices.Contains(want, n.Name) })
	}
	return ns, nil
}

// mostNodes is the maximum number of nodes rebuilt per bundle: each costs some 0.4 ms and 15 KiB
// even if little is known of it. Kubernetes clusters are not larger.
const mostNodes = 5_000

// leftOut warns of nodes left out because of the limit.
func leftOut(b *parse.Bundle, most, more int) {
	w := parse.Warning{Pos: parse.Pos{File: &parse.File{Path: b.Inputs[0].Path}}, Cut: true,
		Msg: fmt.Sprintf("%d nodes are left out, those with the fewest lines: no more than %d are rebuilt; --max-nodes raises the limit, --node asks for one", more, most)}
	b.Warnings = append(b.Warnings, w)
	for i := range b.Inputs {
		b.Inputs[i].Partial = true
	}
}

// build makes the analysis of the inputs: bundles, nodes, findings.
func build(c *cli.Context, asks query.Asks) (*model.Analysis, error) {
	return buildOf(c, c.Args().Slice(), asks)
}

// buildOf is build for other inputs. asks are the metrics that alert rules read.
func buildOf(c *cli.Context, args []string, asks query.Asks) (*model.Analysis, error) {
	packed, sigs, err := rulesBeside(c)
	if err != nil {
		return nil, err
	}
	packed = sync.OnceValue(packed)
	read := sync.OnceValue(func() map[string]bool { return packed().Metrics() })
	bundles, err := load(c, args, func(name string) bool { return asks.Has(name) || read()[name] }, sigs)
	if err != nil {
		return nil, err
	}
	pack := packed()
	r := &model.Analysis{Version: c.App.Version}
	for _, b := range bundles {
		ns, err := audited(c, b, pack)
		if err != nil {
			return nil, err
		}
		r.Inputs = append(r.Inputs, b.Inputs...)
		r.Warnings = append(r.Warnings, b.Warnings...)
		r.Bundles = append(r.Bundles, b)
		for _, n := range ns {
			n.Judge(rules.EvalAtOnce(n.Node, &n.Audit, pack, runner(c)))
			r.Nodes = append(r.Nodes, n)
			r.Warnings = append(r.Warnings, n.Warnings...)
			if !redacting(c) {
				warn(c.App.ErrWriter, n.Warnings)
			}
		}
	}
	return r, nil
}

// rulePack returns the built-in causes and those of --rules.
func rulePack(c *cli.Context) (*rules.Pack, error) {
	packed, _, err := rulesBeside(c)
	if err != nil {
		return nil, err
	}
	return packed(), nil
}

// rulesBeside reads the files of --rules. It returns a function that combines their causes with the
// built-in ones, which are loaded concurrently, and a signature set if the files contain
// signatures.
func rulesBeside(c *cli.Context) (func() *rules.Pack, *logs.Set, error) {
	var own rules.Contents
	for _, path := range c.StringSlice("rules") {
		more, err := readRules(path)
		if err != nil {
			return nil, nil, err
		}
		own.Add(more)
	}
	var set rules.Pack
	if bad := set.AddSignatures(own.Signatures...); len(bad) > 0 {
		return nil, nil, badRules(bad)
	}
	flagged, err := thresholds(c)
	if err != nil {
		return nil, nil, err
	}
	builtin := make(chan *rules.Pack, 1)
	if c.Bool("no-builtin-rules") {
		builtin <- &rules.Pack{}
	} else {
		go func() {
			pack, _ := rules.Builtin() // a test of package rules checks the built-in files
			builtin <- pack
		}()
	}
	return func() *rules.Pack {
		pack := <-builtin
		pack.Add(own.Defs...)
		pack.SetLimits(own.Limits...)
		pack.SetLimits(flagged...)
		pack.Sigs, pack.Own = set.Sigs, set.Own
		return pack
	}, set.Sigs, nil
}

func badRules(bad []rules.Problem) error {
	return usage("rules check PATH shows all mistakes", "--rules: %s", bad[0])
}

// thresholds parses --threshold.
func thresholds(c *cli.Context) ([]rules.Limit, error) {
	var out []rules.Limit
	for _, arg := range c.StringSlice("threshold") {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usage("--threshold slow-relist=5s", "--threshold: %q is no NAME=VALUE", arg)
		}
		l, err := rules.ParseLimit(strings.TrimSpace(name), value, "--threshold")
		var no *rules.UnknownLimitError
		switch {
		case errors.As(err, &no):
			return nil, unknown("threshold", no.Name, rules.LimitNames())
		case err != nil:
			return nil, usage("", "--threshold %s: %v", name, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// readRuleFile reads a rule file, or all .yaml files of a directory.
func readRules(path string) (rules.Contents, error) {
	var out rules.Contents
	names, err := ruleFiles(path)
	if err != nil {
		return out, err
	}
	for _, name := range names {
		data, err := readRuleFile(name)
		if err != nil {
			return out, usage("", "--rules %s", plainly(err))
		}
		held, bad := rules.Read(name, data)
		if len(bad) > 0 {
			return out, badRules(bad)
		}
		out.Add(held)
	}
	return out, nil
}

// nothing returns the error of a run whose inputs contain nothing of a kubelet or its node, nil if
// they do.
func nothing(r *model.Analysis) error {
	for _, in := range r.Inputs {
		if in.FilesUsed > 0 {
			return nil
		}
	}
	return &exitError{code: exitNothing, msg: "no input could be analyzed: nothing in it is recognized as of a kubelet or its node", hint: "inspect INPUT tells what was found in it"}
}

// verdict maps findings and input problems to the exit status.
func verdict(c *cli.Context, r *model.Analysis, gates []gate) error {
	return cmp.Or(strictly(c, r.Warnings), held(gates, findingsOf(r)))
}

// strictly returns an error if --strict is set and the input was read only in part.
func strictly(c *cli.Context, warned []parse.Warning) error {
	if !c.Bool("strict") || !parse.Partial(warned) {
		return nil
	}
	return &exitError{code: exitPartial, msg: "some input was read only in part", hint: "the warnings above say which"}
}
