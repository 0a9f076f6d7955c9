package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/plegforensics/plegforensics/parse"
)

// keyOf appends a label set in the text format to b. Rows from formats with
// structured labels use it as their series key.
func keyOf(b []byte, ls labels.Labels) []byte {
	name := ls.Get(nameLabel)
	plain := model.LegacyValidation.IsValidMetricName(name)
	if plain {
		b = append(b, name...)
	}
	n := 0
	if !plain {
		b = append(append(append(b, `{"`...), escape(name)...), '"')
		n++
	}
	ls.Range(func(l labels.Label) {
		if l.Name == nameLabel {
			return
		}
		b = append(b, ",{"[b2i(n == 0)])
		n++
		if model.LegacyValidation.IsValidLabelName(l.Name) {
			b = append(b, l.Name...)
		} else {
			b = append(append(append(b, '"'), escape(l.Name)...), '"')
		}
		b = append(append(append(b, `="`...), escape(l.Value)...), '"')
	})
	if n > 0 {
		b = append(b, '}')
	}
	return b
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func escape(s string) string { return escaper.Replace(s) }

// parseKey parses a series as written. Since the parser sees no TYPE line, it
// leaves "le" and "quantile" values as they are. fields may reuse the memory of
// used.
func parseKey(key string, used []parse.Field) (name string, fields []parse.Field, ok bool) {
	if name, fields, ok = plainKey(key, used); ok {
		return name, fields, true
	}
	p := textparse.NewPromParser([]byte(key+" 0"), labels.NewSymbolTable(), false)
	if e, err := p.Next(); err != nil || e != textparse.EntrySeries {
		return "", nil, false
	}
	var ls labels.Labels
	p.Labels(&ls)
	return split(ls)
}

// plainKey parses the common form, a name and labels without escapes, into
// substrings of key. Creating a parser for each of a million series would dominate
// the cost of reading them. ok is false for other forms.
func plainKey(key string, fields []parse.Field) (string, []parse.Field, bool) {
	name, rest, labelled := strings.Cut(key, "{")
	if !model.LegacyValidation.IsValidMetricName(name) || strings.IndexByte(rest, '\\') >= 0 {
		return "", nil, false
	}
	if !labelled {
		return name, fields, true
	}
	for rest != "}" {
		label, value, _ := strings.Cut(rest, `="`)
		value, next, ended := strings.Cut(value, `"`)
		if !ended || label == nameLabel || !model.LegacyValidation.IsValidLabelName(label) {
			return "", nil, false
		}
		if value != "" {
			fields = append(fields, parse.Field{Name: label, Value: value})
		}
		rest = strings.TrimPrefix(next, ",")
	}
	slices.SortStableFunc(fields, func(a, b parse.Field) int { return strings.Compare(a.Name, b.Name) })
	return name, fields, true
}

// split separates the metric name from a label set.
func split(ls labels.Labels) (name string, fields []parse.Field, ok bool) {
	fields = make([]parse.Field, 0, ls.Len())
	ls.Range(func(l labels.Label) {
		switch {
		case l.Name == nameLabel:
			name = l.Value
		case l.Value != "":
			fields = append(fields, parse.Field{Name: l.Name, Value: l.Value})
		}
	})
	return name, fields, name != ""
}
