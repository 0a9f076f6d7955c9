package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/rules"
)

func batchCommand() *cli.Command {
	return &cli.Command{
		Name:      "batch",
		Usage:     "many bundles: summary, a report each, what nodes share; --shard i/n, batch merge",
		ArgsUsage: "INPUT...",
		Description: "INPUT is a bundle, a pattern such as 'bundles/*.tar.xz', or a directory of bundles: one that\n" +
			"holds archives and directories only, each of which is a bundle. - stands for names on standard\n" +
			"input. Those and the names of --manifest are bundles as they are. One broken bundle does not\n" +
			"stop the others; bundles that hold the same count once.",
		Flags: join(outputFlags(fleetFormats()), batchFlags(), redactFlags(), inputFlags(), packFlags()),
		Subcommands: []*cli.Command{{
			Name:        "merge",
			Usage:       "one report from the partials of shards, in any order",
			ArgsUsage:   "PARTIAL...",
			Description: "PARTIAL is a file that batch --partial wrote, or a directory of *.plegp files.",
			Flags: join(outputFlags(fleetFormats()), []cli.Flag{
				gateFlag(),
				boolFlag(catLimits, "strict", "bundles that were not analyzed whole are failures: exit 4"),
				stringFlag(catOutput, "partial", "write the merged partial to `PATH` too")}),
			Action: mergeAction,
		}},
		Action: batchAction,
	}
}

const catBatch = "Batch"

func batchFlags() []cli.Flag {
	return []cli.Flag{
		gateFlag(),
		stringFlag(catBatch, "manifest", "read names of bundles from `FILE`, one a line; # starts a comment"),
		boolFlag(catBatch, "from-stdin", "read names of bundles from standard input, one a line or separated by NUL"),
		stringFlag(catBatch, "out-dir", "write a report of each bundle, and what --resume needs, to `DIR`"),
		listFlag(catBatch, "report", "`FORMAT` of the reports in --out-dir, repeatable; default html"),
		boolFlag(catBatch, "resume", "do not analyze again what an earlier run with this --out-dir has done"),
		stringFlag(catBatch, "shard", "analyze only part `I/N` of the bundles, from 1/N to N/N; auto takes both from the CI system or the Kubernetes Job"),
		&cli.IntFlag{Name: "shard-total", Usage: "`N` for --shard auto where the environment tells the index only", EnvVars: envName("shard-total"), Category: catBatch},
		stringFlag(catBatch, "partial", "write the results as a partial for batch merge to `PATH`"),
	}
}

// fleetFormats returns the formats of the fleet report in the form shared by all commands.
func fleetFormats() []report.Format {
	var out []report.Format
	for _, f := range fleet.Formats {
		out = append(out, report.Format{Name: f.Name, Ext: f.Ext, About: f.About})
	}
	return out
}

// batchRun is the state shared by all bundles of a run.
type batchRun struct {
	c       *cli.Context
	pack    *rules.Pack
	opt     bundle.Options
	header  fleet.Header
	dir     string // --out-dir, "" if not given
	formats []*report.Format
	done    progress
	lost    *lostOutputs
}

func batchAction(c *cli.Context) error {
	unmake, err := makeDirs(c.String("out-dir")) // outputs may be in it too
	if err != nil {
		return usage("", "--out-dir %s", plainly(err))
	}
	defer unmake()
	ts, err := targets(c, fleetFormats())
	if err != nil {
		return err
	}
	b, err := newBatchRun(c)
	if err != nil {
		return err
	}
	gates, err := gatesOf(c, causeIDs(c))
	if err != nil {
		return err
	}
	partial, err := claimFlag(c, "partial", false)
	if err != nil {
		return err
	}
	names, err := batchInputs(c)
	if err != nil {
		return err
	}
	if names, err = apart(c, b.dir, names); err != nil {
		return err
	}
	if err := spare(c, append(slices.Clone(names), otherInputs(c)...)...); err != nil {
		return err
	}
	shard, err := shardNumbers(c)
	if err != nil {
		return err
	}
	if b.dir != "" {
		held, err := holdOutDir(b.dir, shard)
		if err != nil {
			return err
		}
		defer held.free()
	}
	part := &fleet.Partial{Header: b.header}
	if shard != (fleet.Shard{}) {
		names, part.Shards = shardOf(shard, names), []fleet.Shard{shard}
	}
	part.Records = b.all(names)
	p, err := fleet.Merge(part)
	if err == nil {
		err = c.Context.Err()
	}
	if err != nil {
		return err
	}
	if err := finishBatch(c, ts, partial, gates, p, len(part.Shards) > 0 && len(names) == 0); err != nil && len(b.lost.errs) == 0 {
		return err
	}
	return b.lost.error(c)
}

