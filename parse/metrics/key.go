package metrics

import (
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
// so it leaves "le" and "quantile" as the file spells them.
func parseKey(key []byte, symbols *labels.SymbolTable) (name string, fields []parse.Field, ok bool) {
	line := append(append(make([]byte, 0, len(key)+3), key...), " 0"...)
	p := textparse.NewPromParser(line, symbols, false)
	if e, err := p.Next(); err != nil || e != textparse.EntrySeries {
		return "", nil, false
	}
	var ls labels.Labels
	p.Labels(&ls)
	return split(ls)
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
