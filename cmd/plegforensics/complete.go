package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/docs"
	"github.com/plegforensics/plegforensics/internal/compare"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/scenario"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// The completion scripts ask the program itself for candidates, so that they never get out of date:
// "plegforensics __complete WORD... CURRENT" prints one candidate per line, followed by a tab and a
// description. No output means a file name.
const (
	completeWord = "__complete"
	completeFlag = "--generate-bash-completion" // of older scripts: words only
)

// candidate is a word that may be completed at the cursor.
type candidate struct{ word, about string }

// completing answers a completion script, and reports whether one asked.
func completing(app *cli.App, args []string, w io.Writer) bool {
	switch {
	case len(args) > 1 && args[1] == completeWord:
		words, current := args[2:], ""
		if n := len(words); n > 0 {
			words, current = words[:n-1], words[n-1]
		}
		for _, c := range candidates(app, words, current) {
			fmt.Fprintf(w, "%s\t%s\n", c.word, c.about)
		}
		return true
	case len(args) > 1 && args[len(args)-1] == completeFlag:
		words, current := args[1:len(args)-1], ""
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "-") {
			words, current = words[:n-1], words[n-1]
		}
		for _, c := range candidates(app, words, current) {
			fmt.Fprintln(w, c.word)
		}
		return true
	}
	return false
}

// candidates returns the completions of current after words.
func candidates(app *cli.App, words []string, current string) []candidate {
	cmd, path, rest := commandAt(app, words)
	out := candidatesOf(app, cmd, path, rest, current)
	return slices.DeleteFunc(out, func(c candidate) bool { return !strings.HasPrefix(c.word, current) })
}

// commandAt returns the command at the start of words, and the words after it.
func commandAt(app *cli.App, words []string) (cmd *cli.Command, path string, rest []string) {
	cmds := app.Commands
	for len(words) > 0 {
		next := find(cmds, words[0])
		if next == nil {
			break
		}
		cmd, cmds, words = next, next.Subcommands, words[1:]
		path = strings.TrimSpace(path + " " + next.Name)
	}
	return cmd, path, words
}

func candidatesOf(app *cli.App, cmd *cli.Command, path string, rest []string, current string) []candidate {
	if cmd == nil {
		if len(rest) > 0 { // paths imply analyze
			return candidatesOf(app, find(app.Commands, "analyze"), "analyze", rest, current)
		}
		if strings.HasPrefix(current, "-") {
			return []candidate{{"--help", "help"}, {"--version", "version and build"}}
		}
		return append(commandWords(app.Commands), candidate{"help", "help on a command"}, candidate{"version", "version and build"})
	}
	if slices.Contains(rest, "--") {
		return argumentWords(app, cmd, path, rest)
	}
	if n := len(rest); n > 0 && takesValue(cmd, rest[n-1]) && strings.HasPrefix(rest[n-1], "-") {
		return valueWords(path, flagName(cmd, rest[n-1]), current)
	}
	if name, value, ok := strings.Cut(current, "="); ok && strings.HasPrefix(name, "--") {
		var out []candidate
		for _, c := range valueWords(path, flagName(cmd, name), value) {
			out = append(out, candidate{name + "=" + c.word, c.about})
		}
		return out
	}
	if strings.HasPrefix(current, "-") {
		return flagWords(cmd)
	}
	return append(commandWords(cmd.Subcommands), argumentWords(app, cmd, path, rest)...)
}

func commandWords(cs []*cli.Command) []candidate {
	var out []candidate
	for _, c := range cs {
		if !c.Hidden {
			out = append(out, candidate{c.Name, c.Usage})
		}
	}
	return out
}

func flagWords(cmd *cli.Command) []candidate {
	out := []candidate{}
	for _, f := range cmd.Flags {
		_, about := flagText(f)
		for _, n := range f.Names() {
			if len(n) > 1 {
				out = append(out, candidate{"--" + n, about})
			}
		}
	}
	return append(out, candidate{"--help", "help"})
}

// flagName returns the first name of a flag, whichever of its names was typed.
func flagName(cmd *cli.Command, word string) string {
	name := strings.TrimLeft(word, "-")
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			return f.Names()[0]
		}
	}
	return name
}

