package journal

import (
	"bytes"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// control reads a line about the file. An empty line of an explanation of journalctl -x looks like grep's separator.
func (p *Parser) control(b []byte, e *Entry) bool {
	ok := control(b, e)
	if ok && p.framing.Explains && e.Marker.Kind == parse.MarkExcerpt {
		e.Marker = Mark{}
	}
	return ok
}

// control reads the lines in which journalctl and klog describe the file.
func control(b []byte, e *Entry) bool {
	switch {
	case string(bytes.TrimRight(b, " \r")) == "--": // grep's separator between matches with context lines
		e.Form, e.Marker.Kind = Control, parse.MarkExcerpt
		return true
	case bytes.HasPrefix(b, []byte("-- ")):
		return journalControl(b[3:], e)
	case bytes.HasPrefix(b, []byte("Log file created at: ")):
		e.Form, e.Marker.Kind = Control, parse.MarkHeader
		e.Clock, _ = slashDate(b[len("Log file created at: "):])
		return true
	case bytes.HasPrefix(b, []byte("Active: ")) && bytes.Contains(b, []byte(") since ")): // systemctl status, with log lines at its end
		c, ok := dateWithin(b)
		if !ok {
			return false
		}
		e.Form, e.Marker.Kind, e.Clock = Control, parse.MarkHeader, c
		return true
	case len(b) > 19 && len(b) < 48 && b[0] == '2' && timeAlone(b, &e.Clock):
		e.Form, e.Marker.Kind = Control, parse.MarkHeader
		return true
	case bytes.HasPrefix(b, []byte("Running on machine: ")),
		bytes.HasPrefix(b, []byte("Binary: Built with gc ")),
		bytes.HasPrefix(b, []byte("Log line format: [IWEF]")),
		bytes.HasPrefix(b, []byte("Previous log: ")):
		e.Form, e.Marker.Kind = Control, parse.MarkHeader
		return true
	}
	return false
}

// timeAlone reads a line that is a time with its zone and nothing else, as consoles of
// log services show it above a line. In a zone that is ambiguous it says nothing.
func timeAlone(b []byte, c *parse.Clock) bool {
	sec, ok := isoSeconds(b)
	if !ok {
		return false
	}
	tail := bytes.TrimRight(b[19:], " \r")
	_, zone, spaced := bytes.Cut(tail, []byte(" "))
	if !spaced || !zoneName(zone) {
		return false
	}
	if _, _, known := parse.ZoneOffset(string(zone)); known {
		*c, _ = fullTail(sec, tail)
	}
	return true
}

// journalControl reads what follows "-- ". The words of headers are translated in
// some locales, but they always contain a date with a year.
func journalControl(b []byte, e *Entry) bool {
	switch {
	case bytes.HasPrefix(b, []byte("No entries --")):
		e.Marker.Kind = parse.MarkEmpty
	case bytes.HasPrefix(b, []byte("Reboot --")):
		e.Marker.Kind = parse.MarkReboot
	case bytes.HasPrefix(b, []byte("Boot ")):
		id := b[5:]
		if i := bytes.IndexByte(id, ' '); i == 32 {
			e.Marker.Boot = string(id[:32])
		}
		e.Marker.Kind = parse.MarkReboot
	case bytes.HasPrefix(b, []byte("cursor: ")):
		e.Marker.Kind = parse.MarkHeader
	default:
		c, ok := dateWithin(b)
		if !ok || !bytes.HasSuffix(bytes.TrimRight(b, " ."), []byte("--")) {
			return false
		}
		e.Marker.Kind, e.Clock = parse.MarkHeader, c
	}
	e.Form = Control
	return true
}

// dateWithin finds the first full date in a text:
// "Logs begin at Fri 2017-11-03 13:31:21 UTC, end at …".
func dateWithin(b []byte) (parse.Clock, bool) {
	for i := 0; i+19 <= len(b) && i < 80; i++ {
		if b[i]-'0' > 9 {
			continue
		}
		if sec, ok := isoSeconds(b[i:]); ok {
			tail := b[i+19:]
			if j := bytes.IndexAny(tail, ",;."); j >= 0 {
				tail = append(append([]byte{}, tail[:j]...), ' ')
			}
			c, _ := fullTail(sec, tail)
			return c, true
		}
	}
	return parse.Clock{}, false
}

// slashDate reads "2019/08/20 20:28:26", the local time in klog file headers.
func slashDate(b []byte) (parse.Clock, bool) {
	if len(b) < 19 || b[4] != '/' || b[7] != '/' {
		return parse.Clock{}, false
	}
	iso := [19]byte(b)
	iso[4], iso[7] = '-', '-'
	c, n := ReadISO(iso[:])
	return c, n > 0
}

// section reads "==> kubelet <==", as tail and minikube print it.
func section(b []byte, e *Entry) bool {
	name, ok := bytes.CutPrefix(b, []byte("==> "))
	if !ok {
		return false
	}
	name, ok = bytes.CutSuffix(bytes.TrimRight(name, " "), []byte(" <=="))
	if !ok || len(name) > maxName {
		return false
	}
	e.Form, e.Msg, e.Off = Section, name, len("==> ")
	return true
}

// messageMark recognizes messages in which daemons report lost entries and steps of
// the clock.
func messageMark(w *Who, msg []byte) Mark {
	switch w.Ident {
	case "systemd-journald", "systemd-journal", "journal":
		return journaldMark(msg)
	case "systemd", "systemd-timesyncd", "systemd-timedated", "systemd-resolved", "chronyd", "kernel":
		return clockMark(msg)
	case "ntpd", "ntpdate":
		return ntpMark(msg)
	}
	if len(w.Ident) >= 7 && w.Ident[:7] == "rsyslog" || w.Ident == "imjournal" {
		return rsyslogMark(msg)
	}
	return Mark{}
}

// speaksOfTime reports whether messageMark may recognize messages of the writer.
func speaksOfTime(w *Who) bool {
	switch w.Ident {
	case "systemd-journald", "systemd-journal", "journal", "systemd", "systemd-timesyncd", "systemd-timedated",
		"systemd-resolved", "chronyd", "kernel", "ntpd", "ntpdate", "imjournal":
		return true
	}
	return strings.HasPrefix(w.Ident, "rsyslog")
}

func journaldMark(msg []byte) Mark {
	switch {
	case bytes.HasPrefix(msg, []byte("Suppressed ")):
		return Mark{Kind: parse.MarkSuppressed, N: countIn(msg)}
	case bytes.HasPrefix(msg, []byte("Missed ")) && bytes.Contains(msg, []byte("kernel messages")):
		return Mark{Kind: parse.MarkSuppressed, N: countIn(msg)}
	case bytes.HasPrefix(msg, []byte("Journal started")), bytes.HasPrefix(msg, []byte("Journal stopped")),
		bytes.Contains(msg, []byte("rotating")) && !bytes.Contains(msg, []byte("Time jumped")):
		return Mark{Kind: parse.MarkRotated}
	}
	return clockMark(msg)
}

// clockMessages are prefixes of messages about steps of the clock.
var clockMessages = [][]byte{
	[]byte("Time has been changed"),
	[]byte("System clock was stepped"),
	[]byte("System clock time unset or jumped"),
	[]byte("Time jumped backwards"),
	[]byte("Changed local time to"),
	[]byte("Clock change detected"),
	[]byte("System time advanced to"),
	[]byte("Forward time jump detected"),
	[]byte("Backward time jump detected"),
}

func clockMark(msg []byte) Mark {
	if len(msg) == 0 || bytes.IndexByte([]byte("TSCFB"), msg[0]) < 0 {
		return Mark{}
	}
	for _, m := range clockMessages {
		if bytes.HasPrefix(msg, m) {
			return Mark{Kind: parse.MarkClock}
		}
	}
	return Mark{}
}

// ntpMark reads ntpd and ntpdate, which mention a step within the message.
func ntpMark(msg []byte) Mark {
	if bytes.Contains(msg, []byte("clock_step")) || bytes.Contains(msg, []byte("step time server")) {
		return Mark{Kind: parse.MarkClock}
	}
	return clockMark(msg)
}

func rsyslogMark(msg []byte) Mark {
	if bytes.Contains(msg, []byte("messages lost due to rate-limiting")) ||
		bytes.Contains(msg, []byte("begin to drop messages")) {
		return Mark{Kind: parse.MarkSuppressed, N: countIn(msg)}
	}
	if bytes.Contains(msg, []byte("HUPed")) {
		return Mark{Kind: parse.MarkRotated}
	}
	return Mark{}
}

// countIn returns the first number that is a word of its own within the first 200
// bytes.
func countIn(msg []byte) int {
	for _, w := range bytes.Fields(msg[:min(len(msg), 200)]) {
		if n, _, digits := decimal(w); n > 0 && digits == 0 {
			return clampPID(n)
		}
	}
	return 0
}
