package parse

import "strings"

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
