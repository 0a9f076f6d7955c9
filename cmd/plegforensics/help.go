package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Bounds of the width of a help page, which otherwise is that of the terminal.
const (
	narrowHelp = 80
	wideHelp   = 100
)

// exitStatuses is the table of exit statuses in help and the manual page.
var exitStatuses = []struct {
	code  int
	means string
}{
	{exitOK, "the work was done, whether something was found or not"},
	{exitFindings, "findings at or above --fail-on, or a failed test case"},
	{exitUsage, "wrong usage: unknown flag, command or value, or an output that cannot be made"},
	{exitNothing, "no input could be analyzed, none in the window, not by --deadline, or not within the limits of the process (ulimit)"},
	{exitPartial, "analyzed only in part (truncated, unreadable, cut by a limit), under --strict"},
	{exitOutput, "an output could not be written, for example on a full disk"},
	{exitInterrupted, "interrupted"},
	{exitPipe, "the reader of standard output went away"},
}

// printHelp is cli.HelpPrinter: one layout for the program and its commands.
func printHelp(w io.Writer, _ string, data any) {
	p := page{width: helpWidth(w)}
	switch x := data.(type) {
	case *cli.App:
		p.app(x)
	case *cli.Command:
		p.command(x)
	}
	_, _ = io.WriteString(w, p.String()) // stdout keeps the error
}

func helpWidth(w io.Writer) int {
	if out, ok := w.(*stdout); ok {
		if f, ok := out.Writer.(*os.File); ok {
			if n, _, err := term.GetSize(int(f.Fd())); err == nil {
				return max(narrowHelp, min(n, wideHelp))
			}
		}
	}
	return narrowHelp
}

// listWidth returns the width of a list on standard output: that of the terminal, or the one for
// files.
func listWidth(w io.Writer) int {
	if n := columns(0); n > 0 {
		return n
	}
	if out, ok := w.(*stdout); ok {
		if f, ok := out.Writer.(*os.File); ok {
			if n, _, err := term.GetSize(int(f.Fd())); err == nil {
				return min(max(n, 40), mostColumns)
			}
		}
	}
	return fileWidth
}

// page is a help page being written.
type page struct {
	strings.Builder
	width int
}

func (p *page) app(a *cli.App) {
	p.section("NAME")
	p.text(2, "", a.Name+" - "+a.Usage)
	p.section("USAGE")
	p.text(2, "", a.Name+" COMMAND [FLAGS] [ARGUMENTS]")
	p.text(2, "", a.Name+" PATH...    the same as "+a.Name+" analyze PATH...")
	p.paragraphs(a.Description)
	p.commands(a.Commands)
	p.examples("")
	p.section("FLAGS")
	p.item(2, 30, "-h, --help", "help, also of a command: "+a.Name+" help COMMAND")
	p.item(2, 30, "-v, --version", "version and build")
	p.exits(nil)
}

