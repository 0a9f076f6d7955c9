package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

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
	if len(known) > maxListed {
		hint = "plegforensics rules list shows all " + strconv.Itoa(len(known))
	}
	if best := spell.Nearest(word, known); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return usage(hint, "unknown %s %q", what, word)
}

// onUsageError keeps cli's help dump off standard output.
func onUsageError(c *cli.Context, err error, _ bool) error {
	msg := err.Error()
	if _, flag, ok := strings.Cut(msg, "flag provided but not defined: "); ok {
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
		name := strings.TrimLeft(flag, "-")
		hint := seeHelp(c)
		if slices.ContainsFunc(formatWords(commandPath(c.Command.HelpName)), func(f candidate) bool { return f.word == name }) {
			return usage("did you mean --output "+name+"?", "unknown flag --%s", name)
		}
		if best := spell.Nearest(name, names); best != "" {
			hint = fmt.Sprintf("did you mean --%s?", best)
		}
		return usage(hint, "unknown flag --%s", name)
	}
	return usage(seeHelp(c), "%s", msg)
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
		fmt.Fprintf(app.ErrWriter, "plegforensics: error: %s\n", visible(e.msg))
	}
	if e.hint != "" {
		fmt.Fprintf(app.ErrWriter, "plegforensics: hint: %s\n", visible(e.hint))
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

// rootCause is an error without operation and path.
func rootCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
