package metrics

import (
	"bytes"
	"fmt"
	"strings"
)

// unparsed handles a line that is not a metric: wrapping is skipped, a date or an
// HTTP header gives the time, an error page is a failed scrape, and the rest is
// damage.
func (d *textDecoder) unparsed(off, eol int) {
	line := d.lineAt(off)
	text := bytes.TrimSpace(d.data[off:eol])
	switch {
	case text[0] == '#': // comments that OpenMetrics forbids
		d.comment(text[1:], line)
	case bytes.HasPrefix(text, []byte("```")), bytes.HasPrefix(text, []byte("~~~")), bytes.HasPrefix(text, []byte("$ ")):
	case d.httpHeader(text, line), d.dateLine(text, line):
	default:
		d.damage(text, line)
	}
}

// damage records an error page as a failed scrape, and anything else as a damaged
// line.
func (d *textDecoder) damage(text []byte, line uint32) {
	if failure(text) == "" {
		if s := d.part.current(); s == nil || s.scrape.Failed == "" || s.samples() > 0 {
			d.part.warnLine(line, fmt.Sprintf("no sample, skipped: %s", clip(text, 80)))
		}
		return // further lines of an error page belong to it
	}
	d.fail(text, line)
}

// fail records a failed scrape.
func (d *textDecoder) fail(text []byte, line uint32) {
	s := d.part.current()
	if s != nil && s.scrape.Failed != "" && s.samples() == 0 {
		return
	}
	if s == nil || s.samples() > 0 || s.ended {
		s = d.part.begin(line)
	}
	s.scrape.Failed = clip(text, maxFailedText)
	s.scrape.Line = line
}

// failures are prefixes, in lower case, of what endpoints, proxies and clients
// return instead of metrics.
var failures = []string{
	"an error has occurred while serving metrics", "an error has occurred during metrics", "error from server",
	"unable to connect to the server", "error: ", "error trying to reach service", "unauthorized", "forbidden",
	"404 page not found", "internal server error", "service unavailable", "bad gateway", "gateway timeout", "not found",
	"client sent an http request to an https server", "curl: (", "wget: ", "context deadline exceeded", "timed out",
	"no healthy upstream", "upstream connect error", "<!doctype html", "<html", "<head", "<body", `{"kind":"status"`, `{"status":"error"`,
	"the connection to the server", "connection refused", "get \"http", "i/o timeout",
}

// ErrorPage reports whether a file begins like an error of an endpoint, a proxy or
// a client instead of metrics. Only the path of the file can say whether it stands
// for a snapshot.
func ErrorPage(head []byte) bool {
	return failure(bytes.TrimLeft(trimBOM(head), " \t\r\n")) != ""
}

// failure returns the element of failures that a line begins with, "" if none.
func failure(text []byte) string {
	head := strings.ToLower(string(text[:min(len(text), 64)]))
	head = strings.ReplaceAll(head, `": "`, `":"`)
	for _, f := range failures {
		if strings.HasPrefix(head, f) {
			return f
		}
	}
	return ""
}

// httpHeader reads the headers that curl -i prints before the body: the status, and
// the Date, which is when the snapshot was served.
func (d *textDecoder) httpHeader(text []byte, line uint32) bool {
	if bytes.HasPrefix(text, []byte("HTTP/")) {
		f := strings.Fields(string(text[:min(len(text), 128)]))
		if s := d.part.current(); s != nil && s.samples() > 0 {
			s.ended = true
		}
		if len(f) >= 2 && (f[1][0] == '4' || f[1][0] == '5') {
			d.fail(text, line)
		}
		return len(f) >= 2
	}
	name, value, ok := bytes.Cut(text, []byte(":"))
	if !ok || len(name) == 0 || len(name) > 40 || bytes.ContainsAny(name, " {}\"=") {
		return false
	}
	if strings.EqualFold(string(name), "date") {
		if t, ok := parseTime(strings.TrimSpace(string(value))); ok {
			t.why = "Date header of the response"
			d.part.open(line).clue.said = t
			return true
		}
	}
	return d.beforeFirst() && httpHeaders[strings.ToLower(string(name))]
}

var httpHeaders = map[string]bool{
	"content-type": true, "content-length": true, "transfer-encoding": true, "date": true, "audit-id": true, "vary": true,
	"cache-control": true, "content-encoding": true, "connection": true, "server": true, "x-content-type-options": true,
	"x-kubernetes-pf-flowschema-uid": true, "x-kubernetes-pf-prioritylevel-uid": true, "strict-transport-security": true,
}

func (d *textDecoder) beforeFirst() bool {
	s := d.part.current()
	return s == nil || s.samples() == 0 || s.ended
}

// comment looks for a date in a comment: loops that take snapshots often write one
// before each.
func (d *textDecoder) comment(text []byte, line uint32) {
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t#"), []byte("EOF")) {
		if s := d.part.current(); s != nil {
			s.ended = true
		}
		return
	}
	d.dateLine(text, line)
}

// dateLine takes a line that is a date as the time of the snapshot that follows.
func (d *textDecoder) dateLine(text []byte, line uint32) bool {
	if len(text) > 128 {
		return false
	}
	t, ok := dateOf(text)
	if !ok {
		return false
	}
	if s := d.part.current(); s != nil && s.samples() > 0 {
		s.ended = true
	}
	t.why = "date line before the snapshot"
	d.part.open(line).clue.said = t
	return true
}

func dateOf(text []byte) (reading, bool) { return parseTime(strings.Trim(string(text), " \t#=-*>")) }

// Dress reports whether a line is typical wrapping around pasted metrics: a date, a
// fence, or the command.
func Dress(line []byte) bool {
	line = bytes.TrimSpace(line)
	_, dated := dateOf(line[:min(len(line), 128)])
	return dated || len(line) == 0 || isFence(line) || bytes.HasPrefix(line, []byte("$ "))
}

// clip returns text as valid UTF-8, cut at n bytes.
func clip(text []byte, n int) string {
	if len(text) > n {
		return strings.ToValidUTF8(string(text[:n]), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// unfence blanks everything outside markdown fences, preserving offsets and line
// numbers. Text without a fence is returned unchanged.
func unfence(data []byte) []byte {
	if !hasFence(data) {
		return data
	}
	out := bytes.Clone(data)
	inside := false
	for from := 0; from < len(out); {
		eol := bytes.IndexByte(out[from:], '\n')
		if eol < 0 {
			eol = len(out) - from
		}
		line := out[from : from+eol]
		fence := isFence(line)
		if fence {
			inside = !inside
		}
		if fence || !inside {
			blank(line)
		}
		from += eol + 1
	}
	return out
}

func hasFence(data []byte) bool {
	return isFence(data[:min(len(data), 3)]) || bytes.Contains(data, []byte("\n```"))
}

func isFence(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " >"), []byte("```")) }

func blank(b []byte) {
	for i := range b {
		b[i] = ' '
	}
}
