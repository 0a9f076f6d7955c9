package journal

import (
	"bytes"
	"fmt"
	"strings"
)

// Kind is what a record of a file is.
type Kind uint8

// Kinds of files.
const (
	Lines  Kind = iota // a line is a record, each recognised by itself
	Blocks             // records of several lines: Block says which
	Table              // CSV with a head line
)

// Block is a form whose records span lines.
type Block uint8

// Block forms.
const (
	NoBlock      Block = iota
	ExportBlock        // KEY=value lines and binary fields, closed by an empty line
	VerboseBlock       // a stamp line and indented fields
	PrettyBlock        // a JSON object over several lines
)

// Framing is what the head of a file tells about the whole of it. It does not
// change after Detect and may be shared by Parsers.
type Framing struct {
	Kind     Kind
	Block    Block
	Sections bool   // "==> name <==" lines occur: the section names the writer of bare lines
	Name     string // in words: "journal short + klog"
	columns  columns
}

// Detect reads the head of a file, 256 KiB are plenty, and settles its framing.
func Detect(head []byte) *Framing {
	f := &Framing{}
	switch {
	case startsExport(head):
		f.Kind, f.Block, f.Name = Blocks, ExportBlock, "journal export"
	case startsVerbose(head):
		f.Kind, f.Block, f.Name = Blocks, VerboseBlock, "journal verbose"
	case startsPretty(head):
		f.Kind, f.Block, f.Name = Blocks, PrettyBlock, "journal json-pretty"
	case f.columns.read(head):
		f.Kind, f.Name = Table, "Windows event log CSV"
	default:
		f.survey(head)
	}
	return f
}

// Spans reports whether the records of a file that begins with head are not its
// lines: they span lines, or are rows of a table.
func Spans(head []byte) bool {
	var c columns
	return startsExport(head) || startsVerbose(head) || startsPretty(head) || c.read(head)
}

// exportFields open an export record.
var exportFields = [][]byte{[]byte("__CURSOR="), []byte("__REALTIME_TIMESTAMP=")}

func startsExport(head []byte) bool {
	for _, p := range exportFields {
		if bytes.HasPrefix(bytes.TrimLeft(head, "\r\n"), p) {
			return true
		}
	}
	return false
}

// startsVerbose looks for a stamp line that ends in a cursor.
func startsVerbose(head []byte) bool {
	for range 4 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		if isVerboseHead(line) {
			return bytes.HasPrefix(rest, []byte("    "))
		}
		head = rest
	}
	return false
}

// isVerboseHead reports whether a line opens a verbose record: "Fri 2026-11-20
// 23:28:59.991937 UTC [s=…;i=1;…]".
func isVerboseHead(line []byte) bool {
	line = bytes.TrimRight(line, "\r")
	i := bytes.Index(line[:min(len(line), 64)], []byte(" [s="))
	if i < 19 || line[len(line)-1] != ']' {
		return false
	}
	sp := bytes.IndexByte(line, ' ')
	_, ok := isoSeconds(line[sp+1:])
	return ok
}

// startsPretty looks for an object whose first member stands on its own line.
func startsPretty(head []byte) bool {
	head = bytes.TrimLeft(head, "\r\n")
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	line, rest, ok := bytes.Cut(head, []byte("\n"))
	return ok && len(bytes.TrimRight(line, "\r ")) == 1 && bytes.HasPrefix(bytes.TrimLeft(rest, "\t "), []byte(`"`))
}

// surveyLines bounds the lines that Detect looks at.
const surveyLines = 2000

// survey names the framing of a file of lines and looks for sections.
func (f *Framing) survey(head []byte) {
	p := NewParser(f)
	defer p.Release()
	var e Entry
	forms := map[Form]int{}
	headers := map[HeaderKind]int{}
	precise := false
	for range surveyLines {
		line, rest, ok := bytes.Cut(head, []byte("\n"))
		if !ok && len(line) == 0 {
			break
		}
		head = rest
		p.Parse(line, &e)
		forms[e.Form]++
		headers[e.Header.Kind]++
		precise = precise || e.Form >= BSD && e.Form <= Full && e.Clock.Res < 1e9
	}
	f.Sections = forms[Section] > 0
	f.Name = describe(forms, headers, precise)
}

// describe puts the commonest form and header into words.
func describe(forms map[Form]int, headers map[HeaderKind]int, precise bool) string {
	best := Bare
	for form := BSD; int(form) < len(formNames); form++ {
		if forms[form] > forms[best] || best == Bare && forms[form] > 0 && forms[form]*4 > forms[Bare] {
			best = form
		}
	}
	name := best.String()
	if precise {
		name += "-precise"
	}
	var kinds []string
	for _, k := range []struct {
		kind HeaderKind
		name string
	}{{Klog, "klog"}, {KlogJSON, "klog JSON"}, {Logrus, "logrus"}} {
		if headers[k.kind] > 0 {
			kinds = append(kinds, k.name)
		}
	}
	switch {
	case len(kinds) == 0:
		return name
	case best == Bare:
		return strings.Join(kinds, " + ")
	}
	return fmt.Sprintf("%s + %s", name, strings.Join(kinds, " + "))
}
