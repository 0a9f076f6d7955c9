package main

import (
	"bufio"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// arrange moves flags in front of the arguments, because package flag stops parsing at the first
// argument and people do not care about the order. "--" ends the flags.
func arrange(app *cli.App, args []string) ([]string, error) {
	args = implied(app, args)
	out := args[:1:1]
	rest := args[1:]
	cmds := app.Commands
	var cmd *cli.Command
	for len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		next := find(cmds, rest[0])
		if next == nil {
			break
		}
		cmd, cmds = next, next.Subcommands
		out = append(out, rest[0])
		rest = rest[1:]
	}
	if cmd == nil {
		return args, nil
	}
	var flags, words []string
	once := map[string]bool{}
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		if a == "--" {
			words = append(words, rest[i+1:]...)
			break
		}
		if a == "-" || !strings.HasPrefix(a, "-") {
			words = append(words, a)
			continue
		}
		if short := glued(cmd, a); short != "" {
			a, rest[i] = short, a[2:]
			i--
		}
		if name := single(cmd, a); name != "" {
			if once[name] {
				return nil, usage("the second would replace the first", "--%s given twice", name)
			}
			once[name] = true
		}
		flags = append(flags, a)
		if !takesValue(cmd, a) {
			continue
		}
		if i++; i == len(rest) || rest[i] == "--" {
			return nil, usage("see "+app.Name+" "+strings.Join(out[1:], " ")+" --help", "%s needs a value", flagWord(cmd, a))
		}
		flags = append(flags, rest[i])
	}
	if len(cmd.Subcommands) > 0 && cmd.ArgsUsage == "" && len(words) > 0 {
		return nil, unknown(cmd.Name+" command", words[0], commandNames(cmd.Subcommands))
	}
	if len(words) == 0 && readsPipe(cmd, flags) && piped(app) == pipeFull {
		words = []string{"-"}
	}
	if helpWanted(flags) { // help for the command, whatever else was requested
		return append(out, "--help"), nil
	}
	out = append(out, flags...)
	if len(words) > 0 {
		out = append(out, "--")
	}
	return append(out, words...), nil
}

// implied inserts the command "analyze" where it was left out: before paths, and if something is
// piped in.
func implied(app *cli.App, args []string) []string {
	analyze := append([]string{args[0], "analyze"}, args[1:]...)
	if len(args) == 1 {
		switch piped(app) {
		case pipeFull:
			return analyze
		case pipeEmpty: // reading it reports that it is empty
			return append(analyze, "-")
		}
		return args
	}
	first := args[1]
	switch name, _, _ := strings.Cut(strings.TrimLeft(first, "-"), "="); {
	case first == "-", first == "--":
		return analyze
	case strings.HasPrefix(first, "-"):
		if slices.Contains([]string{"h", "help", "v", "version"}, name) || find(app.Commands, "analyze") == nil {
			return args
		}
		for _, f := range find(app.Commands, "analyze").Flags {
			if slices.Contains(f.Names(), name) {
				return analyze
			}
		}
		return args
	case find(app.Commands, first) != nil:
		return args
	}
	if _, err := os.Stat(first); err == nil || strings.ContainsAny(first, `/\\.`) {
		return analyze
	}
	return args
}

// readsPipe reports whether a command without inputs reads standard input.
func readsPipe(cmd *cli.Command, flags []string) bool {
	return strings.HasPrefix(cmd.ArgsUsage, "INPUT...") && cmd.Name != "batch" && !helpWanted(flags)
}

func helpWanted(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return f == "-h" || f == "--help" || f == "-help" })
}

// pipe classifies standard input.
type pipe int

const (
	noPipe    pipe = iota // a terminal, a device such as /dev/null, or unreadable
	pipeEmpty             // an empty pipe or file
	pipeFull              // a non-empty pipe or file
)

// piped classifies standard input. It blocks until the first byte or the end of a pipe.
func piped(app *cli.App) pipe {
	if f, isFile := app.Reader.(*os.File); isFile {
		st, err := f.Stat()
		switch {
		case err != nil || !st.Mode().IsRegular() && st.Mode()&os.ModeNamedPipe == 0:
			return noPipe
		case st.Mode().IsRegular() && st.Size() == 0:
			return pipeEmpty
		case st.Mode().IsRegular():
			return pipeFull
		}
	}
	in := bufio.NewReader(app.Reader)
	app.Reader = in
	if _, err := in.Peek(1); err != nil {
		return pipeEmpty
	}
	return pipeFull
}

func find(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// takesValue reports whether the flag a is followed by its value.
func takesValue(cmd *cli.Command, a string) bool {
	f := flagOf(cmd, a) // no flag name contains "="
	_, boolean := f.(*cli.BoolFlag)
	return f != nil && !boolean
}

// flagWord returns a flag as help writes it, however it was typed.
func flagWord(cmd *cli.Command, typed string) string {
	if f := flagOf(cmd, typed); f != nil {
		return "--" + f.Names()[0]
	}
	return "--" + strings.TrimLeft(typed, "-")
}

func flagOf(cmd *cli.Command, typed string) cli.Flag {
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), strings.TrimLeft(typed, "-")) {
			return f
		}
	}
	return nil
}

// single returns the name of the flag a if it takes a single value, "" if it may be repeated or
// takes none.
func single(cmd *cli.Command, a string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
	for _, f := range cmd.Flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		switch f.(type) {
		case *cli.BoolFlag, *cli.StringSliceFlag:
			return ""
		}
		return f.Names()[0]
	}
	return ""
}

// glued returns the short flag of a word such as "-j7", "" if a is not of that form.
func glued(cmd *cli.Command, a string) string {
	if len(a) < 3 || a[1] == '-' || a[2] == '=' {
		return ""
	}
	for _, f := range cmd.Flags {
		for _, n := range f.Names() {
			if n == a[1:] {
				return ""
			}
		}
	}
	short := a[:2]
	if !takesValue(cmd, short) || numeric(cmd, short) && (a[2] < '0' || a[2] > '9') { // "-json" is not a number of jobs
		return ""
	}
	return short
}

// numeric reports whether a flag takes a number.
func numeric(cmd *cli.Command, a string) bool {
	for _, f := range cmd.Flags {
		if _, number := f.(*cli.IntFlag); number && slices.Contains(f.Names(), a[1:]) {
			return true
		}
	}
	return false
}
