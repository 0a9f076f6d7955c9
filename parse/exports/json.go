package exports

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// maxWrap is the maximum depth of records within a document.
const maxWrap = 8

// documents reads JSON: documents with records at some depth, or a sequence of
// objects. Text between them is passed through.
type documents struct {
	*source
	depth   int
	key     string   // name of the next member
	context parts    // source of the records that follow
	columns []string // names of the cells of the rows that follow
	parts   parts    // of the current record
}

// contexts are members that precede the records they apply to: the labels of a Loki
// stream, the resource of OpenTelemetry records, the columns of a table.
var contexts = []string{"stream", "resource", "columns"}

// maxContext bounds the size of a context in bytes.
const maxContext = 8 << 10

func (d *documents) step() {
	switch c := d.at(0); c {
	case ' ', '\t', '\r', '\n', ',', ':', 0x1e, 0:
		d.skip(1)
	case '{', '[':
		d.open()
	case '}', ']':
		d.depth = max(d.depth-1, 0)
		d.skip(1)
	default:
		switch {
		case d.depth == 0:
			d.verbatim()
		case c == '"':
			d.text()
		default:
			d.skip(1)
		}
	}
}

// open writes an object or array if it is a record, otherwise enters it.
func (d *documents) open() {
	n := 0
	if d.depth < maxWrap {
		n = d.end()
	}
	switch {
	case n == 0:
	case slices.Contains(contexts, d.key) && n <= maxContext && d.depth > 0:
		d.note(d.win[:n])
		d.skip(n)
		return
	default:
		if r, ok := d.record(d.win[:n]); ok {
			d.write(&r)
			d.skip(n)
			return
		}
	}
	d.key = ""
	d.depth++
	d.skip(1)
}

// finish checks at the end of the input that all that was opened is closed.
func (d *documents) finish() {
	if d.depth > 0 {
		d.damaged(0, 0, whyCut)
	}
}

// text skips a string and remembers it if it is a member name.
func (d *documents) text() {
	n := d.end()
	if n == 0 {
		why := whyLong
		if d.err != nil && len(d.win) < maxRecord {
			why = whyCut
		}
		d.damaged(0, len(d.win), why)
		d.skip(1)
		return
	}
	if bytes.IndexFunc(d.win[:n], func(r rune) bool { return r < '\t' }) >= 0 {
		d.damaged(0, n, whyInvalid)
	}
	i := n
	for c := d.at(i); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = d.at(i) {
		if i++; i > n+maxName {
			break
		}
	}
	if d.key = ""; d.at(i) == ':' && n < maxName {
		d.key = strings.Trim(string(d.win[:n]), `"`)
	}
	d.skip(n)
}

// end returns the length of the value at the start of the window, 0 if it exceeds
// maxRecord or is incomplete.
func (d *documents) end() int {
	depth, inside := 0, false
	for i := 0; i < maxRecord; i++ {
		switch c := d.at(i); {
		case c == 0 && i >= len(d.win):
			return 0
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
			continue
		case c == '{' || c == '[':
			depth++
			continue
		case c == '}' || c == ']':
			depth--
		default:
			continue
		}
		if depth == 0 && !inside {
			return i + 1
		}
	}
	return 0
}

// record parses an object or array that may be a record.
func (d *documents) record(raw []byte) (record, bool) {
	var r record
	var ok bool
	if raw[0] == '[' {
		r, ok = d.row(raw)
	} else {
		r, ok = d.object(raw)
	}
	if ok {
		r.line = d.lineOf(raw, r.message)
	}
	return r, ok
}

func (d *documents) object(raw []byte) (record, bool) {
	if !mayHold(raw) {
		return record{}, false
	}
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		d.damaged(0, len(raw), whyInvalid)
		return record{}, false
	}
	if wraps(v, 0) {
		return record{}, false
	}
	p := d.empty()
	p.object("", v, 0)
	d.addContext(p)
	return p.record()
}

// messageMarks are suffixes of message member names, without the first letter where
// its case varies.
var messageMarks = [][]byte{[]byte("essage\""), []byte("ESSAGE\""), []byte("_raw\""), []byte("ayload\""), []byte("\"line\""), []byte("ogline\""), []byte("log\""), []byte("ody\""),
	[]byte("original\""), []byte("ntry\""), []byte("ontent\""), []byte("raw\""), []byte("text\""), []byte("og_line\""), []byte("tdout\""), []byte("msg\"")}

