package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Exit statuses, as the command line contract has them.
const (
	exitOK          = 0
	exitFindings    = 1 // findings at or above --fail-on
	exitUsage       = 2
	exitNothing     = 3 // no input could be analysed
	exitPartial     = 4 // analysed in part, under --strict
	exitInterrupted = 130
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

// unknown is a wrong word where one of a list is expected.
func unknown(what, word string, known []string) error {
	hint := "one of " + strings.Join(known, ", ")
	if best := nearest(word, known); best != "" {
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
		hint := "see " + c.App.Name + " " + c.Command.Name + " --help"
		if best := nearest(name, names); best != "" {
			hint = fmt.Sprintf("did you mean --%s?", best)
		}
		return usage(hint, "unknown flag --%s", name)
	}
	return usage("see "+c.App.Name+" "+c.Command.Name+" --help", "%s", msg)
}

// finish prints err for the user and returns the exit status.
func finish(app *cli.App, err error) int {
	if err == nil {
		return exitOK
	}
	if brokenPipe(err) {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitNothing, msg: err.Error()}
	}
	if e.msg != "" {
		fmt.Fprintf(app.ErrWriter, "plegforensics: error: %s\n", visible(e.msg))
	}
	if e.hint != "" {
		fmt.Fprintf(app.ErrWriter, "plegforensics: hint: %s\n", visible(e.hint))
	}
	return e.code
}

// nearest returns the word of known that is within a third of its length in
// edits of word, "" if none is.
func nearest(word string, known []string) string {
	best, least := "", len(word)/3+2
	for _, k := range known {
		if d := edits(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := prev
			if a[i-1] != b[j-1] {
				cost++
			}
			prev = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
