package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// linksWanted reports whether file names on standard output are to be hyperlinks (OSC 8). By
// default that is so only on a terminal known to ignore escape sequences that it does not support.
func linksWanted(c *cli.Context) (bool, error) {
	switch when := c.String("links"); when {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
		return onTerminal(c) && !paging(c) && c.String("color") != "never" && os.Getenv("NO_COLOR") == "" && linksWork(os.Getenv), nil
	default:
		return false, unknown("value of --links", when, []string{"auto", "always", "never"})
	}
}

// linksWork reports, based on the environment, whether the terminal supports hyperlinks. The few
// that do not print the address as garbage: consoles, screen, and the VTE library before 0.50.
func linksWork(env func(string) string) bool {
	switch t := env("TERM"); {
	case t == "", t == "dumb", strings.HasPrefix(t, "linux"), strings.HasPrefix(t, "vt"), strings.HasPrefix(t, "cons"):
		return false
	case strings.HasPrefix(t, "screen") && env("TMUX") == "":
		return false
	}
	if env("TERM_PROGRAM") == "Apple_Terminal" || env("CI") != "" {
		return false
	}
	if v, err := strconv.Atoi(env("VTE_VERSION")); err == nil && v < 5000 {
		return false
	}
	return true
}

// linker returns a function that gives the address of a position: the URL of the file on disk, with
// the line as fragment. Files inside archives have none. Redacted reports have no links, because
// addresses contain names.
func linker(c *cli.Context) func(*model.Evidence) string {
	inputs := c.Args().Slice()
	if want, err := linksWanted(c); err != nil || !want || redacting(c) || c.Bool("separate") {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return func(e *model.Evidence) string {
		if e.Input < 0 || e.Input >= len(inputs) {
			return ""
		}
		path := onDisk(inputs[e.Input], e.File)
		if path == "" {
			return ""
		}
		u := url.URL{Scheme: "file", Host: host, Path: filepath.ToSlash(path)}
		if e.Line > 0 {
			u.Fragment = strconv.Itoa(int(e.Line))
		}
		return u.String()
	}
}

// onDisk returns the absolute path of a file of an input, "" if it is in an archive or came through
// a pipe.
func onDisk(input, file string) string {
	if input == "-" || strings.Contains(file, "!") {
		return ""
	}
	path, err := filepath.Abs(input)
	if err != nil {
		return ""
	}
	if st, err := os.Stat(path); err != nil {
		return ""
	} else if st.IsDir() {
		path = filepath.Join(path, filepath.FromSlash(file))
	}
	return path
}