func newBatchRun(c *cli.Context) (*batchRun, error) {
	if redacting(c) && c.String("redact-key") == "" {
		return nil, usage("give --redact-key SECRET, the same for all shards", "the pseudonyms of several bundles agree only with a key")
	}
	if c.String("redact-map") != "" {
		return nil, usage("analyze has it", "batch writes no --redact-map")
	}
	if c.Bool("resume") && c.String("out-dir") == "" {
		return nil, usage("give --out-dir DIR, the same as before", "--resume needs --out-dir")
	}
	b := &batchRun{c: c, dir: c.String("out-dir"), lost: &lostOutputs{}}
	var err error
	if b.pack, err = rulePack(c); err != nil {
		return nil, err
	}
	if b.opt, err = loadOptions(c); err != nil {
		return nil, err
	}
	b.opt.Signatures = b.pack.Sigs
	read := b.pack.Metrics()
	b.opt.Asked = func(name string) bool { return read[name] }
	if b.header, err = headerOf(c); err != nil {
		return nil, err
	}
	for _, name := range defaultTo(c.StringSlice("report"), "html") {
		f := report.Lookup(report.Formats, name)
		if f == nil {
			return nil, unknown("report format", name, report.Names(report.Formats))
		}
		b.formats = append(b.formats, f)
	}
	return b, nil
}

func defaultTo(xs []string, x string) []string {
	if len(xs) == 0 {
		return []string{x}
	}
	return xs
}

// all analyzes the bundles with at most opt.Jobs at a time. Each is reduced to its record before
// the worker takes the next one, so memory use does not grow with the size of the fleet.
func (b *batchRun) all(names []string) []fleet.Record {
	jobs := b.opt.Jobs
	b.opt.Jobs = max(1, jobs/max(len(names), 1))
	b.done = newProgress(b.c, len(names))
	out := make([]fleet.Record, len(names))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(jobs, len(names)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				rec, resumed := b.one(names[i])
				out[i] = rec
				b.done.step(&rec, resumed)
			}
		}()
	}
	for i := range names {
		if b.c.Context.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	b.done.end()
	return out
}

// one returns the record of a bundle, whatever happens to the analysis; resumed reports whether it
// is from an earlier run.
func (b *batchRun) one(name string) (rec fleet.Record, resumed bool) {
	id := pathIdentity(name)
	defer func() {
		if x := recover(); x != nil {
			rec = fleet.Broken(id, b.shown(name, id), fleet.Failed, fmt.Sprintf("the analysis broke down: %v", x))
		}
	}()
	ctx := b.c.Context
	if d := b.c.Duration("deadline"); d > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, d)
		defer stop()
	}
	content, err := identity(ctx, name)
	if err == nil {
		id = content
	}
	shown := b.shown(name, id)
	if err == nil {
		if old, ok := b.resumed(id, name); ok {
			return old, true
		}
		rec, err = b.analyse(ctx, id, name, shown)
	}
	var o *output.Error
	switch {
	case err == nil:
		return rec, false
	case errors.As(err, &o): // the bundle was analyzed, only its report is lost
		b.lost.add(o)
		return rec, false
	case redacting(b.c):
		red := newRedactor(b.c)
		red.Path(name)
		red.Learn(err.Error())
		red.Settle()
		err = errors.New(red.Text(err.Error()))
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fleet.Broken(id, shown, fleet.Deadline, fmt.Sprintf("not done within %s", b.c.Duration("deadline"))), false
	}
	return fleet.Broken(id, shown, fleet.Failed, err.Error()), false
}

// lostOutputs collects the files in --out-dir that could not be written. It is safe for concurrent
// use.
type lostOutputs struct {
	mu   sync.Mutex
	errs []string
}

func (l *lostOutputs) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err.Error())
}

// error returns the error of a run that lost a report, nil if none is lost. It takes precedence
// over other verdicts, because the fleet report does not mention it. It also warns of each further
// loss.
func (l *lostOutputs) error(c *cli.Context) error {
	if len(l.errs) == 0 {
		return nil
	}
	slices.Sort(l.errs)
	if !c.Bool("quiet") {
		for _, e := range l.errs[1:] {
			fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: --out-dir: %s\n", e)
		}
	}
	return &exitError{exitOutput, "--out-dir: " + l.errs[0], "not written: " + parse.Plural(len(l.errs), "file") + "; --resume goes on where this run was"}
}

