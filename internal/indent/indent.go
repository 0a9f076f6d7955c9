// Package indent writes indented JSON. json.Encoder builds the whole document and an indented
// copy of it before it writes anything; this package encodes and indents while writing.
package indent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// List is a list whose elements are created one by one as they are written. Elements yields a
// pointer to each. MarshalJSON of a List is not called.
type List interface {
	Elements(yield func(any) bool)
}

// Encode writes v like a json.Encoder with an indent of two spaces and without HTML escaping.
// Struct fields and list elements are encoded one at a time, down to mostDeep levels, so memory
// is bounded by the largest of them.
func Encode(w io.Writer, v any) error {
	l := &layout{to: bufio.NewWriterSize(w, 1<<16)}
	p := parts{to: l, plans: map[reflect.Type][]field{}}
	p.json = json.NewEncoder(&p.whole)
	p.json.SetEscapeHTML(false)
	if err := p.value(reflect.ValueOf(v), mostDeep); err != nil {
		return err
	}
	l.Write([]byte("\n"))
	return l.to.Flush()
}

// mostDeep is how many levels of objects and lists are written part by part: the document, its
// lists, their elements, and the lists of those.
const mostDeep = 4

// parts writes a value part by part.
type parts struct {
	to    io.Writer
	whole bytes.Buffer
	json  *json.Encoder // to whole
	plans map[reflect.Type][]field
}

func (p *parts) value(v reflect.Value, deep int) error {
	if !v.IsValid() || deep == 0 {
		return p.all(v)
	}
	if list, ok := v.Interface().(List); ok {
		return p.list(list.Elements, deep)
	}
	if _, ok := v.Interface().(json.Marshaler); ok {
		return p.all(v)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return p.value(v.Elem(), deep)
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			return p.list(func(yield func(any) bool) {
				for i := 0; i < v.Len() && yield(v.Index(i).Addr().Interface()); i++ {
				}
			}, deep)
		}
	case reflect.Struct:
		if fields := p.plan(v.Type()); fields != nil && v.CanAddr() {
			return p.object(v, fields, deep-1)
		}
	}
	return p.all(v)
}

// all writes a value in one piece.
func (p *parts) all(v reflect.Value) error {
	var of any
	switch {
	case v.IsValid() && v.CanAddr():
		of = v.Addr().Interface() // its methods may be those of a pointer
	case v.IsValid():
		of = v.Interface()
	}
	p.whole.Reset()
	if err := p.json.Encode(of); err != nil {
		return err
	}
	_, err := p.to.Write(bytes.TrimSuffix(p.whole.Bytes(), []byte("\n")))
	return err
}

func (p *parts) list(elements func(yield func(any) bool), deep int) (err error) {
	p.token("[")
	first := true
	elements(func(x any) bool {
		if !first {
			p.token(",")
		}
		first = false
		err = p.value(reflect.ValueOf(x), deep-1)
		return err == nil
	})
	p.token("]")
	return err
}

func (p *parts) object(v reflect.Value, fields []field, deep int) error {
	p.token("{")
	first := true
	for _, f := range fields {
		x := v.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(x) || f.omitZero && x.IsZero() {
			continue
		}
		if !first {
			p.token(",")
		}
		first = false
		p.token(strconv.Quote(f.name) + ":")
		if err := p.value(x, deep); err != nil {
			return err
		}
	}
	p.token("}")
	return nil
}

func (p *parts) token(s string) { io.WriteString(p.to, s) }

// field is a struct field and its JSON options.
type field struct {
	index               []int // as of reflect.Value.FieldByIndex
	name                string
	omitEmpty, omitZero bool
}

// plan returns the fields of a struct that holds lists, in order, or nil if encoding/json must
// encode the struct as a whole (names told twice, embedded fields that are no plain structs, the
// string option).
func (p *parts) plan(t reflect.Type) []field {
	if plan, ok := p.plans[t]; ok {
		return plan
	}
	var plan []field
	lists := false
	named := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && f.IsExported() && f.Tag.Get("json") == "" && !reflect.PointerTo(f.Type).Implements(reflect.TypeFor[json.Marshaler]()):
			continue // its fields follow by themselves
		case f.Anonymous || strings.Contains(options, "string"):
			p.plans[t] = nil
			return nil
		case !f.IsExported() || name == "-" && options == "":
			continue
		case name == "":
			name = f.Name
		}
		if named[name] {
			p.plans[t] = nil
			return nil
		}
		named[name] = true
		lists = lists || f.Type.Kind() == reflect.Slice || f.Type.Implements(reflect.TypeFor[List]())
		plan = append(plan, field{f.Index, name, strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")})
	}
	if !lists {
		plan = nil
	}
	p.plans[t] = plan
	return plan
}

// isEmpty reports whether encoding/json leaves v out under omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct, reflect.Func:
		return false
	}
	return v.IsZero()
}

// layout indents the output of an encoder, which has no space between tokens.
type layout struct {
	to      *bufio.Writer // keeps its first error
	depth   int
	quoted  bool // within a string
	escaped bool // after a backslash in a string
	empty   bool // right after an opening bracket
}

func (l *layout) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if l.quoted {
			rest = l.text(rest)
			continue
		}
		c := rest[0]
		rest = rest[1:]
		closes := c == '}' || c == ']'
		if closes {
			l.depth--
		}
		if l.empty != closes {
			l.line()
		}
		l.empty = c == '{' || c == '['
		l.to.WriteByte(c)
		switch c {
		case '{', '[':
			l.depth++
		case ',':
			l.line()
		case ':':
			l.to.WriteByte(' ')
		case '"':
			l.quoted = true
		}
	}
	_, err := l.to.Write(nil)
	return len(p), err
}

// text writes the rest of a string and returns what follows it.
func (l *layout) text(p []byte) []byte {
	n := 0
	for ; n < len(p) && l.quoted; n++ {
		switch {
		case l.escaped:
			l.escaped = false
		case p[n] == '\\':
			l.escaped = true
		case p[n] == '"':
			l.quoted = false
		}
	}
	l.to.Write(p[:n])
	return p[n:]
}

var spaces = bytes.Repeat([]byte("  "), 64)

func (l *layout) line() {
	l.to.WriteByte('\n')
	for n := 2 * l.depth; n > 0; n -= len(spaces) {
		l.to.Write(spaces[:min(n, len(spaces))])
	}
}
