package exports

import (
	"bytes"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// tagged reads what fluentd writes to files and to its standard output: lines with
// a time, a tag and the record as JSON, separated by tabs or in the form "TIME TAG:
// {…}".
type tagged struct{ *source }

func (t *tagged) step() {
	n := t.lineLen()
	r, ok := taggedRecord(t.win[:n])
	if !ok {
		t.verbatim()
		return
	}
	t.write(&r)
	t.skip(n)
}

// writers are last parts of tags that name the source of the record.
var writers = []string{"kubelet", "containerd", "dockerd", "docker", "crio", "kernel"}

func taggedRecord(line []byte) (r record, ok bool) {
	clock, n := journal.ReadGoTime(line)
	if n == 0 || clock.Lack != 0 || n == len(line) || line[n] != ' ' && line[n] != '\t' {
		return r, false
	}
	open := bytes.IndexByte(line, '{')
	if open < n+3 || open > maxName || !mayHold(line[open:]) {
		return r, false
	}
	tag := bytes.TrimSpace(line[n:open])
	if line[n] == ' ' {
		if tag, ok = bytes.CutSuffix(tag, []byte(":")); !ok {
			return r, false
		}
	}
	if len(tag) == 0 || bytes.ContainsAny(tag, " \t[]\"") {
		return r, false
	}
	p, ok := object(line[open:])
	if !ok || p["msg"] != "" && (p["ts"] != "" || p["level"] != "") { // a line of the logger itself
		return r, false
	}
	if last := string(tag[bytes.LastIndexByte(tag, '.')+1:]); slices.Contains(writers, last) {
		p.put("programname", last)
	}
	p.put("timestamp", time.Unix(0, clock.NS).UTC().Format(time.RFC3339Nano))
	return p.record()
}

// isTagged recognizes such a file by its first lines.
func isTagged(head []byte) bool {
	lines, records := 0, 0
	for lines < headLines && len(head) > 0 {
		line, rest, _ := bytes.Cut(head, newline)
		if head = rest; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		lines++
		if _, ok := taggedRecord(line); ok {
			records++
		}
	}
	return records > 0 && records*2 >= lines
}
