package facts

import (
	"bytes"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// isTranscript recognizes text copied from a terminal: it begins with a prompt and
// a command, and the output of at least one command is of a known kind.
func isTranscript(_, head string) bool {
	head = strings.TrimLeft(head, "\r\n\t ")
	for first := true; head != ""; first = false {
		line, rest, _ := strings.Cut(head, "\n")
		cmd, ok := parse.Prompted(line)
		switch {
		case ok && choose(outputName(cmd), output(rest)) != nil:
			return true
		case first && !ok:
			return false
		}
		head = rest
	}
	return false
}

// output returns the text up to the next prompt.
func output(text string) string {
	end := 0
	for line := range strings.Lines(text) {
		if _, ok := parse.Prompted(line); ok {
			break
		}
		end += len(line)
	}
	return text[:end]
}

// transcript decodes the output of each command like a separate file.
func (s *scan) transcript() {
	name, from, row := "", 0, uint32(0)
	flush := func(end int) {
		if end > from {
			s.section(name, from, end, row).run()
		}
	}
	for s.advance() {
		if cmd, ok := parse.Prompted(s.line); ok {
			flush(s.at)
			name, from, row = outputName(cmd), s.next, s.row+1
		}
	}
	flush(len(s.data))
}

// Pasted returns what the output of ps and systemctl status says in a text of log lines: people paste
// a log and below it what they looked up. A table of ps must stand under the prompt with its
// command and ends before the first line that is no row of it. systemctl status stands
// above the lines of its unit: it tells the unit's state and, by the processes that it draws, the kubelet's flags.
func Pasted(f *parse.File, text []byte) []*parse.Fact {
	if !bytes.Contains(text, []byte("ps ")) && !bytes.Contains(text, []byte("kubelet ")) && !bytes.Contains(text, []byte("Active: ")) {
		return nil
	}
	s := newScan(f, "", text)
	var unit unitBlock
	name, from, end, row := "", 0, 0, uint32(0)
	flush := func() {
		if name != "" && end > from && isPS(name, string(text[from:min(end, from+headLen)])) {
			s.section(name, from, end, row).ps()
		}
		name = ""
	}
	for s.advance() {
		cmd, ok := parse.Prompted(s.line)
		switch {
		case s.statusKubelet():
		case ok:
			flush()
			if n := outputName(cmd); n == "ps" || strings.HasPrefix(n, "ps_") {
				name, from, end, row = n, s.next, s.next, s.row+1
			}
		case name == "":
			s.unitAbove(&unit)
		case from == end && columns(fields(s.line)).pid >= 0 || tabular(s.line):
			end = s.next
		default:
			flush()
		}
	}
	flush()
	return s.part.Facts
}

// statusKubelet adds the flags of the kubelet if the line is its process, as systemctl status
// draws it, and reports whether it is.
func (s *scan) statusKubelet() bool {
	args := statusProcess(s.line)
	if len(args) < 2 || !isKubelet(args[0]) || args[1] != "kubelet" && !strings.HasPrefix(args[1], "-") {
		return false
	}
	s.kubeletFlags(args)
	return true
}

// statusProcess returns the command line of a process that systemctl status draws in the
// tree of a unit's control group, or nil. It leaves out an argument that is cut off.
func statusProcess(line string) []string {
	_, rest, ok := strings.Cut(line, "└─")
	if !ok {
		_, rest, ok = strings.Cut(line, "├─")
	}
	f := fields(rest)
	if !ok || len(f) < 2 || !isNumber(f[0]) {
		return nil
	}
	if last := f[len(f)-1]; strings.HasSuffix(last, "...") || strings.HasSuffix(last, "…") || strings.HasSuffix(last, ">") {
		f = f[:len(f)-1]
	}
	return f[1:]
}

// outputName returns the file name that the output of a command line would have.
func outputName(cmd string) string {
	if end := strings.IndexAny(cmd, "|;&>"); end >= 0 {
		cmd = cmd[:end]
	}
	f := strings.Fields(cmd)
	for len(f) > 1 && (f[0] == "sudo" || f[0] == "time") {
		f = f[1:]
	}
	return commandName(strings.Join(f, " "))
}
