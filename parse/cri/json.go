package cri

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/plegforensics/plegforensics/parse"
)

var nan = math.NaN()

// errFull ends a document of which no more entries are kept.
var errFull = errors.New("too many entries")

// rereads bounds how often damaged text is reread from a later line, in multiples
// of the file size.
const rereads = 4

// json reads every JSON value from off on: one document, several in sequence
// (crictl inspect with several ids), or one per line (docker ps --format json).
// After damage it continues at the next line that begins an object.
func (d *decoder) json(data []byte, off int) {
	for budget := rereads*len(data) + 1<<20; off >= 0 && budget > 0; {
		in := bytes.NewReader(data[off:])
		dec := json.NewDecoder(in)
		err := d.values(data, off, dec)
		if err == nil {
			return
		}
		at := off + int(dec.InputOffset())
		d.warn(d.pos(data, at), "JSON is not valid from here on: %v", err)
		budget -= len(data) - off - in.Len()
		off = restart(data, at)
	}
}

// values reads values up to the end or the first error.
func (d *decoder) values(data []byte, off int, dec *json.Decoder) error {
	for {
		start := off + int(dec.InputOffset())
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = d.document(data, off, dec, tok, start)
		}
		if err == errFull {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// restart returns the offset of the next line that begins a JSON object, -1 if
// there is none.
func restart(data []byte, off int) int {
	i := bytes.Index(data[min(off, len(data)):], []byte("\n{"))
	if i < 0 {
		return -1
	}
	return off + i + 1
}

// document reads the value that begins with tok.
func (d *decoder) document(data []byte, off int, dec *json.Decoder, tok json.Token, start int) error {
	switch tok {
	case json.Delim('['):
		return d.list(data, off, dec)
	case json.Delim('{'):
		return d.object(data, off, dec, start)
	}
	return errors.New("neither an object nor an array")
}

// list reads the elements of an array after its opening bracket, and the closing
// one.
func (d *decoder) list(data []byte, off int, dec *json.Decoder) error {
	for dec.More() {
		at := elementStart(data, off+int(dec.InputOffset()))
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if !d.entry(d.pos(data, at), raw) {
			return errFull
		}
	}
	_, err := dec.Token()
	return err
}

// elementStart skips separators and white space before an element.
func elementStart(data []byte, i int) int {
	for i < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[i]) >= 0 {
		i++
	}
	return i
}

// object reads a top-level object: a listing with an array of entries, or a single
// entry.
func (d *decoder) object(data []byte, off int, dec *json.Decoder, start int) error {
	start = elementStart(data, start)
	lists := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		at := elementStart(data, off+int(dec.InputOffset()))
		if name, ok := key.(string); ok && (name == "containers" || name == "items") && at < len(data) && data[at] == '[' {
			if _, err := dec.Token(); err != nil {
				return err
			}
			lists = true
			if err := d.list(data, off, dec); err != nil {
				return err
			}
			continue
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if !lists {
		d.entry(d.pos(data, start), data[start:off+int(dec.InputOffset())])
	}
	return nil
}

// entry decodes one element of a listing. It returns false once maxContainers is
// reached.
func (d *decoder) entry(p parse.Pos, raw []byte) bool {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		d.warn(p, "an entry cannot be read: %v", err)
		return true
	}
	quote := parse.PlainText(string(raw[:min(len(raw), maxQuote)]))
	if cs := e.podContainers(); cs != nil {
		for _, c := range cs {
			c.Pos, c.Text = p, quote
			if !d.add(c) {
				return false
			}
		}
		return true
	}
	c := e.container()
	if c.ID == "" {
		if !e.isStatusOnly() {
			d.warn(p, "an entry without an id; left out")
		}
		return true
	}
	if c.State == "" {
		d.warn(p, "%q: state is missing or not known; taken as unknown", c.ID)
		c.State = "unknown"
	}
	c.Pos, c.Text = p, quote
	return d.add(c)
}
