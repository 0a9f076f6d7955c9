package alerts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// The parser of rule files puts line and column in front, at times those
	// of two fields that contradict each other.
	linePrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+:\d+): (?:\d+:\d+: )?`) })
	// The YAML library lists mistakes by line, and names its Go types.
	yamlLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:yaml: )?line (\d+): (.*?)(?: in type \S+| into \S+\.\S+)?$`)
	})
)

// placed writes each mistake as FILE:LINE:COLUMN: what.
func placed(name string, errs []error) []error {
	var out []error
	for _, err := range errs {
		msg := err.Error()
		if m := linePrefix().FindStringSubmatch(msg); m != nil {
			out = append(out, fmt.Errorf("%s:%s: %s", name, m[1], msg[len(m[0]):]))
			continue
		}
		found := yamlLine().FindAllStringSubmatch(msg, -1)
		for _, m := range found {
			out = append(out, fmt.Errorf("%s:%s: %s", name, m[1], m[2]))
		}
		if len(found) == 0 {
			out = append(out, fmt.Errorf("%s: %s", name, strings.TrimPrefix(msg, "yaml: ")))
		}
	}
	return slices.CompactFunc(out, func(a, b error) bool { return a.Error() == b.Error() })
}

// content is a rule file without a byte order mark and without the indentation
// that all of its lines may have, and how wide that is.
func content(data []byte) ([]byte, int) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(data) {
		text := bytes.TrimLeft(line, " ")
		if t := bytes.TrimSpace(text); len(t) > 0 && t[0] != '#' && t[0] != '%' && !bytes.HasPrefix(t, []byte("---")) {
			return data, len(line) - len(text)
		}
	}
	return data, 0
}

// secondDocument is the line at which the second document of a file that has
// content begins, 0 where there is none.
func secondDocument(data []byte) int {
	mark, seen, n := 0, false, 0
	for line := range bytes.Lines(data) {
		n++
		text := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("---")) && (len(text) == 3 || text[3] == ' ' || text[3] == '\t'):
			if seen {
				mark = n
			}
		case len(text) == 0 || text[0] == '#':
		case mark > 0:
			return mark
		default:
			seen = seen || text[0] != '%'
		}
	}
	return 0
}

// unwrapped takes the rule groups out of the PrometheusRule object of the
// Prometheus operator. Each keeps its line and column, so that
// mistakes do.
func unwrapped(data []byte) []byte {
	data, margin := content(data)
	key := func(pattern string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf("(?m)^ {%d}", margin) + pattern)
	}
	at := key(`spec:[ \t]*(#.*)?\r?\n`).FindIndex(data)
	if at == nil || !key(`kind:[ \t]*["']?PrometheusRule\b`).Match(data) {
		return unwrappedJSON(data)
	}
	out := bytes.Repeat([]byte("\n"), bytes.Count(data[:at[1]], []byte("\n")))
	indent := -1
	for line := range bytes.Lines(data[at[1]:]) {
		text := bytes.TrimLeft(line, " ")
		n := len(line) - len(text)
		switch {
		case len(bytes.TrimSpace(text)) == 0 || n == 0 && text[0] == '#':
			out = append(out, '\n')
			continue
		case indent < 0:
			indent = n
		}
		if n < indent {
			break // the next key beside spec
		}
		out = append(out, line...)
	}
	return out
}

// unwrappedJSON is unwrapped for the object as JSON, which is what kubectl
// prints. YAML reads JSON, so the groups stay as they are.
func unwrappedJSON(data []byte) []byte {
	var doc struct {
		Kind string          `json:"kind"`
		Spec json.RawMessage `json:"spec"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) || json.Unmarshal(data, &doc) != nil || doc.Kind != "PrometheusRule" || len(doc.Spec) == 0 {
		return data
	}
	return doc.Spec
}