// valueWords returns the values of a flag; none if it takes a path, a number or free text.
func valueWords(command, flag, current string) []candidate {
	switch flag {
	case "output":
		if strings.Contains(current, "=") {
			return nil // FORMAT=PATH
		}
		return formatWords(command)
	case "report":
		return formatWords("analyze")
	case "color", "links":
		return plainWords(whenWords)
	case "fail-on":
		if strings.HasPrefix(current, "cause:") {
			return causeWords("cause:")
		}
		return []candidate{{"none", "never"}, {"info", "any breach"}, {"warning", "a breach that is at least a warning"},
			{"critical", "a critical breach"}, {"cause:", "a cause is named"}, {"episodes>0", "PLEG was unhealthy more often"}}
	case "what-if":
		var out []candidate
		for _, k := range simulate.WhatIfKeys {
			out = append(out, candidate{k.Key + "=", k.About})
		}
		return out
	case "threshold":
		var out []candidate
		for _, l := range (*rules.Pack)(nil).Limits() {
			out = append(out, candidate{l.Name + "=", "default " + l.String()})
		}
		return out
	case "tz", "display-tz":
		return plainWords([]string{"UTC", "Europe/", "America/", "Asia/"})
	case "shard":
		return plainWords([]string{"auto"})
	case "find":
		return plainWords(scenario.Questions())
	case "kubelet-version":
		var out []candidate
		for minor := pleg.NewestMinor; minor >= pleg.OldestMinor; minor-- {
			out = append(out, candidate{fmt.Sprintf("v1.%d.0", minor), ""})
		}
		return out
	}
	return nil
}

// plainWords returns candidates without a description.
func plainWords(words []string) []candidate {
	var out []candidate
	for _, w := range words {
		out = append(out, candidate{w, ""})
	}
	return out
}

// formatWords returns the output formats of a command.
func formatWords(command string) []candidate {
	formats := report.Formats
	switch command {
	case "timeline":
		formats = report.TimelineFormats
	case "events":
		formats = report.EventFormats
	case "inspect":
		formats = report.InspectFormats
	case "query":
		formats = report.QueryFormats(nil)
	case "batch", "batch merge":
		formats = fleetFormats()
	case "compare":
		var out []candidate
		for _, f := range compare.Formats {
			out = append(out, candidate{f.Name, f.About})
		}
		return out
	case "replay":
		var out []candidate
		for _, f := range report.ReplayFormats {
			out = append(out, candidate{f.Name, f.About})
		}
		return out
	}
	var out []candidate
	for _, f := range formats {
		out = append(out, candidate{f.Name, f.About})
	}
	return out
}

// causeWords returns the built-in causes, each after prefix.
func causeWords(prefix string) []candidate {
	pack, _ := rules.Builtin() // a test of package rules checks the built-in files
	var out []candidate
	for _, d := range pack.Causes {
		out = append(out, candidate{prefix + d.ID, d.Title})
	}
	return out
}

// argumentWords returns the arguments of commands that take no files.
func argumentWords(app *cli.App, cmd *cli.Command, path string, rest []string) []candidate {
	switch path {
	case "explain", "rules show":
		out := causeWords("")
		for _, t := range docs.Topics() {
			out = append(out, candidate{t.Name, t.Heading})
		}
		for _, r := range rules.BreachRules() {
			out = append(out, candidate{r.ID, r.Title})
		}
		if path == "rules show" {
			for _, name := range alerts.BuiltinAlerts() {
				_, r, _ := alerts.BuiltinRule(name)
				out = append(out, candidate{name, r.Annotations["summary"]})
			}
		}
		return out
	case "rules export":
		return plainWords([]string{"prometheus"})
	case "schema":
		return plainWords(report.Documents.Kinds())
	case "completion":
		return plainWords(shells())
	case "help":
		at, _, _ := commandAt(app, rest)
		if at != nil {
			return commandWords(at.Subcommands)
		}
		return commandWords(app.Commands)
	}
	return nil
}
