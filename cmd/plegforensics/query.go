package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
)

const catQuery = "Query"

func queryCommand() *cli.Command {
	return &cli.Command{
		Name:      "query",
		Usage:     "PromQL over the metrics of the input and over series derived from its logs",
		ArgsUsage: "INPUT... --expr PROMQL",
		Description: "Without times the expression is evaluated at the last sample of the series that it\n" +
			"selects; --start, --end or --step make it a range. Series derived from logs begin with\n" +
			"plegforensics_; --list names all of them.",
		Flags: join([]cli.Flag{
			&cli.StringFlag{Name: "expr", Aliases: []string{"e"}, Usage: "the `PROMQL` expression", EnvVars: envName("expr"), Category: catQuery},
			stringFlag(catQuery, "time", "evaluate at `TIME`: "+momentForms+" of the samples (-10m, or 10m); default: the last sample"),
			stringFlag(catQuery, "start", "first `TIME` of a range, in the same forms, a duration before --end; default: the first sample"),
			stringFlag(catQuery, "end", "last `TIME` of a range, in the same forms; default: the last sample"),
			durationFlag(catQuery, "step", "distance of the moments of a range; default: the range in 250 steps, at least 15s"),
			&cli.DurationFlag{Name: "lookback", Value: query.Lookback, Usage: "how long a sample stays current", EnvVars: envName("lookback"), Category: catQuery},
			boolFlag(catQuery, "list", "list the metrics instead of evaluating an expression"),
			boolFlag(catQuery, "alerts", "tell which alerts would have fired: the commonly deployed ones and better ones"),
			listFlag(catQuery, "alert-rules", "the same for the Prometheus rule file, or /api/v1/rules answer, `PATH`; repeatable"),
		}, outputFlags(report.QueryFormats(nil)), redactFlags(), inputFlags()),
		Action: runQuery,
	}
}

func runQuery(c *cli.Context) error {
	expr := strings.TrimSpace(c.String("expr"))
	if alerts := c.Bool("alerts") || len(c.StringSlice("alert-rules")) > 0; expr != "" && (alerts || c.Bool("list")) || alerts && c.Bool("list") {
		return usage("one of --expr, --list, and --alerts with --alert-rules", "--expr, --list and --alerts exclude each other")
	}
	if c.Bool("alerts") || len(c.StringSlice("alert-rules")) > 0 {
		return auditAlerts(c)
	}
	if expr == "" && !c.Bool("list") {
		return usage("--expr 'rate(kubelet_pleg_relist_duration_seconds_count[5m])', or --list to see what there is", "no expression given")
	}
	formats := report.QueryFormats(nil)
	if c.Bool("list") {
		formats = report.MetricFormats(nil)
	}
	ts, err := begin(c, formats)
	if err != nil {
		return err
	}
	if expr != "" {
		if _, err := query.MetricNames(expr); err != nil {
			return usage("", "--expr: %v", err)
		}
	}
	var asks query.Asks
	if asks.Add(expr); c.Bool("list") {
		asks.All()
	}
	db, ns, warned, err := openDB(c, asks)
	if err != nil {
		return err
	}
	if c.Bool("list") {
		err = list(c, ts, db, ns)
	} else {
		err = evaluate(c, ts, db, ns, expr)
	}
	return cmp.Or(err, strictly(c, warned))
}

// list writes the list of available metrics.
func list(c *cli.Context, ts []target, db *query.DB, ns []*replay.Node) error {
	clean, red := cleanerFor(c, ns)
	listed := db.List()
	for _, m := range listed {
		learn(red, m.Name, m.Help)
		learn(red, m.Labels...)
	}
	metrics := clean.Metrics(listed)
	if err := writeMap(c, red); err != nil {
		return err
	}
	return show(c, rebound(ts, report.MetricFormats(metrics)))
}