// shown returns the name of a bundle for output. Redacted, it is a hash, since a path may identify
// its owner.
func (b *batchRun) shown(name, id string) string {
	if redacting(b.c) {
		return "bundle-" + shortHash(b.c.String("redact-key"), id)
	}
	return name
}

// analyse loads a bundle, writes its reports, and keeps the record for a later --resume. Nothing
// refers to the report after it returns.
func (b *batchRun) analyse(ctx context.Context, id, name, shown string) (fleet.Record, error) {
	found, err := b.load(ctx, name)
	if err != nil {
		return fleet.Record{}, err
	}
	var red *redact.Redactor
	if redacting(b.c) {
		red = newRedactor(b.c)
	}
	r := fillWith(found, red)
	rec := fleet.Reduce(id, shown, r)
	if err := ctx.Err(); err != nil {
		return rec, err
	}
	if b.dir == "" {
		return rec, nil
	}
	for _, f := range b.formats {
		err := output.Replace(ctx, b.reportPath(f, shown, id), func(w io.Writer) error {
			if _, err := io.WriteString(w, report.Mark(f.Name, b.c.App.Version, "analyze")); err != nil {
				return err
			}
			return f.Write(w, r, report.Options{Width: fileWidth, Verbose: b.c.Bool("verbose")})
		})
		if err != nil {
			return rec, err
		}
	}
	return rec, b.keep(&rec, name)
}

func (b *batchRun) load(ctx context.Context, name string) (*model.Analysis, error) {
	x, err := bundle.Load(ctx, []string{name}, b.opt)
	if err != nil {
		if errors.Is(err, bundle.ErrNoInput) && len(x.Warnings) > 0 {
			return nil, errors.New(x.Warnings[0].Msg)
		}
		return nil, err
	}
	r := &model.Analysis{Version: b.c.App.Version, Inputs: x.Inputs, Warnings: x.Warnings}
	ns, err := audited(b.c, x, b.pack)
	var e *exitError
	if errors.As(err, &e) && len(b.c.StringSlice("node")) > 0 {
		return r, nil // the requested nodes are in other bundles
	}
	if err != nil {
		return nil, err
	}
	for _, n := range ns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n.Judge(rules.EvalAtOnce(n.Node, &n.Audit, b.pack, nil))
		r.Nodes = append(r.Nodes, n)
		r.Warnings = append(r.Warnings, n.Warnings...)
	}
	return r, nil
}

// progress prints the progress of a batch to standard error.
type progress struct {
	mu          *sync.Mutex
	w           io.Writer
	tty         *os.File // nil if standard error is not a terminal
	quiet       bool
	start       time.Time
	total, done int
	resumed     int // from an earlier run
	bytes       int64
}

func newProgress(c *cli.Context, total int) progress {
	return progress{mu: &sync.Mutex{}, w: c.App.ErrWriter, tty: screen(c), quiet: c.Bool("quiet"), total: total, start: time.Now()}
}

func (p *progress) step(r *fleet.Record, resumed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.bytes += r.Bytes
	if resumed {
		p.resumed++
	}
	if p.quiet {
		return
	}
	if p.tty != nil {
		fmt.Fprint(p.tty, "\r\x1b[K")
	}
	if r.Error != "" {
		fmt.Fprintf(p.w, "plegforensics: warning: %s: %s: %s\n", r.Name, r.Status, r.Error)
	}
	if p.tty != nil {
		left := time.Since(p.start) / time.Duration(p.done) * time.Duration(p.total-p.done)
		fmt.Fprintf(p.tty, "%d of %d bundles, about %s left", p.done, p.total, report.Span(left.Round(time.Second)))
	}
}

func (p *progress) end() {
	if p.quiet || p.done == 0 {
		return
	}
	if p.tty != nil {
		fmt.Fprint(p.tty, "\r\x1b[K")
	}
	took := time.Since(p.start)
	fmt.Fprintf(p.w, "plegforensics: %s, %s in %s (%.1f bundles/s)", parse.Plural(p.done, "bundle"), report.Bytes(p.bytes), report.Span(took), float64(p.done)/took.Seconds())
	if p.resumed > 0 {
		fmt.Fprintf(p.w, ", %d of them by an earlier run", p.resumed)
	}
	fmt.Fprintln(p.w)
}
