package journal

import (
	"bytes"
	"fmt"
	"strings"
)

// Kind is the kind of record in a file.
type Kind uint8

// Kinds of files.
const (
	Lines  Kind = iota // each line is a record, recognized by itself
	Blocks             // records span lines; Block says how
	Table              // CSV with a header line
)

// Block is a form whose records span lines.
type Block uint8

// Block forms.
const (
	NoBlock      Block = iota
	ExportBlock        // KEY=value lines and binary fields, terminated by an empty line
	VerboseBlock       // a timestamp line and indented fields
	PrettyBlock        // a multi-line JSON object
)

// Framing is what the head of a file tells about the whole file. It is immutable
// after Detect and may be shared by Parsers.
type Framing struct {
	Kind     Kind
	Block    Block
	Sections bool   // "==> name <==" lines occur: the section names the writer of bare lines
	Name     string // human-readable: "journal short + klog"
	Objects  bool   // the lines are JSON objects
	Explains bool   // journalctl -x explains messages below them, in lines that begin with "-- "
	columns  columns
}

// Detect determines the framing of a file from its head; 256 KiB is plenty.
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
		f.Explains = bytes.Contains(head, []byte("\n-- Defined-By: "))
		f.survey(head)
	}
	return f
}

// Spans reports whether the records of a file that begins with head are not
// individual lines: they span lines or are rows of a table.
func Spans(head []byte) bool {
	var c columns
	return startsExport(head) || startsVerbose(head) || startsPretty(head) || c.read(head)
}

// exportFields begin an export record.
var exportFields = [][]byte{[]byte("__CURSOR="), []byte("__REALTIME_TIMESTAMP=")}

func startsExport(head []byte) bool {
	for _, p := range exportFields {
		if bytes.HasPrefix(bytes.TrimLeft(head, "\r\n"), p) {
			return true
		}
	}
	return false
}

// startsVerbose looks for a timestamp line that ends in a cursor.
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

// isVerboseHead reports whether a line begins a verbose record:
// "Fri 2026-11-20 23:28:59.991937 UTC [s=…;i=1;…]".
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

// startsPretty looks for an object whose first member is on a line of its own.
func startsPretty(head []byte) bool {
	head = bytes.TrimLeft(head, "\r\n")
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	line, rest, ok := bytes.Cut(head, []byte("\n"))
	return ok && len(bytes.TrimRight(line, "\r ")) == 1 && bytes.HasPrefix(bytes.TrimLeft(rest, "\t "), []byte(`"`))
}

// surveyLines is the maximum number of lines that Detect examines.
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
	var best Form
	best, f.Name = describe(forms, headers, precise)
	f.Objects = best == Docker || best == JSON || best == Cloud || best == Bare && headers[KlogJSON] > 0
}

// describe returns the most frequent form, and names it and the headers.
func describe(forms map[Form]int, headers map[HeaderKind]int, precise bool) (best Form, name string) {
	for form := BSD; int(form) < len(formNames); form++ {
		if forms[form] > forms[best] || best == Bare && forms[form] > 0 && forms[form]*4 > forms[Bare] {
			best = form
		}
	}
	name = best.String()
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
		return best, name
	case best == Bare:
		return best, strings.Join(kinds, " + ")
	}
	return best, fmt.Sprintf("%s + %s", name, strings.Join(kinds, " + "))
}