func (p *page) command(c *cli.Command) {
	name := c.HelpName
	p.section("NAME")
	p.text(2, "", name+" - "+c.Usage)
	p.section("USAGE")
	flags := ""
	if slices.ContainsFunc(c.VisibleFlags(), func(f cli.Flag) bool { return !slices.Contains(f.Names(), "help") }) {
		flags = " [FLAGS]"
	}
	p.text(2, "", strings.TrimSpace(name+flags+" "+strings.TrimSpace(c.ArgsUsage)))
	p.paragraphs(c.Description)
	p.commands(c.Subcommands)
	p.examples(commandPath(name))
	p.flags(c)
	own := map[int]string{} // meanings of statuses that differ in this command; "" if it does not have the status
	if has := func(name string) bool {
		return slices.ContainsFunc(c.VisibleFlags(), func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	}; !has("strict") { // it reads no input
		own[exitFindings], own[exitPartial] = "", ""
		own[exitNothing] = "the limits of the process (ulimit) are too low"
	} else if !has("fail-on") {
		own[exitFindings] = ""
	} else {
		own[exitFindings] = "findings at or above --fail-on"
	}
	if path := commandPath(name); path == "rules" || path == "rules test" {
		own[exitFindings] = "a test case failed"
	}
	p.exits(own)
	p.WriteByte('\n')
	p.text(0, "", "Every flag has an environment variable, PLEGFORENSICS_ and its name in capitals with _ for -; the flag wins.")
}

// commandPath returns the command without the name of the program.
func commandPath(helpName string) string {
	words := strings.Fields(helpName)
	for i, w := range words {
		if find(commands(), w) != nil {
			return strings.Join(words[i:], " ")
		}
	}
	return ""
}

func (p *page) section(title string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(title + "\n")
}

// paragraphs writes a description; indented lines are kept as they are.
func (p *page) paragraphs(s string) {
	if s == "" {
		return
	}
	p.section("DESCRIPTION")
	var flow []string
	flush := func() {
		if len(flow) > 0 {
			p.text(2, "", strings.Join(flow, " "))
		}
		flow = nil
	}
	for _, line := range strings.Split(s, "\n") {
		switch {
		case line == "":
			flush()
			p.WriteByte('\n')
		case strings.HasPrefix(line, " "):
			flush()
			name, about, _ := strings.Cut(strings.TrimSpace(line), "  ")
			p.item(4, 32, name, strings.TrimSpace(about))
		default:
			flow = append(flow, line)
		}
	}
	flush()
}

func (p *page) commands(cs []*cli.Command) {
	var shown []*cli.Command
	for _, c := range cs {
		if !c.Hidden {
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 {
		return
	}
	p.section("COMMANDS")
	for _, c := range shown {
		p.item(2, 16, c.Name, c.Usage)
	}
}

func (p *page) examples(command string) {
	first := true
	for _, e := range examples {
		if e.command != command {
			continue
		}
		if first {
			p.section("EXAMPLES")
		}
		first = false
		p.WriteString("  " + e.line + "\n")
		p.text(6, "", e.about)
	}
}

// flags writes the flags by category, those without a category first.
func (p *page) flags(c *cli.Command) {
	var order []string
	by := map[string][]cli.Flag{}
	for _, f := range c.VisibleFlags() {
		if slices.Contains(f.Names(), "help") {
			continue
		}
		cat := ""
		if x, ok := f.(cli.CategorizableFlag); ok {
			cat = x.GetCategory()
		}
		if by[cat] == nil {
			order = append(order, cat)
		}
		by[cat] = append(by[cat], f)
	}
	slices.SortStableFunc(order, func(a, b string) int { return b2i(a == "") - b2i(b == "") })
	if len(order) == 0 {
		return
	}
	p.section("FLAGS")
	for _, cat := range order {
		p.WriteString("  " + cmp.Or(cat, "General") + "\n")
		for _, f := range by[cat] {
			names, about := flagText(f)
			p.item(4, 34, names, about)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flagText returns how a flag is written, and its description with the default.
func flagText(f cli.Flag) (names, about string) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "--" + f.Names()[0], ""
	}
	value := ""
	about = d.GetUsage()
	if a, rest, ok := strings.Cut(about, "`"); ok {
		if v, after, ok := strings.Cut(rest, "`"); ok {
			value, about = v, a+v+after
		}
	}
	if d.TakesValue() && value == "" {
		value = placeholder(f)
	}
	var words []string
	for _, n := range f.Names() {
		if len(n) == 1 {
			words = slices.Insert(words, 0, "-"+n)
		} else {
			words = append(words, "--"+n)
		}
	}
	names = strings.TrimSpace(strings.Join(words, ", ") + " " + value)
	if def := defaultText(f); def != "" {
		about += " (default: " + def + ")"
	}
	return names, about
}

func placeholder(f cli.Flag) string {
	switch f.(type) {
	case *cli.DurationFlag:
		return "DURATION"
	case *cli.IntFlag:
		return "N"
	}
	return "VALUE"
}

// defaultText returns the default of a flag, "" if that is not worth mentioning.
func defaultText(f cli.Flag) string {
	switch f := f.(type) {
	case *cli.StringFlag:
		if f.DefaultText != "" {
			return f.DefaultText
		}
		return f.Value
	case *cli.StringSliceFlag:
		return f.DefaultText
	case *cli.IntFlag:
		if f.DefaultText == "" && f.Value != 0 {
			return strconv.Itoa(f.Value)
		}
		return f.DefaultText
	case *cli.DurationFlag:
		if f.DefaultText == "" && f.Value != 0 {
			return strings.TrimSuffix(f.Value.Round(time.Second).String(), "0s")
		}
		return f.DefaultText
	case *cli.BoolFlag:
		if f.Value {
			return "on"
		}
	}
	return ""
}

func (p *page) exits(own map[int]string) {
	p.section("EXIT STATUS")
	for _, e := range exitStatuses {
		if means, is := own[e.code]; is {
			e.means = means
		}
		if e.means != "" {
			p.item(2, 8, strconv.Itoa(e.code), e.means)
		}
	}
}

// item writes a term and, from column on, its description; on the next line if the term is too
// long.
func (p *page) item(indent, column int, term, about string) {
	head := strings.Repeat(" ", indent) + term
	if utf8.RuneCountInString(head) > column-2 {
		p.WriteString(head + "\n")
		head = ""
	}
	p.text(column, head, about)
}

// glue is a blank at which lines are not broken.
const glue = "\u00a0"

// text writes words from column on, after head.
func (p *page) text(column int, head, s string) {
	line, empty := head+strings.Repeat(" ", max(0, column-utf8.RuneCountInString(head))), true
	s = strings.ReplaceAll(s, "(default: ", "(default:"+glue)
	for _, w := range strings.Split(s, " ") {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > p.width {
			p.WriteString(strings.TrimRight(line, " ") + "\n")
			line, empty = strings.Repeat(" ", column), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+strings.ReplaceAll(w, glue, " "), false
	}
	p.WriteString(strings.TrimRight(line, " ") + "\n")
}

// helpCommand returns the command "help".
func helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "help on a command", ArgsUsage: "[COMMAND...]", Hidden: true,
		Action: func(c *cli.Context) error {
			var at *cli.Command
			cmds, name := c.App.Commands, c.App.HelpName
			for _, word := range c.Args().Slice() {
				next := find(cmds, word)
				if next == nil {
					return unknown("command", word, commandNames(cmds))
				}
				at, cmds, name = next, next.Subcommands, name+" "+next.Name
			}
			if at == nil {
				return cli.ShowAppHelp(c)
			}
			shown := *at
			shown.HelpName = name
			printHelp(c.App.Writer, "", &shown)
			return nil
		},
	}
}

// versionCommand returns the command "version".
func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "version and build", ArgsUsage: " ", Hidden: true,
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprintln(c.App.Writer, versionLine(c.App))
			return err
		},
	}
}
