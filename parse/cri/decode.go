package cri

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Failed is the key of a fact that a container tool failed: its value is the error
// as printed, its attribute "code" the name of the gRPC code.
const Failed = "cri.failed"

// Limits on hostile input. Exceeding the first two gives a warning.
const (
	maxWarnings   = 50
	maxContainers = 1_000_000
	maxQuote      = 512 // bytes of a JSON entry kept as its quote
)

// Decode decodes one file. Problems are warnings with their line; the rest is still
// read.
func Decode(f *parse.File, data []byte) parse.Part {
	d := &decoder{f: f, line: 1}
	if f.ModTime != 0 {
		d.stamp = parse.Stamp{At: f.ModTime, Res: parse.ResolutionOf(1e9), Basis: parse.FileTime}
	}
	body := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d.base = len(data) - len(body)
	if i := jsonStart(body); i >= 0 {
		d.preamble(body[:i])
		d.json(body, i)
	} else {
		d.tables(body)
	}
	return d.part
}

// jsonStart returns the offset of the first line that begins a JSON value, if only
// tool messages or the command after a shell prompt precede it; -1 otherwise.
func jsonStart(b []byte) int {
	for off := 0; off < len(b); {
		line, _, _ := bytes.Cut(b[off:], []byte("\n"))
		text := bytes.TrimSpace(line)
		switch {
		case len(text) == 0 || isMessage(text):
		case text[0] == '{', text[0] == '[' && (len(text) == 1 || bytes.IndexByte([]byte("{[]\" "), text[1]) >= 0):
			return off
		case off > 0 || !bytes.ContainsAny(text, "$#+"):
			return -1
		}
		off += len(line) + 1
	}
	return -1
}

type decoder struct {
	f     *parse.File
	part  parse.Part
	stamp parse.Stamp
	base  int // bytes before the text that offsets refer to
	line  uint32
	upTo  int // offset that line refers to
}

// pos returns the position of an offset. Offsets must not decrease between calls,
// since lines are counted only once.
func (d *decoder) pos(data []byte, off int) parse.Pos {
	off = min(off, len(data))
	if off >= d.upTo {
		d.line += uint32(bytes.Count(data[d.upTo:off], []byte("\n")))
		d.upTo = off
	}
	return parse.Pos{File: d.f, Offset: int64(off + d.base), Line: d.line}
}

func (d *decoder) warn(p parse.Pos, format string, args ...any) {
	if len(d.part.Warnings) < maxWarnings {
		d.part.Warnings = append(d.part.Warnings, parse.Warning{Pos: p, Msg: fmt.Sprintf(format, args...)})
	} else if len(d.part.Warnings) == maxWarnings {
		d.part.Warnings = append(d.part.Warnings, parse.Warning{Pos: p, Msg: "further problems of this file are not listed"})
	}
}

// add appends a record. It returns false once maxContainers is reached.
func (d *decoder) add(c *parse.Container) bool {
	if len(d.part.Containers) >= maxContainers {
		d.warn(c.Pos, "more than %d containers; the rest is not read", maxContainers)
		return false
	}
	c.Stamp, c.Src = d.stamp, parse.SrcFacts
	d.part.Containers = append(d.part.Containers, c)
	return true
}

// messageStarts are prefixes of messages that tools print beside their output.
var messageStarts = []string{"FATA[", "WARN[", "ERRO[", "INFO[", "DEBU[", "time=\"", "E0", "E1", "W0", "W1", "I0", "I1",
	"Error:", "error:", "Error response from daemon", "Cannot connect to", "crictl: ", "DEPRECATED", "Warning:"}

func isMessage(text []byte) bool {
	for _, s := range messageStarts {
		if bytes.HasPrefix(text, []byte(s)) {
			return true
		}
	}
	return false
}

// preamble reads the messages before JSON output.
func (d *decoder) preamble(b []byte) {
	for off := 0; off < len(b); {
		line, _, _ := bytes.Cut(b[off:], []byte("\n"))
		d.message(d.pos(b, off), string(bytes.TrimSpace(line)))
		off += len(line) + 1
	}
}

// message adds a fact if a line reports a failure of the tool: that crictl cannot
// list is evidence by itself. Other messages are ignored.
func (d *decoder) message(p parse.Pos, text string) {
	fatal := strings.HasPrefix(text, "FATA[") || strings.HasPrefix(text, "ERRO[") || strings.Contains(text, "level=fatal") ||
		strings.Contains(text, "level=error") || strings.HasPrefix(text, "E0") || strings.HasPrefix(text, "E1") ||
		strings.HasPrefix(text, "Cannot connect to") || strings.HasPrefix(text, "Error")
	if !fatal || text == "" {
		return
	}
	fact := &parse.Fact{Pos: p, Stamp: d.stamp, Key: Failed, Value: text, Num: nan, Text: parse.PlainText(text)}
	if code := grpcCode(text); code != "" {
		fact.Attrs = []parse.Field{{Name: "code", Value: code}}
	}
	d.part.Facts = append(d.part.Facts, fact)
}

// grpcCode returns the NAME in "code = NAME", or DeadlineExceeded if the text says
// so in words; "" otherwise.
func grpcCode(text string) string {
	if _, rest, ok := strings.Cut(text, "code = "); ok {
		name, _, _ := strings.Cut(rest, " ")
		return strings.Trim(name, `",`)
	}
	if strings.Contains(text, "context deadline exceeded") {
		return "DeadlineExceeded"
	}
	return ""
}
