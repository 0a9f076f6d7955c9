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
		cmd, ok := prompted(line)
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
		if _, ok := prompted(line); ok {
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
		if cmd, ok := prompted(s.line); ok {
			flush(s.at)
			name, from, row = outputName(cmd), s.next, s.row+1
		}
	}
	flush(len(s.data))
}

// ProcessTables returns what the output of ps says in a text of log lines: people paste
// a log and below it what they looked up. It must stand under the prompt with its
// command and ends before the first line that is no row of it. Of the processes that
// systemctl status draws above the lines of a unit it returns the kubelet's flags.
func ProcessTables(f *parse.File, text []byte) []*parse.Fact {
	if !bytes.Contains(text, []byte("ps ")) && !bytes.Contains(text, []byte("kubelet ")) {
		return nil
	}
	s := newScan(f, "", text)
	name, from, end, row := "", 0, 0, uint32(0)
	flush := func() {
		if name != "" && end > from && isPS(name, string(text[from:min(end, from+headLen)])) {
			s.section(name, from, end, row).ps()
		}
		name = ""
	}
	for s.advance() {
		cmd, ok := prompted(s.line)
		switch {
		case s.statusKubelet():
		case ok:
			flush()
			if n := outputName(cmd); n == "ps" || strings.HasPrefix(n, "ps_") {
				name, from, end, row = n, s.next, s.next, s.row+1
			}
		case name == "":
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

// tools are commands accepted after a bare "#" or ">", with which comments and
// quotations begin too.
var tools = map[string]bool{
	"awk": true, "cat": true, "chronyc": true, "crictl": true, "date": true, "df": true, "dmesg": true, "docker": true, "find": true, "free": true,
	"grep": true, "iostat": true, "journalctl": true, "kubectl": true, "ls": true, "lsof": true, "lvs": true, "mount": true, "ps": true, "sar": true,
	"sudo": true, "sysctl": true, "systemctl": true, "timedatectl": true, "top": true, "uname": true, "uptime": true, "vmstat": true,
}

// longestPrompt is the maximum length of a prompt in bytes.
const longestPrompt = 96

// prompted returns the command of a line that begins with a shell prompt: "$ df
// -h", "[root@n1 ~]# df -h", "me@n1:~$ df -h".
func prompted(line string) (cmd string, ok bool) {
	line = strings.TrimSpace(line)
	for range 2 { // the prompt itself may be quoted
		at := strings.IndexAny(line[:min(len(line), longestPrompt)], "$#%>")
		if at < 0 || at+2 >= len(line) || line[at+1] != ' ' {
			return "", false
		}
		who, rest := line[:at], strings.TrimSpace(line[at+2:])
		word, _, _ := strings.Cut(rest, " ")
		switch {
		case word == "" || word[0] != '/' && (word[0] < 'a' || word[0] > 'z'):
			return "", false
		case strings.Contains(who, "@") && (strings.Count(who, " ") < 2 || who[0] == '['):
			return rest, true
		case who == "" && line[at] == '$', who == "" && tools[word]:
			return rest, true
		case who != "":
			return "", false
		}
		line = rest
	}
	return "", false
}
