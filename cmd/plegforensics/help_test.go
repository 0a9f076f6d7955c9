package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestHelpPages: every command has a page with an example; no line exceeds 80 columns, and no empty
// default is shown.
func TestHelpPages(t *testing.T) {
	var visit func(path []string, cs []*cli.Command)
	visit = func(path []string, cs []*cli.Command) {
		for _, c := range cs {
			here := append(append([]string{}, path...), c.Name)
			code, page, errs := status(t, append(append([]string{}, here...), "--help")...)
			if code != 0 {
				t.Errorf("%v --help: exit %d: %s", here, code, errs)
			}
			for _, line := range strings.Split(page, "\n") {
				if n := utf8.RuneCountInString(line); n > narrowHelp {
					t.Errorf("%v: %d columns: %s", here, n, line)
				}
			}
			for _, bad := range []string{"default: 0)", "default: false", "default: \"\"", "default: 0s"} {
				if strings.Contains(page, bad) {
					t.Errorf("%v: %q", here, bad)
				}
			}
			if !c.Hidden && !strings.Contains(page, "EXAMPLES\n  ") {
				t.Errorf("%v: no example", here)
			}
			visit(here, c.Subcommands)
		}
	}
	visit(nil, commands())
}

// TestExamplesAreOfCommands: every example belongs to an existing command.
func TestExamplesAreOfCommands(t *testing.T) {
	for _, e := range examples {
		cs := commands()
		for _, word := range strings.Fields(e.command) {
			c := find(cs, word)
			if c == nil {
				t.Errorf("%q of %q", word, e.line)
				break
			}
			cs = c.Subcommands
		}
	}
}

// TestHelpOfStatuses: help lists the exit statuses that a command can have.
func TestHelpOfStatuses(t *testing.T) {
	for command, want := range map[string][2]bool{"analyze": {true, true}, "inspect": {false, true}, "rules test": {true, false}, "explain": {false, false}} {
		text := string(printed(t, append(strings.Fields(command), "--help")...))
		if got := [2]bool{strings.Contains(text, "\n  1     "), strings.Contains(text, "\n  4     ")}; got != want {
			t.Errorf("%s: statuses 1 and 4: %v, want %v", command, got, want)
		}
	}
}
