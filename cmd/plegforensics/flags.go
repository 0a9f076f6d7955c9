package main

import (
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
)

// Flag categories in --help.
const (
	catOutput = "Output"
	catTime   = "Time"
	catNode   = "Kubelet and node"
	catRules  = "Rules"
	catLimits = "Limits"
)

// envName is the environment variable of a flag: --fail-on is
// PLEGFORENSICS_FAIL_ON. The flag beats the variable.
func envName(flag string) []string {
	return []string{"PLEGFORENSICS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))}
}

func stringFlag(cat, name, usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, EnvVars: envName(name), Category: cat}
}

func boolFlag(cat, name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, EnvVars: envName(name), Category: cat}
}

// onFlag is a flag that is on unless it is given as --name=false.
func onFlag(cat, name, usage string) *cli.BoolFlag {
	f := boolFlag(cat, name, usage)
	f.Value = true
	return f
}

func listFlag(cat, name, usage string) *cli.StringSliceFlag {
	return &cli.StringSliceFlag{Name: name, Usage: usage, EnvVars: envName(name), Category: cat}
}

func durationFlag(cat, name, usage string) *cli.DurationFlag {
	return &cli.DurationFlag{Name: name, Usage: usage, EnvVars: envName(name), Category: cat}
}

// inputFlags steer how inputs are read; every command that reads a bundle has
// them.
func inputFlags() []cli.Flag {
	return []cli.Flag{
		stringFlag(catTime, "since", "drop what ended before `TIME`: RFC 3339, \"2006-01-02 15:04\", or a duration before the end of the input (-2h)"),
		stringFlag(catTime, "until", "drop what began after `TIME`"),
		stringFlag(catTime, "tz", "time `ZONE` of stamps that carry none: UTC, Europe/Berlin, +05:30; overrides what the bundle says"),
		&cli.IntFlag{Name: "year", Usage: "`YEAR` of stamps that carry none; default inferred", EnvVars: envName("year"), Category: catTime},
		listFlag(catNode, "node", "keep only node `NAME`; repeatable"),
		stringFlag(catNode, "kubelet-version", "take the kubelet for version `V` (v1.28.0), whatever the input says"),
		durationFlag(catNode, "relist-threshold", "health threshold, overrides the profile of the version"),
		durationFlag(catNode, "relist-period", "relist period, overrides the profile of the version"),
		boolFlag(catNode, "separate", "keep several inputs apart instead of merging those of one node"),
		stringFlag(catLimits, "max-bytes", "most bytes that one input may expand to (`SIZE`, e.g. 64GiB)"),
		&cli.IntFlag{Name: "max-files", Usage: "most `N` files that one input may hold", EnvVars: envName("max-files"), Category: catLimits},
		&cli.IntFlag{Name: "max-depth", Usage: "most `N` archives inside one another", EnvVars: envName("max-depth"), Category: catLimits},
		boolFlag(catLimits, "strict", "input problems (truncated, unreadable, cut by a limit) are failures: exit 4"),
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), Usage: "`N` workers", EnvVars: envName("jobs"), Category: catLimits, DefaultText: "number of CPUs"},
		boolFlag(catOutput, "quiet", "no progress and no warnings on standard error"),
	}
}

// ruleFlags steer what counts as a finding.
func ruleFlags() []cli.Flag {
	return []cli.Flag{
		listFlag(catRules, "rules", "extra rule pack, file or directory `PATH`; repeatable"),
		boolFlag(catRules, "no-builtin-rules", "leave the built-in causes out"),
		gateFlag(),
	}
}

// outputFlags choose among formats.
func outputFlags(formats []report.Format) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, EnvVars: envName("output"), Category: catOutput,
			Usage: "`FORMAT` or FORMAT=PATH, repeatable; one of " + strings.Join(report.Names(formats), ", "), DefaultText: "text"},
		&cli.StringFlag{Name: "color", Value: "auto", Usage: "`WHEN` to colour: auto, always, never; NO_COLOR is honoured", EnvVars: envName("color"), Category: catOutput},
		&cli.StringFlag{Name: "links", Value: "auto", Usage: "`WHEN` to make file names in a terminal clickable: auto, always, never", EnvVars: envName("links"), Category: catOutput},
		boolFlag(catOutput, "pager", "show the report through $PAGER, or less, where standard output is a terminal"),
		boolFlag(catOutput, "verbose", "quote all evidence and show every row"),
	}
}

// whenWords are the values of flags that say when to do something.
var whenWords = []string{"auto", "always", "never"}

// join appends groups of flags.
func join(groups ...[]cli.Flag) []cli.Flag {
	var out []cli.Flag
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}

// zone reads --tz: a place, UTC, or an offset.
func zone(s string) (*time.Location, error) {
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
		return nil, usage("a place (Europe/Berlin), UTC, or an offset (+05:30)", "--tz: unknown zone %q", s)
	}
	return loc, nil
}

// size reads a number of bytes with an optional unit.
func size(flag, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(s, "KMGTPEIBkmgtpeib ")
	var n int64
	for _, r := range digits {
		if r < '0' || r > '9' || n > 1<<59 {
			return 0, usage("for example 500MB or 64GiB", "--%s: bad size %q", flag, s)
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
		return 0, usage("for example 500MB or 64GiB", "--%s: bad size %q", flag, s)
	}
	for range power {
		if n > 1<<62/base {
			return 0, usage("at most 8EiB", "--%s: %q is too large", flag, s)
		}
		n *= base
	}
	return n, nil
}

// moment reads --since and --until: an absolute time, or a duration before end.
func moment(flag, s string, loc *time.Location, end int64) (int64, error) {
	if s == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		if d > 0 {
			d = -d
		}
		return end + int64(d), nil
	}
	if loc == nil {
		loc = time.UTC
	}
	for _, l := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(l, s, loc); err == nil {
			return t.UnixNano(), nil
		}
	}
	return 0, usage("RFC 3339, \"2006-01-02 15:04\", or a duration before the end (-2h)", "--%s: bad time %q", flag, s)
}
