package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/spell"
	"github.com/plegforensics/plegforensics/pleg"
)

// checks are requirements on flag values beyond their type. They apply to the command line and the
// environment.
var checks = []struct {
	flag  string
	check func(c *cli.Context, value string) error
}{
	{"kubelet-version", func(c *cli.Context, v string) error { return checkVersion(c, v) }},
	{"year", checkYear},
	{"tz", func(_ *cli.Context, v string) error { _, err := zone("tz", v); return err }},
	{"display-tz", func(_ *cli.Context, v string) error { _, err := zone("display-tz", v); return err }},
	{"since", checkMoment("since")},
	{"until", checkMoment("until")},
	{"time", checkMoment("time")},
	{"start", checkMoment("start")},
	{"end", checkMoment("end")},
	{"relist-threshold", checkPositive("relist-threshold")},
	{"relist-period", checkPositive("relist-period")},
	{"deadline", checkPositive("deadline")},
	{"step", checkPositive("step")},
	{"lookback", checkPositive("lookback")},
	{"max-bytes", checkSize("max-bytes")},
	{"max-held", checkSize("max-held")},
	{"max-files", checkCount("max-files", math.MaxInt)},
	{"max-logs", checkCount("max-logs", math.MaxInt)},
	{"max-nodes", checkCount("max-nodes", math.MaxInt)},
	{"max-depth", checkCount("max-depth", math.MaxInt)},
	{"max-series", checkCount("max-series", math.MaxInt)},
	{"shard-total", checkCount("shard-total", math.MaxInt)},
	{"jobs", checkCount("jobs", mostJobs)},
	{"redact-key", checkGiven("redact-key")},
	{"redact-map", checkGiven("redact-map")},
	{"partial", checkGiven("partial")},
	{"out-dir", checkGiven("out-dir")},
	{"dir", checkGiven("dir")},
	{"export-snapshots", checkGiven("export-snapshots")},
	{"manifest", checkGiven("manifest")},
	{"color", checkWhen("color")},
	{"links", checkWhen("links")},
}

// checkArguments refuses arguments that a command would ignore.
func checkArguments(c *cli.Context) error {
	form := c.Command.ArgsUsage
	most := len(strings.Fields(form))
	if len(c.Command.Subcommands) > 0 || strings.Contains(form, "...") || c.NArg() <= most {
		return nil
	}
	return usage(strings.TrimSpace(c.Command.HelpName+" "+form), "unexpected argument %q", c.Args().Get(most))
}

// checkVariables refuses an environment variable whose name is a near miss of a flag's: a gate in
// it would be ignored. Other variables with our prefix may have their own purpose.
func checkVariables(c *cli.Context) error {
	var known []string
	var visit func(cs []*cli.Command)
	visit = func(cs []*cli.Command) {
		for _, cmd := range cs {
			for _, f := range cmd.Flags {
				known = append(known, envName(f.Names()[0])...)
			}
			visit(cmd.Subcommands)
		}
	}
	visit(c.App.Commands)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, envName("")[0]) || slices.Contains(known, name) {
			continue
		}
		if near := spell.Within(name, known, 1, 1); len(near) > 0 {
			return usage("did you mean "+near[0]+"?", "%s: no flag has this variable", name)
		}
	}
	return nil
}

// checkValues checks every given flag before any work.
func checkValues(c *cli.Context) error {
	for _, x := range checks {
		if !c.IsSet(x.flag) || emptied(c, x.flag) {
			continue
		}
		if err := x.check(c, fmt.Sprint(c.Value(x.flag))); err != nil {
			return err
		}
	}
	return nil
}

// emptied reports whether a flag is set by an empty variable, which counts as unset.
func emptied(c *cli.Context, flag string) bool {
	v, there := os.LookupEnv(envName(flag)[0])
	return there && v == "" && slices.Contains([]string{"", "0", "0s"}, fmt.Sprint(c.Value(flag)))
}

var versionForm = regexp.MustCompile(`^v?1\.\d{1,2}(\.\d+)?([-+.][0-9A-Za-z.+_-]*)?$`)

// checkVersion requires a Kubernetes release; for an unknown one it warns which version's rules are
// applied.
func checkVersion(c *cli.Context, v string) error {
	if !versionForm.MatchString(v) {
		return usage("for example --kubelet-version v1.28.0", "--kubelet-version: invalid version %q", v)
	}
	if rules := pleg.Beyond(v); rules != "" && !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: --kubelet-version %s: %s\n", v, rules)
	}
	return nil
}

// checkYear requires a year in which a kubelet may have run.
func checkYear(_ *cli.Context, v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 2014 || n > 2100 {
		return usage("four digits, for example --year 2026", "--year: invalid year %s", v)
	}
	return nil
}

func checkMoment(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, v string) error {
		_, err := moment(flag, v, nil, 0)
		return err
	}
}

