package metrics

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
)

// decodeDump reads the output of "promtool tsdb dump": lines of a label set in Go
// quoting, a value, and Unix milliseconds.
func decodeDump(p *Part, data []byte) {
	line := uint32(0)
	var key, lastText []byte
	for text := range bytes.SplitSeq(data, []byte("\n")) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		n := dumpLabelsLen(text)
		if n == 0 {
			p.warnLine(line, "no sample, skipped: "+clip(text, 80))
			continue
		}
		if !bytes.Equal(text[:n], lastText) {
			ls, ok := dumpLabels(string(text[:n]))
			if !ok {
				p.warnLine(line, "no sample, skipped: "+clip(text, 80))
				continue
			}
			key = keyOf(key[:0], ls)
			lastText = append(lastText[:0], text[:n]...)
		}
		dumpSample(p, key, bytes.TrimSpace(text[n:]), text, line)
	}
}

// dumpLabelsLen returns the length of the label set at the beginning of text, 0 if
// there is none.
func dumpLabelsLen(text []byte) int {
	if text[0] != '{' {
		return 0
	}
	quoted := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return i + 1
		}
	}
	return 0
}

// dumpLabels parses {a="x", b="y"} with Go-quoted values.
func dumpLabels(s string) (labels.Labels, bool) {
	b := labels.NewScratchBuilder(16)
	s = s[1 : len(s)-1]
	for s != "" {
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			return labels.EmptyLabels(), false
		}
		q, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return labels.EmptyLabels(), false
		}
		v, _ := strconv.Unquote(q)
		if u, err := strconv.Unquote(name); err == nil {
			name = u
		}
		b.Add(name, v)
		s = strings.TrimLeft(rest[len(q):], ", ")
	}
	b.Sort()
	ls := b.Labels()
	return ls, ls.Get(nameLabel) != ""
}

func dumpSample(p *Part, key, rest, text []byte, line uint32) {
	f := bytes.Fields(rest)
	if len(f) > 2 && f[0][0] == '{' {
		p.warnLine(line, "skipped: native histogram printed as text")
		return
	}
	if len(f) != 2 {
		p.warnLine(line, "no sample, skipped: "+clip(text, 80))
		return
	}
	v, err1 := strconv.ParseFloat(string(f[0]), 64)
	ms, err2 := strconv.ParseInt(string(f[1]), 10, 64)
	if err1 != nil || err2 != nil || ms > maxMillis || ms < -maxMillis {
		p.warnLine(line, "no sample, skipped: "+clip(text, 80))
		return
	}
	if !p.room(key, line) {
		return
	}
	s := p.open(line)
	s.own, s.fromText = true, true
	p.add(s, key, v, ms*1e6, line)
}