// auditAlerts evaluates alert rules instead of an expression.
func auditAlerts(c *cli.Context) error {
	ts, err := begin(c, report.AlertFormats(nil))
	if err != nil {
		return err
	}
	groups, err := alertRules(c)
	if err != nil {
		return err
	}
	if c.Bool("alerts") {
		groups = append(alerts.Builtin(), groups...)
	}
	db, ns, warned, err := openDB(c, alerts.Asks(groups))
	if err != nil {
		return err
	}
	var watched []alerts.Watched
	for _, n := range ns {
		watched = append(watched, alerts.Watched{Node: n, Breaches: rules.EvalAtOnce(n, nil, &rules.Pack{}, nil).Breaches})
	}
	clean, red := cleanerFor(c, ns)
	found := alerts.Evaluate(c.Context, db, groups, watched)
	refused := refusedRules(found)
	warn(c.App.ErrWriter, refused)
	audits := clean.AlertAudit(found)
	if err := writeMap(c, red); err != nil {
		return err
	}
	return cmp.Or(show(c, rebound(ts, report.AlertFormats(audits))), strictly(c, append(warned, refused...)))
}

// refusedRules warns of alerts that were not evaluated because they are too expensive.
func refusedRules(as []alerts.Audit) []parse.Warning {
	n, first := 0, -1
	for i := range as {
		if as[i].Refused {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n == 0 {
		return nil
	}
	a := &as[first]
	return []parse.Warning{{Pos: parse.Pos{File: &parse.File{Path: a.File}}, Cut: true,
		Msg: fmt.Sprintf("not evaluated for what it would cost: %s, the first of them %s in group %s", parse.Plural(n, "alert"), a.Alert, a.Group)}}
}

// show writes a result that is bound to its formats.
func show(c *cli.Context, ts []target) error {
	if err := emit(c, ts, nil); err != nil {
		return err
	}
	told(c)
	return nil
}

// alertRules reads the files of --alert-rules; in directories, those that contain Prometheus rules.
func alertRules(c *cli.Context) ([]alerts.Group, error) {
	var groups []alerts.Group
	for _, path := range c.StringSlice("alert-rules") {
		names, err := ruleFiles(path)
		if err != nil {
			return nil, usage("", "--alert-rules %s", plainly(err))
		}
		before := len(groups)
		for _, name := range names {
			data, err := readRuleFile(name)
			if err != nil {
				return nil, usage("", "--alert-rules %s", plainly(err))
			}
			if name != path && kindOfRules(data) != alertFile {
				continue
			}
			gs, bad := alerts.Parse(name, data)
			if len(bad) > 0 {
				return nil, usage("rules check PATH shows all mistakes", "--alert-rules: %v", bad[0])
			}
			groups = append(groups, gs...)
		}
		if len(groups) == before {
			fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: --alert-rules %s: no rules in it\n", path)
		}
	}
	return groups, nil
}

// openDB loads the inputs into a database of the requested metrics.
func openDB(c *cli.Context, asks query.Asks) (*query.DB, []*replay.Node, []parse.Warning, error) {
	var warned []parse.Warning
	bundles, err := load(c, c.Args().Slice(), asks.Has, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	var all []*replay.Node
	for _, b := range bundles {
		ns, err := nodes(c, b)
		if err != nil {
			return nil, nil, nil, err
		}
		all, warned = append(all, ns...), append(warned, b.Warnings...)
		roomForSeries(len(b.Series))
	}
	s := query.NewStore(all)
	if _, _, ok := s.Span(); !ok {
		return nil, nil, nil, &exitError{code: exitNothing, msg: "the input holds neither metrics nor a kubelet log to derive series from", hint: "inspect INPUT tells what was found in it"}
	}
	return query.OpenWith(s, query.Options{Lookback: c.Duration("lookback")}), all, warned, nil
}

// evaluate runs the expression and writes the result.
func evaluate(c *cli.Context, ts []target, db *query.DB, ns []*replay.Node, expr string) error {
	for name, near := range sortedUnknown(db.Unknown(expr)) {
		if other, ok := db.OtherName(name); ok {
			near = "; this kubelet calls it " + other
		}
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: no series is called %s%s\n", name, near)
	}
	r, err := result(c, db, expr)
	if err != nil {
		return err
	}
	if !c.Bool("quiet") && !redacting(c) {
		remarks(c, db, r, expr)
	}
	clean, red := cleanerFor(c, ns)
	table := r.Table()
	shown := clean.Query(&table)
	if err := writeMap(c, red); err != nil {
		return err
	}
	return show(c, rebound(ts, report.QueryFormats(shown)))
}

func result(c *cli.Context, db *query.DB, expr string) (query.Result, error) {
	first, last, err := db.SpanOf(expr)
	if err != nil {
		return query.Result{}, usage("", "--expr: %v", err)
	}
	if !c.IsSet("start") && !c.IsSet("end") && !c.IsSet("step") {
		at, err := instant(c, "time", last, last)
		if err != nil {
			return query.Result{}, err
		}
		return failed(db.Instant(c.Context, expr, at))
	}
	if c.IsSet("time") {
		return query.Result{}, usage("", "--time and a range exclude each other")
	}
	end, err := instant(c, "end", last, last)
	if err != nil {
		return query.Result{}, err
	}
	start, err := instant(c, "start", first, end)
	if err != nil {
		return query.Result{}, err
	}
	if end.Before(start) {
		return query.Result{}, usage("", "--end lies before --start")
	}
	r, err := db.Range(c.Context, expr, start, end, step(c, start, end))
	if errors.Is(err, query.ErrSteps) {
		return r, usage("", "--step: %v", err)
	}
	return failed(r, err)
}

// remarks prints to standard error why the result is empty, or for an instant value its peak within
// the range.
func remarks(c *cli.Context, db *query.DB, r query.Result, expr string) {
	t := r.Table()
	first, last, err := db.SpanOf(expr)
	if err != nil || t.Type != "vector" && t.Type != "matrix" {
		return
	}
	at, err := instant(c, "time", last, last)
	if err != nil {
		return
	}
	if len(t.Rows) == 0 {
		for _, why := range db.Why(expr, at) {
			if !strings.HasPrefix(why, "no series is called") { // printed already
				fmt.Fprintf(c.App.ErrWriter, "plegforensics: no series: %s\n", why)
			}
		}
		return
	}
	if t.Type == "vector" && len(t.Rows) <= 20 && last.After(first) {
		peaks(c, db, t, expr, first, last)
	}
}

// peaks prints the maximum over the whole range for each value below it.
func peaks(c *cli.Context, db *query.DB, t query.Table, expr string, first, last time.Time) {
	all, err := db.Range(c.Context, expr, first, last, step(c, first, last))
	if err != nil {
		return
	}
	for _, p := range all.Peaks() {
		for _, row := range t.Rows {
			if row.String() == p.Labels && row.Samples[0].H == nil && row.Samples[0].V < p.V {
				fmt.Fprintf(c.App.ErrWriter, "plegforensics: peak %s at %s  %s\n", strconv.FormatFloat(p.V, 'g', 6, 64), time.UnixMilli(p.T).UTC().Format("15:04:05"), p.Labels)
			}
		}
	}
}

// instant parses a time flag; a duration counts back from end.
func instant(c *cli.Context, flag string, def, end time.Time) (time.Time, error) {
	if c.String(flag) == "" {
		return def, nil
	}
	loc, err := zone("tz", c.String("tz"))
	if err != nil {
		return def, err
	}
	ns, err := moment(flag, c.String(flag), loc, end.UnixNano())
	return time.Unix(0, ns).UTC(), err
}

// step divides a range into about 250 steps of a round duration.
func step(c *cli.Context, start, end time.Time) time.Duration {
	if c.IsSet("step") {
		return c.Duration("step")
	}
	want := end.Sub(start) / 250
	for _, round := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour} {
		if round >= want {
			return round
		}
	}
	return want.Round(time.Hour)
}

// failed turns an error of the query engine into a usage error.
func failed(r query.Result, err error) (query.Result, error) {
	if err != nil {
		return r, usage("", "--expr: %v", err)
	}
	return r, nil
}

// sortedUnknown iterates over unknown names in order, each with a hint.
func sortedUnknown(m map[string][]string) func(func(string, string) bool) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return func(yield func(string, string) bool) {
		for _, n := range names {
			hint := ""
			if len(m[n]) > 0 {
				hint = "; did you mean " + strings.Join(m[n], ", ") + "?"
			}
			if !yield(n, hint) {
				return
			}
		}
	}
}