func checkPositive(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, v string) error {
		if d, err := time.ParseDuration(v); err != nil || d <= 0 {
			return usage("a duration above zero, for example 3m or 1s", "--%s: invalid duration %s", flag, v)
		}
		return nil
	}
}

// mostJobs is more than any machine can use; starting the workers for a typo would take longer than
// the work.
const mostJobs = 4096

// checkCount requires a number from 1 to most.
func checkCount(flag string, most int) func(*cli.Context, string) error {
	form := "a number, at least 1"
	if most < math.MaxInt {
		form = fmt.Sprintf("a number from 1 to %d", most)
	}
	return func(_ *cli.Context, v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < 1 || n > most {
			return usage(form, "--%s: invalid number %s", flag, v)
		}
		return nil
	}
}

func checkSize(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, v string) error {
		n, err := size(flag, v)
		if err == nil && n < 1 {
			err = usage("for example 500MB or 64GiB", "--%s: invalid size %q", flag, v)
		}
		return err
	}
}

// checkGiven refuses an empty value: with "--redact-key $KEY" and an unset variable, the report
// would contain all names.
func checkGiven(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, v string) error {
		if v == "" {
			return usage("leave the flag out, or give it a value", "--%s: is empty", flag)
		}
		return nil
	}
}

func checkWhen(flag string) func(*cli.Context, string) error {
	return func(_ *cli.Context, v string) error {
		if !slices.Contains(whenWords, v) {
			return unknown("value of --"+flag, v, whenWords)
		}
		return nil
	}
}

// zone parses a time zone: a name, UTC, or an offset.
func zone(flag, s string) (*time.Location, error) {
	if s == "" {
		return nil, nil
	}
	for _, l := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(l, s); err == nil {
			_, off := t.Zone()
			return time.FixedZone(s, off), nil
		}
	}
	loc, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		return nil, usage("a place (Europe/Berlin), UTC, or an offset (+05:30)", "--%s: unknown zone %q", flag, s)
	}
	return loc, nil
}

// size parses a number of bytes with an optional unit.
func size(flag, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(s, "KMGTPEIBkmgtpeib ")
	var n int64
	for _, r := range digits {
		if r < '0' || r > '9' || n > 1<<59 {
			return 0, usage("for example 500MB or 64GiB", "--%s: invalid size %q", flag, s)
		}
		n = n*10 + int64(r-'0')
	}
	unit := strings.ToUpper(strings.TrimSpace(s[len(digits):]))
	base := int64(1000)
	if strings.HasSuffix(unit, "IB") || len(unit) == 1 {
		base = 1024
	}
	power := strings.Index("BKMGTPE", strings.TrimSuffix(strings.TrimSuffix(unit, "IB"), "B")+"") // "" is bytes
	if digits == "" || power < 0 {
		return 0, usage("for example 500MB or 64GiB", "--%s: invalid size %q", flag, s)
	}
	for range power {
		if n > 1<<62/base {
			return 0, usage("at most 8EiB", "--%s: %q is too large", flag, s)
		}
		n *= base
	}
	return n, nil
}

// momentForms describes the forms of a time flag, up to what a duration counts back from.
const momentForms = "RFC 3339, \"2006-01-02 15:04\" or a date alone (in --tz, else UTC), Unix seconds, or a duration before the end"

// moment parses a time flag: an absolute time, Unix seconds, or a duration before end, with or
// without a minus sign.
func moment(flag, s string, loc *time.Location, end int64) (int64, error) {
	if s == "" {
		return 0, nil
	}
	if d, ok := ago(s); ok {
		return end - int64(d), nil
	}
	if sec, err := strconv.ParseFloat(s, 64); err == nil && sec >= 1e8 && sec < 9e9 { // Unix seconds since 1973
		return int64(math.Round(sec*1e3)) * 1e6, nil
	}
	if loc == nil {
		loc = time.UTC
	}
	for _, l := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(l, s, loc); err == nil {
			if y := t.UTC().Year(); y < 1678 || y > 2261 {
				return 0, usage("give a time from 1678 to 2261", "--%s: %s is out of range", flag, s)
			}
			return t.UnixNano(), nil
		}
	}
	return 0, usage(momentForms+" (2d, 2h or -2h)", "--%s: invalid time %q", flag, s)
}

// ago parses a duration that counts back from an end, with or without a minus sign. Besides Go's
// units it accepts days of 24 hours: 2d, 1d12h.
func ago(s string) (time.Duration, bool) {
	s = strings.TrimPrefix(s, "-")
	var days time.Duration
	if n, rest, ok := strings.Cut(s, "d"); ok {
		whole, err := strconv.ParseUint(n, 10, 16)
		if days, s = time.Duration(whole)*24*time.Hour, rest; err != nil || s == "" {
			return days, err == nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || days+d < 0 || strings.HasPrefix(s, "+") {
		return 0, false
	}
	return days + d, true
}
