package bundle

import (
	"bytes"
	"slices"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// isLog looks at the first logLines lines; one in logShare of them must look like a
// log line.
const (
	logLines = 60
	logShare = 4
)

// longPreamble is how many lines are looked at if the first ones are no log: logs
// of kubelets in containers begin with a shell trace, logs collected by minikube
// with a table.
const longPreamble = 2000

// isLog reports whether at least a quarter of the first lines have the timestamp or
// header of a log line.
func isLog(h []byte) bool { return logAmong(h, logLines) || logAmong(h, longPreamble) }

func logAmong(h []byte, lines int) bool {
	seen, hits := 0, 0
	firstLines(h, lines, func(line []byte) bool {
		seen++
		if isLogLine(line) {
			hits++
		}
		return false
	})
	return hits > 0 && hits*logShare >= seen
}

// isLogLine recognizes the timestamps of the framings that package journal reads,
// by shape alone.
func isLogLine(line []byte) bool {
	if len(line) < 10 {
		return false
	}
	if bytes.HasPrefix(line, []byte("-- ")) && bytes.HasSuffix(line, []byte(" --")) {
		return true
	}
	for _, s := range shapes {
		if shaped(line, s) {
			return true
		}
	}
	return hasKlogHeader(line) || hasStampWithin(line) || hasCaller(line) || isKubelets(line) || journal.IsRow(line)
}

// isKubelets recognizes "kubelet[123]: ", the process of a line whose timestamp was not copied.
func isKubelets(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("kubelet["))
	pid, _, is := bytes.Cut(rest[:min(len(rest), 16)], []byte("]: "))
	return ok && is && isNumber(pid)
}

// hasCaller recognizes "kubelet.go:123] ", the rest of a klog header whose
// timestamp was not copied.
func hasCaller(line []byte) bool {
	word, _, ok := bytes.Cut(line[:min(len(line), 80)], []byte("] "))
	name, number, is := bytes.Cut(word, []byte(".go:"))
	return ok && is && len(name) > 0 && len(number) > 0 && bytes.IndexByte(name, ' ') < 0 && isNumber(number)
}

// shapes are timestamps at the start of a line: 9 matches a digit or a blank, a a
// letter or non-ASCII byte, anything else itself.
var shapes = []string{
	"aaa 99 99:99:99",            // syslog
	"9999-99-99T99:99:99",        // RFC 3339
	"9999-99-99 99:99:99",        //
	"aaa 9999-99-99 99:99:99",    // short-full
	"9999/99/99 99:99:99",        // log of Go programs
	"[9999.999999]",              // dmesg; blanks pad
	"[99999.999999]",             //
	"[999999.999999]",            //
	"[9999999.999999]",           //
	"[aaa aaa 99 99:99:99 9999]", // dmesg -T
	"9999999999.999999 ",         // short-unix
	"==> ",                       // minikube
	"time=\"9999-99-99",          // logrus
	"__CURSOR=",                  // export
	"__REALTIME_TIMESTAMP=",      //
	"Log file created at:",       // klog file
	"<99>aaa 99 99:99:99",        // syslog with priority
	"<9>aaa 99 99:99:99",         //
	"<99>9 9999-99-99T",          // RFC 5424
	"<9>9 9999-99-99T",           //
}

func shaped(line []byte, shape string) bool {
	if len(line) < len(shape) {
		return false
	}
	for i := range len(shape) {
		c, s := line[i], shape[i]
		switch s {
		case '9':
			if (c < '0' || c > '9') && c != ' ' {
				return false
			}
		case 'a':
			if !letter(c) {
				return false
			}
		default:
			if c != s {
				return false
			}
		}
	}
	return true
}

// foreignStamp recognizes "févr. 20 15:27:00" or "4월 20 15:27:00": a syslog stamp whose month is not three letters of
// one byte, as C libraries print it in other languages.
func foreignStamp(line []byte) bool {
	at := bytes.IndexByte(line[:min(len(line), 9)], ' ')
	return at > 0 && (line[at-1] == '.' || slices.ContainsFunc(line[:at], func(c byte) bool { return c >= 0x80 })) && shaped(line[at:], " 99 99:99:99")
}

func letter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// hasKlogHeader recognizes "I0803 22:33:00.123456 " at the start of a line or after
// its framing.
func hasKlogHeader(line []byte) bool {
	line = line[:min(len(line), 256)]
	for {
		i := bytes.IndexAny(line, "IWEF")
		if i < 0 {
			return false
		}
		line = line[i:]
		if shaped(line[1:], "9999 99:99:99.999999 ") {
			return true
		}
		line = line[1:]
	}
}

// hasStampWithin recognizes a timestamp after other columns, as written by rsyslog
// templates with a localized month, container log wrappers and console prefixes.
func hasStampWithin(line []byte) bool {
	line = line[:min(len(line), 64)]
	for i := range line {
		if i > 0 && line[i-1] != ' ' && line[i-1] != '[' && line[i-1] != '|' && line[i-1] != '"' && line[i-1] != '=' {
			continue
		}
		if shaped(line[i:], "99:99:99 ") || shaped(line[i:], "99:99:99.999") || shaped(line[i:], "9999-99-99T99:99:99") {
			return true
		}
	}
	return false
}

// logKeys are keys by which JSON log lines are recognized: journal, klog, docker,
// cloud exports, zap.
var logKeys = []string{
	`"__REALTIME_TIMESTAMP"`, `"__CURSOR"`, `"MESSAGE"`, `"jsonPayload"`, `"textPayload"`,
	`"ts":`, `"stream":"std`, `"@timestamp"`, `"log":"`,
}

// isLogJSON looks at the first 4 KiB only: a JSON line or a pretty-printed object.
func isLogJSON(h []byte) bool {
	h = bytes.TrimLeft(h, "\x1e\x00 \t\r\n[")
	h = bytes.TrimPrefix(h, []byte("data: ")) // json-sse
	if !bytes.HasPrefix(h, []byte("{")) {
		return false
	}
	h = h[:min(len(h), 4096)]
	for _, k := range logKeys {
		if bytes.Contains(h, []byte(k)) {
			return true
		}
	}
	return false
}
