package journal

import (
	"bytes"
	"encoding/binary"
)

// Next returns the length of the record that b begins with, line ends included, or
// 0 if b does not contain all of it. At the end of the input, the rest is a record.
func (f *Framing) Next(b []byte, eof bool) int {
	n := 0
	switch {
	case f.Kind != Blocks:
		n = lineEnd(b, 0)
	case f.Block == ExportBlock:
		n = exportEnd(b)
	case f.Block == VerboseBlock:
		n = verboseEnd(b)
	case f.Block == PrettyBlock:
		n = prettyEnd(b)
	}
	if n == 0 && eof {
		return len(b)
	}
	return n
}

// Ends reports whether the last record of a file, with the blanks behind it, has its end. Of forms that mark none, all have.
func (f *Framing) Ends(rec []byte) bool {
	closed := bytes.HasSuffix(bytes.TrimRight(rec, ", ]\r\n\x00"), []byte("}"))
	switch {
	case f.Kind == Lines:
		return closed || !bytes.HasPrefix(rec, []byte(`{"`))
	case f.Kind != Blocks:
		return true
	case f.Block == PrettyBlock:
		return closed
	case f.Block == ExportBlock:
		return exportEnd(rec) > 0
	}
	return true
}

// lineEnd returns the index after the line that begins at i, or 0 if the line is
// incomplete.
func lineEnd(b []byte, i int) int {
	if k := bytes.IndexByte(b[i:], '\n'); k >= 0 {
		return i + k + 1
	}
	return 0
}

// exportEnd finds the empty line after an export record. Binary fields state their
// length. A length above maxField is treated as damage, and the next empty line
// ends the record.
func exportEnd(b []byte) int {
	i := 0
	for i < len(b) && (b[i] == '\n' || b[i] == '\r') {
		i++
	}
	for {
		end := lineEnd(b, i)
		if end == 0 {
			return 0
		}
		line := bytes.TrimRight(b[i:end], "\r\n")
		if len(line) == 0 {
			return end
		}
		i = end
		if bytes.IndexByte(line, '=') >= 0 {
			continue
		}
		n, ok := binaryField(b[i:])
		if ok && n == 0 {
			return 0
		}
		if ok {
			i += n
		}
	}
}

// maxField is the maximum size of a binary field of an export record.
const maxField = 16 << 20

// binaryField returns the length of "LE64 length, data, newline", or 0 if b does
// not contain all of it. ok is false if b cannot be such a field.
func binaryField(b []byte) (n int, ok bool) {
	if len(b) < 8 {
		return 0, true
	}
	size := binary.LittleEndian.Uint64(b)
	if size > maxField {
		return 0, false
	}
	n = 8 + int(size) + 1
	if n > len(b) {
		return 0, true
	}
	return n, b[n-1] == '\n'
}

// verboseEnd finds the next unindented line.
func verboseEnd(b []byte) int {
	i := lineEnd(b, 0)
	for i > 0 && i < len(b) {
		if b[i] != ' ' && b[i] != '\t' {
			return i
		}
		i = lineEnd(b, i)
	}
	return 0
}

// prettyEnd finds the line that closes an object, which has a brace in the first
// column.
func prettyEnd(b []byte) int {
	i := 0
	for {
		end := lineEnd(b, i)
		if end == 0 {
			return 0
		}
		if b[i] == '}' {
			return end
		}
		if i == 0 && b[0] != '{' && b[0] != '\n' && b[0] != '\r' {
			return end // not part of an object
		}
		i = end
	}
}

// block reads one record of a file whose records are blocks.
func (p *Parser) block(rec []byte, e *Entry) {
	rec = bytes.TrimRight(rec, "\r\n")
	*e = Entry{Who: nobody, Msg: rec}
	switch p.framing.Block {
	case ExportBlock:
		p.export(rec, e)
	case VerboseBlock:
		p.verbose(rec, e)
	case PrettyBlock:
		if p.json(rec, 0, e) {
			p.inner(e)
			return
		}
		p.unstamped(rec, e)
	}
}

// export reads one record of journalctl -o export.
func (p *Parser) export(rec []byte, e *Entry) {
	f := &p.fields
	*f = jsonFields{}
	p.buf = p.buf[:0]
	count := 0
	for b := rec; len(b) > 0; {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		key, value, ok := bytes.Cut(line, []byte("="))
		if !ok && len(line) > 0 {
			// A binary field. The newline of the last one may have been trimmed.
			key = line
			if len(rest) >= 8 {
				size := min(binary.LittleEndian.Uint64(rest), uint64(len(rest)-8))
				value = rest[8 : 8+size]
				rest = bytes.TrimPrefix(rest[8+size:], []byte("\n"))
				ok = true
			}
		}
		if ok {
			f.set(key, value)
			count++
		}
		b = rest
	}
	p.fromFields(rec, Export, count, e)
}

// verbose reads one record of journalctl -o verbose. Continuation lines of a value
// are indented deeper than keys.
func (p *Parser) verbose(rec []byte, e *Entry) {
	f := &p.fields
	*f = jsonFields{}
	head, rest, _ := bytes.Cut(rec, []byte("\n"))
	if !isVerboseHead(head) {
		p.unstamped(trimLine(head), e)
		return
	}
	p.buf = p.buf[:0]
	count := 0
	for len(rest) > 0 {
		n := fieldEnd(rest)
		key, value, ok := bytes.Cut(bytes.TrimLeft(rest[:n], " \t"), []byte("="))
		if ok {
			f.set(key, bytes.TrimRight(value, "\r\n"))
			count++
		}
		rest = rest[n:]
	}
	p.fromFields(rec, Verbose, count, e)
	if !e.Clock.Set {
		sp := bytes.IndexByte(head, ' ')
		if sec, ok := isoSeconds(head[sp+1:]); ok {
			e.Clock, _ = fullTail(sec, head[sp+20:])
		}
	}
	e.Msg = p.unindent(e)
}

// fieldEnd returns the length of a verbose field including its continuation lines.
func fieldEnd(b []byte) int {
	i := lineEnd(b, 0)
	for i > 0 && i < len(b) && bytes.HasPrefix(b[i:], []byte("     ")) {
		i = lineEnd(b, i)
	}
	if i == 0 {
		return len(b)
	}
	return i
}

// unindent removes the indentation that verbose output adds to the lines of a
// message.
func (p *Parser) unindent(e *Entry) []byte {
	if bytes.IndexByte(e.Msg, '\n') < 0 {
		return e.Msg
	}
	p.buf = p.buf[:0]
	for i, line := range bytes.Split(e.Msg, []byte("\n")) {
		if i > 0 {
			p.buf = append(p.buf, '\n')
			line = bytes.TrimLeft(line, " ")
		}
		p.buf = append(p.buf, bytes.TrimRight(line, "\r")...)
	}
	e.Off = -1
	return p.buf
}

// fromFields fills e from p.fields, which hold plain bytes. A block without any
// field is other text.
func (p *Parser) fromFields(rec []byte, form Form, count int, e *Entry) {
	if count == 0 {
		first, _, _ := bytes.Cut(rec, []byte("\n"))
		p.unstamped(trimLine(first), e)
		return
	}
	f := &p.fields
	e.Form = form
	p.journalClock(e)
	e.Who = p.whoOfFields()
	if f.hasMessage {
		e.Msg, e.Off = f.message, cap(rec)-cap(f.message)
		e.At = e.Off
	} else {
		e.Msg, e.Off = nil, -1
	}
	p.inner(e)
}
