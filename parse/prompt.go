package parse

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// tools are commands accepted after a bare "#" or ">", with which comments and
// quotations begin too.
var tools = map[string]bool{
	"awk": true, "cat": true, "chronyc": true, "crictl": true, "date": true, "df": true, "dmesg": true, "docker": true, "find": true, "free": true,
	"grep": true, "iostat": true, "journalctl": true, "kubectl": true, "ls": true, "lsof": true, "lvs": true, "mount": true, "ps": true, "sar": true,
	"sudo": true, "sysctl": true, "systemctl": true, "timedatectl": true, "top": true, "uname": true, "uptime": true, "vmstat": true,
}

// longestPrompt is the maximum length of a prompt in bytes.
const longestPrompt = 96

// Prompted returns the command of a line that begins with a shell prompt: "$ df
// -h", "[root@n1 ~]# df -h", "me@n1:~$ df -h".
func Prompted(line string) (cmd string, ok bool) {
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

// searchers are programs that select lines of a text.
var searchers = map[string]bool{"grep": true, "egrep": true, "fgrep": true, "zgrep": true, "zegrep": true, "awk": true}

// Searches reports whether a line is a command, with or without a prompt, that shows selected lines of a log: those that
// a search finds, in a pipe or in a file of logs, or those of a priority.
func Searches(line string) bool {
	cmd, ok := Prompted(line)
	if !ok {
		cmd = strings.TrimSpace(line)
	}
	search, log := false, false
	for i, part := range strings.Split(cmd, "|") {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(part), "sudo "))
		if len(words) == 0 {
			continue
		}
		tool := words[0][strings.LastIndexByte(words[0], '/')+1:]
		search = search || searchers[tool]
		for _, w := range words[1:] {
			search = search || tool == "journalctl" && (w == "-g" || w == "-p" || strings.HasPrefix(w, "--grep") || strings.HasPrefix(w, "--priority"))
			log = log || i == 0 && (searchers[tool] || viewers[tool]) && isLog(w)
		}
		log = log || i == 0 && (tool == "journalctl" || loggers[tool] && slices.Contains(words[1:], "logs"))
		if i == 0 && !log {
			return false
		}
	}
	return search
}

// viewers and loggers are programs that show a file, and those whose command "logs" shows the log of a container.
var (
	viewers = map[string]bool{"cat": true, "zcat": true, "tail": true, "head": true, "less": true}
	loggers = map[string]bool{"docker": true, "podman": true, "nerdctl": true, "crictl": true, "kubectl": true, "oc": true}
)

// isLog reports whether a word of a command is the path of a log.
func isLog(word string) bool {
	base := word[strings.LastIndexByte(word, '/')+1:]
	return strings.HasPrefix(word, "/var/log/") || strings.Contains(base, ".log") || base == "syslog" || base == "messages"
}

// FoundIn returns the length of the name of a log file, and of the number of the line, that grep writes before what it
// finds; 0 if there is none.
func FoundIn(rec []byte) int {
	n := bytes.IndexAny(rec[:min(len(rec), 256)], ": \"")
	if n < 1 || rec[n] != ':' {
		return 0
	}
	if base := path.Base(string(rec[:n])); !strings.Contains(base, "log") && !strings.HasPrefix(base, "messages") {
		return 0
	}
	n++
	digits := len(rec[n:]) - len(bytes.TrimLeft(rec[n:], "0123456789"))
	if digits > 0 && n+digits < len(rec) && rec[n+digits] == ':' {
		n += digits + 1
	}
	return n
}