// mayHold is a cheap test for whether an object may contain a record.
func mayHold(raw []byte) bool {
	return slices.ContainsFunc(messageMarks, func(m []byte) bool { return bytes.Contains(raw, m) })
}

// wraps reports whether an object contains a list of records. Then it is not a
// record itself, whatever else it contains.
func wraps(v map[string]any, depth int) bool {
	if depth > 3 {
		return false
	}
	for name, value := range v {
		switch value := value.(type) {
		case []any:
			if len(value) > 0 && name != "attributes" && isRecord(value[0]) {
				return true
			}
		case map[string]any:
			if wraps(value, depth+1) {
				return true
			}
		}
	}
	return false
}

func isRecord(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		p := parts{}
		p.object("", v, 0)
		_, ok := p.record()
		return ok || wraps(v, 2)
	case []any:
		return len(v) >= 2
	}
	return false
}

// row parses a record that is an array: Loki's pair of nanoseconds and text, the
// fields of CloudWatch Logs Insights, or the cells of a table row.
func (d *documents) row(raw []byte) (record, bool) {
	var cells []any
	if first := bytes.TrimLeft(raw[1:], " \t\r\n"); len(first) == 0 || first[0] == '[' {
		return record{}, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&cells) != nil {
		if d.depth > 0 {
			d.damaged(0, len(raw), whyInvalid)
		}
		return record{}, false
	}
	if len(cells) < 2 {
		return record{}, false
	}
	p := d.empty()
	if _, ok := cells[0].(map[string]any); ok {
		fields(p, cells)
	} else if len(d.columns) == len(cells) {
		for i, c := range cells {
			if s, ok := scalar(c); ok {
				p.put(d.columns[i], s)
			}
		}
	} else if ns, ok := cells[0].(string); ok && len(cells) <= 3 && len(ns) == len("1795217667440541000") {
		line, _ := cells[1].(string)
		p.put("line", line)
		p.put("timestamp", ns)
		d.addContext(p)
	}
	return p.record()
}

// fields parses [{"field":"@timestamp","value":"…"}, …].
func fields(p parts, cells []any) {
	for _, c := range cells {
		m, _ := c.(map[string]any)
		name, _ := m["field"].(string)
		if s, ok := scalar(m["value"]); ok && name != "" {
			p.put(name, s)
		}
	}
}

// note stores a context: the source of records, or the names of table columns,
// [{"name":"TimeGenerated",…}].
func (d *documents) note(raw []byte) {
	if d.key == "columns" {
		var list []struct{ Name string }
		if json.Unmarshal(raw, &list) == nil {
			d.columns = nil
			for _, c := range list {
				d.columns = append(d.columns, c.Name)
			}
		}
		return
	}
	all, ok := object(raw)
	if !ok {
		return
	}
	d.context = parts{}
	for _, n := range []names{hostNames, identNames, unitNames, pidNames, bootNames} {
		if v, name := all.first(n); v != "" && len(v) <= maxName {
			d.context[name] = v
		}
	}
}

// empty returns the parts of a record that is to be read, none so far.
func (d *documents) empty() parts {
	if d.parts == nil || len(d.parts) > maxColumns { // clearing a large map for every small record takes long
		d.parts = parts{}
	}
	clear(d.parts)
	return d.parts
}

// addContext adds the members of the current context to a record.
func (d *documents) addContext(p parts) {
	for name, v := range d.context {
		p.put(name, v)
	}
}

// lineOf returns the line of a record, from 0, on which its message begins.
func (d *documents) lineOf(raw []byte, message string) int {
	if bytes.IndexByte(raw, '\n') < 0 {
		return 0
	}
	// The first words of a message contain no escapes.
	head := message[:min(len(message), 24)]
	if i := strings.IndexAny(head, "\"\\<>&\t\n\r"); i >= 0 {
		head = head[:i]
	}
	if i := bytes.Index(raw, []byte(`"`+head)); i >= 0 && head != "" {
		return bytes.Count(raw[:i], newline)
	}
	return 0
}

// order sorts names, so that results do not depend on map order.
func order(n []string) { slices.Sort(n) }
