package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/spell"
)

// Exit statuses, as documented.
const (
	exitOK          = 0
	exitFindings    = 1 // findings at or above --fail-on
	exitUsage       = 2
	exitNothing     = 3 // no input could be analyzed
	exitPartial     = 4 // analyzed in part, under --strict
	exitOutput      = 5 // an output could not be written
	exitInterrupted = 130
	exitPipe        = 141 // the reader of standard output went away: 128 + SIGPIPE, as in shells
)

// exitError ends the run with an exit status. If msg is empty nothing is printed, because the
// report says it all.
type exitError struct {
	code int
	msg  string
	hint string
}

func (e *exitError) Error() string { return e.msg }

// usage returns an error for a wrong call: status 2.
func usage(hint, format string, args ...any) error {
	return &exitError{exitUsage, fmt.Sprintf(format, args...), hint}
}

// maxListed is the maximum number of words in a hint; only rule IDs exceed it.
const maxListed = 20

// unknown returns an error for a word that is not in a list.
func unknown(what, word string, known []string) error {
	return unknownName(what, word, known, func(names ...string) []string { return names })
}

// unknownName is unknown for words that shown may replace.
func unknownName(what, word string, known []string, shown func(...string) []string) error {
	hint := "one of " + strings.Join(shown(known...), ", ")
	if len(known) == 0 {
		hint = "there is none"
	}
	if len(known) > maxListed {
		hint = "plegforensics rules list shows all " + strconv.Itoa(len(known))
	}
	if near := spell.Close(word, known, 3); len(near) > 0 {
		hint = "did you mean " + alternatives(shown(near...)) + "?"
	}
	return usage(hint, "unknown %s %q", what, shown(word)[0])
}

// alternatives joins suggestions with commas and "or".
func alternatives(words []string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

// onUsageError rewords errors of package flag about the command line, and keeps cli's help text off
// standard output.
func onUsageError(c *cli.Context, err error, _ bool) error {
	msg := err.Error()
	if _, flag, ok := strings.Cut(msg, "flag provided but not defined: "); ok {
		if flag = strings.TrimLeft(flag, "-"); len(flag) > 1 {
			flag = "-" + flag
		}
		return unknownFlag(c, "-"+flag)
	}
	if _, word, ok := strings.Cut(msg, "bad flag syntax: "); ok {
		return unknownFlag(c, word)
	}
	if m := badVariable().FindStringSubmatch(msg); m != nil {
		return usage(wantedBy(c, m[3], seeHelp(c)), "%s: invalid value %s", m[2], m[1])
	}
	if m := badValue().FindStringSubmatch(msg); m != nil {
		return usage(wantedBy(c, m[2], seeHelp(c)), "%s: invalid value %s", flagWord(c.Command, m[2]), m[1])
	}
	return usage(seeHelp(c), "%s", msg)
}

// Error messages of package flag and cli about invalid values.
var (
	badValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-*([a-z0-9-]+): `)
	})
	badVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^could not parse (".*") as .* from environment variable "([A-Z0-9_]+)" for flag ([a-z0-9-]+): `)
	})
)

// unknownFlag returns an error for a flag that the command does not have; typed is what the user
// typed.
func unknownFlag(c *cli.Context, typed string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(typed, "-"), "=")
	hint := seeHelp(c)
	if len(name) > 1 {
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()[0])
		}
		if best := spell.Nearest(name, names); best != "" {
			hint = fmt.Sprintf("did you mean --%s?", best)
		}
		if slices.ContainsFunc(formatWords(commandPath(c.Command.HelpName)), func(f candidate) bool { return f.word == name }) {
			hint = "did you mean --output " + name + "?"
		}
	}
	return usage(hint, "unknown flag %s", typed)
}

// wantedBy describes the value of a flag; it returns or if the type says nothing.
func wantedBy(c *cli.Context, typed, or string) string {
	switch flagOf(c.Command, typed).(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.IntFlag:
		return "a number"
	case *cli.DurationFlag:
		return "a duration, for example 3m or 1s"
	}
	return or
}

// seeHelp refers to the help page of the command.
func seeHelp(c *cli.Context) string {
	name := c.Command.HelpName
	if name == "" {
		name = c.App.Name
	}
	return "see " + name + " --help"
}

// finish prints err and returns the exit status. lost is the error of writing to standard output,
// if any.
func finish(app *cli.App, err, lost error) int {
	e := failure(err, lost)
	if e == nil {
		return exitOK
	}
	if e.msg != "" {
		fmt.Fprintf(app.ErrWriter, "plegforensics: error: %s\n", e.msg)
	}
	if e.hint != "" {
		fmt.Fprintf(app.ErrWriter, "plegforensics: hint: %s\n", e.hint)
	}
	return e.code
}

// failure returns the error that decides the exit status, nil if there is none.
func failure(err, lost error) *exitError {
	var e *exitError
	var o *output.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &o):
		return &exitError{code: exitOutput, msg: o.Error()}
	case brokenPipe(lost):
		return &exitError{code: exitPipe} // the reader has seen enough: print nothing
	case lost != nil:
		return &exitError{code: exitOutput, msg: "standard output: " + rootCause(lost).Error()}
	case err != nil:
		return &exitError{code: exitNothing, msg: err.Error()}
	}
	return nil
}

// plainly formats a file system error as path and cause, without the operation.
func plainly(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Path + ": " + p.Err.Error()
	}
	return err.Error()
}

// rootCause removes operation and path from an error.
func rootCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
