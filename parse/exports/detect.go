package exports

import (
	"bytes"
	"io"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// Form is the format of an export.
type Form uint8

// Forms.
const (
	None Form = iota // not an export, or one that package journal reads directly
	JSON
	YAML
	CSV
	Tagged
	Text // a log whose lines are decorated
)

// headLines is how many lines before the first record may be something else.
const headLines = 8

// Detect returns the format of an export by the first bytes of the file, of which
// up to 256 KiB are used; None if NewReader cannot handle it.
func Detect(head []byte) Form {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case len(text) == 0:
		return None
	case text[0] == '{' || text[0] == '[' && len(text) > 1 && bytes.IndexByte([]byte(" \t\r\n[{"), text[1]) >= 0:
		if isExport(text) {
			return JSON
		}
	case isYAML(text):
		return YAML
	case isTagged(text):
		return Tagged
	case headOf(head) >= 0:
		return CSV
	}
	return None
}

// DetectText returns Text if head is a log with decorations that NewReader can
// strip, else None.
func DetectText(head []byte) Form {
	if !journal.Spans(head) && dressOf(head).any() {
		return Text
	}
	return None
}

// NewReader returns a Reader of the log lines in the export r, which begins with
// head.
func NewReader(r io.Reader, head []byte, f Form) *Reader {
	out := &Reader{source: source{r: r}}
	switch s := &out.source; f {
	case JSON:
		d := &documents{source: s}
		out.step, out.end = d.step, d.finish
	case YAML:
		out.step = (&entries{source: s}).step
	case CSV:
		out.step = (&tableStart{source: s, out: out}).step
	case Tagged:
		out.step = (&tagged{source: s}).step
	case Text:
		strip := &stripper{source: s, decoration: dressOf(head), look: newPrefixFinder()}
		out.step, out.found = strip.step, strip.look.found(head)
	default:
		out.step = s.verbatim
	}
	return out
}

// mostTried is how many bytes of a file are used for detection.
const mostTried = 256 << 10

// isExport tries to convert the head of a JSON file and reports whether that yields
// a record. JSON objects that package journal reads itself are rejected.
func isExport(head []byte) bool {
	head = head[:min(len(head), mostTried)]
	if !mayHold(head) && !bytes.Contains(head, []byte(`"stream"`)) || head[0] == '{' && (isObject(head) || native(head)) {
		return false
	}
	s := &source{r: bytes.NewReader(head)}
	d := &documents{source: s}
	for s.passed == 0 && !s.ended() {
		d.step()
	}
	return s.passed > 0
}

// isObject recognizes Kubernetes objects and lists by an apiVersion at the
// beginning.
func isObject(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 100)], []byte(`"apiVersion"`))
}

// native reports whether package journal reads the object at the beginning of head
// well enough by itself.
func native(head []byte) bool {
	d := &documents{source: &source{r: bytes.NewReader(head)}}
	n := d.end()
	if n == 0 {
		return false
	}
	p, ok := object(d.win[:n])
	if !ok {
		return false
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if _, ok := p[name]; ok {
				return true
			}
		}
		return false
	}
	_, top := p["message"]
	switch {
	case has("_source.message", "result._raw", "attributes.message"):
		return false
	case top && has("__realtime_timestamp", "__cursor", "_boot_id", "_transport") && !has("source_type", "timestamp"), // journalctl
		has("log") && has("stream", "time"), // docker
		has("insertid", "logname") && has("textpayload", "jsonpayload.message"),
		has("msg") && has("ts", "time", "level"), // klog, zap, logrus
		has("level") && has("ts", "time"):
		return true
	}
	return top && has("@timestamp", "time") && !has(hostNames...)
}

// isYAML recognizes log entries in YAML by the members of the first entry.
func isYAML(head []byte) bool {
	head = head[:min(len(head), mostTried)]
	if !bytes.Contains(head, []byte("imestamp:")) || bytes.Contains(head[:min(len(head), 4<<10)], []byte("apiVersion:")) {
		return false
	}
	if !bytes.Contains(head, []byte("ayload:")) && !bytes.Contains(head, []byte("essage:")) {
		return false
	}
	for range headLines {
		line, rest, _ := bytes.Cut(head, newline)
		line = bytes.TrimRight(line, "\r ")
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, docStart) {
			break
		}
		head = rest
	}
	if key, _, ok := bytes.Cut(bytes.TrimPrefix(head, []byte("- ")), []byte(":")); !ok || len(key) > 40 || bytes.ContainsAny(key, " \n\"'") {
		return false
	}
	e := &entries{source: &source{r: bytes.NewReader(head)}}
	for i := 0; i < 3 && e.passed == 0 && !e.ended(); i++ {
		e.step()
	}
	return e.passed > 0
}

// headOf returns how many lines precede the header of a table, -1 if there is none
// in the first four lines.
func headOf(head []byte) int {
	for n := range 4 {
		line, rest, found := bytes.Cut(head, newline)
		if isTableHead(line) {
			return n
		}
		if !found {
			return -1
		}
		head = rest
	}
	return -1
}

// isTableHead reports whether a line is the header of a log table. Windows events
// are excluded, since package journal reads them.
func isTableHead(line []byte) bool {
	if len(line) > 16<<10 || holdsTime(line) || bytes.Contains(line, []byte("TimeCreated")) || bytes.Contains(line, []byte("LAST SEEN")) {
		return false
	}
	return newTable(line) != nil
}

// holdsTime reports whether a line contains a time of day like 15:04:05, which
// column titles do not.
func holdsTime(line []byte) bool {
	digit := func(i int) bool { return line[i] >= '0' && line[i] <= '9' }
	for i := 3; i+2 < len(line); i++ {
		if line[i] == ':' && line[i-3] == ':' && digit(i-2) && digit(i-1) && digit(i+1) && digit(i+2) {
			return true
		}
	}
	return false
}

// tableStart skips what precedes the header of a table.
type tableStart struct {
	*source
	out *Reader
}

func (t *tableStart) step() {
	n := t.lineLen()
	if line := t.win[:n]; isTableHead(line) {
		tab := newTable(line)
		tab.source = t.source
		t.out.step = tab.step
	}
	t.level(t.line + 1)
	t.skip(max(n, 1))
}
