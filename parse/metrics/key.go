package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/plegforensics/plegforensics/parse"
)

// keyOf writes a label set as the text format would, which is how rows from
// formats with structured labels name their series.
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

// parseKey reads a series as written. No TYPE line is in sight of the parser,
// so it leaves "le" and "quantile" as the file spells them. The fields may take the
// place of used.
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

// plainKey reads what nearly all series are, a name and labels without escapes:
// the parts are those of the key, where a parser of its own for each of a million
// series would be most of what reading them costs.
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

// split takes the name out of a label set.
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
