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

// Exit statuses, as the command line contract has them.
const (
	exitOK          = 0
	exitFindings    = 1 // findings at or above --fail-on
	exitUsage       = 2
	exitNothing     = 3 // no input could be analysed
	exitPartial     = 4 // analysed in part, under --strict
	exitOutput      = 5 // an output could not be written
	exitInterrupted = 130
	exitPipe        = 141 // the reader of standard output went away: 128 + SIGPIPE, as shells have it
)

// exitError ends the run with a status. Msg may be empty: then nothing is
// printed, because the report has said it all.
type exitError struct {
	code int
	msg  string
	hint string
}

func (e *exitError) Error() string { return e.msg }

// usage is a wrong call: status 2.
func usage(hint, format string, args ...any) error {
	return &exitError{exitUsage, fmt.Sprintf(format, args...), hint}
}

// maxListed is how many words a hint lists; only ids of rules are more.
const maxListed = 20

// unknown is a wrong word where one of a list is expected.
func unknown(what, word string, known []string) error {
	hint := "one of " + strings.Join(known, ", ")
	if len(known) == 0 {
		hint = "there is none"
	}
	if len(known) > maxListed {
		hint = "plegforensics rules list shows all " + strconv.Itoa(len(known))
	}
	if near := spell.Close(word, known, 3); len(near) > 0 {
		hint = "did you mean " + alternatives(near) + "?"
	}
	return usage(hint, "unknown %s %q", what, word)
}

// alternatives joins words that may have been meant.
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

// onUsageError says what package flag found wrong with the command line, in the
// words of this program, and keeps cli's help dump off standard output.
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

// What package flag and cli say of a value that does not fit its flag.
var (
	badValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-*([a-z0-9-]+): `)
	})
	badVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^could not parse (".*") as .* from environment variable "([A-Z0-9_]+)" for flag ([a-z0-9-]+): `)
	})
)

// unknownFlag is a flag that the command has not, as it was typed.
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

// wantedBy says what a flag takes, or else.
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

// seeHelp points at the help page of the command.
func seeHelp(c *cli.Context) string {
	name := c.Command.HelpName
	if name == "" {
		name = c.App.Name
	}
	return "see " + name + " --help"
}

// finish prints err for the user and returns the exit status. Lost is what
// became of writing to standard output.
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

// failure is what ends the run, nil if nothing does.
func failure(err, lost error) *exitError {
	var e *exitError
	var o *output.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &o):
		return &exitError{code: exitOutput, msg: o.Error()}
	case brokenPipe(lost):
		return &exitError{code: exitPipe} // it has seen enough: nothing to tell
	case lost != nil:
		return &exitError{code: exitOutput, msg: "standard output: " + rootCause(lost).Error()}
	case err != nil:
		return &exitError{code: exitNothing, msg: err.Error()}
	}
	return nil
}

// plainly is an error of the file system as people say it: the path, and what is
// wrong.
func plainly(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Path + ": " + p.Err.Error()
	}
	return err.Error()
}

// rootCause is an error without operation and path.
func rootCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
