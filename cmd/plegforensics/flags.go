package main

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse/bundle"
)

// Flag categories in --help.
const (
	catOutput = "Output"
	catTime   = "Time"
	catNode   = "Kubelet and node"
	catRules  = "Rules"
	catLimits = "Limits"
)

// envName returns the environment variable of a flag: PLEGFORENSICS_FAIL_ON for --fail-on. The flag
// takes precedence.
func envName(flag string) []string {
	return []string{"PLEGFORENSICS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))}
}

func stringFlag(cat, name, usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, EnvVars: envName(name), Category: cat}
}

func boolFlag(cat, name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, EnvVars: envName(name), Category: cat}
}

// onFlag returns a boolean flag that is on by default; --name=false turns it off.
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

// inputFlags control how inputs are read. Every command that reads a bundle has them.
func inputFlags() []cli.Flag {
	limits := bundle.DefaultLimits
	return []cli.Flag{
		stringFlag(catTime, "since", "drop what ended before `TIME`: "+momentForms+" of the input (2d, 2h or -2h)"),
		stringFlag(catTime, "until", "drop what began after `TIME`, in the same forms"),
		stringFlag(catTime, "tz", "time `ZONE` of stamps that carry none: UTC, Europe/Berlin, +05:30; overrides what the bundle says"),
		&cli.IntFlag{Name: "year", Usage: "`YEAR` of stamps that carry none; default inferred", EnvVars: envName("year"), Category: catTime},
		listFlag(catNode, "node", "keep only node `NAME`; repeatable"),
		stringFlag(catNode, "kubelet-version", "take the kubelet for version `V` (v1.28.0), whatever the input says"),
		&cli.DurationFlag{Name: "relist-threshold", Usage: "age `D` of the last relist from which PLEG counts as unhealthy", EnvVars: envName("relist-threshold"), Category: catNode, DefaultText: "that of the version, 3m"},
		&cli.DurationFlag{Name: "relist-period", Usage: "time `D` between two relists", EnvVars: envName("relist-period"), Category: catNode, DefaultText: "that of the version, 1s"},
		boolFlag(catNode, "separate", "keep several inputs apart instead of merging those of one node"),
		&cli.StringFlag{Name: "max-bytes", Usage: "most bytes that an archive or compressed input may expand to, and of a stream (`SIZE`, e.g. 64GiB)", EnvVars: envName("max-bytes"), Category: catLimits, DefaultText: strconv.FormatInt(limits.Bytes>>30, 10) + "GiB"},
		&cli.IntFlag{Name: "max-files", Usage: "most `N` files that one input may hold", EnvVars: envName("max-files"), Category: catLimits, DefaultText: strconv.Itoa(limits.Files)},
		&cli.IntFlag{Name: "max-logs", Usage: "most `N` logs of one input that are read, and a fifth as many files of metrics", EnvVars: envName("max-logs"), Category: catLimits, DefaultText: strconv.Itoa(limits.Logs)},
		&cli.IntFlag{Name: "max-nodes", Usage: "most `N` nodes of the inputs that are rebuilt, unless --node names them", EnvVars: envName("max-nodes"), Category: catLimits, DefaultText: strconv.Itoa(mostNodes)},
		&cli.IntFlag{Name: "max-depth", Usage: "maximum archive nesting depth `N`", EnvVars: envName("max-depth"), Category: catLimits, DefaultText: strconv.Itoa(limits.Depth)},
		&cli.StringFlag{Name: "max-held", Usage: "most bytes of one file that must be held in memory as a whole, such as metrics as protobuf or JSON (`SIZE`)", EnvVars: envName("max-held"), Category: catLimits, DefaultText: strconv.FormatInt(limits.Whole>>20, 10) + "MiB"},
		&cli.IntFlag{Name: "max-series", Usage: "most `N` samples of a snapshot in a large metrics file, of metrics that no rule looks at", EnvVars: envName("max-series"), Category: catLimits, DefaultText: strconv.Itoa(limits.Series)},
		durationFlag(catLimits, "deadline", "most time for the run; in batch for each bundle, not for the names of bundles"),
		boolFlag(catLimits, "strict", "input problems (truncated, unreadable, cut by a limit) are failures: exit 4"),
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), Usage: "`N` workers", EnvVars: envName("jobs"), Category: catLimits, DefaultText: "number of CPUs"},
		boolFlag(catOutput, "quiet", "no progress and no warnings on standard error, but for what a limit left out"),
	}
}

// ruleFlags control what counts as a finding.
func ruleFlags() []cli.Flag {
	return append(packFlags(), gateFlag())
}

// outputFlags select formats and destinations.
func outputFlags(formats []report.Format) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, EnvVars: envName("output"), Category: catOutput,
			Usage: "`FORMAT` or FORMAT=PATH, repeatable; one of " + strings.Join(report.Names(formats), ", "), DefaultText: "text"},
		&cli.StringFlag{Name: "color", Value: "auto", Usage: "`WHEN` to color: auto, always, never; NO_COLOR is honored", EnvVars: envName("color"), Category: catOutput},
		&cli.StringFlag{Name: "links", Value: "auto", Usage: "`WHEN` to make file names in a terminal clickable: auto, always, never", EnvVars: envName("links"), Category: catOutput},
		boolFlag(catOutput, "pager", "show the report through $PAGER, or less, where standard output is a terminal"),
		stringFlag(catOutput, "display-tz", "tell local times of `ZONE` beside UTC: Europe/Berlin, +05:30"),
		boolFlag(catOutput, "verbose", "quote all evidence and show every row"),
	}
}

// whenWords are the values of flags such as --color.
var whenWords = []string{"auto", "always", "never"}

// join concatenates groups of flags.
func join(groups ...[]cli.Flag) []cli.Flag {
	var out []cli.Flag
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}
